"""Parsing on: all that is wrong with a text, and what of its Program is left without it.

After a syntax error the parse goes on at the next `;`, or at the end of the block. What is passed over is told apart
from what was read: `Recovered.flawed` has its paths, so that nobody reports it a second time.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from miltext.diagnostics import Diagnostic, error
from miltext.parsing.parser import TOO_NESTED, failure_diagnostic
from miltext.parsing.spans import Enter, find, places
from miltext.parsing.sync_points import SyncPoints, names_in, opset_in
from miltext.parsing.syntax_errors import syntax_error
from miltext.parsing.tolerant_lowering import TolerantLowering, opaque
from miltext.schema.paths import TOO_DEEP, Path, too_deep
from miltext.schema.proto import Program
from miltext.syntax.gc_pause import gc_paused
from miltext.syntax.lexer import STATEMENTS
from miltext.syntax.parser import NestingFailure, Places, SyntaxFailure
from miltext.syntax.recursion import with_room
from miltext.syntax.tree import Node, flat, last_nodes, leaf, transformed, tree_parser

PATIENCE = 4
"""How many failures in a row may be no further in the text than one before: a repair that leads nowhere ends."""


class Recovered(NamedTuple):
    """What was read of a text.

    `program` is None, and so may `root` be, where nothing is left. `drafts` are the phrases of a draft by the path of
    the output or the binding that they leave to be inferred.
    """

    diagnostics: list[Diagnostic]
    program: Program | None
    root: Node | None
    flawed: set[Path]
    drafts: dict[Path, Node]


@with_room
def recover(text: str) -> Recovered:
    """Read a text past all that is wrong with it."""
    reading = _Reading(text)
    with gc_paused:
        root = reading.read()
        wire = reading.lowered(root) if root else None
    diagnostics = reading.diagnostics
    if root is None or not isinstance(wire, bytes):
        return Recovered(diagnostics, None, None, set(), {})
    if (step := _too_deep(wire)) is not None:
        diagnostics.append(error("MIL006", TOO_DEEP, find(root, step).span))
        return Recovered(diagnostics, None, root, set(), {})
    found = list(places(root, reading.is_marked()))
    drafts = {path: phrase for path, phrase in found if phrase.name in ("draft_value", "draft_binding")}
    return Recovered(diagnostics, Program.FromString(wire), root, reading.flawed(found), drafts)


def _too_deep(wire: bytes) -> Path | None:
    try:
        Program.FromString(wire)
    except Exception:  # noqa: BLE001  # each of protobuf's backends has an error of its own for it
        return too_deep(wire)
    return None


class _Reading:
    """A parse to a tree that repairs its own stack: `anchor` is a place where an operation or a function may begin."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lowering = TolerantLowering(text)
        self.reported: list[tuple[Diagnostic, list[Node]]] = []
        self.passed: list[int] = []
        self.marks = SyncPoints(text)
        self.parser = tree_parser(STATEMENTS)
        self.states, self.values = self.stack = self.parser.stack()

    def read(self) -> Node | None:
        """Return the tree; None where nothing is left of it."""
        position: int | None = 0
        furthest, patience = -1, PATIENCE
        while position is not None and patience:
            try:
                return self.parser.run(self.text, Places(leaf, []), self.stack, position)[0]  # type: ignore[no-any-return]
            except SyntaxFailure as failure:  # noqa: PERF203  # one for each mistake
                self.report(syntax_error(self.text, failure, last_nodes(self.values)))
                position = self.repair(failure.start)
                patience = PATIENCE if failure.start > furthest else patience - 1
                furthest = max(furthest, failure.start)
            except NestingFailure as failure:
                self.reported.append((failure_diagnostic(self.text, failure, last_nodes(self.values)), []))
                return None
        return self.finish()

    def lowered(self, phrase: Node) -> Any:
        """Return what a phrase is lowered to, a program to its wire form; None for a token, or what is nested too
        deeply.
        """
        try:
            return None if phrase.token is not None else transformed(phrase, self.lowering.lower)
        except RecursionError:
            self.reported.append((error("MIL006", TOO_NESTED, phrase.span), []))
            return None

    def report(self, diagnostic: Diagnostic) -> None:
        """Keep a diagnostic, but the first only of those about one place, which may take several repairs."""
        if not self.reported or self.reported[-1][0].span != diagnostic.span:
            self.reported.append((diagnostic, last_nodes(self.values)[-1:]))

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """All diagnostics. What was reported where a name is defined is not reported again where it is used."""
        own = [diagnostic for diagnostic, last in self.reported if not self.lowering.is_misnamed(*last)]
        return [*self.lowering.diagnostics, *own]

    def flawed(self, found: list[tuple[Path, Node]]) -> set[Path]:
        """Return the paths of what was repaired, and of the innermost operation, block or function at each place passed
        over.
        """
        passed = sorted(self.passed)
        flawed = {path for path, phrase in found if (phrase.name, phrase.start, phrase.end) in self.lowering.repaired}
        innermost: dict[int, Path] = {}
        for path, phrase in found:
            if phrase.name in ("operation", "function", "block", "inner_block", "specialization"):
                for place in passed[bisect_left(passed, phrase.start) :]:
                    if place > phrase.end:
                        break
                    innermost[place] = path
        return flawed | set(innermost.values())

    def is_marked(self) -> Enter:
        """Whether a phrase has in it what was passed over, repaired, or left out in a draft."""
        marks = sorted([*self.passed, *self.lowering.drafts, *[start for _, start, _ in self.lowering.repaired]])

        def enter(_: Path, phrase: Node) -> bool:
            first = bisect_left(marks, phrase.start)
            return first < len(marks) and marks[first] <= phrase.end

        return enter

    # ---- after a failure: where to go on

    def repair(self, start: int) -> int | None:
        """Change the stack so that the parse can go on, and say from where; None where it cannot."""
        last = last_nodes(self.values[-1:])[-1:]
        if last and (last[0].token == ";" or last[0].name == "operation"):
            self.settle("RBRACE")
        anchor = self.anchor(("operation", "function"))
        if anchor is None:
            return self.repair_head(start, 0, "program ( 1.3 )")
        open_phrases = self.begun(anchor)
        closed = bool(open_phrases) and open_phrases[0].token == "}"
        if "function" in self.states[anchor]:
            return None if closed else self.repair_head(start, anchor, "func")
        return self.repair_closing(start, anchor) if closed else self.repair_operation(start, anchor)

    def repair_operation(self, start: int, anchor: int) -> int | None:
        """Repair a failure where an operation begins, or in one that is not finished."""
        begun = self.begun(anchor)
        head = begun[0].start if begun else start
        if self.marks.begins_function(head) and self.marks.begins_line(head):
            self.close_blocks()
            return head
        if begun and self.lacks_semicolon(start):
            self.feed(";", begun[-1].end)
            return start
        if not begun and self.text.startswith("->", start):
            self.feed("}", start)
            return start
        return self.drop_operation(start, anchor)

    def drop_operation(self, start: int, anchor: int) -> int | None:
        """Pass over the rest of an operation; its names stay defined."""
        begun = self.begun(anchor)
        end = self.operation_end(start, begun)
        head = begun[0].start if begun else start
        names = _defined(begun, self.text[head : len(self.text) if end is None else end])
        self.cut(anchor)
        if self.text[head:end].strip("; \t\r\n"):
            self.put_operation(names, head, max(start, head) if end is None else end)
        else:
            self.passed.append(start)
        return end

    def put_operation(self, names: list[str], start: int, end: int) -> None:
        """Have an operation that could not be read stand on the stack, as one that was repaired."""
        self.values.append(opaque(names, start, end))
        self.states.append(self.states[-1]["operation"])

    def operation_end(self, start: int, begun: list[Node]) -> int | None:
        """Where the operation that breaks off at `start` ends, or the next seems to begin; None at the text's end."""
        depth = 0
        for token, at, opens_block in self.tokens(start, begun):
            if depth == 0 and token in (";", "}"):
                if self.marks.ends(at):
                    return at + (token == ";")
                continue
            depth += opens_block - (token == "}")
            if depth == 0 and (begun or at > start) and self.marks.begins_line(at) and self.marks.begins(at):
                return at
        return None

    def repair_closing(self, start: int, anchor: int) -> int | None:
        """Repair a failure after the `}` of a block: what follows is missing or wrong, or the `}` itself is one
        too many.
        """
        if self.lacks_semicolon(start):
            self.feed(";", last_nodes(self.values)[-1].end)
            return start
        closing, *outputs = self.begun(anchor)
        if not outputs and self.marks.begins_operation(start):
            self.cut(anchor)
            return start
        if not outputs and self.marks.ends_block(start):
            return start + 1
        self.passed.append(closing.start)
        self.cut(anchor + 1)
        is_inputs = self.text.startswith("{", start) and len(outputs) > 1 and outputs[1].start > closing.end
        if is_inputs:  # what was read as the block's outputs are the next one's inputs
            self.feed("-> ( )", closing.end)
            return outputs[1].start
        written = self.marks.outputs_end(closing.end)
        if written > start:
            self.feed("-> ( )", closing.end)
            return written
        return self.pass_closing(start, not outputs)

    def pass_closing(self, start: int, arrow: bool) -> int | None:
        """Pass over what follows a block up to the `;`, or to `->` where that was not yet read."""
        for token, at, _ in self.tokens(start):
            if token == "->" and arrow:
                return at
            if token in (";", "{", "}") or self.marks.begins_function(at):
                self.feed("-> ( )" if token == ";" else "-> ( ) ;", at)
                return at
        return None

    def repair_head(self, start: int, anchor: int, words: str) -> int | None:
        """Repair a failure before the first block of the program, or where a function begins, up to its block."""
        begun = self.begun(anchor)
        begins_inside = self.marks.begins_operation if anchor else self.marks.begins_function
        if begun and begins_inside(start) and self.parser.takes(self.states, "LBRACE"):
            self.feed("{", start)
            return start
        for token, at, opens_block in self.tokens(start, begun):
            if token == "{" and opens_block:
                return self.feed_head(anchor, words, start, at)
            if anchor and begun and self.marks.begins_definition(at) and self.marks.begins_line(at):
                self.feed_head(anchor, words, start, at)
                self.feed("{", at)
                return at
            if token == "}" and anchor and not self.marks.ends_block(at):
                self.passed.append(start)
                self.cut(anchor)
                return at
            if self.marks.begins_function(at) and (begun or at > start):
                self.cut(anchor)
                self.feed("" if anchor else f"{words} {{", at)
                return at
            if token == ";" and anchor and begun:
                self.cut(anchor)
                return at + 1
        return None

    def feed_head(self, anchor: int, words: str, start: int, at: int) -> int:
        """Read what is missing before the `{` at a place, where the head breaks off at `start`."""
        begun = self.begun(anchor)
        head = begun[0].start if begun else start
        self.passed.append(head)
        if anchor:
            self.feed_function_head(anchor, head, self.text[head:at])
        else:
            self.cut(0)
            self.feed(words, head)
        return at

    def feed_function_head(self, anchor: int, head: int, text: str) -> None:
        """Read what is missing of `func main<ios18>(...)`: name, opset and inputs stay as far as they are known."""
        known: list[str] = []
        begun = [node.name for node in self.begun(anchor)]
        for kind in ("FUNC", "NAME", "opset", "parameters"):
            known += [kind] if begun[len(known) : len(known) + 1] == [kind] else []
        self.cut(anchor + len(known))
        title, _, inputs = text.partition("(")
        if "FUNC" not in known:
            self.feed("func", head)
        if "NAME" not in known:
            self.read_token("NAME", [f"at_{head}", *names_in(title.partition("<")[0])][-1], head)
        if "parameters" not in known:
            if "opset" not in known and (opset := opset_in(title)):
                self.feed(f"< {opset} >", head)
            self.feed(f"( {' , '.join(f'$absent {name}' for name in names_in(inputs) if name[0] != '$')} )", head)

    # ---- the stack

    def anchor(self, phrases: tuple[str, ...]) -> int | None:
        """Return the topmost place of the stack where one of the phrases may begin."""
        for index in range(len(self.states) - 1, -1, -1):
            if any(phrase in self.states[index] for phrase in phrases):
                return index
        return None

    def cut(self, size: int) -> None:
        """Forget what was read from a place of the stack on; what is wrong with that is told all the same."""
        for phrase in self.begun(size):
            self.lowered(phrase)
        del self.values[size:], self.states[size + 1 :]

    def feed(self, words: str, at: int) -> None:
        """Read words, parted by spaces, that do not stand in the text."""
        for word in words.split():
            kind = self.parser.words.get(word, "NUMBER")
            self.read_token(kind if self.parser.takes(self.states, kind) else "NAME", word, at)

    def read_token(self, terminal: str, token: str, at: int) -> None:
        """Read a token that does not stand in the text, at a place in it."""
        self.parser.read(terminal, leaf(terminal, token, at)._replace(end=at), self.stack)

    def close_blocks(self) -> None:
        """Close all blocks of the function that is open."""
        end = last_nodes(self.values)[-1].end
        while (anchor := self.anchor(("operation", "function"))) is not None and "operation" in self.states[anchor]:
            self.cut(anchor)
            self.feed("} -> ( ) ;", end)
            self.settle("RBRACE")

    def finish(self) -> Node | None:
        """Close what is open at the text's end; the program's tree, None where it has not begun."""
        anchor = self.anchor(("function",))
        if anchor is None:
            return None
        begun = self.begun(anchor)
        if begun and begun[0].token == "}":
            self.cut(anchor + 1)
        else:
            self.close_blocks()
            self.cut(self.anchor(("function",)) or 0)
            self.feed("}", len(self.text))
        self.settle("$END")
        return self.values[0]  # type: ignore[no-any-return]

    def lacks_semicolon(self, at: int) -> bool:
        """Whether a `;` is all that is missing before a place."""
        return self.parser.takes(self.states, "SEMICOLON") and (
            self.marks.begins_line(at) or self.text.startswith("}", at)
        )

    def tokens(self, start: int, begun: Sequence[Node] = ()) -> Iterator[tuple[str, int, bool]]:
        """Return the tokens from a place on, as SyncPoints has them: braces among the phrases that are begun
        are open.
        """
        return self.marks.tokens(start, sum(node.token == "{" for node in begun))

    def settle(self, terminal: str) -> None:
        """Finish the phrases that end before a terminal."""
        self.parser.settle(terminal, self.stack)

    def begun(self, anchor: int) -> list[Node]:
        """Return the phrases that were read since a place of the stack."""
        return flat(self.values[anchor:])


def _defined(begun: list[Node], text: str) -> list[str]:
    """Return the names that an operation defines: its outputs where they were read, else all before its `=`."""
    for node in begun:
        if node.name == "results":
            return [child.children[-1].token or "" for child in node.children if child.children]
    return names_in(re.split("[=(;]", text, maxsplit=1)[0]) if "=" in text else []
