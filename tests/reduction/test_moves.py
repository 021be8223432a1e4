"""The ways to make a program smaller: what each gives, what it leaves alone, and what it cannot do."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from conftest import EXAMPLE

from miltext import check, load, parse, to_text
from miltext.drafting.draft import infer_draft
from miltext.reduction.bypassing import bypass, bypasses
from miltext.reduction.graph import UnitGraph, extent
from miltext.reduction.inside import inner_operations, without
from miltext.reduction.merging import merge, twins
from miltext.reduction.selecting import Output, select, whole
from miltext.reduction.trimming import traits, trimmed
from miltext.reduction.unfolding import folds, unfold
from miltext.reduction.zeroing import numbers, zeroed
from miltext.schema.proto import Program
from miltext.schema.walk import operations


def program(lines: str, outputs: str, inputs: str = "tensor<fp32, [2, 3]> x, tensor<int32, [2, 3]> n") -> Program:
    draft = f"program(1.3)\n{{\nfunc main<ios18>({inputs}) {{\n{lines}\n}} -> ({outputs});\n}}\n"
    return parse(infer_draft(draft))


def body(made: Program | None) -> str:
    """The function without its types, and without brackets."""
    assert made is not None
    assert not [each for each in check(made) if each.severity == "error"]
    lines = to_text(made).split("\n")[2:-2]
    return "\n".join(line.strip() for line in lines)


def given(made: Program | None) -> tuple[list[str], list[str]]:
    """The inputs and the outputs."""
    assert made is not None
    function = made.functions["main"]
    return [value.name for value in function.inputs], [*function.block_specializations["CoreML8"].outputs]


def made(made: Program | None) -> list[str]:
    assert made is not None
    block = made.functions["main"].block_specializations["CoreML8"]
    return [value.name for operation in block.operations for value in operation.outputs]


def chosen(lines: Program, names: Iterable[str]) -> Program | None:
    """The program of the units that make values of these names."""
    graph = UnitGraph(lines)
    parts = [part for part in graph.parts if {value.name for value in graph.at(part).makes} & {*names}]
    return select(graph, parts)


CHAIN = "a = relu(x);\nb = tanh(a);\nc = exp(b);\nd = add(c, a);"


@pytest.mark.parametrize(
    ("names", "inputs", "outputs"),
    [
        ("a", ["x"], ["a"]),
        ("b", ["a"], ["b"]),
        ("bc", ["a"], ["c"]),
        ("ad", ["x", "c"], ["d"]),
        ("ac", ["x", "b"], ["a", "c"]),
        ("d", ["a", "c"], ["d"]),
        ("abcd", ["x"], ["d"]),
    ],
)
def test_used_values_move_in_and_made_values_move_out(names: str, inputs: list[str], outputs: list[str]) -> None:
    found = chosen(program(CHAIN, "d"), names)
    assert given(found) == (inputs, outputs)
    assert made(found) == [*names]
    body(found)


def test_nothing_is_left_of_nothing() -> None:
    assert chosen(program(CHAIN, "d"), "") is None


def test_a_value_that_cannot_be_an_input_keeps_its_maker() -> None:
    found = chosen(program("m = greater(x, 0.5);\nk = logical_not(m);\ny = select(k, x, x);", "y"), "y")
    assert made(found) == ["m", "k", "y"]


def test_an_unused_value_that_cannot_be_an_output_is_left_out() -> None:
    lines = program("a = relu(x);\nm = greater(a, 0.5);\ny = select(m, a, x);", "y")
    assert made(chosen(lines, "am")) == ["a"]
    assert chosen(lines, "m") is None


def test_a_value_without_users_may_stay_unused() -> None:
    """A pass may fail at an operation whose values nothing uses, and which cannot be outputs."""
    lines = program("a = relu(x);\nm = greater(a, 0.5);\np, q = split(m, split_sizes = [1, 1], axis = 0);", "a")
    graph = UnitGraph(lines)
    assert made(select(graph, graph.parts)) == ["a", "m", "p", "q"]
    assert made(whole(lines)) == ["a"], "unfolding leaves conditions behind, which go"
    assert given(chosen(lines, "apq")) == (["x"], ["a"])
    assert made(chosen(lines, "am")) == ["a"]
    assert chosen(lines, "pq") is None, "nothing can be an output"


def test_constants_needed_at_compile_time_stay() -> None:
    """Nothing else gives the sizes of a pad, which has to be known."""
    lines = program("s = shape(x);\nr = reshape(x, s);\ny = relu(r);", "y")
    assert made(chosen(lines, "ry"))[-2:] == ["r", "y"]


def test_constants_are_kept_with_their_users() -> None:
    lines = program(
        "w = const()[val = tensor<fp32, [3]>([1, 2, 3])];\na = add(x, w);\nb = mul(a, w);\nc = relu(b);", "c"
    )
    assert made(chosen(lines, "b")) == ["w", "b"]
    assert made(chosen(lines, "c")) == ["c"]


def test_compressed_weights_are_kept_too() -> None:
    dequantize = "constexpr_affine_dequantize(axis = 0, quantized_data = tensor<int8, [2, 3]>([[1, 2, 3], [4, 5, 6]]), "
    lines = f"w = {dequantize}scale = 1.0, zero_point = int8(0));\na = relu(x);\ny = add(a, w);"
    found = chosen(program(lines, "y"), "y")
    assert (given(found), made(found)[-2:]) == ((["a"], ["y"]), ["w", "y"])
    assert chosen(program(lines, "y"), "w") is None


def test_outputs_that_there_were_stay_in_their_order() -> None:
    assert given(chosen(program(CHAIN, "d, b"), "abd")) == (["x", "c"], ["d", "b"])


def test_one_of_several_outputs_is_enough() -> None:
    lines = program("p, q, r = split(x, num_splits = 3, axis = 1);\ny = relu(q);", "y")
    assert given(chosen(lines, "q")) == (["x"], ["q"])
    graph = UnitGraph(program("p, q, r = split(x, num_splits = 3, axis = 1);", "p, q, r"))
    assert given(select(graph, graph.parts, {Output(0, "r")})) == (["x"], ["r"])
    assert select(graph, graph.parts, set()) is None


def test_an_output_that_is_an_input_or_constant_may_go_by_itself() -> None:
    lines = program("w = const()[val = tensor<fp32, [3]>([1, 2, 3])];\na = relu(x);", "a, x, w")
    graph = UnitGraph(lines)
    assert len(graph.parts) == 3
    assert given(whole(lines)) == (["x"], ["a", "x", "w"])
    assert given(select(graph, graph.parts[1:])) == (["x"], ["x", "w"])
    assert given(select(graph, graph.parts[2:])) == ([], ["w"])


def test_a_function_follows_its_operations() -> None:
    text = "func {0}<ios18>(tensor<fp32, [2]> x) {{\n y = relu(x);\n}} -> (y);\n"
    lines = parse(infer_draft("program(1.3)\n{\n" + text.format("main") + text.format("other") + "}\n"))
    graph = UnitGraph(lines)
    assert [*select(graph, graph.parts[1:]).functions] == ["other"]  # type: ignore[union-attr]


# ---- ways around operations


@pytest.mark.parametrize(
    ("lines", "old", "new"),
    [
        (CHAIN, [("a",), ("b",), ("c",), ("d",)], [("x",), ("a",), ("b",), ("c",)]),
        ("m = greater(x, 0.5);\nk = logical_not(m);\ny = select(k, x, x);", [("k",), ("y",)], [("m",), ("x",)]),
        ("p, q, r = split(x, num_splits = 3, axis = 1);\ny = concat((p, q, r), axis = 1);", [("y",)], [("x",)]),
    ],
)
def test_the_ways_around_operations(lines: str, old: list[tuple[str]], new: list[tuple[str]]) -> None:
    """An operation's own inputs come first, then what was there before."""
    last = {CHAIN: "d"}.get(lines, "y")
    found = bypasses(program(lines, last))
    assert [each.old for each in found] == old
    assert [each.new for each in found] == new


