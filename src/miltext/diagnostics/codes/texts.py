"""Codes of the syntax of texts, and of texts without a Program."""

from __future__ import annotations

from miltext.diagnostics.codes.table import ERROR, WARNING, code

# ---- the syntax of a text

EMPTY_TEXT = code("MIL001", "empty text", ERROR, "begin with `program(1.3)`, or check that the file was written at all")
BYTE_ORDER_MARK = code("MIL002", "byte-order mark", ERROR, "save the file as UTF-8 without a byte-order mark")
UNEXPECTED_CHARACTER = code(
    "MIL003",
    "unexpected character",
    ERROR,
    "remove the characters, or write the intended ones. Comments begin with `//`, strings belong in double quotes",
)
UNTERMINATED = code(
    "MIL004",
    "unterminated string or comment",
    ERROR,
    "write the closing quote or `*/`. A line feed in a string is `\\n`",
)
UNEXPECTED_END = code(
    "MIL005", "unexpected end of the text", ERROR, "close the bracket. If the text was cut off, fetch the whole file"
)
NESTED_TOO_DEEPLY = code(
    "MIL006", "nested too deeply", ERROR, "reduce the nesting: fewer types inside types, or blocks inside blocks"
)
SYNTAX_ERROR = code("MIL010", "syntax error", ERROR, "write the expected text from the message")
NUMBER_OUT_OF_RANGE = code(
    "MIL020", "number out of range", ERROR, "choose a wider type or another number. Infinity is written `inf`"
)
WRONG_ELEMENT = code(
    "MIL021", "element does not match its type", ERROR, "write a literal of the type, or change the type"
)
WRONG_NESTING = code(
    "MIL022",
    "literal does not match its shape",
    ERROR,
    "nest it like the shape: `tensor<fp16, [2, 3]>([[1, 2, 3], [4, 5, 6]])`",
)
UNKNOWN_ESCAPE = code("MIL023", "unknown escape", ERROR, "write two backslashes for one")
CONTROL_CHARACTER = code(
    "MIL024", "control character", ERROR, "remove the character; in a string, write it as the message shows"
)
OTHER_LANGUAGE = code("MIL025", "spelling of another language", ERROR, "write it as in the message")

# ---- text that does not become a Program

UNKNOWN_DIALECT = code("MIL101", "unknown version of MIL text", ERROR, "write `program(1.3)`")
RESERVED_WORD = code(
    "MIL102",
    "reserved word used as a name",
    ERROR,
    "choose another name. The quoted spelling in the message is miltext's own, and Apple's compiler does not take it",
)
DUPLICATE_DEFINITION = code("MIL103", "duplicate definition", ERROR, "rename or remove one of them")
UNKNOWN_TYPE = code("MIL104", "unknown type", ERROR, "write the intended type")
WRONG_KIND_OF_LITERAL = code(
    "MIL105",
    "literal and type of different kinds",
    ERROR,
    "change the literal or its type. The spellings in the message are for Programs that hold such a value",
)
TYPE_WITHOUT_SHAPE = code("MIL106", "type without a shape for a literal", ERROR, "write the sizes in the type")
ELIDED_LITERAL = code(
    "MIL107",
    "elided literal",
    ERROR,
    "print without `elide=`, or build with `original=` the model that it was printed from",
)
MALFORMED_BLOBFILE = code("MIL108", "malformed BLOBFILE", ERROR, "write it as the message shows")
OPERATION_OPSET = code(
    "MIL109", "opset of a single operation", ERROR, "remove it. The function's opset applies to all its operations"
)
RUNTIME_TYPE = code("MIL110", "type of the Core ML runtime", ERROR, "write a `tensor` type")
VALUE_IN_ARRAY_FILE = code(
    "MIL111",
    "value in a file of arrays",
    ERROR,
    'check the text as a file, or give its path, as in `miltext.check(text, path="models/model.mil")`. For a '
    "Program, write the value; for a model, `miltext build` the text",
)
MISSING_TYPE = code(
    "MIL112",
    "missing type in a draft",
    ERROR,
    "run `miltext infer` to fill in the types, or write them. `miltext build` takes drafts as they are",
)
SHORT_SPELLING = code(
    "MIL113",
    "short spelling of a draft",
    ERROR,
    "run `miltext infer` to write the operations out, or do that by hand. `miltext build` takes drafts as they are",
)
POSITIONAL_ARGUMENT = code("MIL114", "argument without a parameter", ERROR, "write the name, or remove the argument")
NESTED_OPERATION = code(
    "MIL115",
    "nested operation without one value",
    ERROR,
    "give it a statement of its own, and use the names of its outputs",
)
UNTYPED_RECORD = code(
    "MIL116",
    "record without a type",
    ERROR,
    'write the type, as in `tensor<fp16, [2, 3]>($blob("weights/weight.bin", 64))`',
)
UNKNOWN_DRAFT_WORD = code("MIL117", "unknown word in the marker of a draft", ERROR, "remove or correct the word")
IMPORT_IN_TEXT = code(
    "MIL119",
    "model imported by a text",
    ERROR,
    "`miltext build` the text, which puts the operations of the model in this place. Check the text as a file, or give "
    'its path, as in `miltext.check(text, path="models/whole.mil")`',
)
CONTRADICTORY_DUMP = code(
    "MIL118",
    "backend that does not support its operation",
    WARNING,
    "dump the model again; the text was changed, or the runtime selects in an unknown way",
)
