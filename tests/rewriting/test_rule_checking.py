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
    assert "error[MIL875]: this is a rule file, not a program" in ended.output
    assert ended.output.count("error[") == 1
    assert sorted(path.name for path in folder.iterdir()) == ["model.mil", "rules.mil"]


def test_a_search_in_a_folder_passes_rule_files_over(folder: Path) -> None:
    ended = run("find", folder / "rules.mil", folder, "--count")
    assert (ended.exit_code, ended.stdout) == (0, f"{folder / 'model.mil'}: 0\n")
