"""Slips of people who write C, Python, PyTorch, MLIR or ONNX: what is written, what is said, what is suggested.

Each row is a statement in a function of a tensor `x`, or a whole head or end of one. The part of it that is told of
comes between `«` and `»`.
"""

from __future__ import annotations

import re
import time
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import miltext
from miltext.diagnostics import SAFE, Diagnostic
from miltext.drafting.draft import complete
from miltext.parsing import slips
from miltext.parsing.slip_patterns import Slip
from miltext.parsing.slips import SLIPS
from miltext.syntax.tables import load_grammar

T = "tensor<fp16, [2, 3]>"
AROUND = "program(1.3)\n{\n    func main<ios18>(tensor<fp16, [2, 3]> x) {\n            ROW\n        } -> (x);\n}\n"


class Row(NamedTuple):
    """A slip: its text with the place marked, the message, and what is suggested in the place, if anything."""

    written: str
    said: str
    suggested: str | None = None


UNTYPED = "an output's type comes before its name; a draft may leave it out"
NO_OPERATORS = "MIL has no operators; write `{}`"
APART = (
    "MIL has no operators; write `{}` as an operation of its own, and the name of its output here, or in a draft the "
    "operation"
)
CONSTANT = "a constant is made by an operation: `const()[val = {}]`"
EACH = "each argument and attribute is written `name = value`"
ARGUMENTS = "the arguments of an operation belong in parentheses, each as `name = value`, or in a draft in their order"
ATTRIBUTES = 'the attributes of an operation belong in brackets: `[name = string("y")]`'
SIZES = "the sizes of a tensor belong in brackets: `[2, 3]`"
TENSOR = "the type of a tensor is written `tensor<fp16, [2, 3]>`"
UNKNOWN_SIZE = "an unknown size is written `?`"
NAME = "a name consists of letters, digits, `_` and `@`, and begins with a letter or `_`"
SUFFIX = "a number has no suffix; its type is written before it"
EQUALS = "`=` comes between an output and its operation"
ELEMENTS = "the elements of a tensor or a list belong in brackets"
COMMA = "nothing follows this comma; remove it"
DTYPE = 'a data type is given as a string: `string("fp32")`'
TYPED = "the value of an attribute is written with its type"
NOTHING_KNOWN = (
    "the type of this literal cannot be inferred: nothing is known of `{}` of `relu`; write it out, as in `{}`"
)
CONST_VAL = "`const` takes an attribute: `const()[val = ...]`"
ALPHA = T + " y = leaky_relu(x = x, alpha = {});"
AXES = "tensor<fp16, [2]> y = reduce_sum(x = x, axes = {}, keep_dims = bool(false));"
CAST = "tensor<fp32, [2, 3]> y = cast(x = x, dtype = {});"

