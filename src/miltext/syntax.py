"""The syntax of MIL text at work: a small loop that drives the LALR table which Lark builds from the grammar.

Lark's own parser is exact but spends most of its time on token objects and on a lexer of its own for each parser
state. The loop here reads the same table with one regular expression, and hands each finished phrase to the
callback of that name in a `lark.Transformer`, as Lark's parser does. Where the expression's first guess at a token
does not fit the parser's state, the state's own expression decides, as in Lark's contextual lexer; so both accept the
same texts. Tokens are plain strings; places are kept only when a `Trace` asks for them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache, cached_property, lru_cache
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

from miltext.diagnostics import Span
from miltext.grammar import WORD_END, Grammar, Rule, Terminal, load_grammar

NESTING_LIMIT = 2000
"""How many unfinished phrases a text may hold at once. What protobuf can load needs about a third of it."""

DEEP = 48
"""From this many unfinished phrases on, a Program might pass protobuf's limit on depth."""

OPERATION, PLAIN_OPERATION = "OPERATION", "plain_operation"
"""The coarse terminal for a whole operation, and the rule that it makes an operation by."""

Callback = Callable[[list[Any]], Any]

Stack: TypeAlias = "tuple[list[dict[str, Any]], list[Any]]"
"""The rows of the table that the parse stands in, from its beginning; and the values of the phrases between them."""


class Token(str):
    """A token that knows its place: what a traced parse passes instead of plain strings."""

    __slots__ = ("end", "start")

    start: int
    end: int


class Node(NamedTuple):
    """A finished phrase: a rule's callback name or, for a token, its terminal; and where it stands in the text."""

    name: str
    start: int
    end: int
    children: list[Node]
    token: str | None = None

    @property
    def span(self) -> Span:
        return Span(self.start, self.end)


def walk(phrase: Node) -> Iterator[Node]:
    """A phrase and all inside of it that was read, in the order of the text."""
    todo = [phrase]
    while todo:
        found = todo.pop()
        yield found
        todo += reversed(found.children)


def named(phrase: Node, *names: str) -> Iterator[Node]:
    """The phrases of these names directly inside one."""
    return (child for child in phrase.children if child.name in names)


class WholeOperation(Node):
    """An operation that was read as one token. Its phrases are read when somebody asks for them.

    There are none where the grammar's rules refuse what the token let pass.
    """

    text = ""

    @cached_property
    def children(self) -> list[Node]:
        trace = Trace(self.start)
        try:
            read_operation(_phrases(), self.text, trace)
        except SyntaxFailure:
            return []
        return trace.nodes[0].children[0].children


class SyntaxFailure(Exception):
    """The text breaks off from the grammar between `start` and `end`, where a terminal of `expected` could stand."""

    def __init__(self, start: int, end: int, expected: list[str]) -> None:
        super().__init__(start)
        self.start = start
        self.end = end
        self.expected = expected


class NestingFailure(Exception):
    """More than NESTING_LIMIT phrases are open at `start`."""

    def __init__(self, start: int) -> None:
        super().__init__(start)
        self.start = start


class Trace:
    """What a traced parse keeps: the tree of phrases, and the spans of the comments.

    The text may be a part of a longer one, and begin at an `offset` in that.
    """

    def __init__(self, offset: int = 0) -> None:
        self.nodes: list[Node] = []
        self.comments: list[Span] = []
        self.offset = offset

    @property
    def root(self) -> Node:
        """The whole text's phrase, once it is parsed."""
        return self.nodes[0]

    def shift(self, terminal: str, token: str, start: int, end: int) -> str:
        """A token was read; the parse goes on with what is returned in its place."""
        placed = Token(token)
        placed.start, placed.end = start, end = start + self.offset, end + self.offset
        if terminal == OPERATION:
            operation = WholeOperation("operation", start, end, [])
            operation.text = token
            self.nodes.append(operation)
        else:
            self.nodes.append(Node(terminal, start, end, [], placed))
        return placed

    def reduce(self, name: str, size: int) -> None:
        """The last `size` phrases make one. Those of rules that begin with `_` give way to their children."""
        if name == PLAIN_OPERATION:  # a node has it already
            return
        children: list[Node] = []
        for node in self.nodes[-size:]:
            if node.token is not None or node.name[0] != "_":
                children.append(node)
            elif children:
                children += node.children
            else:  # the growing list of a repetition: taken over, not copied
                children = node.children
        self.nodes[-size:] = [Node(name, self.nodes[-size].start, self.nodes[-1].end, children)]

    def comment(self, text: str, start: int, end: int, values: list[Any]) -> None:
        """A comment was passed; `values` are those of the open phrases, the last of them that of the token before."""
        self.comments.append(Span(start, end))


