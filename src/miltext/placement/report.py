"""Reports of placements and of their differences: text for people, records for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.diagnostics.wording import table, tally
from miltext.dumps.placed import ANE, device_of
from miltext.placement.placements import PLAN, functions_of
from miltext.placement.segmenting import STEP, choices

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from miltext.diagnostics.dynamic import Record
    from miltext.dumps.placed import PlacedOperation
    from miltext.placement.comparing import Moved, PlacementDifference
    from miltext.placement.placements import Placement, Segment, TypeCount

UNKNOWN = "-"
"""The cell of an unknown number."""

# ---- one placement, for people


def placement_lines(placement: Placement) -> Iterator[str]:
    """Yield the lines of the report: operations, segments, types, and the sum."""
    yield from _operations(placement)
    yield ""
    yield from _segments(placement)
    yield ""
    yield from _types(placement)
    yield ""
    yield from _sums(placement)


def _operations(placement: Placement) -> list[str]:
    """Return the table of operations; a reason has its own line under the operation."""
    is_plan = placement.kind == PLAN
    inside = len([*functions_of(placement)]) > 1
    rows = [
        (
            *([each.function] if inside else []),
            each.name or UNKNOWN,
            each.type,
            each.backend or UNKNOWN,
            share(each) if is_plan else ms(each.time),
            other(each),
        )
        for each in placement.own
    ]
    last = "supported" if is_plan else "other estimates"
    first = ("in", "operation") if inside else ("operation",)
    heading, *lines = table(rows, (*first, "type", "backend", "share" if is_plan else "ms", last))
    shown = [heading]
    for line, each in zip(lines, placement.own, strict=True):
        shown += [line, *(f"    {backend}: {reason}" for backend, reason in sorted(each.reasons.items()))]
    return shown


def other(operation: PlacedOperation) -> str:
    """Return the estimates on the other backends, or the supported devices of a plan."""
    if not operation.times:
        return ", ".join(operation.supported)
    return ", ".join(
        f"{each} {ms(time)}" for each, time in sorted(operation.times.items()) if each != operation.backend
    )


def _segments(placement: Placement) -> list[str]:
    rows = [
        (
            each.function,
            each.backend or UNKNOWN,
            str(len(each.run)),
            ms(each.time),
            UNKNOWN if each.start is None or each.switch is None else ms(each.start + each.switch),
            f"{each.first} .. {each.last}" if len(each.run) > 1 else each.first,
        )
        for each in placement.segments()
    ]
    return table(rows, ("segment in", "backend", "operations", "ms", "begin ms", "from .. to"))


def _types(placement: Placement) -> list[str]:
    rows = [(each.type, str(each.number), _on(each.devices), _taken(each), ms(each.time)) for each in placement.types()]
    return table(rows, ("type", "count", "on", "the Neural Engine takes", "ms"))


def _taken(counted: TypeCount) -> str:
    """Return how many operations the Neural Engine takes, of those about which something is stated."""
    return f"{counted.taken} of {counted.judged}" if counted.judged else UNKNOWN


def _sums(placement: Placement) -> Iterator[str]:
    types = placement.types()
    taken = f", which takes {sum(each.taken for each in types)}" if any(each.judged for each in types) else ""
    engine = placement.devices().get("ANE", 0)
    total = placement.total()
    whole = "" if total is None else f", estimated {ms(total)} ms with the costs of segments"
    counts = f"{tally(len(placement.own), 'operation')} in {tally(len(placement.segments()), 'segment')}"
    yield f"{counts}: {engine} on the Neural Engine{taken}{whole}"
    for function, choice in choices(placement).items():
        said = "the same devices" if choice.agrees() else f"other devices, for {ms(choice.cost)} ms"
        costs = "" if function in placement.costs else f", with {STEP} ms for each begin and change"
        yield f"{function}: the cheapest way by these estimates{costs} has {said}"


def ms(time: float | None) -> str:
    """Return milliseconds in five digits."""
    return UNKNOWN if time is None else f"{time:.5g}"


def share(operation: PlacedOperation) -> str:
    """Return the share of the cost in a plan."""
    return UNKNOWN if operation.cost is None else f"{operation.cost:.4f}"


def _on(devices: Mapping[str, int]) -> str:
    return ", ".join(f"{device} {count}" for device, count in devices.items())


# ---- a difference, for people


def difference_lines(difference: PlacementDifference) -> Iterator[str]:
    """Yield the lines of a difference: renamed functions, moved operations, other statements, operations of one side,
    and the costs.
    """
    yield from (f"= function {old} -> {new}" for old, new in sorted(difference.renamed.items()))
    for moved in difference.moved:
        yield from _moved(moved)
    for restated in difference.restated:
        yield f"~ {_called(restated.new)}: on {restated.new.backend} as before"
        for field in restated.fields:
            yield f"    {field}: {_spelled(restated.old, field)} -> {_spelled(restated.new, field)}"
    yield from (f"- {_called(each)}: on {each.backend}" for each in difference.removed)
    yield from (f"+ {_called(each)}: on {each.backend}" for each in difference.added)
    if difference.costs_differ:
        yield "~ the costs of segments differ"
    yield _paid(difference)


def _moved(moved: Moved) -> Iterator[str]:
    yield f"> {_called(moved.new)}: {moved.old.backend} -> {moved.new.backend}"
    ends = [f"after {moved.after}" * bool(moved.after), f"before {moved.before}" * bool(moved.before)]
    if any(ends):
        yield f"    in a segment {' and '.join(filter(None, ends))}"
    if moved.old.time is not None or moved.new.time is not None:
        yield f"    {ms(moved.old.time)} -> {ms(moved.new.time)} ms"
    for backend in sorted({*moved.old.reasons, *moved.new.reasons}):
        old, new = _standing(moved.old, backend), _standing(moved.new, backend)
        yield f"    {backend}: {old} -> {new}" if old != new else f"    {backend}: {new}"


def _standing(operation: PlacedOperation, backend: str) -> str:
    """Return the known fact about an operation on a backend: the reason against it, or its support."""
    if reason := operation.reasons.get(backend):
        return reason
    if not operation.supported:
        return "nothing is stated"
    devices = {*operation.supported, *map(device_of, operation.supported)}
    return "supported" if devices & {backend, device_of(backend)} else "not supported, without a reason"


def _called(operation: PlacedOperation) -> str:
    return f"{operation.function}/{operation.name} ({operation.type})"


def _spelled(operation: PlacedOperation, field: str) -> str:
    found = getattr(operation, field)
    if isinstance(found, dict):
        return ", ".join(f"{key} {value}" for key, value in sorted(found.items())) or UNKNOWN
    return ", ".join(found) or UNKNOWN if isinstance(found, tuple) else str(found)


def _paid(difference: PlacementDifference) -> str:
    old, new = difference.old, difference.new
    segments = f"{len(old.segments())} -> {len(new.segments())} segments"
    conversions = sum(each.new.is_conversion for each in difference.moved)
    counts = f"{len(difference.moved) - conversions} of {tally(len(new.own), 'operation')} moved"
    counts += f", and {tally(conversions, 'conversion')}" if conversions else ""
    if difference.paid is None:
        return f"{counts}; {segments}"
    return f"{counts}; {segments}; estimated {ms(old.total())} -> {ms(new.total())} ms ({difference.paid:+.5g})"


# ---- for programs


def placement_record(placement: Placement) -> Record:
    """Return a placement as JSON."""
    return {
        "kind": placement.kind,
        "operations": [operation_record(each) for each in placement.placed],
        "segments": [_segment_record(each) for each in placement.segments()],
        "types": [_type_record(each) for each in placement.types()],
        "total_ms": placement.total(),
        "cheapest": {
            name: {"devices": each.devices, "ms": each.cost, "agrees": each.agrees()}
            for name, each in choices(placement).items()
        },
    }


def operation_record(operation: PlacedOperation) -> Record:
    """Return an operation as JSON."""
    return {
        "function": operation.function,
        "name": operation.name,
        "type": operation.type,
        "backend": operation.backend,
        "device": operation.device,
        "supported": [*operation.supported],
        "reasons": dict(sorted(operation.reasons.items())),
        "estimates_ms": dict(sorted(operation.times.items())),
        "cost": operation.cost,
        "is_conversion": operation.is_conversion,
    }


def _segment_record(segment: Segment) -> Record:
    return {
        "function": segment.function,
        "backend": segment.backend,
        "operations": [each.name for each in segment.run],
        "ms": segment.time,
        "start_ms": segment.start,
        "switch_ms": segment.switch,
    }


def _type_record(counted: TypeCount) -> Record:
    devices = dict(counted.devices)
    return {
        "type": counted.type,
        "count": counted.number,
        "devices": devices,
        ANE: counted.taken if counted.judged else None,
        "ms": counted.time,
    }


def difference_record(difference: PlacementDifference) -> Record:
    """Return a difference as JSON."""
    return {
        "renamed_functions": dict(sorted(difference.renamed.items())),
        "moved": [
            {
                "old": operation_record(each.old),
                "new": operation_record(each.new),
                "after": each.after,
                "before": each.before,
            }
            for each in difference.moved
        ],
        "restated": [
            {"old": operation_record(each.old), "new": operation_record(each.new), "fields": [*each.fields]}
            for each in difference.restated
        ],
        "added": [operation_record(each) for each in difference.added],
        "removed": [operation_record(each) for each in difference.removed],
        "costs_differ": difference.costs_differ,
        "segment_counts": {"old": len(difference.old.segments()), "new": len(difference.new.segments())},
        "totals_ms": {"old": difference.old.total(), "new": difference.new.total()},
    }
