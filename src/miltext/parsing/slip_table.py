"""The table of slips: what stands where a parse stopped, what to say of it, and what to write instead."""

from __future__ import annotations

import re
from typing import NamedTuple

from miltext.parsing.lowering.values import TRAILING
from miltext.schema.operations import all_names


class Slip(NamedTuple):
    """A row: patterns of what stands `before` the place and of what was `found` there, and what to say of it.

    In a pattern, a space is any white space, or none, and a word in capitals is one of PIECES. What is wrong is the
    group `at` of `before`, if there is one, and what `found` takes. The `mend` replaces it. Message and mend have the
    groups of both by name, cleaned where the name is one of those in `slips`. The row is for places where a word or a
    terminal that it `wants` could stand.
    """

    before: str
    found: str
    message: str
    mend: str | None = None
    wants: str = ""


PIECES: dict[str, str] = {
    "LITERAL": r"(?:NUMBER|STRING|(?:true|false)(?![\w@])|\[[^;=(){}]*\])",
    "START": r"(?:\A|[;{}\n]) ",
    "NAME": r"[A-Za-z_][A-Za-z0-9_@]*",
    "DTYPE": r"(?:bool|string|str|half|float|double|int|long|(?:u?int|b?float|bf|b?fp|[iuf])\d+\w*)(?![\w@])",
    "TYPE": r"(?:\w+ <[^;=(){}]*>|\w+(?![\w@]))",
    "NUMBER": r"[-+]?(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(?![\w.])",
    "STRING": r'"[^"\\\n]*"',
    "MADE": "(?:tensor|list|dict|tuple)",
    "OPERATION": rf"(?:{'|'.join(all_names())})(?![\w@])",
    "MODULE": r"(?:mb|mil|ct|types|torch|nn|F|aten|np|numpy|math|tf|keras|jax|jnp|mx|onnx|tosa|linalg|arith|stablehlo)",
}
"""What words in capitals stand for in patterns."""

_UNTYPED = "an output's type stands before its name, or `_` in a draft"
_NO_WORD = f"MIL has no `{{word}}`; {_UNTYPED}"
_RESULTS = "what a block gives back stands after its `}}`: `}} -> (y)`"
_NAME = "a name has letters, digits, `_` and `@`, and begins with a letter or `_`"
_EQUALS = "`=` stands between an output and its operation"

