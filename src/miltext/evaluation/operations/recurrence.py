"""Rules for recurrent layers."""

from __future__ import annotations
