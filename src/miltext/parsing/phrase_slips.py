"""Slips inside a statement: in types, literals, operators and calls, arguments and attributes."""

from __future__ import annotations

import re

from miltext.parsing.lowering.values import TRAILING
from miltext.parsing.misread_types import AS_STRING
from miltext.parsing.slip_patterns import Slip

_TENSOR = "the type of a tensor is written `tensor<{dtype}, [{sizes}]>`"
_IN_BRACKETS = "the sizes of a tensor belong in brackets: `[{sizes}]`"
_UNKNOWN_SIZE = "an unknown size is written `?`"
_SIZES = r"(?P<sizes>[\d?,\s]*)"

TYPES = [
    Slip("", r"None|-1|\*|:|NAME", _UNKNOWN_SIZE, "?", "?"),
    Slip(
        "tensor < ",
        r"(?P<sizes>(?:\?|\d+)(?:x(?:\?|\d+))*)x(?P<dtype>DTYPE)(?= >)",
        _TENSOR,
        "{dtype}, [{sizes}]",
        certain=True,
    ),
    Slip(
        "tensor < (?P<at>(?P<dtype>DTYPE) )",
        rf"> \[{_SIZES}\](?=\s*NAME)",
        _TENSOR,
        "{dtype}, [{sizes}]>",
        ",",
    ),
    Slip(
        "(?P<at>tensor < DTYPE )",
        r">(?= \( \[)",
        "a tensor has a shape, as in `tensor<fp16, [2]>([0.5, 1.0])`",
        None,
        ",",
    ),
    Slip(
        "(?P<at>tensor < (?P<dtype>DTYPE) )",
        ">(?! ,)",
        "a tensor has a shape, as in `tensor<{dtype}, [2, 3]>`; a single value has the type `{dtype}`",
        "{dtype}",
        ",",
    ),
    Slip(
        "tensor < DTYPE , ",
        r"(?P<sizes>(?:\?|\d+)(?: , (?:\?|\d+))*)(?= >)",
        _IN_BRACKETS,
        "[{sizes}]",
        "[",
        certain=True,
    ),
    Slip("tensor < DTYPE , ", rf"\({_SIZES}\)", _IN_BRACKETS, "[{sizes}]", "[", certain=True),
    Slip(
        "tensor < DTYPE",
        rf" \[{_SIZES}\]",
        "a comma comes between the data type and the sizes",
        ", [{sizes}]",
        ",",
        certain=True,
    ),
    Slip("tensor < ", rf"\[{_SIZES}\] , (?P<dtype>DTYPE)", _TENSOR, "{dtype}, [{sizes}]", certain=True),
    Slip(
        "(?P<at>(?P<dtype>DTYPE) )",
        rf"\[{_SIZES}\](?=\s*NAME)",
        _TENSOR,
        "tensor<{dtype}, [{sizes}]>",
        certain=True,
    ),
    Slip("", rf"\[{_SIZES}\] x?(?P<dtype>DTYPE)(?=\s+NAME)", _TENSOR, "tensor<{dtype}, [{sizes}]>", certain=True),
    Slip(
        "(?P<at>tensor )",
        rf"[(\[] (?P<dtype>DTYPE) , [(\[]{_SIZES}[\])] [\])](?=\s*NAME)",
        _TENSOR,
        "tensor<{dtype}, [{sizes}]>",
        "<",
        certain=True,
    ),
    Slip(
        "(?P<at>tensor )", r"(?=\( [\[\d-])", "the type of a value is written out, as in `tensor<int32, [2]>([1, 2])`"
    ),
    Slip("tensor < ", r"MODULE\.(?P<dtype>NAME)", "a data type is written by its name alone: `{dtype}`", "{dtype}"),
    Slip(
        r"[(,] NAME = (?P<at>TYPE\s+)",
        "(?P<name>NAME)(?= [,)])",
        "a value is used by its name alone: `{name}`",
        "{name}",
        "(",
    ),
    Slip(
        r"[=,(] (?P<at>(?P<dtype>DTYPE) )",
        r"(?= ,| \)(?! [\d.]))",
        f'{AS_STRING}: `string("{{dtype}}")`',
        'string("{dtype}")',
        "(",
    ),
]