STATEMENTS = [
    Slip(r"START (?P<at>(?P<word>let|var|auto|val|def|local|const)\s+)", "(?=NAME =(?!=))", _NO_WORD, "_ ", "("),
    Slip(
        r"START (?P<at>(?P<word>let|var|val|const)\s+)",
        "(?P<name>NAME) : (?P<type>TYPE) (?==)",
        _NO_WORD,
        "{type} {name} ",
    ),
    Slip(
        r"START (?P<at>(?P<word>let|var|auto|const|static|final)\s+)",
        r"(?=TYPE\s+NAME [=,])",
        "MIL has no `{word}`: no value ever changes",
        "",
    ),
    Slip(
        r"START (?P<at>(?:return|yield)(?:\s+| \( ))",
        r"(?P<name>NAME) \)? ;?",
        "what a block gives back stands after its `}}`: `}} -> ({name})`",
    ),
    Slip(r"START (?P<at>(?:return|yield)) (?:\( (?:NAME )?)?", r"(?=[;)\n])", _RESULTS),
    Slip(r"START (?P<at>if)\b [^\n]*", r"(?=[^;=])", "MIL has no `if`; write the operation `cond` or `select`"),
    Slip(
        r"START (?P<at>(?P<word>for|while))\b [^\n]*",
        "(?=[^;=])",
        "MIL has no `{word}`; write the operation `while_loop`, or each step by itself",
    ),
    Slip(
        r"START (?P<at>(?P<word>import|from|include|using)\s+)",
        "NAME",
        "MIL has no `{word}`: a program is one text, and operations are known by their names",
    ),
    Slip("START (?P<at>(?P<name>NAME) )", "(?==(?!=))", _UNTYPED, "_ {name} ", "("),
    Slip("START (?P<at>(?P<name>NAME) )", ": (?P<type>TYPE) (?==)", _UNTYPED, "{type} {name} ", "("),
    Slip("START (?P<at>(?P<name>NAME) )", ":=", _UNTYPED, "_ {name} =", "("),
    Slip(
        "START (?P<at>NAME )",
        r"(?:[-+*/%@|&]|\*\*|//)=",
        "no value of MIL ever changes; what is made of it has a name of its own",
    ),
    Slip("START (?P<at>(?P<name>NAME) )", ", (?P<names>NAME(?: , NAME)*) (?==)", _UNTYPED, "_ {name}, {names} "),
    Slip("START", r"\( (?P<names>NAME(?: , NAME)*) \) (?==)", f"outputs have no parentheses; {_UNTYPED}", "{names} "),
    Slip(
        "START",
        r"\( (?P<outputs>TYPE\s+NAME(?: , TYPE\s+NAME)*) \) (?==)",
        "the outputs of an operation stand without parentheses",
        "{outputs} ",
    ),
    Slip(
        r"START (?P<at>(?P<call>NAME \([^;{}]*\)) )",
        "-> (?P<name>NAME)",
        "the output of an operation stands before it, with `=`",
        "_ {name} = {call}",
        ";",
    ),
    Slip(
        r"= NAME \([^;{}]*\)(?P<at> )",
        r"(?:->|:) TYPE(?= ;)",
        "the type of an output stands before its name",
        "",
        ";",
    ),
    Slip("; ", ";", "one `;` is enough", "", "}"),
    Slip(r"TYPE\s+NAME ", "<-|->|:=|=>", _EQUALS, "=", "="),
    Slip(r"TYPE\s+NAME ", r"(?=NAME \()", f"{_EQUALS}; it is missing here", "= ", "="),
    Slip(r"TYPE\s+NAME (?P<at>=) ", "=", f"a single {_EQUALS}", "="),
    # ---- names
    Slip("START", r'%[\w:]+ = "', "this is MLIR; MIL writes an operation as `fp16 y = relu(x = x);`"),
    Slip("START", "%(?P<name>NAME)(?= =)", f"a name has no `%`; {_UNTYPED}", "_ {name}"),
    Slip("START", r"%(?P<number>\d+)(?= =)", f"a name has no `%` and no digit first; {_UNTYPED}", "_ var_{number}"),
    Slip("", "%(?P<name>NAME)(?! :)", "a name has no `%`", "{name}"),
    Slip("", r"%(?P<number>\d+)\b", "a name has no `%` and no digit first", "var_{number}"),
    Slip("", "@(?P<name>NAME)", "a name has no `@` before it", "{name}", "NAME"),
    Slip(r"TYPE\s+(?P<at>(?P<name>NAME))", r"(?P<odd>[-.:/]+\w[\w.:/-]*)", _NAME, "{name}{odd}", "="),
    Slip("TYPE ", r"(?P<odd>\d[\w.]*)(?= [=,);])", _NAME, "_{odd}", "NAME"),
]

_CONSTANT = "a constant is made by an operation: `const()[val = {type}({literal})]`"
_SOME_CONSTANT = "a constant is made by an operation: `const()[val = ...]`"
_CONST_VAL = "`const()[val = ...]`"

