"""Rules that take or write elements at places that are computed."""

from __future__ import annotations
