"""Python's cyclic collector, kept off while many objects and no cycles are made."""

from __future__ import annotations

import gc
import os
import threading


class GcPause:
    """A context in which the collector is off.

    The switch is the whole process's, so pauses are counted, nested ones and other threads' too: the collector is as it
    was before the first when the last one ends, however it ends. Other threads do not live on in the child of a fork:
    their pauses end there.
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
        """End the pauses of threads that the child of a fork does not have. The lock is taken since before the fork."""
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
