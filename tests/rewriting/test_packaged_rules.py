"""The packaged rules: each states its facts, and is proven on its examples and on programs near to these."""

from __future__ import annotations

import pytest

from miltext.rewriting.packaged import library, rules_of
from miltext.rewriting.rule_files import RewriteRule
from miltext.rewriting.trying import try_rule

RULES = [rule for file in library().values() for rule in file.rules]


def test_enough_rules_have_distinct_names() -> None:
    names = [rule.name for rule in RULES]
    assert len(names) >= 25
    assert len({*names}) == len(names)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_is_proven(rule: RewriteRule) -> None:
    made = try_rule(rule)
    assert made.failures == []
    assert made.examples
    assert made.keeps
    assert made.inputs >= 16
    assert made.changed > made.rewritten > 0


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_states_its_facts(rule: RewriteRule) -> None:
    assert rule.replacement is not None
    assert rule.source
    assert rule.purpose
    assert rule.systems


def test_a_rule_is_found_by_its_name_and_its_files_name() -> None:
    assert [rule.name for rule in rules_of("softmax_wide_sum")] == ["softmax_wide_sum"]
    assert [rule.name for rule in rules_of(["casts", "cast_pair"])] == ["cast_pair", "cast_to_itself"]
