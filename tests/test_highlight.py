"""The Pygments lexer: its tokens, held against goldens and against the parser's view of the same text."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from conftest import GOLDEN, Check, corpus_files, dear
from hypothesis import given, reject
from hypothesis import strategies as st
from pygments.lexers import get_lexer_by_name, get_lexer_for_filename, guess_lexer
from pygments.token import Error, Token, Whitespace, _TokenType
from support.short_drafts import FEED_FORWARD, WITH_BLOCKS, WITH_CONSTANTS
from support.strategies import any_programs
from support.token_roles import CLASSES, contradictions
from test_language_page import examples

from miltext import ParseError, PrintError, parse, to_text
from miltext.highlight import MilLexer
from miltext.schema.dtypes import DTYPES
from miltext.schema.proto import Program
from miltext.syntax.names import DRAFT_WORDS
from miltext.syntax.vocabulary import (
    keywords,
    keywords_of_the_grammar,
    operation_names,
    parameter_names,
    type_names,
)

FOLDER = GOLDEN / "highlight"
GOLDENS = [FOLDER / "everything.mil", FOLDER / "short.mil"]
PARSED = corpus_files(
    "apple/*.mil", "handwritten/*.mil", "runtime_dumps/*.mil", "pairs/*/*.mil", "bundles/*/*.mil", "pipelines/*/*/*.mil"
)

NAMES = {token: str(token).removeprefix("Token.") for tokens in CLASSES.values() for token in tokens}


def tokens(text: str) -> list[tuple[int, _TokenType, str]]:
    return list(MilLexer().get_tokens_unprocessed(text))


def named(token: _TokenType) -> str:
    return str(token).removeprefix("Token.")


def disagreements(text: str) -> list[str]:
    return contradictions(text, ((start, named(token), piece) for start, token, piece in tokens(text)), NAMES)


def classes(text: str) -> dict[str, _TokenType]:
    return {piece: token for _, token, piece in tokens(text)}


@pytest.mark.parametrize("name", ["everything", "short", "broken"])
def test_tokens_match_the_golden(name: str, matches_golden: Check) -> None:
    found = tokens((FOLDER / f"{name}.mil").read_text(encoding="utf-8"))
    lines = [f"{named(token):22} {piece!a}\n" for _, token, piece in found if token is not Whitespace]
    matches_golden(FOLDER / f"{name}.tokens", "".join(lines))


@pytest.mark.parametrize("path", [*GOLDENS, FOLDER / "broken.mil", *corpus_files("**/*.mil")])
def test_tokens_join_to_the_text(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    lexer = MilLexer(stripnl=False, ensurenl=False)
    assert "".join(piece for _, piece in lexer.get_tokens(text)) == text


@pytest.mark.parametrize("path", [*GOLDENS, *corpus_files("**/*.mil")])
def test_real_text_has_no_error_token(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert [(start, piece) for start, token, piece in tokens(text) if token is Error] == []


@pytest.mark.parametrize("path", [*GOLDENS, *PARSED])
def test_a_token_has_the_meaning_of_the_parser(path: Path) -> None:
    assert disagreements(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("text", examples())
def test_the_page_of_the_language_is_highlighted_as_it_parses(text: str) -> None:
    assert disagreements(text) == []


DRAFT = """program(1.3) { func main<ios18>(tensor<fp16, [2, 3]> x) {
    _ y = reduce_sum(axes = [-1, 0], keep_dims = true, x = x);
    _ a, _ b = topk(ascending = false, axis = -1, k = 2, x = x);
    _ z = add(x = -inf, y = [[0.5, 0x1p-2, 1e-3], [-inf, inf, nan]]);
    _ c = cast(dtype = "fp32", x = trueness);
    _ d = concat(values = (true, false, falsely, -1, [true, false]), axis = 0);
    } -> (y);}
