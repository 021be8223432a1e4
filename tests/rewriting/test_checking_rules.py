"""Rule files are checked as rule files by `check` and the server: rules, examples and near misses, with places."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.running import RUNNER

import miltext
from miltext.cli import command
from miltext.rewriting.checking_rules import rule_findings
from miltext.rewriting.packaged import library

GOOD = """\
program(1.3)[rules = "1"]
{
    func find_gate(x)[where = "rank(x) == 2"] {
            y = mul(x, sigmoid(x));
        } -> (y);
    func replace_gate(x) {
            y = silu(x);
        } -> (y);
    func example_gate<ios17>(tensor<fp32, [2, 4]> x) {
            y = mul(sigmoid(x), x);
        } -> (y);
    func keep_gate<ios17>(tensor<fp32, [2, 4]> x) {
            y = mul(x, tanh(x));
        } -> (y);
}
"""


def findings(text: str) -> list[tuple[str, str]]:
    """The code of each finding, and what is at its place."""
    return [(each.code, text[each.span.start : each.span.end]) for each in miltext.check(text) if each.span]


def test_a_right_file_has_no_findings() -> None:
    assert miltext.check(GOOD) == []


@pytest.mark.parametrize("name", library())
def test_the_packaged_files_have_no_findings(name: str) -> None:
    assert rule_findings(library()[name].text) == []


@pytest.mark.parametrize(
    ("old", "new", "code", "place"),
    [
        ("silu(x)", "silux(x)", "MIL870", "y = silux(x);"),
        ("silu(x)", "silu(y = x)", "MIL870", "y = x"),
        ("mul(x, sigmoid(x))", "mul(x, sigmod(x))", "MIL870", "sigmod(x)"),
        ("rank(x) == 2", "rank(q) == 2", "MIL870", 'where = "rank(q) == 2"'),
        ('rules = "1"', 'rules = "2"', "MIL870", 'rules = "2"'),
        ("mul(sigmoid(x), x)", "mul(sigmod(x), x)", "MIL501", "sigmod"),
        ("mul(x, tanh(x))", "mul(x, tanh(z))", "MIL604", "z"),
        ("mul(x, tanh(x));", "mul(x, tanh(x);", "MIL010", ";"),
    ],
)
def test_a_mistake_has_its_place(old: str, new: str, code: str, place: str) -> None:
    assert old in GOOD
    assert (code, place) in findings(GOOD.replace(old, new, 1))


def test_the_mistakes_of_several_functions_are_reported_at_once() -> None:
    wrong = GOOD.replace("silu(x)", "silux(x)").replace("keep_gate", "keep_nothing")
    assert findings(wrong.replace("find_gate(x)", "find_gate(x, x2)")) == [
        ("MIL870", "y = silux(x);"),
        ("MIL870", wrong[wrong.index("func keep_nothing") : -3]),
    ]


def test_other_texts_are_no_rule_files() -> None:
    for text in ("", "rules", "program(1.3) { func rules<ios17>(tensor<fp32, [2]> x) { y = relu(x); } -> (y); }"):
        assert rule_findings(text) is None
    assert rule_findings(None) is None


def test_the_verb(tmp_path: Path) -> None:
    (tmp_path / "rules.mil").write_text(GOOD.replace("silu(x)", "silux(x)"), encoding="utf-8")
    ended = RUNNER.invoke(command, ["check", str(tmp_path), "--json"])
    assert ended.exit_code == 1
    [found] = json.loads(ended.stdout)["diagnostics"]
    assert (found["code"], found["start"]["line"]) == ("MIL870", 7)
    (tmp_path / "rules.mil").write_text(GOOD, encoding="utf-8")
    assert RUNNER.invoke(command, ["check", str(tmp_path)]).exit_code == 0
