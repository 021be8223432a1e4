"""How certain each operation's arithmetic is on a device: measured, assumed, or none at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from miltext.checking.inference.operands import count
from miltext.diagnostics.wording import tally
from miltext.evaluation.devices.facts import MEASURED, PRODUCTS, RECIPE, facts_of
from miltext.evaluation.planning import steps_of
from miltext.ir.parts import Value
from miltext.schema.dtypes import BY_NAME
from miltext.schema.types import TensorType

if TYPE_CHECKING:
    from miltext.checking.inference.reading import Binding, StatedGraph
    from miltext.diagnostics.dynamic import Json
    from miltext.evaluation.planning import Plan, Step
    from miltext.schema.types import Dimension

MOST_TERMS = 64
"""The number of terms in the longest sum that was measured in fp16."""

COMPUTING = frozenset(["relu6", "cast", "clip", "abs", "sign"])
"""Operations that compute although their rules only move elements, or limit them."""

WORKING_FORMS = frozenset(["Array", "Arrays", "Widen", "Multiply", "Random"])
"""Forms of parameters of rules that compute."""

SHOWN_NAMES = 3
"""The number of names shown for operations with one standing."""


class OpStanding(NamedTuple):
    """The certainty of an operation's arithmetic: `measured`, `assumed` or `none`; the reason, and the sources."""

    name: str
    operation: str
    certainty: str
    reason: str
    sources: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """Return the standing as an object of JSON."""
        return {**self._asdict(), "sources": list(self.sources)}


def standings(plan: Plan, graph: StatedGraph, compute: str, chip: str) -> list[OpStanding]:
    """Return the standing of each operation of a plan other than a constant, also in inner blocks."""
    return [_standing(step, graph, compute, chip) for step in steps_of(plan) if step.operation.type != "const"]


def _standing(step: Step, graph: StatedGraph, compute: str, chip: str) -> OpStanding:
    name, op_type = (step.names or [""])[0], step.operation.type
    if op_type != "quantize" and (not _is_float(step) or _moves(step)):
        return OpStanding(name, op_type, "none", "moves elements, or does not compute floats")
    facts = facts_of(compute, op_type)
    if step.is_own:
        reasons = list(_doubts(step, graph, compute, chip))
    elif compute == "cpu" and facts:
        reasons = []
    else:
        reasons = [_unknown(step)]
    sources = tuple(dict.fromkeys(fact.source for fact in facts))
    return OpStanding(name, op_type, "assumed" if reasons else "measured", "; ".join(reasons), sources)


def _is_float(step: Step) -> bool:
    types = [each for each in step.types if isinstance(each, TensorType)]
    return any(BY_NAME[each.dtype].kind == "float" for each in types)


def _moves(step: Step) -> bool:
    return not WORKING_FORMS & {*step.rule.forms.values()} and step.operation.type not in COMPUTING and not step.is_own


def _unknown(step: Step) -> str:
    """Return the reason why an operation without rules of its own is assumed."""
    if not any(isinstance(each, TensorType) and each.dtype == "fp16" for each in step.types):
        return "its type is not fp16: it is computed as it is declared"
    return "not measured: computed in float32, and rounded once"


def _doubts(step: Step, graph: StatedGraph, compute: str, chip: str) -> Iterator[str]:
    """Yield the reasons why an operation with rules of a device is not exactly as measured."""
    op_type = step.operation.type
    facts = facts_of(compute, op_type)
    if not facts:
        yield "not measured: computed as mul"
    elif op_type in PRODUCTS:
        yield from _doubts_of_sum(step, graph, compute, chip)
    elif facts[0].certainty == RECIPE:
        yield f"a recipe that gives the largest errors measured on an {facts[0].chips[0]}, not its bits"
    elif facts[0].certainty != MEASURED:
        yield "in steps of fp16, with the threshold of a report"
    elif chip not in facts[0].chips:
        yield f"measured on an {facts[0].chips[0]}"


def _doubts_of_sum(step: Step, graph: StatedGraph, compute: str, chip: str) -> Iterator[str]:
    """Yield the reasons why a sum of products is not exactly as measured."""
    op = step.operation
    bound = graph.inputs[op]
    weight = graph.bound_type((bound.get("weight") or [None])[0])
    sizes: Sequence[object] = weight.shape if isinstance(weight, TensorType) else ()
    if op.type != "conv":
        yield "measured on 1x1 convolutions"
        return
    is_integer = "input_scale" in step.rule.forms
    if is_integer:
        if bound.get("bias"):
            yield "a bias after int8 was not measured"
        if _scales(bound, graph) != 1:
            yield "a scale for each channel was not measured"
        if chip == "M4":
            yield "int8 was measured on an M6"
        return
    kernel, terms = sizes[2:], [size for size in sizes[1:] if isinstance(size, int)]
    if any(size != 1 for size in kernel):
        yield "kernels larger than 1 were not measured, and may run as Winograd"
    if len(terms) < len(sizes) - 1 or prod(terms) > MOST_TERMS:
        yield f"sums of more than {MOST_TERMS} terms were not measured, and may take several passes"
    if compute == "ane" and chip == "M4":
        yield "products below 2^-15, infinities and a bias were measured on an M6"


def _scales(bound: Mapping[str, Sequence[Binding]], graph: StatedGraph) -> Dimension:
    """Return the number of scales of a quantized weight."""
    weight = bound["weight"][0]
    maker = weight.maker if isinstance(weight, Value) else None
    if maker is None:
        return None
    scale = graph.attributes[maker].get("scale") or graph.inputs[maker]["scale"][0]
    declared = graph.bound_type(scale)
    return count(declared.shape) if isinstance(declared, TensorType) else None


def summary(found: Sequence[OpStanding], compute: str, chip: str) -> str:
    """Return a line about the standings of a program."""
    device = f"the Neural Engine of an {chip}" if compute == "ane" else "Core ML's CPU"
    counts = Counter(each.certainty for each in found)
    return f"computed as on {device}: {tally(counts['measured'], 'operation')} as measured, {counts['assumed']} assumed"


def lines(found: Sequence[OpStanding]) -> Iterator[str]:
    """Yield a line for each kind of operation and reason, with some of the names."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for each in found:
        groups.setdefault((each.certainty, each.operation, each.reason), []).append(each.name)
    for certainty in ("measured", "assumed", "none"):
        for (mine, operation, reason), names in groups.items():
            if mine == certainty:
                more = f", and {len(names) - SHOWN_NAMES} more" if len(names) > SHOWN_NAMES else ""
                because = f": {reason}" if reason else ""
                yield f"{certainty:8}  {operation} {', '.join(names[:SHOWN_NAMES])}{more}{because}"
