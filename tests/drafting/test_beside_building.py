"""Around the building of drafts: verbs that take none, texts that are none, and odd files, folders and names."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import wire
from support.draft_builds import HALVED, built, model_of, program, run, written

import miltext
from miltext.building.build import build as build_whole
from miltext.diagnostics import MiltextError
from miltext.drafting.building import build


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


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
    ["sidecar", "{}"],
    ["sidecar", "{}", "--json"],
]


@pytest.mark.parametrize("words", REFUSED, ids=" ".join)
def test_verbs_on_programs_refuse_a_draft_with_a_way_out(words: list[str], folder: Path) -> None:
    written(HALVED)
    written(miltext.infer_draft(HALVED), "whole.mil")
    result = run(*[word.format("draft.mil") for word in words])
    assert result.exit_code in (1, 2)
    if "--json" in words:
        (told,) = json.loads(result.stdout)["diagnostics"]
        assert (told["code"], told["start"]["line"]) == ("MIL112", 4)
        assert "`miltext infer`" in told["message"]
    else:
        assert "draft.mil:4:13: error[MIL112]" in result.stderr
        assert "`miltext infer`" in result.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["draft.mil", "whole.mil"]


def test_a_draft_is_compared_as_the_program_that_it_stands_for(folder: Path) -> None:
    written(HALVED)
    written(miltext.infer_draft(HALVED), "whole.mil")
    for sides in (("draft.mil", "whole.mil"), ("whole.mil", "draft.mil"), ("draft.mil", "draft.mil")):
        result = run("diff", *sides)
        assert (result.exit_code, result.stdout) == (0, "no difference\n"), result.stderr
    written(HALVED.replace("silu(x)", "sillu(x)"))
    result = run("diff", "draft.mil", "whole.mil")
    assert (result.exit_code, "draft.mil:4:" in result.stderr, "error[MIL501]" in result.stderr) == (2, True, True)


def test_git_shows_a_draft_as_it_is(folder: Path) -> None:
    written(HALVED, "old.mil")
    written(HALVED.replace("0.5", "0.25"), "new.mil")
    shown = run("textconv", "old.mil").stdout
    assert shown.startswith("// MIL112: ")
    assert shown.endswith(HALVED)
    compared = run("difftool", "old.mil", "new.mil").stdout
    head = "--- old.mil\n+++ new.mil\noutputs: y may have other numbers\nfunc main\n"
    assert compared == f"{head}    ~ y: mul\n        y: 0.5 -> 0.25\n"
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
    "another language": "def main(x):\n    return silu(x)\n",
}


@pytest.mark.parametrize("text", NO_DRAFTS.values(), ids=NO_DRAFTS)
def test_a_text_that_is_not_a_draft_is_refused_as_before(text: str, folder: Path) -> None:
    said = []
    for each in (build, build_whole):
        with pytest.raises(MiltextError) as refused:
            each(model_of(text), "Out.mlpackage")
        said.append((type(refused.value), refused.value.diagnostics, refused.value.text, refused.value.path))
    assert said[0] == said[1]
    assert len(said[0][1]) == 1


def test_a_program_that_was_requested_is_built_as_it_is(folder: Path) -> None:
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
def test_only_a_draft_is_completed(text: str, folder: Path) -> None:
    written(text)
    shown = subprocess.run([sys.executable, "-c", TRACE, "draft.mil"], capture_output=True, text=True, check=True)
    modules = json.loads(shown.stdout)
    completing = {"miltext.checking.verifier", "miltext.parsing.recovery", "miltext.formatting.formatter"}
    assert bool(completing & {*modules}) is (text == HALVED)
    assert "miltext.checking.programs" in modules


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


def test_an_existing_output_is_kept_and_nothing_is_inferred(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(HALVED)
    assert run("build", "draft.mil", "-o", "Out.mlpackage").exit_code == 0
    monkeypatch.setattr("miltext.drafting.draft.Draft", None)
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
def test_sources_that_are_not_texts(data: bytes, status: int, code: str, folder: Path) -> None:
    written(data)
    result = run("build", "draft.mil", "-o", "Out.mlpackage")
    assert (result.exit_code, f"error[{code}]" in result.stderr) == (status, True), result.stderr
    assert [path.name for path in folder.iterdir()] == ["draft.mil"]


def test_a_missing_or_unreadable_draft(folder: Path) -> None:
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
    "a marker": HALVED.replace("(1.3)", "(1.3) $draft(names, consts)"),
    "a marker alone": WHOLE.replace("(1.3)", "(1.3) $draft(names, consts)"),
    "comments": HALVED.replace("(silu(x)", "( /* in */ silu(x) // after\n"),
    "an input, and nothing of it": program(outputs="w").replace(
        "} -> (w)", "    w = const()[val = 1.0];\n        } -> (w)"
    ),
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


def test_settings_have_no_state_in_a_built_model(folder: Path) -> None:
    Path("pyproject.toml").write_text('[tool.miltext]\ndrafts = false\nignore = ["ALL"]\n')
    written(HALVED)
    assert run("build", "draft.mil", "-o", "Out.mlpackage").exit_code == 0
    written(HALVED.replace("silu(x)", "silu(z)"))
    assert "error[MIL604]" in run("build", "draft.mil", "-o", "Out.mlpackage", "--force").stderr
