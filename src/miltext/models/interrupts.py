"""Signals that ask a process to end: as an exception that cleans up behind it, and not in the middle of a move."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import FrameType

_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
_Handler = Callable[[int, "FrameType | None"], object]


def ended_by_signals() -> AbstractContextManager[None]:
    """While it lasts, a request to end raises SystemExit with the status that shells give: 128 and the signal."""

    def end(number: int, _: FrameType | None) -> None:
        sys.exit(128 + number)

    return _handled(end)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Put off what a request to end does until the block is over."""
    came: list[int] = []
    try:
        with _handled(lambda number, _: came.append(number)):
            yield
    finally:
        for number in came[:1]:
            signal.raise_signal(number)


@contextmanager
def _handled(handler: _Handler) -> Iterator[None]:
    """Handle the signals so; not those that the process ignores (under nohup), and only where Python can."""
    is_main = threading.current_thread() is threading.main_thread()
    before = {number: signal.getsignal(number) for number in _SIGNALS if is_main}
    taken = {number: known for number, known in before.items() if known not in (None, signal.SIG_IGN)}
    for number in taken:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number, known in taken.items():
            signal.signal(number, known)
