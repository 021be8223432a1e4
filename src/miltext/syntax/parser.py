"""The parser: a small loop over the LALR tables that Lark built from the grammar.

Lark's own parser is exact but spends most of its time on token objects and on a lexer of its own for each parser state.
The loop here reads the same table with the lexer's single expression, and passes each finished phrase to the callback
of that name, as Lark's parser does with a transformer. Tokens are plain strings unless a parse needs places.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from miltext.diagnostics import Span
from miltext.syntax.lexer import COARSE, END, FINE, lexer
from miltext.syntax.tables import GrammarRule, Plan, load_grammar

NESTING_LIMIT = 2000
"""Number of unfinished phrases that a text may hold at once. A text that protobuf can load needs about a third of
it.
"""

DEEP = 48
"""The number of unfinished phrases from which a Program might exceed protobuf's limit on depth."""

Parsed: TypeAlias = Any
"""The value of a token or a phrase: the callbacks decide its type."""

Callback: TypeAlias = "Callable[[list[Parsed]], Parsed]"

Place: TypeAlias = "Callable[[str, str, int], Parsed]"
"""Makes the value of a token from its terminal, its text and its place."""


class Places(NamedTuple):
    """The places recorded in a parse: `place` makes the values of tokens, and `comments` receives the spans of
    comments.

    In a parse without Places, the values of tokens are their texts.
    """

    place: Place
    comments: list[Span]


Reduction: TypeAlias = "tuple[int, Callback | None, Plan | None, str]"
"""Finishes a phrase: its size, the callback, the plan of its children if not all are, and its symbol."""

Row: TypeAlias = "dict[str, Any]"
"""A state's actions: a Row to shift to, a Reduction, or a list for a combined shift and reduction."""

Stack: TypeAlias = "tuple[list[Row], list[Parsed]]"
"""The rows of the table on the stack, from the beginning, and the values of the phrases between them."""


class SyntaxFailure(Exception):
    """A syntax error between `start` and `end`, where a terminal of `expected` could be.

    `read` is the part of a tree that was read before.
    """

    def __init__(self, start: int, end: int, expected: list[str]) -> None:
        super().__init__(start)
        self.start = start
        self.end = end
        self.expected = expected
        self.read: list[Parsed] = []

    def shift(self, by: int) -> None:
        """Shift the place into a longer text, after so many characters."""
        self.start += by
        self.end += by


class NestingFailure(SyntaxFailure):
    """More than NESTING_LIMIT phrases are open at `start`."""

    def __init__(self, start: int) -> None:
        super().__init__(start, start + 1, [])


