"""The setting `rules`: matches of rules as notes of `check`, and mistakes in the setting and in its rules."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.rewritten_texts import DECOMPOSED_SOFTMAX
from support.running import RUNNER

import miltext
from miltext.cli import command

OWN = """\
program(1.3)[rules = "1"]
{
    func find_own(x) {
            y = relu(x);
        } -> (y);
}
"""


def found(folder: Path, rules: list[str], text: str = DECOMPOSED_SOFTMAX) -> list[tuple[str, str, str]]:
    """The code, the place and the message of each finding about rules."""
    (folder / "pyproject.toml").write_text(f"[tool.miltext]\nrules = {json.dumps(rules)}\n", encoding="utf-8")
    (folder / "m.mil").write_text(text, encoding="utf-8")
    ended = RUNNER.invoke(command, ["check", str(folder / "m.mil"), "--json"])
    lines = text.splitlines()
    return [
        (each["code"], lines[each["start"]["line"] - 1][each["start"]["column"] - 1 :], each["message"])
        for each in json.loads(ended.stdout)["diagnostics"]
        if each["code"] != "MIL712"
    ]


def test_matches_of_packaged_rules_and_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "own.mil").write_text(OWN, encoding="utf-8")
    assert [each[:2] for each in found(tmp_path, ["softmax", "casts", "own.mil"])] == [
        ("MIL874", "real_div(e, reduce_sum(e, [-1], keep_dims = true));"),
        ("MIL874", 'relu(cast(cast(p, "fp32"), "fp16"));'),
        ("MIL874", 'cast(cast(p, "fp32"), "fp16"));'),
    ]
    whole = miltext.infer_draft(DECOMPOSED_SOFTMAX)
    assert [each[0] for each in found(tmp_path, ["softmax", "own.mil"], whole)] == ["MIL874", "MIL874"]
    assert found(tmp_path, []) == []


def test_notes_are_not_failures(tmp_path: Path) -> None:
    found(tmp_path, ["softmax"])
    assert RUNNER.invoke(command, ["check", str(tmp_path / "m.mil")]).exit_code == 0


@pytest.mark.parametrize(
    ("rules", "code", "message"),
    [
        (["sofmax"], "MIL873", "there is no rule `sofmax`; did you mean `softmax`?"),
        (["none.mil"], "MIL250", "none.mil: the file or folder does not exist"),
        (["wrong.mil"], "MIL870", "wrong.mil: there is no operation `rellu`; did you mean `relu`?"),
        (["dead-code"], "MIL873", "`dead-code` is a pass, which has no pattern"),
    ],
)
def test_a_mistake_in_the_rules_is_an_error(tmp_path: Path, rules: list[str], code: str, message: str) -> None:
    (tmp_path / "wrong.mil").write_text(OWN.replace("relu", "rellu"), encoding="utf-8")
    [(found_code, _, said)] = found(tmp_path, rules)
    assert found_code == code
    assert said.endswith(message)


def test_rules_in_python_are_refused_without_running_them(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("raise SystemExit(3)\n", encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text('[tool.miltext]\nrules = ["own.py"]\n', encoding="utf-8")
    (tmp_path / "m.mil").write_text(DECOMPOSED_SOFTMAX, encoding="utf-8")
    ended = RUNNER.invoke(command, ["check", str(tmp_path / "m.mil")])
    assert ended.exit_code == 2
    assert "MIL462" in ended.stderr
    assert "whose code is run by `miltext rewrite` alone" in ended.stderr
