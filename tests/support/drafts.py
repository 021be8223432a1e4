"""Drafts by chance: the same program in the short spelling, however it may be spelled, and in the long one."""

from __future__ import annotations

from itertools import count
from typing import NamedTuple

from hypothesis import strategies as st

LIKE = "tensor<fp16, [2, 4]>"
UNARY = ("relu", "tanh", "sigmoid", "square")
BINARY = ("add", "mul", "maximum")
HEAD = f"program(1.3)\n{{\n    func main<ios18>({LIKE} x, bool p) {{\n"


class Draft(NamedTuple):
    """A program in the short spelling and in the long one."""

    short: str
    long: str


class Expression(NamedTuple):
    """What an argument is in the short spelling, the statements before it in the long one, and what it is there."""

    short: str
    before: list[str]
    long: str


class _Writer:
    """Writes statements by chance; all values are of one type, so that any may stand anywhere."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.numbers = count()

    def one_of(self, *choices: str) -> str:
        return self.draw(st.sampled_from(choices))

    def number(self, least: int, most: int) -> int:
        return self.draw(st.integers(least, most))

    def expression(self, seen: list[str], depth: int) -> Expression:
        if depth == 0 or self.draw(st.booleans()):
            name = self.one_of(*seen)
            return Expression(name, [], name)
        short, before, long = self.call(seen, depth - 1)
        name = f"long_{next(self.numbers)}"
        return Expression(short, [*before, f"{LIKE} {name} = {long};"], name)

    def call(self, seen: list[str], depth: int) -> Expression:
        """An operation without its outputs."""
        kind = self.number(0, 3)
        first = self.expression(seen, depth)
        if kind == 0:
            return self.written(self.one_of(*UNARY), {"x": first})
        if kind == 1:
            bounds = {"alpha": self.literal("-1", "-0x1p-3"), "beta": self.literal("0.5", "6")}
            return self.written("clip", {"x": first, **bounds})
        second = (
            self.literal("0.5", "-1", "2", "0x1p-3", "-1e-2")
            if self.draw(st.booleans())
            else self.expression(seen, depth)
        )
        if kind == 2:
            return self.written(self.one_of(*BINARY), {"x": first, "y": second})
        third = self.expression(seen, depth)
        values = [first, third]
        stacked = Expression(
            f"({first.short}, {third.short})",
            [line for each in values for line in each.before],
            f"({first.long}, {third.long})",
        )
        name = f"long_{next(self.numbers)}"
        inner = self.written("stack", {"values": stacked, "axis": Expression("0", [], "int32(0)")})
        made = f"tensor<fp16, [2, 2, 4]> {name} = {inner.long};"
        axes = Expression("[0]", [], "tensor<int32, [1]>([0])")
        return self.written("reduce_max", {"x": Expression(inner.short, [*inner.before, made], name), "axes": axes})

    def literal(self, *choices: str) -> Expression:
        literal = self.one_of(*choices)
        typed = f"fp16({literal})"
        return Expression(self.one_of(literal, typed), [], typed)

    def written(self, op_type: str, given: dict[str, Expression]) -> Expression:
        """An operation with these arguments, in the order of its signature: some by their places, others by name."""
        names = [*given]
        places = self.number(0, len(names))
        order = [*names[:places], *self.draw(st.permutations(names[places:]))]
        short = [given[name].short if at < places else f"{name} = {given[name].short}" for at, name in enumerate(order)]
        long = ", ".join(f"{name} = {each.long}" for name, each in given.items())
        attribute = self.one_of("", "", '[note = "n"]')
        typed = attribute.replace('"n"', 'string("n")')
        laid_out = [*order[:places], *sorted(order[places:])]
        before = [line for name in laid_out for line in given[name].before]
        return Expression(f"{op_type}({', '.join(short)}){attribute}", before, f"{op_type}({long}){typed}")

    def statement(self, name: str, seen: list[str], depth: int) -> Expression:
        kind = self.number(0, 9)
        head = self.one_of("", "_ ", f"{LIKE} ")
        if kind == 9 and depth > 1:
            return self.cond(name, seen, head)
        short, before, long = self.call(seen, depth)
        return Expression(f"{head}{name} = {short};", before, f"{LIKE} {name} = {long};")

    def cond(self, name: str, seen: list[str], head: str) -> Expression:
        blocks = []
        for at in range(2):
            inner = f"{name}_b{at}"
            made = self.statement(inner, seen, 1)
            blocks.append((f"() {{ {made.short} }} -> ({inner})", f"() {{ {_lines(made)} }} -> ({inner})"))
        short, long = (" ".join(each[place] for each in blocks) for place in range(2))
        given = self.one_of("p", "pred = p")
        return Expression(f"{head}{name} = cond({given}) {short};", [], f"{LIKE} {name} = cond(pred = p) {long};")


def _lines(made: Expression) -> str:
    return " ".join([*made.before, made.long])


@st.composite
def drafts(draw: st.DrawFn) -> Draft:
    """A draft of a few statements, and the same as Apple's compiler spells it."""
    writer, seen = _Writer(draw), ["x"]
    short, long = list[str](), list[str]()
    for at in range(writer.number(1, 4)):
        made = writer.statement(f"v{at}", seen, 2)
        short.append(made.short)
        long.append(_lines(made))
        seen.append(f"v{at}")
    foot = f"        }} -> ({seen[-1]});\n}}\n"
    return Draft(*("".join([HEAD, *[f"            {line}\n" for line in lines], foot]) for lines in (short, long)))
