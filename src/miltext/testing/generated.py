"""A hypothesis strategy for valid Programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from hypothesis.strategies import SearchStrategy

    from miltext.diagnostics import MiltextError
    from miltext.schema.proto import Program

T = TypeVar("T")


def programs(**options: Any) -> SearchStrategy[Program]:
    """Return a strategy for valid Programs, which shrink to small ones: fewer and simpler operations, smaller tensors.

    The `options` are those of `miltext.generation.options.Options`: `operations=["conv", "relu"]` uses only these
    operations, `ops=(1, 20)` makes up to twenty operations, `opsets=["ios17"]` allows one opset. Raise MiltextError:
    MIL482 for impossible options, MIL484 if hypothesis is not installed; and from a draw MIL483 if no program meets the
    options.
    """
    try:
        from hypothesis import strategies
    except ImportError as failure:
        raise _not_installed() from failure
    from miltext.generation.choices import Choices
    from miltext.generation.options import Options
    from miltext.generation.programs import program

    asked = Options(**options)

    class Drawn(Choices):
        """Choices that hypothesis draws."""

        def __init__(self, draw: Callable[[SearchStrategy[Any]], Any]) -> None:
            self._draw = draw

        def integer(self, low: int, high: int) -> int:
            return int(self._draw(strategies.integers(low, high)))

        def group(self, make: Callable[[], T]) -> T:
            @strategies.composite
            def grouped(draw: Callable[[SearchStrategy[Any]], Any]) -> T:
                outer, self._draw = self._draw, draw
                try:
                    return make()
                finally:
                    self._draw = outer

            made: T = self._draw(grouped())
            return made

    @strategies.composite
    def drawn(draw: Callable[[SearchStrategy[Any]], Any]) -> Program:
        return program(Drawn(draw), asked)

    return drawn()


def _not_installed() -> MiltextError:
    from miltext.diagnostics import MiltextError, Note, codes, error
    from miltext.diagnostics.home import install

    way = Note(f"install it: {install('hypothesis')}")
    return MiltextError([error(codes.NO_HYPOTHESIS, "hypothesis is not installed, and this needs it", None, way)])
