"""Rules that resample images."""

from __future__ import annotations
