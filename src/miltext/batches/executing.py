"""Work on many items by an executor, each result once: work that was lost with a process is done again, alone."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from typing import Generic, NamedTuple, TypeVar

from miltext.batches.processes import in_process, process_pool, width_of
from miltext.files.interrupts import uninterrupted

Item = TypeVar("Item")
Result = TypeVar("Result")

AHEAD = 2
"""The tasks of an executor at once, as a multiple of its processes: no more are lost with a process."""

UNKNOWN_WIDTH = 256
"""The tasks at once of an executor whose number of processes is unknown."""

SECONDS, LONGEST = 0.05, 32
"""The time that a task takes, and the most items of one: short work of several items is one task."""

WITH_PROCESS = (BrokenExecutor, CancelledError)
"""The failures of tasks that were lost with a process."""


class Lost(NamedTuple):
    """The reason why there is no result of an item."""

    reason: str


@dataclass(frozen=True)
class Done(Generic[Result]):
    """The results of some items, and the time that they took."""

    results: list[Result | Lost]
    seconds: float


class Workers(NamedTuple):
    """The executor of some work, which `start` begins: its processes, if known, and whether they are our own."""

    start: Callable[[], AbstractContextManager[Executor]]
    width: int | None
    is_own: bool

    @property
    def at_once(self) -> int:
        """The number of tasks that it has at once."""
        return AHEAD * self.width if self.width else UNKNOWN_WIDTH


def own_workers(jobs: int, items: int) -> Workers:
    """Return processes of this machine: so many, or with 0 as many as there are cores."""
    width = width_of(jobs, items)
    return Workers(partial(process_pool, width), width, is_own=True)


def given_workers(executor: Executor) -> Workers:
    """Return the workers of an executor that a caller gave, who also ends it."""
    width = getattr(executor, "_max_workers", None)
    return Workers(lambda: nullcontext(executor), width if isinstance(width, int) else None, is_own=False)


def results(
    work: Callable[[Item], Result], items: Iterable[Item], workers: Workers | None = None
) -> Iterator[tuple[int, Result | Lost]]:
    """Yield the result of each item, with its index, in the order in which they come.

    Without workers, the work is done here. An item whose work raises an exception is Lost. If a process ends in the
    middle of its work, all unfinished items of its executor are lost: each of them is tried again alone, in a new
    process of this machine, and only the one with which that process ends, too, is Lost. Tasks that
    the executor of a caller fails to return, as after a lost connection, are tried again in the same way.
    """
    if workers is None:
        yield from ((index, _tried(work, item)) for index, item in enumerate(items))
        return
    batch = _Batch(work, [*items])
    while batch.todo:
        with workers.start() as executor:
            yield from batch.run(executor, workers)
        yield from batch.alone()
        if not workers.is_own:  # it broke, if something is left to do
            workers = own_workers(workers.width or 0, len(batch.todo))


def in_order(found: Iterable[tuple[int, Result]]) -> Iterator[Result]:
    """Yield results in the order of their items, each as soon as the ones before it are there."""
    waiting: dict[int, Result] = {}
    following = 0
    for index, result in found:
        waiting[index] = result
        while following in waiting:
            yield waiting.pop(following)
            following += 1


class _Batch(Generic[Item, Result]):
    """Items whose results are still to come: `todo`, or `lost` with a process.

    `_size` is the number of items of a task: handing over takes time, too.
    """

    def __init__(self, work: Callable[[Item], Result], items: Sequence[Item]) -> None:
        self._work = work
        self._items = items
        self._size = 1
        self.todo = deque(range(len(items)))
        self.lost: list[int] = []
        self.is_broken = False

    def run(self, executor: Executor, workers: Workers) -> Iterator[tuple[int, Result | Lost]]:
        """Yield the results of an executor, until it breaks or all are done."""
        finished: SimpleQueue[Future[Done[Result]]] = SimpleQueue()
        running: dict[Future[Done[Result]], list[int]] = {}
        self.is_broken = False
        try:
            while running or (self.todo and not self.is_broken):
                if not self.is_broken:
                    self._fill(running, partial(_submit, executor, finished), workers)
                if running:
                    future = finished.get()
                    with uninterrupted():
                        found = [*self._results(future, running.pop(future), is_own=workers.is_own)]
                    yield from found
        finally:
            for future in () if workers.is_own else running:  # processes of our own end themselves
                future.cancel()

    def _fill(
        self,
        running: dict[Future[Done[Result]], list[int]],
        submit: Callable[..., Future[Done[Result]]],
        workers: Workers,
    ) -> None:
        work = partial(in_process if workers.is_own else _called, partial(_each, self._work))
        while self.todo and len(running) < workers.at_once:
            size = min(self._size, -(-len(self.todo) // (workers.width or LONGEST)))
            given = [self.todo.popleft() for _ in range(size)]
            try:
                running[submit(work, [self._items[index] for index in given])] = given
            except BrokenExecutor:
                self.todo.extendleft(reversed(given))
                self.is_broken = True
                return

    def _results(
        self, future: Future[Done[Result]], given: list[int], *, is_own: bool
    ) -> Iterator[tuple[int, Result | Lost]]:
        """Yield the results of an ended task. An error of a given executor is not the failure of an item."""
        done = _ended(future)
        if isinstance(done, Done):
            self._size = max(1, min(LONGEST, int(SECONDS * len(given) / max(done.seconds, 1e-9))))
            yield from zip(given, done.results, strict=True)
        elif isinstance(done, WITH_PROCESS) or len(given) > 1 or not is_own:
            self.is_broken |= isinstance(done, BrokenExecutor)
            self.lost += given
        else:
            yield given[0], _lost(done)

    def alone(self) -> Iterator[tuple[int, Result | Lost]]:
        """Yield the results of the lost items, each from a process of its own."""
        while self.lost:
            index = self.lost.pop(0)
            finished: SimpleQueue[Future[Done[Result]]] = SimpleQueue()
            with process_pool(1) as executor:
                _submit(executor, finished, in_process, partial(_each, self._work), [self._items[index]])
                future = finished.get()
                with uninterrupted():
                    done = _ended(future)
            yield index, done.results[0] if isinstance(done, Done) else _lost(done)


def _submit(
    executor: Executor,
    finished: SimpleQueue[Future[Done[Result]]],
    work: Callable[..., Done[Result]],
    *arguments: object,
) -> Future[Done[Result]]:
    """Hand over a task, whose future comes to `finished` at its end.

    A signal has no effect in a method of a future: it would leave the future locked, and the executor could not end.
    """
    with uninterrupted():
        future = executor.submit(work, *arguments)
        future.add_done_callback(finished.put)
    return future


def _called(work: Callable[[Item], Result], item: Item) -> Result:
    return work(item)


def _each(work: Callable[[Item], Result], items: Sequence[Item]) -> Done[Result]:
    """Do the work of some items; an exception is the reason why its item has no result."""
    start = time.perf_counter()
    return Done([_tried(work, item) for item in items], time.perf_counter() - start)


def _tried(work: Callable[[Item], Result], item: Item) -> Result | Lost:
    try:
        return work(item)
    except Exception as failure:  # noqa: BLE001  # the other items still have results
        return Lost(f"{type(failure).__name__}: {failure}")


def _ended(future: Future[Done[Result]]) -> Done[Result] | Exception:
    """Return the results of a task, or the failure of its executor."""
    try:
        return future.result()
    except Exception as failure:  # noqa: BLE001  # the one of an item is its result
        return failure


def _lost(failure: Exception) -> Lost:
    if isinstance(failure, WITH_PROCESS):
        return Lost("its process was killed, or crashed")
    return Lost(f"{type(failure).__name__}: {failure}")