CONSTANTS = [
    Slip(r"START _\s+NAME = ", "LITERAL", f"{_SOME_CONSTANT}, its value with its type"),
    Slip(r"(?P<type>TYPE)\s+NAME = ", "(?P<literal>LITERAL)(?= ;)", _CONSTANT, "const()[val = {type}({literal})]"),
    Slip(
        r"(?P<type>TYPE)\s+NAME = (?P<at>(?P<literal>true|false) )",
        "(?=;)",
        _CONSTANT,
        "const()[val = {type}({literal})]",
    ),
    Slip(
        r"TYPE\s+NAME = (?P<at>(?P<dtype>DTYPE) \( )",
        r"(?P<literal>[^;()]*)\)(?= ;)",
        _CONSTANT.replace("{type}", "{dtype}"),
        "const()[val = {dtype}({literal})]",
    ),
    Slip(
        r"TYPE\s+NAME = (?P<at>(?P<type>MADE <[^;=(){}]*))",
        r"(?P<value>[^;=(){}]*\([^;]*\))(?= ;)",
        _SOME_CONSTANT,
        "const()[val = {type}{value}]",
        ">",
    ),
    Slip(r"TYPE\s+NAME = (?P<at>DTYPE \(|MADE <[^;=(){}]*)", r"(?=[^;]*\))", _SOME_CONSTANT),
    Slip("= const ", r"\[(?= NAME =)", f"`const` has its parentheses all the same: {_CONST_VAL}", "()["),
    Slip(
        r"(?P<type>TYPE)\s+NAME = const (?P<at>\( )",
        r"(?P<literal>LITERAL) \)(?= ;)",
        f"`const` takes an attribute: {_CONST_VAL}",
        "()[val = {type}({literal})]",
    ),
    Slip(
        r"= const (?P<at>\( (?P<type>DTYPE|MADE) )",
        r"(?P<value>[<(][^;]*)\)(?= ;)",
        f"`const` takes an attribute: {_CONST_VAL}",
        "()[val = {type}{value}]",
    ),
    Slip(
        r"= const \( \) \[ (?P<at>(?P<type>DTYPE|MADE) )",
        "(?=[<(])",
        f"an attribute is written `name = value`: {_CONST_VAL}",
        "val = {type}",
    ),
    Slip(
        r"(?P<type>TYPE)\s+NAME = const \( \) \[ val = ",
        r"(?P<literal>LITERAL)(?= [],])",
        "the value of an attribute is written with its type: `{type}({literal})`",
        "{type}({literal})",
    ),
]

_ARGUMENTS = "the arguments of an operation stand in parentheses, each as `name = value`"
_ATTRIBUTES = 'the attributes of an operation stand in brackets: `[name = string("y")]`'
_EACH = "each argument and attribute is written `name = value`"
_SINGLE = "an argument is bound by a single `=`"

_OPERATORS = {
    "**": "pow", "*": "mul", "+": "add", "-": "sub", "//": "floor_div", "/": "real_div", "%": "mod", "@": "matmul",
    "==": "equal", "!=": "not_equal", ">=": "greater_equal", ">": "greater", "&": "logical_and", "|": "logical_or",
}  # fmt: skip


def _operators(sign: str, operation: str) -> list[Slip]:
    """Return the rows of an operator: between two values, and as a part of something longer."""
    call = f"{operation}(x = {{left}}, y = {{right}})"
    both = rf"{re.escape(sign)} (?P<right>NAME|NUMBER)(?= ;)"
    return [
        Slip(r"TYPE\s+NAME = (?P<at>(?P<left>NAME) )", both, f"MIL has no operators; write `{call}`", call, "("),
        Slip(r"TYPE\s+NAME = ", f"(?P<left>NUMBER) {both}", f"MIL has no operators; write `{call}`", call),
        Slip(
            r"[=,(] (?P<at>(?:NAME|NUMBER|\)) )",
            rf"{re.escape(sign)}(?= [\w(])",
            f"MIL has no operators; write `{operation}` as an operation of its own, and the name of its output here",
        ),
    ]


