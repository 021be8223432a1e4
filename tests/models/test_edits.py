"""Renaming and exposing: what changes, what stays, and what is refused."""

from __future__ import annotations

import pytest
from support.containers import refused
from support.short_drafts import FEED_FORWARD

import miltext
from miltext.building.editing import expose, rename
from miltext.parsing.locating import at_place, enclosing
from miltext.parsing.parser import parse_tree

TEXT = """program(1.3)
{
    func main<ios18>(tensor<fp32, [1]> x, tensor<int32, [1]> n) [FlexibleShapeInformation = tuple<string>(("x"))] {
            // x comes first
            tensor<fp32, [1]> x_1 = relu(x = x)[name = string("x_1")];
            tensor<int32, [1]> last, tensor<fp32, [1]> y = while_loop(loop_vars = (n, x_1))[name = string("loop")]
                (tensor<int32, [1]> i, tensor<fp32, [1]> x_2) {
                    tensor<bool, [1]> less = less(x = i, y = n)[name = string("x")];
                } -> (less)
                (tensor<int32, [1]> i, tensor<fp32, [1]> x_2) {
                    tensor<int32, [1]> next = add(x = i, y = n);
                    tensor<fp32, [1]> sum = add(x = x_2, y = x)[name = string("sum")];
                } -> (next, sum);
        } -> (y);
    func other<ios18>(tensor<fp32, [1]> z) {
            tensor<fp32, [1]> x_1 = relu(x = z)[name = string("x_1")];
        } -> (x_1);
}
"""


def test_a_name_changes_at_its_definition_and_all_uses() -> None:
    renamed = rename(TEXT, "x", "image")
    changed = [(a, b) for a, b in zip(TEXT.splitlines(), renamed.splitlines(), strict=True) if a != b]
    assert [b for _, b in changed] == [
        TEXT.splitlines()[2].replace("> x,", "> image,").replace('"x"', '"image"'),
        '            tensor<fp32, [1]> x_1 = relu(x = image)[name = string("x_1")];',
        '                    tensor<fp32, [1]> sum = add(x = x_2, y = image)[name = string("sum")];',
    ]
    assert rename(renamed, "image", "x") == TEXT


def test_inner_blocks_and_several_functions() -> None:
    assert rename(TEXT, "x_2", "carry").count("> carry") == 2
    both = rename(TEXT, "x_1", "lit")
    assert both.count("lit = relu") == 2
    assert both.count('string("lit")') == 2
    assert "(lit);" in both
    assert rename(TEXT, "x_1", "lit", function="other").count("lit") == 3


@pytest.mark.parametrize("new", ["relu", "_", "tensor", "true", "a b", "x_1"])
def test_the_values_of_a_draft_are_renamed_in_nested_operations(new: str) -> None:
    renamed = rename(FEED_FORWARD, "gate", new, any_name=True)
    spelled = new if new in ("relu", "_", "x_1") else f'$"{new}"'
    output = '$"_"' if new == "_" else spelled  # where `_` stands for a type
    expected = FEED_FORWARD.replace("gate = ", f"{output} = ").replace("(gate", f"({spelled}")
    assert renamed == expected
    assert rename(renamed, new, "gate") == FEED_FORWARD
    assert {each.code for each in miltext.check(renamed)} <= {"MIL712", "MIL601"}  # a draft, an odd name


def test_a_value_of_a_draft_is_exposed() -> None:
    assert expose(FEED_FORWARD, ["gate"]) == FEED_FORWARD.replace("(out);\n}", "(out, gate);\n}")


def test_a_name_that_needs_quotes_gets_them() -> None:
    quoted = rename(TEXT, "x", "a/b:0", any_name=True)
    assert 'relu(x = $"a/b:0")' in quoted
    assert miltext.parse(quoted).functions["main"].inputs[0].name == "a/b:0"
    assert rename(quoted, "a/b:0", "x") == TEXT


DRAFT = """program(1.3)
{
    func main<ios18>(fp32 x) {
            _ y, fp32 z = f(x = x)[name = string("y")];
            _ w = mul(x = y, y = 0.5);
        } -> (w);
}
"""


def test_a_draft_is_renamed_and_exposed_as_any_text() -> None:
    renamed = DRAFT.replace("_ y", "_ half").replace('"y"', '"half"').replace("x = y", "x = half")
    assert rename(DRAFT, "y", "half") == renamed
    assert expose(DRAFT, ["y"]) == DRAFT.replace("(w)", "(w, y)")
    with refused("MIL431"):
        rename(DRAFT, "z", "y")


