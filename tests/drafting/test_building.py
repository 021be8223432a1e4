"""From a draft to a model: all that is wrong with it is reported in its own places, and what is right is built."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from inspect import signature
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from conftest import EXAMPLE, GOLDEN, Check, wire
from support.model_checks import assert_coremltools_opens, assert_same_model
from support.short_drafts import BROKEN, DRAFTS

import miltext
from miltext.cli import command
from miltext.diagnostics import MiltextError, ModelError, ParseError
from miltext.drafting.building import build
from miltext.models.building.build import build as build_whole
from miltext.models.programs import TextModel

CASES = sorted((GOLDEN / "built").glob("*.mil"))
STREAMS: dict[str, Any] = {"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {}
RUNNER = CliRunner(**STREAMS)
"""click before 8.2 mixes the two streams unless it is told not to."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: object, input: bytes | None = None) -> Result:
    return RUNNER.invoke(command, [str(each) for each in arguments], input=input and BytesIO(input))


def written(text: str | bytes, name: str = "draft.mil") -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def program(*operations: str, inputs: str = "tensor<fp16, [2, 3]> x", outputs: str = "y", opset: str = "ios18") -> str:
    lines = "".join(f"            {line}\n" for line in operations)
    return f"program(1.3)\n{{\n    func main<{opset}>({inputs}) {{\n{lines}        }} -> ({outputs});\n}}\n"


HALVED = program("y = mul(silu(x), 0.5);")
ELIDED = program('w = const()[val = tensor<fp16, [2, 3]>($elided(6, "sha256:00"))];', "y = mul(silu(x), w);")


def built(name: str = "Out.mlpackage", function: str = "main") -> list[str]:
    """The operations that a model has."""
    made = miltext.load(name).program.functions[function]
    return [operation.type for block in made.block_specializations.values() for operation in block.operations]


def model_of(text: str, name: str = "draft.mil") -> TextModel:
    return TextModel(text.encode(), name, written(text, name).absolute())


# ---- what is wrong


def test_there_are_goldens() -> None:
    assert {"ten_mistakes", "warnings", "missing_array", "undescribed_output"} <= {case.stem for case in CASES}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_golden(case: Path, folder: Path, matches_golden: Check) -> None:
    """Only doubts leave a model."""
    written(case.read_bytes(), case.name)
    result = run("build", case.name, "-o", "Out.mlpackage")
    assert result.stdout == ""
    matches_golden(case.with_suffix(".txt"), result.stderr)
    is_right = "error[" not in result.stderr
    assert result.exit_code == (0 if is_right else 1)
    assert [path.name for path in sorted(folder.iterdir())] == ["Out.mlpackage"] * is_right + [case.name]


def test_ten_mistakes_of_different_kinds_are_ten_reports(folder: Path) -> None:
    text = (GOLDEN / "built" / "ten_mistakes.mil").read_text()
    with pytest.raises(ParseError) as refused:
        build(model_of(text), "Out.mlpackage")
    found = refused.value.diagnostics
    assert [each.severity for each in found] == ["error"] * 10
    assert len({each.code for each in found}) == 10
    assert [each for each in miltext.check(text) if each.code != "MIL712"] == found


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("options", [(), ("--from", EXAMPLE)], ids=["alone", "from"])
def test_all_that_check_finds_is_shown_and_nothing_is_written(text: str, options: tuple[str], folder: Path) -> None:
    written(text)
    shown = run("check", "draft.mil").stdout
    result = run("build", "draft.mil", *options, "-o", "Out.mlpackage")
    assert (result.exit_code, result.stdout) == (1, "")
    assert heads(result.stderr) == [head for head in heads(shown) if "[MIL712]" not in head]
    assert [path.name for path in folder.iterdir()] == ["draft.mil"]


def heads(shown: str) -> list[str]:
    return [line for line in shown.splitlines() if line.startswith("draft.mil:")]


@pytest.mark.parametrize("comment", ["", " // mil: ignore", " // mil: ignore[MIL5]", " // mil: ignore[MIL712]"])
def test_what_comments_ignore_is_not_shown(comment: str, folder: Path) -> None:
    written(program(f"z = log(x);{comment}", "y = relu(z);"))
    result = run("build", "draft.mil", "-o", "Out.mlpackage")
    ignored = "MIL5" in comment or comment.endswith("ignore")
    assert (result.exit_code, "warning[MIL513]" in result.stderr) == (0, not ignored)
    assert "[MIL713]" not in result.stderr
    assert built() == ["log", "relu"]


