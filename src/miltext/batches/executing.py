"""Work on many items by an executor, each result once: work that was lost with a process is done again, alone."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Generic, NamedTuple, TypeVar

from miltext.batches.processes import in_process, process_pool, width_of

Item = TypeVar("Item")
Result = TypeVar("Result")

AHEAD = 4
"""The items given to an executor at once, as a multiple of its processes: no more are lost with a process."""

UNKNOWN_WIDTH = 256
"""The items given at once to an executor whose number of processes is unknown."""


class Lost(NamedTuple):
    """The reason why there is no result of an item."""

    reason: str


class Workers(NamedTuple):
    """The executor of some work, which `start` begins: its processes, if known, and whether they are our own."""

    start: Callable[[], AbstractContextManager[Executor]]
    width: int | None
    is_own: bool

    @property
    def at_once(self) -> int:
        """The number of items given to it at once."""
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

    Without workers, the work is done here. An exception of the work is raised. If a process ends in the middle of its
    work, all unfinished items of its executor are lost: each of them is tried again alone, in a new process of this
    machine, and only the one with which that process ends, too, is Lost.
    """
    if workers is None:
        yield from ((index, work(item)) for index, item in enumerate(items))
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
    """Items whose results are still to come: `todo`, or `lost` with a process."""

    def __init__(self, work: Callable[[Item], Result], items: Sequence[Item]) -> None:
        self._work = work
        self._items = items
        self.todo = deque(range(len(items)))
        self.lost: list[int] = []
        self.is_broken = False

    def run(self, executor: Executor, workers: Workers) -> Iterator[tuple[int, Result | Lost]]:
        """Yield the results of an executor, until it breaks or all are done."""
        work = partial(in_process, self._work) if workers.is_own else self._work
        running: dict[Future[Result], int] = {}
        self.is_broken = False
        try:
            while running or (self.todo and not self.is_broken):
                if not self.is_broken:
                    self._fill(running, work, executor, workers.at_once)
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    yield from self._result(future, running.pop(future))
        finally:
            for future in () if workers.is_own else running:  # processes of our own end themselves
                future.cancel()

    def _fill(
        self, running: dict[Future[Result], int], work: Callable[[Item], Result], executor: Executor, at_once: int
    ) -> None:
        try:
            while self.todo and len(running) < at_once:
                running[executor.submit(work, self._items[self.todo[0]])] = self.todo[0]
                self.todo.popleft()
        except BrokenExecutor:
            self.is_broken = True

    def _result(self, future: Future[Result], index: int) -> Iterator[tuple[int, Result | Lost]]:
        found = _result_of(future)
        if found is not None:
            yield index, found
            return
        self.is_broken |= not future.cancelled() and isinstance(future.exception(), BrokenExecutor)
        self.lost.append(index)

    def alone(self) -> Iterator[tuple[int, Result | Lost]]:
        """Yield the results of the lost items, each from a process of its own."""
        while self.lost:
            index = self.lost.pop(0)
            with process_pool(1) as executor:
                found = _result_of(executor.submit(in_process, self._work, self._items[index]))
            yield index, Lost("its process was killed, or crashed") if found is None else found


def _result_of(future: Future[Result]) -> Result | Lost | None:
    """Return the result of a future; None if its process was lost.

    dask.distributed raises KilledWorker for a task with which several workers ended, and cancels the tasks of a
    scheduler that ended.
    """
    try:
        return future.result()
    except (BrokenExecutor, CancelledError):
        return None
    except Exception as failure:  # noqa: BLE001  # of the transport: the work itself raises nothing
        is_lost = type(failure).__name__ == "KilledWorker"
        return None if is_lost else Lost(f"{type(failure).__name__}: {failure}")
