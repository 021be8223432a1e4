"""A hypothesis strategy for valid Programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from miltext.diagnostics import MiltextError
    from miltext.schema.proto import Program


def programs(**options: Any) -> SearchStrategy[Program]:
    """Return a strategy for valid Programs, which shrink to small ones: fewer and simpler operations, smaller tensors.

    The `options` are the fields of `miltext.generation.options.Options`: `operations=["conv", "relu"]` uses only these
    operations, `ops=(1, 20)` makes up to twenty operations, `opsets=["ios17"]` allows one opset. Raise MiltextError:
    MIL482 for impossible options, MIL484 if hypothesis is not installed; and from a draw MIL483 if no program meets the
    options.
    """
    from miltext.generation.options import Options

    requested = Options(**options)
    try:
        from miltext.testing.drawn import drawn
    except ImportError as failure:
        raise _not_installed() from failure
    return drawn(requested)


def _not_installed() -> MiltextError:
    from miltext.diagnostics import MiltextError, Note, codes, error
    from miltext.diagnostics.home import install

    way = Note(f"install it: {install('hypothesis')}")
    return MiltextError([error(codes.NO_HYPOTHESIS, "hypothesis is not installed, and this needs it", None, way)])
