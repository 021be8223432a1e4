"""Causes and consequences: each planted edit is a cause, and what follows from it is none."""

from __future__ import annotations

import pytest
from conftest import CORPUS
from support.planted_edits import outcome, planted

import miltext
from miltext.diffing.structure import ChangedOperation, Consequence
from miltext.schema.proto import Program

SEEDS = range(60)


def program(body: str, inputs: str = "tensor<fp32, [2, 8]> x", outputs: str = "y") -> Program:
    function = f"    func main<ios18>({inputs}) {{\n{body}\n        }} -> ({outputs});\n"
    return miltext.parse(f"program(1.3)\n{{\n{function}}}\n")


def typed(size: int, *, kept: str = "") -> Program:
    """A chain of operations whose types follow from an input's; that of `kept` stays as it was."""
    kinds = {name: f"tensor<fp32, [2, {8 if name == kept else size}]>" for name in "aby"}
    return program(
        f'{kinds["a"]} a = relu(x = x)[name = string("a")];\n'
        f'{kinds["b"]} b = tanh(x = a)[name = string("b")];\n'
        f'{kinds["y"]} y = abs(x = b)[name = string("y")];',
        f"tensor<fp32, [2, {size}]> x",
    )


def follows(difference: miltext.Difference) -> dict[str, Consequence | None]:
    """The reasons of the first change of each changed operation, by name."""
    (function,) = difference.functions
    return {each.name: each.changes[0].follows for block in function.blocks for each in block.changed}


@pytest.mark.parametrize("first", range(0, len(SEEDS), 10))
def test_each_planted_edit_is_a_cause(first: int) -> None:
    found = [outcome(*edited) for edited in map(planted, SEEDS[first : first + 10]) if edited[2]]
    assert [each.hidden for each in found if each.hidden] == []
    assert sum(not each.others for each in found) >= len(found) - 1


def test_types_follow_from_an_input() -> None:
    assert follows(miltext.diff(typed(8), typed(16))) == dict.fromkeys("aby", Consequence("type", "x"))


def test_a_type_that_does_not_follow_is_a_cause() -> None:
    """The new type of `b` stays, against what its input says."""
    found = follows(miltext.diff(typed(8), typed(16, kept="b")))
    assert found["a"] == Consequence("type", "x")
    assert found["y"] is None  # it was inferred from `b`, and is not any more


def test_a_stated_type_alone_is_a_cause() -> None:
    new = miltext.parse(miltext.to_text(typed(8)).replace("[2, 8]> b", "[2, 9]> b"))
    assert follows(miltext.diff(typed(8), new)) == {"b": None}


def test_a_corrected_type_is_a_cause() -> None:
    """The old type did not follow from anything."""
    old = miltext.parse(miltext.to_text(typed(8)).replace("[2, 8]> b", "[2, 9]> b"))
    assert follows(miltext.diff(old, typed(8))) == {"b": None}


def sliced(size: int, end: int) -> Program:
    return program(
        'tensor<int32, [2]> e = const()[name = string("e"), val = tensor<int32, [2]>([2, ' + str(end) + "])];\n"
        f"tensor<fp32, [2, {end}]> y = slice_by_index(x = x, begin = tensor<int32, [2]>([0, 0]), end = e)"
        '[name = string("y")];',
        f"tensor<fp32, [2, {size}]> x",
    )


def test_a_constant_follows_if_reshape_makes_it() -> None:
    assert follows(miltext.diff(sliced(8, 8), sliced(16, 16)))["y"] == Consequence("size", "x")


@pytest.mark.parametrize("end", [15, 9, 12])
def test_another_constant_is_a_cause(end: int) -> None:
    assert follows(miltext.diff(sliced(8, 8), sliced(16, end)))["y"] is None


def test_a_constant_without_another_size_is_a_cause() -> None:
    assert follows(miltext.diff(sliced(16, 8), sliced(16, 16)))["y"] is None


CHAIN = (
    'tensor<fp32, [2, 8]> a = relu(x = x)[name = string("a")];\n{between}'
    'tensor<fp32, [2, 8]> y = abs(x = {taken})[name = string("y")];'
)


