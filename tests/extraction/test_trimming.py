"""The text of a part: what stays as it was written, and what goes."""

from __future__ import annotations

import random

import pytest
from support.gaps import FORMS, commented, tokens

import miltext
from miltext.containers.opening import read_model
from miltext.diagnostics import ParseError
from miltext.extraction.cutting import cut
from miltext.extraction.extracting import part_text

WHOLE = """\
// The whole.
program(1.3)
[buildInfo = dict<string, string>({{"made", "by hand"}})]
{
    // What is called.
    func main<ios18>(tensor<fp32, [4]> x, tensor<fp32, [4]>   z) {
            // The first part.

            // One.
            tensor<fp32, [4]> a = relu(x = x)[name = string("a")]; // beside a
            /* Two
               lines. */
            tensor<fp32, [4]> b = exp(x=a); // beside b

            // Three.
            tensor<fp32, [4]> c = tanh(x = b); tensor<fp32, [4]> d = add(x = c, y = z); // beside c and d
            tensor<fp32, [2]> q,
            tensor<fp32, [2]> r = split(axis = int32(0), num_splits = int32(2), x = d);
            tensor<fp32, [2]> s = add(x = q, y = r);
            // The end.
        } -> (d /* first */, s);
    // Another one.
    func other<ios18>(tensor<fp32, [4]> x) { tensor<fp32, [4]> y = relu(x = x); } -> (y);
}
// After it.
"""


def part(text: str, *outputs: str, given: tuple[str, ...] = (), function: str | None = None) -> str:
    """The text of a part, which says what the part of the Program is."""
    made, _ = part_text(read_model(text.encode(), "whole.mil"), outputs, given, function=function)
    try:
        whole = miltext.parse(text)
    except ParseError:
        whole = miltext.parse(miltext.infer_draft(text))
    assert miltext.parse(made) == cut(whole, outputs, given, function=function)
    return made


def test_comments_and_layout_of_remaining_parts_stay() -> None:
    assert (
        part(WHOLE, "b", given=("a",))
        == """\
// The whole.
program(1.3)
[buildInfo = dict<string, string>({{"made", "by hand"}})]
{
    // What is called.
    func main<ios18>(tensor<fp32, [4]> a) {
            // The first part.

            /* Two
               lines. */
            tensor<fp32, [4]> b = exp(x=a); // beside b

            // The end.
        } -> (b);
}
// After it.
"""
    )


def test_statements_in_one_line_are_separated() -> None:
    made = part(WHOLE, "d", given=("c",))
    assert "            // Three.\n            tensor<fp32, [4]> d = add(x = c, y = z); // beside c and d\n" in made
    assert "func main<ios18>(tensor<fp32, [4]>   z, tensor<fp32, [4]> c) {" in made
    made = part(WHOLE, "c")
    assert "            // Three.\n            tensor<fp32, [4]> c = tanh(x = b); // beside c and d\n" in made


def test_all_that_stays_is_the_same_text() -> None:
    without = WHOLE[: WHOLE.index("    // Another")] + "}\n// After it.\n"
    assert part(WHOLE, "d", "s") == without


def test_one_of_several_outputs_that_is_given_has_another_name() -> None:
    made = part(WHOLE, "s", given=("q",))
    assert "tensor<fp32, [2]> q_unused,\n            tensor<fp32, [2]> r = split(" in made
    assert "tensor<fp32, [4]>   z, tensor<fp32, [2]> q) {" in made


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("outputs", "given"),
    [("a", ""), ("b", "a"), ("c", "b"), ("d", "c z"), ("d", "c"), ("s", "q r"), ("s", "q"), ("s a", "d"), ("r b", "")],
)
def test_any_part_of_a_text_reads_as_that_part(outputs: str, given: str, ends: str) -> None:
    made = part(WHOLE.replace("\n", ends), *outputs.split(), given=(*given.split(),))
    assert made.count("\n") == made.count(ends)
    assert "Another one" not in made
    assert "The whole." in made


@pytest.mark.parametrize("seed", range(8))
def test_comments_may_be_in_any_gap(seed: int) -> None:
    rng = random.Random(seed)
    text = commented(WHOLE, {gap: rng.choice(FORMS) for gap in range(len(tokens(WHOLE))) if rng.random() < 0.7})
    for outputs, given in [("b", "a"), ("d", "c"), ("s", "q"), ("c", ""), ("s a", "d")]:
        part(text, *outputs.split(), given=(*given.split(),))