"""


def test_a_draft_is_highlighted_as_it_parses() -> None:
    assert disagreements(DRAFT) == []


ARGUMENTS = ["a", "relu(a)", "relu<ios17>(x = a)", "f(g(a), [1])", "0.5", "[1, [-2]]", '"s(t="', "(a, relu(b))", "()"]
ARGUMENTS += ["true", "fp16(0.5)", "tensor<fp16, [1]>([0.5])", "$unset", "-inf", 'tanh(a)[name = "b", val = [1]]']


@pytest.mark.parametrize("second", ARGUMENTS)
@pytest.mark.parametrize("first", ARGUMENTS)
def test_arguments_are_highlighted_as_they_parse(first: str, second: str) -> None:
    body = f"y, _ z = op({first}, {second});\nx = relu({second}, gamma = {first}, b = op(/* ( */ {first}))[n = 1];"
    found = disagreements(f"program(1.3) {{ func main<ios18>() {{ {body}\n}} -> (y); }}")
    assert found == []


@dear
@given(any_programs)
def test_printed_programs_are_highlighted_as_they_parse(program: Program) -> None:
    try:
        text = to_text(program)
    except PrintError:
        reject()  # what no text can say
    assert disagreements(text) == []


@given(st.lists(st.sampled_from([*'ab0 .,;:=<>()[]{}$"\\/*\n-?', "func ", "program", "tensor", "$unset", "inf"])))
def test_any_text_comes_back_whole(parts: list[str]) -> None:
    text = "".join(parts)
    found = tokens(text)
    assert "".join(piece for _, _, piece in found) == text
    assert all(piece for _, _, piece in found)
    try:
        parse(text)
    except ParseError:
        return
    assert Error not in {token for _, token, _ in found}


@pytest.mark.parametrize("char", ["\0", "\x85", "\u202e", "\u2066", "\ufeff"])
@pytest.mark.parametrize("place", ["// a %s b\n", "/* a %s b */", 'string("a %s b")', "func %s main"])
def test_a_character_that_hides_something_is_an_error(place: str, char: str) -> None:
    assert classes(place % char)[char] is Error


def test_an_example_alone_is_highlighted_too() -> None:
    found = classes('tensor<fp16, [1]> y = relu(x = a)[name = string("y")];\nint32(-1)\nlist<string, 2>(["ane"])')
    wanted = {"tensor": Token.Keyword.Type, "relu": Token.Name.Builtin, "x": Token.Name.Attribute, "a": Token.Name}
    wanted |= {"-1": Token.Literal.Number.Integer, "list": Token.Keyword.Type}
    assert {piece: found[piece] for piece in wanted} == wanted


# ---- the vocabulary


def test_keywords_match_the_grammar() -> None:
    assert keywords() == keywords_of_the_grammar(), "run editors/generate.py"


def test_the_goldens_have_every_keyword() -> None:
    pieces = {piece for path in GOLDENS for piece in classes(path.read_text(encoding="utf-8"))}
    assert {*DRAFT_WORDS, *(word for kind in keywords() for word in kind)} <= pieces


def test_every_word_of_the_tables_is_known() -> None:
    assert {*type_names()} >= {dtype.name for dtype in DTYPES}
    assert {classes(f"{name} x = conv();")[name] for name in type_names()} == {Token.Keyword.Type}
    assert {classes(f"x = {name}();")[name] for name in operation_names()} == {Token.Name.Builtin}
    assert {"x", "keep_dims", "loop_vars", "interleave"} <= {*parameter_names()}


# ---- how it is found


def test_pygments_finds_it_by_name_and_file() -> None:
    if not any(entry.value == "miltext.highlight:MilLexer" for entry in metadata.entry_points(group="pygments.lexers")):
        pytest.skip("miltext is not installed here, so that Pygments cannot know its entry point")
    assert isinstance(get_lexer_by_name("mil"), MilLexer)
    assert isinstance(get_lexer_for_filename("a/model.mil"), MilLexer)
    assert isinstance(guess_lexer("program(1.3)\n{\n    func main<ios18>(int32 x) {\n        } -> (x);\n}\n"), MilLexer)


@pytest.mark.parametrize("text", ["program(1.0)\n{}", "// a\n/* b */ program ( 1.3 )", "\n\nprogram(1.3) [a"])
def test_a_program_is_guessed(text: str) -> None:
    assert MilLexer.analyse_text(text) > 0.9


@pytest.mark.parametrize("text", ["", "program", "program main;", "int main() { return 0; }", "-- program(1.3)"])
def test_other_text_is_not(text: str) -> None:
    assert MilLexer.analyse_text(text) == 0


def test_it_loads_without_modules_that_only_parsing_needs() -> None:
    code = (
        "import sys, miltext.highlight; print(*{'lark', 'numpy', 'google', 'miltext.syntax.tables'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


@pytest.mark.parametrize("gap", ["\n", " // ( = \n", "/* a\n * b */", "\r\n\t", "\n\n// c\n/**/"])
@pytest.mark.parametrize("draft", [FEED_FORWARD, WITH_BLOCKS, WITH_CONSTANTS], ids=["plain", "blocks", "constants"])
def test_the_token_after_a_name_may_be_on_another_line(draft: str, gap: str) -> None:
    """Before each bracket and equals sign, and after each name, one at a time and all at once."""
    plain = re.sub(r"//[^\n]*|/\*.*?\*/", "", draft)
    places = [match.start() for match in re.finditer(r"[=(<\[]|(?<=[a-z]) ", plain)]
    for place in places:
        assert disagreements(plain[:place] + gap + plain[place:]) == []
    apart = "".join(gap * (at in {*places}) + each for at, each in enumerate(plain))
    assert disagreements(apart) == []
