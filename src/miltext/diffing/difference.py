"""What is different between two programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from miltext.diffing.structure import Change, FunctionDifference, WeightDifference


@dataclass(frozen=True)
class Difference:
    """What is different between two models or programs, which are called `old` and `new`.

    `changes` are those of the model and the program themselves, `notes` what could not be compared. `functions` are
    those with a difference, added and removed ones too. `complete`: every weight that counts was read. `to_text` is for
    people, `to_json` for programs, `to_unified` for tools that show patches, `to_stat` is a summary.
    """

    old: str
    new: str
    notes: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    functions: tuple[FunctionDifference, ...] = ()
    weights: WeightDifference = field(default_factory=WeightDifference)
    complete: bool = True
    _lines: Callable[[], Sequence[tuple[str, str]]] = field(default=tuple, repr=False, compare=False)

    @property
    def same(self) -> bool | None:
        """Whether the two say the same; None if that cannot be told: no difference was found, and not all was read."""
        if self.changes or self.functions or self.weights.changed:
            return False
        return True if self.complete else None

    @property
    def added(self) -> tuple[FunctionDifference, ...]:
        """The functions that only the new program has."""
        return self._with_status("added")

    @property
    def removed(self) -> tuple[FunctionDifference, ...]:
        """The functions that only the old program has."""
        return self._with_status("removed")

    @property
    def changed(self) -> tuple[FunctionDifference, ...]:
        """The functions that both have, and that are different."""
        return self._with_status("changed")

    def _with_status(self, status: str) -> tuple[FunctionDifference, ...]:
        return tuple([function for function in self.functions if function.status == status])

    def to_text(self, *, color: bool = False, full: bool = False) -> str:
        """Return what a person would say, in ANSI colours if asked; long lists of names and weights are cut unless
        `full`.
        """
        from miltext.diffing.text import render_text

        return render_text(self, color, full)

    def to_stat(self) -> str:
        """How much of what is different: a line for each function, and one for the weights."""
        from miltext.diffing.text import render_stat

        return render_stat(self)

    def to_json(self) -> dict[str, Any]:
        """Everything, for `json.dumps`: infinities are the strings `inf` and `-inf`."""
        from miltext.diffing.json_form import render_json

        return render_json(self)

    def to_unified(self) -> str:
        """Both texts as a unified diff, in which operations are lined up by structure.

        The old text has the values by their new names, and what is renamed stands before the diff.
        """
        from miltext.diffing.unified import render_unified

        return render_unified(self, self._lines())
