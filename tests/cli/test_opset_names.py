"""Verbs on models whose Program contains a name of texts for an opset: each reads it as the opset of that name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.draft_builds import program, run

import miltext
from miltext.schema.proto import Program

TEXT = program(
    'tensor<fp16, [2, 3]> a = relu(x = x)[name = string("a")];',
    'tensor<fp16, [2, 3]> y = tanh(x = a)[name = string("y")];',
    opset="ios19",
)

FORMS = {"both": ("ios19", "ios19"), "function": ("ios26", "CoreML9"), "block": ("CoreML9", "ios19")}

VERBS = {
    "print": ("print M.mlpackage", 0),
    "print --draft": ("print M.mlpackage --draft", 0),
    "print --html": ("print M.mlpackage --html -o out.html", 0),
    "print --as-coremlc": ("print M.mlpackage --as-coremlc", 0),
    "print --compact": ("print M.mlpackage --compact", 0),
    "parse": ("parse M.mil --to pb -o out.pb", 0),
    "fmt": ("fmt M.mil", 0),
    "check": ("check M.mlpackage", 1),
    "check a text": ("check M.mil", 1),
    "infer": ("infer M.mil -o out.mil", 0),
    "infer --all": ("infer --all M.mil -o out.mil", 0),
    "build": ("build M.mil -o Out.mlpackage", 0),
    "build --from": ("build M.mil --from M.mlpackage -o Out.mlpackage", 0),
    "build from plain": ("build M.mil --from Plain.mlpackage -o Out.mlpackage", 0),
    "build of it": ("build Plain.mil --from M.mlpackage -o Out.mlpackage", 0),
    "build a copy": ("build M.mlpackage -o Out.mlpackage", 0),
    "compile": ("build M.mlpackage -o Out.mlmodelc --allow-unproven", 0),
    "describe": ("describe M.mlpackage", 0),
    "info": ("info M.mlpackage", 0),
    "rename": ("rename M.mlpackage x z -o Out.mlpackage", 0),
    "expose": ("expose M.mlpackage a -o Out.mlpackage", 0),
    "reshape": ("reshape M.mlpackage x=4,5 -o Out.mlpackage", 0),
    "convert": ("convert-weights M.mlpackage --to fp32 --io -o Out.mlpackage", 0),
    "extract": ("extract M.mlpackage a -o Out.mlpackage", 0),
    "placement": ("placement M.mlpackage --profile ane-m4-macos27", 0),
    "reduce": ("reduce M.mlpackage --test true -o Out.mlpackage", 0),
    "run": ("run M.mlpackage --random", 0),
    "compare": ("compare M.mlpackage Plain.mlpackage", 0),
    "diff": ("diff M.mlpackage Plain.mlpackage", 1),
    "diff --breaking": ("diff --breaking Plain.mlpackage M.mlpackage", 0),
    "merge": ("merge M.mil Plain.mil Changed.mil -o out.mil", 0),
    "sidecar": ("sidecar M.mlpackage", 0),
}


@pytest.fixture(params=FORMS)
def odd(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    """A Program with names of texts; beside it are its model and text, and those of the usual Program."""
    monkeypatch.chdir(tmp_path)
    made = miltext.parse(TEXT)
    main = made.functions["main"]
    block = main.block_specializations.pop("CoreML9")
    main.opset, key = FORMS[request.param]
    main.block_specializations[key].CopyFrom(block)
    for name, each in (("M", made), ("Plain", miltext.parse(TEXT))):
        Path(f"{name}.mil").write_text(miltext.to_text(each), encoding="utf-8")
        assert run("build", f"{name}.mil", "-o", f"{name}.mlpackage").exit_code == 0
    Path("Changed.mil").write_text(Path("M.mil").read_text().replace("tanh", "sigmoid"), encoding="utf-8")
    return made


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_reads_it_as_the_opset(verb: str, odd: Program) -> None:
    words, status = VERBS[verb]
    done = run(*words.split())
    assert (done.exit_code, "unknown opset" in done.output) == (status, False), done.output


def test_a_model_keeps_the_name_and_its_specification(odd: Program) -> None:
    model = miltext.load("M.mlpackage")
    assert (model.program, model.specification_version) == (odd, 10)
    for words in (
        "build M.mlpackage -o Copy.mlpackage",
        "build M.mil --from Plain.mlpackage -o Copy.mlpackage --force",
    ):
        assert run(*words.split()).exit_code == 0
        assert miltext.load("Copy.mlpackage").program == odd


def test_an_edit_keeps_the_name(odd: Program) -> None:
    for words in ("rename M.mlpackage a b", "expose M.mlpackage a", "reshape M.mlpackage x=4,5"):
        assert run(*words.split(), "-o", "Out.mlpackage", "--force").exit_code == 0
        main, was = miltext.load("Out.mlpackage").program.functions["main"], odd.functions["main"]
        assert (main.opset, [*main.block_specializations]) == (was.opset, [*was.block_specializations])


def test_a_difference_names_the_opsets_and_pairs_the_rest(odd: Program) -> None:
    done = run("diff", "M.mlpackage", "Plain.mlpackage", "--format", "json")
    (function,) = json.loads(done.stdout)["functions"]
    assert {each["kind"] for each in function["changes"]} == {"opset"}
    assert function["blocks"] == []


def test_blocks_of_several_opsets_pair_by_any_name(tmp_path: Path) -> None:
    text = TEXT.replace(
        "} -> (y);", "} -> (y)\n        $block<ios18> {\n            y = tanh(x = x);\n        } -> (y);"
    )
    old = miltext.parse(miltext.infer_draft(text))
    new = miltext.parse(miltext.infer_draft(text.replace("<ios18>", '<$"ios18">')))
    (function,) = miltext.diff(old, new).functions
    assert [(each.kind, each.old, each.new) for each in function.changes] == [("opset", "ios18", '$"ios18"')]
    assert [each for each in function.blocks if each.status != "changed" or each.changed] == []


def test_compiling_and_building_back_keeps_the_opset(odd: Program) -> None:
    done = run("build", "M.mlpackage", "-o", "C.mlmodelc", "--allow-unproven")
    assert (done.exit_code, "MIL210" in done.stderr) == (0, True)
    assert run("build", "C.mlmodelc", "-o", "Back.mlpackage").exit_code == 0
    assert miltext.load("Back.mlpackage").program.functions["main"].opset == "CoreML9"
    systems = json.loads(Path("C.mlmodelc/metadata.json").read_text())[0]["availability"]
    assert [systems[each] for each in ("iOS", "macOS", "visionOS")] == ["19.0", "16.0", "3.0"]


def test_a_merge_takes_a_change_beside_another_name(odd: Program) -> None:
    assert run("merge", "M.mil", "Plain.mil", "Changed.mil", "-o", "out.mil").exit_code == 0
    assert miltext.parse(Path("out.mil").read_text()) == miltext.parse(TEXT.replace("tanh", "sigmoid"))
