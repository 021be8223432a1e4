"""Rule files: MIL drafts whose functions are patterns, replacements and examples.

The prefix of a function's name determines its meaning: `find_NAME` is the pattern of a rule, and `replace_NAME` its
replacement. `unless_NAME` is a pattern for a value that must not occur; `example_NAME` and `keep_NAME` are programs
that the rule changes and does not change. Attributes of the find function, or of the file for all of its rules, contain
the other facts. `advise_NAME` is the pattern of an advisory, a known fault with facts in attributes, and without a
replacement.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from miltext.checking.findings import in_order, named
from miltext.diagnostics import ParseError, codes, error
from miltext.diagnostics.suggestions import did_you_mean, nearest
from miltext.ir.graph import Graph
from miltext.ir.parts import Op
from miltext.parsing.recovery import recover
from miltext.parsing.rule_texts import RULES
from miltext.parsing.spans import find
from miltext.rewriting.exactness import Exactness, domain_of
from miltext.rewriting.expressions import Expression, WrongExpression
from miltext.rewriting.patterns import RulePattern, WrongRule, belongs, require_known, require_own_names
from miltext.schema.paths import Key, Path
from miltext.syntax.literals import unquote
from miltext.syntax.phrases import functions, name_in

if TYPE_CHECKING:
    from miltext.diagnostics import Diagnostic, Span
    from miltext.ir.functions import Function
    from miltext.parsing.recovery import Recovered
    from miltext.syntax.tree import Node

VERSION = "1"
"""The version of rule files, which the attribute `rules` of the file states."""

FIND, REPLACE, UNLESS, EXAMPLE, KEEP, ADVISE = PREFIXES = (
    "find_", "replace_", "unless_", "example_", "keep_", "advise_",
)  # fmt: skip

SHARED = ("source", "purpose", "exactness", "systems", "domain")
"""The attributes that a file can state for all of its rules."""

OWN = (*SHARED, "where", "shared", "by")
"""The attributes of a find function."""

ADVICE = ("consequence", "happens", "instead", "source", "systems", "versions", "seen")
"""The attributes of an advise function beside `where` and `fix`; each must be stated."""


@dataclass(frozen=True, eq=False)
class RuleReplacement:
    """A replacement: its function in the file, and expressions for the inputs without a name in the pattern."""

    function: Function
    path: Path
    computed: Mapping[str, Expression]


@dataclass(frozen=True, eq=False)
class RewriteRule:
    """A rule; without a `replacement`, it can only be looked for.

    `where` must hold for a match. Inner values in `shared` may have uses outside of a match. `domain` is the greatest
    magnitude of finite inputs for which the exactness is claimed; None for all numbers. `examples` and `keeps` are
    names of functions of the file. `advice` are the facts of an advisory, and empty for any other rule.
    """

    name: str
    file: RuleFile = field(repr=False)
    pattern: RulePattern
    replacement: RuleReplacement | None
    where: Expression | None
    shared: frozenset[str]
    unless: tuple[RulePattern, ...]
    exactness: Exactness
    domain: float | None
    source: str = ""
    purpose: str = ""
    systems: str = ""
    examples: tuple[str, ...] = ()
    keeps: tuple[str, ...] = ()
    advice: Mapping[str, str] = field(default_factory=dict)


class RuleFile:
    """A rule file that was read: its `rules`, in the order of the text, and the functions in it."""

    def __init__(self, text: str, path: str | None = None) -> None:
        """Read a text. Raise ParseError with its mistakes."""
        self.text = text
        self.path = path
        self.read: Recovered = recover(text, keep=True)
        found = [each for each in self.read.diagnostics if each.severity == "error"]
        if found or self.read.program is None:
            raise ParseError(self.read.relocated(self.read.diagnostics), text=text, path=path)
        self.graph = Graph(self.read.program)
        wrong: list[WrongRule] = []
        self.rules = _Reading(self, wrong).rules()
        if wrong:
            raise ParseError(in_order(map(self.placed, wrong)), text=text, path=path)

    def placed(self, wrong: WrongRule) -> Diagnostic:
        """Return the diagnostic of a mistake at its place in the text."""
        return error(codes.WRONG_RULE, str(wrong), self.span(wrong.path))

    def alone(self, name: str) -> str:
        """Return the text with blanks in place of all functions but one, and of the attributes of the file."""
        root, text = written_tree(self.read), self.text
        for part in (*root.children, *functions(root)):
            is_other = part.name == "function" and name_in(part) != name
            if is_other or part.name in ("attributes", "SEMICOLON"):
                text = _blanked(text, part)
        return text

    def span(self, path: Path) -> Span:
        """Return the place of a path of the Program in the text."""
        assert self.read.root is not None, "a Program was read from it"
        return self.read.written(find(self.read.root, path).span)


def written_tree(read: Recovered) -> Node:
    """Return the tree of a text as it is written."""
    root = read.written_root or read.root
    assert root is not None, "a Program was read from it"
    return root


def _blanked(text: str, part: Node) -> str:
    blank = "".join(char if char in "\r\n" else " " for char in text[part.start : part.end])
    return text[: part.start] + blank + text[part.end :]


class _Reading:
    """Reads the rules of a file; mistakes are appended to `wrong`: the first one in each function."""

    def __init__(self, file: RuleFile, wrong: list[WrongRule]) -> None:
        self._file = file
        self._wrong = wrong
        self._read = file.read
        self._functions = file.graph.functions
        self._shared: dict[str, str] = {}

    def rules(self) -> list[RewriteRule]:
        with self._noted():
            self._head()
        return [] if self._wrong else self._read_functions()

    @contextmanager
    def _noted(self) -> Iterator[None]:
        """Note a mistake, and go on after it."""
        try:
            yield
        except WrongRule as wrong:
            self._wrong.append(wrong)

    def _read_functions(self) -> list[RewriteRule]:
        prefixes = {name: prefix for name in self._in_order for prefix in (FIND, ADVISE) if name.startswith(prefix)}
        rules = {name.removeprefix(prefix): name for name, prefix in prefixes.items()}
        if len(rules) < len(prefixes):
            twice = next(name for name, prefix in prefixes.items() if rules[name.removeprefix(prefix)] != name)
            other = named(rules[twice.removeprefix(prefixes[twice])])
            message = f"{named(twice)} and {other} have one name: rename one of them"
            self._wrong.append(WrongRule(message, ("functions", Key(twice))))
        for name in self._functions:
            with self._noted():
                self._known(name, rules)
        if not rules and not self._wrong:
            self._wrong.append(WrongRule("the file has no rule: begin the name of a function to find with `find_`", ()))
        found = []
        for name, function in rules.items():
            with self._noted():
                found.append(self._rule(name, self._functions[function], rules))
        return found

    @cached_property
    def _in_order(self) -> list[str]:
        """The names of the functions, in the order of the text."""
        assert self._read.root is not None, "a Program was read from it"
        return [*dict.fromkeys(map(name_in, functions(self._read.root)))]

    def _head(self) -> None:
        """Read the attributes of the file."""
        stated = self._strings(())
        if RULES not in stated:
            raise WrongRule(f'the file does not state its version: write `program(1.3)[rules = "{VERSION}"]`', ())
        if stated[RULES] != VERSION:
            way = f'this version of miltext reads version "{VERSION}"'
            raise WrongRule(f'rules of version "{stated[RULES]}" cannot be read: {way}', ("attributes", Key(RULES)))
        for key in stated:
            self._require(key, (RULES, *SHARED), ("attributes", Key(key)))
        self._shared = stated

    def _known(self, name: str, rules: Mapping[str, str]) -> None:
        """Raise WrongRule for a function that belongs to no rule."""
        path: Path = ("functions", Key(name))
        prefix = next((each for each in PREFIXES if name.startswith(each)), None)
        if prefix is None:
            begins = ", ".join(f"`{each}`" for each in PREFIXES)
            raise WrongRule(
                f"the name of {named(name)} does not state its purpose: begin it with one of {begins}", path
            )
        if prefix not in (FIND, REPLACE, ADVISE) and belongs(name, prefix, rules) is None:
            message = f"{named(name)} belongs to no rule: after `{prefix}`, write the name of a rule"
            raise WrongRule(f"{message}{did_you_mean(nearest(name.removeprefix(prefix), rules))}", path)

    def _rule(self, name: str, function: Function, rules: Mapping[str, str]) -> RewriteRule:
        pattern = RulePattern(function, self._read)
        is_advice = function.name.startswith(ADVISE)
        stated = self._strings(pattern.path, (*ADVICE, "where", "fix") if is_advice else OWN)
        where = self._expression(stated["where"], pattern, pattern.path, "where") if "where" in stated else None
        shared = frozenset(stated.get("shared", "").replace(",", " ").split())
        inner = {value.name for op in pattern.ops if op is not pattern.root for value in op.outputs}
        for each in sorted(shared - inner):
            raise WrongRule(f"{named(each)} is not an inner value of the pattern", self._at(pattern.path, "shared"))
        facts = {**{key: text for key, text in self._shared.items() if key != RULES}, **stated}
        return RewriteRule(
            name,
            self._file,
            pattern,
            None if is_advice else self._replacement(stated.get("by", name), pattern, is_named="by" in stated),
            where,
            shared,
            tuple(self._unless(each, pattern) for each in self._of(UNLESS, name, rules)),
            self._exactness(facts.get("exactness", "exact"), pattern.path),
            self._domain(facts.get("domain", "any"), pattern.path),
            source=facts.get("source", ""),
            purpose=facts.get("purpose", ""),
            systems=facts.get("systems", ""),
            examples=tuple(self._of(EXAMPLE, name, rules)),
            keeps=tuple(self._of(KEEP, name, rules)),
            advice=self._advice(facts, pattern) if is_advice else {},
        )

    def _advice(self, facts: Mapping[str, str], pattern: RulePattern) -> dict[str, str]:
        """Return the facts of an advisory, all of which must be stated."""
        missing = [key for key in ADVICE if key not in facts]
        if missing:
            message = f"{named(pattern.name)} does not state {named(missing[0])}: add the attribute"
            raise WrongRule(message, pattern.path)
        return {key: facts[key] for key in (*ADVICE, "fix") if key in facts}

    def _of(self, prefix: str, rule: str, rules: Mapping[str, str]) -> list[str]:
        return [each for each in self._in_order if belongs(each, prefix, rules) == rule]

    def _unless(self, name: str, pattern: RulePattern) -> RulePattern:
        """Read a pattern for a value of another pattern."""
        made = RulePattern(self._functions[name], self._read)
        if len(made.outputs) != 1 or made.outputs[0].name not in pattern.inputs:
            message = f"{named(name)} must return one value, with the name of an input of {named(pattern.name)}"
            raise WrongRule(message, made.path)
        return made

    def _replacement(self, name: str, pattern: RulePattern, *, is_named: bool) -> RuleReplacement | None:
        """Read the replacement of a pattern; None if it has none."""
        function = self._functions.get(f"{REPLACE}{name}")
        if function is None:
            if is_named:
                raise WrongRule(f"there is no function `{REPLACE}{name}`", self._at(pattern.path, "by"))
            return None
        path: Path = ("functions", Key(function.name))
        computed = self._strings(path)
        require_own_names(function, path)
        block = function.block
        if block is None or len(block.outputs) != len(pattern.outputs):
            raise WrongRule(f"{named(function.name)} must return as many values as {named(pattern.name)}", path)
        self._require_inputs(function, path, pattern, computed)
        if function.undefined:
            message = f"{named(next(iter(function.undefined)))} is neither an input of {named(function.name)} nor made"
            raise WrongRule(f"{message} in it: add it to the inputs", path)
        for at, part in function.parts():
            if isinstance(part, Op) and part.type != "const":
                require_known(part, at, self._read)
        return RuleReplacement(
            function, path, {key: self._expression(text, pattern, path, key) for key, text in computed.items()}
        )

    def _require_inputs(self, function: Function, path: Path, pattern: RulePattern, computed: Collection[str]) -> None:
        """Raise WrongRule unless each input of a replacement is one of the pattern, or computed in an attribute."""
        for index, value in enumerate(function.inputs):
            wanted = None if value.name in computed else pattern.inputs.get(value.name)
            if wanted is not None and value.type not in (None, wanted.type):
                message = f"the type of {named(value.name)} belongs to {named(pattern.name)}: state it there"
                raise WrongRule(message, (*path, "inputs", index))
            if value.name not in pattern.inputs and value.name not in computed:
                message = (
                    f"{named(value.name)} is not an input of {named(pattern.name)}: name it there, or compute it in an "
                    f'attribute: `[{value.name} = "rank(x)"]`'
                )
                raise WrongRule(message, (*path, "inputs", index))
        for key in computed:
            if key in OWN and key not in {value.name for value in function.inputs}:
                message = f"the attribute {named(key)} belongs to {named(pattern.name)}: state it there"
                raise WrongRule(message, self._at(path, key))
            self._require(key, tuple(value.name for value in function.inputs), self._at(path, key))

    # ---- attributes

    def _expression(self, text: str, pattern: RulePattern, path: Path, key: str) -> Expression:
        try:
            return Expression(text, pattern.names)
        except WrongExpression as wrong:
            raise WrongRule(f"{named(key)} is not an expression: {wrong}", self._at(path, key)) from None

    def _exactness(self, text: str, path: Path) -> Exactness:
        try:
            return Exactness(text)
        except ValueError as wrong:
            raise WrongRule(str(wrong), self._at(path, "exactness")) from None

    def _domain(self, text: str, path: Path) -> float | None:
        try:
            return domain_of(text)
        except ValueError as wrong:
            raise WrongRule(str(wrong), self._at(path, "domain")) from None

    def _at(self, path: Path, key: str) -> Path:
        """Return the path of an attribute of a function, or of the file if the file states it."""
        own = (*path, "attributes", Key(key))
        return own if own in self._read.drafts else path

    def _require(self, key: str, known: tuple[str, ...], path: Path) -> None:
        if key not in known:
            listed = ", ".join(known)
            message = f"there is no attribute {named(key)}{did_you_mean(nearest(key, known))}"
            raise WrongRule(f"{message}; the attributes here are {listed}", path)

    def _strings(self, owner: Path, known: tuple[str, ...] | None = None) -> dict[str, str]:
        """Return the attributes of the file or of a function, which are strings. Raise WrongRule."""
        part = self._functions[str(owner[1])] if owner else None
        attributes = part.attributes if part else self._file.graph.message.attributes
        found = {}
        for key in sorted(attributes):
            path = (*owner, "attributes", Key(key))
            if known is not None:
                self._require(key, known, path)
            gap = self._read.drafts.get(path)
            text = "" if gap is None else self._read.text[slice(*gap.last)]
            values = attributes[key].immediateValue.tensor.strings.values
            if text.startswith('"'):
                found[key] = unquote(text)
            elif gap is None and values:
                found[key] = values[0]
            else:
                raise WrongRule(f'the attribute {named(key)} is not a string: write `{key} = "..."`', path)
        return found