STATEMENTS = [
    # ---- how a statement begins
    Row("«let »y = relu(x = x);", f"MIL has no `let`; {UNTYPED}", ""),
    Row("«var »y = relu(x = x);", f"MIL has no `var`; {UNTYPED}", ""),
    Row("«auto »y = relu(x = x);", f"MIL has no `auto`; {UNTYPED}", ""),
    Row("«const »y = relu(x = x);", f"MIL has no `const`; {UNTYPED}", ""),
    Row(f"«let y: {T}» = relu(x = x);", f"MIL has no `let`; {UNTYPED}", f"{T} y"),
    Row(f"«const »{T} y = relu(x = x);", "MIL has no `const`: values never change", ""),
    Row(f"«y: {T}» = relu(x = x);", UNTYPED, f"{T} y"),
    Row("«y :=» relu(x = x);", UNTYPED, "y ="),
    Row("«(y, z)» = split(x = x, num_splits = 2, axis = 0);", f"outputs have no parentheses; {UNTYPED}", "y, z"),
    Row(f"«({T} y)» = relu(x = x);", "the outputs of an operation have no parentheses", f"{T} y"),
    Row("«x +=» x;", "values in MIL cannot be changed; give the result a new name"),
    Row("«return x;»", "the outputs of a block come after its `}`: `} -> (x)`"),
    Row("«return x»", "the outputs of a block come after its `}`: `} -> (x)`"),
    Row(
        "«return relu(x);»",
        "the outputs of a block have names, and come after its `}`: `y = relu(x);` and `} -> (y)`",
    ),
    Row(
        "«return relu(x = sin(x));»",
        "the outputs of a block have names, and come after its `}`: `y = relu(x = sin(x));` and `} -> (y)`",
    ),
    Row("«return»;", "the outputs of a block come after its `}`: `} -> (y)`"),
    Row("«for» i in range(3):", "MIL has no `for`; write the operation `while_loop`, or each step by itself"),
    Row("«if» (p) { }", "MIL has no `if`; write the operation `cond` or `select`"),
    Row(
        "«import coremltools» as ct",
        "MIL has no `import`: a program is one text, and operations are known by their names",
    ),
    Row("«relu(x = x) -> y»;", "the output of an operation comes before it, with `=`", "y = relu(x = x)"),
    Row(f"{T} y «->» relu(x = x);", EQUALS, "="),
    Row(f"{T} y «<-» relu(x = x);", EQUALS, "="),
    Row(f"{T} y «==» relu(x = x);", f"a single {EQUALS}", "="),
    Row(f"{T} y «»relu(x = x);", f"{EQUALS}; it is missing here", "="),
    Row(f"{T} y = relu(x = x)«»\n", "expected `;` after the operation", ";"),
    Row(f"{T} y = relu(x = x);«;»", "one `;` is enough", ""),
    Row("y = relu(tanh(x));«; ;;»", "one `;` is enough", ""),
    Row(f"{T} y = relu(x = x)« -> fp16»;", "the type of an output comes before its name", ""),
    Row(f"{T} y = relu(x = x)« : fp16»;", "the type of an output comes before its name", ""),
    # ---- names
    Row("«%0» = relu(x = x);", f"a name has no `%` and no digit first; {UNTYPED}", "var_0"),
    Row("«%y» = relu(x = x);", f"a name has no `%`; {UNTYPED}", "y"),
    Row(f"{T} «%0» = relu(x = x);", "a name has no `%` and no digit first", "var_0"),
    Row(f"{T} y = relu(x = «%x»);", "a name has no `%`", "x"),
    Row('«%y = "»mil.relu"(%x) : (f16) -> f16', "this is MLIR; MIL writes an operation as `fp16 y = relu(x = x);`"),
    Row(f"{T} «0y» = relu(x = x);", NAME, "_0y"),
    Row(f"{T} «layers.0.weight» = relu(x = x);", NAME, "layers_0_weight"),
    Row(f"{T} «y-1» = relu(x = x);", NAME, "y_1"),
    # ---- constants
    Row("fp16 c = «fp16(0.5)»;", CONSTANT.format("fp16(0.5)"), "const()[val = fp16(0.5)]"),
    Row("fp16 c = «0.5»;", CONSTANT.format("fp16(0.5)"), "const()[val = fp16(0.5)]"),
    Row("_ c = «0.5»;", f"{CONSTANT.format('...')}, its value with its type"),
    Row("bool c = «true»;", CONSTANT.format("bool(true)"), "const()[val = bool(true)]"),
    Row('fp16 c = «fp16»(0.5)[name = string("c")];', CONSTANT.format("...")),
    Row(
        'tensor<int32, [2]> c = «tensor<int32»,  [2]>([1, 2])[name = string("c")];',
        CONSTANT.format("..."),
    ),
    Row('c = «$npy("w.npy")»;', CONSTANT.format('$npy("w.npy")'), 'const()[val = $npy("w.npy")]'),
    Row('_ c = «fp16 $npz("a", "w")»;', CONSTANT.format('fp16 $npz("a", "w")'), 'const()[val = fp16 $npz("a", "w")]'),
    Row('fp16 c = «$blob("w", 64)»;', CONSTANT.format('$blob("w", 64)'), 'const()[val = $blob("w", 64)]'),
    Row('string c = «"a"»;', CONSTANT.format('string("a")'), 'const()[val = string("a")]'),
    Row(
        "tensor<int32, [2]> c = «tensor<int32, [2]>([1, 2])»;",
        CONSTANT.format("..."),
        "const()[val = tensor<int32, [2]>([1, 2])]",
    ),
    Row("fp16 c = const(«val» = fp16(0.5));", "`val` of `const` is an attribute; write `const()[val = ...]`"),
    Row("fp16 c = const«(fp16(0.5))»;", "`const` takes an attribute: `const()[val = ...]`", "()[val = fp16(0.5)]"),
    Row("fp16 c = const«(0.5)»;", "`const` takes an attribute: `const()[val = ...]`", "()[val = fp16(0.5)]"),
    Row("fp16 c = const«[»val = fp16(0.5)];", "`const` needs its parentheses, too: `const()[val = ...]`", "()["),
    Row(
        "fp16 c = const()[«fp16»(0.5)];",
        "an attribute is written `name = value`: `const()[val = ...]`",
        "val = fp16",
    ),
    Row(
        "fp16 c = «constant»()[val = fp16(0.5)];",
        "the operation `constant` is not known; in MIL it is `const`",
        "const",
    ),
    # ---- operations
    Row(f"{T} y = «x + x»;", NO_OPERATORS.format("add(x = x, y = x)"), "add(x = x, y = x)"),
    Row(f"{T} y = «x - x»;", NO_OPERATORS.format("sub(x = x, y = x)"), "sub(x = x, y = x)"),
    Row(f"{T} y = «x * 2.0»;", NO_OPERATORS.format("mul(x = x, y = 2.0)"), "mul(x = x, y = 2.0)"),
    Row(f"{T} y = «2.0 * x»;", NO_OPERATORS.format("mul(x = 2.0, y = x)"), "mul(x = 2.0, y = x)"),
    Row(f"{T} y = «x / x»;", NO_OPERATORS.format("real_div(x = x, y = x)"), "real_div(x = x, y = x)"),
    Row(f"{T} y = «x ** x»;", NO_OPERATORS.format("pow(x = x, y = x)"), "pow(x = x, y = x)"),
    Row("_ y = «x == x»;", NO_OPERATORS.format("equal(x = x, y = x)"), "equal(x = x, y = x)"),
    Row(f"{T} y = «-x»;", NO_OPERATORS.format("mul(x = x, y = -1.0)"), "mul(x = x, y = -1.0)"),
    Row(
        f"{T} y = mul(x = «x +» x, y = x);",
        APART.format("add"),
    ),
    Row("y «»relu(x = x);", f"{EQUALS}; it is missing here", "="),
    Row("y «<-» relu(x = x);", EQUALS, "="),
    Row("y «==» relu(x = x);", f"a single {EQUALS}", "="),
    Row("«_» = relu(x = x);", "`_` stands for a type; a name follows it"),
    Row("y, «_» = split(x = x, num_splits = 2, axis = 0);", "`_` stands for a type; a name follows it"),
    Row("y = relu« x»;", ARGUMENTS, "(x = x)"),
    Row(f"{T} y = «relu» x);", "an operation has its arguments in parentheses: `relu(...)`"),
    Row(f"{T} y = «add» x, x;", "an operation has its arguments in parentheses: `add(...)`"),
    Row("c = «0.5»;", CONSTANT.format("0.5"), "const()[val = 0.5]"),
    Row("c = «true»;", CONSTANT.format("true"), "const()[val = true]"),
    Row('c = «"a"»;', CONSTANT.format('"a"'), 'const()[val = "a"]'),
    Row("c = «[1, 2]»;", CONSTANT.format("[1, 2]"), "const()[val = [1, 2]]"),
    Row("c = «[[1], [2]]»;", CONSTANT.format("[[1], [2]]"), "const()[val = [[1], [2]]]"),
    Row(
        "c = const()[val = «relu»(x)];",
        "the value of a constant is a literal, not an operation: `const()[val = fp16(0.5)]`",
    ),
    Row(
        "y = mul(x, «-x»);",
        APART.format("mul"),
    ),
    Row(f"{T} y = «mb.relu»(x = x);", "an operation is written by its name alone: `relu`", "relu"),
    Row(f"{T} y = «torch.nn.functional.relu»(x = x);", "an operation is written by its name alone: `relu`", "relu"),
    Row(f"{T} y = «np.subtract»(x = x, y = x);", "an operation is written by its name alone: `sub`", "sub"),
    Row(f"{T} y = «x.relu()»;", "a value of MIL has no methods; write `relu(x = x)`", "relu(x = x)"),
    Row(
        f"{T} y = relu(x = «x.shape»);",
        "a value in MIL has no attributes or methods; write an operation with `x = x`",
    ),
    Row(
        f"{T} y = «x»;",
        "an operation has its arguments in parentheses; a copy of a value is `identity(x = x)`",
        "identity(x = x)",
    ),
    Row(f"{T} y = «relu»;", "an operation has its arguments in parentheses: `relu(...)`"),
    Row(f"{T} y = relu« x»;", ARGUMENTS, "(x = x)"),
    Row(f"{T} y = relu«[x = x]»;", ARGUMENTS, "(x = x)"),
    Row(f"{T} y = relu«{{x = x}}»;", ARGUMENTS, "(x = x)"),
    Row(
        f"{T} y = relu(x = «x[0]»);",
        "MIL has no indexing; write `slice_by_index` or `gather` as an operation of its own",
    ),
    Row(f"{T} y = «x[0]»;", "MIL has no indexing; write `slice_by_index` or `gather` as an operation of its own"),
    # ---- arguments and attributes
    Row(f'{T} y = relu(x = x)[name = string("y")«,»];', COMMA, ""),
    Row('list<string, 2> c = const()[val = list<string, 2>(["a", "b"«,»])];', COMMA, ""),
    Row(f"{T} y = relu(x«:» x);", EACH, " ="),
    Row(f"{T} y = relu(x «==» x);", "an argument is bound by a single `=`", "="),
    Row(f"{T} y = relu(x «=>» x);", "an argument is bound by a single `=`", "="),
    Row(f"{T} y = relu(x «:=» x);", EACH, "="),
    Row(
        'dict<string, int32> c = const()[val = «{"a":» 1}];',
        'a dictionary is written `dict<string, int32>({{"a", 1}, {"b", 2}})`',
    ),
    Row(f'{T} y = relu(«"x"» = x);', "the name of an argument has no quotes", "x"),
    Row(f"{T} y = relu(x = x«,»);", COMMA, ""),
    Row(f"{T} y = relu(x = «{T} x»);", "a value is used by its name alone: `x`", "x"),
    Row(
        "tensor<fp16, [4, 3]> y = concat(values = «[x, x]», axis = int32(0), interleave = bool(false));",
        "several values belong in parentheses: `(x, x)`",
        "(x, x)",
    ),
    Row(
        "tensor<fp16, [2, 3]> y = concat(values = «[x]», axis = int32(0), interleave = bool(false));",
        "one value is written alone: `x`",
        "x",
    ),
    Row("bool c = const()[val = bool(«0»)];", "expected `true` or `false`, found `0`; did you mean `false`?", "false"),
    Row("bool c = const()[val = bool(«1»)];", "expected `true` or `false`, found `1`; did you mean `true`?", "true"),
    Row(AXES.format("«{1}»"), "a list belongs in brackets, several values in parentheses", "[1]"),
    Row(AXES.format("«None»"), "`None` is not defined; leave the argument out"),
    Row(AXES.format("«null»"), "`null` is not defined; leave the argument out"),
    Row(
        AXES.format("[1]").replace("bool(false)", "«False»"),
        "`False` is not defined; did you mean `false`?",
        "false",
    ),
    Row(
        AXES.format("[1]").replace("false", "«False»"),
        "expected a literal after `(`, found `False`; did you mean `false`?",
        "false",
    ),
    Row(CAST.format("«fp32»"), DTYPE, 'string("fp32")'),
    Row(CAST.format("«np.float32»"), DTYPE, 'string("fp32")'),
    Row(CAST.format("«torch.float32»"), DTYPE, 'string("fp32")'),
    Row(
        CAST.format("«float32»"),
        '`float32` is not defined; did you mean `string("fp32")`?',
        'string("fp32")',
    ),
    Row(CAST.format("«'fp32'»"), "a string belongs in double quotes", '"fp32"'),
    Row(
        f'{T} y = relu(x = x, «name» = string("y"));',
        "`name` of `relu` is an attribute; write `relu(...)[name = ...]`",
    ),
    Row(
        f"{T} y = relu(x = x)[name = «y»];",
        'the value of an attribute is written with its type: `string("y")`',
        'string("y")',
    ),
    Row(
        f"{T} y = relu(x = x)[name = «'y'»];",
        'the value of an attribute is written with its type, and a string in double quotes: `string("y")`',
        'string("y")',
    ),
    Row(f'{T} y = relu(x = x)[«"name"» = string("y")];', "the name of an attribute has no quotes", "name"),
    Row(f'{T} y = relu(x = x)[name«:» string("y")];', EACH, " ="),
    Row(
        f'{T} y = relu(x = x)[«"y"»];',
        'an attribute is written `name = value`: `name = string("y")`',
        'name = string("y")',
    ),
    Row(f'{T} y = relu(x = x)«(name = string("y"))»;', ATTRIBUTES, '[name = string("y")]'),
    Row(f'{T} y = relu(x = x)«{{name = string("y")}}»;', ATTRIBUTES, '[name = string("y")]'),
    # ---- types
    Row("«float32» y = const()[val = fp32(1.0)];", "unknown type `float32`; did you mean `fp32`?", "fp32"),
    Row("tensor<«float16», [2, 3]> y = relu(x = x);", "unknown data type `float16`; did you mean `fp16`?", "fp16"),
    Row("tensor<«f16», [2, 3]> y = relu(x = x);", "unknown data type `f16`; did you mean `fp16`?", "fp16"),
    Row("tensor<«torch.float16», [2, 3]> y = relu(x = x);", "a data type is written by its name alone: `fp16`", "fp16"),
    Row("tensor<«2x3xfp16»> y = relu(x = x);", TENSOR, "fp16, [2, 3]"),
    Row("tensor<«2x3xf16»> y = relu(x = x);", TENSOR, "fp16, [2, 3]"),
    Row(
        "«tensor<fp16>» y = const()[val = fp16(1.0)];",
        "a tensor has a shape, as in `tensor<fp16, [2, 3]>`; a single value has the type `fp16`",
        "fp16",
    ),
    Row("tensor<fp16, «2, 3»> y = relu(x = x);", SIZES, "[2, 3]"),
    Row("tensor<fp16, «(2, 3)»> y = relu(x = x);", SIZES, "[2, 3]"),
    Row("tensor<fp16«[2, 3]»> y = relu(x = x);", "a comma comes between the data type and the sizes", ", [2, 3]"),
    Row("tensor<«[2, 3], fp16»> y = relu(x = x);", TENSOR, "fp16, [2, 3]"),
    Row("«fp16[2, 3]» y = relu(x = x);", TENSOR, T),
    Row("«[2, 3]fp16» y = relu(x = x);", TENSOR, T),
    Row("«tensor(fp16, [2, 3])» y = relu(x = x);", TENSOR, T),
    Row("«tensor[fp16, (2, 3)]» y = relu(x = x);", TENSOR, T),
    Row("tensor<fp16, [«None», 3]> y = relu(x = x);", UNKNOWN_SIZE, "?"),
    Row("tensor<fp16, [«batch», 3]> y = relu(x = x);", UNKNOWN_SIZE, "?"),
    Row("tensor<fp16, [«*», 3]> y = relu(x = x);", UNKNOWN_SIZE, "?"),
    Row(
        "tensor<fp16, [«-1», 3]> y = relu(x = x);",
        "a size cannot be negative; write `?` for an unknown size",
        "?",
    ),
    Row("tensor<fp16, [2, 3«,»]> y = relu(x = x);", COMMA, ""),
    # ---- values
    Row(ALPHA.format("fp16(«1.0f»)"), SUFFIX, "1.0"),
    Row(ALPHA.format("«0.5f»"), SUFFIX, "0.5"),
    Row(ALPHA.format("fp16(«1_000»)"), "a number has no `_` between its digits", "1000"),
    Row(ALPHA.format("fp16(«Infinity»)"), "infinity is written `inf`", "inf"),
    Row(ALPHA.format("fp16(«-Inf»)"), "infinity is written `-inf`", "-inf"),
    Row(ALPHA.format("fp16(«math.inf»)"), "this is written `inf`", "inf"),
    Row(ALPHA.format("fp16(«NaN»)"), "NaN is written `nan`", "nan"),
    Row(ALPHA.format("fp16(«2j»)"), "MIL has no complex numbers"),
    Row(ALPHA.format("fp16(«1/»2)"), "MIL has no arithmetic; write the number that comes out"),
    Row(ALPHA.format("«fp16 0.5»"), "a literal belongs in parentheses after its type: `fp16(0.5)`", "fp16(0.5)"),
    Row(ALPHA.format("«(fp16)0.5»"), "a literal belongs in parentheses after its type: `fp16(0.5)`", "fp16(0.5)"),
    Row(
        ALPHA.format("fp16(«0x10»)"),
        "`0x10` is not a valid fp16 number; a hexadecimal float has an exponent, as in `0x1.8p+3`",
    ),
    Row(
        AXES.format("tensor<int32, [1]>(«1»)"),
        "expected a list nested like its type's shape, found `1`; did you mean `[1]`?",
        "[1]",
    ),
    Row(AXES.format("tensor<int32, [1]>«[1]»"), "a literal belongs in parentheses after its type", "([1])"),
    Row(AXES.format("tensor<int32, [1]>(«{1}»)"), ELEMENTS, "[1]"),
    Row(AXES.format("tensor<int32, [1]>([1«,»])"), COMMA, ""),
    Row(AXES.format("[1«,»]"), COMMA, ""),
    Row("tensor<int32, [2]> c = const()[val = tensor<int32, [2]>(«1, 2»)];", ELEMENTS, "[1, 2]"),
    Row(
        "tensor<int32, [2]> c = const()[val = «tensor»([1, 2])];",
        "the type of a value is written out, as in `tensor<int32, [2]>([1, 2])`",
    ),
    Row("int32 c = const()[val = int32(«0b101»)];", "a whole number is written in decimal: `5`", "5"),
    Row("string c = const()[val = string(«a»)];", 'a string belongs in double quotes: `"a"`', '"a"'),
    Row("string c = const()[val = string(«'a'»)];", "a string belongs in double quotes", '"a"'),
    Row('string c = const()[val = string(«r"a"»)];', "a string has nothing before its quotes", '"a"'),
    # ---- from other languages
    Row("«struct» A y = relu(x = x);", "MIL has no `struct`"),
    Row("«assert» x;", "MIL has no `assert`"),
    Row(f"{T} y = «x if c else» x;", "MIL has no `if`; write `select(cond = ..., a = ..., b = ...)`"),
    Row(f"{T}«:» y = relu(x = x);", "no colon comes between a type and a name", ""),
    Row(
        "«torch.Tensor »y = relu(x = x);",
        "the type of a tensor is written `tensor<fp16, [2, 3]>`; a draft may leave it out",
        "",
    ),
    Row("«func.return» %y", "this is MLIR; MIL writes an operation as `fp16 y = relu(x = x);`"),
    Row("_ y = «linalg.generic»(x = x);", "this is MLIR; MIL writes an operation as `fp16 y = relu(x = x);`"),
    Row("_ y = «torch.tensor»([0.5]);", CONSTANT.format("...")),
    Row("_ y = «np.array»([0.5, 1]);", CONSTANT.format("...")),
    Row("_ y = «self.relu»(x);", "no name has a dot; an operation is written by its name alone"),
    Row("_ y = add(x = x, y = «self.weight»);", "no name has a dot; an operation is written by its name alone"),
    Row("_ y = «x.reshape»(3, 2);", "a value of MIL has no methods; write `reshape(x = x, ...)`"),
    Row("_ y = «x.mean»(axes = [1]);", "a value of MIL has no methods; write `reduce_mean(x = x, ...)`"),
    Row(
        "_ y = «x.half()»;",
        'a value of MIL has no methods; write `cast(x = x, dtype = "fp16")`',
        'cast(x = x, dtype = "fp16")',
    ),
    Row(
        "_ y = «x.to(torch.float32)»;",
        'a value of MIL has no methods; write `cast(x = x, dtype = "fp32")`',
        'cast(x = x, dtype = "fp32")',
    ),
    Row(
        "_ y = relu(x = «x.mean»());",
        "a value of MIL has no methods; write `reduce_mean(x = x, ...)`",
    ),
    Row("_ y = add(x = x, y = «math.pi»);", "this is written `3.1415927`", "3.1415927"),
    Row("_ y = add(x = x, y = «-INFINITY»);", "infinity is written `-inf`", "-inf"),
    Row("_ y = add(x = x, y = «inf»);", "`inf` is not defined; did you mean `fp16(inf)`?", "fp16(inf)"),
    Row("_ y = add(x = x, y = «NaN»);", "`NaN` is not defined; did you mean `fp16(nan)`?", "fp16(nan)"),
    Row("_ y = cast(x = «float('inf')», dtype = \"fp16\");", "this is written `fp32(inf)`", "fp32(inf)"),
    Row('_ y = cast(x = «float("-inf")», dtype = "fp16");', "this is written `fp32(-inf)`", "fp32(-inf)"),
    Row('y = cast(«float("nan")», "fp16");', "this is written `fp32(nan)`", "fp32(nan)"),
    Row(
        "_ y = add(x = x, y = «0.5:fp16»);", "a literal belongs in parentheses after its type: `fp16(0.5)`", "fp16(0.5)"
    ),
    Row(
        "_ y = relu(x = «-x»);",
        APART.format("mul"),
    ),
    Row(
        "_ y = relu(x = «!x»);",
        APART.format("logical_not"),
    ),
    Row("_ y = relu«<x = x>»;", ARGUMENTS, "(x = x)"),
    Row("_ y = relu(x«: tensor<fp16, [2, 3]>» = x);", "an argument has no type before its value", ""),
    # ---- vectors
    Row(
        "_ y = reshape(x = x, «shape = (3, 2)»);",
        "`shape` takes one value, not 2; write `[3, 2]`",
        "shape = [3, 2]",
    ),
    Row(
        "tensor<fp16, [3, 2]> y = reshape(x = x, «shape = (int32(3), int32(2))»);",
        "`shape` takes one value, not 2; write `tensor<int32, [2]>([3, 2])`",
        "shape = tensor<int32, [2]>([3, 2])",
    ),
    Row("_ y = relu(«x = (x, x)»);", "`x` takes one value, not 2"),
    Row(
        "_ y = reduce_sum(x = x, axes = «1»);",
        "`axes` of `reduce_sum` takes a vector, not a scalar; write `[1]`",
        "[1]",
    ),
    Row(
        "_ y = avg_pool(x = tensor<fp16, [1, 1, 2, 2]>([[[[1, 2], [3, 4]]]]), kernel_sizes = «2», "
        'pad_type = "valid", exclude_padding_from_average = true);',
        "`kernel_sizes` of `avg_pool` takes a vector, not a scalar; write `[2, 2]`",
        "[2, 2]",
    ),
    Row(
        "_ y = max_pool(x = tensor<fp16, [1, 1, 2, 2]>([[[[1, 2], [3, 4]]]]), «kernel_sizes = (2, 2)», "
        'pad_type = "valid");',
        "`kernel_sizes` takes one value, not 2; write `[2, 2]`",
        "kernel_sizes = [2, 2]",
    ),
    Row(
        "_ y = reshape(x = x, shape = «[n, 2]»);",
        "a list literal contains no names of values; `concat` makes a vector of them first",
    ),
    Row(
        "_ y = max_pool(x = tensor<fp16, [1, 1, 2, 2]>([[[[1, 2], [3, 4]]]]), kernel_sizes = «[2]», "
        'pad_type = "valid");',
        "`kernel_sizes` of `max_pool` must be of shape [2], not [1]; `x` is of shape [1, 1, 2, 2]; write `[2, 2]`",
        "[2, 2]",
    ),
    Row("_ y = transpose(x = x, perm = «1»);", "`perm` of `transpose` takes a vector, not a scalar"),
    Row(
        "_ y = reduce_sum(x = x, axes = [1], keep_dims = «0»);",
        "`keep_dims` of `reduce_sum` takes `bool`, not a whole number; did you mean `false`?",
        "false",
    ),
    Row(
        '_ y = linear(x = x, weight = «np.load("w.npy")»);',
        'an array in a file is written `$npy("w.npy")`',
        '$npy("w.npy")',
    ),
    Row(
        '_ y = linear(x = x, weight = «numpy.load("w.npz")["a"]»);',
        'an array in a file is written `$npz("w.npz", "a")`',
        '$npz("w.npz", "a")',
    ),
    Row(
        "y = linear(x, $npy(«w.npy»));",
        '`$npy` names its file by a string: `"w.npy"`',
        '"w.npy"',
    ),
    Row(
        'y = linear(x, $safetensors(«models/a.st», "key"));',
        '`$safetensors` names its file by a string: `"models/a.st"`',
        '"models/a.st"',
    ),
    Row(
        'y = linear(x, $npz("a.npz"«»));',
        '`$npz` takes a file and the key of an array in it: `$npz("a.npz", "key")`',
    ),
    Row(
        'y = linear(x, $npy("a.npy"«, "key"»));',
        '`$npy` takes only a file, which contains one array: `$npy("a.npy")`',
        "",
    ),
    Row(
        "_ y = read_state(«state» = x);",
        "the state that an operation reads or writes is its `input`: `input = ...`",
    ),
    Row(
        "_ y = pad(x = x, pad = [0, 1], mode = «reflect», constant_val = 0.0);",
        '`reflect` is not defined; did you mean `"reflect"`?',
        '"reflect"',
    ),
    Row(
        "_ y = concat(«x» = x, y = x, axis = 0, interleave = false);",
        "`concat` has no parameter `x`; `values` takes all together: `values = (...)`",
    ),
    Row("fp16 c = const(«val» = 0.5);", "`val` of `const` is an attribute; write `const()[val = ...]`"),
    # ---- literals without their types
    Row(f'{T} y = relu(x = x)[s = string("a;b"), n = «3»];', NOTHING_KNOWN.format("n", "int32(3)"), "int32(3)"),
    Row("fp16 c = const()[val = «inf»];", f"{TYPED}: `fp16(inf)`", "fp16(inf)"),
    Row(
        "int32 c = const()[val = «0.5»];",
        "`0.5` is not a valid int32 number: integers are plain decimals, such as `-1`",
    ),
    Row("tensor<fp16, [2]> c = const()[val = «0.5»];", "expected a list nested like its type's shape, found `0.5`"),
    Row("fp16 c = const()[val = «x»];", "the value of a constant is a literal, not a name: `const()[val = fp16(0.5)]`"),
    Row("int32 c = const«(1)»;", CONST_VAL, "()[val = int32(1)]"),
    Row("bool c = const«(true)»;", CONST_VAL, "()[val = bool(true)]"),
    Row('string c = const«("c")»;', CONST_VAL, '()[val = string("c")]'),
    Row("tensor<int32, [2]> c = const«([1, 2])»;", CONST_VAL, "()[val = tensor<int32, [2]>([1, 2])]"),
    Row("tensor<fp16, [2]> c = const«(0.5)»;", CONST_VAL),
    Row("c = const«(0.5)»;", CONST_VAL, "()[val = 0.5]"),
    Row("_ c = const«([1, 2])»;", CONST_VAL, "()[val = [1, 2]]"),
    Row("c = const«(fp16(0.5))»;", CONST_VAL, "()[val = fp16(0.5)]"),
    Row("c = «fp16(0.5)»;", CONSTANT.format("fp16(0.5)"), "const()[val = fp16(0.5)]"),
    Row("c = «float(0.5)»;", CONSTANT.format("fp32(0.5)"), "const()[val = fp32(0.5)]"),
    Row("int32 c = «1»;", CONSTANT.format("int32(1)"), "const()[val = int32(1)]"),
    Row(
        "tensor<int32, [2]> c = «[1, 2]»;",
        CONSTANT.format("tensor<int32, [2]>([1, 2])"),
        "const()[val = tensor<int32, [2]>([1, 2])]",
    ),
    Row("int32 c = «0.5»;", f"{CONSTANT.format('...')}, its value with its type"),
    Row('fp16 c = «"a"»;', f"{CONSTANT.format('...')}, its value with its type"),
    Row("fp16 c = «true»;", f"{CONSTANT.format('...')}, its value with its type"),
    Row(f"{T} y = relu(x = x)[n = «3»];", NOTHING_KNOWN.format("n", "int32(3)"), "int32(3)"),
    Row(f"{T} y = relu(x = x)[f = «0.5»];", NOTHING_KNOWN.format("f", "fp16(0.5)"), "fp16(0.5)"),
    Row(
        f"{T} y = relu(x = x)[l = «[1, 2]»];",
        NOTHING_KNOWN.format("l", "tensor<int32, [2]>([1, 2])"),
        "tensor<int32, [2]>([1, 2])",
    ),
    Row(
        f"{T} y = relu(x = x)[l = tensor<int32, [1]>([1]), n = «3»];",
        NOTHING_KNOWN.format("n", "int32(3)"),
        "int32(3)",
    ),
    Row("tensor<«fp16>[2, 3]» y = relu(x = x);", TENSOR, "fp16, [2, 3]>"),
    Row("_ y = add(x = x, y = «tensor<fp16>»([0.5]));", "a tensor has a shape, as in `tensor<fp16, [2]>([0.5, 1.0])`"),
    Row(
        'fp16 c = const()[val = fp16(BLOBFILE(path = «"w.bin"», offset = uint64(64)))];',
        'the path of a blob is written `string("w.bin")`',
        'string("w.bin")',
    ),
    Row(
        'fp16 c = const()[val = fp16(BLOBFILE(path = string("w.bin"), offset = «64»))];',
        "the offset of a blob is written `uint64(64)`",
        "uint64(64)",
    ),
    Row("«#define N 3»", "MIL has no preprocessor; a comment begins with `//`"),
    Row("«#of x»", "a comment begins with `//`", "//of x"),
    # ---- comments
    Row(f"{T} y = relu(x = x);  «# of x»", "a comment begins with `//`", "// of x"),
    Row('«"""of x"""»', "a comment is written `/* ... */`", "/*of x*/"),
    Row("«'''of x'''»", "a comment is written `/* ... */`", "/*of x*/"),
]
"""Slips in an operation."""