_SUFFIX = "a number has no suffix; its type is written before it"
_PARENTHESES = "a literal belongs in parentheses after its type: `{dtype}({number})`"
_ELEMENTS = "the elements of a tensor or a list belong in brackets"

VALUES = [
    Slip(
        "",
        r"(?P<digits>[-+]?\d+(?:_\d+)+(?:\.\d+)?)\b",
        "a number has no `_` between its digits",
        "{digits}",
        certain=True,
    ),
    Slip(
        "",
        r"(?P<number>[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)(?:[fFhHdD]|[uU]?[lL]{1,2}|[uU]|b?f\d+|fp\d+|[iu]\d+)\b",
        _SUFFIX,
        "{number}",
        certain=True,
    ),
    Slip("", r"(?:NUMBER)?[-+]?[\d.]+[jJ]\b", "MIL has no complex numbers"),
    Slip("", r"(?P<whole>0(?:[bB][01]+|[oO][0-7]+))\b", "a whole number is written in decimal: `{whole}`", "{whole}"),
    Slip(
        "",
        r"(?P<sign>[-+]?)(?:[iI]nf|INF)(?:inity|INITY)?\b",
        "infinity is written `{sign}inf`",
        "{sign}inf",
        "inf",
        certain=True,
    ),
    Slip("", r"(?:[nN]a[nN]|NAN)\b", "NaN is written `nan`", "nan", "nan", certain=True),
    Slip("", r"MODULE\.(?P<word>inf|nan)\b", "this is written `{word}`", "{word}", "inf", certain=True),
    Slip("[=(,] (?P<at>(?P<number>NUMBER) )", ": (?P<dtype>DTYPE)", _PARENTHESES, "{dtype}({number})"),
    Slip(
        "= ",
        r"(?P<sign>[-+])(?:[iI]nf|INF)(?:inity|INITY)?\b",
        "infinity is written `{sign}inf`",
        "{sign}inf",
        "NAME",
    ),
    Slip(
        r"[=(,] (?P<at>float \( )",
        r"['\"](?P<word>[-+]?inf|nan)(?:inity)?['\"] \)",
        "this is written `fp32({word})`",
        "fp32({word})",
    ),
    Slip("(?P<at>(?P<dtype>DTYPE) )", "(?P<number>NUMBER)", _PARENTHESES, "{dtype}({number})", "(", certain=True),
    Slip(r"(?P<at>\( (?P<dtype>DTYPE) )", r"\) (?P<number>NUMBER)", _PARENTHESES, "{dtype}({number})", certain=True),
    Slip(
        r"> \( (?P<at>(?P<first>NUMBER) )",
        r"(?P<rest>(?:, NUMBER )+)(?=\))",
        _ELEMENTS,
        "[{first}{rest}]",
        certain=True,
        long=True,
    ),
    Slip(r"> \( (?P<at>\{ )", r"(?P<items>NUMBER(?: , NUMBER)*) \}", _ELEMENTS, "[{items}]", long=True),
    Slip(
        "MADE <[^;=(){}]*> ",
        r"(?P<list>\[[^;()]*?\])(?= [],;)])",
        "a literal belongs in parentheses after its type",
        "({list})",
        "(",
        certain=True,
        long=True,
    ),
    Slip(
        "(?P<at>NUMBER) ",
        r"[-+*/]+(?= \d)",
        "MIL has no arithmetic; write the number that comes out",
        None,
        ")",
    ),
    Slip(r"string \( ", r"[rRbBfFuU]{1,2}(?P<string>STRING)", "a string has nothing before its quotes", "{string}"),
    Slip(r"string \( ", r"(?P<word>NAME)(?= \))", 'a string belongs in double quotes: `"{word}"`', '"{word}"'),
]