@pytest.mark.parametrize(
    ("lines", "news"),
    [
        ("a = add(x, n2);", ["x", "n2"]),
        ("a = add(x, x);", ["x"]),
        ("a = select(greater(x, 0.5), n2, x);", ["n2", "x"]),
        ("w = const()[val = tensor<fp32, [2, 3]>([[1, 2, 3], [4, 5, 6]])];\na = sub(w, x);", ["w", "x"]),
        ("a = relu(x);", ["x"]),
        ("a = add(x, 1.0);", ["x"]),
        ('a = cast(x, dtype = "fp16");', []),
        ("a = concat((x, n2, x), axis = 0);", []),
        ("p, a = cond(true) () { b = relu(x); c = exp(b); } -> (b, c) () {} -> (x, n2);", ["x"]),
    ],
)
def test_each_input_of_the_type_may_take_the_place(lines: str, news: list[str]) -> None:
    """The first of all operations at once, and then the second of those that are left."""
    whole = program(lines, "a", "tensor<fp32, [2, 3]> x, tensor<fp32, [2, 3]> n2")
    ranks = [[each for each in bypasses(whole, rank) if "a" in each.old] for rank in range(len(news) + 1)]
    assert [[each.new[each.old.index("a")] for each in found] for found in ranks] == [[each] for each in news] + [[]]


