"""A pause of Python's cyclic collector while many objects without cycles are created."""

from __future__ import annotations

import gc
import os
import threading


class GcPause:
    """A context in which the collector is off.

    The switch belongs to the whole process, so pauses are counted, including nested pauses and pauses of other threads:
    at the end of the last one, the collector returns to its state before the first. Other threads do not exist in the
    child of a fork, where their pauses end.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pauses: list[int] = []  # the thread of each
        self._was_enabled = False
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=self._lock.acquire, after_in_parent=self._lock.release, after_in_child=self._forked
            )

    def __enter__(self) -> None:
        with self._lock:
            if not self._pauses:
                self._was_enabled = gc.isenabled()
                gc.disable()
            self._pauses.append(threading.get_ident())

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._pauses.remove(threading.get_ident())
            self._settle()

    def sweep(self) -> None:
        """Free the objects made during the pause that nothing uses, such as a graph whose parts name each other."""
        gc.collect(0)

    def _forked(self) -> None:
        """End the pauses of threads that the child of a fork lacks. The lock has been held since before the fork."""
        if self._pauses:
            self._pauses = [thread for thread in self._pauses if thread == threading.get_ident()]
            self._settle()
        self._lock.release()

    def _settle(self) -> None:
        """Restore the collector after the last pause."""
        if not self._pauses and self._was_enabled:
            gc.enable()


gc_paused = GcPause()
"""The process's one pause: `with gc_paused: ...`."""
