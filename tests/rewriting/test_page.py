"""docs/rewrite.md: its rules are read, and its whole rule is proven."""

from __future__ import annotations

from pathlib import Path

from conftest import ROOT
from support.followed_page import blocks

from miltext.rewriting.packaged import packaged, passes, patterns, rules_of
from miltext.rewriting.trying import try_rule

PAGE = (ROOT / "docs" / "rewrite.md").read_text(encoding="utf-8")
RULES = [block.text for block in blocks(PAGE) if "find_" in block.text and block.language.startswith("mil")]


def test_the_rule_in_python_is_proven(tmp_path: Path) -> None:
    [text] = [block.text for block in blocks(PAGE) if (block.language, block.word) == ("python", "rule")]
    (tmp_path / "rules.py").write_text(text, encoding="utf-8")
    [rule] = rules_of(tmp_path / "rules.py", run=True)
    made = try_rule(rule)
    assert (made.failures, made.examples, made.keeps) == ([], 1, 1)
    assert made.rewritten > 0


def test_the_rule_of_the_page_is_proven() -> None:
    [[gate], [last]] = [patterns(rules_of(text)) for text in RULES]
    made = try_rule(gate)
    assert (made.failures, made.examples, made.keeps) == ([], 1, 1)
    assert last.replacement is None


def test_the_changelog_states_the_number_of_packaged_rules() -> None:
    changes = " ".join((ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split())
    assert f" {len(packaged()) - len(passes())} rules are packaged." in changes
