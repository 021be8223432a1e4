"""Expressions in the attributes of rules: conditions, and numbers for the replacement.

`rank(x) == 3 and dtype(x) in (fp16, fp32)` is a condition. The syntax is a part of Python's expressions, read by `ast`
and never executed by Python. A name of the pattern means the value of that constant; the functions test a value by its
name. Other names are words: data types and operations.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Collection, Mapping
from typing import Any, Protocol

from miltext.schema.dtypes import BY_NAME
from miltext.schema.operations import all_names

LONGEST = 4096
"""The greatest length of a list in an expression."""

Data = Any
"""The value of an expression: a number, a truth value, a string, or a list of these."""

Ask = Callable[[str], Data]


class UnknownFact(Exception):
    """An expression has no value for this match; the message contains the reason."""


class WrongExpression(ValueError):
    """The text is not an expression of rules; the message contains the reason."""


class Facts(Protocol):
    """The values of a match."""

    def contents(self, name: str) -> Data:
        """Return the contents of a constant, and a word as itself. Raise UnknownFact for any other value."""
        ...

    def ask(self, question: str, name: str) -> Data:
        """Return the answer to one of the QUESTIONS about a value. Raise UnknownFact for none."""
        ...


QUESTIONS = {
    "rank": "the number of dimensions",
    "dtype": "the data type",
    "shape": "the list of sizes",
    "constant": "whether the value is an uncompressed constant",
    "compressed": "whether the value is a compressed constant",
    "given": "whether the operation has the argument",
    "uses": "the number of uses of the value",
    "users": "the types of the operations that use the value, sorted, each once",
    "maker": "the type of the operation that makes the value; empty for an input",
    "finite": "whether no element of the constant is an infinity or NaN",
    "number": "the number that all elements of the constant are, bit for bit",
    "negative": "whether an element of the constant is negative, which -0.0 is",
    "lowest": "the least element of the constant",
    "highest": "the greatest element of the constant",
}
"""The functions of one name, with their results."""


FUNCTIONS: Mapping[str, Callable[..., Data]] = {
    "len": len, "min": min, "max": max, "sum": sum, "abs": abs, "all": all, "any": any, "sorted": sorted,
}  # fmt: skip

_BINARY: Mapping[type[ast.operator], Callable[[Data, Data], Data]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip

_COMPARISONS: Mapping[type[ast.cmpop], Callable[[Data, Data], Data]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
}  # fmt: skip

_UNARY: Mapping[type[ast.unaryop], Callable[[Data], Data]] = {
    ast.Not: operator.not_,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}


class Expression:
    """An expression, read once, for any number of matches."""

    def __init__(self, text: str, names: Collection[str]) -> None:
        """Read a text. Raise WrongExpression for another syntax, and for a name that is neither of the pattern, nor a
        data type, nor an operation.
        """
        self.text = text
        try:
            self._body = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as failure:
            raise WrongExpression(f"it cannot be read: {getattr(failure, 'msg', failure)}") from None
        _ExpressionCheck(names).visit(self._body)
        is_and = isinstance(self._body, ast.BoolOp) and isinstance(self._body.op, ast.And)
        parts = self._body.values if isinstance(self._body, ast.BoolOp) and is_and else [self._body]
        self._parts = [(part, ast.unparse(part)) for part in parts]

    def value(self, facts: Facts) -> Data:
        """Return the value for a match. Raise UnknownFact if it has none."""
        return self._computed(self._body, facts)

    def failing(self, facts: Facts) -> str:
        """Return the first part of a condition, between `and`, that is false for a match; empty if all hold.

        Raise UnknownFact if a part has no value.
        """
        return next((text for part, text in self._parts if not self._computed(part, facts)), "")

    def _computed(self, part: ast.expr, facts: Facts) -> Data:
        try:
            return _Computation(facts).value(part)
        except (ArithmeticError, LookupError, TypeError, ValueError) as failure:
            raise UnknownFact(f"`{ast.unparse(part)}` has no value: {failure}") from None


class _ExpressionCheck(ast.NodeVisitor):
    """Refuses the syntax that expressions lack, and unknown names."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = names

    def generic_visit(self, node: ast.AST) -> None:
        allowed = (
            ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.BinOp, ast.Compare, ast.Subscript, ast.Slice, ast.List,
            ast.Tuple, ast.IfExp, ast.Load, *_BINARY, *_COMPARISONS, *_UNARY,
        )  # fmt: skip
        if not isinstance(node, allowed):
            raise WrongExpression(f"`{ast.unparse(node)}` is not part of the language of conditions")
        for field, known in (("op", (*_BINARY, *_UNARY, ast.And, ast.Or)), ("ops", (*_COMPARISONS,))):
            used = getattr(node, field, [])
            if not all(isinstance(each, known) for each in (used if isinstance(used, list) else [used])):
                message = f"the operator of `{ast.unparse(node)}` is not part of the language of conditions"
                raise WrongExpression(message)
        super().generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if not isinstance(node.value, bool | int | float | str):
            raise WrongExpression(f"`{ast.unparse(node)}` is not a number, a truth value or a string")

    def visit_Name(self, node: ast.Name) -> None:
        if node.id not in self._names and node.id not in BY_NAME and node.id not in all_names():
            raise WrongExpression(f"`{node.id}` is not a name of the pattern, a data type or an operation")

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        asked = node.args[0].id if node.args and isinstance(node.args[0], ast.Name) else None
        if node.keywords or (name not in QUESTIONS and name not in FUNCTIONS and name != "size"):
            known = ", ".join(sorted([*QUESTIONS, *FUNCTIONS, "size"]))
            raise WrongExpression(f"`{ast.unparse(node)}` is not one of the functions: {known}")
        if name in FUNCTIONS:
            rest = node.args
        else:
            if asked not in self._names or len(node.args) != (2 if name == "size" else 1):
                example = f"{name}(x, 1)" if name == "size" else f"{name}(x)"
                raise WrongExpression(f"`{ast.unparse(node)}` must test a name of the pattern: `{example}`")
            rest = node.args[1:]
        for argument in rest:
            self.visit(argument)