FUNCTION = "program(1.3) {{ {} {{ fp16 y = relu(x = x); }} -> (y); }}"
BLOCK = "program(1.3) {{ func main<ios18>(fp16 x) {{ fp16 y = relu(x = x); }} {} }}"
NO_OPSET = "the function has no opset; write it after the name: `main<ios18>`"

DRAFT = "program(1.3) {} {{ func main<ios18>(fp16 x) {{ y = relu(x = x); }} -> (y); }}"

FUNCTIONS = [
    Row(
        DRAFT.format("$draft(names«» consts)"),
        "a comma comes between the words of a marker: `$draft(names, consts)`",
        ",",
    ),
    Row(
        DRAFT.format('[a = string("x")] «$draft(names)»'),
        "the marker comes before the attributes: `program(1.3) $draft(names) [...]`",
    ),
    Row(FUNCTION.format("«def» main<ios18>(fp16 x)"), "a function begins with `func`", "func"),
    Row(FUNCTION.format("func «@main»<ios18>(fp16 x)"), "a name has no `@` before it", "main"),
    Row(FUNCTION.format("func «main»(fp16 x)"), NO_OPSET, "main<ios18>"),
    Row(FUNCTION.format("func main<«18»>(fp16 x)"), "an opset is written `ios18`", "ios18"),
    Row(FUNCTION.format('func main<«"ios18"»>(fp16 x)'), "an opset has no quotes: `ios18`", "ios18"),
    Row(FUNCTION.format("func main<«iOS18»>(fp16 x)"), "unknown opset `iOS18`; did you mean `ios18`?", "ios18"),
    Row(
        FUNCTION.format("func main<ios18>(«x: fp16»)"),
        "the type of an input comes before its name: `fp16 x`",
        "fp16 x",
    ),
    Row(
        FUNCTION.format("func main<ios18>(«%x: fp16»)"),
        "the type of an input comes before its name: `fp16 x`",
        "fp16 x",
    ),
    Row(FUNCTION.format("func main<ios18>(«float16» x)"), "unknown type `float16`; did you mean `fp16`?", "fp16"),
    Row(
        FUNCTION.format("func main<ios18>(fp16 x) «->» fp16").replace("«->» fp16 {", "«-> fp16 »{"),
        "the outputs of a function come after its block: `} -> (y);`",
        "",
    ),
    Row(BLOCK.format("-> «y»;"), "the outputs of a block belong in parentheses: `(y)`", "(y)"),
    Row(BLOCK.format("-> («fp16 y»);"), "an output of a block is named alone; its type is where it is defined", "y"),
    Row(
        BLOCK.format("-> (y, «tensor<fp16, [2]> x»);"),
        "an output of a block is named alone; its type is where it is defined",
        "x",
    ),
    Row(BLOCK.format("-> (y«,»);"), COMMA, ""),
    Row(BLOCK.format("-> (y)«»\n"), "expected `;` after the function", ";"),
    Row("«module» { func main<ios18>(fp16 x) { } -> (x); }", "a program begins with `program(1.3)`"),
]
"""Slips in the head or the end of a function; each is a whole text."""

