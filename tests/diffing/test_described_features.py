"""Fields of a description that follow from the inputs, outputs and states of the program."""

from __future__ import annotations

import pytest
from support.pipelines import of_text, piped, unary

import miltext
from miltext.containers.spec import SpecModel
from miltext.diffing.one_line import one_line
from miltext.schema.proto import Model

T = "tensor<fp16, [1, 4]>"


def model(inputs: str, body: str, outputs: str) -> SpecModel:
    text = f"program(1.3)\n{{\n    func main<ios18>({inputs}) {{\n{body}\n    }} -> ({outputs});\n}}\n"
    return wrapped(of_text(text))


def wrapped(spec: Model) -> SpecModel:
    return SpecModel("mlmodel", "it", None, None, spec)


def stateful(name: str, size: int = 4) -> SpecModel:
    kind = f"tensor<fp16, [1, {size}]>"
    body = (
        f"{kind} r = read_state(input = {name}); {kind} y = add(x = r, y = x); write_state(input = {name}, data = y);"
    )
    return model(f"{kind} x, state<{kind}> {name}", body, "y")


ONE = model(f"{T} x", f"{T} y = relu(x = x);", "y")
TWO_OUTPUTS = model(f"{T} x", f"{T} y = relu(x = x); {T} z = tanh(x = x);", "y, z")
TWO_INPUTS = model(f"{T} x, {T} w", f"{T} y = relu(x = x);", "y")


def described(old: SpecModel, new: SpecModel) -> list[str]:
    """The fields of the description that are causes."""
    changes = miltext.diff(old, new).changes
    return [each.name for each in changes if each.kind == "description" and each.follows is None]


@pytest.mark.parametrize("order", [1, -1], ids=["there", "back"])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (stateful("s"), stateful("cache")),
        (stateful("s"), stateful("s", 8)),
        (stateful("s"), stateful("cache", 8)),
        (ONE, TWO_OUTPUTS),
        (ONE, TWO_INPUTS),
        (ONE, stateful("s")),
    ],
    ids=["a renamed state", "a larger state", "a renamed and larger state", "an output", "an input", "a state"],
)
def test_fields_follow_from_the_program(old: SpecModel, new: SpecModel, order: int) -> None:
    first, second = (old, new)[::order]
    assert described(first, second) == []
    assert miltext.apply(miltext.diff(first, second), first).spec == second.spec


def test_a_fact_that_the_program_does_not_state_is_a_cause() -> None:
    new = wrapped(Model.FromString(TWO_OUTPUTS.spec.SerializeToString()))
    new.spec.description.output[1].shortDescription = "the second one"
    assert described(ONE, new) == ["output[z].shortDescription"]
    new.spec.description.output[1].type.multiArrayType.shape[:] = [1, 5]
    assert described(ONE, new) == ["output[z].shortDescription", "output[z].type.multiArrayType.shape"]
    alone = wrapped(Model.FromString(ONE.spec.SerializeToString()))
    alone.spec.description.input.add(name="w").type.multiArrayType.shape[:] = [1, 4]
    assert described(ONE, alone) == ["input[w].name", "input[w].type.multiArrayType.shape"]


def test_states_are_named_as_states() -> None:
    renamed, larger = miltext.diff(stateful("s"), stateful("cache")), miltext.diff(stateful("s"), stateful("s", 8))
    assert "    = s -> cache (state)\n" in renamed.to_text()
    assert one_line(renamed) == "state `s` renamed to `cache`, breaks callers"
    assert f"    ~ state s: state<{T}> -> " in larger.to_text()
    assert one_line(larger) == "input `x` retyped, state `s` retyped, breaks callers"


def test_added_and_removed_outputs_are_named() -> None:
    added, removed = miltext.diff(ONE, TWO_OUTPUTS), miltext.diff(TWO_OUTPUTS, ONE)
    assert "\ninterface: output z; breaks no callers\n" in added.to_text()
    assert added.summary.outputs.unreached == removed.summary.outputs.unreached == ("y",)
    assert added.summary.outputs.reached == removed.summary.outputs.reached == ()


def test_exchanged_names_of_outputs_are_named() -> None:
    new = model(f"{T} x", f"{T} z = relu(x = x); {T} y = tanh(x = x);", "z, y")
    text = miltext.diff(TWO_OUTPUTS, new).to_text()
    assert "\ninterface: other values under old names: output z, output y\n" in text
    assert "breaks no callers" not in text
    renamed = model(f"{T} x", f"{T} y = relu(x = x); {T} q = tanh(x = x);", "y, q")
    assert "under old names" not in miltext.diff(TWO_OUTPUTS, renamed).to_text()


@pytest.mark.parametrize("order", [1, -1], ids=["there", "back"])
def test_a_pipeline_and_a_program_are_of_two_types(order: int) -> None:
    old, new = (wrapped(unary("x", "y")), wrapped(piped(unary("x", "h"), unary("h", "y"))))[::order]
    difference = miltext.diff(old, new)
    types = ("mlProgram", "pipeline")[::order]
    assert f"~ type: {' -> '.join(types)}\n" in difference.to_text()
    assert difference.same is False
    with pytest.raises(miltext.MiltextError, match="MIL496"):
        miltext.apply(difference, old)
