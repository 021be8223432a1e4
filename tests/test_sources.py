"""Every function of a model accepts text, a path, a Program and a Model, with one result, and refuses all else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.containers import spec
from support.named_options import named_options

import miltext
from miltext.containers.sources import is_text
from miltext.schema.wire import wire_of

TEXT = """program(1.3)
{
    func main<ios18>(tensor<fp32, [4]> x) {
            tensor<fp32, [4]> h = relu(x = x)[name = string("h")];
            tensor<fp32, [4]> y = tanh(x = h)[name = string("y")];
        } -> (y);
}
"""
DRAFT = (
    "program(1.3) $draft(names) { func main<ios18>(tensor<fp32, [4]> x) { h = relu(x = x); y = tanh(x = h); } -> (y); }"
)

Function = Callable[[Any, Path], object]


def _built(path: Path) -> str:
    return miltext.to_text(path)


def _converted(source: Any, path: Path) -> str:
    miltext.convert_weights(source, "fp16", path)
    return _built(path)


def _of_build(source: Any, path: Path) -> str:
    miltext.build(source, path)
    return _built(path)


def _of_extract(source: Any, path: Path) -> str:
    miltext.extract(source, "h", path)
    return _built(path)


def _split(source: Any, path: Path) -> list[str]:
    made = miltext.split(source, path.with_suffix(""), at="h")
    return [_built(path.with_suffix("") / each.name) for each in made.parts]


def _written(function: Callable[..., object], *values: object) -> Function:
    """Call a function that writes a model; the result is the text of that model."""

    def called(source: Any, path: Path) -> str:
        function(source, *values, path)
        return _built(path)

    return called


def _has_tanh(candidate: miltext.Candidate) -> bool:
    return "tanh" in candidate.path.read_text(encoding="utf-8")


X = {"x": np.array([-1, 0, 1, 2], np.float32)}

FUNCTIONS: dict[str, Function] = {
    "Evaluator": lambda source, _: miltext.Evaluator(source).run(X)["y"].tolist(),
    "build": _of_build,
    "build, original": lambda source, path: miltext.build(TEXT, path, original=source) and None,
    "check": lambda source, _: [(each.code, each.message) for each in miltext.check(source) if each.code != "MIL712"],
    "compare, a": lambda source, _: miltext.compare(source, TEXT, X).ok,
    "compare, b": lambda source, _: miltext.compare(TEXT, source, X).ok,
    "convert_weights": _converted,
    "describe": lambda source, _: miltext.describe(source),
    "diff, new": lambda source, _: miltext.diff(TEXT, source).same,
    "diff, old": lambda source, _: miltext.diff(source, TEXT).same,
    "extract": _of_extract,
    "expose": _written(miltext.expose, "h"),
    "link": _written(lambda each, to: miltext.link({"a": each, "b": each}, to)),
    "infer_types": lambda source, _: len(miltext.infer_types(source)),
    "reduce": lambda source, _: miltext.to_text(miltext.reduce(source, _has_tanh, kind="mil").program),
    "rename": _written(miltext.rename, "h", "g"),
    "reshape": _written(miltext.reshape, {"x": [8]}),
    "run": lambda source, _: miltext.run(source, X)["y"].tolist(),
    "cost": lambda source, _: miltext.cost(source).work,
    "size": lambda source, _: miltext.size(source).bytes,
    "split": _split,
    "to_draft": lambda source, _: miltext.to_draft(source),
    "to_text": lambda source, _: miltext.to_text(source),
    "weights": lambda source, _: [*miltext.weights(source)],
}
TAKES_WHOLE = ("build, original",)


def _path(folder: Path) -> Path:
    path = folder / "m.mil"
    path.write_text(TEXT, encoding="utf-8", newline="\n")
    return path


def _package(folder: Path) -> Path:
    path = folder / "M.mlpackage"
    miltext.build(TEXT, path)
    return path


def _of_coremltools(_: Path) -> object:
    messages = pytest.importorskip("coremltools.proto.MIL_pb2")
    return messages.Program.FromString(wire_of(miltext.parse(TEXT)))


FORMS: dict[str, Callable[[Path], object]] = {
    "text": lambda _: TEXT,
    "text, CRLF": lambda _: TEXT.replace("\n", "\r\n"),
    "draft": lambda _: DRAFT,
    "str of a path": lambda folder: str(_path(folder)),
    "path": _path,
    "package": _package,
    "package, str": lambda folder: str(_package(folder)),
    "Model of a text": lambda folder: miltext.load(_path(folder)),
    "Model of a package": lambda folder: miltext.load(_package(folder)),
    "Program": lambda _: miltext.parse(TEXT),
    "Program of coremltools": _of_coremltools,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in TAKES_WHOLE])
def test_each_form_has_one_result(name: str, form: str, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    expected = FUNCTIONS[name](_path(tmp_path / "a"), tmp_path / "a" / "Out.mlpackage")
    source = FORMS[form](tmp_path / "b")
    found = FUNCTIONS[name](source, tmp_path / "b" / "Out.mlpackage")
    if name == "describe" and "package" in form.lower():
        assert found == miltext.describe(miltext.load(tmp_path / "b" / "M.mlpackage"))
    else:
        assert found == expected


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in TAKES_WHOLE])
def test_a_program_is_not_changed(name: str, tmp_path: Path) -> None:
    program = miltext.parse(TEXT)
    FUNCTIONS[name](program, tmp_path / "Out.mlpackage")
    assert wire_of(program) == wire_of(miltext.parse(TEXT))


@pytest.mark.parametrize("form", ["package", "package, str", "Model of a package"])
def test_an_original_in_each_form(form: str, tmp_path: Path) -> None:
    FUNCTIONS["build, original"](FORMS[form](tmp_path), tmp_path / "Out.mlpackage")
    assert _built(tmp_path / "Out.mlpackage") == TEXT


class _Own:
    """An object of a user's."""


