"""Facts of compressed constants, and of ops that make tensors out of shapes or numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from op_facts.words import Facts

FACTS: Facts = {}