def test_names_that_are_not_renamed() -> None:
    with refused("MIL430", "`x_3`", "did you mean `x_"):
        rename(TEXT, "x_3", "y")
    with refused("MIL430", "unknown function `third`"):
        rename(TEXT, "x", "y", function="third")
    for taken in ("y", "less", "x_2"):
        with refused("MIL431", f"the function `main` already has a value `{taken}`"):
            rename(TEXT, "x", taken)
    with refused("MIL431", "the new name is empty"):
        rename(TEXT, "x", "")
    with pytest.raises(miltext.ParseError):
        rename("program(1.3) {", "x", "y")


def test_values_become_outputs() -> None:
    assert "-> (y, last, x);" in expose(TEXT, ["last", "x"])
    assert "-> (x_1, z);" in expose(TEXT, ["z"])
    assert "-> (y, x_1);" in expose(TEXT, ["x_1"], function="main")
    empty = "program(1.3) { func main<ios18>(fp32 x) { } -> (); }"
    assert "-> (x);" in expose(empty, ["x"])


def test_values_that_cannot_become_outputs() -> None:
    with refused("MIL430", "`lst`", "did you mean `last`"):
        expose(TEXT, ["lst"])
    with refused("MIL432", "`sum` is a value of an inner block"):
        expose(TEXT, ["sum"])
    with refused("MIL432", "`y` is an output already"):
        expose(TEXT, ["y"])
    with refused("MIL432", "`last` is an output already"):
        expose(TEXT, ["last", "last"])
    with refused("MIL432", "several functions have a value `x_1`"):
        expose(TEXT, ["x_1"])


def test_the_operation_at_a_place() -> None:
    root = parse_tree(TEXT).root
    inner = enclosing(root, TEXT.index("x_2, y = x"))
    assert inner is not None
    assert (inner.function, inner.type, inner.outputs, inner.name, inner.depth) == ("main", "add", ["sum"], "sum", 1)
    loop = at_place(TEXT, root, 7)
    assert loop is not None
    assert (loop.type, loop.outputs, loop.depth) == ("while_loop", ["last", "y"], 0)
    unnamed = at_place(TEXT, root, 11)
    assert unnamed is not None
    assert unnamed.name is None
    assert at_place(TEXT, root, 1) is None
    assert enclosing(root, TEXT.index("other")) is None
    with pytest.raises(IndexError):
        at_place(TEXT, root, 99)


# ---- names that `check` calls wrong

WRONG_NAMES = {
    "a b": "a_b",
    "a/b:0": "a_b_0",
    "1st": "_1st",
    "@x": "_@x",
    "bool": "bool_1",
    "tensor": "tensor_1",
    "x 1": "x_1_1",  # `x_1` is taken
    "caf\u00e9": "caf_",
    "new\nline": "new_line",
    'a"b': "a_b",
}


@pytest.mark.parametrize("name", WRONG_NAMES)
def test_a_wrong_name_is_refused_and_a_right_one_suggested(name: str) -> None:
    why = "is a reserved word" if name in ("bool", "tensor") else "is not an identifier: use letters"
    with refused("MIL426", why, f"did you mean `{WRONG_NAMES[name]}`?"):
        rename(TEXT, "x", name)
    right = rename(TEXT, "x", WRONG_NAMES[name])
    assert "MIL601" not in {each.code for each in miltext.check(right)}
    odd = rename(TEXT, "x", name, any_name=True)
    assert "MIL601" in {each.code for each in miltext.check(odd)}
    assert rename(odd, name, "x") == TEXT


@pytest.mark.parametrize("name", ["\u540d\u524d", "$", "-", "@", ""])
def test_a_name_without_a_letter(name: str) -> None:
    with pytest.raises(miltext.ModelError) as failure:
        rename(TEXT, "x", name)
    assert failure.value.diagnostics[0].code == ("MIL426" if name else "MIL431")
    assert "did you mean" not in str(failure.value)


@pytest.mark.parametrize("name", ["_", "main", "relu", "x@1", "A" * 3000])
def test_a_name_that_check_takes_is_taken(name: str) -> None:
    assert "MIL601" not in {each.code for each in miltext.check(rename(TEXT, "x", name))}


def test_a_value_of_a_wrong_name_is_not_exposed() -> None:
    odd = rename(TEXT, "x_1", "x/1", any_name=True)
    with refused("MIL426", '"x/1" is not an identifier', "did you mean `x_1`?", "miltext rename"):
        expose(odd, ["x/1"], function="main")
    assert '$"x/1"' in expose(odd, ["x/1"], function="main", any_name=True)