def test_ways_around_lead_on() -> None:
    lines = program("a = relu(x);\nb = tanh(a);\nc = exp(b);\nd = sin(c);", "d")
    ways = {each.old[0]: each for each in bypasses(lines)}
    assert made(bypass(lines, [ways["b"], ways["c"]])) == ["a", "d"]
    assert made(bypass(lines, [ways["a"]])) == ["b", "c", "d"]
    assert bypass(lines, [*ways.values()]) is None
    assert given(bypass(lines, [ways["d"]])) == (["x"], ["c"])


# ---- blocks

BRANCHES = """
    p = greater(reduce_sum(x, keep_dims = false), 1.0);
    y = cond(p) () { a = relu(x); b = tanh(a); } -> (b) () { c = exp(x); } -> (c);
    z = sin(y);
"""
LOOP = """
    y = while_loop(x)
        (before) { s = reduce_sum(before, keep_dims = false); m = less(s, 100.0); } -> (m)
        (now) { a = exp(now); b = add(a, a); } -> (b);
    z = sin(y);
"""


SWAP = """
    p = exp(x);
    q = cos(x);
    u, v = while_loop((p, q))
        (a, y) { s = reduce_sum(a, keep_dims = false); m = less(s, 100.0); } -> (m)
        (c, d) { b = exp(c); } -> (%s);
    z = sub(u, v);
"""


def test_branches_are_spread_out_side_by_side() -> None:
    lines = program(BRANCHES, "z")
    found = whole(unfold(lines, folds(lines)))
    assert made(found)[-4:] == ["a", "b", "c", "z"]
    assert given(found) == (["x"], ["z", "p_x", "c"])


def test_a_loop_is_spread_out_once() -> None:
    lines = program(LOOP, "z")
    found = whole(unfold(lines, folds(lines)))
    assert made(found)[-4:] == ["s", "a", "b", "z"]
    assert extent(found or lines) == (4, 1, 1, 2)
    assert "z = sin(x = b)" in body(found)


@pytest.mark.parametrize(
    ("results", "used"), [("c, d", ("p", "q")), ("d, c", ("q", "p")), ("b, c", ("b", "p")), ("b, b", ("b", "b"))]
)
def test_a_spread_body_may_return_its_inputs(results: str, used: tuple[str, str]) -> None:
    lines = program(SWAP % results, "z")
    [sub] = [each for _, each in operations(unfold(lines, folds(lines))) if each.type == "sub"]
    assert tuple(sub.inputs[each].arguments[0].name for each in "xy") == used