def test_the_argument_after_an_inserted_operation_follows() -> None:
    between = 'tensor<fp32, [2, 8]> t = tanh(x = a)[name = string("t")];\n'
    old, new = program(CHAIN.format(between="", taken="a")), program(CHAIN.format(between=between, taken="t"))
    for one, other in ((old, new), (new, old)):
        difference = miltext.diff(one, other)
        assert follows(difference) == {"y": Consequence("operand", "t")}
        assert "x of y" in difference.to_text()
        assert "x: " not in difference.to_text()
        assert "x: " in difference.to_text(consequences=True)


def test_an_argument_from_elsewhere_is_a_cause() -> None:
    """The added operation does not take the old value."""
    between = 'tensor<fp32, [2, 8]> t = tanh(x = x)[name = string("t")];\n'
    old, new = program(CHAIN.format(between="", taken="a")), program(CHAIN.format(between=between, taken="t"))
    assert follows(miltext.diff(old, new)) == {"y": None}


def test_numbered_names_follow_only_from_other_operations() -> None:
    chain = CHAIN.format(between="", taken="a").replace(" a ", " v_1 ").replace("= a)", "= v_1)")
    text = miltext.to_text(program(chain))
    renamed = miltext.diff(text, text.replace("v_1", "v_2")).functions[0].blocks[0].renamed
    assert [each.follows for each in renamed if each.kind == "value"] == [None]


def test_no_change_of_equal_programs_in_any_form() -> None:
    difference = miltext.diff(typed(8), typed(8))
    assert difference.same is True
    assert difference.to_text() == difference.to_text(full=True) == "no difference\n"
    assert difference.summary == type(difference.summary)()


def test_the_outputs_that_a_difference_reaches() -> None:
    body = (
        'tensor<fp32, [2, 8]> a = {}(x = x)[name = string("a")];\n'
        'tensor<fp32, [2, 8]> b = tanh(x = x)[name = string("b")];'
    )
    old, new = (program(body.format(op), outputs="a, b") for op in ("relu", "sigmoid"))
    outputs = miltext.diff(old, new).summary.outputs
    assert (outputs.reached, outputs.unreached) == (("a",), ("b",))


def halved(dtype: str, factor: str, casts: bool) -> Program:
    """A multiplication in a data type, between casts or not."""
    lines = [
        f'tensor<{dtype}, [2, 8]> m = mul(x = {"h" if casts else "x"}, y = {dtype}({factor}))[name = string("m")];',
        f'tensor<{dtype}, [2, 8]> n = tanh(x = m)[name = string("n")];',
        f'tensor<{dtype}, [2, 8]> {"r" if casts else "y"} = relu(x = n)[name = string("r")];',
    ]
    if casts:
        lines.insert(0, 'tensor<fp16, [2, 8]> h = cast(x = x, dtype = string("fp16"))[name = string("h")];')
        lines.append('tensor<fp32, [2, 8]> y = cast(x = r, dtype = string("fp32"))[name = string("y")];')
    return program("\n".join(lines))


@pytest.mark.parametrize(
    ("before", "after"),
    [("0.5", "0.5"), ("0.1", "0.1"), ("0.25", "0.5"), ("0", "2e-8"), ("60000", "60010"), ("1e-5", "1.001e-5")],
)
def test_constants_follow_another_precision(before: str, after: str) -> None:
    difference = miltext.diff(halved("fp16", before, casts=True), halved("fp32", after, casts=False))
    (block,) = difference.functions[0].blocks
    (multiplied,) = (each for each in block.changed if each.name == "m")
    constants = [change.follows for change in multiplied.changes if change.name == "y"]
    assert constants == [Consequence("precision", "h") if before == after else None]
    assert {each.name for each in block.removed if each.follows is None} == {"h", "y"}
    assert [change.follows for change in block.changes] == [Consequence("operand", "y")]
    assert [rename.follows for rename in block.renamed if rename.kind != "name"] == [Consequence("name", "y")]
    assert "interface changed" not in difference.to_stat()


