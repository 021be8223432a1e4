"""`infer_types` for any source."""

from __future__ import annotations

from miltext.checking import inference
from miltext.drafting.programs import of_source

infer_types = of_source(inference.infer_types)
