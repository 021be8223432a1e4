"""Every argument of every public function is refused in its own words, or accepted: no error of Python's inside."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.named_options import named_options

import miltext

TEXT = """program(1.3)
{
    func main<ios18>(tensor<fp32, [4]> x) {
            tensor<fp32, [4]> h = relu(x = x)[name = string("h")];
            tensor<fp32, [4]> y = tanh(x = h)[name = string("y")];
        } -> (y);
}
"""
X = {"x": np.array([-1, 0, 1, 2], np.float32)}


def _passes(_: object) -> bool:
    return True


CALLS: dict[str, dict[str, Any]] = {
    "apply": {"difference": miltext.diff(TEXT, TEXT.replace("tanh", "relu")), "source": TEXT},
    "build": {"source": TEXT, "output": ...},
    "check": {"source": TEXT},
    "compare": {"a": TEXT, "b": TEXT, "inputs": X},
    "convert_weights": {"source": TEXT, "to": "fp16", "output": ...},
    "describe": {"model": TEXT},
    "diff": {"old": TEXT, "new": TEXT},
    "expose": {"source": TEXT, "values": "h", "output": ...},
    "link": {"models": [TEXT, TEXT], "output": ..., "bind": {}, "apart": "x", "cast": True},
    "extract": {"source": TEXT, "values": "h", "output": ...},
    "find": {"source": TEXT, "rules": "softmax"},
    "format_text": {"text": TEXT},
    "infer_draft": {"text": TEXT},
    "infer_types": {"program": TEXT},
    "lark_parser": {},
    "load": {"path": ...},
    "many": {"verb": "info", "paths": []},
    "merge_texts": {"base": TEXT, "ours": TEXT, "theirs": TEXT},
    "open_model": {"path": ...},
    "operations": {},
    "parse": {"text": TEXT},
    "parse_value": {"text": "fp32(1.0)"},
    "parse_with_source": {"text": TEXT},
    "reduce": {"model": TEXT, "test": _passes, "max_tests": 3},
    "remove_dead": {"graph": miltext.Graph(miltext.parse(TEXT))},
    "rename": {"source": TEXT, "old": "h", "new": "g", "output": ...},
    "reshape": {"source": TEXT, "sizes": {"x": [8]}, "output": ...},
    "optimize": {"source": TEXT, "output": ..., "skip": "dead-code"},
    "rewrite": {"source": TEXT, "rules": "softmax", "output": ...},
    "rule": {"source": "this test"},
    "run": {"model": TEXT, "inputs": X},
    "size": {"source": TEXT},
    "cost": {"source": TEXT},
    "split": {"source": TEXT, "output": None, "parts": 1},
    "strict_findings": {"text": TEXT},
    "to_draft": {"program": TEXT},
    "to_text": {"program": TEXT},
    "weights": {"source": TEXT},
}
"""A right call of each public function; `...` is a path of the test's own."""


class _Own:
    """An object of a user's."""


WRONG = [
    None,
    3,
    -1,
    2.5,
    b"x",
    "",
    "nope",
    [],
    [3],
    ["nope"],
    {"x": 3},
    {3: "a"},
    {"nope": [1]},
    (1, 2),
    {1},
    np.zeros(3),
    _Own(),
]


def _arguments() -> Iterator[tuple[str, str]]:
    for name in miltext.__all__:
        if inspect.isfunction(function := getattr(miltext, name)):
            for each in inspect.signature(function).parameters.values():
                if each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL):
                    yield name, each.name


def test_each_public_function_has_a_right_call() -> None:
    assert {*CALLS} == {name for name, _ in _arguments()}


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "M.mlpackage"
    miltext.build(TEXT, path)
    return path


def _called(name: str, wrong: dict[str, object], package: Path, output: Path) -> object:
    function: Callable[..., object] = getattr(miltext, name)
    own = {"output": output, "path": package}
    given = {key: own[key] if value is ... else value for key, value in CALLS[name].items()} | wrong
    parameters = inspect.signature(function).parameters.values()
    positional = [given.pop(each.name) for each in parameters if each.kind is each.POSITIONAL_ONLY]
    return function(*positional, **given)


def _failure(name: str, wrong: dict[str, object], package: Path, output: Path) -> Exception | None:
    try:
        _called(name, wrong, package, output)
    except Exception as failure:  # noqa: BLE001 - its kind and words are judged
        return failure
    return None


@pytest.mark.parametrize("name", CALLS)
def test_a_right_call_is_accepted(name: str, package: Path, tmp_path: Path) -> None:
    _called(name, {}, package, tmp_path / "Out.mlpackage")


@pytest.mark.parametrize(("name", "argument"), [*_arguments()])
def test_a_wrong_argument_is_refused_in_words_of_its_own(
    name: str, argument: str, package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for index, wrong in enumerate(WRONG):
        failure = _failure(name, {argument: wrong}, package, tmp_path / f"Out{index}.mlpackage")
        if failure is not None:
            _judge(failure, wrong)


def _judge(failure: Exception, wrong: object) -> None:
    assert not named_options(str(failure))
    if isinstance(failure, (miltext.MiltextError, OSError)):
        return
    if type(failure).__module__ == "lark.exceptions":  # of a rule that the grammar does not have
        return
    last = traceback.extract_tb(failure.__traceback__)[-1]
    is_own = Path(last.filename).is_relative_to(Path(miltext.__file__).parent)
    assert isinstance(failure, (TypeError, ValueError)), (wrong, failure)
    assert is_own, (wrong, failure)
    assert "raise" in (last.line or ""), (wrong, failure)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: miltext.build(TEXT, "M.mlpackage", force="no"), "`force` of build() must be True or False, not str"),  # type: ignore[arg-type]
        (
            lambda: miltext.build(TEXT, "M.mlpackage", ranges={"x": 3}),  # type: ignore[dict-item]
            "`ranges` of build() must be a mapping, such as a dict, of names to sizes or None, not dict with int",
        ),
        (lambda: miltext.load(3), "`path` of load() must be a str or a path, not int"),  # type: ignore[arg-type]
        (
            lambda: miltext.extract(TEXT, [3], "M.mlpackage"),  # type: ignore[list-item]
            "`values` of extract() must be several str or a str, not list with int",
        ),
        (lambda: miltext.reduce(TEXT, _passes, jobs=0), "`jobs` of reduce() must be 1 or more, not 0"),
        (lambda: miltext.reduce(TEXT, _passes, max_tests=0), "`max_tests` of reduce() must be 1 or more, not 0"),
    ],
)
def test_the_message_names_the_argument(call: Callable[[], object], message: str) -> None:
    with pytest.raises((TypeError, ValueError)) as raised:
        call()
    assert str(raised.value) == message


def test_numbers_and_truths_of_numpy_are_accepted(tmp_path: Path) -> None:
    miltext.build(TEXT, tmp_path / "M.mlpackage", externalize=np.int64(2), check=np.bool_(True))  # type: ignore[arg-type]
    miltext.extract(TEXT, iter(["h"]), tmp_path / "H.mlpackage")
    miltext.reshape(TEXT, {"x": (8,)}, tmp_path / "R.mlpackage")
    miltext.build(TEXT, tmp_path / "W.mlpackage", weights=[tmp_path])


@pytest.mark.parametrize("name", ["expose", "extract"])
def test_a_wrong_name_of_an_iterator_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="a name must be a string, not int"):
        getattr(miltext, name)(TEXT, iter(["h", 3]), tmp_path / "Out.mlpackage")