ENCODERS = (
    CORPUS / "pairs/FluidAudio__160ms_streaming_encoder/model.mlmodel",
    CORPUS / "changes/streaming_encoder/1280ms.mlmodel",
)


@pytest.mark.skipif(not CORPUS.is_dir(), reason=f"no corpus at {CORPUS}; MILTEXT_CORPUS names another folder")
def test_the_streaming_encoders_differ_in_few_lines() -> None:
    difference = miltext.diff(*ENCODERS)
    text = difference.to_text()
    assert len(text.splitlines()) <= 40
    assert "in each of encoder_layers_0 … 16: " in text
    operations = [each for block in difference.functions[0].blocks for each in block.operations]
    changes = [change for each in operations if isinstance(each, ChangedOperation) for change in each.changes]
    assert sum(change.follows is None for change in changes) < 100 < 1000 < len(changes)
    assert difference.summary.outputs.unreached == ("encoded_length",)


def reshaped(size: int, shape: str, y: str, *, end: str = "relu") -> Program:
    """A reshape with its own sizes, between operations whose types follow."""
    return program(
        f'tensor<fp32, [2, {size}]> a = relu(x = x)[name = string("a")];\n'
        f'tensor<fp32, {y}> b = reshape(x = a, shape = tensor<int32, [2]>({shape}))[name = string("b")];\n'
        f'tensor<fp32, {y}> c = {end}(x = b)[name = string("c")];\n'
        f'tensor<fp32, {y}> y = abs(x = c)[name = string("y")];',
        f"tensor<fp32, [2, {size}]> x",
    )


def test_types_follow_from_a_reshape_with_other_sizes_of_its_own() -> None:
    old = reshaped(8, "[-1, 4]", "[4, 4]")
    found = follows(miltext.diff(old, reshaped(16, "[-1, 8]", "[4, 8]")))
    assert found["a"] == Consequence("type", "x")
    assert found["b"] is None, "its shape is a cause"
    assert (found["c"], found["y"]) == (Consequence("type", "b"), Consequence("type", "b"))


def test_types_follow_through_a_reshape_whose_sizes_follow() -> None:
    found = follows(miltext.diff(reshaped(8, "[1, 16]", "[1, 16]"), reshaped(16, "[1, 32]", "[1, 32]")))
    assert found["b"] == Consequence("size", "x")
    assert found["y"] == Consequence("type", "x")


def test_an_equal_type_of_its_own_constants_is_not_an_origin() -> None:
    """Another constant that changes no type: the types still follow from the input."""
    old, new = (
        program(
            f'tensor<fp32, [2, {size}]> b = leaky_relu(x = x, alpha = fp32({alpha}))[name = string("b")];\n'
            f'tensor<fp32, [2, {size}]> y = abs(x = b)[name = string("y")];',
            f"tensor<fp32, [2, {size}]> x",
        )
        for size, alpha in ((8, "0.5"), (16, "0.25"))
    )
    assert follows(miltext.diff(old, new))["y"] == Consequence("type", "x")


def chain(*names: str) -> Program:
    lines = [
        f'tensor<fp32, [2, 8]> {name} = relu(x = {before})[name = string("{name}")];'
        for before, name in zip(("x", *names), names, strict=False)
    ]
    return program("\n".join(lines), outputs=names[-1])


@pytest.mark.parametrize(
    ("old", "new", "follow"),
    [
        (("relu_5", "a", "y"), ("relu_4", "y"), True),
        (("relu_4", "a", "y"), ("relu_5", "y"), False),
        (("relu_4", "y"), ("relu_5", "a", "y"), True),
        (("relu_5", "y"), ("relu_4", "a", "y"), False),
        (("relu_4", "y"), ("relu_5", "y"), False),
    ],
)
def test_the_number_in_a_name_follows_removals_and_additions(
    old: tuple[str, ...], new: tuple[str, ...], follow: bool
) -> None:
    (function,) = miltext.diff(chain(*old), chain(*new)).functions
    renamed = [each for block in function.blocks for each in block.renamed if each.kind == "value"]
    numbered = [each.follows for each in renamed if (each.old or "")[:4] == "relu" == (each.new or "")[:4]]
    assert [each is not None for each in numbered] == [follow]
