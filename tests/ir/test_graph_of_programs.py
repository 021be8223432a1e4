"""The law of the graph: a Program that is read and written back is equal, edited in place or not."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import GOLDEN, corpus_files, wire
from hypothesis import given
from support import realistic
from support.coremltools_programs import PROGRAMS, Sample
from support.strategies import any_programs

import miltext
from miltext import MiltextError, parse
from miltext.building.new_model import ml_programs
from miltext.generation.programs import generate
from miltext.ir.flow import FLOWS, carried_into, variables_of
from miltext.ir.functions import Block
from miltext.ir.graph import Graph
from miltext.ir.parts import GraphError, Op, Operand, Value, literal_of, maker_of
from miltext.ir.passes import remove_where
from miltext.schema.operations import all_names, signature
from miltext.schema.opsets import OPSETS
from miltext.schema.proto import Model, Program
from miltext.schema.types import TensorType
from miltext.schema.walk import operations

TEXTS = ("**/*.mil",)
MODELS = ("mlprograms/*.mlmodel", "pairs/*/*.mlmodel", "*/*.mlpackage/Data/*/*.mlmodel", "changes/*/*.mlmodel")


def nothing(_: Graph) -> None:
    """Edit nothing."""


def marks(graph: Graph) -> None:
    """Mark everything as edited, so that it is compared with what it was copied from."""
    for function in graph.functions.values():
        function.touch()
        for block in [each for _, each in function.parts() if isinstance(each, Block)]:
            block.touch()
    for op in graph.walk():
        op.touch()


def rebuilds(graph: Graph) -> None:
    """Insert every operation anew, from a message of its own."""
    for function in graph.functions.values():
        for block in [each for _, each in function.parts() if isinstance(each, Block)]:
            ops = list(block)
            block.append(*ops)
            block.outputs = block.outputs
            for op in ops:
                op.own()
                for parameter, operands in list(op.inputs.items()):
                    op.set_input(parameter, operands)


EDITS: list[Callable[[Graph], None]] = [nothing, marks, rebuilds]


def check_law(program: Program) -> None:
    before = wire(program)
    for edit in EDITS:
        graph = Graph(program)
        edit(graph)
        assert wire(graph.program()) == before, edit.__name__
    assert wire(program) == before, "the message that was read has changed"
    check_uses(Graph(program))


def check_uses(graph: Graph) -> None:
    """Each use is among the uses of its value, and nothing else is."""
    for function in graph.functions.values():
        found: list[tuple[Value, object, str, int]] = []
        for op in function.walk():
            for parameter, operands in op.inputs.items():
                found += [(each, op, parameter, n) for n, each in enumerate(operands) if isinstance(each, Value)]
        blocks = [each for _, each in function.parts() if isinstance(each, Block)]
        found += [(value, block, "", nth) for block in blocks for nth, value in enumerate(block.outputs)]
        values = {*function.defined(), *function.undefined.values()}
        stated = [(value, use.user, use.parameter, use.place) for value in values for use in value.uses]
        assert len(stated) == len(found)
        assert {*stated} == {*found}
        assert {value.maker for value in values} - {None} <= {*function.walk()}


@given(any_programs)
def test_any_program_obeys_the_law(program: Program) -> None:
    check_law(program)


@given(realistic.programs())
def test_any_realistic_program_obeys_the_law(program: Program) -> None:
    check_law(program)


@pytest.mark.parametrize("path", sorted(GOLDEN.rglob("*.mil")), ids=lambda path: path.relative_to(GOLDEN).as_posix())
def test_golden(path: Path) -> None:
    check_law(parsed(path))


@pytest.mark.parametrize("path", corpus_files(*TEXTS))
def test_text_of_the_corpus(path: Path) -> None:
    check_law(parsed(path))


def parsed(path: Path) -> Program:
    try:
        return parse(path.read_bytes().decode())
    except (MiltextError, UnicodeDecodeError):
        pytest.skip("the text is not a Program")


@pytest.mark.parametrize("path", corpus_files(*MODELS))
def test_model_of_the_corpus(path: Path) -> None:
    for program in ml_programs(Model.FromString(path.read_bytes())):
        check_law(program)


@pytest.mark.parametrize("sample", PROGRAMS, ids=str)
def test_program_of_coremltools(sample: Sample) -> None:
    pytest.importorskip("coremltools", reason="needs coremltools to make programs")
    check_law(Program.FromString(sample.program()))


@pytest.mark.parametrize("seed", range(40))
def test_generated_program(seed: int) -> None:
    check_law(generate(seed))


def test_messages_of_coremltools() -> None:
    pytest.importorskip("coremltools", reason="needs coremltools for its messages")
    from coremltools.proto import MIL_pb2

    ours = generate(3)
    theirs = MIL_pb2.Program.FromString(wire(ours))
    graph = Graph(theirs)
    rebuilds(graph)
    value = next(op.outputs[0] for op in graph.walk() if isinstance(op.outputs[0].type, TensorType))
    value.type = value.type
    made = graph.program()
    assert type(made) is MIL_pb2.Program
    assert wire(made) == wire(ours)


def test_unknown_fields_stay() -> None:
    unknown = b"\xfa\x3f\x03abc"  # field 1023, three bytes
    program = parse(TEXT)
    for _, operation in operations(program):
        operation.MergeFromString(unknown)
        for each in (*operation.outputs, *operation.inputs.values()):
            each.MergeFromString(unknown)
    check_law(program)
    graph = Graph(program)
    next(graph.walk()).outputs[0].name = "r"
    assert wire(graph.program()).count(unknown) == wire(program).count(unknown)


# ---- what a graph knows


def maker(value: Value) -> Op:
    assert value.maker is not None
    return value.maker


def body(graph: Graph) -> Block:
    block = graph.functions["main"].block
    assert block is not None
    return block


def floats(operand: Operand) -> list[float]:
    literal = literal_of(operand)
    assert literal is not None
    return [*literal.immediateValue.tensor.floats.values]


TEXT = """program(1.3)
{
    func main<ios18>(tensor<fp32, [2]> x, state<tensor<fp16, [2]>> s) {
            tensor<fp32, [2]> y = relu(x = x)[name = string("y")];
            tensor<fp32, [2]> k = const()[name = string("k"), val = tensor<fp32, [2]>([1, 2])];
            tensor<fp32, [2]> z = add(x = y, y = k)[name = string("z")];
            tensor<fp32, [2]> w = mul(x = y, y = tensor<fp32, [2]>([3, 4]))[name = string("w")];
        } -> (z);
}
"""


def main(text: str = TEXT) -> tuple[Graph, dict[str, Value]]:
    graph = Graph(parse(text))
    values = {value.name: value for value in graph.functions["main"].defined()}
    return graph, values


def test_makers_and_users() -> None:
    _, values = main()
    assert [use.op.type for use in values["y"].uses if use.op] == ["add", "mul"]
    assert [op.type for op in values["x"].users] == ["relu"]
    assert values["x"].maker is None
    assert maker(values["z"]).type == "add"
    assert [use.op for use in values["z"].uses] == [None]
    assert values["s"].is_state
    assert not values["x"].is_state
    assert values["y"].type == TensorType("fp32", (2,))
    assert [op.type for op in maker(values["y"]).users] == ["add", "mul"]
    assert maker_of(maker(values["z"]).operand("x")) is maker(values["y"])
    assert maker_of(maker(values["w"]).operand("y")) is None
    assert (maker(values["z"]).is_used, maker(values["w"]).is_used) == (True, False)


def test_constants_are_seen_through() -> None:
    _, values = main()
    add, mul = maker(values["z"]), maker(values["w"])
    assert floats(add.operand("y")) == [1, 2]
    assert floats(mul.operand("y")) == [3, 4]
    assert literal_of(add.operand("x")) is None
    assert literal_of(None) is None
    assert values["k"].is_constant


def test_a_used_operation_is_not_removed() -> None:
    graph, values = main()
    with pytest.raises(GraphError, match="`y` is still used"):
        maker(values["y"]).remove()
    assert wire(graph.program()) == wire(parse(TEXT))
    with pytest.raises(GraphError, match="`x` is still used"):
        graph.functions["main"].remove_input(values["x"])


@pytest.mark.parametrize("edit", ["operand", "block output", "detached", "new and not inserted", "inside a block"])
def test_a_use_without_its_definition_is_refused(edit: str) -> None:
    graph, values = main()
    other = Graph(parse(TEXT)).functions["main"]
    mul = maker(values["w"])
    if edit == "operand":
        mul.set_input("x", other.value("x"))
    elif edit == "block output":
        body(graph).outputs = [other.value("y")]
    elif edit == "detached":
        maker(values["y"]).detach()
    elif edit == "new and not inserted":
        mul.set_input("x", Op.new("tanh", {"x": values["x"]}, {"new": values["y"].type}).outputs[0])
    else:
        graph, inner = main(NESTED)
        maker(inner["t"]).set_input("x", values["y"])
    with pytest.raises(GraphError, match=r"the function `main` uses `\w+`, which it does not define: insert"):
        graph.program()


def test_edits_are_written() -> None:
    graph, values = main()
    function = graph.functions["main"]
    block = body(graph)
    tanh = Op.new("tanh", {"x": values["y"]}, {function.fresh("y"): values["y"].type})
    block.insert_before(maker(values["z"]), tanh)
    values["y"].replace_uses(tanh.outputs[0], [use for use in values["y"].uses if use.op is maker(values["z"])])
    maker(values["w"]).remove()
    function.remove_input(values["s"])
    values["x"].name = "image"
    assert graph.program() == parse(
        """program(1.3)
{
    func main<ios18>(tensor<fp32, [2]> image) {
            tensor<fp32, [2]> y = relu(x = image)[name = string("y")];
            tensor<fp32, [2]> k = const()[name = string("k"), val = tensor<fp32, [2]>([1, 2])];
            tensor<fp32, [2]> y_1 = tanh(x = y);
            tensor<fp32, [2]> z = add(x = y_1, y = k)[name = string("z")];
        } -> (z);
}
"""
    )


def test_replaced_operation() -> None:
    graph, values = main()
    maker(values["y"]).replace_by(values["x"])
    assert [op.type for op in values["x"].users] == ["add", "mul"]
    assert [op.type for op in graph.walk()] == ["const", "add", "mul"]


def test_fresh_names_are_identifiers_that_nothing_has() -> None:
    graph, _ = main()
    function = graph.functions["main"]
    assert [function.fresh(stem) for stem in ("y", "y", "new", "new", "a/b", "1", "", "@x")] == [
        "y_1", "y_2", "new", "new_1", "a_b", "_1", "_", "_@x"
    ]  # fmt: skip
    assert [function.fresh("z", first=0), function.fresh("z")] == ["z_0", "z_1"]


def test_constants_at_an_operation_are_edited_there() -> None:
    graph, values = main()
    add, mul, const = maker(values["z"]), maker(values["w"]), maker(values["k"])
    assert add.literal("x") is None
    assert add.literal("axes") is None
    for op, name in ((mul, "y"), (const, "val")):
        assert op.literal(name) is not None
        op.own_literal(name).immediateValue.tensor.floats.values[0] = 7
        assert floats(op.literal(name))[0] == 7
    assert wire(graph.message) == wire(parse(TEXT))
    assert wire(graph.program()) == wire(parse(TEXT.replace("([1, 2])", "([7, 2])").replace("([3, 4])", "([7, 4])")))


def test_a_copy_of_an_operation_is_edited_by_itself() -> None:
    graph, values = main()
    copy = maker(values["w"]).copy()
    assert (copy.block, copy.operands, copy.outputs[0].name) == (None, [values["y"]], "w")
    assert copy in values["y"].users
    copy.own_literal("y").immediateValue.tensor.floats.values[0] = 7
    body(graph).append(copy)
    copy.outputs[0].name = "v"
    line = TEXT.splitlines()[6].replace("> w", "> v").replace("[3, 4]", "[7, 4]")
    text = TEXT.replace("        } -> (z)", f"{line}\n        }} -> (z)")
    assert wire(graph.program()) == wire(parse(text))


NESTED = """program(1.3)
{
    func main<ios18>(tensor<fp32, [2]> x, tensor<bool, []> p) {
            tensor<fp32, [2]> a = relu(x = x)[name = string("a")];
            tensor<fp32, [2]> c = cond(pred = p)
                () {
                    tensor<fp32, [2]> t = relu(x = a)[name = string("t")];
                } -> (t)
                () {
                    tensor<fp32, [2]> f = relu(x = x)[name = string("f")];
                } -> (a);
        } -> (c);
}
"""


LOOP = """program(1.3)
{
    func main<ios18>(int32 x) {
            int32 y = while_loop(loop_vars = x)
                (int32 i) {
                    bool more = less(x = i, y = int32(3));
                } -> (more)
                (int32 j) {
                    int32 k = const()[val = int32(1)];
                    int32 next = add(x = j, y = k);
                } -> (next);
        } -> (y);
}
"""

MOVED = """program(1.3)
{
    func main<ios18>(int32 x) {
            int32 k = const()[val = int32(1)];
            int32 y = while_loop(loop_vars = x)
                (int32 i) {
                    bool k_1 = less(x = i, y = int32(3));
                } -> (k_1)
                (int32 j) {
                    int32 next = add(x = j, y = k);
                } -> (next);
        } -> (y);
}
"""


@pytest.mark.parametrize("opset", [opset.proto for opset in OPSETS])
def test_every_operation_with_blocks_has_a_flow(opset: str) -> None:
    with_blocks = {name for name in all_names() if (known := signature(name, opset)) and known.blocks}
    assert with_blocks <= {*FLOWS}


def test_values_that_inner_blocks_capture() -> None:
    _, values = main(NESTED)
    cond = maker(values["c"])
    assert cond.captured() == [values["a"], values["x"]]
    assert [use.op and use.op.type for use in values["a"].uses] == ["relu", None]
    [variable] = variables_of(cond) or []
    assert variable.output is values["c"]
    assert variable.results == (values["t"], values["a"])
    with pytest.raises(GraphError):
        maker(values["a"]).remove()


def test_an_inner_value_has_the_opset_of_its_function() -> None:
    graph, values = main(NESTED)
    inner = maker(values["t"]).block
    assert inner is values["t"].home
    assert values["x"].home is graph.functions["main"]
    assert inner is maker(values["c"]).blocks[0]
    assert (inner.outermost, inner.opset, inner.function) == (body(graph), "CoreML8", graph.functions["main"])
    assert [*graph.functions["main"].outputs] == [values["c"]]


def test_operations_are_removed_from_last_to_first() -> None:
    graph, values = main()
    assert remove_where(body(graph), lambda op: not op.is_used and op.type != "const")
    assert [op.type for op in body(graph)] == ["relu", "const", "add"]
    assert not remove_where(body(graph), lambda op: not op.is_used)
    body(graph).outputs = [values["x"]]
    assert remove_where(body(graph), lambda op: not op.is_used)
    assert [*body(graph)] == []


def test_a_copy_has_the_operands_that_are_found() -> None:
    _, values = main()
    copy = maker(values["w"]).copy({values["y"]: values["x"]}.__getitem__)
    assert (copy.operands, floats(copy.operand("y"))) == ([values["x"]], [3, 4])
    assert copy not in values["y"].users


def test_the_operation_of_a_block_that_holds_a_use() -> None:
    graph, values = main(NESTED)
    cond, block = maker(values["c"]), body(graph)
    found = [block.holding(use.user) for use in values["a"].uses]
    assert found == [cond, cond]
    assert block.holding(maker(values["a"])) is maker(values["a"])
    assert block.holding(block) is None
    assert cond.blocks[0].holding(cond) is None
    assert all(use.operand is values["a"] for use in values["a"].uses)


def test_variables_of_a_loop() -> None:
    graph, values = main(LOOP)
    loop = maker(values["y"])
    [variable] = variables_of(loop) or []
    assert variable.argument is values["x"]
    assert variable.inputs == (values["i"], values["j"])
    assert variable.results == (values["next"],)
    assert variable.output is values["y"]
    assert carried_into(loop.blocks[1], values["j"]) is values["x"]
    assert variables_of(maker(values["next"])) is None
    loop.blocks[1].outputs = []
    assert variables_of(loop) is None
    assert carried_into(body(graph), values["x"]) is None


def test_inner_value_of_loop_that_moves_out_keeps_its_own_uses() -> None:
    graph, values = main(LOOP)
    step = maker(values["k"])
    values["more"].name = "k"
    body(graph).insert_before(maker(values["y"]), step)
    made = graph.program()
    assert miltext.check(made) == []
    assert made == parse(MOVED)


def test_threads_read_one_graph() -> None:
    graph, _ = main()
    with ThreadPoolExecutor(8) as threads:
        texts = list(threads.map(lambda _: [str(op) for op in graph.walk()], range(100)))
    assert all(text == texts[0] for text in texts)
