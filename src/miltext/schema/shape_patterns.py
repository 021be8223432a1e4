"""The shapes of parameters, as patterns over the names of sizes: `[n, c, *d]`, `[2*#d]`, `[h] | []`.

A pattern lists dimensions. A letter is a size: the same in all the parameters of one operation. `*d` is a run of sizes,
`*d{1,3}` a run of so many, and `...` any run; `?` is any size, and a number itself. `#d` is the number of sizes of the
run `*d`, and `*k{#d}` a run of the same length. A size may have a factor and an offset: `4*h`, `#d+1`. `[]` is a
scalar; ` | ` comes between alternatives.
"""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from miltext.schema.types import Dimension, Shape

_TERM = re.compile(
    r"(?P<run>\*\w+|\.\.\.)(?:\{(?:(?P<least>\d*),(?P<most>\d*)|(?P<length>#\w+))\})?"
    r"|(?:(?P<factor>\d+)\*)?(?P<name>#?[a-z]\w*)(?P<offset>[+-]\d+)?"
    r"|(?P<number>-?\d+)|\?"
)

ANY = "..."
"""The unbound run."""


class Term(NamedTuple):
    """A size: `factor` times the value of `name`, plus `offset`; any size for an empty name and no factor.

    `name` begins with `#` for the number of sizes in a run.
    """

    text: str
    name: str = ""
    factor: int = 0
    offset: int = 0

    def value(self, sizes: NamedSizes) -> Dimension:
        """Return the size, None when it is not known."""
        if not self.factor:
            return None if self.text == "?" else self.offset
        bound = sizes.of(self.name)
        return None if bound is None else bound * self.factor + self.offset


class SizeRun(NamedTuple):
    """A run of sizes, from `least` to `most`; `length` is the name of their number."""

    text: str
    name: str
    least: int
    most: int | None
    length: str


NamedSize: TypeAlias = "tuple[str, int | Shape]"


class Pattern(NamedTuple):
    """One alternative: the terms before a run, the run if there is one, and the terms after it."""

    text: str
    before: tuple[Term, ...]
    run: SizeRun | None
    after: tuple[Term, ...]

    @property
    def ranks(self) -> tuple[int, int | None]:
        """The least and the highest rank, None for no limit."""
        fixed = len(self.before) + len(self.after)
        if self.run is None:
            return fixed, fixed
        return fixed + self.run.least, None if self.run.most is None else fixed + self.run.most

    def has_rank(self, rank: int) -> bool:
        """Return whether shapes of the rank can match."""
        least, most = self.ranks
        return least <= rank and (most is None or rank <= most)

    def split(self, shape: Shape) -> tuple[list[tuple[Term, Dimension]], Shape]:
        """Return the terms of a shape of a matching rank with their sizes, and the sizes of the run."""
        start, end = len(self.before), len(shape) - len(self.after)
        pairs = [*zip(self.before, shape[:start], strict=True), *zip(self.after, shape[end:], strict=True)]
        return pairs, shape[start:end]

    def read(self, shape: Shape) -> Iterator[NamedSize]:
        """Yield each name with its value from a shape of a matching rank, if known."""
        pairs, run = self.split(shape)
        for term, size in pairs:
            if size is not None and term.factor and (size - term.offset) % term.factor == 0:
                yield term.name, (size - term.offset) // term.factor
        if self.run is not None and self.run.name:
            yield self.run.name, run
            yield self.run.length, len(run)


Patterns: TypeAlias = "tuple[Pattern, ...]"


class BoundSize(NamedTuple):
    """The value of a name, a size or a run of them, and the parameter that states it.

    An uncertain value counts less, for a vector with an element for each axis is written for the tensor with these
    axes.
    """

    value: int | Shape
    parameter: str
    is_sure: bool


