"""Programs of a thousand operations, of ten kinds, each with a fault in one of them that a test can look for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from miltext.parsing.parser import parse
from miltext.schema.proto import Program

OPERATIONS = 1000


class Lines:
    """The operations of a block as text, each with a name of its own."""

    def __init__(self, prefix: str = "v") -> None:
        self.lines: list[str] = []
        self.prefix = prefix

    def __len__(self) -> int:
        return len(self.lines)

    def add(self, op: str, sizes: str = "1, 4, 8", dtype: str = "fp32", outputs: int = 1, **inputs: str) -> str:
        name = f"{self.prefix}{len(self.lines)}"
        names = [name, *[f"{name}_{nth}" for nth in range(1, outputs)]]
        made = ", ".join(f"tensor<{dtype}, [{sizes}]> {each}" for each in names)
        given = ", ".join(f"{key} = {value}" for key, value in sorted(inputs.items()))
        self.lines.append(f'{made} = {op}({given})[name = string("{name}")];')
        return name

    def text(self) -> str:
        return "\n".join(self.lines)


class Large(NamedTuple):
    """A program, the name of what its faulty operation makes, and how many operations have to be `left`."""

    program: Program
    fault: str
    left: int = 1


def function(lines: Lines, outputs: str, inputs: str = "tensor<fp32, [1, 4, 8]> x", name: str = "main") -> str:
    return f"func {name}<ios18>({inputs}) {{\n{lines.text()}\n}} -> ({outputs});\n"


def program(*functions: str) -> Program:
    return parse("program(1.3)\n{\n" + "".join(functions) + "}\n")


def grown(lines: Lines, value: str, count: int, *ops: str) -> str:
    """Add so many operations of one input, one after another."""
    for nth in range(count):
        value = lines.add(ops[nth % len(ops)], x=value)
    return value


def chain() -> Large:
    lines = Lines()
    last = grown(lines, "x", OPERATIONS, "relu", "tanh", "sigmoid")
    return Large(program(function(lines, last)), "v700")


def wide() -> Large:
    """Thirty branches, which are added up."""
    lines = Lines()
    branches = [grown(lines, "x", 32, "relu", "sin", "tanh") for _ in range(30)]
    total = branches[0]
    for each in branches[1:]:
        total = lines.add("add", x=total, y=each)
    total = grown(lines, total, OPERATIONS - len(lines), "relu")
    return Large(program(function(lines, total)), "v77")


WEIGHT = "tensor<fp32, [4, 4, 1]>([" + ", ".join(["[[1.0], [0.5], [0.25], [2.0]]"] * 4) + "])"
CONV: dict[str, Any] = {
    "weight": "w",
    "dilations": "tensor<int32, [1]>([1])",
    "groups": "int32(1)",
    "pad": "tensor<int32, [2]>([0, 0])",
    "pad_type": 'string("valid")',
    "strides": "tensor<int32, [1]>([1])",
}


def residual() -> Large:
    """Blocks of convolutions with a way around each, and all of them with one weight."""
    lines = Lines()
    lines.lines.append(f"tensor<fp32, [4, 4, 1]> w = const()[val = {WEIGHT}];")
    value = "x"
    while len(lines) <= OPERATIONS - 5:
        inner = lines.add("conv", x=value, **CONV)
        inner = lines.add("relu", x=inner)
        inner = lines.add("conv", x=inner, **CONV)
        value = lines.add("add", x=value, y=inner)
    value = grown(lines, value, OPERATIONS + 1 - len(lines), "relu")
    return Large(program(function(lines, value)), "v499")


def attention() -> Large:
    """Blocks of a transformer."""
    lines = Lines()
    value, yes, no = "x", "bool(true)", "bool(false)"
    while len(lines) <= OPERATIONS - 8:
        normed = lines.add("layer_norm", axes="tensor<int32, [1]>([-1])", x=value)
        square = lines.add("matmul", "1, 4, 4", x=normed, y=normed, transpose_x=no, transpose_y=yes)
        likely = lines.add("softmax", "1, 4, 4", x=square, axis="int32(-1)")
        mixed = lines.add("matmul", x=likely, y=normed, transpose_x=no, transpose_y=no)
        turned = lines.add("transpose", "1, 8, 4", x=mixed, perm="tensor<int32, [3]>([0, 2, 1])")
        back = lines.add("reshape", x=turned, shape="tensor<int32, [3]>([1, 4, 8])")
        value = lines.add("add", x=value, y=back)
    value = grown(lines, value, OPERATIONS - len(lines), "relu")
    return Large(program(function(lines, value)), "v500")


def functions() -> Large:
    """Three functions, of which the fault is not in the main one."""
    made = []
    for name, count in (("decode", 400), ("main", 200), ("prefill", 400)):
        lines = Lines(f"{name}_")
        last = grown(lines, "x", count, "relu", "exp", "sigmoid")
        made.append(function(lines, last, name=name))
    return Large(program(*made), "decode_250")


def states() -> Large:
    """A state that is read and written again and again."""
    lines = Lines()
    value = "x"
    while len(lines) < OPERATIONS:
        before = lines.add("read_state", dtype="fp16", input="s")
        value = lines.add("add", dtype="fp16", x=before, y=value)
        lines.lines.append(f"write_state(data = {value}, input = s);")
        value = lines.add("relu", dtype="fp16", x=value)
    inputs = "tensor<fp16, [1, 4, 8]> x, state<tensor<fp16, [1, 4, 8]>> s"
    return Large(program(function(lines, value, inputs)), "v600")


def loop() -> Large:
    """Nearly everything in the body of a loop."""
    inner = Lines("inner")
    last = grown(inner, "now", OPERATIONS - 3, "relu", "sigmoid", "tanh")
    text = f"""
        tensor<fp32, [1, 4, 8]> y = while_loop(loop_vars = x)
            (tensor<fp32, [1, 4, 8]> before) {{
                fp32 sum = reduce_sum(x = before, keep_dims = bool(false));
                bool small = less(x = sum, y = fp32(100.0));
            }} -> (small)
            (tensor<fp32, [1, 4, 8]> now) {{
                {inner.text()}
            }} -> ({last});"""
    lines = Lines()
    lines.lines.append(text)
    return Large(program(function(lines, "y")), "inner600")


def branches() -> Large:
    """Conditions, each with a few operations on either side."""
    lines = Lines()
    lines.lines.append("bool p = greater(x = n, y = int32(3));")
    value = "x"
    for nth in range(124):
        left, right = Lines(f"a{nth}_"), Lines(f"b{nth}_")
        ends = grown(left, value, 3, "relu", "tanh"), grown(right, value, 3, "sin", "cos")
        value = f"c{nth}"
        lines.lines.append(f"""
            tensor<fp32, [1, 4, 8]> {value} = cond(pred = p)
                () {{ {left.text()} }} -> ({ends[0]})
                () {{ {right.text()} }} -> ({ends[1]});""")
        value = lines.add("relu", x=value)
    value = grown(lines, value, 7, "relu")
    return Large(program(function(lines, value, "tensor<fp32, [1, 4, 8]> x, int32 n")), "b60_1")


def splits() -> Large:
    """Operations of several outputs, which are joined again."""
    lines = Lines()
    value = "x"
    while len(lines) < OPERATIONS:
        split = lines.add("split", "1, 4, 4", x=value, axis="int32(2)", num_splits="int32(2)", outputs=2)
        turned = lines.add("relu", "1, 4, 4", x=f"{split}_1")
        value = lines.add("concat", values=f"({turned}, {split})", axis="int32(2)", interleave="bool(false)")
        value = lines.add("tanh", x=value)
    return Large(program(function(lines, value)), "v400")


def masks() -> Large:
    """Values of types that no model takes or gives, between those that it does."""
    lines = Lines()
    value = "x"
    while len(lines) < OPERATIONS:
        is_large = lines.add("greater", dtype="bool", x=value, y="fp32(0.5)")
        is_small = lines.add("logical_not", dtype="bool", x=is_large)
        other = lines.add("exp", x=value)
        value = lines.add("select", a=value, b=other, cond=is_small)
    return Large(program(function(lines, value)), "v601", left=3)


KINDS: dict[str, Callable[[], Large]] = {
    each.__name__: each for each in (chain, wide, residual, attention, functions, states, loop, branches, splits, masks)
}
