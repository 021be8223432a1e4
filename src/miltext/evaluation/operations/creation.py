"""Rules that make tensors out of little: filled, counted, random ones."""

from __future__ import annotations