_ARGUMENTS = "the arguments of an operation belong in parentheses, each as `name = value`, or in a draft in their order"
_ATTRIBUTES = 'the attributes of an operation belong in brackets: `[name = string("y")]`'
_EACH = "each argument and attribute is written `name = value`"
_NO_INDEXING = "MIL has no indexing; write `slice_by_index` or `gather` as an operation of its own"
_SINGLE = "an argument is bound by a single `=`"

_OPERATORS = {
    "**": "pow", "*": "mul", "+": "add", "-": "sub", "/": "real_div", "%": "mod", "@": "matmul",
    "==": "equal", "!=": "not_equal", ">=": "greater_equal", ">": "greater", "&": "logical_and", "|": "logical_or",
}  # fmt: skip


_APART = (
    "MIL has no operators; write `{}` as an operation of its own, and the name of its output here, or in a draft the "
    "operation"
)


def _operators(sign: str, operation: str) -> list[Slip]:
    """Return the rows of an operator: between two values, and as a part of something longer."""
    call = f"{operation}(x = {{left}}, y = {{right}})"
    apart = _APART.format(operation)
    both = rf"{re.escape(sign)} (?P<right>NAME|NUMBER)(?= ;)"
    return [
        Slip(r"OUTPUT = (?P<at>(?P<left>NAME) )", both, f"MIL has no operators; write `{call}`", call, "("),
        Slip(r"OUTPUT = ", f"(?P<left>NUMBER) {both}", f"MIL has no operators; write `{call}`", call),
        Slip(r"OUTPUT = (?P<at>NAME )", rf"{re.escape(sign)}(?= \w)", apart, None, "("),
        Slip(r"[=,(] (?P<at>(?:NAME|NUMBER|\)) )", rf"{re.escape(sign)}(?= [\w(])", apart, None, ")"),
    ]


_ARRAY = "an array in a file is written `{array}`"