OPERATIONS = [
    Slip(
        "= (?P<at>MODULE)",
        r"\.(?P<dtype>DTYPE)(?= [,)\]])",
        'a data type is given as a string: `string("{dtype}")`',
        'string("{dtype}")',
    ),
    Slip(
        "= (?P<at>MODULE)",
        r"(?:\.NAME)*\.(?P<operation>NAME)(?= \()",
        "an operation is written by its name alone: `{operation}`",
        "{operation}",
    ),
    Slip(
        r"TYPE\s+NAME = (?P<at>(?P<name>NAME))",
        r"\.(?P<operation>NAME) \( \)(?= ;)",
        "a value of MIL has no methods; write `{operation}(x = {name})`",
        "{operation}(x = {name})",
    ),
    Slip(
        "(?P<at>(?P<name>NAME))",
        r"\.NAME",
        "a value of MIL has nothing to ask it for; write an operation that takes `x = {name}`",
    ),
    *[row for sign, operation in _OPERATORS.items() for row in _operators(sign, operation)],
    Slip(
        r"TYPE\s+NAME = ",
        "- (?P<name>NAME)(?= ;)",
        "MIL has no operators; write `mul(x = {name}, y = -1.0)`",
        "mul(x = {name}, y = -1.0)",
    ),
    Slip(
        r"TYPE\s+NAME = ",
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
        r"TYPE\s+NAME = (?P<at>(?P<name>NAME) )",
        "(?=;)",
        "an operation has its arguments in parentheses; a copy of a value is `identity(x = {name})`",
        "identity(x = {name})",
        "(",
    ),
    Slip(
        r"TYPE\s+NAME = NAME(?P<at>\s+)",
        "(?P<name>NAME)(?= ;)",
        _ARGUMENTS,
        "(x = {name})",
        "(",
    ),
    Slip(r"= NAME ", r"\[(?P<arguments> NAME = [^;[\]]*)\]", _ARGUMENTS, "({arguments})", "("),
    Slip(r"= NAME ", r"\{(?P<arguments> NAME = [^;{}]*)\}", _ARGUMENTS, "({arguments})", "("),
    Slip(
        r"[=,(] (?P<at>NAME )",
        r"\[[^];=]*\]",
        "MIL has no indexing; write `slice_by_index` or `gather` as an operation of its own",
    ),
    Slip(
        r"[=,(] (?!DTYPE)(?P<at>(?P<word>NAME) )",
        r"(?=\( (?:\)|NAME [=,)]))",
        "an operation does not stand inside another; write `_ NAME = {word}(...);` before it, and NAME here",
        None,
        ",",
    ),
    # ---- arguments and attributes
    Slip(r"[(,\[] NAME ", ":(?!=)", _EACH, " =", "="),
    Slip(r"[(,\[] NAME ", ":=", _EACH, "=", "="),
    Slip(r"[(,\[] NAME (?P<at>=)", "[=>]", _SINGLE, "="),
    Slip(r"[(,\[] ", '"(?P<name>NAME)" (?==)', "the name of an argument stands without quotes", "{name} ", "NAME"),
    Slip(r"(?P<at>,) ", r"(?=[])])", TRAILING, ""),
    Slip(
        "= ",
        r"\{(?P<items>[^{}:;]*)\}",
        "a list stands in brackets, several values in parentheses",
        "[{items}]",
        "NAME",
    ),
    Slip(
        r"= (?:DTYPE \()?",
        r"\{ (?:STRING|NUMBER) :",
        'a dictionary is written `dict<string, int32>({{{{"a", 1}}, {{"b", 2}}}})`',
    ),
    Slip("", r"'(?P<word>[^'\"\\\n]*)'", "a string stands in double quotes", '"{word}"', "STRING"),
    Slip(
        r"[\[,] NAME = ",
        r"'(?P<word>[^'\"\\\n]*)'",
        'the value of an attribute is written with its type, and a string in double quotes: `string("{word}")`',
        'string("{word}")',
    ),
    Slip(
        r"[\[,] NAME = ",
        "(?P<string>STRING)",
        "the value of an attribute is written with its type: `string({string})`",
        "string({string})",
        "tensor",
    ),
    Slip(
        r"\[ name = ",
        r"(?P<word>NAME)(?= [\],])",
        'the value of an attribute is written with its type: `string("{word}")`',
        'string("{word}")',
    ),
    Slip(
        r"\) \[ ",
        r"(?P<string>STRING)(?= \])",
        "an attribute is written `name = value`: `name = string({string})`",
        "name = string({string})",
    ),
    Slip(r"\) (?P<at>\( )", r"(?P<attributes>NAME = [^;{}]*)\)(?= ;)", _ATTRIBUTES, "[{attributes}]"),
    Slip(r"\) ", r"\{(?P<attributes> NAME = [^;{}]*)\}(?= ;)", _ATTRIBUTES, "[{attributes}]", ";"),
]