class _Computation:
    """The value of an expression for a match."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    def value(self, node: ast.expr) -> Data:
        compute: Callable[[Any], Data] = getattr(self, f"_{type(node).__name__.lower()}")
        made = compute(node)
        if isinstance(made, list | str) and len(made) > LONGEST:
            raise UnknownFact(f"`{ast.unparse(node)}` has more than {LONGEST} elements")
        return made

    def _constant(self, node: ast.Constant) -> Data:
        return node.value

    def _name(self, node: ast.Name) -> Data:
        return self._facts.contents(node.id)

    def _list(self, node: ast.List | ast.Tuple) -> Data:
        return [self.value(each) for each in node.elts]

    _tuple = _list

    def _boolop(self, node: ast.BoolOp) -> Data:
        results = (self.value(each) for each in node.values)
        return all(results) if isinstance(node.op, ast.And) else any(results)

    def _unaryop(self, node: ast.UnaryOp) -> Data:
        return _UNARY[type(node.op)](self.value(node.operand))

    def _binop(self, node: ast.BinOp) -> Data:
        left, right = self.value(node.left), self.value(node.right)
        for one, other in ((left, right), (right, left)):
            if isinstance(one, list | str) and isinstance(other, int) and len(one) * other > LONGEST:
                raise UnknownFact(f"`{ast.unparse(node)}` has more than {LONGEST} elements")
        return _BINARY[type(node.op)](left, right)

    def _compare(self, node: ast.Compare) -> Data:
        left = self.value(node.left)
        for operation, each in zip(node.ops, node.comparators, strict=True):
            right = self.value(each)
            if not _COMPARISONS[type(operation)](left, right):
                return False
            left = right
        return True

    def _ifexp(self, node: ast.IfExp) -> Data:
        return self.value(node.body if self.value(node.test) else node.orelse)

    def _subscript(self, node: ast.Subscript) -> Data:
        return self.value(node.value)[self.value(node.slice)]

    def _slice(self, node: ast.Slice) -> Data:
        return slice(*(None if each is None else self.value(each) for each in (node.lower, node.upper, node.step)))

    def _size(self, name: str, axis: Data) -> Data:
        """Return the size of one dimension, which must be known."""
        size = self._facts.ask("sizes", name)[axis]
        if size is None:
            raise UnknownFact(f"the size of dimension {axis} of `{name}` is unknown")
        return size

    def _call(self, node: ast.Call) -> Data:
        assert isinstance(node.func, ast.Name)
        name = node.func.id
        if name in FUNCTIONS:
            return FUNCTIONS[name](*map(self.value, node.args))
        asked = node.args[0]
        assert isinstance(asked, ast.Name)
        if name == "size":
            return self._size(asked.id, self.value(node.args[1]))
        return self._facts.ask(name, asked.id)
