"""Shapes that fit the patterns of the table of operations, found or made."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, TypeAlias

from miltext.schema.shape_patterns import read_patterns

if TYPE_CHECKING:
    from miltext.generation.choices import Choices
    from miltext.schema.shape_patterns import Pattern, Patterns, SizeRun, Term
    from miltext.schema.types import Dimension, Shape

Sizes: TypeAlias = "dict[str, Dimension | Shape]"
"""The values of the names in patterns; `#d` is the length of a run `d`."""

HIGHEST_RANK = 5
"""The most dimensions that Core ML's tensors have."""

MOST_ELEMENTS = 4096
"""The most elements of a generated value without a request for larger weights, so that a program is quick to run."""

LARGEST_SIZE = 5
"""The largest size of a tensor made anew, unless a recipe requests another one."""

ANY_SHAPE = read_patterns("[*d{1,4}]")
"""The pattern of a tensor made anew where the table takes any."""


def has_known_sizes(shape: Shape) -> bool:
    """Return whether all sizes are known."""
    return None not in shape


def elements_in(shape: Shape) -> int:
    """Return the number of elements. An unknown size counts as 1."""
    return prod(1 if size is None else size for size in shape)


def fit(patterns: Patterns, shape: Shape, sizes: Sizes) -> Sizes | None:
    """Return the values of the names in a pattern for a shape, in addition to known values; None if it does not
    match.
    """
    if not patterns:
        return sizes
    found = (_fit(pattern, shape, sizes) for pattern in patterns if pattern.has_rank(len(shape)))
    return next((bound for bound in found if bound is not None), None)


def _fit(pattern: Pattern, shape: Shape, sizes: Sizes) -> Sizes | None:
    bound = dict(sizes)
    pairs, run = pattern.split(shape)
    if pattern.run is not None and pattern.run.name:
        name, length = pattern.run.name, pattern.run.length
        if bound.setdefault(name, run) != run or bound.setdefault(length, len(run)) != len(run):
            return None
        if name in sizes and not has_known_sizes(run):
            return None  # two unknown sizes may differ
    return bound if all(_fit_size(term, size, bound) for term, size in pairs) else None


def _fit_size(term: Term, size: Dimension, bound: Sizes) -> bool:
    """Return whether a size fits a term, and note the value of its name."""
    if not term.name:
        return term.text == "?" or size == term.offset
    if size is None:
        return term.name not in bound and term.text == term.name and bound.setdefault(term.name, None) is None
    base, rest = divmod(size - term.offset, term.factor)
    return not rest and bound.setdefault(term.name, base) == base


def make(patterns: Patterns, sizes: Sizes, choices: Choices, least: int = 0) -> Shape | None:
    """Make a shape that fits one of the patterns, of the `least` rank or more where the pattern leaves it open.

    Return None if the known values of the names do not lead to a shape.
    """
    shape = _make(choices.pick(patterns or ANY_SHAPE), sizes, choices, least)
    return None if shape is None or len(shape) > HIGHEST_RANK or elements_in(shape) > MOST_ELEMENTS else shape


def _make(pattern: Pattern, sizes: Sizes, choices: Choices, least: int) -> Shape | None:
    made, others = dict(sizes), len(pattern.before) + len(pattern.after)
    run = () if pattern.run is None else _make_run(pattern.run, least - others, HIGHEST_RANK - others, made, choices)
    before, after = ([_make_size(term, made, choices) for term in terms] for terms in (pattern.before, pattern.after))
    shape = (*before, *run, *after)
    return shape if has_known_sizes(shape) else None


def _make_run(run: SizeRun, least: int, most: int, made: Sizes, choices: Choices) -> Sequence[Dimension]:
    """Make the sizes of a run, with the known length, or one from the least to the highest."""
    known, length = made.get(run.name), made.get(run.length)
    if isinstance(known, tuple):
        return known
    if not isinstance(length, int):
        least = max(least, run.least)
        length = choices.integer(least, max(least, min(least + 2, most) if run.most is None else run.most))
    sizes = tuple(choices.integer(1, LARGEST_SIZE) for _ in range(length))
    made |= {run.name: sizes, run.length: length}
    return sizes


def _make_size(term: Term, made: Sizes, choices: Choices) -> Dimension:
    if not term.name:
        return choices.integer(1, LARGEST_SIZE) if term.text == "?" else term.offset
    base = made[term.name] if term.name in made else made.setdefault(term.name, choices.integer(1, LARGEST_SIZE))
    return base * term.factor + term.offset if isinstance(base, int) else None


def value_of(term: Term, sizes: Sizes) -> int | None:
    """Return the number that a term is; None where it is not known."""
    base = sizes.get(term.name, 0 if not term.name else None)
    return base * term.factor + term.offset if isinstance(base, int) else None