_TENSOR = "the type of a tensor is written `tensor<{dtype}, [{sizes}]>`"
_IN_BRACKETS = "the sizes of a tensor stand in brackets: `[{sizes}]`"
_UNKNOWN_SIZE = "a size that is not known is written `?`"
_SIZES = r"(?P<sizes>[\d?, ]*)"

TYPES = [
    Slip("", r"None|-1|\*|:|NAME", _UNKNOWN_SIZE, "?", "?"),
    Slip(
        "tensor < ",
        r"(?P<sizes>(?:\?|\d+)(?:x(?:\?|\d+))*)x(?P<dtype>DTYPE)(?= >)",
        _TENSOR,
        "{dtype}, [{sizes}]",
    ),
    Slip(
        "(?P<at>tensor < (?P<dtype>DTYPE) )",
        ">",
        "a tensor has a shape, as in `tensor<{dtype}, [2, 3]>`; a single value is of type `{dtype}`",
        "{dtype}",
        ",",
    ),
    Slip("tensor < DTYPE , ", r"(?P<sizes>(?:\?|\d+)(?: , (?:\?|\d+))*)(?= >)", _IN_BRACKETS, "[{sizes}]", "["),
    Slip("tensor < DTYPE , ", rf"\({_SIZES}\)", _IN_BRACKETS, "[{sizes}]", "["),
    Slip("tensor < DTYPE", rf" \[{_SIZES}\]", "a comma stands between the data type and the sizes", ", [{sizes}]", ","),
    Slip("tensor < ", rf"\[{_SIZES}\] , (?P<dtype>DTYPE)", _TENSOR, "{dtype}, [{sizes}]"),
    Slip("(?P<at>(?P<dtype>DTYPE) )", rf"\[{_SIZES}\](?=\s*NAME)", _TENSOR, "tensor<{dtype}, [{sizes}]>", "NAME"),
    Slip("", rf"\[{_SIZES}\] x?(?P<dtype>DTYPE)(?=\s+NAME)", _TENSOR, "tensor<{dtype}, [{sizes}]>"),
    Slip(
        "(?P<at>tensor )",
        rf"[(\[] (?P<dtype>DTYPE) , [(\[]{_SIZES}[\])] [\])](?=\s*NAME)",
        _TENSOR,
        "tensor<{dtype}, [{sizes}]>",
        "<",
    ),
    Slip("(?P<at>tensor )", r"(?=\()", "the type of a value is written out, as in `tensor<int32, [2]>([1, 2])`"),
    Slip("tensor < ", r"MODULE\.(?P<dtype>NAME)", "a data type is written by its name alone: `{dtype}`", "{dtype}"),
    Slip(
        r"= (?P<at>TYPE\s+)",
        "(?P<name>NAME)(?= [,)])",
        "a value is used by its name alone: `{name}`",
        "{name}",
        "(",
    ),
    Slip(
        r"[=,(] (?P<at>(?P<dtype>DTYPE) )",
        r"(?= ,| \)(?! [\d.]))",
        'a data type is given as a string: `string("{dtype}")`',
        'string("{dtype}")',
        "(",
    ),
]

_SUFFIX = "a number has nothing after its digits; its type says what it is"
_PARENTHESES = "a literal stands in parentheses after its type: `{dtype}({number})`"
_ELEMENTS = "the elements of a tensor or a list stand in brackets"

