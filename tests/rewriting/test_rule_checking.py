"""Rule files where `check` or another verb meets them."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import Result
from support.running import RUNNER

import miltext
from miltext.advisories.table import PATH
from miltext.cli import command
from miltext.parsing.rule_texts import is_rule_file
from miltext.rewriting.packaged import library
from miltext.rewriting.rule_checking import rule_findings

RULES = """\
// rules of this project
program(1.3)[source = "here", rules = "1"]
{
    func find_twice(x)[where = "rank(x) == 2"] {
            y = relu(relu(x));
        } -> (y);
    func replace_twice(x) {
            y = relu(x);
        } -> (y);
    func example_twice<ios17>(tensor<fp16, [2, 4]> x) {
            y = relu(relu(x));
        } -> (y);
    func find_thrice(x) {
            y = exp(exp(x));
        } -> (y);
}
"""

PROGRAM = (
    "program(1.3)\n{\n    func main<ios17>(tensor<fp16, [2]> x) {\n            y = relu(x);\n        } -> (y);\n}\n"
)

WRONG = {
    "a pattern": ("relu(relu(x));", "relu(rellu(x));", "MIL870", 5),
    "a replacement": ("y = relu(x);", "y = relu(z = x);", "MIL870", 8),
    "a condition": ("rank(x) == 2", "rank(q) == 2", "MIL870", 4),
    "an example": ("[2, 4]> x", "[2, 4]> q", "MIL604", 11),
    "the syntax": ("exp(exp(x));", "exp(exp(x);", "MIL010", 14),
    "the version": ('rules = "1"', 'rules = "2"', "MIL870", 2),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rules.mil").write_text(RULES, encoding="utf-8")
    (tmp_path / "model.mil").write_text(PROGRAM, encoding="utf-8")
    return tmp_path


def run(*arguments: object) -> Result:
    return RUNNER.invoke(command, [*map(str, arguments)])


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        (RULES, True),
        (RULES.replace("rules = ", "rules="), True),
        (RULES.replace("relu(", "relu(("), True),
        (PROGRAM, False),
        (PROGRAM.replace("x)", "rules)"), False),
        (PROGRAM.replace("program", "// [rules = 1]\nprogram"), False),
        (PROGRAM.replace("relu(x)", 'relu(x)[name = "rules"]'), False),
        ("rules", False),
        ("", False),
    ],
)
def test_a_rule_file_is_known_by_its_attribute(text: str, is_one: bool) -> None:
    assert is_rule_file(text) is is_one


@pytest.mark.parametrize("name", library())
def test_the_packaged_files_have_no_findings(name: str) -> None:
    assert rule_findings(library()[name].text) == []


def test_packaged_rules_are_right(folder: Path) -> None:
    assert miltext.check(PATH) == []
    ended = run("check", folder)
    assert (ended.exit_code, ended.stderr.splitlines()[-1]) == (0, "nothing found in 1 program and 1 rule file")
    assert "nothing found in 1 rule file" in run("check", folder / "rules.mil", "--fix").stderr


@pytest.mark.parametrize("case", WRONG)
def test_mistakes_are_found(case: str, folder: Path) -> None:
    old, new, code, line = WRONG[case]
    path = folder / "rules.mil"
    path.write_text(RULES.replace(old, new, 1), encoding="utf-8")
    found = miltext.check(path)
    assert found == miltext.check(path.read_text(encoding="utf-8"), path=str(path))
    assert [each.code for each in found] == [code]
    ended = run("check", folder)
    assert ended.exit_code == 1
    assert f"rules.mil:{line}:" in ended.stdout
    assert (run("check", folder, "--ignore", code).exit_code == 0) is (code == "MIL870")


def test_the_mistake_of_each_rule_is_found() -> None:
    text = RULES.replace("relu(relu(x));", "relu(rellu(x));", 1).replace("exp(exp(x));", "exp(expp(x));")
    assert [each.code for each in miltext.check(text)] == ["MIL870"] * 2
    ignored = text.replace("rellu(x));", "rellu(x));  // mil: ignore[MIL870]")
    assert len(miltext.check(ignored)) == 1


@pytest.mark.parametrize(
    ("old", "new", "code", "place"),
    [
        ("y = relu(x);", "y = rellu(x);", "MIL870", "y = rellu(x);"),
        ("y = relu(x);", "y = relu(y = x);", "MIL870", "y = x"),
        ("relu(relu(x))", "relu(rellu(x))", "MIL870", "rellu(x)"),
        ("rank(x) == 2", "rank(q) == 2", "MIL870", 'where = "rank(q) == 2"'),
        ('rules = "1"', 'rules = "2"', "MIL870", 'rules = "2"'),
        ("[2, 4]> x", "[2, 4]> q", "MIL604", "x"),
        ("exp(exp(x));", "exp(exp(x);", "MIL010", ";"),
    ],
)
def test_a_mistake_has_its_place(old: str, new: str, code: str, place: str) -> None:
    assert old in RULES
    text = RULES.replace(old, new, 1)
    [found] = miltext.check(text)
    assert found.span is not None
    assert (found.code, text[found.span.start : found.span.end]) == (code, place)


def test_the_mistakes_of_several_functions_are_reported_in_order() -> None:
    text = RULES.replace("y = relu(x);", "y = rellu(x);").replace("example_twice", "example_none")
    found = miltext.check(text.replace("exp(exp(x));", "exp(expp(x));"))
    assert [each.message.split(":")[0] for each in found] == [
        "there is no operation `rellu`; did you mean `relu`?",
        "`example_none` belongs to no rule",
        "there is no operation `expp`; did you mean `exp`?",
    ]


def test_a_mistake_in_a_shared_replacement_is_reported_once() -> None:
    again = (
        'func find_again(x)[by = "twice"] {\n            y = tanh(tanh(x));\n        } -> (y);\n    func replace_twice'
    )
    text = RULES.replace("func replace_twice", again).replace("y = relu(x);", "y = rellu(x);")
    assert [each.code for each in miltext.check(text)] == ["MIL870"]


LONG = """\
program(1.3)[rules = string("1")]
{
    func find_a<ios15>(tensor<fp16, [2]> x) {
            tensor<fp16, [2]> y = relu(x = x)[name = string("y")];
        } -> (y);
    func example_a<ios15>(tensor<fp16, [2]> x) {
            tensor<fp16, [2]> y = relu(x = x)[name = string("y")];
        } -> (y);
}
"""


def test_a_rule_file_in_the_long_spelling_is_one() -> None:
    assert is_rule_file(LONG)
    assert miltext.check(LONG) == []
    assert [each.code for each in miltext.check(LONG.replace("find_a", "fnd_a"))] == ["MIL870"] * 2


@pytest.mark.parametrize(
    "arguments",
    [
        "optimize {} --dry-run",
        "optimize {} -o New.mlpackage",
        "rewrite softmax {} --dry-run",
        "find softmax {}",
        "info {}",
        "print {}",
        "infer {}",
        "run {}",
        "build {} -o New.mlpackage",
        "reshape {} x=3 -o New.mil",
        "describe {}",
    ],
)
def test_a_program_is_needed(arguments: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    ended = run(*arguments.replace("{}", "rules.mil").split())
    assert ended.exit_code == 1, ended.output
    assert "error[MIL875]: this is a rule file, not a program" in ended.stderr
    assert ended.stderr.count("error[") == 1
    assert sorted(path.name for path in folder.iterdir()) == ["model.mil", "rules.mil"]


def test_a_search_in_a_folder_passes_rule_files_over(folder: Path) -> None:
    ended = run("find", folder / "rules.mil", folder, "--count")
    assert (ended.exit_code, ended.stdout) == (0, f"{folder / 'model.mil'}: 0\n")
