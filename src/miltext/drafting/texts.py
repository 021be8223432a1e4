"""`to_text` for any source."""

from __future__ import annotations

from miltext.drafting.programs import of_source
from miltext.printing import printing

to_text = of_source(printing.to_text)
