"""The types of bound values: equal, or refined by inference, or cast on request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.descriptions.sizes import Size, spell_sizes
from miltext.diagnostics import Note, codes
from miltext.diagnostics.wording import ORDER_CHANNELS, OTHER_COLOURS
from miltext.drafting.importing import resize
from miltext.files.refusals import refusal
from miltext.linking.allowed import AllowedSizes
from miltext.printing.printer import type_text
from miltext.schema.operations import signature
from miltext.schema.types import TensorType

if TYPE_CHECKING:
    from collections.abc import Callable

    from miltext.descriptions.losses import DescriptionLoss
    from miltext.descriptions.sizes import Sizes
    from miltext.diagnostics import Diagnostic, ModelError
    from miltext.linking.bindings import Bindings
    from miltext.linking.parts import End
    from miltext.schema.proto import FeatureDescription
    from miltext.schema.types import Type


# ---- sizes


def refine(made: Bindings, on_warning: Callable[[Diagnostic], object], losses: list[DescriptionLoss]) -> dict[End, str]:
    """Give inputs of open sizes the sizes of the outputs that they are bound to, and infer the types that follow;
    return the sizes in words. Outputs whose sizes are unknown are added to `losses`.

    Models are refined in their order, so that an output has its final sizes. Raise ParseError and ModelError as
    `miltext.reshape` does, and MIL488 for sizes that an input does not allow.
    """
    refined: dict[End, str] = {}
    allowed = AllowedSizes(made, losses)
    for part in made.parts:
        ends = [end for end in part.ends("input") if end in made.sources]
        for end in ends:
            allowed.require(end)
        wanted = {end: sizes for end in ends if (sizes := _closed(made, end)) is not None}
        if wanted:
            resize(part, {end.name: sizes for end, sizes in wanted.items()}, on_warning)
            refined.update({end: spell_sizes(sizes) for end, sizes in wanted.items()})
    return refined


def _closed(made: Bindings, end: End) -> Sizes | None:
    """Return the sizes of a bound input with open ones, whose source has fixed sizes there; None if nothing changes."""
    source = made.source(end)
    given, taken = made.type(source), made.type(end)
    if source.side != "output" or not isinstance(given, TensorType) or not isinstance(taken, TensorType):
        return None
    if not _fits(given, taken) or given.shape == taken.shape:
        return None
    return tuple(Size(1, None) if size is None else Size(size, size) for size in given.shape)


def _fits(given: TensorType, taken: TensorType) -> bool:
    """Return whether the sizes of an output equal those of an input, or fix open ones."""
    if len(given.shape) != len(taken.shape):
        return False
    return all(size == wanted or wanted is None for size, wanted in zip(given.shape, taken.shape, strict=True))


# ---- agreement


def require_agreement(made: Bindings, cast: bool, opset: str) -> set[End]:
    """Return the bound inputs that need a cast. Raise ModelError: MIL488 for types that differ, MIL489 for inputs of
    one name that differ.
    """
    casts: set[End] = set()
    for end, source in made.sources.items():
        if source.side == "output":
            casts |= {end} if _needs_cast(made, end, source, cast, opset) else set()
            _require_colours(made, end, source)
        else:
            _require_alike(made, end, source)
    return casts


def _needs_cast(made: Bindings, end: End, source: End, cast: bool, opset: str) -> bool:
    """Return whether an output has to be cast for an input."""
    given, taken = made.type(source), made.type(end)
    if given is not None and given == taken:
        return False
    if not isinstance(given, TensorType) or not isinstance(taken, TensorType) or given.shape != taken.shape:
        raise _differ(made, end, source, _way(given, taken))
    known = signature("cast", opset)
    if known is None or given.dtype not in known.dtypes("x") or taken.dtype not in known.parameters["dtype"].words:
        raise _differ(made, end, source, f"`cast` of {opset} makes no {taken.dtype} of {given.dtype}")
    if not cast:
        raise _differ(made, end, source, "`cast=True` casts values whose data types differ")
    return True


def _way(given: Type, taken: Type) -> str:
    """Return the way to equal types."""
    if not isinstance(given, TensorType) or not isinstance(taken, TensorType):
        return "bind it to an input of its type"
    if len(given.shape) != len(taken.shape):
        return "the ranks differ: put a `reshape` or `squeeze` into the text of one model"
    if any(size is None and wanted is not None for size, wanted in zip(given.shape, taken.shape, strict=True)):
        return "`miltext reshape` gives the first model inputs of a fixed size, or the second one inputs of any size"
    return "`miltext reshape` gives a model inputs of other sizes"


def _differ(made: Bindings, end: End, source: End, way: str) -> ModelError:
    given, taken = (made.declared(each) for each in (source, end))
    types = [type_text(each) if each is not None else "of no known type" for each in (given, taken)]
    message = f"`{made.spelled(source)}` is {types[0]}, but `{made.spelled(end)}`, bound to it, is {types[1]}"
    notes = [Note(way)]
    if end not in made.stated:
        notes.append(Note(f"it is bound by its name; `apart=` with `{end.name}` keeps the two apart"))
    return refusal(codes.TYPES_OF_BINDING, message, None, *notes)


def _entry(made: Bindings, end: End) -> FeatureDescription | None:
    return made.parts[end.part].entries(end.side).get(end.name)


def _require_colours(made: Bindings, end: End, source: End) -> None:
    """Refuse two images whose channels are in another order."""
    entries = [_entry(made, each) for each in (source, end)]
    if not all(entry is not None and entry.type.WhichOneof("Type") == "imageType" for entry in entries):
        return
    colors = [entry.type.imageType.colorSpace for entry in entries if entry is not None]
    if colors[0] != colors[1]:
        message = f"`{made.spelled(source)}` and `{made.spelled(end)}`, bound to it, {OTHER_COLOURS}"
        raise refusal(codes.TYPES_OF_BINDING, message, None, Note(ORDER_CHANNELS))


def _require_alike(made: Bindings, end: End, source: End) -> None:
    """Refuse two inputs, or two states, that cannot be one."""
    one, other = made.declared(source), made.declared(end)
    entries = [_entry(made, each) for each in (source, end)]
    kinds = [entry.type for entry in entries if entry is not None]
    if one == other and (len(kinds) < 2 or kinds[0] == kinds[1]):
        return
    types = [type_text(each) if each is not None else "of no known type" for each in (one, other)]
    how = " and ".join(types) if types[0] != types[1] else f"both {types[0]}, but their descriptions differ"
    message = f"`{made.spelled(source)}` and `{made.spelled(end)}` would be one {end.side}, and are {how}"
    way = f"`apart=` with `{end.name}` keeps them apart, each an {end.side} of its own"
    notes = [Note(way)] if end not in made.stated else []
    raise refusal(codes.INPUTS_DIFFER, message, None, *notes)
