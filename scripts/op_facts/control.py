"""Facts of control flow, lists, states and classification."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from op_facts.words import Facts

FACTS: Facts = {}