class _Lexicon:
    """The terminals as one regular expression, and what its groups and words stand for."""

    def __init__(self, grammar: Grammar, fast: bool, whole: bool) -> None:
        self.grammar = grammar
        read = {terminal.name: whole if terminal.name == OPERATION else fast for terminal in grammar.terminals}
        self.terminals = [terminal for terminal in grammar.terminals if read[terminal.name] or not terminal.fast]
        self.words: dict[str, str] = {}
        groups: list[tuple[str, str]] = []
        literals: list[str] = []
        for terminal in self.terminals:
            words = _words(terminal)
            if words:
                self.words.update(dict.fromkeys(words, terminal.name))
            elif terminal.literal is not None:
                self.words[terminal.literal] = terminal.name
                literals.append(terminal.pattern)
            elif terminal.name != "WHITE_SPACE":
                groups.append((terminal.name, terminal.pattern))
        self.names = ["", *(name for name, _ in groups), "LITERAL", "$END", "OTHER"]
        patterns = [*(pattern for _, pattern in groups), "|".join(literals), r"\Z", r"[^ \t\r\n]"]
        self.pattern = re.compile(r"[ \t\r\n]*(?:" + "|".join(f"({pattern})" for pattern in patterns) + ")")

    @cache  # noqa: B019  # a lexicon lives as long as the process
    def contextual(self, state: int) -> tuple[re.Pattern[str], list[str]]:
        """The expression for the terminals that `state` takes, in Lark's order, and their names by group."""
        takes = self.grammar.states[state]
        chosen = [terminal for terminal in self.terminals if terminal.name in takes]
        pattern = "|".join(f"({terminal.pattern})" for terminal in chosen)
        return re.compile(pattern or r"(?!)"), [terminal.name for terminal in chosen]


def _words(terminal: Terminal) -> list[str]:
    """The words of a terminal that a name could be taken for: `func`, or `true` and `false`."""
    alternatives = re.fullmatch(r"(?:\(\?:)?([A-Za-z0-9_|]+?)\)?" + re.escape(WORD_END), terminal.pattern)
    return alternatives[1].split("|") if alternatives else []


@lru_cache(maxsize=4)
def _lexicon(fast: bool, whole: bool = False) -> _Lexicon:
    return _Lexicon(load_grammar(), fast, whole)


def fine_tokens(text: str, start: int) -> Iterator[tuple[str, str, int]]:
    """The tokens from a place on, none of them coarse: terminal, text and place. At the end the terminal is `$END`."""
    lexicon = _lexicon(False)
    for match in lexicon.pattern.finditer(text, start):
        kind = match.lastindex
        assert kind is not None
        yield lexicon.names[kind], match[kind], match.start(kind)


def written_dialect(text: str) -> tuple[str, Span] | None:
    """What stands for the dialect in the `program(1.3)` that a text begins with, and where; None where nothing does."""
    tokens = (found for found in fine_tokens(text, 0) if found[0] != "COMMENT")
    head = list(islice(tokens, 3))
    if [token for _, token, _ in head[:2]] != ["program", "("] or len(head) < 3:
        return None
    _, token, start = head[2]
    return token, Span(start, start + len(token))


