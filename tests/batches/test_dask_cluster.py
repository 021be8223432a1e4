"""A cluster of dask with two workers: each model has its result once, whatever happens to a worker."""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.commands import Ended, miltext
from support.zoo import CANONICAL, make_zoo, opened_below

import miltext as library
from miltext.batches.named_models import Input
from miltext.cli import one_model
from miltext.cli.many_function import ManyResult

distributed = pytest.importorskip("distributed", reason="needs dask.distributed")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A scheduler, and two workers in processes of their own, which start again when they end."""
    import dask

    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
        ) as made,
    ):
        yield made


@pytest.fixture
def client(cluster: Any) -> Iterator[Any]:
    with distributed.Client(cluster.scheduler_address, set_as_default=False) as made:
        yield made


@pytest.fixture
def zoo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(make_zoo(tmp_path / "zoo"))
    for number in range(40):
        (tmp_path / "zoo" / f"m{number:02}.mil").write_text(CANONICAL, encoding="utf-8")
    return tmp_path / "zoo"


def address(cluster: Any) -> str:
    return f"dask://{cluster.scheduler_address.removeprefix('tcp://')}"


def lines_of(ended: Ended) -> dict[str, object]:
    lines = [json.loads(line) for line in ended.stdout.splitlines()]
    found = {line["path"]: line for line in lines}
    assert len(found) == len(lines)
    return found


@pytest.mark.parametrize("verb", [("check",), ("run", "--random", "1"), ("info",)], ids=" ".join)
def test_the_results_equal_those_of_this_machine(verb: tuple[str, ...], cluster: Any, zoo: Path) -> None:
    here = miltext(*verb, "--json", "--jobs", "1", ".", "vanished")
    there = miltext(*verb, "--json", "--executor", address(cluster), ".", "vanished")
    assert (there.returncode, lines_of(there)) == (here.returncode, lines_of(here))
    text = [miltext(*verb, *way, ".") for way in (("--jobs", "1"), ("--executor", address(cluster)))]
    assert (text[1].stdout, text[1].stderr) == (text[0].stdout, text[0].stderr)


def test_results_of_a_cluster_are_kept(cluster: Any, zoo: Path, tmp_path: Path) -> None:
    call = ("check", "--json", "--cache", tmp_path / "cache", "c.mil", "A.mlpackage", "d.mil")
    there = miltext(*call, "--executor", address(cluster))
    for name in ("c.mil", "d.mil"):
        os.utime(zoo / name, (1, 1))
    miltext(*call)  # compares the touched ones
    with opened_below(zoo) as opened:
        here = miltext(*call)
    assert lines_of(there) == lines_of(here)
    assert {Path(path).name for path in opened} <= {"c.mil", "d.mil"}


def slowly(path: str) -> int:
    time.sleep(0.05)
    return os.getpid()


def test_a_worker_that_ends_on_the_way_loses_no_result(client: Any, zoo: Path) -> None:
    client.wait_for_workers(2)
    first = set(client.run(os.getpid).values())
    found: list[ManyResult] = []
    for each in library.many(slowly, ["."], executor=client.get_executor(pure=False)):
        found.append(each)
        if len(found) == 5:
            os.kill(min(first), signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
    assert len(found) == len({each.path for each in found}) == 45
    assert [each for each in found if each.status] == []
    assert min(first) not in {each.result for each in found[-10:]}


def killing(path: str) -> int:
    if path == "m07.mil":
        os._exit(1)
    return len(path)


def test_a_model_that_ends_each_worker_is_one_failed_result(client: Any, zoo: Path) -> None:
    client.wait_for_workers(2)
    found = list(library.many(killing, ["."], executor=client.get_executor(pure=False)))
    assert len(found) == len({each.path for each in found}) == 45
    (failed,) = [each for each in found if each.status]
    assert (failed.path, failed.status, failed.result) == ("m07.mil", 2, None)
    assert failed.diagnostic is not None
    assert failed.diagnostic.code == "MIL290"


def test_a_worker_with_another_version_has_no_results(zoo: Path) -> None:
    call = one_model.VerbCall("info", "model", {"nested": None}, {}, True, (False, False), version="0.0.1")
    found = one_model.outcome(call, Input("c.mil", found=False))
    assert (found.status, found.out) == (2, "")
    assert "install one version everywhere" in found.err


def test_a_worker_without_the_folder_has_no_results(zoo: Path) -> None:
    call = one_model.VerbCall("info", "model", {"nested": None}, {}, True, (False, False), folder=str(zoo / "gone"))
    found = one_model.outcome(call, Input("c.mil", found=False))
    assert (found.status, found.out) == (2, "")
    assert "gone: No such file or directory" in found.err


def test_a_missing_scheduler(zoo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from miltext.batches import dask_cluster

    monkeypatch.setattr(dask_cluster, "SECONDS", 1)
    for form in ([], ["--json"]):
        ended = miltext("check", *form, "--executor", "dask://127.0.0.1:9", "c.mil")
        assert ended.returncode == 2
        assert b"no scheduler of dask answers at 127.0.0.1:9" in ended.stdout + ended.stderr
        assert b"MIL291" in ended.stdout + ended.stderr
