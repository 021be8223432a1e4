"""Slips in a statement as a whole: how it begins, its names, constants; heads and ends of functions; comments."""

from __future__ import annotations

from miltext.parsing.slip_patterns import LITERALS, Slip

_UNTYPED = "an output's type comes before its name; a draft may leave it out"
_NO_WORD = f"MIL has no `{{word}}`; {_UNTYPED}"
_RESULTS = "the outputs of a block come after its `}}`: `}} -> (y)`"
_NAME = "a name consists of letters, digits, `_` and `@`, and begins with a letter or `_`"
_EQUALS = "`=` comes between an output and its operation"

STATEMENTS = [
    Slip(r"START (?P<at>(?P<word>let|var|auto|val|def|local|const)\s+)", "(?=NAME =(?!=))", _NO_WORD, "", "<"),
    Slip(
        r"START (?P<at>(?P<word>let|var|val|const)\s+)",
        "(?P<name>NAME) : (?P<type>TYPE) (?==)",
        _NO_WORD,
        "{type} {name} ",
    ),
    Slip(
        r"START (?P<at>(?P<word>let|var|auto|const|static|final)\s+)",
        r"(?=TYPE\s+NAME [=,])",
        "MIL has no `{word}`: values never change",
        "",
    ),
    Slip(
        r"START (?P<at>(?:return|yield)(?:\s+| \( ))",
        r"(?P<call>NAME \([^;{}]*\)) ;?",
        "the outputs of a block have names, and come after its `}}`: `y = {call};` and `}} -> (y)`",
    ),
    Slip(
        r"START (?P<at>(?:return|yield)(?:\s+| \( ))",
        r"(?P<name>NAME) \)? ;?",
        "the outputs of a block come after its `}}`: `}} -> ({name})`",
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
    Slip(
        r"START (?P<at>(?P<word>assert|class|del|enum|lambda|print|raise|struct|switch|try|typedef|with))\b [^\n;]*",
        r"(?=[\s\S])",
        "MIL has no `{word}`",
    ),
    Slip("START (?:_|DTYPE|MADE <[^;=(){}]*>) ", ":(?= NAME)", "no colon comes between a type and a name", ""),
    Slip("START (?P<at>(?P<name>NAME) )", ": (?P<type>TYPE) (?==)", _UNTYPED, "{type} {name} ", "<"),
    Slip("START (?P<at>(?P<name>NAME) )", ":=", _UNTYPED, "{name} =", "<"),
    Slip(
        "START (?P<at>NAME )",
        r"(?:[-+*/%@|&]|\*\*|//)=",
        "values in MIL cannot be changed; give the result a new name",
    ),
    Slip("START", r"\( (?P<names>NAME(?: , NAME)*) \) (?==)", f"outputs have no parentheses; {_UNTYPED}", "{names} "),
    Slip(
        "START",
        r"\( (?P<outputs>TYPE\s+NAME(?: , TYPE\s+NAME)*) \) (?==)",
        "the outputs of an operation have no parentheses",
        "{outputs} ",
    ),
    Slip(
        r"START (?P<at>(?P<call>NAME \([^;{}]*\)) )",
        "-> (?P<name>NAME)",
        "the output of an operation comes before it, with `=`",
        "{name} = {call}",
        ";",
    ),
    Slip(
        r"= NAME \([^;{}]*\)(?P<at> )",
        r"(?:->|:) TYPE(?= ;)",
        "the type of an output comes before its name",
        "",
        ";",
    ),
    Slip("; ", ";(?: ;)*", "one `;` is enough", "", "}", certain=True),
    Slip("START NAME (?P<at><)", "-", _EQUALS, "="),
    Slip("OUTPUT ", "(?:<-|->|:=|=>)(?! =)", _EQUALS, "=", "="),
    Slip(r"TYPE\s+NAME ", r"(?=NAME \()", f"{_EQUALS}; it is missing here", "= ", "="),
    Slip("START NAME ", r"(?=OPERATION \()", f"{_EQUALS}; it is missing here", "= ", "="),
    Slip("OUTPUT (?P<at>=) ", "=", f"a single {_EQUALS}", "=", certain=True),
    Slip(r"(?:START|,) (?P<at>_) ", "(?=[=,])", "`_` stands for a type; a name follows it", None, "NAME"),
    # ---- names
    Slip("START", r'%[\w:]+ = "', "this is MLIR; MIL writes an operation as `fp16 y = relu(x = x);`"),
    Slip("START", "%(?P<name>NAME)(?= =)", f"a name has no `%`; {_UNTYPED}", "{name}"),
    Slip("START", r"%(?P<number>\d+)(?= =)", f"a name has no `%` and no digit first; {_UNTYPED}", "var_{number}"),
    Slip("", "%(?P<name>NAME)(?! :)", "a name has no `%`", "{name}"),
    Slip("", r"%(?P<number>\d+)\b", "a name has no `%` and no digit first", "var_{number}"),
    Slip("", "@(?P<name>NAME)", "a name has no `@` before it", "{name}", "NAME"),
    Slip(r"TYPE\s+(?P<at>(?P<name>NAME))", r"(?P<odd>[-.:/]+\w[\w.:/-]*)", _NAME, "{name}{odd}", "="),
    Slip("TYPE ", r"(?P<odd>\d[\w.]*)(?= [=,);])", _NAME, "_{odd}", "NAME"),
]

_CONSTANT = "a constant is made by an operation: `const()[val = {type}({literal})]`"
_UNTYPED_CONSTANT = "a constant is made by an operation: `const()[val = {literal}]`"
_SOME_CONSTANT = "a constant is made by an operation: `const()[val = ...]`"
_CONST_VAL = "`const()[val = ...]`"

CONSTANTS = [
    *[
        Slip(
            rf"(?P<type>{made})\s+NAME = ",
            rf"(?P<literal>{literal})(?= ;)",
            _CONSTANT,
            "const()[val = {type}({literal})]",
            long=True,
        )
        for made, literal in LITERALS.items()
    ],
    Slip(
        r"(?P<type>bool)\s+NAME = (?P<at>(?P<literal>true|false) )",
        "(?=;)",
        _CONSTANT,
        "const()[val = {type}({literal})]",
    ),
    *[
        Slip(
            rf"(?:TYPE\s+|START)NAME = {converted}",
            "(?P<array>WEIGHT)(?= ;)",
            f"a constant is made by an operation: `const()[val = {array}]`",
            f"const()[val = {array}]",
        )
        for converted, array in (("", "{array}"), (r"(?P<at>(?P<type>\w+)\s+)", "{type} {array}"))
    ],
    Slip(r"TYPE\s+NAME = ", "LITERAL(?= ;)", f"{_SOME_CONSTANT}, its value with its type", long=True),
    Slip(r"TYPE\s+NAME = (?P<at>(?:true|false) )", "(?=;)", f"{_SOME_CONSTANT}, its value with its type"),
    Slip(
        r"(?:TYPE\s+|START)NAME = (?P<at>(?P<dtype>DTYPE) \( )",
        r"(?P<literal>[^;()]*)\)(?= ;)",
        _CONSTANT.replace("{type}", "{dtype}"),
        "const()[val = {dtype}({literal})]",
    ),
    Slip(
        r"TYPE\s+NAME = (?P<at>(?P<type>MADE <[^;=(){}]*))",
        r"(?P<value>[^;=(){}]*> \([^;]*\))(?= ;)",
        _SOME_CONSTANT,
        "const()[val = {type}{value}]",
        ">",
    ),
    Slip(r"(?:TYPE\s+|START)NAME = (?P<at>DTYPE) \(", r"(?=[^;]*\))", _SOME_CONSTANT),
    Slip(r"TYPE\s+NAME = (?P<at>MADE <[^;=(){}]*)", r"(?=[^;=(){}]*> \()", _SOME_CONSTANT),
    Slip(
        "START NAME = ",
        r"(?P<literal>LITERAL)(?= ;)",
        _UNTYPED_CONSTANT,
        "const()[val = {literal}]",
        long=True,
    ),
    Slip(
        "START NAME = (?P<at>(?P<literal>true|false) )",
        "(?=;)",
        _UNTYPED_CONSTANT,
        "const()[val = {literal}]",
    ),
    Slip("= const ", r"\[(?= NAME =)", f"`const` needs its parentheses, too: {_CONST_VAL}", "()[", certain=True),
    *[
        Slip(
            rf"(?P<type>{made})\s+NAME = const (?P<at>\( )",
            rf"(?P<literal>{literal}) \)(?= ;)",
            f"`const` takes an attribute: {_CONST_VAL}",
            "()[val = {type}({literal})]",
            certain=True,
        )
        for made, literal in LITERALS.items()
    ],
    Slip(
        r"= const (?P<at>\( )",
        r"(?P<value>(?:DTYPE|MADE) [<(][^;]*)\)(?= ;)",
        f"`const` takes an attribute: {_CONST_VAL}",
        "()[val = {value}]",
        certain=True,
    ),
    Slip(
        r"= const \( \) \[ (?P<at>(?P<type>DTYPE|MADE) )",
        "(?=[<(])",
        f"an attribute is written `name = value`: {_CONST_VAL}",
        "val = {type}",
        certain=True,
    ),
    Slip(
        r"(?P<type>bf16|fp16|fp32|fp64)\s+NAME = const \( \) \[ (?:NAME = [^;]*, )?val = ",
        "(?P<word>inf|nan)(?= [],])",
        "the value of an attribute is written with its type: `{type}({word})`",
        "{type}({word})",
    ),
    Slip(
        r"= const \( \) \[ (?:NAME = [^;]*, )?val = ",
        r"(?!(?i:true|false|inf|nan)(?![\w@]))NAME(?= [],])",
        "the value of a constant is a literal, not a name: `const()[val = fp16(0.5)]`",
    ),
    Slip(
        r"= const \( \) \[ (?:NAME = [^;]*, )?val = ",
        r"OPERATION(?= \()",
        "the value of a constant is a literal, not an operation: `const()[val = fp16(0.5)]`",
    ),
    Slip(
        r"(?P<type>bool)\s+NAME = const (?P<at>\( )",
        r"(?P<literal>true|false) \)(?= ;)",
        f"`const` takes an attribute: {_CONST_VAL}",
        "()[val = {type}({literal})]",
        certain=True,
    ),
    Slip(
        r"START (?:_\s+)?NAME = const (?P<at>\( )",
        r"(?P<literal>LITERAL) \)(?= ;)",
        f"`const` takes an attribute: {_CONST_VAL}",
        "()[val = {literal}]",
        certain=True,
    ),
    Slip(r"TYPE\s+NAME = const (?P<at>\( )", r"LITERAL \)(?= ;)", f"`const` takes an attribute: {_CONST_VAL}"),
]

COMMENTS = [
    Slip(
        r"(?:\A|[;,{}(\s])",
        r"#(?:define|include|pragma|if|ifn?def|else|elif|endif|undef|error|warning|line|import)\b[^\r\n]*",
        "MIL has no preprocessor; a comment begins with `//`",
    ),
    Slip(
        r"(?:\A|[;,{}(\s])",
        r"#(?P<rest>(?=\s|\Z)[^\r\n]*)",
        "a comment begins with `//`",
        "//{rest}",
        certain=True,
    ),
    Slip(r"(?:\A|[;,{}(\s])", r"#(?P<rest>[^\r\n]*)", "a comment begins with `//`", "//{rest}"),
    Slip(
        "START",
        r"(?P<quotes>\"\"\"|''')(?P<rest>(?:(?!\*/|(?P=quotes))[\s\S])*)(?P=quotes)",
        "a comment is written `/* ... */`",
        "/*{rest}*/",
        certain=True,
    ),
]

FUNCTIONS = [
    Slip(
        r"\$draft \( (?:NAME , )*NAME(?P<at>\s+)",
        "(?=NAME)",
        "a comma comes between the words of a marker: `$draft(names, consts)`",
        ", ",
        ",",
        certain=True,
    ),
    Slip(
        r"\] ",
        r"\$draft \([^(){}]*\)",
        "the marker comes before the attributes: `program(1.3) $draft(names) [...]`",
        None,
        "{",
    ),
    Slip("[{};] ", r"(?:def|function|fn|fun|void)\b", "a function begins with `func`", "func", "func", certain=True),
    Slip("", r"module\b", "a program begins with `program(1.3)`", None, "program"),
    Slip(
        "[(,] ",
        "%(?P<name>NAME) : (?P<type>TYPE)(?= [,)])",
        "the type of an input comes before its name: `{type} {name}`",
        "{type} {name}",
        "tensor",
        certain=True,
    ),
    Slip(
        r"(?:func\s+NAME (?:< NAME > )?|[\])] )\( (?:[^;{}()]*, )?(?P<at>(?P<name>NAME) )",
        ": (?P<type>TYPE)(?= [,)])",
        "the type of an input comes before its name: `{type} {name}`",
        "{type} {name}",
        certain=True,
    ),
    Slip(r"\) ", r"->[^{};]*(?=\{)", "the outputs of a function come after its block: `}} -> (y);`", "", "{"),
    Slip(
        "-> ",
        r"(?P<name>NAME)(?= [;}])",
        "the outputs of a block belong in parentheses: `({name})`",
        "({name})",
        "(",
        certain=True,
    ),
    Slip(
        r"-> \( (?:NAME , )*(?P<at>(?:DTYPE|MADE) )",
        r"(?:<[^()]*>\s)? (?P<name>NAME)",
        "an output of a block is named alone; its type is where it is defined",
        "{name}",
    ),
    Slip(r"func\s+NAME < ", r"(?P<number>\d+)(?:\.\d+)?(?= >)", "an opset is written `ios{number}`", "ios{number}"),
    Slip(r"func\s+NAME < ", '"(?P<name>NAME)"(?= >)', "an opset has no quotes: `{name}`", "{name}", certain=True),
]

STATEMENT_SLIPS = [*COMMENTS, *FUNCTIONS, *STATEMENTS, *CONSTANTS]
