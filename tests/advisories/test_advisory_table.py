"""The table of advisories: each has a source, a program that triggers it, a near miss, and a rule that avoids it."""

from __future__ import annotations

import re
import sys

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "scripts"))

import make_advisories_page

import miltext
from miltext.advisories.advising import advise
from miltext.advisories.table import CHOICES, CONSEQUENCES, SEEN, USUAL, Advisory, advisories, table_file
from miltext.drafting.draft import Draft
from miltext.rewriting.packaged import rules_of
from miltext.schema.proto import Program

ADVISORIES = advisories()
RULES = {rule.name: rule for rule in table_file().rules}


def program(name: str) -> Program:
    return Draft(table_file().alone(name)).model.program


def found(*chosen: Advisory, name: str) -> list[str]:
    return [each.message for each in advise(chosen, program(name), None)]


def test_the_table_has_enough_rows_in_order_of_severity() -> None:
    assert len(ADVISORIES) >= 12
    assert len({each.name for each in ADVISORIES}) == len(ADVISORIES)
    codes = [each.code for each in ADVISORIES]
    assert codes == sorted(codes)
    assert {*codes} == {*CONSEQUENCES.values()} == {"MIL881", "MIL882", "MIL883", "MIL884"}


def test_a_check_reads_the_patterns_alone() -> None:
    assert [each.rule.name for each in ADVISORIES] == [
        rule.name for rule in sorted(RULES.values(), key=lambda rule: CONSEQUENCES[rule.advice["consequence"]])
    ]
    for each in ADVISORIES:
        whole = RULES[each.name]
        assert (each.rule.advice, each.rule.examples, each.rule.keeps) == (whole.advice, (), ())
        assert [op.type for op in each.rule.pattern.ops] == [op.type for op in whole.pattern.ops]
        assert len(each.rule.unless) == len(whole.unless)


def test_the_usual_ones_do_not_depend_on_one_device() -> None:
    usual = advisories(USUAL)
    assert {each.seen for each in usual} == {"any", "several"}
    assert {each.seen for each in {*ADVISORIES} - {*usual}} == {"one"}
    assert [each for each in ADVISORIES if each in usual] == [*usual]


def test_another_choice_is_refused() -> None:
    with pytest.raises(ValueError, match=" or ".join(map(repr, CHOICES))):
        advisories("some")


@pytest.mark.parametrize("advisory", ADVISORIES, ids=lambda each: each.name)
def test_an_advisory_states_its_facts(advisory: Advisory) -> None:
    assert advisory.seen in SEEN
    assert advisory.systems
    assert advisory.versions
    assert advisory.sources
    for source in advisory.sources:
        assert re.fullmatch(r"https://github\.com/[\w.-]+/[\w.-]+/(?:(?:issues|pull)/\d+|blob/\S+)", source)
    assert not advisory.message.endswith(".")


@pytest.mark.parametrize("advisory", ADVISORIES, ids=lambda each: each.name)
def test_its_programs_trigger_it_and_its_near_misses_do_not(advisory: Advisory) -> None:
    rule = RULES[advisory.name]
    assert rule.examples
    assert rule.keeps
    for name in rule.examples:
        assert found(advisory, name=name) == [advisory.message]
        assert [each.severity for each in miltext.check(program(name)) if each.severity == "error"] == []
    for name in rule.keeps:
        assert found(advisory, name=name) == []


@pytest.mark.parametrize("advisory", [each for each in ADVISORIES if each.fix], ids=lambda each: each.name)
def test_its_rule_avoids_it(advisory: Advisory) -> None:
    assert [rule.name for rule in rules_of(advisory.fix)]
    for name in RULES[advisory.name].examples:
        done = miltext.rewrite(program(name), advisory.fix, verify=True)
        assert done.replaced
        assert advise((advisory,), done.program, None) == []


def test_no_rule_makes_the_pattern_of_an_advisory() -> None:
    """Else a fix would lead from one fault to another."""
    for advisory in ADVISORIES:
        for name in RULES[advisory.name].examples if advisory.fix else ():
            before = found(*ADVISORIES, name=name)
            done = miltext.rewrite(program(name), advisory.fix)
            after = [each.message for each in advise(ADVISORIES, done.program, None)]
            assert {*after} < {*before}


def test_the_page_is_current() -> None:
    written = make_advisories_page.PAGE.read_text(encoding="utf-8")
    assert written == make_advisories_page.page(), "run scripts/make_advisories_page.py"