ROWS = [*[row._replace(written=AROUND.replace("ROW", row.written)) for row in STATEMENTS], *FUNCTIONS]
IDS = [row.written.replace("\n", "") for row in [*STATEMENTS, *FUNCTIONS]]


def unmarked(row: Row) -> tuple[str, tuple[int, int]]:
    """The text of a row, and the place that it marks."""
    before, _, rest = row.written.partition("«")
    inside, _, after = rest.partition("»")
    return before + inside + after, (len(before), len(before) + len(inside))


OF_DRAFTS = ("MIL112", "MIL113")
"""The codes of what keeps a draft from being a Program."""


def mistakes(text: str) -> list[Diagnostic]:
    """What `check` says of a text, but not that it is a draft, has no folder for its arrays, or gives an input back."""
    return [found for found in miltext.check(text) if found.code not in ("MIL712", "MIL111", "MIL626")]


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_a_slip_is_reported_once_with_the_spelling_of_mil(row: Row) -> None:
    text, place = unmarked(row)
    [found] = mistakes(text)
    assert (found.message, found.suggestion) == (row.said, row.suggested)
    assert found.span is not None
    assert found.span == place


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_parse_and_check_report_a_syntax_error_alike(row: Row) -> None:
    text, _ = unmarked(row)
    [found] = mistakes(text)
    if found.code[:4] in ("MIL0", "MIL1"):
        with pytest.raises(miltext.ParseError) as refused:
            miltext.parse(text)
        [said] = refused.value.diagnostics
        assert said == found or said.code in OF_DRAFTS


