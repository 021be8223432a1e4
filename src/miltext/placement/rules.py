"""The rules of profiles: rows about an operation, each a condition on its features and Core ML's answer.

The first row that fits an operation answers. scripts/make_placement_rules.py makes the rows of `rules.tsv` from the
measurements, and from the limits that the sources state.
"""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from miltext.placement.features import Features, Word

    Condition = Callable[[Features], bool]

FILE = Path(__file__).parent / "rules.tsv"

SUPPORTED, REFUSED, UNKNOWN = "supported", "not supported", "unknown"
"""The answers about an operation."""

ANY = "*"
"""In place of the operation: the row is about every operation."""

COLUMNS = "chip system operation answer when message fix cases folders source".split()
"""The columns of the table."""

_ATOM = re.compile(r"(?P<name>[\w.]+)(?P<optional>\??) (?P<relation>in|has|<=|>=|is) (?P<words>.+)")


class Rule(NamedTuple):
    """A row of the table.

    `when` is the condition: atoms with semicolons between them, such as `in is fp16` (all data types of computed
    inputs), `any has int32`, or `kernel_width <= 15`; `stride? <= 2` holds without a stride, too. `message` is Apple's,
    with the names of words about the operation in braces. `cases` is the number of measured operations that the row
    answers, `folders` the measurements that they are in, and `source` states the limits, or names the measurements.
    """

    chip: str
    system: str
    operation: str
    answer: str
    when: str
    message: str
    fix: str
    cases: int
    folders: str
    source: str

    @property
    def profile(self) -> str:
        """The name of its profile, `ane-m4-macos27`: the chip, and the system without the minor version."""
        return f"ane-{self.chip}-{self.system.split('.')[0]}".replace(" ", "").lower()

    def fits(self, features: Features) -> bool:
        """Return whether the condition holds, and all of its features are known."""
        return all(atom.holds(features) for atom in conditions(self.when))

    def failing(self, features: Features) -> list[Atom]:
        """Return the parts of the condition that do not hold."""
        return [atom for atom in conditions(self.when) if not atom.holds(features)]


class Atom(NamedTuple):
    """A part of a condition: its text, the feature that it is about, and whether it `holds`."""

    text: str
    name: str
    holds: Condition


@cache
def conditions(when: str) -> Sequence[Atom]:
    """Return the atoms of a condition. Raise ValueError for an unreadable one."""
    return [_condition(atom.strip()) for atom in when.split(";") if atom.strip()]


def _condition(atom: str) -> Atom:
    found = _ATOM.fullmatch(atom)
    if found is None:
        raise ValueError(f"no condition: {atom!r}")
    name, words = found["name"], found["words"].split(", ")
    holds = _relation(name, found["relation"], words)
    if found["optional"]:
        return Atom(atom, name, lambda features: name not in features or holds(features))
    return Atom(atom, name, holds)


def _relation(name: str, relation: str, words: Sequence[str]) -> Condition:
    """Return the condition on a feature."""
    listed = frozenset(word for each in words for word in _spellings(each))
    if relation == "in":
        return lambda features: name in features and features[name] <= listed
    if relation == "is":
        return lambda features: features.get(name) == frozenset(words) - {"nothing"}
    if relation == "has":
        return lambda features: bool(features.get(name, frozenset()) & listed)
    limit = float(words[0])
    if relation == "<=":
        return lambda features: name in features and all(_number(each) <= limit for each in features[name])
    return lambda features: bool(features.get(name)) and all(_number(each) >= limit for each in features[name])


def _spellings(word: str) -> Iterable[Word]:
    """Return a word as it is, and as a number if it is one."""
    return (word, float(word)) if re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", word) else (word,)


def _number(word: Word) -> float:
    return float("nan") if isinstance(word, str) else word


@cache
def rules() -> Mapping[str, Mapping[str, Sequence[Rule]]]:
    """Return the rows by profile and operation, in the order of the file."""
    found: dict[str, dict[str, list[Rule]]] = defaultdict(lambda: defaultdict(list))
    for row in table():
        found[row.profile][row.operation].append(row)
    return found


def table(text: str | None = None) -> list[Rule]:
    """Return the rows of the table, or of another text of its form."""
    lines = (FILE.read_text(encoding="utf-8") if text is None else text).splitlines()
    rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    return [Rule(*[int(row[name]) if name == "cases" else row[name] for name in COLUMNS]) for row in rows]  # type: ignore[arg-type]


def profiles() -> list[str]:
    """Return the names of the profiles."""
    return sorted(rules())


def known_system(profile: str) -> str:
    """Return the chip and the system of a profile: `M4, macOS 27.0.1`."""
    row = next(row for rows in rules()[profile].values() for row in rows)
    return f"{row.chip}, {row.system}"


def profile_lines() -> list[str]:
    """Return a line for each profile: its name, chip and system, and the number of its rules."""
    found = []
    for name in profiles():
        rows = [row for every in rules()[name].values() for row in every]
        supported = sum(row.answer == SUPPORTED for row in rows)
        named = f"{supported} rules of supported operations, {len(rows) - supported} refusals"
        found.append(f"{name}: {known_system(name)}; {named}")
    return found


def answering(features: Features, operation: str, own: Mapping[str, Sequence[Rule]]) -> Rule | None:
    """Return the row that answers about an operation; None if no row does."""
    rows = [*own.get(operation, ()), *own.get(ANY, ())]
    refused = [row for row in rows if row.answer == REFUSED]
    return next((row for row in [*refused, *rows] if row.fits(features)), None)


def reason_of_unknown(features: Features, operation: str, own: Mapping[str, Sequence[Rule]]) -> str:
    """Return why no row answers: the measured conditions of the nearest row of a supported operation."""
    rows = [row for row in own.get(operation, ()) if row.answer == SUPPORTED]
    if not rows:
        return "no operation of this type was measured as supported, and no refusal fits"
    nearest = min((row.failing(features) for row in rows), key=len)
    absent = dict.fromkeys(atom.name for atom in nearest if atom.name not in features)
    reasons = [_unmeasured(atom, features) for atom in nearest if atom.name in features]
    return "; ".join([*reasons, *([f"not known here: {', '.join(absent)}"] if absent else [])])


def _unmeasured(atom: Atom, features: Features) -> str:
    """Return the unmeasured condition: `groups <= 64 was measured, not 128`."""
    words = atom.text.split(" ", 2)[2].split(", ")
    here = sorted(map(str, features[atom.name]))
    if atom.name == "parameters" and (more := [word for word in here if word not in words]):
        return f"not measured with {', '.join(more)}"
    return f"{atom.text} was measured, not {', '.join(here) or 'nothing'}"
