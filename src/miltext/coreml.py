"""Between miltext and coremltools: a model as a pymil program, and a pymil program as a model.

coremltools is an extra of miltext, `coremltools`; nothing else of miltext imports it unasked.
"""

from __future__ import annotations

from miltext.pymil.exporting import from_pymil
from miltext.pymil.loading import to_pymil

__all__ = ["from_pymil", "to_pymil"]
