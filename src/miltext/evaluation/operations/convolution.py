"""Rules for convolution, and for what undoes it."""

from __future__ import annotations
