"""`miltext.many`: a verb or a function for each of many models, by any executor."""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from support.commands import miltext as command
from support.zoo import CANONICAL, MODELS, make_zoo, opened_below

import miltext
from miltext.cli.many_function import ManyResult

OPTIONS = {
    "check": [],
    "describe": [],
    "find": ["softmax"],
    "fmt": ["--check"],
    "info": [],
    "run": ["--random", "1"],
    "size": [],
    "weights": [],
}

EXECUTORS: dict[str, Callable[[], Executor]] = {
    "processes": lambda: ProcessPoolExecutor(2),
    "threads": lambda: ThreadPoolExecutor(2),
}


@pytest.fixture
def zoo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(make_zoo(tmp_path / "zoo"))
    return tmp_path / "zoo"


def by_path(found: Iterator[ManyResult]) -> dict[str, ManyResult]:
    results = list(found)
    assert len({each.path for each in results}) == len(results)
    return {each.path: each for each in results}


@pytest.mark.parametrize("verb", OPTIONS)
@pytest.mark.parametrize("executor", [None, *EXECUTORS])
def test_the_result_is_the_json_of_the_verb(verb: str, executor: str | None, zoo: Path) -> None:
    names = [name for name in MODELS if verb != "fmt" or name.endswith(".mil")]
    if executor is None:
        found = by_path(miltext.many(verb, names, options=OPTIONS[verb]))
    else:
        with EXECUTORS[executor]() as workers:
            found = by_path(miltext.many(verb, names, options=OPTIONS[verb], executor=workers))
    assert found.keys() == set(names)
    for name in names:
        alone = command(verb, *OPTIONS[verb], "--json", name)
        assert found[name] == ManyResult(name, alone.returncode, json.loads(alone.stdout), None)


def test_paths_may_be_folders_and_path_objects(zoo: Path) -> None:
    assert [each.path for each in miltext.many("info", ["."])] == MODELS
    assert [each.path for each in miltext.many("info", iter([Path("c.mil")]), jobs=2)] == ["c.mil"]
    assert list(miltext.many("info", [])) == []


def test_a_result_without_json_has_a_diagnostic(zoo: Path) -> None:
    found = by_path(miltext.many("info", ["vanished", "c.mil"], jobs=2))
    gone = found["vanished"]
    assert (gone.status, gone.result, gone.diagnostic and gone.diagnostic.code) == (2, None, "MIL290")
    assert found["c.mil"].diagnostic is None


