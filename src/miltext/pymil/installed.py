"""coremltools, the extra: the error without it."""

from __future__ import annotations

from typing import Any

from miltext.diagnostics import ModelError, Note, codes, error
from miltext.diagnostics.home import install


def require_coremltools() -> Any:
    """Return the module coremltools. Raise ModelError (MIL480) without it."""
    try:
        import coremltools
    except ImportError as failure:
        way = Note(f"install it: {install('coremltools')}")
        raise ModelError(
            [error(codes.NO_COREMLTOOLS, "coremltools is not installed, and this needs it", None, way)]
        ) from failure
    return coremltools
