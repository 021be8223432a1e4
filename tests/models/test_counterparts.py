"""Renamed and reordered: each description goes with its value, whatever the value is called and wherever it stands."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from support.containers import coremldata

import miltext
from miltext.cli import command
from miltext.containers.opening import load, open_model
from miltext.containers.programs import TextModel
from miltext.descriptions.counterparts import Version
from miltext.descriptions.program_descriptions import describe, update
from miltext.drafting.building import build
from miltext.schema.function_io import interfaces
from miltext.schema.proto import ImageFeatureType, ModelDescription, Program
from miltext.syntax.names import name_text

KINDS = ("tensor<fp32, [2]>", "tensor<fp32, [3]>", "tensor<int32, [2]>")
OPERATIONS = ("relu", "tanh", "sigmoid", "exp", "softplus", "sqrt")


class Sketch(NamedTuple):
    """A function: its inputs, each the index of a type, and how many outputs. Each input is used by its own operation;
    the outputs are made of these. `twins`: these operations are all alike.
    """

    name: str
    inputs: tuple[int, ...]
    outputs: int
    twins: bool

    @property
    def values(self) -> list[str]:
        """All values: i0, ... are the inputs, h0, ... what is made of each, o0, ... the outputs."""
        count = len(self.inputs)
        return [
            f"{letter}{n}" for letter, size in (("i", count), ("h", count), ("o", self.outputs)) for n in range(size)
        ]

    def text(self, names: dict[str, str], shuffle: Any) -> str:
        def name(value: str) -> str:
            return name_text(names[value])

        count = len(self.inputs)
        taken = [f"{KINDS[kind]} {name(f'i{n}')}" for n, kind in enumerate(self.inputs)]
        first = [
            f"{KINDS[kind]} {name(f'h{n}')} = {OPERATIONS[0 if self.twins else n]}(x = {name(f'i{n}')});"
            for n, kind in enumerate(self.inputs)
        ]
        last = [
            f"{KINDS[n % 2]} {name(f'o{n}')} = {'sub' if self.twins else OPERATIONS[n]}"
            f"(x = {name(f'h{n % count}')}, y = {name(f'h{(n + 1) % count}')});"
            for n in range(self.outputs)
        ]
        given = [name(f"o{n}") for n in range(self.outputs)]
        parts = [taken, first, last, given]
        for part in parts:
            shuffle(part)
        body = " ".join(first + last)
        return f"func {name_text(names[self.name])}<ios18>({', '.join(taken)}) {{ {body} }} -> ({', '.join(given)});"


def program(sketches: list[Sketch], names: dict[str, dict[str, str]], shuffle: Any = lambda _: None) -> Program:
    return miltext.parse(f"program(1.3) {{ {' '.join(each.text(names[each.name], shuffle) for each in sketches)} }}")


@st.composite
def sketched(draw: Any, twins: bool) -> list[Sketch]:
    count = draw(st.integers(1, 3))
    return [
        Sketch(
            f"f{n}",
            tuple(draw(st.lists(st.integers(0, 2), min_size=2, max_size=4))),
            draw(st.integers(1, 3)),
            twins and draw(st.booleans()),
        )
        for n in range(count)
    ]


def described(sketches: list[Sketch], names: dict[str, dict[str, str]]) -> ModelDescription:
    """A description in which each entry says in words which value it is for."""
    made = describe(program(sketches, names))
    for function in made.functions or [made]:
        sketch = next(
            (each for each in sketches if names[each.name][each.name] == getattr(function, "name", "")), sketches[0]
        )
        ids = {name: value for value, name in names[sketch.name].items()}
        for entry in (*function.input, *function.output):
            entry.shortDescription = f"{sketch.name}.{ids[entry.name]}"
        function.predictedFeatureName = function.output[0].name
    return made


def told(description: ModelDescription) -> list[tuple[str, ...]]:
    return [
        (getattr(function, "name", ""), side, entry.name, entry.shortDescription)
        for function in description.functions or [description]
        for side in ("input", "output")
        for entry in getattr(function, side)
    ]


def predicted(description: ModelDescription) -> dict[str, str]:
    return {getattr(each, "name", ""): each.predictedFeatureName for each in description.functions or [description]}


def assert_follows(
    sketches: list[Sketch], old: dict[str, dict[str, str]], new: dict[str, dict[str, str]], shuffle: Any
) -> None:
    """The description of the old names becomes that of the new ones, each list in its old order, without a warning."""
    before, after = program(sketches, old), program(sketches, new, shuffle)
    first, description, expected = described(sketches, old), described(sketches, old), described(sketches, new)
    assert update(description, Version(interfaces(before), before), after, interfaces(after)).losses == []
    if first.functions and not expected.functions:  # one that lists an only function goes on to, if that is `main` now
        listed = expected.functions.add(name="main", predictedFeatureName=expected.predictedFeatureName)
        listed.input.extend(expected.input)
        listed.output.extend(expected.output)
    assert sorted(told(description)) == sorted(told(expected))
    assert [words for *_, words in told(description)] == [words for *_, words in told(first)]
    assert predicted(description) == predicted(expected)
    default = [new[each.name][each.name] for each in sketches if old[each.name][each.name] == first.defaultFunctionName]
    assert description.defaultFunctionName == "".join(default)


def named(sketches: list[Sketch]) -> dict[str, dict[str, str]]:
    return {each.name: {value: value for value in (each.name, *each.values)} for each in sketches}


@settings(deadline=None, max_examples=150)
@given(sketched(twins=True), st.data())
def test_names_change_in_any_way_at_once(sketches: list[Sketch], data: st.DataObject) -> None:
    """Swaps, names that another had, new ones: at one place, a value is what it was."""
    new = {}
    for each in sketches:
        names = data.draw(st.permutations([*each.values, "a", "b/c", "z"]))
        new[each.name] = {each.name: each.name, **dict(zip(each.values, names, strict=False))}
    assert_follows(sketches, named(sketches), new, lambda _: None)


@settings(deadline=None, max_examples=150)
@given(sketched(twins=False), st.data())
def test_names_change_while_all_is_put_in_another_order(sketches: list[Sketch], data: st.DataObject) -> None:
    """Some names are new, and inputs, outputs and operations are in another order."""
    new = named(sketches)
    for each in sketches:
        changed = data.draw(st.sets(st.sampled_from(each.values)))
        new[each.name].update({value: f"new {value}" for value in changed})
    assert_follows(sketches, named(sketches), new, data.draw(st.randoms(use_true_random=False)).shuffle)


@settings(deadline=None, max_examples=100)
@given(sketched(twins=True), st.data())
def test_functions_change_their_names(sketches: list[Sketch], data: st.DataObject) -> None:
    sketches = list({each._replace(name=""): each for each in sketches}.values())
    old, new = named(sketches), named(sketches)
    for each, name in zip(sketches, data.draw(st.permutations(["zulu", "alpha", "main", "f"])), strict=False):
        new[each.name][each.name] = name if data.draw(st.booleans()) else each.name
    assert_follows(sketches, old, new, lambda _: None)


# ---- cases by name

HEAD = "tensor<fp32, [1, 3, 8, 8]>"
COLORS = {"RGB": ImageFeatureType.RGB, "BGR": ImageFeatureType.BGR}
NAMES = {color: name for name, color in COLORS.items()}


def text(inputs: str, operations: str, outputs: str, name: str = "main") -> str:
    return f"program(1.3)\n{{\n    func {name}<ios18>({inputs}) {{\n{operations}\n        }} -> ({outputs});\n}}\n"


def pictures(*names: str) -> str:
    taken = ", ".join(f"{HEAD} {name}" for name in names)
    made = "\n".join(f"            {HEAD} h{n} = {OPERATIONS[n]}(x = {name});" for n, name in enumerate(names))
    summed = "\n".join(f"            {HEAD} y{n} = add(x = h0, y = h{n});" for n in range(len(names)))
    return text(taken, f"{made}\n{summed}", ", ".join(f"y{n}" for n in range(len(names))))


def image(description: ModelDescription, **colors: str) -> None:
    for entry in description.input:
        if entry.name in colors:
            entry.type.imageType.width = entry.type.imageType.height = 8
            entry.type.imageType.colorSpace = COLORS[colors[entry.name]]


def colors(path: Path) -> dict[str, str]:
    description = load(path).description
    assert description is not None
    return {
        entry.name: NAMES[entry.type.imageType.colorSpace] if entry.type.WhichOneof("Type") == "imageType" else "array"
        for entry in description.input
    }


def bundle(folder: Path, source: str, order: tuple[str, ...], **images: str) -> Path:
    """A compiled model: its text has the inputs sorted by name, its description in the order of the model."""
    made = folder / "C.mlmodelc"
    made.mkdir()
    (made / "model.mil").write_text(source)
    description = describe(miltext.parse(source))
    entries = {entry.name: type(entry).FromString(entry.SerializeToString()) for entry in description.input}
    del description.input[:]
    description.input.extend(entries[name] for name in order)
    image(description, **images)
    (made / "coremldata.bin").write_bytes(coremldata(description))
    return made


def package_of(folder: Path, source: str, **images: str) -> Path:
    path = folder / "model.mil"
    path.write_text(source)
    build(open_model(path), folder / "M.mlpackage")
    made = open_model(folder / "M.mlpackage")
    assert made.spec is not None
    image(made.spec.description, **images)
    made.save(folder / "M.mlpackage", force=True)
    return folder / "M.mlpackage"


def run(*arguments: object) -> str:
    result = CliRunner().invoke(command, [*map(str, arguments)])
    assert result.exit_code == 0, result.output
    return result.output


def test_a_compiled_model_keeps_its_images_and_their_order(tmp_path: Path) -> None:
    source = bundle(tmp_path, pictures("a_style", "z_photo"), ("z_photo", "a_style"), a_style="RGB")
    assert run("rename", source, "a_style", "r", "-o", tmp_path / "N.mlpackage") == "= input a_style -> r\n"
    assert colors(tmp_path / "N.mlpackage") == {"z_photo": "array", "r": "RGB"}
    inputs = load(tmp_path / "N.mlpackage").program.functions["main"].inputs
    assert [each.name for each in inputs] == ["z_photo", "r"]


RENAMES: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "several": ({"a": "rgb", "b": "bgr"}, {"rgb": "RGB", "bgr": "BGR", "c": "array"}),
    "swap": ({"a": "b", "b": "a"}, {"b": "RGB", "a": "BGR", "c": "array"}),
    "chain": ({"a": "b", "b": "z"}, {"b": "RGB", "z": "BGR", "c": "array"}),
    "round": ({"a": "b", "b": "c", "c": "a"}, {"b": "RGB", "c": "BGR", "a": "array"}),
    "to the end": ({"a": "x", "c": "w"}, {"x": "RGB", "b": "BGR", "w": "array"}),
}


@pytest.mark.parametrize("compiled", [False, True], ids=["package", "compiled"])
@pytest.mark.parametrize("case", RENAMES)
def test_several_names_at_once_in_a_text(case: str, compiled: bool, tmp_path: Path) -> None:
    changes, expected = RENAMES[case]
    names = ("a", "b", "c")
    images = {"a": "RGB", "b": "BGR"}
    source = (
        bundle(tmp_path, pictures(*names), ("c", "a", "b"), **images)
        if compiled
        else package_of(tmp_path, pictures(*names), **images)
    )
    edited = tmp_path / "edited.mil"
    edited.write_text(pictures(*(changes.get(name, name) for name in names)))
    shown = run("build", edited, "--from", source, "-o", tmp_path / "N.mlpackage")
    assert {*shown.splitlines()} == {f"= input {old} -> {new}" for old, new in changes.items()}
    assert colors(tmp_path / "N.mlpackage") == expected
    order = ("c", "a", "b") if compiled else names
    assert [*colors(tmp_path / "N.mlpackage")] == [changes.get(name, name) for name in order]


def test_a_description_follows_its_name_if_operands_are_swapped(tmp_path: Path) -> None:
    def difference(left: str, right: str) -> str:
        return text(f"{HEAD} a, {HEAD} b", f"            {HEAD} y = sub(x = {left}, y = {right});", "y")

    source = package_of(tmp_path, difference("a", "b"), a="RGB", b="BGR")
    (tmp_path / "edited.mil").write_text(difference("b", "a"))
    run("build", tmp_path / "edited.mil", "--from", source, "-o", tmp_path / "N.mlpackage")
    assert colors(tmp_path / "N.mlpackage") == {"a": "RGB", "b": "BGR"}


@pytest.mark.parametrize("more", ["", "edited", "probed", "reordered"])
def test_a_rename_beside_another_edit(more: str, tmp_path: Path) -> None:
    source = package_of(tmp_path, pictures("a", "b", "c"), a="RGB", b="BGR")
    edited = pictures("left", "b", "right")
    if more == "edited":
        edited = edited.replace("relu(x = left)", "tanh(x = left)").replace("y1 = add", "y1 = mul")
    if more == "probed":
        edited = edited.replace("(y0,", "(h1, y0,")
    if more == "reordered":
        edited = edited.replace(f"{HEAD} left, {HEAD} b, {HEAD} right", f"{HEAD} right, {HEAD} left, {HEAD} b")
    (tmp_path / "edited.mil").write_text(edited)
    shown = run("build", tmp_path / "edited.mil", "--from", source, "-o", tmp_path / "N.mlpackage")
    added = {"+ output h1: fp32 [1, 3, 8, 8]"} if more == "probed" else set()
    assert {*shown.splitlines()} == {"= input a -> left", "= input c -> right", *added}
    assert colors(tmp_path / "N.mlpackage") == {"left": "RGB", "b": "BGR", "right": "array"}


TRAINED = {  # the training inputs, the inputs in the edited text, and the training inputs after it
    "an input": (["a", "label"], ("x", "b"), ["x", "label"]),
    "both inputs": (["b", "a"], ("x", "y"), ["y", "x"]),
    "an exchange": (["a", "b"], ("b", "a"), ["b", "a"]),
    "the name of a value": (["a", "h0"], ("x", "b"), ["x", "h0"]),
    "no input": (["label"], ("x", "b"), ["label"]),
    "nothing": ([], ("x", "b"), []),
    "twice": (["a", "a"], ("x", "b"), ["x", "x"]),
}


def trained(source: Path, names: list[str]) -> Path:
    model = open_model(source)
    assert model.spec is not None
    for name in names:
        model.spec.description.trainingInput.add(name=name, shortDescription=f"trains {name}")
    model.save(source, force=True)
    return source


@pytest.mark.parametrize(("names", "edited", "expected"), TRAINED.values(), ids=TRAINED)
def test_training_inputs_follow_inputs(
    names: list[str], edited: tuple[str, str], expected: list[str], tmp_path: Path
) -> None:
    source = trained(package_of(tmp_path, pictures("a", "b")), names)
    (tmp_path / "edited.mil").write_text(pictures(*edited))
    run("build", tmp_path / "edited.mil", "--from", source, "-o", tmp_path / "N.mlpackage")
    description = load(tmp_path / "N.mlpackage").description
    assert description is not None
    assert [each.name for each in description.trainingInput] == expected
    assert [each.shortDescription for each in description.trainingInput] == [f"trains {name}" for name in names]


@pytest.mark.parametrize("names", [["a", "label"], ["label", "a"]])
def test_an_input_cannot_take_a_training_inputs_name(names: list[str], tmp_path: Path) -> None:
    source = trained(package_of(tmp_path, pictures("a", "b")), names)
    result = CliRunner().invoke(command, ["rename", str(source), "a", "label", "-o", str(tmp_path / "N.mlpackage")])
    assert result.exit_code == 1
    assert "MIL431" in result.output
    assert "`a` has a training input, and the model already has another one named `label`" in result.output
    assert not (tmp_path / "N.mlpackage").exists()


def test_training_inputs_follow_a_model_without_entries(tmp_path: Path) -> None:
    source = trained(package_of(tmp_path, pictures("a", "b")), ["a"])
    model = open_model(source)
    assert model.spec is not None
    model.spec.description.ClearField("input")
    model.spec.description.ClearField("output")
    model.save(source, force=True)
    run("rename", source, "a", "x", "-o", source, "--force")
    description = load(source).description
    assert description is not None
    assert [each.name for each in description.trainingInput] == ["x"]
    assert not description.input


@pytest.mark.parametrize(("default", "expected"), [("alpha", "x"), ("beta", "a")])
def test_training_inputs_follow_the_default_function(default: str, expected: str) -> None:
    def functions(name: str) -> Program:
        first, second = pictures(name, "b").splitlines()[2:-1], pictures("a", "b").splitlines()[2:-1]
        both = "\n".join([*first, *second]).replace("func main", "func alpha", 1).replace("func main", "func beta")
        return miltext.parse(f"program(1.3)\n{{\n{both}\n}}\n")

    old, new = functions("a"), functions("x")
    description = describe(old)
    description.defaultFunctionName = default
    description.trainingInput.add(name="a")
    update(description, Version(interfaces(old), old), new, interfaces(new))
    assert [each.name for each in description.trainingInput] == [expected]


def test_indistinguishable_features_are_replaced_and_reported(tmp_path: Path) -> None:
    def unused(*names: str) -> str:
        taken = ", ".join(f"{HEAD} {name}" for name in names)
        return text(f"{HEAD} x, {taken}", f"            {HEAD} y = relu(x = x);", "y")

    source = package_of(tmp_path, unused("a", "b"), a="RGB", b="BGR")
    (tmp_path / "edited.mil").write_text(unused("q", "p").replace("relu", "tanh"))
    shown = run("build", tmp_path / "edited.mil", "--from", source, "-o", tmp_path / "N.mlpackage")
    assert colors(tmp_path / "N.mlpackage") == {"x": "array", "q": "array", "p": "array"}
    assert shown.count("MIL450") == 2
    assert "had an image" in shown


def test_a_replacing_output_does_not_get_the_description(tmp_path: Path) -> None:
    source = package_of(tmp_path, pictures("a", "b"))
    model = open_model(source)
    assert model.spec is not None
    model.spec.description.output[0].shortDescription = "the sum"
    edited = pictures("a", "b").replace("(y0, y1)", "(h0, y1)")
    made = build(TextModel(edited.encode(), "m.mil", None), tmp_path / "N.mlpackage", original=model)
    description = load(tmp_path / "N.mlpackage").description
    assert description is not None
    assert [(each.name, each.shortDescription) for each in description.output] == [("y1", ""), ("h0", "")]
    assert [each.code for each in made] == ["MIL450"]


def test_a_model_changed_in_memory_keeps_its_files_name(tmp_path: Path) -> None:
    source = package_of(tmp_path, pictures("a", "b", "c"), a="RGB", b="BGR")
    model = load(source)
    function = model.program.functions["main"]
    block = function.block_specializations["CoreML8"]
    changes = {"a": "b", "b": "z"}
    for value in function.inputs:
        value.name = changes.get(value.name, value.name)
    for operation in block.operations:
        for argument in operation.inputs.values():
            for binding in argument.arguments:
                binding.name = changes.get(binding.name, binding.name)
    model.save(tmp_path / "N.mlpackage")
    assert colors(tmp_path / "N.mlpackage") == {"b": "RGB", "z": "BGR", "c": "array"}


def test_functions_of_a_text_are_renamed_with_their_descriptions(tmp_path: Path) -> None:
    def functions(*names: str) -> str:
        parts = [
            pictures(*letters).replace("func main", f"func {name}").replace("program(1.3)\n{\n", "")[:-2]
            for name, letters in zip(names, (("a", "b"), ("a", "b", "c")), strict=True)
        ]
        return "program(1.3)\n{\n" + "".join(parts) + "}\n"

    (tmp_path / "m.mil").write_text(functions("alpha", "beta"))
    run("build", tmp_path / "m.mil", "-o", tmp_path / "M.mlpackage")
    model = open_model(tmp_path / "M.mlpackage")
    assert model.spec is not None
    model.spec.description.functions[0].input[0].shortDescription = "kept"
    model.spec.description.defaultFunctionName = "alpha"
    for edit in (str, lambda it: it.replace("relu(x = a)", "tanh(x = a)")):
        edited = TextModel(edit(functions("zulu", "beta")).encode(), "m.mil", None)
        assert build(edited, tmp_path / "N.mlpackage", original=model, force=True) == []
        description = load(tmp_path / "N.mlpackage").description
        assert description is not None
        listed = [(each.name, each.input[0].shortDescription) for each in description.functions]
        assert (listed, description.defaultFunctionName) == ([("zulu", "kept"), ("beta", "")], "zulu")


@settings(max_examples=50, deadline=None)
@given(st.permutations(["f0", "f1", "f2"]))
def test_functions_exchange_their_names(names: list[str]) -> None:
    """Each that was there is there still, under a name that another had: its description goes with it."""
    sketches = [Sketch(f"f{n}", (n, 0), n + 1, twins=False) for n in range(3)]
    old, new = named(sketches), named(sketches)
    for each, name in zip(sketches, names, strict=True):
        new[each.name][each.name] = name
    assert_follows(sketches, old, new, lambda _: None)
