"""Programs made of the choices that hypothesis draws."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from hypothesis import strategies

from miltext.generation.choices import Choices
from miltext.generation.programs import program

if TYPE_CHECKING:
    from collections.abc import Callable

    from hypothesis.strategies import DrawFn

    from miltext.generation.options import Options
    from miltext.schema.proto import Program

T = TypeVar("T")


@strategies.composite
def drawn(draw: DrawFn, options: Options) -> Program:
    """Draw a Program with the properties that the options request."""
    return program(Drawn(draw), options)


class Drawn(Choices):
    """Choices that hypothesis draws."""

    def __init__(self, draw: DrawFn) -> None:
        self._draw = draw

    def integer(self, low: int, high: int) -> int:
        return self._draw(strategies.integers(low, high))

    def group(self, make: Callable[[], T]) -> T:
        @strategies.composite
        def grouped(draw: DrawFn) -> T:
            outer, self._draw = self._draw, draw
            try:
                return make()
            finally:
                self._draw = outer

        return self._draw(grouped())
