"""Rules that take or write parts of tensors."""

from __future__ import annotations
