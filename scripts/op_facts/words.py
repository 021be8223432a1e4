"""The words that facts are written in."""

from __future__ import annotations

from typing import TypeAlias

Fact: TypeAlias = "dict[str, str]"
Facts: TypeAlias = "dict[str, dict[str, Fact]]"


def takes(shape: str, **limits: str) -> Fact:
    """Return the fact of a parameter that takes tensors of a shape, with `least`, `most`, `words` or `axes`."""
    return {"shape": shape, **limits}


SCALAR = takes("[]")
VECTOR = takes("[?]")
ANY: Fact = {}
"""Tensors of any shape: what they must be is computed by a rule, or nothing."""


def number(least: str = "", most: str = "") -> Fact:
    """Return the fact of a scalar in a range."""
    return {**SCALAR, **({"least": least} if least else {}), **({"most": most} if most else {})}


def word(words: str) -> Fact:
    """Return the fact of a string out of a set, whose words have a space between them."""
    return {**SCALAR, "words": words}


def axis(count: str) -> Fact:
    """Return the fact of one axis out of a number of them."""
    return {**SCALAR, "axes": count}


def axes(count: str) -> Fact:
    """Return the fact of a vector of axes out of a number of them."""
    return {**VECTOR, "axes": count}
