"""The sizes that bound inputs of open sizes get, as far as their descriptions allow them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.descriptions.kept_sizes import allowed_in_words
from miltext.descriptions.losses import DescriptionLoss
from miltext.descriptions.sizes import Size, spell_sizes
from miltext.diagnostics import Note, codes
from miltext.diagnostics.wording import listed
from miltext.files.refusals import refusal
from miltext.printing.flexible_shapes import flexible
from miltext.schema.features import ANY_SIZE
from miltext.schema.types import TensorType

if TYPE_CHECKING:
    from miltext.descriptions.sizes import Sizes
    from miltext.diagnostics import ModelError
    from miltext.linking.bindings import Bindings
    from miltext.linking.parts import End, LinkedPart
    from miltext.printing.flexible_shapes import Flexible


class AllowedSizes:
    """The sizes of outputs that inputs of open sizes are bound to.

    The sizes of a model's outputs follow from the sizes of its inputs. Unknown sizes are added to `losses`: the whole
    does not state all sizes that the input allows.
    """

    def __init__(self, made: Bindings, losses: list[DescriptionLoss]) -> None:
        self._made, self._losses = made, losses
        self._got: dict[End, Sizes] = {}
        self._given: dict[int, dict[str, Sizes]] = {}

    def require(self, end: End) -> None:
        """Refuse an output whose sizes a bound input of open sizes does not allow. Raise ModelError (MIL488)."""
        source = self._made.source(end)
        given, taken = self._made.type(source), self._made.type(end)
        if source.side != "output" or not isinstance(given, TensorType) or not isinstance(taken, TensorType):
            return
        if None not in taken.shape or len(given.shape) != len(taken.shape):
            return
        entry = self._made.parts[end.part].entries(end.side).get(end.name)
        allowed = flexible(entry) if entry is not None else None
        sizes = self._sizes(source, given)
        if sizes is not None:
            self._got[end] = sizes
        if allowed is None:
            return
        if sizes is None:
            self._losses += [] if _is_unlimited(allowed) else [self._unknown(source, end, allowed)]
        elif not allowed.allows_all([(each.least, each.greatest or each.least) for each in sizes]):
            raise self._excluded(source, end, sizes, allowed)

    def _sizes(self, source: End, given: TensorType) -> Sizes | None:
        """Return the sizes of an output; None if they are not known."""
        if None not in given.shape:
            return tuple(Size(size, size) for size in given.shape if size is not None)
        if source.part not in self._given:
            self._given[source.part] = self._following(self._made.parts[source.part])
        return self._given[source.part].get(source.name)

    def _following(self, part: LinkedPart) -> dict[str, Sizes]:
        """Return the sizes of a model's outputs with open ones, by name."""
        from miltext.extraction.open_sizes import sizes_that_follow

        got = {end.name: sizes for end, sizes in self._got.items() if end.part == part.place}
        program = part.built.spec.mlProgram
        return sizes_that_follow(program, part.function, {*part.sides["output"]}, part.described, got)

    def _unknown(self, source: End, end: End, allowed: Flexible) -> DescriptionLoss:
        words = allowed_in_words(allowed)
        message = f"the sizes of `{self._made.spelled(source)}` are not known, and `{self._made.spelled(end)}`"
        return DescriptionLoss(f"{message}, bound to it, allows {words} only, which the whole does not state")

    def _excluded(self, source: End, end: End, sizes: Sizes, allowed: Flexible) -> ModelError:
        words = allowed_in_words(allowed)
        message = f"`{self._made.spelled(end)}` gets [{', '.join(map(str, sizes))}], but allows {words}"
        wide = self._open_inputs(self._made.parts[source.part])
        notes = [Note("`miltext reshape` gives it other sizes")]
        if wide and not all(each.is_fixed for each in sizes):
            named = listed([self._made.spelled(each) for each in wide])
            example = spell_sizes(sizes)
            notes = [
                Note(f"restrict {named} by `ranges=`, or allow `{end.name}` the sizes that it gets, such as {example}")
            ]
        return refusal(codes.TYPES_OF_BINDING, message, None, *notes)

    def _open_inputs(self, part: LinkedPart) -> list[End]:
        """Return the inputs of open sizes that a model takes from outside."""
        ends = [(end, self._made.type(end)) for end in part.ends("input") if end not in self._made.sources]
        return [end for end, known in ends if isinstance(known, TensorType) and None in known.shape]


def _is_unlimited(allowed: Flexible) -> bool:
    """Return whether every size that varies may be any from 1 on."""
    limits = [] if allowed.shapes else [tuple(each) for each in allowed.ranges if each[0] != each[1]]
    return bool(limits) and all(least <= 1 and greatest == ANY_SIZE for least, greatest in limits)
