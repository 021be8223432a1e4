"""Signals that end a process: they raise an exception, so that cleanup runs, and never interrupt a move."""

from __future__ import annotations

import signal
import sys
import threading
from _thread import interrupt_main
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
_Handler = Callable[[int, "FrameType | None"], object]


AGAIN = 0.1
"""Seconds after which a request to end that had no effect is repeated."""


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Within the block, a request to end raises SystemExit with the shells' status: 128 plus the signal.

    If code swallows it, such as an import that may fail or a destructor, it is raised again; the block always ends with
    it.
    """
    ending = _Ending()
    try:
        with _handled(ending.come):
            try:
                yield
            finally:
                ending.is_over.set()
    except BaseException as failure:
        if ending.status is None:
            raise
        raise SystemExit(ending.status) from failure
    if ending.status is not None:
        raise SystemExit(ending.status)


class _Ending:
    """The state of a request to end."""

    def __init__(self) -> None:
        self.status: int | None = None
        self.is_over = threading.Event()
        self._is_repeated = False

    def come(self, number: int, _: FrameType | None) -> None:
        """Handle a signal: raise SystemExit, unless it is a repetition during the handling of the first."""
        is_repeated, self._is_repeated = self._is_repeated, False
        if self.status is None:
            self.status = 128 + number
            threading.Thread(target=self._repeat, args=(number,), daemon=True).start()
        elif is_repeated and _is_handled(SystemExit):
            return
        raise SystemExit(self.status)

    def _repeat(self, number: int) -> None:
        while not self.is_over.wait(AGAIN):
            self._is_repeated = True
            interrupt_main(signal.Signals(number))


def _is_handled(kind: type[BaseException]) -> bool:
    """Whether an exception of a kind is being handled by the interrupted code, or was being handled when a further one
    was raised.
    """
    failure = sys.exc_info()[1]
    while failure is not None and not isinstance(failure, kind):
        failure = failure.__context__
    return failure is not None


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Delay the effect of a request to end until the block is over."""
    came: list[int] = []
    try:
        with _handled(lambda number, _: came.append(number)):
            yield
    finally:
        for number in came[:1]:
            signal.raise_signal(number)


@contextmanager
def _handled(handler: _Handler) -> Iterator[None]:
    """Handle the signals, except signals that the process ignores (under nohup), and only where Python can."""
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
