"""The result of a comparison, and its forms."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from miltext.diagnostics import line_and_column
from miltext.diagnostics.plain import field_names, plain
from miltext.evaluation.comparing.text import located, render_text

if TYPE_CHECKING:
    from miltext.checking.findings import Finding
    from miltext.checking.verifier import Checked
    from miltext.diagnostics import Diagnostic
    from miltext.diagnostics.dynamic import Record
    from miltext.evaluation.comparing.measures import Measure
    from miltext.schema.paths import Path

FORM = 1
"""The version of the JSON form, which docs/compare.md describes; it changes when readers would break."""


@dataclass(frozen=True, slots=True)
class ComparedValue:
    """A value and its reference: the names, the types of the operations, and the types as text.

    `kind` is `input`, `constant`, `value`, `output` or `state`. `measure` is the largest distance; for an operation
    that runs several times, `turn` is the number of that run, from 0. `lost` is the largest loss in dB, relative to the
    worst input of the value, or to the precision of its type. `fell` is true for a ratio below the required `min_snr`
    in dB.
    """

    kind: str
    name: str
    old_name: str
    operation: str
    old_operation: str
    type: str
    old_type: str
    measure: Measure
    turn: int = 0
    lost: float = 0.0
    fell: bool = False
    min_snr: float = 0.0


@dataclass(frozen=True, slots=True)
class Origin:
    """Origin of a loss of precision: the value, its distance, and the ratios of its inputs, by name.

    `between` are the operations without partners before it, of the new program, and `removed` the operations of the old
    one. `reaches_output` is true if it made an output fall.
    """

    value: ComparedValue
    measure: Measure
    turn: int
    inputs: tuple[tuple[str, float], ...]
    between: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    reaches_output: bool = False
    path: Path = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class FirstOddity:
    """The first `NaN` or `infinity` of a run, if any: `side` is `old` or `new`."""

    side: str
    kind: str
    name: str
    operation: str
    count: int
    turn: int = 0


@dataclass(frozen=True, repr=False)
class Comparison:
    """Two runs on the same inputs; the values of `old` are the reference for those in `new`.

    `min_snr` is the lowest required ratio in dB of all outputs. `origins` are the values that fell below it although
    their inputs had not, the causes of fallen outputs first; `steepest` is the largest loss before the worst output,
    whether or not that fell. `values` are all compared values except `outputs`, in the order of the new program. `lost`
    are the names of outputs that only the old program has. `notes` list values that could not be compared. `seed` is
    the seed of random inputs, None without any. `function` is the new program's. `ok`: no output fell, and none is
    lost. `locate` locates findings in the text of the new program.
    """

    old: str
    new: str
    min_snr: float
    outputs: tuple[ComparedValue, ...]
    values: tuple[ComparedValue, ...]
    origins: tuple[Origin, ...] = ()
    steepest: Origin | None = None
    oddities: tuple[FirstOddity, ...] = ()
    notes: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    seed: int | None = None
    function: str = ""
    locate: Callable[[Collection[Finding]], Checked] | None = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        fallen = sum(output.fell for output in self.outputs)
        counted = f"{fallen or 'none'} of {len(self.outputs)} outputs fell, {len(self.lost) or 'none'} lost"
        return f"<Comparison {self.old!r} -> {self.new!r}: {counted}>"

    @property
    def ok(self) -> bool:
        """Whether no output is below the threshold, and none is lost."""
        return not self.lost and not any(output.fell for output in self.outputs)

    @property
    def first(self) -> Origin | None:
        """The first value that falls below the threshold, if possible a cause of a fallen output."""
        return self.origins[0] if self.origins else None

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """The origins, located in the text of the new program."""
        return located(self, self.origins).diagnostics

    def to_text(self, *, color: bool = False, full: bool = False) -> str:
        """Return the comparison for people, with ANSI colours if `color`; `full` lists all values."""
        return render_text(self, color, full)

    def to_json(self) -> Record:
        """Return everything, for `json.dumps`: infinities are the strings `inf` and `-inf`.

        The `line` of an origin is its line in the text of the new program, None without one.
        """
        names = ("ok", "old", "new", "min_snr", "oddities", "outputs", "values", "lost", "notes", "seed")
        found = located(self, self.origins)
        origins = [
            {**_origin(origin), "line": _line(diagnostic, found.text)}
            for origin, diagnostic in zip(self.origins, found.diagnostics, strict=True)
        ]
        steepest = _origin(self.steepest) if self.steepest else None
        where = {"first": origins[0] if origins else None, "origins": origins, "steepest": steepest}
        return {"form": FORM, **{name: plain(getattr(self, name)) for name in names}, **where}


def _line(diagnostic: Diagnostic, text: str | None) -> int | None:
    return line_and_column(text, diagnostic.span.start)[0] if text is not None and diagnostic.span else None


def _origin(origin: Origin) -> Record:
    """Return an origin as JSON has it; the parts of its value are parts of it."""
    own = [name for name in field_names(origin) if name not in ("value", "path")]
    return {**plain(origin.value), **{name: plain(getattr(origin, name)) for name in own}}