def test_the_function_returns_what_was_found_and_then_its_own_warnings(folder: Path) -> None:
    text = program("z = log(x);", "y = relu(z);", inputs="tensor<fp16, [2, ?]> x")
    found = build(model_of(text), "Out.mlpackage")
    assert [each.code for each in found] == ["MIL513", "MIL452"]
    assert found[0].span is not None
    assert text[slice(*found[0].span)] == "log"
    whole = miltext.infer_draft(text)
    assert found[1:] == build_whole(model_of(whole, "whole.mil"), "Whole.mlpackage")


# ---- places


NPY = 'w = const()[val = tensor<fp16, [2]>($npy("{}"))];'
BLOB = 'w = const()[val = tensor<fp16, [2]>(BLOBFILE(path = string("@model_path/no.bin"), offset = uint64(64)))];'
STATE = "state<tensor<fp16, [?]>> s"

PLACES = [
    (program("y = relu(x);", inputs="fp16 x, bool b"), "MIL420", "bool b"),
    (program("y = relu(x);", inputs=f"fp16 x, {STATE}"), "MIL420", STATE),
    (program('y = cast(mul(x, 2.0), dtype = "uint8");'), "MIL420", "y"),
    (program(BLOB, "y = add(relu(x), w);", inputs="fp16 x"), "MIL302", '"@model_path/no.bin"'),
    (program(NPY.format("no.npy"), "y = add(relu(x), w);", inputs="fp16 x"), "MIL41", "$npy"),
    (program("h = const()[val = 0.5];", NPY.format("w.npy"), "y = add(mul(h, 1), w);"), "MIL41", "$npy"),
    (ELIDED, "MIL107", "$elided"),
]
"""Drafts that are right, but cannot be built: with what, and the words that are to blame."""


@pytest.mark.parametrize(("text", "code", "marked"), PLACES)
@pytest.mark.parametrize("crlf", [False, True])
def test_what_keeps_a_draft_from_being_built_has_its_place_in_the_draft(
    text: str, code: str, marked: str, crlf: bool, folder: Path
) -> None:
    np.save("w.npy", np.zeros(3, np.float16))
    text = text.replace("\n", "\r\n") if crlf else text
    with pytest.raises(MiltextError) as refused:
        build(model_of(text), "Out.mlpackage")
    [found] = refused.value.diagnostics
    assert found.span is not None
    assert found.code.startswith(code)
    assert marked in text[slice(*found.span)]
    assert (refused.value.text, refused.value.path) == (text, "draft.mil")
    assert not Path("Out.mlpackage").exists()


# ---- what is right


SHORT = sorted((GOLDEN / "short").glob("*.mil"))


@pytest.mark.parametrize("text", [HALVED, *DRAFTS.values(), *[path.read_text() for path in SHORT[:3]]])
@pytest.mark.parametrize("name", ["Out.mlpackage", "Out.mlmodel"])
def test_a_draft_is_built_as_what_is_inferred_of_it(text: str, name: str, folder: Path) -> None:
    def made(text: str) -> MiltextError | bytes:
        try:
            build(model_of(text), f"{len(text)}-{name}")
        except ModelError as refused:  # for want of weights
            return refused.diagnostics[0].code.encode()
        return wire(miltext.load(f"{len(text)}-{name}").spec)  # type: ignore[arg-type]

    assert made(text) == made(miltext.infer_draft(text))


@pytest.mark.parametrize("text", [HALVED, DRAFTS["feed_forward"]])
def test_coremltools_opens_what_is_built(text: str, folder: Path) -> None:
    pytest.importorskip("coremltools")
    written(text)
    assert run("build", "draft.mil", "-o", "Out.mlpackage").exit_code == 0
    assert_coremltools_opens(folder / "Out.mlpackage")


