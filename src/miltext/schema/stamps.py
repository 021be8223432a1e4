"""Facts about the tools that made a model, and when: each export states them anew, so most comparisons leave them
out.
"""

from __future__ import annotations

BUILD_INFO = "buildInfo"
"""The attribute of a program with these facts, a dictionary of strings."""

STAMP = "com.github.apple.coremltools."
"""The prefix of the keys in a description's metadata with these facts."""
