"""Rules for compressed constants and quantized tensors."""

from __future__ import annotations
