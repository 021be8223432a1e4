"""The accessors of a tree: each row fits the rules of the grammar that it reads."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from itertools import product

import pytest
from conftest import ROOT
from lark.grammar import Rule, Symbol

from miltext.syntax import phrases
from miltext.syntax.lexer import STATEMENTS
from miltext.syntax.phrases import At, Every, Only, Optional
from miltext.syntax.tables import fast_lark_parser, load_grammar
from miltext.syntax.tree import Statement, tree_of

Child = frozenset[str]
"""The names that a child of a phrase may have: the callbacks of one symbol's rules."""

ROWS = {name: row for name, row in vars(phrases).items() if isinstance(row, Every | Optional | Only)}
MARKS = {terminal.name for terminal in load_grammar().terminals if terminal.literal}


@cache
def rules() -> list[Rule]:
    return [rule for rule in fast_lark_parser().rules if rule.alias != "plain_operation"]


def called(rule: Rule) -> str:
    return str(rule.alias or rule.origin.name)


def expanded(symbol: Symbol, around: tuple[str, ...]) -> Iterator[tuple[Child, ...]]:
    """Yield the children that a symbol may become: several where its rule has no phrase of its own."""
    own = [rule for rule in rules() if not symbol.is_term and rule.origin == symbol]
    if symbol.is_term:
        yield (frozenset([symbol.name]),)
    elif not symbol.name.startswith("_"):
        yield (frozenset(map(called, own)),)
    elif around.count(symbol.name) < 2:
        for rule in own:
            yield from spelled(rule, (*around, symbol.name))


def spelled(rule: Rule, around: tuple[str, ...] = ()) -> Iterator[tuple[Child, ...]]:
    for found in product(*(list(expanded(symbol, around)) for symbol in rule.expansion)):
        yield tuple(child for part in found for child in part)


@cache
def children(name: str) -> list[tuple[Child, ...]]:
    """Return the children that phrases of a name may have, repetitions at most twice inside each other."""
    return [found for rule in rules() if called(rule) == name for found in spelled(rule)]


def counted(found: tuple[Child, ...], names: frozenset[str]) -> int:
    return sum(not child.isdisjoint(names) for child in found)


@pytest.mark.parametrize("name", ROWS)
def test_a_row_fits_the_rules_it_reads(name: str) -> None:
    row = ROWS[name]
    assert row.of
    for rule in row.of:
        assert children(rule), f"{rule} is no rule"
    names = row.within or row.names
    reached: set[str] = set()
    for rule in row.of:
        counts = {counted(found, names) for found in children(rule)}
        assert max(counts) > 0, f"{rule} has no {sorted(names)}"
        assert isinstance(row, Every) or max(counts) == 1
        assert not isinstance(row, Only) or counts == {1}
        reached |= {each for found in children(rule) for child in found for each in child & names}
        halves = [child for found in children(rule) for child in found if child & names and child - names]
        assert not halves, "alternatives of one symbol belong to one row"
    assert reached == names


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row.within])
def test_a_row_takes_all_items_of_its_list(name: str) -> None:
    row = ROWS[name]
    for rule in row.within:
        items = {each for found in children(rule) for child in found for each in child if not child <= MARKS}
        assert items <= row.names
    assert row.names <= {each for rule in row.within for found in children(rule) for child in found for each in child}


@pytest.mark.parametrize(("row", "around"), [(phrases.held, {("EQUAL",), ()}), (phrases.contents, {("LPAR", "RPAR")})])
def test_a_row_by_index_has_the_same_neighbours(row: At, around: set[tuple[str, ...]]) -> None:
    found: set[tuple[str, ...]] = set()
    for spelling in (spelling for rule in row.of for spelling in children(rule)):
        place = row.index % len(spelling)
        beside = [*spelling[max(place - 1, 0) : place], *spelling[place + 1 :]]
        found.add(tuple(name for child in beside for name in child))
    assert found == around


SETS = {name: found for name, found in vars(phrases).items() if name.isupper() and isinstance(found, frozenset)}


@pytest.mark.parametrize("name", SETS)
def test_a_set_of_rules_names_rules_and_terminals(name: str) -> None:
    known = {called(rule) for rule in rules()} | {terminal.name for terminal in load_grammar().terminals}
    assert SETS[name] <= known


def test_a_plain_operation_is_not_read_for_parts_it_lacks() -> None:
    text = 'program(1.0) { func main<ios16>(fp16 x) { fp16 y = relu(x = x)[name = string("y")]; } -> (y); }'
    (function,) = phrases.functions(tree_of(text, STATEMENTS))
    (plain,) = phrases.operations(phrases.block(next(phrases.bodies(function))))
    assert isinstance(plain, Statement)
    assert not [*phrases.inner_blocks(plain)]
    assert phrases.name_in(plain) == "relu"
    assert "children" not in vars(plain)
    assert [phrases.name_in(value) for value in phrases.outputs(plain)] == ["y"]
    assert phrases.string_of(phrases.own_name(plain) or plain) == "y"


def compared_names() -> Iterator[tuple[str, str]]:
    """Yield each string that a module compares with the name of a phrase, with the module."""
    for path in sorted((ROOT / "src" / "miltext").rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        if "miltext.syntax.tree import" not in source and "miltext.syntax.phrases import" not in source:
            continue
        for found in ast.walk(ast.parse(source)):
            match found:
                case ast.Compare(left=ast.Attribute(attr="name"), comparators=sides):
                    words = (word for side in sides for word in ast.walk(side) if isinstance(word, ast.Constant))
                    yield from ((path.stem, word.value) for word in words if isinstance(word.value, str))


def test_a_compared_name_is_a_rule_or_a_terminal() -> None:
    known = {called(rule) for rule in rules()} | {terminal.name for terminal in load_grammar().terminals}
    found = set(compared_names())
    assert len(found) > 50
    assert {each for each in found if each[1] not in known} == set()