class Parser:
    """A parser of MIL text for `callbacks`: an object with a method for each rule, which takes the children.

    Only the `coarse` ones among the grammar's coarse terminals are read.
    """

    def __init__(self, callbacks: object, coarse: frozenset[str] = COARSE) -> None:
        grammar = load_grammar()
        self._lexer = lexer(coarse)
        self._terminals = {terminal.name for terminal in grammar.terminals}
        reductions = [_reduction(rule, callbacks) for rule in grammar.rules]
        self._rows: list[Row] = [{} for _ in grammar.states]
        for row, state in zip(self._rows, grammar.states, strict=True):
            for symbol, target in state.items():
                row[symbol] = self._rows[target] if target >= 0 else reductions[-1 - target]
        for number, symbol, rule, after in grammar.folds:
            self._rows[number][symbol] = [reductions[rule][1], None if after is None else self._rows[after]]
        self._starts = {rule: self._rows[state] for rule, state in grammar.starts.items()}
        self._ends = {id(self._rows[state]) for state in grammar.ends}
        self._number = {id(row): number for number, row in enumerate(self._rows)}

    def stack(self, rule: str = "program") -> Stack:
        """Return the stack at the beginning of a phrase of a rule."""
        return [self._starts[rule]], []

    def run(
        self, text: str, places: Places | None = None, stack: Stack | None = None, position: int = 0
    ) -> tuple[Parsed, bool]:
        """Return the value of the text, and whether more than DEEP phrases were open at once.

        Without a `stack`, the text is a whole program. With one, the parse continues from it and from a position in the
        text; after a SyntaxFailure it is the stack at that place. Raise SyntaxFailure, and any error of a callback.
        """
        place, comments = places or (None, None)
        scan, names, words = self._lexer.expression(text).finditer, self._lexer.names, self._lexer.words
        states, values = stack or self.stack()
        row, limit = states[-1], DEEP
        while True:
            for match in scan(text, position):
                kind: int = match.lastindex  # type: ignore[assignment]  # some group always matches
                token = match[kind]
                terminal = words.get(token, names[kind])
                action = row.get(terminal)
                while action.__class__ is tuple:
                    row = reduce(states, values, *action)
                    action = row.get(terminal)
                if action.__class__ is dict:
                    values.append(token if place is None else place(terminal, token, match.start(kind)))
                    row = action
                    states.append(row)
                    if len(states) > limit:
                        limit = _raised(limit, match.start(kind))
                elif action is not None:
                    token = token if place is None else place(terminal, token, match.start(kind))
                    row = shift_and_reduce(states, values, token, *action)
                elif terminal != "COMMENT":
                    if terminal == END and id(row) in self._ends:
                        return values[0], limit > DEEP
                    position = self._read_in_context(text, match.start(kind), place, (states, values))
                    row = states[-1]
                    break
                elif comments is not None:
                    comments.append(Span(match.start(kind), match.end()))

    def _read_in_context(self, text: str, start: int, place: Place | None, stack: Stack) -> int:
        """Read the token at `start` that the parser's state accepts, where the first guess failed, and its end.

        Phrases that end before the token are finished, which may lead to a state that accepts another one.
        """
        states, _ = stack
        terminal, token = self._in_context(text, start, states)
        while isinstance(states[-1][terminal], tuple):
            self.settle(terminal, stack)
            terminal, token = self._in_context(text, start, states)
        self.read(terminal, token if place is None else place(terminal, token, start), stack)
        return start + len(token)

    def _in_context(self, text: str, start: int, states: list[Row]) -> tuple[str, str]:
        """Return the terminal and the text of the token at `start` that the state accepts. Raise SyntaxFailure."""
        word = self._lexer.word(text, start)
        if word is not None and "NAME" in states[-1] and self._lexer.words[word] not in states[-1]:
            return "NAME", word
        pattern, names = self._lexer.contextual(self._number[id(states[-1])])
        match = pattern.match(text, start)
        if match is not None:
            return names[match.lastindex - 1], match[0]  # type: ignore[operator]  # some group always matches
        if (long := self._lexer.long_string(text, start)) and long[0] in states[-1]:
            return long
        _, token, at = next(lexer(FINE).tokens(text, start))  # as a reader sees it, not a whole operation
        raise SyntaxFailure(start, at + len(token), self.expected(states))

    def read(self, terminal: str, token: Parsed, stack: Stack) -> None:
        """Read one token that the state accepts: the phrases that end before it are finished first."""
        states, values = stack
        self.settle(terminal, stack)
        action = states[-1][terminal]
        if isinstance(action, dict):
            values.append(token)
            states.append(action)
        else:
            shift_and_reduce(states, values, token, *action)

    def settle(self, terminal: str, stack: Stack) -> None:
        """Finish the phrases that end before a terminal."""
        states, values = stack
        while isinstance(action := states[-1].get(terminal), tuple):
            reduce(states, values, *action)

    def expected(self, states: list[Row]) -> list[str]:
        """Return the terminals that could come next, after the reductions before them."""
        return [
            symbol for symbol in states[-1] if symbol in self._terminals or symbol == END if self.takes(states, symbol)
        ]

    def takes(self, states: list[Row], terminal: str) -> bool:
        """Return whether a terminal could come next."""
        stack = list(states)
        while isinstance(action := stack[-1].get(terminal), tuple):
            size, _, _, origin = action
            del stack[-size:]
            stack.append(stack[-1][origin])
        return action is not None or (terminal == END and id(stack[-1]) in self._ends)


def reduce(
    states: list[Row],
    values: list[Parsed],
    size: int,
    callback: Callback | None,
    plan: Plan | None,
    origin: str,
) -> Row:
    """Make one phrase of the last `size`, and return the row after it."""
    children = values[-size:]
    del values[-size:], states[-size:]
    if plan is not None:
        children = _children(plan, children)
    values.append(children if callback is None else callback(children))
    row: Row = states[-1][origin]
    states.append(row)
    return row


def shift_and_reduce(
    states: list[Row], values: list[Parsed], token: Parsed, callback: Callback, row: Row | None
) -> Row:
    """Make a phrase of a token; without a row of its own, it is the next of a repetition. Return the next row."""
    value = callback([token])
    if row is None:
        values[-1].append(value)
        return states[-1]
    values.append(value)
    states.append(row)
    return row


def _raised(limit: int, offset: int) -> int:
    if limit == NESTING_LIMIT:
        raise NestingFailure(offset)
    return NESTING_LIMIT


def _children(plan: Plan, values: list[Parsed]) -> list[Parsed]:
    """Return the children from the `values` of a rule's symbols by its plan. A list that comes first is reused."""
    children: list[Parsed] = []
    for step in plan:
        if step is None:
            children.append(None)
        elif step >= 0:
            children.append(values[step])
        elif children:
            children += values[~step]
        else:
            children = values[~step]
    return children


def _reduction(rule: GrammarRule, callbacks: object) -> Reduction:
    return rule.size, getattr(callbacks, rule.callback) if rule.callback else None, rule.plan, rule.origin
