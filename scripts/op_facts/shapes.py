"""Facts of ops that move elements about or pick some."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from op_facts.words import Facts

FACTS: Facts = {}