OPERATIONS = [
    Slip(
        "[=(,] (?P<at>(?:np|numpy))",
        r'\.load \( (?P<file>"[^"\\\n]*\.npz") \) \[ (?P<string>STRING) \]',
        _ARRAY.replace("{array}", "$npz({file}, {string})"),
        "$npz({file}, {string})",
    ),
    Slip(
        "[=(,] (?P<at>(?:np|numpy))",
        r'\.load \( (?P<file>"[^"\\\n]*(?<!\.npz)") \)',
        _ARRAY.replace("{array}", "$npy({file})"),
        "$npy({file})",
    ),
    Slip(
        r"(?P<array>\$(?:npy|npz|safetensors)) \( ",
        r"(?P<path>[\w./~-]+)(?= [,)])",
        '`{array}` names its file by a string: `"{path}"`',
        '"{path}"',
        "STRING",
    ),
    Slip(
        r"(?P<array>\$(?:npz|safetensors)) \( (?P<file>STRING) ",
        r"(?=\))",
        '`{array}` takes a file and the key of an array in it: `{array}({file}, "key")`',
        None,
        ",",
    ),
    Slip(
        r"\$npy \( (?P<file>STRING) ",
        r", STRING(?= \))",
        "`$npy` takes only a file, which contains one array: `$npy({file})`",
        "",
        ")",
    ),
    Slip(
        "= (?P<at>MODULE)",
        r"\.(?P<dtype>DTYPE)(?= [,)\]])",
        f'{AS_STRING}: `string("{{dtype}}")`',
        'string("{dtype}")',
    ),
    Slip(
        "= (?P<at>MODULE)",
        r"\.(?:[Tt]ensor|array|as_?tensor|asarray|constant)(?= \()",
        "a constant is made by an operation: `const()[val = ...]`",
    ),
    Slip(
        "START (?P<at>MODULE)",
        r"\.[Tt]ensor\s+(?=NAME)",
        "the type of a tensor is written `tensor<fp16, [2, 3]>`; a draft may leave it out",
        "",
    ),
    Slip("= (?P<at>MODULE)", r"\.pi\b", "this is written `3.1415927`", "3.1415927"),
    Slip(
        "(?P<at>func|scf|cf|linalg)",
        r"\.(?!matmul)NAME",
        "this is MLIR; MIL writes an operation as `fp16 y = relu(x = x);`",
    ),
    Slip(
        "= (?P<at>MODULE)",
        r"(?:\.NAME)*\.(?P<operation>NAME)(?= \()",
        "an operation is written by its name alone: `{operation}`",
        "{operation}",
    ),
    Slip(
        r"OUTPUT = (?P<at>(?P<defined>NAME))",
        r"\.(?:(?P<dtype>half|float|double|int|long|bool) \( \)|(?:to|type|astype) \( (?:MODULE\.)?(?P<given>DTYPE) \))"
        "(?= ;)",
        'a value of MIL has no methods; write `cast(x = {defined}, dtype = "{dtype}{given}")`',
        'cast(x = {defined}, dtype = "{dtype}{given}")',
    ),
    Slip(
        r"OUTPUT = (?P<at>(?P<defined>NAME))",
        r"\.(?P<operation>NAME) \( \)(?= ;)",
        "a value of MIL has no methods; write `{operation}(x = {defined})`",
        "{operation}(x = {defined})",
    ),
    Slip(
        "(?P<at>(?P<defined>NAME))",
        r"\.(?P<operation>NAME)(?= \()",
        "a value of MIL has no methods; write `{operation}(x = {defined}, ...)`",
    ),
    Slip(
        "(?P<at>(?P<defined>NAME))",
        r"\.NAME",
        "a value in MIL has no attributes or methods; write an operation with `x = {defined}`",
    ),
    Slip("(?P<at>NAME)", r"(?:\.NAME)+", "no name has a dot; an operation is written by its name alone"),
    *[row for sign, operation in _OPERATORS.items() for row in _operators(sign, operation)],
    Slip(
        r"OUTPUT = (?P<at>NAME\s+)",
        r"if\s[^;\n]*\selse\b",
        "MIL has no `if`; write `select(cond = ..., a = ..., b = ...)`",
    ),
    Slip(r"[(,] (?:NAME = )?", "- NAME(?= [,)])", _APART.format("mul")),
    Slip(r"[(,] (?:NAME = )?", "[!~] NAME(?= [,)])", _APART.format("logical_not")),
    Slip(
        r"OUTPUT = ",
        "- (?P<name>NAME)(?= ;)",
        "MIL has no operators; write `mul(x = {name}, y = -1.0)`",
        "mul(x = {name}, y = -1.0)",
    ),
    Slip(
        r"OUTPUT = ",
        "[!~] (?P<name>NAME)(?= ;)",
        "MIL has no operators; write `logical_not(x = {name})`",
        "logical_not(x = {name})",
    ),
    Slip(
        r"= (?P<at>(?P<operation>OPERATION) )",
        "(?=;)",
        "an operation has its arguments in parentheses: `{operation}(...)`",
        None,
        "(",
    ),
    Slip(
        r"OUTPUT = (?P<at>(?P<name>NAME) )",
        "(?=;)",
        "an operation has its arguments in parentheses; a copy of a value is `identity(x = {name})`",
        "identity(x = {name})",
        "(",
    ),
    Slip(
        r"OUTPUT = NAME(?P<at>\s+)",
        "(?P<name>NAME)(?= ;)",
        _ARGUMENTS,
        "(x = {name})",
        "(",
    ),
    Slip(
        r"OUTPUT = (?P<at>(?P<operation>OPERATION)\s+)",
        "(?=NAME )",
        "an operation has its arguments in parentheses: `{operation}(...)`",
        None,
        "(",
    ),
    Slip(r"= NAME (?P<at>< (?P<first>NAME) )", "(?P<rest>=[^;<>]*)>", _ARGUMENTS, "({first} {rest})", ">"),
    Slip(r"= NAME ", r"\[(?P<arguments> NAME = [^;[\]]*)\]", _ARGUMENTS, "({arguments})", "("),
    Slip(r"= NAME ", r"\{(?P<arguments> NAME = [^;{}]*)\}", _ARGUMENTS, "({arguments})", "("),
    Slip(r"OUTPUT = (?P<at>NAME )", r"\[[^];=]*\]", _NO_INDEXING, None, "("),
    Slip(r"= (?!DTYPE|MADE)(?P<at>NAME )", r"\[[^];=]*\]", _NO_INDEXING, None, ","),
    # ---- arguments and attributes
    Slip(
        r"[(,] (?P<at>state )",
        "(?==)",
        "the state that an operation reads or writes is its `input`: `input = ...`",
        None,
        "<",
    ),
    Slip(
        r"path = ",
        "(?P<string>STRING)",
        "the path of a blob is written `string({string})`",
        "string({string})",
        certain=True,
    ),
    Slip(
        "offset = ",
        "(?P<number>WHOLE)",
        "the offset of a blob is written `uint64({number})`",
        "uint64({number})",
        certain=True,
    ),
    Slip(r"[(,\[] NAME (?P<at>)", ": TYPE(?= =)", "an argument has no type before its value", "", "="),
    Slip(r"[(,\[] NAME ", ":(?! =)", _EACH, " =", "=", certain=True),
    Slip(r"[(,\[] NAME ", ": =", _EACH, "=", "=", certain=True),
    Slip(r"[(,\[] NAME (?P<at>=)", "[=>]", _SINGLE, "=", certain=True),
    Slip(
        r'[(,] (?P<at>"(?P<name>NAME)" )',
        "(?==)",
        "the name of an argument has no quotes",
        "{name} ",
        certain=True,
    ),
    Slip(
        r"[,\[] ",
        '"(?P<name>NAME)" (?==)',
        "the name of an attribute has no quotes",
        "{name} ",
        "NAME",
        certain=True,
    ),
    Slip("(?P<at>,) ", r"(?=\))", TRAILING, "", "NAME", certain=True),
    Slip(r"\) (?P<at>,) ", r"(?=\])", TRAILING, "", "NAME", certain=True),
    Slip("(?P<at>,) ", r"(?=\])", TRAILING, "", "NUMBER", certain=True),
    Slip(
        "= ",
        r"\{(?P<items>[^{}:;=]*)\}",
        "a list belongs in brackets, several values in parentheses",
        "[{items}]",
        "NAME",
    ),
    Slip(
        r"= (?:DTYPE \()?",
        r"\{ (?:STRING|NUMBER) :",
        'a dictionary is written `dict<string, int32>({{{{"a", 1}}, {{"b", 2}}}})`',
    ),
    Slip(
        r"\) \[ (?:(?:STRING|[^;\"])*, )?NAME = ",
        r"'(?P<word>[^'\"\\\n]*)'",
        'the value of an attribute is written with its type, and a string in double quotes: `string("{word}")`',
        'string("{word}")',
        certain=True,
    ),
    Slip("", r"'(?P<word>[^'\"\\\n]*)'", "a string belongs in double quotes", '"{word}"', "STRING", certain=True),
    Slip(
        r"\[ name = ",
        r"(?P<word>NAME)(?= [\],])",
        'the value of an attribute is written with its type: `string("{word}")`',
        'string("{word}")',
        certain=True,
    ),
    Slip(
        r"\) \[ ",
        r"(?P<string>STRING)(?= \])",
        "an attribute is written `name = value`: `name = string({string})`",
        "name = string({string})",
    ),
    Slip(
        r"\) (?P<at>\( (?P<first>NAME) )",
        r"(?P<rest>= [^;{}]*)\)(?= ;)",
        _ATTRIBUTES,
        "[{first} {rest}]",
        certain=True,
    ),
    Slip(r"\) ", r"\{(?P<attributes> NAME = [^;{}]*)\}(?= ;)", _ATTRIBUTES, "[{attributes}]", ";", certain=True),
]

PHRASE_SLIPS = [*TYPES, *VALUES, *OPERATIONS]
