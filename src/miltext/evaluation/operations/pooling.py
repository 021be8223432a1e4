"""Rules for pooling."""

from __future__ import annotations
