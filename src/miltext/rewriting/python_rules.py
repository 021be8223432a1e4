"""Rule files in Python: functions over a graph. Their facts are read without running the code of the file."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from miltext.checking.findings import named
from miltext.diagnostics import Note, ParseError, Span, codes, error
from miltext.diagnostics.suggestions import did_you_mean, nearest
from miltext.rewriting.exactness import Exactness, domain_of
from miltext.rewriting.passes import GraphPass
from miltext.rewriting.patterns import belongs
from miltext.rewriting.rule_files import EXAMPLE, KEEP, SHARED, VERSION

if TYPE_CHECKING:
    from miltext.ir.graph import Graph
    from miltext.rewriting.operands import ConstantContents
    from miltext.rewriting.passes import RuleSite
    from miltext.rewriting.python_code import RuleCode

SUFFIX = ".py"
"""The end of the name of a rule file in Python."""

DECORATOR = "rule"
"""The name of the decorator of a rule, in `miltext` or imported from it."""

PARAMETERS = (1, 2)
"""The numbers of parameters of a rule: the graph, and the constants if it reads any."""

_LINE = re.compile(r"\r\n|[\r\n]")

Fact = TypeVar("Fact")


@dataclass(frozen=True, eq=False)
class PythonRule(GraphPass):
    """A rule of a rule file in Python."""

    file: PythonRuleFile = field(kw_only=True, repr=False)
    line: int = field(kw_only=True, repr=False)


class PythonRuleFile:
    """A rule file in Python: its `rules`, in the order of the text. Only `run` runs the code, which a rule needs."""

    def __init__(self, text: str, path: str) -> None:
        """Read the facts of a text. Raise ParseError (MIL870) for the first mistake."""
        self.text = text
        self.path = path
        self._starts = [0, *(found.end() for found in _LINE.finditer(text))]
        self._code: RuleCode | None = None
        tree = self._tree()
        stated = dict(_assigned(tree))
        self._require_version(stated.get("rules"))
        found = {node.name: node for node in self._functions(tree)}
        if not found:
            raise self.mistake("the file has no rule: write `@miltext.rule()` above a function of a graph", None)
        texts = self._texts(stated, found)
        self.rules = [self._rule(node, texts, found) for node in found.values()]

    def run(self) -> None:
        """Run the code of the file. Raise ParseError (MIL870) if it fails."""
        from miltext.rewriting.python_code import RuleCode

        self._code = RuleCode(self.text, self.path, self.mistake)

    def mistake(self, message: str, line: int | None, *notes: Note) -> ParseError:
        """Return the error of a mistake in a line."""
        span = None if line is None else self._span(line)
        return ParseError([error(codes.WRONG_RULE, message, span, *notes)], text=self.text, path=self.path)

    def _sites(self, name: str, takes: int, graph: Graph, contents: ConstantContents) -> Iterator[RuleSite]:
        assert self._code is not None, "the code of a rule is run only on request"
        return self._code.sites(name, takes, graph, contents)

    def _span(self, line: int) -> Span:
        """Return the place of a line, without the blanks around it."""
        start = self._starts[min(line, len(self._starts)) - 1]
        end = self._starts[line] if line < len(self._starts) else len(self.text)
        words = self.text[start:end]
        return Span(start + len(words) - len(words.lstrip()), start + len(words.rstrip()))

    # ---- facts

    def _tree(self) -> ast.Module:
        try:
            return ast.parse(self.text, self.path)
        except SyntaxError as wrong:
            raise self.mistake(f"the file is not Python: {wrong.msg}", wrong.lineno) from None
        except (ValueError, RecursionError, MemoryError) as wrong:
            raise self.mistake(f"the file is not Python: {wrong}", None) from None

    def _require_version(self, stated: ast.expr | None) -> None:
        if stated is None:
            raise self.mistake(f'the file does not state its version: write `rules = "{VERSION}"`', None)
        version = self._text("rules", stated)
        if version != VERSION:
            way = f'this version of miltext reads version "{VERSION}"'
            raise self.mistake(f'rules of version "{version}" cannot be read: {way}', stated.lineno)

    def _functions(self, tree: ast.Module) -> Iterator[ast.FunctionDef]:
        """Yield the functions that are rules."""
        seen = set[str]()
        for node in tree.body:
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or not any(map(_is_rule, _marks(node))):
                continue
            if isinstance(node, ast.AsyncFunctionDef):
                raise self.mistake(f"{named(node.name)} is asynchronous: write `def`", node.lineno)
            if node.name in seen:
                raise self.mistake(f"two rules have the name {named(node.name)}: rename one of them", node.lineno)
            if len(node.args.posonlyargs + node.args.args) not in PARAMETERS:
                message = f"{named(node.name)} must take the graph, or the graph and the constants"
                raise self.mistake(f"{message}: `def {node.name}(graph, constants):`", node.lineno)
            seen.add(node.name)
            yield node

    def _texts(self, stated: Mapping[str, ast.expr], rules: Mapping[str, object]) -> dict[str, str]:
        """Return the texts of examples and near misses by name."""
        found = {}
        for name, value in stated.items():
            prefix = next((each for each in (EXAMPLE, KEEP) if name.startswith(each)), None)
            if prefix is None:
                continue
            if belongs(name, prefix, rules) is None:
                message = f"{named(name)} belongs to no rule: after `{prefix}`, write the name of a rule"
                meant = did_you_mean(nearest(name.removeprefix(prefix), rules))
                raise self.mistake(f"{message}{meant}", value.lineno)
            found[name] = self._text(name, value)
        return found

    def _rule(self, node: ast.FunctionDef, texts: Mapping[str, str], rules: Mapping[str, object]) -> PythonRule:
        facts = self._facts(node)
        takes = len(node.args.posonlyargs + node.args.args)
        examples, keeps = (
            {name: text for name, text in texts.items() if belongs(name, prefix, rules) == node.name}
            for prefix in (EXAMPLE, KEEP)
        )
        return PythonRule(
            node.name,
            partial(self._sites, node.name, takes),
            facts.get("source", ""),
            facts.get("purpose", ""),
            facts.get("systems", ""),
            self._read(Exactness, facts.get("exactness", "exact"), node),
            self._read(domain_of, facts.get("domain", "any"), node),
            examples,
            keeps,
            file=self,
            line=node.lineno,
        )

    def _facts(self, node: ast.FunctionDef) -> dict[str, str]:
        """Return the keywords of the decorator of a rule."""
        [mark] = [each for each in _marks(node) if _is_rule(each)][:1]
        if not isinstance(mark, ast.Call):
            raise self.mistake("the decorator is not called: write `@miltext.rule()`", mark.lineno)
        facts = {}
        if mark.args or any(each.arg is None for each in mark.keywords):
            raise self.mistake('a fact of a rule must be a keyword argument: write `source="..."`', mark.lineno)
        for each in mark.keywords:
            name = str(each.arg)
            if name not in SHARED:
                message = f"there is no fact {named(name)}{did_you_mean(nearest(name, SHARED))}"
                raise self.mistake(f"{message}; the facts of a rule are {', '.join(SHARED)}", each.value.lineno)
            facts[name] = self._text(name, each.value)
        return facts

    def _text(self, name: str, value: ast.expr) -> str:
        """Return a string of the text. Raise ParseError for an expression that is not a literal."""
        if not isinstance(value, ast.Constant) or not isinstance(value.value, str):
            message = f"{named(name)} must be a string literal: it is read without running the file"
            raise self.mistake(message, value.lineno)
        return value.value

    def _read(self, kind: Callable[[str], Fact], text: str, node: ast.FunctionDef) -> Fact:
        try:
            return kind(text)
        except ValueError as wrong:
            raise self.mistake(str(wrong), node.decorator_list[0].lineno) from None


def _assigned(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names that a module assigns at its top, and the values."""
    for node in tree.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        for target in targets:
            if isinstance(target, ast.Name) and value is not None:
                yield target.id, value


def _marks(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.expr]:
    return node.decorator_list


def _is_rule(mark: ast.expr) -> bool:
    """Return whether a decorator is the decorator of rules."""
    function = mark.func if isinstance(mark, ast.Call) else mark
    return getattr(function, "attr", getattr(function, "id", None)) == DECORATOR
