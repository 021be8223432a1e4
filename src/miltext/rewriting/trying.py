"""Tests of rules by themselves: on the examples of their file, and on programs that differ from these in one token.

An example must be rewritten, and the result must be as exact as declared. A program that the rule must keep must stay.
A program with one other token may be rewritten, but then the result must be exact, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from miltext.diagnostics import MiltextError, line_and_column
from miltext.drafting.draft import Draft
from miltext.ir.graph import Graph
from miltext.parsing.recovery import recover
from miltext.rewriting.operands import ConstantContents
from miltext.rewriting.passes import GraphPass
from miltext.rewriting.planning import Rewriter
from miltext.rewriting.rule_files import written_tree
from miltext.rewriting.verifying import (
    Verifying,
    given_note,
    new_errors,
    prove_rule,
    require_interfaces,
    written,
)
from miltext.syntax.phrases import functions, name_in, output_list, outputs
from miltext.syntax.tree import walk

if TYPE_CHECKING:
    from miltext.diagnostics import Diagnostic
    from miltext.rewriting.passes import AnyRule
    from miltext.rewriting.proving import Proof
    from miltext.schema.proto import Program
    from miltext.syntax.tree import Node

NUMBERS = ("0", "1", "2", "-1", "0.5")
"""The numbers that replace a number of an example."""

DTYPES = {"fp16": "fp32", "fp32": "fp16"}
"""The data types that replace a data type of an example, everywhere in it."""

TRUTHS = {"true": "false", "false": "true"}


class RuleFailure(NamedTuple):
    """A failed test of a rule: the function, the change of its text, empty for none, the message, and its notes."""

    function: str
    change: str
    message: str
    notes: tuple[str, ...] = ()


@dataclass
class RuleTest:
    """The test of a rule: the numbers of examples, of programs to keep, of inputs, and of changed programs that were
    valid and that were rewritten; and the failures.
    """

    rule: str
    examples: int = 0
    keeps: int = 0
    inputs: int = 0
    changed: int = 0
    rewritten: int = 0
    failures: list[RuleFailure] = field(default_factory=list)


class Variant(NamedTuple):
    """A text of a function, and its change in words."""

    text: str
    change: str


def try_rule(rule: AnyRule) -> RuleTest:
    """Test a rule."""
    made = RuleTest(rule.name)
    owner, what = (rule.name, "text") if isinstance(rule, GraphPass) else (rule.pattern.name, "function")
    if not rule.examples:
        message = f"there is no example: add a {what} `example_{rule.name}` that the rule changes"
        made.failures.append(RuleFailure(owner, "", message))
    if not rule.keeps:
        message = f"there is no near miss: add a {what} `keep_{rule.name}` that the rule does not change"
        made.failures.append(RuleFailure(owner, "", message))
    for name in (*rule.examples, *rule.keeps):
        _try_example(made, rule, name)
    return made


def _try_example(made: RuleTest, rule: AnyRule, name: str) -> None:
    """Test a rule on an example or a program to keep, and on its variants."""
    alone = _text(rule, name)
    is_example = name in rule.examples
    made.examples += is_example
    made.keeps += not is_example
    trial = _Trial(made, rule, name)
    before = _program(alone, None if isinstance(rule, GraphPass) else rule.file.path)
    if isinstance(before, str):
        trial.fail(before)
        return
    is_changed = trial.run(before, is_whole=True)
    if is_changed is not None and is_changed != is_example:
        trial.fail(f"the rule does not change it{_reason(rule, before)}" if is_example else "the rule changes it")
    for variant in variants(rule, name, alone):
        program = _program(variant.text, None)
        if not isinstance(program, str):
            made.changed += 1
            trial.change = variant.change
            made.rewritten += bool(trial.run(program, is_whole=rule.domain is None))


class _Trial:
    """Rewrites programs made from a function of a rule file, and records failures."""

    def __init__(self, made: RuleTest, rule: AnyRule, name: str) -> None:
        self._made = made
        self._rule = rule
        self._name = name
        self.change = ""

    def fail(self, message: str, notes: tuple[str, ...] = ()) -> None:
        """Record a failure."""
        self._made.failures.append(RuleFailure(self._name, self.change, message, notes))

    def run(self, before: Program, *, is_whole: bool) -> bool | None:
        """Rewrite a program, and prove each site, and the program as a whole if requested.

        Return whether it changed; None after a failure.
        """
        contents = ConstantContents(None)
        verifying = Verifying(contents)
        graph = Graph(before)
        rewriter = Rewriter(graph, [self._rule], contents, verify=verifying.require)
        try:
            rewriter.run()
            after = written(graph)
            require_interfaces(before, after)
        except MiltextError as failure:
            [found] = failure.diagnostics
            self.fail(found.message, tuple(note.message for note in found.notes))
            return None
        self._made.inputs += verifying.inputs
        if rewriter.replaced:
            for each in new_errors(before, after):
                self.fail(each.message)
            for function in sorted(before.functions) if is_whole else ():
                self._judge(prove_rule(self._rule, before, after, function))
        return bool(rewriter.replaced)

    def _judge(self, proof: Proof) -> None:
        self._made.inputs += proof.inputs
        if not proof.is_proven and not (proof.is_void and self.change):
            self.fail(proof.failure, tuple(each.message for each in given_note(proof.given)))


def _reason(rule: AnyRule, program: Program) -> str:
    """Return the reason of the first refused site of a rule, after a colon; empty without a site."""
    rewriter = Rewriter(Graph(program), [rule], ConstantContents(None))
    rewriter.run()
    return f": {rewriter.refused[0].reason}" if rewriter.refused else ""


# ---- texts


def _program(text: str, path: str | None) -> Program | str:
    """Return the Program of a draft; the first error of a wrong one."""
    try:
        return Draft(text, path).model.program
    except MiltextError as failure:
        return next((_placed(each, text) for each in failure.diagnostics if each.severity == "error"), str(failure))


def _placed(found: Diagnostic, text: str) -> str:
    """Return the message of an error, after its line; a function alone has the lines of its file."""
    line = f"line {line_and_column(text, found.span.start)[0]}: " if found.span else ""
    return f"{line}{found.message}"


def _text(rule: AnyRule, name: str) -> str:
    """Return the text of an example or a program to keep."""
    if isinstance(rule, GraphPass):
        return {**rule.examples, **rule.keeps}[name]
    return rule.file.alone(name)


def _functions(rule: AnyRule, name: str, text: str) -> list[Node]:
    """Return the functions of an example or a program to keep, with their places in its text."""
    if not isinstance(rule, GraphPass):
        return [each for each in functions(written_tree(rule.file.read)) if name_in(each) == name]
    return [*functions(written_tree(recover(text, keep=True)))]


def variants(rule: AnyRule, name: str, alone: str, numbers: Sequence[str] = NUMBERS) -> Iterator[Variant]:
    """Yield the texts that differ from an example in one token, in one further output, or in a data type."""
    wholes = _functions(rule, name, alone)
    found = [each for function in wholes for each in walk(function) if each.token is not None]
    for token in found:
        others = numbers if token.name == "NUMBER" else [TRUTHS[token.token or ""]] if token.name == "BOOL" else ()
        for other in others:
            if other != token.token:
                text = alone[: token.start] + other + alone[token.end :]
                yield Variant(text, f"`{other}` in place of `{token.token}` at {token.start}")
    for function in wholes:
        yield from _with_outputs(function, alone)
    for dtype, other in DTYPES.items():
        words = [each for each in found if (each.token or "").strip('"') == dtype]
        text = alone
        for token in reversed(words):
            text = text[: token.start] + (token.token or "").replace(dtype, other) + text[token.end :]
        if words:
            yield Variant(text, f"`{other}` in place of `{dtype}`")


def _with_outputs(function: Node, alone: str) -> Iterator[Variant]:
    """Yield the texts that return one inner value more."""
    blocks = [each for each in walk(function) if each.name == "block"]
    place = output_list(blocks[0]).end - 1
    for operation in (each for each in walk(function) if each.name == "operation"):
        for each in outputs(operation):
            if name := name_in(each):
                yield Variant(f"{alone[:place]}, {name}{alone[place:]}", f"`{name}` is also an output")
