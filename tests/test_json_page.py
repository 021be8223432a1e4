"""docs/json.md: its examples run, and what each verb writes is what its table says."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from conftest import EXAMPLE, ROOT
from support.commands import miltext
from support.followed_examples import Followed, expected
from support.followed_page import blocks
from support.json_schema import faults
from support.shell_lines import lines
from support.verbs import verbs

sys.path.insert(0, str(ROOT / "scripts"))
import make_json_schema

PAGE = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
SCHEMA = json.loads((ROOT / "docs" / "json.schema.json").read_text(encoding="utf-8"))
EXAMPLES = [line for block in blocks(PAGE) if block.language == "sh" for line in lines(block.text)]

UNTOLD = {
    *("print", "parse", "generate", "merge", "git", "textconv", "difftool", "mergedriver", "mergetool"),
    *("completion", "demo", "help", "lsp"),
}
"""The verbs whose output is what was asked for, and not what is told of it."""

BROKEN = "program(1.3)\n{\n    func main<ios18>(tensor<fp16, [2]> x) {\n        } -> (y)\n}\n"

FAILING = {
    "check": ["b.mil"],
    "fmt": ["b.mil"],
    "infer": ["b.mil"],
    "build": ["b.mil", "-o", "N.mlpackage"],
    "rename": ["b.mil", "x", "z", "-o", "N.mlpackage"],
    "expose": ["b.mil", "x", "-o", "N.mlpackage"],
    "reshape": ["b.mil", "x=3", "-o", "N.mlpackage"],
    "extract": ["b.mil", "x", "-o", "N.mlpackage"],
    "link": ["b.mil", "b.mil", "-o", "N.mlpackage"],
    "split": ["b.mil", "--parts", "2", "--dry-run"],
    "convert-weights": ["b.mil", "--to", "fp16", "-o", "N.mlpackage"],
    "rewrite": ["softmax", "b.mil", "--dry-run"],
    "optimize": ["b.mil", "--dry-run"],
    "find": ["softmax", "b.mil"],
    "placement": ["b.mil", "--profile", "ane-m4-macos27"],
    "reduce": ["b.mil", "--test", "true", "-o", "N.mlpackage"],
    "describe": ["b.mil"],
    "sidecar": ["b.mil"],
    "weights": ["b.mil"],
    "info": ["b.mil"],
    "size": ["b.mil"],
    "cost": ["b.mil"],
    "locate": ["b.mil", "99"],
    "run": ["b.mil", "--random"],
    "compare": ["b.mil", "b.mil"],
    "diff": ["b.mil", "b.mil"],
}
"""What each verb that reads a program is given, whose text is broken."""

ALSO_IN_FAILURES = {"fmt": {"files"}, "find": {"counts", "matches"}, "infer": {"output", "text"}, "sidecar": {"files"}}
"""What objects of failures have besides what the page says of all; it names these."""


def options(verb: click.Command) -> set[str]:
    return {name for each in verb.params for name in each.opts}


def told(verb: str, output: str) -> Any:
    """The object that a verb has written, which is what the page says of it."""
    found = json.loads(output, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
    assert list(faults(found, SCHEMA["$defs"][make_json_schema.part(verb)], SCHEMA)) == []
    return found


def test_the_schema_follows_from_the_page() -> None:
    assert make_json_schema.schema(PAGE) == SCHEMA


def test_a_link_can_name_each_part_of_the_schema() -> None:
    assert [name for name in SCHEMA["$defs"] if not name.replace("-", "_").isidentifier()] == []


def test_each_verb_with_results_has_a_json_form_and_a_section() -> None:
    formed = {name for name, verb in verbs().items() if "--json" in options(verb)}
    described = set(make_json_schema.tables(PAGE)) - {make_json_schema.EVERY}
    assert formed == described
    assert {name for name in verbs() if name and " " not in name} - formed == UNTOLD


@pytest.mark.skipif(os.name == "nt", reason="the examples are those of a Unix shell")
def test_each_example_writes_the_keys_of_its_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    followed = Followed(tmp_path)
    monkeypatch.chdir(followed.folder)
    formed = make_json_schema.tables(PAGE).keys()
    seen = set()
    for line in EXAMPLES:
        verb = next(name for name in formed if line.startswith(f"miltext {name} "))
        plain = line.partition(" | ")[0].partition(" > ")[0]
        status, output = followed.run(plain)
        assert status == expected(line), f"{line}\n{output}"
        assert told(verb, output)["form"] in (1, 2)
        seen.add(make_json_schema.part(verb))
    assert seen == SCHEMA["$defs"].keys() - {make_json_schema.FAILURE}


@pytest.mark.parametrize("verb", FAILING)
def test_errors_of_an_input_are_in_the_object(verb: str, tmp_path: Path) -> None:
    (tmp_path / "b.mil").write_text(BROKEN, encoding="utf-8")
    plain = miltext(verb, *FAILING[verb], cwd=tmp_path)
    ended = miltext(verb, *FAILING[verb], "--format", "json", cwd=tmp_path)
    found = told(verb, ended.stdout.decode())
    assert ended.returncode == plain.returncode > 0
    assert (ended.stderr, found["errors"] > 0) == (b"", True)
    assert {each["code"] for each in found["diagnostics"]} >= {"MIL010"}
    every = {key.way[0] for key in make_json_schema.tables(PAGE)[make_json_schema.EVERY]}
    assert found.keys() == every | ALSO_IN_FAILURES.get(verb, set())


@pytest.mark.parametrize(
    "words",
    [
        ("info", "missing.mlpackage"),
        ("explain", "MIL999"),
        ("ops", "no_such_operation"),
        ("fmt", "-"),
        ("build", "b.mil"),
        ("run", "b.mil", "-o", "-"),
    ],
    ids=" ".join,
)
def test_errors_of_a_command_are_messages(words: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "b.mil").write_text(BROKEN, encoding="utf-8")
    ended = miltext(*words, "--format", "json", cwd=tmp_path, input=b"")
    assert (ended.returncode, ended.stdout, ended.stderr != b"") == (2, b"", True)


def test_numbers_that_json_lacks_are_strings(tmp_path: Path) -> None:
    text = BROKEN.replace("tensor<fp16, [2]> x", "").replace("{\n        }", "{ y = log(fp32(0.0), epsilon = 0.0); }")
    text = text.replace("(y)", "(y);")
    (tmp_path / "a.mil").write_text(text, encoding="utf-8")
    ended = miltext("run", "a.mil", "--format", "json", cwd=tmp_path)
    (output,) = told("run", ended.stdout.decode())["outputs"]
    assert (output["value"], output["min"], output["inf"]) == ("-inf", None, 1)


def test_results_before_a_failure_are_reported(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE, tmp_path / "A.mlpackage")
    (tmp_path / "b.mil").write_text(BROKEN, encoding="utf-8")
    ended = miltext("sidecar", "A.mlpackage", "b.mil", "--format", "json", cwd=tmp_path)
    found = told("sidecar", ended.stdout.decode())
    assert (ended.returncode, ended.stderr, found["errors"]) == (1, b"", 1)
    assert found["files"] == [{"path": "A.mlpackage.mil", "model": "A.mlpackage", "status": "written"}]
    assert (tmp_path / "A.mlpackage.mil").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are Unicode elsewhere")
def test_names_that_are_not_unicode_are_text_all_the_same(tmp_path: Path) -> None:
    name = os.fsdecode(b"\xff.mil")
    (tmp_path / name).write_text(BROKEN.replace("(y)", "(x);"), encoding="utf-8")
    assert told("info", miltext("info", name, "--format", "json", cwd=tmp_path).stdout.decode())["name"] == "\ufffd.mil"


def test_quiet_leaves_the_object_whole(tmp_path: Path) -> None:
    (tmp_path / "a.mil").write_text(BROKEN.replace("(y)", "(x);"), encoding="utf-8")
    one, other = (miltext("check", *quiet, "a.mil", "--format", "json", cwd=tmp_path) for quiet in ([], ["--quiet"]))
    assert (one.stdout, one.returncode) == (other.stdout, other.returncode)


def test_json_is_the_same_as_format_json(tmp_path: Path) -> None:
    (tmp_path / "a.mil").write_text(BROKEN.replace("(y)", "(x);"), encoding="utf-8")
    for words in (("info", "a.mil"), ("run", "a.mil", "--random"), ("compare", "a.mil", "a.mil"), ("check", "a.mil")):
        one, other = (miltext(*words, *form, cwd=tmp_path).stdout for form in (["--json"], ["--format", "json"]))
        assert one == other != b""


def test_each_verb_has_the_short_forms_of_its_formats() -> None:
    for name, verb in verbs().items():
        choices = [
            each.type.choices for each in verb.params if "--format" in each.opts and hasattr(each.type, "choices")
        ]
        short = {f"--{form}" for form in ("json", "html") if choices and form in choices[0]}
        assert {"--json", "--html"} & options(verb) == short, name


def test_one_format_is_chosen(tmp_path: Path) -> None:
    (tmp_path / "a.mil").write_text(BROKEN.replace("(y)", "(x);"), encoding="utf-8")
    for words in (["--json", "--html"], ["--format", "text", "--json"], ["--html", "--format", "markdown"]):
        done = miltext("diff", "a.mil", "a.mil", *words, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, b"")
        assert b"the output has one format, not " in done.stderr
    for words in (["--json", "--json"], ["--format", "json", "--json"], ["--json", "--format=json"]):
        assert told("diff", miltext("diff", "a.mil", "a.mil", *words, cwd=tmp_path).stdout.decode())
