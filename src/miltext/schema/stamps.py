"""Facts about the tools and the date of a model, which change in each export, so most comparisons ignore them."""

from __future__ import annotations

BUILD_INFO = "buildInfo"
"""The attribute of a program with these facts, a dictionary of strings."""

STAMP = "com.github.apple.coremltools."
"""The prefix of the keys in a description's metadata with these facts."""
