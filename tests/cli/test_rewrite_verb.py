"""`miltext rewrite` and `miltext find` as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import Result
from support.rewritten_texts import DECOMPOSED_SOFTMAX
from support.running import RUNNER

import miltext
from miltext.cli import command
from miltext.rewriting.packaged import packaged


def run(*arguments: object) -> Result:
    return RUNNER.invoke(command, [*map(str, arguments)])


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.mil"
    path.write_text(DECOMPOSED_SOFTMAX, encoding="utf-8")
    return path


def test_a_dry_run_writes_nothing(model: Path) -> None:
    ended = run("rewrite", "softmax", "cast_pair", model, "--dry-run")
    assert ended.exit_code == 0
    assert ended.stdout.splitlines() == [
        "main/p: softmax replaced: exp real_div reduce_max reduce_sum sub -> softmax",
        "main/y_x: cast_pair replaced: 2 cast -> nothing",
        "softmax: 1 site replaced",
        "cast_pair: 1 site replaced",
        "2 replacements, 8 -> 2 operations",
    ]
    assert [*model.parent.iterdir()] == [model]


def test_a_model_is_written_and_verified(model: Path) -> None:
    output = model.with_name("New.mlpackage")
    ended = run("rewrite", "softmax", model, "-o", output, "--verify", "--json")
    made = json.loads(ended.stdout)
    assert (made["output"], made["verified"], made["operations"]) == (str(output), 1, {"before": 8, "after": 4})
    assert [op.type for op in miltext.Graph(miltext.load(output).program).walk() if not op.is_constant] == [
        "softmax", "cast", "cast", "relu",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["softmax"], 2, "name at least one rule, and the MODEL"),
        (["softmax", "{}"], 2, "name the model to write with -o"),
        (["softmax", "{}", "--dry-run", "-o", "o.mil"], 2, "leave out either --dry-run or -o"),
        (["--list", "--test"], 2, "leave the other options out"),
        (["--test"], 2, "name the rules to test"),
        (["sofmax", "{}", "--dry-run"], 1, "did you mean `softmax`"),
        (["nowhere.mil", "{}", "--dry-run"], 2, "does not exist"),
        (["softmax", "{}", "--dry-run", "--only", "nope"], 1, "no rule matches a site `nope`"),
    ],
)
def test_misuse(model: Path, arguments: list[str], status: int, message: str) -> None:
    ended = run("rewrite", *[each.replace("{}", str(model)) for each in arguments])
    assert ended.exit_code == status, ended.output
    assert message in ended.stderr


def test_rules_are_listed_by_line_and_described_by_name() -> None:
    lines = run("rewrite", "--list").stdout.splitlines()
    rules = [line for line in lines if line.startswith("  ")]
    assert [line.split()[0] for line in rules] == [rule.name for rule in packaged()]
    assert {line.split()[1] for line in rules} == {"exact", "bounds"}
    assert [line for line in lines if line not in rules][-2:] == ["stable.mil", "passes"]
    ended = run("rewrite", "--list", "softmax_wide_sum", "dead-code")
    described = ended.stdout.split("\n\n")
    assert [each.splitlines()[0] for each in described] == ["softmax_wide_sum (softmax.mil)", "dead-code (pass)"]
    assert all("  source: " in each and "  exactness: " in each for each in described)


def test_the_rules_are_listed_and_tested() -> None:
    listed = json.loads(run("rewrite", "--list", "--json").stdout)["rules"]
    assert "softmax" in [each["name"] for each in listed]
    assert all(each["exactness"] and each["source"] for each in listed)
    ended = run("rewrite", "--test", "identity")
    assert (ended.exit_code, ended.stdout[:18]) == (0, "identity: proven o")


def test_a_wrong_rule_fails_its_test(tmp_path: Path) -> None:
    path = tmp_path / "rules.mil"
    path.write_text(
        'program(1.3)[rules = "1"]\n{\n    func find_a(x) {\n y = relu(x);\n } -> (y);\n'
        "    func replace_a(x) {\n y = abs(x);\n } -> (y);\n"
        "    func example_a<ios17>(tensor<fp32, [2]> x) {\n y = relu(x);\n } -> (y);\n"
        "    func keep_a<ios17>(tensor<fp32, [2]> x) {\n y = relu(x);\n } -> (y);\n}\n",
        encoding="utf-8",
    )
    ended = run("rewrite", "--test", path)
    assert ended.exit_code == 1
    assert "a: FAILED" in ended.stdout
    assert "not as exact as declared" in ended.stdout


def test_a_broken_example_has_its_line(tmp_path: Path) -> None:
    path = tmp_path / "rules.mil"
    path.write_text(
        'program(1.3)[rules = "1"]\n{\n    func find_a(x) {\n y = relu(relu(x));\n } -> (y);\n'
        "    func replace_a(x) {\n y = relu(x);\n } -> (y);\n"
        "    func example_a<ios17>(tensor<fp32, [2]> x) {\n y = relu(relu(z));\n } -> (y);\n}\n",
        encoding="utf-8",
    )
    ended = run("rewrite", "--test", path)
    assert ended.exit_code == 1
    assert "example_a: line 10: " in ended.stdout


def test_find_over_a_folder(model: Path) -> None:
    model.with_name("other.mil").write_text(DECOMPOSED_SOFTMAX.replace("exp(", "exp2("), encoding="utf-8")
    ended = run("find", "softmax", model.parent, "--count")
    assert ended.stdout.splitlines() == [f"{model}: 1", f"{model.with_name('other.mil')}: 0"]
    [match] = json.loads(run("find", "softmax", model, "--json").stdout)["matches"]
    assert (match["value"], match["names"]["x"], match["path"]) == ("p", "x", str(model))
    model.with_name("wrong.mil").write_text("program(1.3) {", encoding="utf-8")
    ended = run("find", "softmax", model.parent, "--count")
    assert (ended.exit_code, len(ended.stdout.splitlines())) == (1, 2)