def test_names_that_come_twice_get_new_ones() -> None:
    lines = program(BRANCHES.replace("c = exp(x); } -> (c)", "a = exp(x); } -> (a)"), "z")
    found = unfold(lines, folds(lines))
    assert made(found)[-4:] == ["a", "b", "a_1", "z"]


def test_inner_operations_leave_one_by_one() -> None:
    lines = program(LOOP, "z")
    inner = {each.name: each for each in inner_operations(lines)}
    assert [*inner] == ["s", "m", "a", "b"]
    found = without(lines, [inner["a"]])
    assert given(found) == (["x", "a"], ["z"])
    assert "b = add(x = a, y = a)" in body(found)
    assert without(lines, [inner["m"]]) is None  # a bool cannot come in


def test_a_loop_follows_its_first_values() -> None:
    lines = program(LOOP, "z")
    (way,) = [each for each in bypasses(lines) if each.old == ("y",)]
    assert made(bypass(lines, [way])) == ["z"]


# ---- inputs, constants, attributes


def test_inputs_of_one_type_become_one() -> None:
    states = "state<tensor<fp16, [2]>> s, state<tensor<fp16, [2]>> t"
    inputs = f"tensor<fp32, [2]> a, tensor<fp32, [2]> b, tensor<fp32, [3]> c, {states}"
    lines = program("y = add(a, b);\nz = relu(c);\nu = read_state(s);\nv = read_state(t);", "y, z, u, v", inputs)
    found = twins(lines)
    assert [(each.name, each.other) for each in found] == [("b", "a")]
    assert given(merge(lines, found))[0] == ["a", "c", "s", "t"]
    assert "add(x = a, y = a)" in body(merge(lines, found))


FLEXIBLE = """program(1.3) {
    func main<ios18>(tensor<fp32, [?]> x, tensor<fp32, [?]> z) [FlexibleShapeInformation =
        tuple<tuple<string, dict<string, tensor<int32, [1]>>>>((("DefaultShapes", {{"x", [4]}, {"z", [1]}})))] {
        tensor<fp32, [?]> c = add(x = x, y = z);
    } -> (c);
}"""


def test_notes_of_the_compiler_follow_a_merged_input() -> None:
    flexible = parse(FLEXIBLE)
    merged = merge(flexible, twins(flexible))
    assert given(merged)[0] == ["x"]
    assert ('"z"' in to_text(flexible), '"z"' in to_text(merged)) == (True, False)


def test_floats_become_zeros_and_shapes_stay() -> None:
    lines = program("w = const()[val = tensor<fp32, [3]>([1, 2, 3])];\ny = reshape(add(x, w), [3, 2]);", "y")
    places = numbers(lines, 100)
    assert len(places) == 1
    found = zeroed(lines, places)
    assert "[0x0p+0, 0x0p+0, 0x0p+0]" in body(found)
    assert "[3, 2]" in body(found)
    assert numbers(found, 100) == []
    assert numbers(lines, 2) == []


def test_weights_in_files_become_zeros_of_their_own() -> None:
    lines = load(EXAMPLE).program
    places = numbers(lines, 1000)
    assert to_text(lines).count("BLOBFILE") == 2
    assert "BLOBFILE" not in to_text(zeroed(lines, places))


def test_attributes_go_but_not_the_values_of_constants() -> None:
    lines = load(EXAMPLE).program
    lines.docString = "words"
    found = traits(lines)
    bare = trimmed(lines, found)
    assert traits(bare) == []
    assert bare.docString == ""
    assert "name = " not in to_text(bare)
    assert "buildInfo" not in to_text(bare)
    assert [each for each in check(bare) if each.severity == "error"] == []
    assert traits(trimmed(lines, found[:1])) == [each for each in found if each is not found[0]]
