"""The Vim syntax: a cluster of groups for each of the lexer's states, a region for each rule that enters one."""

from __future__ import annotations

from collections.abc import Iterator
from graphlib import TopologicalSorter
from itertools import pairwise

from generator.patterns import split_ahead, vim
from generator.states import START, Entry, Rule, entered, exits, flat, read_states
from pygments.lexer import words
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, Punctuation, String, Whitespace, _TokenType

from miltext.syntax.names import DRAFT_WORDS
from miltext.syntax.vocabulary import keywords, operation_names, parameter_names, type_names

GROUPS: dict[_TokenType, tuple[str, str]] = {
    Comment.Single: ("milComment", "Comment"),
    Comment.Multiline: ("milComment", "Comment"),
    Error: ("milError", "Error"),
    Keyword: ("milBlobfile", "Include"),
    Keyword.Constant: ("milConstant", "Boolean"),
    Keyword.Declaration: ("milDeclaration", "Keyword"),
    Keyword.Pseudo: ("milMarker", "PreProc"),
    Keyword.Type: ("milType", "Type"),
    Name: ("milUse", "NONE"),
    Name.Attribute: ("milParameter", "Tag"),
    Name.Builtin: ("milOperation", "Statement"),
    Name.Function: ("milFunction", "Function"),
    Name.Namespace: ("milOpset", "PreProc"),
    Name.Variable: ("milDefinition", "Identifier"),
    Number.Float: ("milNumber", "Number"),
    Number.Hex: ("milNumber", "Number"),
    Number.Integer: ("milNumber", "Number"),
    Operator: ("milOperator", "NONE"),
    Punctuation: ("milPunctuation", "NONE"),
    String.Double: ("milString", "String"),
    String.Escape: ("milEscape", "SpecialChar"),
}
"""The group of each of the lexer's tokens, and Vim's own group that it is linked to."""

UNREAD = Rule("[^ \\t\\r\\n]", Error, None, leaves=False)

HEAD = """\
" Vim syntax file
" Language: MIL, the text of Core ML's programs
" Made by editors/generate.py from src/miltext/highlight.py.

if exists('b:current_syntax')
  finish
endif

syntax case match
syntax iskeyword a-z,A-Z,48-57,_,@-@
"""

FOOT = """
" A statement reads the same in any block, and at the top.
syntax sync minlines=200

let b:current_syntax = 'mil'
"""


def vim_syntax() -> str:
    """Make the file `syntax/mil.vim`."""
    states = read_states()
    lines = [HEAD]
    lines += [line for name in states for line in _cluster(states, name)]
    lines += ["", '" Of two groups that match at one place, Vim takes the one that was defined last.']
    rules = {(name, number): rule for name in states for number, rule in enumerate(_own(states, name))}
    lines += [_group(states, place, rules[place]) for place in _last_tried_first(states)]
    lines += ["", *_links()]
    return "\n".join(lines) + "\n" + FOOT


def vim_words() -> str:
    """Make the file `words/mil.txt`, which Vim completes from."""
    known = *type_names(), *operation_names(), *parameter_names(), *keywords().fields, *DRAFT_WORDS
    return "\n".join(sorted({*known})) + "\n"


def _own(states: dict[str, list[Entry]], name: str) -> list[Entry]:
    """List a state's entries, then UNREAD. The first state is not a cluster, so what it includes is in its list."""
    entries: list[Entry] = list(flat(states, name)) if name == START else list(states[name])
    return [*entries, UNREAD] if name in entered(states) else entries


def _cluster(states: dict[str, list[Entry]], name: str) -> Iterator[str]:
    if name != START:
        members = [_member(name, number, entry) for number, entry in enumerate(_own(states, name))]
        yield f"syntax cluster mil{_camel(name)} contains={','.join(member for member in members if member)}"


def _member(state: str, number: int, entry: Entry) -> str | None:
    if isinstance(entry, str):
        return f"@mil{_camel(entry)}"
    return None if entry.leaves or entry.token is Whitespace else _named(state, number)


def _named(state: str, number: int) -> str:
    return f"mil{_camel(state)}{number}"


def _camel(state: str) -> str:
    return state.title()


Place = tuple[str, int]


def _last_tried_first(states: dict[str, list[Entry]]) -> Iterator[Place]:
    """Yield the places of all rules that make a group; in each state, those of earlier rules come later."""
    sorter: TopologicalSorter[Place] = TopologicalSorter()
    for name in entered(states):
        places = list(_places(states, name))
        for earlier, later in pairwise(places):
            sorter.add(earlier, later)
    for state, number in sorter.static_order():
        rule = _own(states, state)[number]
        if isinstance(rule, Rule) and _member(state, number, rule):
            yield state, number


def _places(states: dict[str, list[Entry]], name: str) -> Iterator[Place]:
    for number, entry in enumerate(_own(states, name)):
        if isinstance(entry, str):
            yield from _places(states, entry)
        else:
            yield name, number


def _group(states: dict[str, list[Entry]], place: Place, rule: Entry) -> str:
    assert isinstance(rule, Rule)
    assert rule.token is not None
    name, color = _named(*place), GROUPS[rule.token][0]
    contained = "" if place[0] == START else " contained"
    if rule.enters:
        ends = "".join(_end(leaving) for leaving in exits(states, rule.enters))
        return (
            f"syntax region {name}{contained} matchgroup={color} start={vim(rule.pattern)}{ends}"
            f" contains=@mil{_camel(rule.enters)}"
        )
    if isinstance(rule.pattern, words) and _is_plain(rule.pattern):
        kind = f"syntax keyword {name}{contained} {' '.join(rule.pattern.words)}"
    else:
        kind = f"syntax match {name}{contained} {vim(rule.pattern)}"
    return f"{kind}\nhighlight default link {name} {color}"


def _is_plain(pattern: words) -> bool:
    """Return whether words can be Vim's keywords, which look the same whatever follows."""
    return not pattern.words[0].startswith(("$", "-")) and not split_ahead(pattern.suffix)[1]


def _end(rule: Rule) -> str:
    return f" matchgroup={GROUPS[rule.token][0] if rule.token else 'NONE'} end={vim(rule.pattern)}"


def _links() -> Iterator[str]:
    for group, standard in dict(GROUPS.values()).items():
        yield f"highlight default link {group} {standard}"