def test_threads_leave_the_standard_streams_alone(zoo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ThreadPoolExecutor(4) as workers:
        for each in miltext.many("check", [*MODELS, "vanished"], executor=workers):
            sys.stdout.write(f"{each.path}\n")
    shown = capsys.readouterr()
    assert sorted(shown.out.split()) == sorted([*MODELS, "vanished"])
    assert shown.err == ""


def test_a_cache_gives_the_same_results_unread(zoo: Path, tmp_path: Path) -> None:
    first = by_path(miltext.many("check", ["."], cache=tmp_path / "cache", jobs=2))
    with opened_below(zoo) as opened:
        second = by_path(miltext.many("check", ["."], cache=tmp_path / "cache"))
    assert opened == []
    assert first == second
    assert second.keys() == set(MODELS)


# ---- functions


def length(path: str) -> int:
    return len(Path(path).read_bytes())


def checked(path: str) -> int:
    if path.startswith("d"):
        os._exit(7)
    return len(miltext.check(path))


def loaded(path: str) -> str:
    return miltext.load(path).name


def faulty(path: str) -> int:
    return {"c.mil": 1}[path]


def test_a_function_is_called_for_each_model(zoo: Path) -> None:
    texts = ["c.mil", "d.mil"]
    expected = {name: ManyResult(name, 0, (zoo / name).stat().st_size, None) for name in texts}
    assert by_path(miltext.many(length, texts)) == expected
    assert by_path(miltext.many(length, texts, jobs=2)) == expected
    assert [each.path for each in miltext.many(len, ["."])] == MODELS


@pytest.mark.parametrize("is_given", [True, False])
def test_a_model_that_kills_its_process_is_one_failed_result(is_given: bool, zoo: Path) -> None:
    for number in range(30):
        (zoo / f"m{number:02}.mil").write_text(CANONICAL, encoding="utf-8")
    chosen: dict[str, Any] = {"executor": ProcessPoolExecutor(2)} if is_given else {"jobs": 2}
    found = by_path(miltext.many(checked, ["."], **chosen))
    assert len(found) == len(MODELS) + 30
    killer = found["d.mil"]
    assert (killer.status, killer.result) == (2, None)
    assert killer.diagnostic is not None
    assert killer.diagnostic.code == "MIL290"
    assert killer.diagnostic.message == "d.mil: not finished: its process was killed, or crashed"
    assert [each.path for each in found.values() if each.diagnostic] == ["d.mil"]


def test_exceptions_of_a_function_are_results(zoo: Path) -> None:
    for jobs in (1, 2):
        found = by_path(miltext.many(length, ["A.mlpackage", "vanished", "c.mil"], jobs=jobs))
        assert [found[name].status for name in ("A.mlpackage", "vanished", "c.mil")] == [2, 2, 0]
        assert found["vanished"].diagnostic is not None
        assert "No such file or directory" in found["vanished"].diagnostic.message
        found = by_path(miltext.many(faulty, ["c.mil", "d.mil"], jobs=jobs))
        assert found["c.mil"].result == 1
        assert found["d.mil"].diagnostic is not None
        assert found["d.mil"].diagnostic.message == "d.mil: not finished: KeyError: 'd.mil'"
        found = by_path(miltext.many(loaded, ["c.mil", "wrong.mil", "vanished"], jobs=jobs))
        assert found["vanished"].status == 2
        assert found["vanished"].diagnostic is not None
        assert found["vanished"].diagnostic.code == "MIL250"


def test_a_caller_that_stops_leaves_no_process(zoo: Path) -> None:
    for each in miltext.many("check", ["."], jobs=2):
        assert each.path in MODELS
        break
    del each
    assert multiprocessing.active_children() == []


# ---- wrong calls


def test_wrong_arguments_are_refused_at_once(zoo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="'print' is not a verb on many models"):
        miltext.many("print", ["c.mil"])
    with pytest.raises(ValueError, match="'chekc' is not a verb on many models"):
        miltext.many("chekc", ["c.mil"])
    with pytest.raises(ValueError, match="options of check: No such option"):
        miltext.many("check", ["c.mil"], options=["--no-such"])
    with pytest.raises(ValueError, match="`options` contains a path"):
        miltext.many("check", ["c.mil"], options=["d.mil"])
    with pytest.raises(ValueError, match="options of find: Missing argument"):
        miltext.many("find", ["c.mil"])
    with pytest.raises(ValueError, match="options of describe: -o is for one model"):
        miltext.many("describe", ["c.mil"], options=["-o", "x.toml"])
    with pytest.raises(ValueError, match="leave out `jobs` or `executor`"):
        miltext.many("check", ["c.mil"], jobs=2, executor=ThreadPoolExecutor(1))
    with pytest.raises(ValueError, match="are for verbs by name"):
        miltext.many(length, ["c.mil"], cache="cache")
    with pytest.raises(TypeError, match="`paths` of many\\(\\) must be several paths, not str"):
        miltext.many("check", "c.mil")
    with pytest.raises(TypeError, match="`executor` of many\\(\\) must be an Executor or None, not int"):
        miltext.many("check", ["c.mil"], executor=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a whole number"):
        miltext.many("check", ["c.mil"], jobs="2")  # type: ignore[arg-type]
    (zoo / "empty").mkdir()
    with pytest.raises(miltext.ModelError, match="nothing to read in the folder empty"):
        miltext.many("check", ["empty"])
    assert capsys.readouterr() == ("", "")