VALUES = [
    Slip("", r"(?P<digits>[-+]?\d+(?:_\d+)+(?:\.\d+)?)\b", "a number has no `_` between its digits", "{digits}"),
    Slip(
        "",
        r"(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(?:[fFhHdD]|[uU]?[lL]{1,2}|[uU]|b?f\d+|fp\d+|[iu]\d+)\b",
        _SUFFIX,
        "{number}",
    ),
    Slip("", r"(?:NUMBER)?[-+]?[\d.]+[jJ]\b", "MIL has no complex numbers"),
    Slip("", r"(?P<whole>0[bBoO]\d+)\b", "a whole number is written in decimal: `{whole}`", "{whole}"),
    Slip("", r"(?P<sign>[-+]?)(?:[iI]nf|INF)(?:inity|INITY)?\b", "infinity is written `{sign}inf`", "{sign}inf", "inf"),
    Slip("", r"(?:[nN]a[nN]|NAN)\b", "what is not a number is written `nan`", "nan", "nan"),
    Slip("", r"MODULE\.(?P<word>inf|nan)\b", "this is written `{word}`", "{word}", "inf"),
    Slip("(?P<at>(?P<dtype>DTYPE) )", "(?P<number>NUMBER)", _PARENTHESES, "{dtype}({number})", "("),
    Slip(r"(?P<at>\( (?P<dtype>DTYPE) )", r"\) (?P<number>NUMBER)", _PARENTHESES, "{dtype}({number})"),
    Slip(r"> \( (?P<at>(?P<first>NUMBER) )", r"(?P<rest>(?:, NUMBER )+)(?=\))", _ELEMENTS, "[{first}{rest}]"),
    Slip(r"> \( (?P<at>\{ )", r"(?P<items>NUMBER(?: , NUMBER)*) \}", _ELEMENTS, "[{items}]"),
    Slip(
        "MADE <[^;=(){}]*> ",
        r"(?P<list>\[[^;()]*?\])(?= [],;)])",
        "a literal stands in parentheses after its type",
        "({list})",
        "(",
    ),
    Slip(
        "(?P<at>NUMBER) ",
        r"[-+*/]+(?= \d)",
        "MIL has no arithmetic; write the number that comes out",
        None,
        ")",
    ),
    Slip(r"string \( ", r"[rRbBfFuU]{1,2}(?P<string>STRING)", "a string has nothing before its quotes", "{string}"),
    Slip(r"string \( ", r"(?P<word>NAME)(?= \))", 'a string stands in double quotes: `"{word}"`', '"{word}"'),
]

COMMENTS = [
    Slip(r"(?:\A|[;,{}(\s])", r"#(?P<rest>[^\r\n]*)", "a comment begins with `//`", "//{rest}"),
    Slip(
        "START",
        r"(?P<quotes>\"\"\"|''')(?P<rest>(?:(?!\*/|(?P=quotes))[\s\S])*)(?P=quotes)",
        "a comment is written `/* ... */`",
        "/*{rest}*/",
    ),
]

FUNCTIONS = [
    Slip("[{};] ", r"(?:def|function|fn|fun|void)\b", "a function begins with `func`", "func", "func"),
    Slip("", r"module\b", "a program begins with `program(1.3)`", None, "program"),
    Slip(
        "[(,] ",
        "%?(?P<name>NAME) : (?P<type>TYPE)(?= [,)])",
        "the type of an input stands before its name: `{type} {name}`",
        "{type} {name}",
        "tensor",
    ),
    Slip(r"\) ", r"->[^{};]*(?=\{)", "what a function gives back stands after its block: `}} -> (y);`", "", "{"),
    Slip("-> ", "(?P<name>NAME)", "the outputs of a block stand in parentheses: `({name})`", "({name})", "("),
    Slip(
        r"-> \( (?:NAME , )*(?P<at>(?:DTYPE|MADE) )",
        r"(?:<[^()]*>\s)? (?P<name>NAME)",
        "an output of a block is named alone; its type stands where it is defined",
        "{name}",
    ),
    Slip(r"func\s+NAME < ", r"(?P<number>\d+)(?:\.\d+)?(?= >)", "an opset is written `ios{number}`", "ios{number}"),
    Slip(r"func\s+NAME < ", '"(?P<name>NAME)"(?= >)', "an opset stands without quotes: `{name}`", "{name}"),
]

SLIPS = [*COMMENTS, *FUNCTIONS, *STATEMENTS, *CONSTANTS, *TYPES, *VALUES, *OPERATIONS]
"""All slips. Of those that fit, the first is told."""