@pytest.mark.parametrize(
    "written",
    [
        "y = relu(x = x);",
        "y, z = split(x = x, num_splits = 2, axis = 0);",
        "tensor<fp16, [1, 3]> y, z = split(x = x, num_splits = 2, axis = 0);",
        f"{T} y = relu(x);",
        f"{T} y = relu(tanh(x = x));",
        f"{T} y = relu(x = mul(x = x, y = x));",
        f'{T} y = relu(x = x)[name = "y"];',
        f'{T} y = relu(x = x)[s = "a"];',
        f"{T} y = relu(x = x)[on = true];",
        "fp16 c = const()[val = 0.5];",
        "int32 c = const()[val = 1];",
        'string c = const()[val = "c"];',
        "bool c = const()[val = true];",
        'fp16 c = const()[val = fp16(0.5), name = "c"];',
        'fp16 c = const()[name = string("c"), val = 0.5];',
        'tensor<int32, [2]> c = const()[name = string("c"), val = [1, 2]];',
    ],
)
def test_the_short_spelling_is_not_a_slip(written: str) -> None:
    text = AROUND.replace("ROW", written)
    assert mistakes(text) == []
    with pytest.raises(miltext.ParseError) as refused:
        miltext.parse(text)
    assert [found.code in OF_DRAFTS for found in refused.value.diagnostics] == [True]
    assert mistakes(complete(text).text or "") == []


