"""Texts of every phrase of the grammar: of each rule, in the least that makes a program, with odd words in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain
from typing import NamedTuple

from miltext.syntax.names import RESERVED
from miltext.syntax.tables import fast_lark_parser, load_grammar

SAMPLES = {
    "NAME": "x",
    "NUMBER": "1.3",
    "BOOL": "true",
    "STRING": '"s"',
    "LIST": "[1]",
    "DTYPE": "fp16",
    "CODE": "$10",
    "FIELD": "$ints",
    "WORD_FIELD": "$ints",
}
"""A word of each terminal that has several."""

NAMES = (*sorted(RESERVED), '$"fp16"', '$""', '$"\\q"', "name", "val", "x", "_", "inf", "é")
"""What may stand for a name, or be taken for one."""

LITERALS = (
    *("1", "-0x1p-1", "1e999", "inf", "nan", "true", "True", '"s"', '"\\q"', "[]", "[1, 2]", "[1, [2]]", "[x]", "[1,]"),
    *("[true, 1]", '["a", 1]', "(1)", "{{1, 2}}", "$ints([1])", '$npy("a.npy")', '$blob("w", 64)', "$unset", "$tensor"),
    *("fp16(1)", "tensor<fp16, [1]>([1])", "relu(x)", "BLOBFILE", "1.0f"),
)
"""What may stand for a literal, or be taken for one."""


class Rule(NamedTuple):
    """A rule of the grammar: its callback, the symbol that it makes, and those that it is made of."""

    callback: str
    origin: str
    symbols: tuple[str, ...]


@cache
def rules() -> list[Rule]:
    fast = {terminal.name for terminal in load_grammar().terminals if terminal.fast}
    found = [
        Rule(rule.alias or rule.origin.name, rule.origin.name, tuple(symbol.name for symbol in rule.expansion))
        for rule in fast_lark_parser().rules
    ]
    return [rule for rule in found if not fast & {*rule.symbols}]


@cache
def shortest() -> dict[str, list[str]]:
    """Return the fewest words of each symbol."""
    words = {
        terminal.name: [terminal.literal or SAMPLES.get(terminal.name, "")] for terminal in load_grammar().terminals
    }
    grown = True
    while grown:
        grown = False
        for _, origin, symbols in rules():
            if all(symbol in words for symbol in symbols):
                made = [*chain.from_iterable(words[symbol] for symbol in symbols)]
                if origin not in words or len(made) < len(words[origin]):
                    words[origin], grown = made, True
    return words


@cache
def around() -> dict[str, tuple[list[str], list[str]]]:
    """Return the fewest words of a program before and after each symbol."""
    words = shortest()
    found: dict[str, tuple[list[str], list[str]]] = {"program": ([], [])}
    queue = ["program"]
    for origin in queue:
        before, after = found[origin]
        for rule in rules():
            for index, symbol in enumerate(rule.symbols if rule.origin == origin else ()):
                if symbol not in found:
                    head = [*before, *chain.from_iterable(words[each] for each in rule.symbols[:index])]
                    tail = [*chain.from_iterable(words[each] for each in rule.symbols[index + 1 :]), *after]
                    found[symbol] = head, tail
                    queue.append(symbol)
    return found


def of_drafts() -> list[Rule]:
    """Return the rules of phrases that only a draft may have, or that such a phrase is made of."""
    named = re.compile("draft|positional|call|weight|array|record|raw_list|results|argument|attribute|binding")
    return [rule for rule in rules() if named.search(f"{rule.callback} {rule.origin}")]


def nested(literal: str, depth: int) -> str:
    """Return a literal in so many lists."""
    return "[" * depth + literal + "]" * depth


def spellings(symbol: str, depths: Sequence[int]) -> list[str]:
    """Return what a symbol of a phrase may be written as, or be mistaken for."""
    plain = " ".join(shortest()[symbol])
    if symbol == "NAME":
        return [plain, *NAMES]
    if symbol in ("_draft_literal", "_raw", "binding", "value", "raw_list", "LIST", "NUMBER", "STRING", "BOOL"):
        deep = [nested(literal, depth) for depth in depths for literal in ("1", "x", "")]
        spaced = [nested(" 1 ", depth).replace("[", "[ ").replace("]", "] ") for depth in depths]
        return [plain, *LITERALS, *deep, *spaced]
    return [plain]


def texts(rule: Rule, depths: Sequence[int]) -> Iterator[str]:
    """Yield programs with a phrase of a rule, in which each symbol once is each of its spellings."""
    before, after = around()[rule.origin]
    plain = [" ".join(shortest()[symbol]) for symbol in rule.symbols]
    for index, symbol in enumerate(rule.symbols):
        for written in spellings(symbol, depths):
            phrase = [*plain[:index], written, *plain[index + 1 :]]
            yield " ".join([*before, *phrase, *after])


STATEMENTS = (
    *("{} = relu(x);", "_ {} = const()[val = 1];", "y = {}(x);", "y = add({} = x, y = 1);", "y = const()[{} = 0.5];"),
    *("y = relu({});", "y, {} = split(x, axis = 0, num_splits = 2);", "y = cond(p)({} i) {{}} -> (x) () {{}} -> ({});"),
    *("fp16 {} = relu(x = x)[{} = fp16(1)];", "y = relu(x)[{} = 1, {} = 2];", "y = add(x, {}(x));", "y = fp16({});"),
)
"""Statements with a gap for a name."""

GIVEN = (
    *("y = const()[val = {}];", "_ y = const()[val = {}];", "y = const()[axis = {}];", "fp16 y = const()[val = {}];"),
    *("y = add(x, {});", "y = add(x = {}, y = x);", "y = add({}, {});", "y = concat((x, {}), axis = {});"),
    *("y = relu(x)[name = {}];", "y = an_op(x, {});", "y = an_op(x = {})[axis = {}];", "y = relu(add(x, {}));"),
    *("y = const()[val = {}]; z = add(x, y);", "y = while_loop((x, {})) (_ a) {{}} -> (a);", "y = reshape(x, {});"),
)
"""Statements of a draft with a gap for a literal, where types are inferred."""

AROUND = "program(1.3) {{ func main<ios18>(tensor<fp16, [2]> x, bool p) {{ {} }} -> (x); }}"


def statements(depths: Sequence[int]) -> Iterator[str]:
    """Yield programs with each statement, with each spelling of a name or a literal in its gaps."""
    for gaps, symbol in ((STATEMENTS, "NAME"), (GIVEN, "binding")):
        for statement in gaps:
            for written in spellings(symbol, depths):
                yield AROUND.format(statement.format(*[written] * statement.count("{}")))
