"""Python's cyclic collector, kept off while many objects and no cycles are made."""

from __future__ import annotations

import gc
import threading
from types import TracebackType


class CollectorPause:
    """A context in which the collector is off.

    The switch is the whole process's, so pauses are counted, nested ones and those of other threads: the collector is
    as it was before the first when the last one ends, however it ends.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pauses = 0
        self._was_enabled = False

    def __enter__(self) -> None:
        with self._lock:
            if self._pauses == 0:
                self._was_enabled = gc.isenabled()
                gc.disable()
            self._pauses += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._pauses -= 1
            if self._pauses == 0 and self._was_enabled:
                gc.enable()


collector_paused = CollectorPause()
"""The process's one pause: `with collector_paused: ...`."""
