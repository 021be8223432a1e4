"""Phrases removed from a text: the Program is that of the message without them, wherever they and comments stand."""

from __future__ import annotations

from itertools import product

import pytest
from support.gaps import FORMS, commented, tokens

import miltext
from miltext.parsing.parser import parse_tree
from miltext.syntax import phrases
from miltext.syntax.editing import proven
from miltext.syntax.removal import Removal

SUBSETS = [kept for count in (1, 2, 3) for kept in product([False, True], repeat=count)]
"""Which of one, two or three items stay: the first, the middle, the last and the only one go."""

LAYOUTS = {
    "a line": (", ", "; "),
    "lines": (",\n        ", ";\n        "),
    "leading commas": ("\n        , ", ";\n\n        "),
}


def text_of(count: int, layout: str) -> str:
    comma, semicolon = LAYOUTS[layout]
    inputs = comma.join(f"tensor<fp16, [{at + 1}]> x{at}" for at in range(count))
    notes = comma.join(f'k{at} = string("{at}")' for at in range(count))
    statements = semicolon.join(f"fp16 v{at} = const()[val = fp16({at})]" for at in range(count))
    return f"program(1.3)\n{{\n    func main<ios18>({inputs})[{notes}] {{\n        {statements};\n    }} -> ();\n}}\n"


def without(text: str, part: str, kept: tuple[bool, ...]) -> str:
    """The text without some inputs, attributes or operations of its function, which is proven to keep all the rest."""
    tree = parse_tree(text)
    [function] = phrases.functions(tree.root)
    removal = Removal(text, tree.comments)
    if part == "operations":
        [block] = phrases.bodies(function)
        return proven(text, removal.statements([*phrases.operations(block)], kept))
    found = phrases.parameters(function) if part == "inputs" else phrases.attribute_list(function)
    assert found is not None
    return proven(text, removal.items(found, kept))


def message_without(text: str, part: str, kept: tuple[bool, ...]) -> miltext.Program:
    program = miltext.parse(text)
    function = program.functions["main"]
    [block] = function.block_specializations.values()
    gone = [at for at, stays in enumerate(kept) if not stays]
    for at in reversed(gone):
        if part == "attributes":
            del function.attributes[f"k{at}"]
        else:
            del (function.inputs if part == "inputs" else block.operations)[at]
    return program


BODIES = """\
program(1.3)
{
    func main<ios18>(fp16 x) {
        } -> (x)%(beside)s
        // The first.
        $block<ios17> {
        } -> ()
        $block<ios16>(fp16 z) { } -> (z) $block<ios15>(fp16 z) {
        } -> (z);%(beside)s
    func other<ios18>() $none; func last<ios18>() {} -> () $block<ios15> {} -> ();
}
"""


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("beside", ["", " // beside"])
@pytest.mark.parametrize("kept", [*product([False, True], repeat=3)])
def test_blocks_of_a_function_leave_its_semicolon(kept: tuple[bool, ...], beside: str, line_end: str) -> None:
    text = (BODIES % {"beside": beside}).replace("\n", line_end)
    tree = parse_tree(text)
    main = next(iter(phrases.functions(tree.root)))
    made = proven(text, Removal(text, tree.comments).statements([*phrases.bodies(main)], (True, *kept)))
    expected = miltext.parse(text)
    for opset, stays in zip(("CoreML7", "CoreML6", "CoreML5"), kept, strict=True):
        if not stays:
            del expected.functions["main"].block_specializations[opset]
    assert miltext.parse(made) == expected
    assert made.count("beside") == text.count("beside")
    assert bool(beside) or not [line for line in made.splitlines() if line.strip() == ";"]


@pytest.mark.parametrize("part", ["inputs", "attributes", "operations"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("form", ["", *FORMS])
def test_a_text_without_items_is_the_message_without_them(form: str, ends: str, layout: str, part: str) -> None:
    for kept in SUBSETS:
        text = text_of(len(kept), layout)
        gaps = range(len(tokens(text)) + 1)
        text = commented(text, dict.fromkeys(gaps, form)) if form else text
        text = text.replace("\r\n", "\n").replace("\n", ends)
        made = without(text, part, kept)
        assert miltext.parse(made) == message_without(text, part, kept), kept
        assert made == text or not all(kept)
        assert ends == "\n" or made.count("\n") == made.count(ends)


def test_a_long_text_loses_every_second_statement() -> None:
    kept = (True, False) * 2_000
    text = text_of(len(kept), "lines").replace(";\n        fp16 v", "; // beside\n        // above\n        fp16 v")
    made = without(text, "operations", kept)
    assert miltext.parse(made) == message_without(text, "operations", kept)
    assert made.count("// beside") == 2_000


def test_comments_of_removed_statements_go() -> None:
    text = "program(1.3) { func main<ios18>() {\n// a\nfp16 a = const()[val = fp16(0)]; // b\n\n// c\nfp16 b"
    text += " = const()[val = fp16(1)]; /* d */\n// e\n} -> (); }"
    assert without(text, "operations", (False, True)) == text.replace(
        "// a\nfp16 a = const()[val = fp16(0)]; // b\n\n", ""
    )
    assert without(text, "operations", (True, False)).endswith("; // b\n\n// e\n} -> (); }")


@pytest.mark.parametrize(
    ("inputs", "kept", "rest"),
    [
        ("bool a, /* b */ bool b", (False, True), "/* b */ bool b"),
        ("bool a, /* b */ bool b", (True, False), "bool a"),
        ("/* a */ bool a, bool b", (False, True), "bool b"),
        ("bool a /* a */, bool b", (False, True), "bool b"),
        ("bool a, /* b */ bool b, bool c", (True, False, True), "bool a, bool c"),
        ("bool a, // a\n  bool b", (False, True), "bool b"),
        ("bool a, // a\n  bool b", (True, False), "bool a // a\n  "),
        ("\n  bool a,\n  // b\n  bool b,\n  bool c", (True, False, True), "\n  bool a,\n  bool c"),
        ("\n  bool a,\n  // b\n  bool b", (True, False), "\n  bool a"),
        ("bool a\n  // b\n  , bool b", (False, True), "\n  // b\n  bool b"),
    ],
)
def test_comments_of_removed_items_go(inputs: str, kept: tuple[bool, ...], rest: str) -> None:
    text = "program(1.3) { func main<ios18>(LIST) {\n} -> (); }"
    assert without(text.replace("LIST", inputs), "inputs", kept) == text.replace("LIST", rest)
