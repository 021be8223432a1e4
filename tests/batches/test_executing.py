"""Executors: each item has one result, whatever happens to the processes."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from support.processes import children_of, is_running

from miltext.batches import processes
from miltext.batches.executing import (
    AHEAD,
    LONGEST,
    SECONDS,
    Done,
    Lost,
    Workers,
    given_workers,
    in_order,
    own_workers,
    results,
)
from miltext.batches.processes import MOST_ON_WINDOWS, cores, process_pool, width_of

ITEMS = range(12)


def square(item: int) -> int:
    return item * item


def killing(item: int, killers: frozenset[int] = frozenset({7})) -> int:
    if item in killers:
        os._exit(3)
    return item * item


def killing_once(folder: Path, item: int) -> int:
    """End the first process that gets item 7."""
    if item == 7:
        try:
            (folder / "killed").touch(exist_ok=False)
        except FileExistsError:
            return item * item
        os._exit(3)
    return item * item


def failing(item: int) -> int:
    if item == 7:
        raise KeyError(item)
    return item * item


@pytest.fixture(params=["here", "processes", "given processes", "given threads"])
def workers(request: pytest.FixtureRequest) -> Iterator[Workers | None]:
    kinds = {"given processes": ProcessPoolExecutor, "given threads": ThreadPoolExecutor}
    if request.param in kinds:
        with kinds[request.param](2) as executor:
            yield given_workers(executor)
    else:
        yield own_workers(2, len(ITEMS)) if request.param == "processes" else None


def test_each_item_has_one_result(workers: Workers | None) -> None:
    found = list(results(square, ITEMS, workers))
    assert sorted(found) == [(item, item * item) for item in ITEMS]
    assert list(in_order(reversed(found))) == [item * item for item in ITEMS]
    assert multiprocessing.active_children() == [] or workers is not None


MARKS: list[str] = []
"""What a process has of this one: all after a fork, nothing if it was spawned."""


def marks() -> int:
    return len(MARKS)


def test_processes_are_spawned_beside_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fork would get copies of locks that the thread may hold."""
    monkeypatch.setattr(sys.modules[__name__], "MARKS", ["here"])
    ended = threading.Event()
    is_forked = multiprocessing.get_start_method() == "fork" and not processes.has_other_threads()  # of tests before
    with ThreadPoolExecutor(1) as threads, process_pool(1) as before:
        assert before.submit(marks).result() == is_forked
        threads.submit(ended.wait)
        assert processes.has_other_threads()
        try:
            with process_pool(1) as beside:
                assert beside.submit(marks).result() == 0
        finally:
            ended.set()


def test_no_items_start_no_process() -> None:
    assert list(results(square, [], own_workers(2, 0))) == []


@pytest.mark.parametrize("is_own", [True, False])
def test_an_item_that_kills_its_process_is_the_only_one_lost(is_own: bool) -> None:
    workers = own_workers(2, len(ITEMS)) if is_own else given_workers(ProcessPoolExecutor(2))
    found = dict(results(killing, ITEMS, workers))
    assert found.pop(7) == Lost("its process was killed, or crashed")
    assert found == {item: item * item for item in ITEMS if item != 7}


def test_several_killers_lose_no_others() -> None:
    killers = frozenset({0, 1, 6, 11})
    found = dict(results(partial(killing, killers=killers), ITEMS, own_workers(2, len(ITEMS))))
    assert {item for item, each in found.items() if isinstance(each, Lost)} == killers
    assert len(found) == len(ITEMS)


def test_an_item_of_an_ended_process_is_tried_again(tmp_path: Path) -> None:
    found = dict(results(partial(killing_once, tmp_path), ITEMS, own_workers(2, len(ITEMS))))
    assert found == {item: item * item for item in ITEMS}
    assert (tmp_path / "killed").exists()


def test_an_exception_of_another_process_belongs_to_its_item() -> None:
    found = dict(results(failing, ITEMS, own_workers(2, len(ITEMS))))
    assert found.pop(7) == Lost("KeyError: 7")
    assert found == {item: item * item for item in ITEMS if item != 7}


def test_work_that_cannot_be_sent_is_lost_with_its_reason() -> None:
    found = dict(results(lambda item: item, [1, 2], own_workers(2, 2)))
    assert all(isinstance(each, Lost) and "pickle" in each.reason for each in found.values())


