"""Processes for work on models, which end with the process that started them, and leave nothing half done."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import Pipe, get_context
from typing import TYPE_CHECKING, TypeVar

from miltext.files.interrupts import ended_by_signals

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

Item = TypeVar("Item")
Result = TypeVar("Result")

MOST_ON_WINDOWS = 61
"""The most processes of a ProcessPoolExecutor on Windows, by the documentation of `concurrent.futures`."""

_WRITTEN = 1.0
"""Seconds after which a process that has to end has written its last result: half of one would block the reader."""

_PATIENCE = 3.0
"""Seconds after which a process that has to end is killed: a stopped one acts on no other signal."""

_working = threading.Lock()
_is_ending = threading.Event()

_SIGNALLED = 128
"""The least exit status of a process that a signal ended, by `ended_by_signals`."""


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def width_of(jobs: int, items: int) -> int:
    """Return the number of processes for so many `jobs`, 0 for one for each core: no more than there are `items`.

    More processes than MOST_ON_WINDOWS are started only on a machine with more cores.
    """
    most = MOST_ON_WINDOWS if sys.platform == "win32" else max(MOST_ON_WINDOWS, cores())
    return max(1, min(jobs or cores(), items, most))


def has_other_threads() -> bool:
    """Return whether this process has other threads: a forked process gets copies of locks that they may hold."""
    return threading.active_count() > 1


@contextmanager
def process_pool(width: int) -> Iterator[Executor]:
    """Yield an executor of processes. An exception ends them, also in the middle of their work, and kills those that do
    not end.

    Each process waits for the other end of a pipe to be closed, which also happens if this process is killed.
    """
    lifeline, held = Pipe(duplex=False)
    context = get_context("spawn" if has_other_threads() else None)
    executor = ProcessPoolExecutor(width, context, initializer=_begin, initargs=(lifeline, held))
    killing = threading.Timer(_PATIENCE, _kill, [executor._processes])  # nothing public names them
    killing.daemon = True
    try:
        yield executor
    except BaseException:
        killing.start()
        held.close()
        raise
    finally:
        executor.shutdown(wait=True, cancel_futures=True)
        killing.cancel()
        held.close()
        lifeline.close()


def _kill(processes: dict[int, BaseProcess]) -> None:
    """Kill processes; those that ended are not in the dictionary, or take no signal."""
    for each in [*processes.values()]:
        each.kill()


def _begin(lifeline: Connection, held: Connection) -> None:
    """Make this process end with the one that started it: the other end of the lifeline is then closed."""
    held.close()  # its own copy, which would keep the lifeline open
    signal.signal(signal.SIGTERM, lambda number, _: None if _is_ending.is_set() else os._exit(_SIGNALLED + number))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal, for the process that started it
    threading.Thread(target=_follow, args=(lifeline,), daemon=True).start()


def _follow(lifeline: Connection) -> None:
    try:
        lifeline.recv_bytes()
    except (EOFError, OSError):
        _is_ending.set()
        os.kill(os.getpid(), signal.SIGTERM)  # which ends the work
        with _working:
            time.sleep(_WRITTEN)
            os._exit(_SIGNALLED + signal.SIGTERM)


def in_process(work: Callable[[Item], Result], item: Item) -> Result:
    """Do work in a process of a pool; a request to end cleans up, and ends the process."""
    try:
        with _working, ended_by_signals():
            if _is_ending.is_set():
                raise SystemExit(_SIGNALLED + signal.SIGTERM)
            return work(item)
    except SystemExit as end:
        if isinstance(end.code, int) and end.code > _SIGNALLED:
            os._exit(end.code)
        raise
