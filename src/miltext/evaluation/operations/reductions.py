"""Rules that make one number of many."""

from __future__ import annotations