def test_arrays_beside_a_draft_are_stored(folder: Path) -> None:
    array = np.arange(6, dtype=np.float16).reshape(2, 3)
    written(
        program('w = const()[val = tensor<fp16, [2, 3]>($npy("a/w.npy"))];', "y = mul(silu(x), w);"), "in/draft.mil"
    )
    (folder / "in" / "a").mkdir()
    np.save("in/a/w.npy", array)
    assert run("build", "in/draft.mil", "-o", "Out.mlpackage").stderr == ""
    assert np.array_equal(miltext.load("Out.mlpackage").weights["w"], array)
    assert run("infer", "in/draft.mil", "-o", "in/whole.mil").exit_code == 0
    assert '$npy("a/w.npy")' in Path("in/whole.mil").read_text()
    assert run("build", "in/whole.mil", "-o", "Same.mlpackage").stderr == ""
    assert_same_model(folder / "Same.mlpackage", folder / "Out.mlpackage")


def test_weight_files_beside_a_draft_are_taken_along(folder: Path) -> None:
    for words in (["--weights", "Whole.mlpackage/Data/com.apple.CoreML"], ["--from", "Whole.mlpackage"]):
        np.save("w.npy", np.ones(20, np.float16))
        text = program('w = const()[val = tensor<fp16, [20]>($npy("w.npy"))];', "y = mul(silu(x), w);", inputs="fp16 x")
        build(model_of(text), "Whole.mlpackage", force=True)
        named = text.replace(
            '$npy("w.npy")', 'BLOBFILE(path = string("@model_path/weights/weight.bin"), offset = uint64(64))'
        )
        written(named)
        assert run("build", "draft.mil", *words, "-o", "Out.mlpackage", "--force").stderr == ""
        assert_same_model(folder / "Out.mlpackage", folder / "Whole.mlpackage")


def test_constants_of_a_draft_are_moved_into_the_weight_file(folder: Path) -> None:
    written(program("w = const()[val = [[1, 2, 3], [4, 5, 6]]];", "y = mul(silu(x), w);"))
    assert run("build", "draft.mil", "--externalize", "4", "-o", "Out.mlpackage").stderr == ""
    assert [each.blob is not None for each in miltext.load("Out.mlpackage").weights.entries.values()] == [True]


def test_elided_literals_of_a_draft_are_filled_in(folder: Path) -> None:
    run("print", EXAMPLE, "--elide", 2, "-o", "model.mil")
    text = Path("model.mil").read_text()
    draft = text.replace("tensor<fp16, [1, 6, 8, 8]> lit_cast_fp16 = relu(x = ", "lit_cast_fp16 = relu(")
    assert draft != text
    written(draft)
    result = run("build", "draft.mil", "--from", EXAMPLE, "-o", "Out.mlpackage")
    assert (result.exit_code, result.stderr) == (0, "")
    assert_same_model(folder / "Out.mlpackage", EXAMPLE)
    written(draft.replace("sha256:", "sha256:0", 1))
    wrong = run("build", "draft.mil", "--from", EXAMPLE, "-o", "Wrong.mlpackage")
    assert (wrong.exit_code, "draft.mil:" in wrong.stderr, "error[MIL410]" in wrong.stderr) == (1, True, True)
    assert not Path("Wrong.mlpackage").exists()


def test_a_draft_takes_the_place_of_a_models_program(folder: Path) -> None:
    written(HALVED)
    assert run("build", "draft.mil", "-o", "Old.mlpackage").exit_code == 0
    for text, changed in ((HALVED.replace("0.5", "2.5"), False), (HALVED.replace("[2, 3]", "[4]"), True)):
        written(text)
        result = run("build", "draft.mil", "--from", "Old.mlpackage", "-o", "Out.mlpackage", "--force")
        assert (result.exit_code, built()) == (0, ["silu", "mul"])
        assert ("warning[MIL45" in result.stderr) is changed or result.stderr == ""


@pytest.mark.parametrize("name", ["draft.mil", "whole.mil", "Model.mlpackage", "."])
def test_an_original_that_is_no_model_is_refused(name: str, folder: Path) -> None:
    written(HALVED)
    written(miltext.infer_draft(HALVED), "whole.mil")
    for kind in ("draft.mil", "whole.mil"):
        result = run("build", kind, "--from", name, "-o", "Out.mlpackage")
        code = {"Model.mlpackage": "not found", ".": "MIL251"}.get(name, "MIL404")
        assert (result.exit_code in (1, 2), code in result.stderr) == (True, True)
    assert not Path("Out.mlpackage").exists()


# ---- the verbs around


