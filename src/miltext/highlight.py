"""The Pygments lexer for MIL text: `pygmentize -l mil`, Sphinx, MkDocs and Jupyter find it once miltext is installed.

The states below follow `grammar/mil.lark`: a name is an operation, a parameter, a defined or a used value by its
position. Where the position leaves a choice, as in the short spelling of drafts, the text after it decides: a bracket
after an operation, an equals sign after a parameter.

`editors/generate.py` makes the syntax of every other editor out of the same states. So each rule has a pattern, a
token, and at most one state to push or to pop. A pattern stays within one line, except for gaps, which ON_A_LINE
replaces; it looks ahead only at its end. A rule that pops matches a closing mark or looks ahead for one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from pygments.lexer import RegexLexer, include, words
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, Punctuation, String, Whitespace, _TokenType

from miltext.syntax.literals import FORBIDDEN
from miltext.syntax.names import DRAFT_WORDS, IMPORT
from miltext.syntax.vocabulary import keywords, operation_names, type_names

_WORDS = keywords()
_END = r"(?![A-Za-z0-9_@])"
_ASIDE = re.compile(r"\s+|//[^\r\n]*[\r\n]|/\*.*?\*/", re.DOTALL)
_PROGRAM = re.compile(r"program\s*\(\s*[0-9.]+\s*\)")
_NAME = r'[A-Za-z_][A-Za-z0-9_@]*|\$"(?:[^"\\\n]|\\.)*"'
_TYPE = [
    (words(type_names(), suffix=_END), Keyword.Type, "typed"),
    (words(_WORDS.type_markers, suffix=_END), Keyword.Pseudo, "typed"),
    (r"\$-?[0-9]+(?![0-9A-Za-z_])", Keyword.Type, "typed"),
]
_TYPE_ALONE = [rule[:2] for rule in _TYPE]
_GAP = r"(?:[ \t\r\n]|//[^\n]*\n|/\*(?:[^*]|\*+[^*/])*\*+/)*"
_LINE_GAP = r"(?:[ \t]|/\*(?:[^*\n]|\*+[^*/\n])*\*+/)*"
_TEXT_END = r"\Z"
_CALLED = rf"(?={_GAP}[(<])"
"""The text after an operation's name: where both can stand, only this distinguishes it from a value's name."""
_CALLS = [
    (words(operation_names(), suffix=_END + _CALLED), Name.Builtin),
    (rf"(?:{_NAME}){_CALLED}", Name.Function),
]
_PARAMETER = (rf"(?:{_NAME})(?={_GAP}=)", Name.Attribute)
_DRAFT = ("_" + _END, Keyword.Type, "typed")
"""For an omitted type in a draft."""

ON_A_LINE = {_GAP + _TEXT_END: _LINE_GAP + "$", _GAP: _LINE_GAP}
"""The replacements of these patterns in editors, which see a single line: the end of the line counts as a call."""


def _until(closing: str) -> list[Any]:
    """Return the rules of a state that ends at a mark: gaps and comments anywhere, and the closing mark."""
    return [include("gap"), (closing, Punctuation, "#pop")]


def _before(coming: str) -> tuple[str, Callable[..., Iterator[tuple[int, _TokenType, str]]], str]:
    """Return the rule that leaves a state without reading ahead: Pygments would yield an empty token for it."""
    return rf"(?={coming})", lambda *_: iter(()), "#pop"


class MilLexer(RegexLexer):
    """A lexer for the texts of Core ML's MIL programs: Apple's, hand-written ones, and miltext's own extensions."""

    name = "MIL"
    aliases = ["mil"]
    filenames = ["*.mil"]
    mimetypes = ["text/x-mil"]

    tokens = {
        "root": [
            include("gap"),
            (words(("program",), suffix=_END), Keyword.Declaration),
            (words(("$draft",), suffix=_END), Keyword.Pseudo, "marker"),
            include("body"),
        ],
        # After `$draft`: the options of a text.
        "marker": [
            *_until(r"\)"),
            (r"[(,]", Punctuation),
            (words(DRAFT_WORDS, suffix=_END), Keyword.Pseudo),
            (_NAME, Name),
            _before(r"[;{}\[]"),
        ],
        "functions": [*_until(r"\}"), include("body")],
        "body": [
            (words(("func",), suffix=_END), Keyword.Declaration, "function"),
            (r"\{", Punctuation, "functions"),
            include("statement"),
        ],
        "function": [
            *_until(r";"),
            (r"\{", Punctuation, "block"),
            (r"\(", Punctuation, "inputs"),
            include("phrase"),
            (_NAME, Name.Function),
        ],
        "inputs": [
            *_until(r"\)"),
            (r",", Punctuation),
            _DRAFT,
            *_TYPE,
            (_NAME, Name.Variable),
            _before(r"[;{}=]"),
            include("constant"),
        ],
        "block": [*_until(r"\}"), (r"\{", Punctuation, "block"), include("statement")],
        "statement": [
            _DRAFT,
            (r"=", Operator, "made"),
            (rf"\((?=[^(){{}};=\n]*\){_GAP}\{{)", Punctuation, "inputs"),
            include("phrase"),
            *_CALLS,
            (words(operation_names(), suffix=rf"{_END}(?={_GAP}{_TEXT_END})"), Name.Builtin),
            (_NAME, Name.Variable),
        ],
        # After the equals sign of a statement: the operation that makes its values.
        "made": [
            include("gap"),
            (words((IMPORT,), suffix=_END), Keyword.Pseudo, "#pop"),
            *_TYPE,
            (words(operation_names(), suffix=_END), Name.Builtin),
            (_NAME, Name.Function),
            _before(r"[^A-Za-z_$/ \t\r\n]"),
        ],
        "phrase": [
            *_TYPE,
            (r"\(", Punctuation, "arguments"),
            (r"\$?\[", Punctuation, "attributes"),
            (r"->", Operator, "outputs"),
            (r"=", Operator),
            (r"<", Punctuation, "opset"),
            (r"[,;>\])}]", Punctuation),
            include("constant"),
        ],
        "opset": [*_until(r">"), (_NAME, Name.Namespace), _before(r"[^A-Za-z_$>/ \t\r\n]")],
        "arguments": [
            *_until(r"\)"),
            (r"=", Operator, "binding"),
            (r",", Punctuation),
            ("_" + _END + rf"(?={_GAP}[A-Za-z_$])", *_DRAFT[1:]),
            _PARAMETER,
            _before(r"[;{}]"),
            include("bound"),
        ],
        "attributes": [*_until(r"\]"), (r"=", Operator, "binding"), (r",", Punctuation), include("named")],
        "named": [(_NAME, Name.Attribute), _before(r"[;{}]"), include("constant")],
        "binding": [include("gap"), _before(r"[,)\];{}]"), include("bound")],
        "bound": [
            *_TYPE,
            include("worded"),
            *_CALLS,
            (_NAME, Name),
            (r"\(", Punctuation, "arguments"),
            (r"\[", Punctuation, "elements"),
            (r"<", Punctuation, "opset"),
            include("constant"),
        ],
        "outputs": [
            *_until(r"\)"),
            (r"[(,]", Punctuation),
            (_NAME, Name),
            _before(r"[;{}\[]"),
        ],
        # After a type: its parameters, the name of the value, or a literal.
        "typed": [
            include("gap"),
            (r"<", Punctuation, "type"),
            (r"\(", Punctuation, "literal"),
            *_TYPE_ALONE,
            (_NAME, Name.Variable),
            _before(r"\$[a-z]"),  # a converted array
            _before(r"[^A-Za-z_$<(/ \t\r\n]"),
        ],
        "type": [
            *_until(r">"),
            *_TYPE_ALONE,
            (r"\$\[", Punctuation, "attributes"),
            (r"[,\[\]()]", Punctuation),
            (r"\?", Keyword.Constant),
            (r"<", Punctuation, "type"),
            include("constant"),
            include("field"),
            _before(r"[;{}]"),
            (_NAME, Name),
        ],
        "literal": [*_until(r"\)"), include("element"), (r"[\[\]{}]", Punctuation)],
        # A list, or the attributes of a nested operation.
        "elements": [
            *_until(r"\]"),
            _PARAMETER,
            include("element"),
            (r"\[", Punctuation, "elements"),
            (r"[{}]", Punctuation),
        ],
        "element": [
            (r",", Punctuation),
            (words(_WORDS.numbers, suffix=_END), Number.Float),
            include("worded"),
            include("constant"),
            *_TYPE_ALONE,
            (r"\(", Punctuation, "literal"),
            (words(_WORDS.blobs, suffix=_END), Keyword),
            include("field"),
            (r"<", Punctuation, "type"),
            (_NAME, Name),
            _before(r";"),
        ],
        "worded": [
            (rf"[-+]inf{_END}", Number.Float),
            (words(_WORDS.booleans, suffix=_END), Keyword.Constant),
        ],
        "field": [
            (words(_WORDS.fields, suffix=_END), Name.Attribute),
            (r"=", Operator),
        ],
        "constant": [
            (r"[-+]?[0-9]+(?![0-9A-Za-z_.])", Number.Integer),
            (r"[-+]?0[xX][0-9a-fA-F.]+(?:[pP][-+]?[0-9]+)?(?![0-9A-Za-z_.])", Number.Float),
            (r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?(?![0-9A-Za-z_.])", Number.Float),
            (r"\"", String.Double, "string"),
            (words(_WORDS.markers, suffix=_END), Keyword.Pseudo),
            (r"\$0[xX][0-9a-fA-F]+(?![0-9A-Za-z_])", Number.Hex),
            (r"[-+]?[0-9][0-9A-Za-z_.]*|\$[A-Za-z]+", Error),
        ],
        "string": [
            (rf'[^"\\\n{FORBIDDEN}]+', String.Double),
            (r"\"", String.Double, "#pop"),
            (r'\\(?:["\\nt]|u\{[0-9a-fA-F]+\})', String.Escape),
            (r"\\.", Error),
            _before(r"$"),
        ],
        "gap": [
            (r"[ \t\r\n]+", Whitespace),
            (r"//", Comment.Single, "remark"),
            (r"/\*", Comment.Multiline, "comment"),
        ],
        "remark": [
            (rf"[^\r\n{FORBIDDEN}]+", Comment.Single),
            _before(r"\r"),
            _before(r"$"),
        ],
        "comment": [
            (rf"[^*{FORBIDDEN}]+", Comment.Multiline),
            (r"\*/", Comment.Multiline, "#pop"),
            (r"\*", Comment.Multiline),
        ],
    }

    @staticmethod
    def analyse_text(text: str) -> float:
        """Return near certainty for a text that begins as a program does."""
        start = 0
        while aside := _ASIDE.match(text, start):
            start = aside.end()
        return 0.95 if _PROGRAM.match(text, start) else 0.0