class NamedSizes:
    """The values of the names in an operation's patterns: the values that most parameters state, or the first of
    equally many parameters.
    """

    def __init__(self) -> None:
        self.bound_sizes: defaultdict[str, list[BoundSize]] = defaultdict(list)

    def bound(self, name: str) -> BoundSize | None:
        """Return the value of a name, None when no parameter states it."""
        stated = self.bound_sizes.get(name, ())
        if len(stated) < 2:
            return stated[0] if stated else None
        sure = [bound.value for bound in stated if bound.is_sure]
        values = [bound.value for bound in stated]
        return max(stated, key=lambda bound: (sure.count(bound.value), values.count(bound.value)))

    def of(self, name: str) -> Dimension:
        """Return the size of a name, None when unknown."""
        found = self.bound(name)
        return found.value if found is not None and isinstance(found.value, int) else None

    def parameters_of(self, terms: Iterable[Term | SizeRun]) -> list[str]:
        """Return the parameters that state the values of terms' names."""
        found = (self.bound(term.name) for term in terms)
        return list(dict.fromkeys(bound.parameter for bound in found if bound))

    def bind(self, shapes: Mapping[str, tuple[Sequence[Pattern], Shape]]) -> None:
        """Record the values of names from the shapes of parameters, each with patterns of its rank.

        Parameters with a wrong length of a run, and so with other sizes in its place, are ignored.
        """
        read = {parameter: _shared(*given) for parameter, given in shapes.items()}
        for parameter, stated in read.items():
            has_run = any(pattern.run for pattern in shapes[parameter][0])
            self._note(parameter, (one for one in stated if one[0].startswith("#")), has_run)
        for parameter, stated in read.items():
            if all(self.of(name) == value for name, value in stated if name.startswith("#")):
                self._note(parameter, (one for one in stated if not one[0].startswith("#")), True)

    def _note(self, parameter: str, stated: Iterable[NamedSize], is_sure: bool) -> None:
        for name, value in stated:
            self.bound_sizes[name].append(BoundSize(value, parameter, is_sure))

    def clashes(self, pattern: Pattern, shape: Shape) -> list[Term | SizeRun]:
        """Return the parts of a pattern that a shape of its rank does not match."""
        pairs, run = pattern.split(shape)
        found: list[Term | SizeRun] = [term for term, size in pairs if _differ(term.value(self), size)]
        if pattern.run is not None and pattern.run.name:
            known = self.bound(pattern.run.name)
            if _differ(self.of(pattern.run.length), len(run)):
                found.append(read_term(pattern.run.length))
            elif known is not None and not isinstance(known.value, int) and any(map(_differ, known.value, run)):
                found.append(pattern.run)
        return found

    def filled(self, pattern: Pattern) -> str:
        """Spell a pattern with the known sizes in place of the names."""
        run = [] if pattern.run is None else self._run(pattern.run)
        return f"[{', '.join([*self._filled(pattern.before), *run, *self._filled(pattern.after)])}]"

    def _run(self, run: SizeRun) -> list[str]:
        known, count = self.bound(run.name), self.of(run.length)
        sizes = known.value if known is not None and not isinstance(known.value, int) else None
        if sizes is None or len(sizes) != count:
            return [run.text] if count is None else ["?"] * count
        return ["?" if size is None else str(size) for size in sizes]

    def _filled(self, terms: Iterable[Term]) -> Iterator[str]:
        for term in terms:
            value = term.value(self)
            yield term.text if value is None else str(value)


def agreed(shapes: Mapping[str, tuple[Patterns, Shape]]) -> NamedSizes | None:
    """Return the values of names if the shapes of all parameters match and agree about each name, else None: NamedSizes
    then determines the majority.
    """
    sizes = NamedSizes()
    for parameter, (patterns, shape) in shapes.items():
        read = certain_sizes(patterns, shape)
        if read is None:
            return None
        for name, value in read:
            known = sizes.bound_sizes.get(name)
            if known is None:
                sizes.bound_sizes[name] = [BoundSize(value, parameter, True)]
            elif known[0].value != value:
                return None
    return sizes


@functools.lru_cache(maxsize=1 << 12)
def certain_sizes(patterns: Patterns, shape: Shape) -> Sequence[NamedSize] | None:
    """Return the values of the names in a shape that certainly matches the pattern; None if it may not match."""
    if not patterns:
        return ()
    fitting = [pattern for pattern in patterns if pattern.has_rank(len(shape))]
    if len(fitting) != 1:
        return None
    [pattern], sizes = fitting, NamedSizes()
    sizes.bind({"": (fitting, shape)})
    is_read = all(
        size is None or not term.factor or (size - term.offset) % term.factor == 0
        for term, size in pattern.split(shape)[0]
    )
    return None if not is_read or sizes.clashes(pattern, shape) else tuple(pattern.read(shape))


def _differ(first: Dimension, second: Dimension) -> bool:
    """Return whether two sizes are known, and not the same."""
    return first is not None and second is not None and first != second


def _shared(patterns: Sequence[Pattern], shape: Shape) -> list[NamedSize]:
    """Return the sizes of the names that all of the patterns contain, for a shape."""
    stated, *others = (list(pattern.read(shape)) for pattern in patterns)
    return [one for one in stated if all(one in other for other in others)]


@functools.cache
def read_patterns(text: str) -> Patterns:
    """Read the alternatives of a pattern. Raise ValueError for any other text."""
    return tuple(map(_read_pattern, text.split(" | ")))


@functools.cache
def read_term(text: str) -> Term:
    """Read a size by itself: `#d-1`. Raise ValueError for any other text."""
    read = _read_term(text)
    if not isinstance(read, Term):
        raise ValueError(f"{text!r} is a run, not a size")
    return read


def _read_pattern(text: str) -> Pattern:
    inside = text.removeprefix("[").removesuffix("]")
    if text != f"[{inside}]":
        raise ValueError(f"{text!r} is not in brackets")
    terms = [_read_term(part) for part in inside.split(", ")] if inside else []
    runs = [place for place, term in enumerate(terms) if isinstance(term, SizeRun)]
    if len(runs) > 1:
        raise ValueError(f"{text!r} has more than one run")
    place = runs[0] if runs else len(terms)
    before, after = ([term for term in part if isinstance(term, Term)] for part in (terms[:place], terms[place + 1 :]))
    run = terms[place] if runs else None
    return Pattern(re.sub(r"\{.*?\}", "", text), tuple(before), run if isinstance(run, SizeRun) else None, tuple(after))


def _read_term(text: str) -> Term | SizeRun:
    match = _TERM.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a size")
    if match["run"]:
        name = "" if match["run"] == ANY else match["run"][1:]
        length = match["length"] or f"#{name}"
        return SizeRun(
            match["run"], name, int(match["least"] or 0), int(match["most"]) if match["most"] else None, length
        )
    if match["name"]:
        return Term(text, match["name"], int(match["factor"] or 1), int(match["offset"] or 0))
    return Term(text, offset=int(match["number"] or 0))
