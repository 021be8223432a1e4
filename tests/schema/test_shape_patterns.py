"""Patterns of shapes: what is read, which ranks fit, what is bound, and what clashes."""

from __future__ import annotations

import pytest

from miltext.schema.operations import all_names, signature
from miltext.schema.shape_patterns import NamedSizes, Pattern, read_patterns, read_term
from miltext.schema.types import Shape


def only(text: str) -> Pattern:
    (pattern,) = read_patterns(text)
    return pattern


@pytest.mark.parametrize(
    ("text", "ranks"),
    [
        ("[]", (0, 0)),
        ("[?]", (1, 1)),
        ("[n, c, *d]", (2, None)),
        ("[n, c, *d{1,3}]", (3, 5)),
        ("[*d{,4}]", (0, 4)),
        ("[..., h, w]", (2, None)),
        ("[n, *d{2,}, 3]", (4, None)),
    ],
)
def test_a_pattern_has_ranks(text: str, ranks: tuple[int, int | None]) -> None:
    pattern = only(text)
    assert pattern.ranks == ranks
    assert [rank for rank in range(8) if pattern.has_rank(rank)] == [
        rank for rank in range(8) if ranks[0] <= rank <= (7 if ranks[1] is None else ranks[1])
    ]


@pytest.mark.parametrize(
    "text", ["", "n", "[n", "n]", "[n,c]", "[N]", "[*a, *b]", "[..., *b]", "[2*]", "[n | m]", "[[n]]"]
)
def test_an_invalid_pattern_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is|has"):
        read_patterns(text)


def test_a_run_is_not_a_size() -> None:
    with pytest.raises(ValueError, match="run"):
        read_term("*d")


@pytest.mark.parametrize(
    ("pattern", "shape", "fits"),
    [
        ("[o]", (4,), True),
        ("[o]", (5,), False),
        ("[o]", (None,), True),
        ("[#d]", (2,), True),
        ("[#d]", (3,), False),
        ("[2*#d]", (4,), True),
        ("[2*#d+1]", (5,), True),
        ("[#d-1]", (1,), True),
        ("[o, *d]", (4, 8, 9), True),
        ("[o, *d]", (4, 8, None), True),
        ("[o, *d]", (4, 8, 8), False),
        ("[o, *d]", (4, 8, 9, 1), False),
        ("[*d, 3]", (8, 9, 3), True),
        ("[*d, 3]", (8, 9, 4), False),
        ("[*k{#d}]", (1, 1), True),
        ("[*k{#d}]", (1, 1, 1), False),
        ("[?, *k{#d}, ?]", (1, 1, 1, 1), True),
        ("[2*o]", (8,), True),
        ("[2*o]", (9,), False),
        ("[unbound, ?]", (7, 7), True),
        ("[u, u]", (7, 7), True),
    ],
)
def test_a_shape_is_compared_with_bound_sizes(pattern: str, shape: Shape, fits: bool) -> None:
    sizes = NamedSizes()
    sizes.bind({"x": (read_patterns("[o, *d]"), (4, 8, 9))})
    assert (not sizes.clashes(only(pattern), shape)) == fits


def test_the_size_of_the_majority_is_expected() -> None:
    sizes = NamedSizes()
    said = {"p1": ("[h, *d]", (5, 1, 1)), "p2": ("[4*h, *d]", (12, 1, 1)), "p3": ("[#d, h]", (2, 3))}
    sizes.bind({name: (read_patterns(pattern), shape) for name, (pattern, shape) in said.items()})
    assert (sizes.of("h"), sizes.of("#d")) == (3, 2)
    clashes = sizes.clashes(only("[h, *d]"), (5, 1))
    assert [term.name for term in clashes] == ["h", "#d"]
    assert sizes.parameters_of(clashes) == ["p2", "p1"]
    assert sizes.filled(only("[h, *d]")) == "[3, 1, 1]"
    assert sizes.filled(only("[h, *k{#d}]")) == "[3, ?, ?]"


def test_alternatives_state_their_common_sizes() -> None:
    sizes = NamedSizes()
    sizes.bind({"p": (read_patterns("[b, h] | [b, 2*h]"), (3, 8))})
    assert (sizes.of("b"), sizes.of("h")) == (3, None)


def test_a_run_of_a_wrong_length_states_no_sizes() -> None:
    sizes = NamedSizes()
    said = {"x": ("[c, *d]", (4, 8)), "w": ("[c, *k{#d}]", (3, 1, 1)), "s": ("[#d]", (2,))}
    sizes.bind({name: (read_patterns(pattern), shape) for name, (pattern, shape) in said.items()})
    assert (sizes.of("c"), sizes.of("#d"), sizes.parameters_of([read_term("c")])) == (3, 2, ["w"])


def test_the_first_of_two_sizes_is_expected() -> None:
    sizes = NamedSizes()
    said = {"x": ("[n, c]", (None, 3)), "y": ("[n, c, *d]", (2, 4, 5, 6))}
    sizes.bind({name: (read_patterns(pattern), shape) for name, (pattern, shape) in said.items()})
    assert [sizes.of(name) for name in ("n", "c", "#d", "#e")] == [2, 3, 2, None]
    assert sizes.filled(only("[c, n, 2*#d, k, *d]")) == "[3, 2, 4, k, 5, 6]"
    assert sizes.parameters_of(only("[c, n, 2*#d, k]").before) == ["x", "y"]


def test_the_table_uses_only_sizes_that_a_parameter_binds() -> None:
    """Otherwise a limit would never be held to anything."""
    for name in all_names():
        known = signature(name)
        assert known is not None
        patterns = [pattern for parameter in known.parameters.values() for pattern in parameter.shape]
        terms = [term for pattern in patterns for term in (*pattern.before, *pattern.after)]
        bound = {term.name for term in terms if term.text == term.name} | {p.run.name for p in patterns if p.run}
        limits = [
            limit
            for parameter in known.parameters.values()
            for limit in (parameter.least, parameter.most, parameter.axes)
        ]
        used = {term.name for term in (*terms, *limits) if term is not None and term.factor}
        used |= {pattern.run.length for pattern in patterns if pattern.run and pattern.run.name}
        assert {one.removeprefix("#") for one in used} <= bound, name