WRONG: dict[str, object] = {
    "None": None,
    "a number": 3,
    "bytes": TEXT.encode(),
    "a list": [TEXT],
    "a dict": {"model": TEXT},
    "an array": np.zeros(3),
    "a class": miltext.Model,
    "a function": miltext.parse,
    "a Model message": spec(),
    "a Function message": miltext.parse(TEXT).functions["main"],
    "an object": _Own(),
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_any_other_object_is_a_type_error(name: str, wrong: str, tmp_path: Path) -> None:
    if name in ("build, original", "compare, a", "compare, b") and WRONG[wrong] is None:
        pytest.skip("it may be left out")
    with pytest.raises(TypeError, match="expected MIL text, a path, a Program or a Model, not "):
        FUNCTIONS[name](WRONG[wrong], tmp_path / "Out.mlpackage")
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("missing", ["nowhere.mil", "nowhere.mlpackage", Path("nowhere.mlmodel"), "program(1.3)", ""])
def test_a_missing_file_is_named(name: str, missing: Any, tmp_path: Path) -> None:
    with pytest.raises((OSError, miltext.ModelError)) as raised:
        FUNCTIONS[name](missing, tmp_path / "Out.mlpackage")
    assert str(missing) in str(raised.value)
    assert not named_options(str(raised.value))
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "check"])
def test_a_wrong_text_is_a_parse_error(name: str, tmp_path: Path) -> None:
    with pytest.raises(miltext.MiltextError) as raised:
        FUNCTIONS[name](TEXT.replace("relu", "="), tmp_path / "Out.mlpackage")
    assert not named_options(str(raised.value))
    assert not any(tmp_path.iterdir())


OF_TEXTS: dict[str, Callable[[Any], object]] = {
    "format_text": miltext.format_text,
    "infer_draft": miltext.infer_draft,
    "merge_texts": lambda text: miltext.merge_texts(text, TEXT, TEXT),
    "parse": miltext.parse,
    "parse_with_source": miltext.parse_with_source,
    "strict_findings": miltext.strict_findings,
}


@pytest.mark.parametrize("wrong", [*WRONG, "a path", "a Model"])
@pytest.mark.parametrize("name", OF_TEXTS)
def test_a_function_of_texts_refuses_all_else(name: str, wrong: str, tmp_path: Path) -> None:
    given = {**WRONG, "a path": tmp_path / "m.mil", "a Model": miltext.load(_path(tmp_path))}[wrong]
    with pytest.raises(TypeError, match="expected MIL text, a str, not "):
        OF_TEXTS[name](given)


@pytest.mark.parametrize("wrong", [*WRONG, "a text"])
def test_a_graph_is_of_a_program(wrong: str) -> None:
    with pytest.raises(TypeError, match="expected a Program, "):
        miltext.Graph({**WRONG, "a text": TEXT}[wrong])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("words", "is_one"),
    [("", False), ("a.mil", False), ("program(1.3)", False), ("program{", True), ("a\n", True), ("a\r", True)],
)
def test_a_text_has_a_line_end_or_a_brace(words: str, is_one: bool) -> None:
    assert is_text(words) == is_one


def test_an_existing_output_is_refused_without_option_words(tmp_path: Path) -> None:
    package = _package(tmp_path)
    with pytest.raises(FileExistsError, match="it already exists") as raised:
        miltext.build(TEXT, package)
    assert "--" not in str(raised.value)
    miltext.build(TEXT, package, force=True)


def test_check_with_a_path_reads_a_text() -> None:
    (found,) = miltext.check("program", path="m.mil")
    assert found.severity == "error"


def test_the_version_equals_that_of_the_package() -> None:
    from importlib.metadata import version

    assert miltext.__version__ == version("miltext")


def test_results_show_themselves(tmp_path: Path) -> None:
    assert repr(miltext.Graph(miltext.parse(TEXT))) == "<Graph: main of 2 operations>"
    assert repr(miltext.Evaluator(TEXT)) == "<Evaluator: main(x) -> (y)>"
    assert repr(miltext.load(_package(tmp_path))) == f"<Model '{tmp_path / 'M.mlpackage'}': mlProgram in mlpackage>"


def test_a_difference_is_true_if_there_is_one() -> None:
    assert not miltext.diff(TEXT, TEXT)
    assert miltext.diff(TEXT, TEXT.replace("tanh", "relu"))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda path: miltext.rename(TEXT, 1, "g", path), TypeError, "`old` of rename() must be a str, not int"),  # type: ignore[arg-type]
        (lambda path: miltext.rename(TEXT, "h", None, path), TypeError, "must be a str, not NoneType"),  # type: ignore[arg-type]
        (lambda path: miltext.expose(TEXT, ["h", 2], path), TypeError, "not list with int"),  # type: ignore[list-item]
        (lambda path: miltext.expose(TEXT, [], path), ValueError, "no value is named"),
        (lambda path: miltext.reshape(TEXT, {}, path), ValueError, "no sizes are given"),
        (lambda path: miltext.reshape(TEXT, ["x"], path), TypeError, "`sizes` of reshape() must be a mapping"),  # type: ignore[arg-type]
    ],
)
def test_wrong_names_and_sizes_are_refused(
    call: Callable[[Path], object], error: type[Exception], words: str, tmp_path: Path
) -> None:
    with pytest.raises(error) as refused:
        call(tmp_path / "Out.mlpackage")
    assert words in str(refused.value)
    assert [*tmp_path.iterdir()] == []
