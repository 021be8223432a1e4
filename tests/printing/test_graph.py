"""The graph of a text: every operation is in it once, in scopes that names and values make, and each value leads on."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from conftest import GOLDEN, corpus_files
from support.short_drafts import DRAFTS, WITH_BLOCKS

import miltext
from miltext.printing.graph import graph
from miltext.printing.graph_scopes import FEW, MOST
from miltext.printing.reading import TextReader
from miltext.schema.walk import operations

LOOP = """\
program(1.3)
{
    func main<ios18>(tensor<fp16, [2]> x) {
            fp16 half = const()[name = string("half"), val = fp16(0x1p-1)];
            tensor<fp16, [2]> n = while_loop(loop_vars = x)[name = string("n")]
                (tensor<fp16, [2]> b) {
                    bool go = less(x = b, y = half)[name = string("go")];
                } -> (go)
                (tensor<fp16, [2]> i) {
                    tensor<fp16, [2]> a = relu(x = i)[name = string("a")];
                } -> (a);
        } -> (n, half);
}
"""


ELIDED = """\
program(1.3)
{
    func main<ios18>(fp16 x) {
            tensor<fp16, [9]> w = const()[name = string("w"), val = tensor<fp16, [9]>($elided(9, "sha256:d5000bba"))];
            tensor<fp16, [9]> y = mul(x = x, y = w)[name = string("y")];
        } -> (y);
}
"""


def function(*lines: str, inputs: str = "tensor<fp16, [2]> x", outputs: str = "") -> str:
    return f"program(1.3)\n{{\nfunc main<ios18>({inputs}) {{\n" + "\n".join(lines) + f"\n}} -> ({outputs});\n}}\n"


def chain(*names: str) -> str:
    """A text in which each value is made from the one before."""
    made = [
        f"tensor<fp16, [2]> {name} = relu(x = {before});" for before, name in zip(("x", *names), names, strict=False)
    ]
    return function(*made, outputs=names[-1])


def layered(layers: int) -> str:
    """A text as converters write it: operations are counted, and only weights say in which layer they are used."""
    lines, last, count = [], "x", 0
    for layer in range(layers):
        for part in ("attn_q", "attn_out", "mlp_up", "mlp_down"):
            weight = f"model_layers_{layer}_{part}_weight_to_fp16"
            lines.append(f'fp16 {weight} = const()[name = string("{weight}"), val = fp16(0x1p+0)];')
            lines.append(f"tensor<fp16, [2]> input_{count}_cast_fp16 = mul(x = {last}, y = {weight});")
            lines.append(f"tensor<fp16, [2]> var_{count} = relu(x = input_{count}_cast_fp16);")
            last, count = f"var_{count}", count + 1
    return function(*lines, outputs=last)


def read(text: str) -> dict[str, list[Any]]:
    """The graph, as a browser gets it."""
    made: dict[str, list[Any]] = json.loads(json.dumps(graph(TextReader(text))))
    return made


def tree(text: str, *, constants: bool = False) -> list[Any]:
    """The labels of the nodes, each that holds others with these."""
    nodes = read(text)["nodes"]

    def inside(parent: int) -> list[Any]:
        found: list[Any] = []
        for index, node in enumerate(nodes):
            if node[0] == parent and (constants or node[1] != "const"):
                inner = inside(index)
                found.append((node[2], inner) if inner else node[2])
        return found

    return inside(-1)


def test_parts_are_in_their_blocks_and_make_and_take_values() -> None:
    made = read(LOOP)
    values = [value[0] for value in made["values"]]
    assert [
        (index, parent, kind, label, line, [values[value] for value in makes], [values[value] for value in takes])
        for index, (parent, kind, label, line, makes, takes) in enumerate(made["nodes"])
    ] == [
        (0, -1, "function", "main", 3, [], []),
        (1, 0, "input", "x", 3, ["x"], []),
        (2, 0, "op", "while_loop", 5, ["n"], ["x"]),
        (3, 2, "block", "cond", 6, [], []),
        (4, 3, "const", "const", 4, ["half"], []),
        (5, 3, "input", "b", 6, ["b"], []),
        (6, 3, "op", "less", 7, ["go"], ["b", "half"]),
        (7, 3, "output", "go", 8, [], ["go"]),
        (8, 2, "block", "body", 9, [], []),
        (9, 8, "input", "i", 9, ["i"], []),
        (10, 8, "op", "relu", 10, ["a"], ["i"]),
        (11, 8, "output", "a", 11, [], ["a"]),
        (12, 0, "output", "n", 12, [], ["n"]),
        (13, 0, "output", "half", 12, [], ["half"]),
    ]


def test_operations_inside_others_make_values_without_names() -> None:
    made = read(WITH_BLOCKS)
    unnamed = [value for value in made["values"] if not value[0]]
    assert [value[2:] for value in unnamed] == [
        [6, "relu", [6]],
        [6, "tanh", [6]],
        [6, "mul", [6]],
        [11, "sigmoid", [11]],
    ]
    add = next(node for node in made["nodes"] if node[2] == "add")
    assert [made["values"][value][3] for value in add[5]] == ["relu", "mul"]
    assert tree(WITH_BLOCKS)[0][1][3] == (
        "cond",
        [("true", ["relu", "tanh", "mul", "add", "a"]), ("false", ["sub", "a"])],
    )


def test_weights_report_scopes_of_operations_that_are_counted() -> None:
    layers = [
        (f"model_layers_{layer}", [(f"model_layers_{layer}_{part}", ["mul", "relu"] * 2) for part in ("attn", "mlp")])
        for layer in range(3)
    ]
    layers[-1][1][-1][1].pop()  # nothing tells where the last one is
    assert tree(layered(3)) == [("main", ["x", ("model_layers", layers), "relu", "var_11"])]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a_1", "b_1", "c_1"], ["relu"] * 3),
        (["input_1_cast", "input_2_cast", "var_3"], ["relu"] * 3),
        (["m_a_x", "m_a_y", "m_b_x", "m_b_y"], [("m", [("m_a", ["relu"] * 2), ("m_b", ["relu"] * 2)])]),
        (["m_a_x", "t_1", "m_a_y", "m_a_z"], [("m_a", ["relu"] * 4)]),
        (["m_x", "odd_one", "m_y", "m_z"], [("m", ["relu"] * 4)]),
        (['$"m.0/x"', '$"m.0/y"', '$"m.1/x"', '$"m.1/y"'], [("m", [("m.0", ["relu"] * 2), ("m.1", ["relu"] * 2)])]),
        (  # a layer of one operation, among larger ones, with what follows
            [*["m_0_a_x", "m_0_b_x"], "t_1", *["m_1_a_x", "t_2"], *["m_2_a_x", "m_2_b_x"]],
            [("m", [("m_0", ["relu"] * 3), ("m_1", ["relu"] * 2), ("m_2", ["relu"] * 2)])],
        ),
        (["m_0_x", "t_1", "m_2_x", "t_3"], [("m", ["relu"] * 3), "relu"]),  # layers of one operation only
        (  # a module of one operation is in none of its neighbours, and divides them
            [*["m_a_x", "m_a_y"], "m_norm_x", *["m_a_z", "m_a_w"], "m_out", *["m_b_x", "m_b_y"]],
            [("m", [("m_a", ["relu"] * 2), "relu", ("m_a", ["relu"] * 2), "relu", ("m_b", ["relu"] * 2)])],
        ),
        (  # the outermost words divide each other, too
            ["m_0_x", "m_0_y", "n_0_x", "m_1_x", "m_1_y", "n_0_y", "n_0_z"],
            [("m_0", ["relu"] * 2), "relu", ("m_1", ["relu"] * 2), ("n_0", ["relu"] * 2)],
        ),
        (["var_85_cast_fp16_0", "var_86_cast_fp16_1"], ["relu"] * 2),
        (['$"層_一_x"', '$"層_一_y"'], [("層_一", ["relu"] * 2)]),
        (['$""', '$"_"', '$"..."', '$"\\""'], ["relu"] * 4),
    ],
)
def test_scopes_are_the_words_that_neighbours_begin_with(names: list[str], expected: list[Any]) -> None:
    assert tree(chain(*names))[0][1][1:-1] == expected


def test_without_scopes_in_names_neighbours_are_together() -> None:
    text = chain(*[f"v{number}" for number in range(2000)])
    nodes = read(text)["nodes"]
    held = Counter(node[0] for node in nodes)
    scopes = [node for node in nodes if node[1] == "scope"]
    assert {node[2] for node in scopes} == {""}
    assert 60 < len(scopes) < 400
    assert max(held.values()) <= MOST + 2
    assert [node[3] for node in nodes if node[1] == "op"] == [*range(4, 2004)]


def test_stretches_are_cut_where_the_fewest_values_cross() -> None:
    lines, last = [], "x"
    for block in range(40):  # two branches inside a block of five, one value between blocks
        steps = [("a", last), ("b", last), ("c", "a"), ("d", "b")]
        for name, source in steps:
            source = f"{source}{block}" if source in ("a", "b") else source
            lines.append(f"fp16 {name}{block} = relu(x = {source});")
        lines.append(f"fp16 e{block} = add(x = c{block}, y = d{block});")
        last = f"e{block}"
    nodes = read(function(*lines, inputs="fp16 x", outputs=last))["nodes"]
    ends = [
        [inner for inner in nodes if inner[0] == index][-1][2]
        for index, node in enumerate(nodes)
        if node[1] == "scope" and any(inner[0] == index and inner[1] == "op" for inner in nodes)
    ]
    assert len(ends) > 8
    assert {*ends} == {"add"}


def test_many_inputs_and_outputs_are_in_one_scope() -> None:
    names = [f"v{number}" for number in range(FEW + 1)]
    text = function(inputs=", ".join(f"fp16 {name}" for name in names), outputs=", ".join(names))
    assert tree(text) == [("main", [("", names), ("", names)])]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("program(1.3)\n{\n}\n", []),
        (function(inputs=""), ["main"]),
        (function(outputs="x"), [("main", ["x", "x"])]),
        (function("fp16 y = relu(x = missing);", inputs=""), [("main", ["relu"])]),
        (function("fp16 c = const()[val = fp16(0x1p+0)];", inputs=""), ["main"]),
    ],
    ids=["no function", "nothing", "no operation", "a value that is not there", "an unused constant"],
)
def test_odd_programs_have_a_graph(text: str, expected: list[Any]) -> None:
    assert tree(text) == expected


def test_constants_come_before_their_first_use() -> None:
    text = function(
        "fp16 unused = const()[val = fp16(0x1p+0)];",
        "fp16 w = const()[val = fp16(0x1p+0)];",
        "fp16 packed = constexpr_cast(source_val = w);",
        "fp16 a_b_y = mul(x = x, y = packed);",
        "fp16 a_b_z = mul(x = a_b_y, y = packed);",
        inputs="fp16 x",
        outputs="a_b_z",
    )
    assert tree(text, constants=True) == [
        ("main", ["const", "x", ("a_b", ["const", "constexpr_cast", "mul", "mul"]), "a_b_z"])
    ]


def test_operations_may_be_deep_inside_others() -> None:
    nodes = read(function(f"y = {'relu(' * 900}x{')' * 900};", outputs="y"))["nodes"]
    assert sum(node[2] == "relu" for node in nodes) == 900


@pytest.mark.parametrize("text", [*DRAFTS.values(), ELIDED], ids=[*DRAFTS, "elided"])
def test_drafts_and_elided_texts_have_graphs(text: str) -> None:
    reader = TextReader(text)
    made = read(text)
    makers = [value for node in made["nodes"] for value in node[4]]
    assert sorted(makers) == [*range(len(made["values"]))]
    assert len(made["values"]) == len(reader.definitions) + len(reader.unnamed)
    assert sum(len(node[5]) for node in made["nodes"]) == sum(len(value[4]) for value in made["values"])
    assert {node[1] for node in made["nodes"]} <= {"function", "block", "scope", "op", "const", "input", "output"}


@pytest.mark.parametrize(
    "path",
    [*sorted(GOLDEN.glob("print/*.mil")), *corpus_files("apple/*.mil", "handwritten/*.mil")],
    ids=lambda path: path.name,
)
def test_a_graph_has_every_operation_once_and_values_lead_on(path: Path) -> None:
    program = miltext.load(path).program
    made = read(miltext.to_text(program))
    nodes, values = made["nodes"], made["values"]
    types = [operation.type for _, operation in operations(program)]
    spelled = [node[2].removeprefix("$").strip('"') for node in nodes if node[1] in ("op", "const")]
    assert Counter(spelled) == Counter(types)
    assert all(parent < index for index, (parent, *_) in enumerate(nodes))
    assert [node[3] for node in nodes if node[1] == "op"] == sorted(node[3] for node in nodes if node[1] == "op")
    held = Counter(node[0] for node in nodes if node[1] != "const")
    assert max(held.values(), default=0) <= MOST + 2 * FEW
    makers = {value: index for index, node in enumerate(nodes) for value in node[4]}
    assert sorted(makers) == [*range(len(values))]
    within = _ancestors(nodes)
    for index, node in enumerate(nodes):
        for value in node[5]:
            assert makers[value] < index or makers[value] in within[index] or node[1] == "output"


def _ancestors(nodes: list[Any]) -> list[set[int]]:
    found: list[set[int]] = []
    for parent, *_ in nodes:
        found.append({parent, *found[parent]} if parent >= 0 else set())
    return found
