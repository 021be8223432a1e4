"""The progress bar of slow verbs."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from miltext.cli.captured import captured
from miltext.cli.habits import quiet

if TYPE_CHECKING:
    from pathlib import Path

    from miltext.models.model import Model

QUIET_SECONDS = 1.0
"""The time before progress is shown."""


class Progress:
    """A bar on standard error, if it is a terminal, for work that takes longer than a second."""

    def __init__(self, label: str, size: Callable[[], int] | None = None) -> None:
        """Make a bar with this label; `size` returns the number of bytes, once it is needed; else `expect` sets it."""
        self._label = label
        self._size = size
        self._start = time.monotonic()
        self._before = 0
        self._bar: Any = None
        self._shown = sys.stderr.isatty() and not quiet() and captured() is None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.render_finish()

    def expect(self, size: Callable[[], int]) -> None:
        """Set the function that returns the number of bytes, once it is needed."""
        self._size = size

    def add(self, size: int) -> None:
        """Advance the bar by so many bytes."""
        if not self._shown:
            return
        self._before += size
        if self._bar is None and self._size and time.monotonic() - self._start > QUIET_SECONDS:
            self._bar = click.progressbar(length=self._size(), label=self._label, file=sys.stderr)
        if self._bar is not None:
            self._bar.update(self._before)
            self._before = 0


def weights_bar(label: str, model: Model, passes: int = 1) -> Progress:
    """Return the bar for work that reads all weights in a model's files, once or several times."""
    programs = [stage.model for stage in model.programs()]
    return Progress(label, lambda: passes * sum(weight.size for each in programs for weight in each.weights.in_files()))


def size_below(folder: Path) -> int:
    """Return the bytes of all files below a folder."""
    return sum(os.path.getsize(os.path.join(parent, name)) for parent, _, names in os.walk(folder) for name in names)
