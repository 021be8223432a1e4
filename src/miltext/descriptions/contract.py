"""The contradictions between a description and its program, or in a description alone: the result of all rules.

The rules are in `contradictions`, `mismatches` and `features_alone`. Their sources are coremltools' public validators,
`mlmodel/src/Validation/InterfaceValidators.cpp` (IV below), `Validators.hpp`, `Model.cpp`, `ResultReason.hpp` (RR, the
reasons for which Core ML's own validator refuses an ML Program), and the comments of Apple's `FeatureTypes.proto` and
`Model.proto`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from miltext.descriptions.words import FUNCTIONS, SIDES
from miltext.toml.reading import Mistake

if TYPE_CHECKING:
    from miltext.diagnostics.dynamic import Json
    from miltext.schema.proto import ModelDescription
    from miltext.toml.reading import Keys

Severity = Literal["error", "warning", "note"]
"""An error is refused by Core ML, a warning is wrong by Apple's documentation, and a note is doubtful."""


_LISTS = (*SIDES, FUNCTIONS)


class ProgramPlace(NamedTuple):
    """A place in a program: a value on a side of a function; a function without a name; the program without both."""

    function: str = ""
    side: str = ""
    name: str = ""


class Contradiction(NamedTuple):
    """A contradiction: its `fact` with both sides, the way out of it, and its places in the description and in the
    program.

    `keys` lead from the table of the model to the part; for a missing entry, to the list that lacks it. `near` is the
    nearest part in a text, if the part itself is missing. `suggestion` replaces the value at the place in a text.
    """

    code: str
    severity: Severity
    fact: str
    way_out: str
    keys: Keys
    place: ProgramPlace = ProgramPlace()
    near: Keys | None = None
    suggestion: str | None = None

    @property
    def message(self) -> str:
        """The fact, and the way out."""
        return f"{self.fact}: {self.way_out}" if self.way_out else self.fact

    def mistake(self, at: Keys) -> Mistake:
        """Return the contradiction as a mistake in the text of a description, whose model has the table `at`."""
        keys = self.keys if self.near is None else self.near
        return Mistake(self.code, self.message, (*at, *keys), suggestion=self.suggestion)


def place_words(keys: Keys, description: ModelDescription) -> str:
    """Return a place in a description in words, such as "input `image`, type"; empty for a list, or a whole model."""
    if not keys or keys[-1] in _LISTS:
        return ""
    words: list[str] = []
    holder: Json = description
    for key, index in zip(keys, (*keys[1:], None), strict=True):
        if key in _LISTS and isinstance(index, int):
            holder = getattr(holder, "functions" if key == FUNCTIONS else str(key))[index]
            words.append(f"{key} `{holder.name}`" if holder.name else f"{key} {index}")
        elif isinstance(key, str):
            words.append(key)
    return ", ".join(words)