class Driver:
    """Parses MIL text for one `lark.Transformer`: `callbacks` has a method for each rule, which takes the children.

    Without callbacks there are no values, only the tree of a Trace. The grammar's coarse tokens are read if `fast`, and
    plain operations as one of them if `whole`, which is as `fast` is unless it is given.
    """

    def __init__(self, callbacks: Any = None, *, fast: bool = True, whole: bool | None = None) -> None:
        self._grammar = load_grammar()
        self._lexicon = _lexicon(fast, fast if whole is None else whole)
        self._terminals = {terminal.name for terminal in self._grammar.terminals}
        self._reductions = reductions = [_reduction(rule, callbacks) for rule in self._grammar.rules]
        self._rows: list[dict[str, Any]] = [{} for _ in self._grammar.states]
        for row, state in zip(self._rows, self._grammar.states, strict=True):
            for symbol, target in state.items():
                row[symbol] = self._rows[target] if target >= 0 else reductions[-1 - target]
        self._fold(reductions)
        self._accepting = self._rows[self._grammar.end]
        self._number = {id(row): number for number, row in enumerate(self._rows)}

    def _fold(self, reductions: list[Any]) -> None:
        """Where a token alone makes a phrase whatever follows, let one action read it and finish that phrase."""
        for row, state in zip(self._rows, self._grammar.states, strict=True):
            for symbol, target in state.items():
                after = set(self._grammar.states[target].values()) if target >= 0 and symbol in self._terminals else ()
                if len(after) == 1 and (number := -1 - next(iter(after))) >= 0:
                    size, callback, _, origin, name = reductions[number]
                    if size == 1 and callback is not None:
                        row[symbol] = [callback, self._rows[state[origin]], name, self._growing(state[origin])]

    def _growing(self, number: int) -> str | None:
        """The repetition that grows by a phrase whatever follows, in the state after that phrase.

        It is the state after the repetition that comes again, so that nothing is left to do but to append. An observer
        is not to meet that: to it, the last value is that of the last token, and no list.
        """
        after = set(self._grammar.states[number].values())
        if len(after) != 1 or (rule := -1 - after.pop()) < 0:
            return None
        _, _, plan, origin, _ = self._reductions[rule]
        return origin if plan == [~0, 1] and origin.startswith("_") else None

    def run(self, text: str, observer: Any = None, stack: Stack | None = None, position: int = 0) -> tuple[Any, bool]:
        """The value of the whole text, and whether more than DEEP phrases were open at once.

        `observer` is told of every token, phrase and comment, as a Trace is. With a `stack`, the parse goes on from it
        and from a position in the text; after a SyntaxFailure it is what was read by then. Raises SyntaxFailure,
        NestingFailure, and whatever a callback raises.
        """
        scan, names, words = self._lexicon.pattern.finditer, self._lexicon.names, self._lexicon.words
        states, values = stack or self.stack()
        row = states[-1]
        limit, resume = DEEP, -1
        while True:
            for match in scan(text, position):
                kind: int = match.lastindex  # type: ignore[assignment]  # some group always matches
                token = match[kind]
                terminal = words.get(token, names[kind])
                while True:
                    action = row.get(terminal)
                    if action.__class__ is dict:  # shift
                        if observer is not None:
                            token = observer.shift(terminal, token, match.start(kind), match.start(kind) + len(token))
                        values.append(token)
                        states.append(action)
                        row = action
                        if len(states) > limit:
                            limit = self._raised(limit, match.start(kind))
                        break
                    if action.__class__ is list:  # shift, and reduce that token
                        callback, target, name, repetition = action
                        if observer is not None:
                            token = observer.shift(terminal, token, match.start(kind), match.start(kind) + len(token))
                            observer.reduce(name, 1)
                        if repetition is None or observer is not None:
                            values.append(callback([token]))
                            row = target
                            states.append(row)
                        else:
                            values[-1].append(callback([token]))
                        break
                    if action is not None:  # reduce
                        size, callback, plan, origin, name = action
                        if observer is not None:
                            observer.reduce(name, size)
                        children = values[-size:]
                        del values[-size:], states[-size:]
                        if plan is not None:
                            children = children_of(plan, children)
                        values.append(children if callback is None else callback(children))
                        row = states[-1][origin]
                        states.append(row)
                        continue
                    if terminal == "COMMENT":
                        if observer is not None:
                            observer.comment(text, match.start(kind), match.end(), values)
                        break
                    if row is self._accepting and terminal == "$END":
                        return values[0], limit > DEEP
                    terminal, token = self._contextual(text, match.start(kind), match.end(), states)
                    if len(token) != match.end() - match.start(kind):
                        resume = match.start(kind) + len(token)
                if resume >= 0:
                    break
            position, resume = resume, -1

    def stack(self) -> Stack:
        """That of a parse that has read nothing."""
        return [self._rows[self._grammar.start]], []

    def _raised(self, limit: int, offset: int) -> int:
        if limit == NESTING_LIMIT:
            raise NestingFailure(offset)
        return NESTING_LIMIT

    def _contextual(self, text: str, start: int, end: int, states: list[dict[str, Any]]) -> tuple[str, str]:
        """The token that the parser's state can take at `start`, where the first guess was none."""
        pattern, names = self._lexicon.contextual(self._number[id(states[-1])])
        match = pattern.match(text, start)
        if match is None:
            _, token, at = next(fine_tokens(text, start))
            raise SyntaxFailure(start, at + len(token), self._expected(states))
        assert match.lastindex is not None
        return names[match.lastindex - 1], match[0]

    def _expected(self, states: list[dict[str, Any]]) -> list[str]:
        """The terminals that could truly come next: those that the table takes after the reductions they ask for."""
        return [
            symbol
            for symbol in states[-1]
            if symbol in self._terminals or symbol == "$END"
            if self._takes(states, symbol)
        ]

    def _takes(self, states: list[dict[str, Any]], terminal: str) -> bool:
        stack = list(states)
        while isinstance(action := stack[-1].get(terminal), tuple):
            size, _, _, origin, _ = action
            del stack[-size:]
            stack.append(stack[-1][origin])
        return action is not None or (terminal == "$END" and stack[-1] is self._accepting)


