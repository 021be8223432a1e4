"""The syntax of MIL text at work: a small loop that drives the LALR table which Lark built from the grammar.

Lark's own parser is exact but spends most of its time on token objects and on a lexer of its own for each parser
state. The loop here reads the same table with one regular expression, and hands each finished phrase to the
callback of that name, as Lark's parser does with a transformer. Where the expression's first guess at a token
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
from miltext.literals import FORBIDDEN

NESTING_LIMIT = 2000
"""How many unfinished phrases a text may hold at once. What protobuf can load needs about a third of it."""

DEEP = 48
"""From this many unfinished phrases on, a Program might pass protobuf's limit on depth."""

OPERATION, PLAIN_OPERATION = "OPERATION", "plain_operation"
"""The coarse terminal for a whole operation, and the rule that it makes an operation by."""

MOST_ESCAPES = 1 << 12
"""An expression reads so many escapes of a string at once: it remembers each until the string has ended."""

_OTHER = rf"/\*[^{FORBIDDEN}]*|\$?\"[^{FORBIDDEN}\t\r\n]*|[-+.$0-9A-Za-z_@]+|[^ \t\r\n]"
"""What begins no token, as far as it could have been one: nothing is looked at again that cannot end otherwise."""

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
            tree_driver().fragment("operation", self.text, trace)
        except SyntaxFailure:
            return []
        return trace.root.children


class SyntaxFailure(Exception):
    """The text breaks off from the grammar between `start` and `end`, where a terminal of `expected` could stand."""

    def __init__(self, start: int, end: int, expected: list[str]) -> None:
        super().__init__(start)
        self.start = start
        self.end = end
        self.expected = expected

    def shift(self, by: int) -> None:
        """Tell the place in a longer text, of which so many characters come before."""
        self.start += by
        self.end += by


class NestingFailure(Exception):
    """More than NESTING_LIMIT phrases are open at `start`."""

    def __init__(self, start: int) -> None:
        super().__init__(start)
        self.start = start

    def shift(self, by: int) -> None:
        """Tell the place in a longer text, of which so many characters come before."""
        self.start += by


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
                groups.append((terminal.name, _bounded(terminal.pattern)))
        self.names = ["", *(name for name, _ in groups), "LITERAL", "$END", "OTHER"]
        patterns = [*(pattern for _, pattern in groups), "|".join(literals), r"\Z", _OTHER]
        self.pattern = re.compile(r"[ \t\r\n]*(?:" + "|".join(f"({pattern})" for pattern in patterns) + ")")

    @cache  # noqa: B019  # a lexicon lives as long as the process
    def contextual(self, state: int) -> tuple[re.Pattern[str], list[str]]:
        """The expression for the terminals that `state` takes, in Lark's order, and their names by group."""
        takes = self.grammar.states[state]
        chosen = [terminal for terminal in self.terminals if terminal.name in takes]
        pattern = "|".join(f"({_bounded(terminal.pattern)})" for terminal in chosen)
        return re.compile(pattern or r"(?!)"), [terminal.name for terminal in chosen]

    def long_string(self, text: str, start: int) -> tuple[str, str] | None:
        """The string, or the quoted name, at a place that has more escapes than an expression reads at once."""
        terminal, quote = ("NAME", start + 1) if text.startswith("$", start) else ("STRING", start)
        if not text.startswith('"', quote):
            return None
        end = string_body_end(text, quote)
        return (terminal, text[start : end + 1]) if text.startswith('"', end) else None


def _bounded(pattern: str) -> str:
    """A terminal's expression with a limit on the escapes of a string in it."""
    return pattern.replace(')*"', f'){{0,{MOST_ESCAPES}}}"')


@lru_cache(maxsize=1)
def _string_body() -> re.Pattern[str]:
    """The expression for what stands between a string's quotes, or for the first part of it."""
    of = {terminal.name: terminal.pattern for terminal in load_grammar().terminals}
    return re.compile(_bounded(of["STRING"])[1:-1])


