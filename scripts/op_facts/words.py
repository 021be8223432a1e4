"""The words that facts are written in."""

from __future__ import annotations

from typing import TypeAlias

Fact: TypeAlias = "dict[str, str | bool]"
Facts: TypeAlias = "dict[str, dict[str, Fact]]"


def takes(shape: str, **limits: str | bool) -> Fact:
    """Return the fact of a parameter that takes tensors of a shape, with `least`, `most`, `words` or `axes`."""
    return {"shape": shape, **limits}


SCALAR = takes("[]")
VECTOR = takes("[?]")
ANY: Fact = {}
"""Tensors of any shape: what they must be is computed by a rule, or nothing."""


def number(least: str = "", most: str = "") -> Fact:
    """Return the fact of a scalar in a range."""
    return {**SCALAR, **({"least": least} if least else {}), **({"most": most} if most else {})}


def word(words: str, *, any_case: bool = False) -> Fact:
    """Return the fact of a string out of a set, whose words have a space between them; in capitals, too, if any case is
    taken.
    """
    return {**SCALAR, "words": words, **({"any_case": True} if any_case else {})}


def axis(count: str) -> Fact:
    """Return the fact of one axis out of a number of them."""
    return {**SCALAR, "axes": count}


def axes(count: str) -> Fact:
    """Return the fact of a vector of axes out of a number of them."""
    return {**VECTOR, "axes": count}