_BEFORE_OPERATION = "program(1.0){func f(){"


def read_operation(driver: Driver, text: str, trace: Trace) -> Any:
    """The value of an operation that is read by itself, from the trace's offset on in a longer text.

    Its phrases are then in the first node of the trace. Raises SyntaxFailure, and what a callback raises.
    """
    stack = driver.stack()
    _run_out(driver, _BEFORE_OPERATION, None, stack)
    _run_out(driver, f"{text}}}", trace, stack)
    return stack[1][-2][0]


def _run_out(driver: Driver, text: str, trace: Trace | None, stack: Stack) -> None:
    """Read a text up to its end, which is not that of a program. Raises SyntaxFailure anywhere before."""
    try:
        driver.run(text, trace, stack)
    except SyntaxFailure as failure:
        if failure.start < len(text):
            offset = trace.offset if trace else 0
            raise SyntaxFailure(failure.start + offset, failure.end + offset, failure.expected) from None


@lru_cache(maxsize=1)
def _phrases() -> Driver:
    return Driver(fast=False)


def children_of(plan: list[int | None], values: list[Any]) -> list[Any]:
    """The children that `values` of a rule's symbols make by its plan. A list that comes first is taken over."""
    children: list[Any] = []
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


def _reduction(rule: Rule, callbacks: Any) -> tuple[int, Callback | None, list[int | None] | None, str, str]:
    """The action that finishes a phrase: its size, the callback, the plan of its children, its symbol, its name."""
    inlined = rule.origin.startswith("_")
    callback = None if inlined else _nothing if callbacks is None else getattr(callbacks, rule.callback)
    return len(rule.plan), callback, _plan(rule), rule.origin, rule.origin if inlined else rule.callback


def _plan(rule: Rule) -> list[int | None] | None:
    """None where each symbol's value is one child; else an index a child, `~index` for an inlined symbol."""
    steps: list[int | None] = []
    for index, (absent, inlined) in enumerate(rule.plan):
        steps += [None] * absent
        steps.append(~index if inlined else index)
    steps += [None] * rule.absent
    return None if steps == list(range(len(steps))) else steps


def _nothing(children: list[Any]) -> None:
    """The callback of a parse that makes no values."""