def test_renaming_and_exposing_in_a_draft_write_models(folder: Path) -> None:
    written(program("root = silu(x);", "y = mul(tanh(root), 0.5);"))
    assert run("rename", "draft.mil", "root", "base", "-o", "Renamed.mlpackage").stderr == ""
    assert built("Renamed.mlpackage") == ["silu", "tanh", "mul"]
    assert "base" in run("print", "Renamed.mlpackage").stdout
    assert run("expose", "draft.mil", "root", "-o", "Exposed.mlpackage").stderr == ""
    outputs = miltext.load("Exposed.mlpackage").description.output  # type: ignore[union-attr]
    assert [each.name for each in outputs] == ["y", "root"]
    assert run("expose", "draft.mil", "root", "-o", "again.mil").stderr == ""
    assert "y = mul(tanh(root), 0.5);\n        } -> (y, root)" in Path("again.mil").read_text()
    written(program("root = sillu(x);", "y = mul(tanh(root), 0.5);"))
    for words in (["rename", "draft.mil", "root", "base"], ["expose", "draft.mil", "root"]):
        result = run(*words, "-o", "None.mlpackage")
        assert (result.exit_code, "error[MIL501]" in result.stderr, Path("None.mlpackage").exists()) == (1, True, False)


REFUSED = [
    ["parse", "{}", "-o", "out.pb"],
    ["parse", "{}", "--strict", "--to", "pb"],
    ["print", "{}"],
    ["print", "{}", "--as-coremlc"],
    ["print", "{}", "--compact"],
    ["print", "{}", "--html"],
    ["info", "{}"],
    ["info", "{}", "--json"],
    ["weights", "{}"],
    ["diff", "{}", "whole.mil"],
    ["diff", "whole.mil", "{}"],
    ["sidecar", "{}"],
]


@pytest.mark.parametrize("words", REFUSED, ids=" ".join)
def test_what_needs_a_program_refuses_a_draft_with_a_way_out(words: list[str], folder: Path) -> None:
    written(HALVED)
    written(miltext.infer_draft(HALVED), "whole.mil")
    result = run(*[word.format("draft.mil") for word in words])
    assert result.exit_code in (1, 2)
    assert "draft.mil:4:13: error[MIL112]" in result.stderr
    assert "`miltext infer`" in result.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["draft.mil", "whole.mil"]


def test_git_shows_a_draft_as_it_is(folder: Path) -> None:
    written(HALVED, "old.mil")
    written(HALVED.replace("0.5", "0.25"), "new.mil")
    shown = run("textconv", "old.mil").stdout
    assert shown.startswith("// MIL112: ")
    assert shown.endswith(HALVED)
    compared = run("difftool", "old.mil", "new.mil").stdout
    assert "-            y = mul(silu(x), 0.5);\n+            y = mul(silu(x), 0.25);\n" in compared
    assert "y = mul(silu(x), 0.5);" in run("locate", "old.mil", "4:14").stdout


# ---- texts that are no drafts


WHOLE = miltext.infer_draft(HALVED)
NO_DRAFTS = {
    "syntax": WHOLE.replace(");", ")", 1),
    "several": WHOLE.replace(");", ")", 1).replace("fp16(0.5)", "fp16(true)"),
    "type": WHOLE.replace("fp16(0", "fp17(0"),
    "array": WHOLE.replace("fp16(0.5)", 'tensor<fp16, [3]>($npy("no.npy"))'),
    "slip": WHOLE.replace("silu(x = x)", "silu(x == x)"),
    "empty": " ",
    "cut": WHOLE[:60],
    "wrong program": WHOLE.replace("-> (y)", "-> (nobody)"),
    "another language": "def main(x):\n    return silu(x)\n",
}


@pytest.mark.parametrize("text", NO_DRAFTS.values(), ids=NO_DRAFTS)
def test_a_text_that_is_no_draft_is_refused_as_ever(text: str, folder: Path) -> None:
    said = []
    for each in (build, build_whole):
        with pytest.raises(MiltextError) as refused:
            each(model_of(text), "Out.mlpackage")
        said.append((type(refused.value), refused.value.diagnostics, refused.value.text, refused.value.path))
    assert said[0] == said[1]
    assert len(said[0][1]) == 1


