"""What says which tools made a model, and when: each export states it anew, so most comparisons leave it out."""

from __future__ import annotations

BUILD_INFO = "buildInfo"
"""The attribute of a program that says so, a dictionary of strings."""

STAMP = "com.github.apple.coremltools."
"""How the keys of a description's metadata begin that say so."""