LISTED: dict[str, tuple[str, str, tuple[str, ...], str]] = {
    "the first goes": ("tensor<fp32, [4]> x, tensor<fp32, [4]> z", "e", (), "(tensor<fp32, [4]> z)"),
    "the last goes": ("tensor<fp32, [4]> x, tensor<fp32, [4]> z", "a", (), "(tensor<fp32, [4]> x)"),
    "all go": (
        "tensor<fp32, [4]> x, tensor<fp32, [4]> z",
        "d",
        ("a", "e"),
        "(tensor<fp32, [4]> a, tensor<fp32, [4]> e)",
    ),
    "one comes": (
        "tensor<fp32, [4]> x, tensor<fp32, [4]> z",
        "d",
        ("a",),
        "(tensor<fp32, [4]> z, tensor<fp32, [4]> a)",
    ),
    "comments stay with what stays": (
        "tensor<fp32, [4]> x, // first\n tensor<fp32, [4]> z // second\n",
        "a",
        (),
        "(tensor<fp32, [4]> x // first\n)",
    ),
    "commas between comments": (
        "tensor<fp32, [4]> x /* 1 */ , /* 2 */ tensor<fp32, [4]> /* 3 */ z /* 4 */",
        "a",
        (),
        "(tensor<fp32, [4]> x /* 1 */ )",
    ),
    "commas that begin lines": (
        "tensor<fp32, [4]> x // 1, 2\n // 3\n , tensor<fp32, [4]> z // 4\n",
        "e",
        (),
        "(\n // 3\n tensor<fp32, [4]> z // 4\n)",
    ),
    "comments go with what goes": (
        "tensor<fp32, [4]> x, // first\n // of z\n tensor<fp32, [4]> z // second\n",
        "e",
        (),
        "(\n // of z\n tensor<fp32, [4]> z // second\n)",
    ),
}


@pytest.mark.parametrize("name", LISTED)
def test_inputs_are_taken_out_of_the_list(name: str) -> None:
    inputs, output, given, expected = LISTED[name]
    text = f"""program(1.3) {{ func main<ios18>({inputs}) {{
        tensor<fp32, [4]> a = relu(x = x); tensor<fp32, [4]> e = exp(x = z); tensor<fp32, [4]> d = add(x = a, y = e);
    }} -> (d); }}"""
    assert f"func main<ios18>{expected} {{" in part(text, output, given=given)


def test_a_text_without_outputs_or_line_ends() -> None:
    head = "program(1.3){func main<ios18>(tensor<fp32,[4]>x){tensor<fp32,[4]>a=relu(x=x);"
    assert part(f"{head}tensor<fp32,[4]>b=exp(x=a);}}->();}}", "a") == f"{head}}}->(a);}}"


INFORMATION = """FlexibleShapeInformation = tuple<tuple<string, dict<string, tensor<int32, [?]>>>>((("DefaultShapes",
    {{"x", [4]}, {"z", [1]}})))"""


@pytest.mark.parametrize(
    ("listed", "output", "expected"),
    [
        (f"/* :) */ [{INFORMATION}]", "a", " /* :) */ [FlexibleShapeInformation = "),
        (f"/* :) */ [{INFORMATION}]", "c", " /* :) */ {"),
        (f"[{INFORMATION}]", "c", " {"),
        (f'[a = string("]"), /* [ */ {INFORMATION}] // beside\n', "c", ' [a = string("]")] // beside\n {'),
        (f'[{INFORMATION}, b = string("y")]', "c", ' [b = string("y")] {'),
    ],
)
def test_notes_of_the_compiler_are_cut_in_the_text(listed: str, output: str, expected: str) -> None:
    text = f"""program(1.3) {{
    func main<ios18>(tensor<fp32, [?]> x, tensor<fp32, [?]> z, tensor<fp32, [4]> y) {listed} {{
        tensor<fp32, [?]> a = relu(x = x); tensor<fp32, [?]> b = relu(x = z); tensor<fp32, [4]> c = relu(x = y);
    }} -> (a, b); }}"""
    made = part(text, output)
    assert f"){expected}" in made
    assert '"z"' not in made


def test_names_that_have_to_be_quoted_are() -> None:
    text = """program(1.0) { func main<ios18>(tensor<fp32, [4]> x) {
        tensor<fp32, [4]> $"a b" = relu(x = x); tensor<fp32, []> $"1" = reduce_max(x = $"a b"); } -> ($"1"); }"""
    assert 'func main<ios18>(tensor<fp32, [4]> $"a b") {' in part(text, "1", given=("a b",))
    text = text.replace('} -> ($"1")', 'tensor<fp32, []> y = exp(x = $"1"); } -> (y)')
    assert 'func main<ios18>(tensor<fp32, []> $"1") {' in part(text, "y", given=("1",))


def test_comments_beside_removed_parts_are_removed() -> None:
    text = """program(1.3) {
    func main<ios18>(tensor<fp32, [4]> x) {
        /* of a */ tensor<fp32, [4]> a = relu(x = x); /* a, too */ // and this
        // Above b, and
        // once more.
        /* of b */ /* too */ tensor<fp32, [4]> b = exp(x = x);

        // Of nothing.

        tensor<fp32, [4]> c = tanh(x = x); /* of c */ tensor<fp32, [4]> d = exp(x = x); // of d
    } -> (a); }
"""
    assert part(text, "a").splitlines()[2:] == [
        "        /* of a */ tensor<fp32, [4]> a = relu(x = x); /* a, too */ // and this",
        "",
        "        // Of nothing.",
        "    } -> (a); }",
    ]
    assert part(text, "d").splitlines()[2:] == [
        "        // Of nothing.",
        "",
        "        /* of c */ tensor<fp32, [4]> d = exp(x = x); // of d",
        "    } -> (d); }",
    ]