def test_a_program_that_was_asked_for_is_built_as_it_is(folder: Path) -> None:
    model = model_of(WHOLE)
    del model.program.functions["main"].block_specializations["CoreML8"].operations[1:]
    model.program.functions["main"].block_specializations["CoreML8"].outputs[:] = ["y_x"]
    assert build(model, "Out.mlpackage") == []
    assert built() == ["silu"]


TRACE = """
import json, runpy, sys
sys.argv = ["miltext", "build", sys.argv[1], "-o", "Out.mlpackage"]
try:
    runpy.run_module("miltext", run_name="__main__")
except SystemExit as end:
    assert not end.code
print(json.dumps([name for name in sys.modules if name.startswith("miltext.")]))
"""


@pytest.mark.parametrize("text", [HALVED, WHOLE], ids=["draft", "whole"])
def test_only_a_draft_is_checked(text: str, folder: Path) -> None:
    written(text)
    shown = subprocess.run([sys.executable, "-c", TRACE, "draft.mil"], capture_output=True, text=True, check=True)
    modules = json.loads(shown.stdout)
    checking = {"miltext.checking.verifier", "miltext.parsing.recovery", "miltext.formatting.formatter"}
    assert bool(checking & {*modules}) is (text == HALVED)


def test_a_text_is_parsed_once_and_never_recovered(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from miltext.syntax.parser import Parser

    runs = 0
    run_once: Callable[..., Any] = Parser.run

    def counted(self: Parser, *given: Any, **named: Any) -> Any:
        nonlocal runs
        runs += given[0] == WHOLE
        return run_once(self, *given, **named)

    monkeypatch.setattr(Parser, "run", counted)
    build(model_of(WHOLE), "Out.mlpackage")
    assert runs == 1


# ---- odd neighbours


def test_an_output_that_is_there_is_kept_and_nothing_is_inferred(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(HALVED)
    assert run("build", "draft.mil", "-o", "Out.mlpackage").exit_code == 0
    monkeypatch.setattr("miltext.checking.verifier.write_out", None)
    again = run("build", "draft.mil", "-o", "Out.mlpackage")
    assert (again.exit_code, "--force" in again.stderr) == (2, True)
    for name, code in (("Out.onnx", "MIL401"), ("draft.mil", "MIL401")):
        result = run("build", "draft.mil", "-o", name, "--force")
        assert (result.exit_code, code in result.stderr) == (2, True)
    assert Path("draft.mil").read_text() == HALVED


def test_a_mistake_leaves_the_old_model(folder: Path) -> None:
    written(HALVED)
    run("build", "draft.mil", "-o", "Out.mlpackage")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    written(HALVED.replace("silu", "sillu"), "draft.mil")
    assert run("build", "draft.mil", "-o", "Out.mlpackage", "--force").exit_code == 1
    before[folder / "draft.mil"] = Path("draft.mil").read_bytes()
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_a_draft_in_the_folder_that_is_to_be_the_model(folder: Path) -> None:
    written(HALVED, "Out.mlpackage/draft.mil")
    result = run("build", "Out.mlpackage/draft.mil", "-o", "Out.mlpackage", "--force")
    assert result.exit_code == 2
    assert Path("Out.mlpackage/draft.mil").read_text() == HALVED
    assert [path.name for path in folder.rglob("*")] == ["Out.mlpackage", "draft.mil"]


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_two_builds_at_the_same_time_leave_a_whole_model(force: list[str], folder: Path) -> None:
    for name, number in (("a.mil", "0.5"), ("b.mil", "0.25")):
        written(HALVED.replace("0.5", number), name)
    words = [sys.executable, "-m", "miltext", "build"]
    both = [
        subprocess.Popen([*words, name, "-o", "Out.mlpackage", *force], stderr=subprocess.PIPE)
        for name in ("a.mil", "b.mil")
    ]
    said = [each.communicate()[1] for each in both]
    statuses = sorted(each.returncode for each in both)
    assert statuses in ([0, 0], [0, 2]) if force else statuses == [0, 2], said
    assert not [path for path in folder.iterdir() if path.name.startswith(".miltext-")]
    assert built() == ["silu", "mul"]


@pytest.mark.parametrize("name", ["draft.txt", "draft", "draft.MIL", "a b/d.mil", "drâft.mil"])
def test_a_draft_of_any_name(name: str, folder: Path) -> None:
    written(HALVED, name)
    assert run("build", name, "-o", "Out.mlpackage").exit_code == 0
    assert built() == ["silu", "mul"]


def test_standard_input(folder: Path) -> None:
    np.save("w.npy", np.zeros((2, 3), np.float16))
    text = program('w = const()[val = tensor<fp16, [2, 3]>($npy("w.npy"))];', "y = mul(silu(x), w);")
    result = run("build", "-", "-o", "Out.mlpackage", input=text.encode())
    assert (result.exit_code, result.stderr) == (0, "")
    assert built() == ["const", "silu", "mul"]
    wrong = run("build", "-o", "Wrong.mlpackage", input=HALVED.replace("silu(x)", "silu(z)").encode())
    assert (wrong.exit_code, wrong.stderr.startswith("<stdin>:4:26: error[MIL604]")) == (1, True)


@pytest.mark.parametrize(
    ("data", "status", "code"),
    [
        (b"", 1, "MIL256"),
        (b"\n", 1, "MIL001"),
        (b"\xff\xfe", 1, "MIL256"),
        ("\ufeff".encode() + HALVED.encode(), 1, "MIL002"),
        (b"version https://git-lfs.github.com/spec/v1\n", 1, "MIL252"),
    ],
)
def test_what_is_no_text(data: bytes, status: int, code: str, folder: Path) -> None:
    written(data)
    result = run("build", "draft.mil", "-o", "Out.mlpackage")
    assert (result.exit_code, f"error[{code}]" in result.stderr) == (status, True), result.stderr
    assert [path.name for path in folder.iterdir()] == ["draft.mil"]


def test_a_draft_that_is_not_there_or_cannot_be_read(folder: Path) -> None:
    Path("folder.mil").mkdir()
    for name in ("absent.mil", "folder.mil"):
        result = run("build", name, "-o", "Out.mlpackage")
        assert result.exit_code in (1, 2)
        assert "Traceback" not in result.stderr
        assert not Path("Out.mlpackage").exists()


RIGHT = {
    "crlf": HALVED.replace("\n", "\r\n"),
    "dialect": HALVED.replace("program(1.3)", "program(1.0)"),
    "old opset": program("y = softmax(mul(x, 0.5), axis = -1);", opset="ios15", inputs="tensor<fp32, [2, 3]> x"),
    "a name that is taken": program("y_x = tanh(x);", "y = mul(silu(y_x), 0.5);"),
    "a quoted name": program('$"_" = tanh(x);', 'y = mul(silu($"_"), 0.5);'),
    "types alone": program("_ z = silu(x = x);", "_ y = mul(x = z, y = 0.5);"),
    "one literal": WHOLE.replace("fp16(0.5)", "0.5"),
    "a state": program("m = read_state(s);", "y = mul(m, x);", inputs="fp16 x, state<tensor<fp16, [4]>> s"),
    "comments": HALVED.replace("(silu(x)", "( /* in */ silu(x) // after\n"),
    "inputs alone": program(outputs="x").replace("} -> (x)", "    z = relu(x);\n        } -> (x)"),
}


@pytest.mark.parametrize("text", RIGHT.values(), ids=RIGHT)
def test_drafts_of_all_kinds(text: str, folder: Path) -> None:
    written(text)
    result = run("build", "draft.mil", "-o", "Out.mlpackage")
    assert (result.exit_code, result.stderr) == (0, "")
    whole = miltext.parse(miltext.infer_draft(text))
    assert wire(miltext.load("Out.mlpackage").program) == wire(whole)


def test_two_functions_of_which_one_is_a_draft(folder: Path) -> None:
    other = WHOLE[WHOLE.index("    func") : WHOLE.rindex("}")].replace("main", "other")
    written(HALVED.rstrip().removesuffix("}") + other + "}\n")
    assert run("build", "draft.mil", "-o", "Out.mlpackage").exit_code == 0
    assert built(function="main") == built(function="other") == ["silu", "mul"]


def test_settings_have_no_say_in_what_is_built(folder: Path) -> None:
    Path("pyproject.toml").write_text('[tool.miltext]\ndrafts = false\nignore = ["ALL"]\n')
    written(HALVED)
    assert run("build", "draft.mil", "-o", "Out.mlpackage").exit_code == 0
    written(HALVED.replace("silu(x)", "silu(z)"))
    assert "error[MIL604]" in run("build", "draft.mil", "-o", "Out.mlpackage", "--force").stderr