def string_body_end(text: str, quote: int) -> int:
    """Where a string's closing quote stands, or else the first character that it cannot hold; `quote` opens it."""
    body, start, end = _string_body(), quote, quote + 1
    while end > start:
        start, end = end, body.match(text, end).end()  # type: ignore[union-attr]  # it matches nothing, too
    return end


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
    while start >= 0:
        scanned, start = lexicon.pattern.finditer(text, start), -1
        for match in scanned:
            kind = match.lastindex
            assert kind is not None
            at = match.start(kind)
            if lexicon.names[kind] == "OTHER" and (long := lexicon.long_string(text, at)):
                yield *long, at
                start = at + len(long[1])
                break
            yield lexicon.names[kind], match[kind], at


def written_dialect(text: str) -> tuple[str, Span] | None:
    """What stands for the dialect in the `program(1.3)` that a text begins with, and where; None where nothing does."""
    tokens = (found for found in fine_tokens(text, 0) if found[0] != "COMMENT")
    head = list(islice(tokens, 3))
    if [token for _, token, _ in head[:2]] != ["program", "("] or len(head) < 3:
        return None
    _, token, start = head[2]
    return token, Span(start, start + len(token))


class Driver:
    """Parses MIL text for `callbacks`: an object with a method for each rule, which takes the children.

    Without callbacks there are no values, only the tree of a Trace. The grammar's coarse tokens are read if `fast`, and
    plain operations as one of them if `whole`, which is as `fast` is unless it is given.
    """

    def __init__(self, callbacks: Any = None, *, fast: bool = True, whole: bool | None = None) -> None:
        self._lexicon = _lexicon(fast, fast if whole is None else whole)
        self._grammar = self._lexicon.grammar
        self._terminals = {terminal.name for terminal in self._grammar.terminals}
        self._reductions = reductions = [_reduction(rule, callbacks) for rule in self._grammar.rules]
        self._rows: list[dict[str, Any]] = [{} for _ in self._grammar.states]
        for row, state in zip(self._rows, self._grammar.states, strict=True):
            for symbol, target in state.items():
                row[symbol] = self._rows[target] if target >= 0 else reductions[-1 - target]
        self._fold(reductions)
        self._accepting = {id(self._rows[number]) for number in self._grammar.ends}
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
                    if terminal == "$END" and id(row) in self._accepting:
                        return values[0], limit > DEEP
                    terminal, token = self._contextual(text, match.start(kind), match.end(), states)
                    if len(token) != match.end() - match.start(kind):
                        resume = match.start(kind) + len(token)
                if resume >= 0:
                    break
            position, resume = resume, -1

    def fragment(self, start: str, text: str, trace: Trace | None = None) -> Any:
        """The value of a text that is one phrase, such as a `type`; it may begin at the trace's offset of a longer one.

        Raises as `run` does, with places in that longer text.
        """
        try:
            return self.run(text, trace, self.stack(start))[0]
        except (SyntaxFailure, NestingFailure) as failure:
            failure.shift(trace.offset if trace else 0)
            raise

    def stack(self, start: str = "program") -> Stack:
        """That of a parse that has read nothing, and is to read a phrase of this name."""
        return [self._rows[self._grammar.starts[start]]], []

    def _raised(self, limit: int, offset: int) -> int:
        if limit == NESTING_LIMIT:
            raise NestingFailure(offset)
        return NESTING_LIMIT

    def _contextual(self, text: str, start: int, end: int, states: list[dict[str, Any]]) -> tuple[str, str]:
        """The token that the parser's state can take at `start`, where the first guess was none."""
        pattern, names = self._lexicon.contextual(self._number[id(states[-1])])
        match = pattern.match(text, start)
        if match is None and (long := self._lexicon.long_string(text, start)) and long[0] in states[-1]:
            return long
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
        return action is not None or (terminal == "$END" and id(stack[-1]) in self._accepting)


@lru_cache(maxsize=2)
def tree_driver(whole: bool = False) -> Driver:
    """What makes nothing but the tree of a Trace; plain operations are one token each if `whole`."""
    return Driver(fast=False, whole=whole)


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
