"""The result of a split, as text for people and as plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from miltext.diagnostics.wording import tally
from miltext.syntax.names import name_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from miltext.diagnostics import Diagnostic
    from miltext.diagnostics.dynamic import Record


class PartValue(NamedTuple):
    """An input or output of a part, with its type in MIL text and its bytes, None if its size is not known.

    `parts` are the numbers of the part that makes an input, or of the later parts that take an output; none for an
    input or output of the whole model alone.
    """

    name: str
    type: str
    bytes: int | None
    parts: tuple[int, ...]


class SplitPart(NamedTuple):
    """A part: its `name`, its `function`, the number of its operations, constants aside, and the bytes of its weights.

    `inputs` and `outputs` contain states, and outputs of the whole model.
    """

    name: str
    function: str
    operations: int
    weights: int
    inputs: tuple[PartValue, ...]
    outputs: tuple[PartValue, ...]


@dataclass(repr=False)
class Splitting:
    """The result of `miltext.split`: the parts in order, the bytes of weights of the whole, and the warnings.

    `copied` are the bytes of weights that several parts contain, once for each further part.
    """

    parts: tuple[SplitPart, ...]
    weights: int
    warnings: list[Diagnostic] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"<Splitting: {tally(len(self.parts), 'part')}>"

    @property
    def copied(self) -> int:
        """The bytes of weights that parts contain beyond the bytes of the whole."""
        return sum(each.weights for each in self.parts) - self.weights

    def to_text(self) -> str:
        """Return the parts as text for people, each with the values that come from other parts and go to them."""
        return "".join(f"{line}\n" for line in self._lines())

    def to_json(self) -> Record:
        """Return the result as plain data."""
        return {
            "parts": [
                {**each._asdict(), "inputs": _records(each.inputs), "outputs": _records(each.outputs)}
                for each in self.parts
            ],
            "weights": {"whole": self.weights, "copied": self.copied},
        }

    def _lines(self) -> Iterator[str]:
        for part in self.parts:
            operations = tally(part.operations, "operation")
            yield f"{part.name}: {operations}, {part.weights:,} bytes of weights"
            for value in part.inputs:
                yield f"  input {_line(value, 'from part')}"
            for value in part.outputs:
                yield f"  output {_line(value, 'to part')}"
        crossing = [value for part in self.parts for value in part.outputs if value.parts]
        sizes = [each.bytes for each in crossing if each.bytes is not None]
        values = f"{tally(len(crossing), 'value')} of {sum(sizes):,} bytes" if crossing else "no value"
        copies = f"; {self.copied:,} bytes of weights are in several parts" if self.copied else ""
        yield f"{tally(len(self.parts), 'part')}; {values} from part to part{copies}"


def _line(value: PartValue, way: str) -> str:
    size = f", {value.bytes:,} bytes" if value.bytes is not None else ""
    others = f", {way}{'s' * (len(value.parts) > 1)} {', '.join(map(str, value.parts))}" if value.parts else ""
    return f"{name_text(value.name)}: {value.type}{size}{others}"


def _records(values: Sequence[PartValue]) -> list[Record]:
    return [{**each._asdict(), "parts": [*each.parts]} for each in values]
