"""The result of a linking, as text for people and as plain data."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from miltext.diagnostics.wording import tally

if TYPE_CHECKING:
    from collections.abc import Iterator

    from miltext.diagnostics import Diagnostic
    from miltext.diagnostics.dynamic import Record
    from miltext.linking.joining import Renamed


class LinkedValue(NamedTuple):
    """An input or a state, and the output, input or state that it takes its value from, as in `encoder.y`.

    `is_requested` is false for a binding by name. `sizes` are the result of inference, and `cast` is the
    data type that it is cast to; each is empty for none.
    """

    source: str
    target: str
    is_shared: bool
    is_requested: bool
    sizes: str = ""
    cast: str = ""

    def __str__(self) -> str:
        how = f"{self.source} and {self.target} are one input" if self.is_shared else f"{self.source} -> {self.target}"
        notes = [f"sizes {self.sizes}"] * bool(self.sizes) + [f"cast to {self.cast}"] * bool(self.cast)
        return ", ".join([how, *notes])


class UnitedWeights(NamedTuple):
    """The bytes of the records that the models use in weight files, and of those in the one file of the whole."""

    before: int
    after: int


NO_WEIGHTS = UnitedWeights(0, 0)
"""The weights of models without any."""


@dataclass(repr=False)
class Linked:
    """The result of `miltext.link`: the bound inputs, the names of inputs and outputs, renamed values, the functions of
    a model of several, the bytes of weights, and the warnings.

    `inner` are the outputs of models that inputs take, without the outputs of the whole.
    `constants` is the number of constants that an earlier model has, too.
    """

    values: list[LinkedValue] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    inner: list[str] = field(default_factory=list)
    renamed: list[Renamed] = field(default_factory=list)
    constants: int = 0
    functions: list[str] = field(default_factory=list)
    weights: UnitedWeights = NO_WEIGHTS
    warnings: list[Diagnostic] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"<Linked: {', '.join(map(str, self.values)) or 'nothing bound'}>"

    def to_text(self) -> str:
        """Return the result as text for people: a line for each binding and each renamed input or output, and sums."""
        return "".join(f"{line}\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        yield from map(str, self.values)
        for each in self.renamed:
            if not each.is_inner:
                yield f"{each.part}.{each.old} is `{each.new}` in the whole"
        inner = Counter(each.part for each in self.renamed if each.is_inner)
        for name, count in inner.items():
            yield f"renamed: {tally(count, 'inner value')} of {name}"
        if self.constants:
            yield f"shared: {tally(self.constants, 'constant')}"
        if self.functions:
            yield f"functions: {', '.join(self.functions)} (the default is {self.functions[0]})"
        else:
            yield f"inputs: {', '.join(self.inputs) or 'none'}; outputs: {', '.join(self.outputs) or 'none'}"
            if self.inner:
                yield f"inside: {', '.join(self.inner)}"
        before, after = self.weights
        yield f"weight files: {before:,} -> {after:,} bytes"

    def to_json(self) -> Record:
        """Return the result as plain data."""
        return {
            "values": [each._asdict() for each in self.values],
            "inputs": self.inputs,
            "outputs": self.outputs,
            "inner": self.inner,
            "renamed": [each._asdict() for each in self.renamed],
            "constants": self.constants,
            "functions": self.functions,
            "weights": self.weights._asdict(),
        }