class Counting(Executor):
    """An executor that counts the items that it has at once, and finishes the oldest when it is full."""

    def __init__(self) -> None:
        self.most = 0
        self.waiting: list[Future[Done[int]]] = []
        self._max_workers = 2

    def submit(self, _work: object, items: list[int]) -> Future[Done[int]]:  # type: ignore[override]
        future: Future[Done[int]] = Future()
        self.waiting.append(future)
        self.most = max(self.most, sum(not each.done() for each in self.waiting))
        if self.most == AHEAD * self._max_workers or ITEMS[-1] in items:
            for each in self.waiting:
                if not each.done():
                    each.set_result(Done([0], 1))
        return future


class Forgetful(ThreadPoolExecutor):
    """A cluster that forgets every third task, or what it was sent."""

    def __init__(self, failure: Exception) -> None:
        super().__init__(2)
        self._failure, self._turn = failure, 0

    def submit(self, *call: Any) -> Future[Any]:  # type: ignore[override]
        self._turn += 1
        if self._turn % 3:
            return super().submit(*call)
        future: Future[Any] = Future()
        future.set_exception(self._failure)
        return future


@pytest.mark.parametrize("failure", [OSError("connection lost"), KeyError("task"), CancelledError()], ids=repr)
def test_work_that_a_cluster_loses_is_done_here(failure: Exception) -> None:
    with Forgetful(failure) as executor:
        found = dict(results(square, ITEMS, given_workers(executor)))
    assert found == {item: item * item for item in ITEMS}


def test_an_executor_gets_few_items_at_once() -> None:
    executor = Counting()
    assert len(list(results(square, ITEMS, given_workers(executor)))) == len(ITEMS)
    assert executor.most == AHEAD * 2


def test_a_caller_that_stops_leaves_no_process() -> None:
    found = results(square, ITEMS, own_workers(2, len(ITEMS)))
    next(found)
    assert multiprocessing.active_children()
    found.close()  # type: ignore[attr-defined]
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize(("jobs", "items", "width"), [(1, 9, 1), (4, 3, 3), (2, 0, 1), (0, 10**6, cores())])
def test_processes_are_not_more_than_items(jobs: int, items: int, width: int) -> None:
    assert width_of(jobs, items) == width


def test_the_number_of_processes_has_a_limit() -> None:
    assert width_of(1000, 10**6) == max(MOST_ON_WINDOWS, cores() if sys.platform != "win32" else 0)


WAITING = r"""
import sys, time
from miltext.batches.executing import own_workers, results
def wait(item):
    sys.stdout.write("begun\n")
    sys.stdout.flush()
    time.sleep(60)
if __name__ == "__main__":
    list(results(wait, range(2), own_workers(2, 2)))
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_processes_end_even_if_their_parent_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "waiting.py"
    script.write_text(WAITING, encoding="utf-8")
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE) as started:
        assert started.stdout is not None
        try:
            assert [started.stdout.readline() for _ in range(2)] == [b"begun\n"] * 2
            children = children_of(started.pid)
        finally:
            started.kill()
        assert len(children) >= 2
        started.wait()
        end = time.monotonic() + 20
        while any(map(is_running, children)) and time.monotonic() < end:
            time.sleep(0.05)
    assert not any(map(is_running, children))


class Sizes(ThreadPoolExecutor):
    """An executor that notes the numbers of items of its tasks."""

    def __init__(self) -> None:
        super().__init__(2)
        self.given: list[int] = []

    def submit(self, work: Callable[..., Any], items: list[int]) -> Future[Any]:  # type: ignore[override]
        self.given.append(len(items))
        return super().submit(work, items)


def test_short_work_is_handed_over_in_larger_tasks() -> None:
    """The last tasks are small again, so that no process waits for another."""
    with Sizes() as executor:
        found = list(results(square, range(1000), given_workers(executor)))
    assert sorted(found) == [(item, item * item) for item in range(1000)]
    assert (executor.given[0], max(executor.given), executor.given[-1]) == (1, LONGEST, 1)
    assert sum(executor.given) == 1000


def test_long_work_is_handed_over_one_by_one() -> None:
    def slow(item: int) -> int:
        time.sleep(2 * SECONDS)
        return item

    with Sizes() as executor:
        assert len(list(results(slow, range(9), given_workers(executor)))) == 9
    assert set(executor.given) == {1}
