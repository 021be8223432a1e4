"""Rules that give elements another shape or order."""

from __future__ import annotations