@pytest.mark.parametrize("row", [row for row in ROWS if row.suggested is not None])
def test_a_suggestion_fixes_its_slip(row: Row) -> None:
    text, _ = unmarked(row)
    [found] = mistakes(text)
    assert found.span is not None
    mended = text[: found.span.start] + str(found.suggestion) + text[found.span.end :]
    assert mistakes(mended) == []


SHORT = [
    (long, long._replace(written=short))
    for long in STATEMENTS
    for short in [re.sub(r"^(?:_|tensor<fp16, \[2, 3\]>) (?=[«»]?\w+«? (?:=|\w+\())", "", long.written)]
    if short != long.written
]
"""Slips in a statement of the short spelling, which states no type, and the same in one of the long spelling."""

OTHERWISE = {"_ c = «0.5»;", "_ c = const«([1, 2])»;"}
"""Of those, the ones of which more is known where no type is stated."""


@pytest.mark.parametrize(("long", "short"), SHORT, ids=[short.written for _, short in SHORT])
def test_a_slip_is_the_same_without_a_type(long: Row, short: Row) -> None:
    text, place = unmarked(short._replace(written=AROUND.replace("ROW", short.written)))
    [found] = mistakes(text)
    if long.written not in OTHERWISE:
        assert (found.message, found.suggestion) == (short.said, short.suggested)
    assert found.span == place


