"""Rules for products of matrices."""

from __future__ import annotations
