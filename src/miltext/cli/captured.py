"""The output of a verb on one of many models, which is kept until it is shown.

It is found by click's context, and not by `sys.stdout`, which all threads of a process share.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from io import BytesIO, TextIOWrapper
from typing import TYPE_CHECKING, TextIO

import click

if TYPE_CHECKING:
    from miltext.batches.named_models import Input

_KEY = "miltext.captured"


class CapturedStream(TextIOWrapper):
    """A standard stream in memory, for which it counts whether the real one is a terminal."""

    def __init__(self, is_terminal: bool) -> None:
        self._bytes = BytesIO()
        super().__init__(self._bytes, "utf-8", "backslashreplace", newline="\n", write_through=True)
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal

    @property
    def written(self) -> str:
        """The text that was written, in which any byte is kept."""
        return self._bytes.getvalue().decode(errors="surrogateescape")


class Captured:
    """The output of a verb on a model: its text, and `counts`, whose sums are shown after all models.

    The `model` is None while the models are still looked for.
    """

    def __init__(self, terminals: tuple[bool, bool] = (False, False), model: Input | None = None) -> None:
        self.out, self.err = map(CapturedStream, terminals)
        self.counts = Counter[str]()
        self.model = model

    def begin(self, context: click.Context) -> None:
        """Take the output of a context's verb."""
        context.meta[_KEY] = self


def captured() -> Captured | None:
    """Return the captured output of the current verb; None if it is a verb on its own."""
    context = click.get_current_context(silent=True)
    found: Captured | None = context.meta.get(_KEY) if context else None
    return found


def standard_output() -> TextIO:
    """Return the stream for results."""
    kept = captured()
    return sys.stdout if kept is None else kept.out


def standard_error() -> TextIO:
    """Return the stream for everything except results."""
    kept = captured()
    return sys.stderr if kept is None else kept.err


def echo(message: str, *, err: bool = True, color: bool | None = None, newline: bool = True) -> None:
    """Write a message to standard error, or to standard output."""
    kept = captured()
    file = None if kept is None else kept.err if err else kept.out
    click.echo(message, file, newline, err, color)


def summed(counts: Mapping[str, int]) -> bool:
    """Add counts to those of all models; return False for a verb on its own, which shows its counts itself."""
    kept = captured()
    if kept is None:
        return False
    kept.counts.update(counts)
    return True