def test_every_row_of_the_table_is_reported_here(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: set[Slip] = set()

    def told(text: str, slip: Slip, *rest: Any) -> Diagnostic:
        seen.add(slip)
        return say(text, slip, *rest)

    say = slips.slip_diagnostic
    monkeypatch.setattr(slips, "slip_diagnostic", told)
    for row in ROWS:
        miltext.check(unmarked(row)[0])
    signs = "MIL has no operators"
    unseen = [slip for slip in SLIPS if slip not in seen and not slip.message.startswith(signs)]
    assert unseen == []
    assert {slip.message for slip in seen if slip.message.startswith(signs)}


@given(st.sampled_from(ROWS), st.sampled_from(ROWS), st.data())
def test_any_two_slips_run_together_are_reported_in_the_text(first: Row, second: Row, data: st.DataObject) -> None:
    [begun, rest] = [unmarked(row)[0] for row in (first, second)]
    text = begun[: data.draw(st.integers(0, len(begun)))] + rest[data.draw(st.integers(0, len(rest))) :]
    for found in miltext.check(text, path="m.mil"):
        assert found.span is not None
        assert 0 <= found.span.start <= found.span.end <= len(text)


@pytest.mark.parametrize(
    ("written", "certain"),
    [
        ("fp16 y = relu(x == x);", True),
        ("fp16 y = relu(x = x,);", True),
        ("fp16 y = relu(x = x); # of x", True),
        ("fp16 y = add(x = x, y = fp16(1.0f));", True),
        ("int32[2, 3] y = relu(x = x);", True),
        ("float16[2, 3] y = relu(x = x);", True),
        ("int[2, 3] y = relu(x = x);", False),  # of C, where it has no size
        ("fp16 y = concat(values = [x, x]);", True),
        ("let y = relu(x = x);", False),
        ("fp16 y = x + x;", False),
        ("fp16 %0 = relu(x = x);", False),
        ("tensor<fp16, [n]> y = relu(x = x);", False),
        ("#of x", False),
        ("#define N", False),
        ("fp16 y = relu(x: fp16 = x);", False),
        ("fp16 y = const(1.0);", True),
        ("y = fp16(1.0);", False),
        ("_ y = reshape(x = x, shape = [n]);", False),
    ],
)
def test_a_fix_is_certain_only_where_there_is_no_other(written: str, certain: bool) -> None:
    found = [found for found in mistakes(AROUND.replace("ROW", written)) if found.code == "MIL025"]
    assert [each.applicability == SAFE for each in found] == [certain]


# ---- a function without an opset


@pytest.mark.parametrize(
    ("head", "told", "suggested"),
    [
        ("func main(fp16 x) { } -> (x);", NO_OPSET, "main<ios18>"),
        ("func main(fp16 x) $none;", NO_OPSET, "main<ios18>"),
        ("func main(fp16 x) $block<ios17> { } -> (x);", "the function has no opset; it has blocks for ios17", None),
        ("func main<ios17>(fp16 x) { } -> (x);", None, None),
    ],
)
def test_a_function_without_an_opset_is_reported(head: str, told: str | None, suggested: str | None) -> None:
    found = mistakes(f"program(1.3) {{ {head} }}")
    expected = [("MIL607", told, suggested)] if told else []
    assert [(each.code, each.message, each.suggestion) for each in found] == expected


def test_each_function_without_an_opset_is_reported() -> None:
    text = "program(1.3) { func a(fp16 x) { } -> (x); func b<ios18>(fp16 x) { } -> (x); func c(fp16 x) { } -> (x); }"
    assert [found.suggestion for found in mistakes(text)] == ["a<ios18>", "c<ios18>"]


@pytest.mark.parametrize("opset", ["CoreML8", "ios18", "iOS18", "CoreML99", "a b"])
def test_an_opset_has_one_spelling_everywhere(opset: str) -> None:
    """A message spells it as the printer does: a Program's literal `ios18` is quoted."""
    program = miltext.parse("program(1.3) { func main<ios18>(fp16 x) { } -> (x); }")
    function = program.functions["main"]
    block = function.block_specializations.pop("CoreML8")
    function.block_specializations[opset].CopyFrom(block)
    function.opset = "CoreML7"
    [spelled] = re.findall(r"\$block<(.*)> \{", miltext.to_text(program))
    [told] = [found.message for found in miltext.check(program) if found.code == "MIL607"]
    assert told == f"the function has no block for its opset `ios17`; it has blocks for {spelled}"


# ---- attributes among the arguments


@pytest.mark.parametrize(
    ("written", "codes"),
    [
        ("fp16 y = const(val = fp16(1))[val = fp16(1)];", ["MIL523"]),
        ('fp16 y = const(name = string("y"), val = fp16(1));', ["MIL523", "MIL523"]),
        ('fp16 y = relu(name = string("y"), x = x);', ["MIL523"]),
        ('fp16 y = relu(x = x, y = x, name = string("y"));', ["MIL504", "MIL523"]),
        ('fp16 y = an_op_of_ones_own(name = string("y"));', ["MIL501"]),
        ('fp16 y = relu(x = x)[name = string("y")];', []),
    ],
)
def test_attribute_among_arguments_is_reported_known_operations(written: str, codes: list[str]) -> None:
    text = f"program(1.3) {{ func main<ios18>(fp16 x) {{ {written} }} -> (y); }}"
    assert sorted(found.code for found in miltext.check(text)) == codes
    assert sorted(found.code for found in miltext.check(miltext.parse(text))) == codes


# ---- the table


def test_the_word_expected_by_a_row_is_in_the_grammar() -> None:
    words = {terminal.literal or terminal.name for terminal in load_grammar().terminals}
    assert {slip.wants for slip in SLIPS} <= words | {""}


@pytest.mark.parametrize("comment", ["# [2, 3]", "# it's 1.0f", "#"])
def test_a_comment_of_python_begins_after_a_space(comment: str) -> None:
    text = AROUND.replace("ROW", f"{T} y = relu(x = x); {comment}")
    [found] = miltext.check(text)
    assert (found.code, found.suggestion) == ("MIL025", f"//{comment[1:]}")
    inside = miltext.check(text.replace("[2, 3]", f"[2, 3{comment}]"))[0]
    assert (inside.code, inside.suggestion) == ("MIL003", None)


def numbers(count: int) -> str:
    return ", ".join(map(str, range(10, 10 + count)))


@pytest.mark.parametrize("count", [1, 2, 24, 75, 76, 200, 5000])
@pytest.mark.parametrize(
    ("written", "suggested"),
    [
        ("tensor<int32, [2]>({})", "[{}]"),
        ("tensor<int32, [2]>({{{}}})", "[{}]"),
        ("tensor<int32, [2]>({}", None),
        ("tensor<int32, [2]>({{{}", None),
        ("tensor<int32, [2]>({}, x)", None),
        ("tensor<int32, [2]>({{{}, x}})", None),
    ],
)
def test_a_list_of_any_length_without_its_brackets_is_reported(written: str, suggested: str | None, count: int) -> None:
    """The time once doubled with each number."""
    literal = written.format(numbers(count))
    found = mistakes(AROUND.replace("ROW", f"tensor<int32, [2]> y = const()[val = {literal}];"))
    if suggested and (count > 1 or "{{" in written):
        assert [(each.code, each.suggestion) for each in found[:1]] == [("MIL025", suggested.format(numbers(count)))]
    else:
        assert found


def test_long_constant_without_const_is_reported_with_all_of_it() -> None:
    text = AROUND.replace("ROW", f"tensor<int32, [200]> y = [{numbers(200)}];")
    assert mistakes(text)[0].suggestion == f"const()[val = tensor<int32, [200]>([{numbers(200)}])]"


@pytest.mark.parametrize("comment", ["/* c */", "// c\n", "/* ; = ( */"])
def test_comments_between_do_not_matter(comment: str) -> None:
    """A comment in what is wrong would be lost with it, so nothing is suggested there."""
    text = AROUND.replace("ROW", f"{T} y = {comment} relu{comment}(x {comment} : {comment} x){comment};")
    [found] = mistakes(text)
    assert (found.code, found.suggestion, found.message) == ("MIL025", " =", EACH)
    inside = mistakes(AROUND.replace("ROW", f"{T} y = x {comment} + x;"))[0]
    assert inside.message == NO_OPERATORS.format("add(x = x, y = x)")
    assert inside.suggestion is None


@pytest.mark.parametrize("end", ["\r\n", "\n", "\n\n\n", "\t"])
def test_white_space_between_tokens_does_not_matter(end: str) -> None:
    text = AROUND.replace("ROW", f"{T} y{end}={end}x{end}+{end}x{end};".replace(", ", f",{end}"))
    [found] = mistakes(text)
    assert found.suggestion == "add(x = x, y = x)"


def test_a_slip_far_from_its_context_is_reported_fast() -> None:
    text = AROUND.replace("ROW", f"{T} y = relu(x{' ' * 200_000}: x); // {'(' * 200_000}")
    started = time.perf_counter()
    assert [found.code for found in miltext.check(text)] == ["MIL003"]
    assert time.perf_counter() - started < 5
