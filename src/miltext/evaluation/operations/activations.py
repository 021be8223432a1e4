"""Rules for activations."""

from __future__ import annotations
