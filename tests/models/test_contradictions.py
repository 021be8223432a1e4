"""What Core ML refuses in a description is an error at its place, unless the original has it already."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from support.containers import pipeline, spec, suppression, write
from support.entries import array, image, model, named, text

import miltext
from miltext.building.build import prepare
from miltext.building.choices import BuildChoices
from miltext.building.new_model import NewModel
from miltext.containers.programs import TextModel
from miltext.containers.spec import SpecModel
from miltext.diagnostics import ModelError, line_and_column
from miltext.schema.proto import Model

Edit = Callable[[str], str]


def described(whole: SpecModel, edit: Edit, folder: Path, source: str | None = None) -> NewModel:
    """What a model, or a text in its place, becomes with its own description, edited."""
    written = edit(miltext.describe(whole))
    toml = write(folder / "d.toml", written.encode())
    program = whole if source is None else TextModel(source.encode(), "m.mil", None)
    return prepare(
        program, Path("N.mlpackage"), BuildChoices(original=None if program is whole else whole, description=toml)
    )


def mistakes(whole: SpecModel, edit: Edit, folder: Path, source: str | None = None) -> list[tuple[str, str, str]]:
    """The code, the line's text and the message of each mistake."""
    with pytest.raises(ModelError) as error:
        described(whole, edit, folder, source)
    lines = (folder / "d.toml").read_text(encoding="utf-8").split("\n")
    found = []
    for each in error.value.diagnostics:
        assert each.span is not None
        line, _ = line_and_column("\n".join(lines), each.span.start)
        found.append((each.code, lines[line - 1], each.message))
    return found


def in_memory(spec: Model) -> SpecModel:
    return SpecModel("mlmodel", "old", None, None, spec)


def replaced(before: str, after: str) -> Edit:
    def edit(written: str) -> str:
        assert before in written
        return written.replace(before, after, 1)

    return edit


def author(written: str) -> str:
    return f'{written}[metadata]\nauthor = "me"\n'


ANY = text("fp32 [1, 3, ?, ?]")
LABELLED = """program(1.3)
{
    func main<ios18>(tensor<fp32, [3]> x) {
            list<string, 3> classes = const()[name = string("classes"), val = list<string, 3>(["a", "b", "c"])];
            string label, dict<string, fp64> scores = classify(classes = classes, probabilities = x);
            tensor<fp32, [3]> y = relu(x = x)[name = string("y")];
        } -> (label, scores, y);
}
"""
TWO = "".join(f"func {name}<ios18>(fp32 x) {{ fp32 y = relu(x = x); }} -> (y);" for name in "fg").join(
    ("program(1.3) {", "}")
)


def tables() -> dict[str, SpecModel]:
    return {
        "images": model(ANY, image("RGB", 8, 8, sizes=[(8, 8), (16, 16)])),
        "arrays": model(ANY, array("fp32", 1, 3, 8, 8, shapes=[(1, 3, 8, 8), (1, 3, 9, 9)])),
        "bounded": model(ANY, array("fp32", 1, 3, 8, 8, ranges=[(1, 1), (3, 3), (2, 100), (8, 8)])),
        "labels": model(LABELLED),
        "functions": model(TWO),
        "pipeline": in_memory(pipeline(spec(), suppression(), names=("net", "nms"))),
        "classifier": in_memory(pipeline(spec(), suppression(), field="pipelineClassifier")),
    }


CASES: dict[str, list[tuple[str, str, str, str, str]]] = {
    "images": [
        ("[[8, 8], [16, 16]]", "[]", "MIL475", "enumeratedSizes = []", "`enumeratedSizes` of `x` is empty"),
        ("width = 8", "width = 9", "MIL477", "width = 9", "has the size [1, 3, 8, 9], which `enumeratedSizes` leaves"),
        (
            "enumeratedSizes = [[8, 8], [16, 16]]\n",
            "",
            "MIL452",
            "[[input]]",
            "any size in the dimension 2: add `width",
        ),
    ],
    "arrays": [
        ("[[1, 3, 8, 8], [1, 3, 9, 9]]", "[]", "MIL475", "enumeratedShapes = []", "`enumeratedShapes` of `x` is empty"),
        ("shape = [1, 3, 8", "shape = [1, 3, 7", "MIL477", "shape = [1, 3, 7, 8]", "has the size [1, 3, 7, 8], which"),
    ],
    "bounded": [
        (
            "[2, 100]",
            "[2, inf]",
            "MIL452",
            "shapeRange = [[1, 1], [3, 3], [2, inf], [8, 8]]",
            "no greatest size in the",
        ),
        ("[8, 8]]", "[8, -1]]", "MIL452", "shapeRange = [[1, 1], [3, 3], [2, 100], [8, -1]]", "in the dimension 3"),
    ],
    "labels": [
        (
            'FeatureName = "label"',
            'FeatureName = "y"',
            "MIL477",
            'predictedFeatureName = "y"',
            'type "multiArray": name',
        ),
        ('Name = "scores"', 'Name = "label"', "MIL477", 'predictedProbabilitiesName = "label"', 'the type "string"'),
        (
            "specificationVersion",
            "isUpdatable = true\nspecificationVersion",
            "MIL477",
            "isUpdatable = true",
            "leave out",
        ),
    ],
    "functions": [
        (
            "[[function]]",
            '[[input]]\nname = "x"\n[[function]]',
            "MIL475",
            "[[input]]",
            "write it as `[[function.input]]`",
        ),
        ('[[function]]\nname = "g"', '[[function]]\nname = "h"', "MIL476", 'name = "h"', "has no function `h`"),
    ],
    "pipeline": [
        ('name = "nms"', "", "MIL475", "[[model]]", "the stage 1 has no `name`, and others have one"),
        ('name = "net"', "", "MIL475", "[[model]]", "the stage 0 has no `name`, and others have one"),
        ('name = "nms"', 'name = "net"', "MIL475", 'name = "net"', "the stage 1 has the name `net` of another one"),
    ],
    "classifier": [
        (
            "specification",
            'predictedFeatureName = "z"\nspecification',
            "MIL476",
            'predictedFeatureName = "z"',
            "no output",
        ),
    ],
}


@pytest.mark.parametrize("case", [(kind, *case) for kind, cases in CASES.items() for case in cases])
def test_a_refusal_of_core_ml_is_at_its_line(case: tuple[str, str, str, str, str, str], tmp_path: Path) -> None:
    kind, before, after, code, line, message = case
    found = mistakes(tables()[kind], replaced(before, after), tmp_path)
    assert found[0][:2] == (code, line)
    assert message in found[0][2]


def unusual() -> dict[str, SpecModel]:
    """Models whose descriptions contradict themselves, or their programs, each in another way."""
    empty = model(ANY, image("RGB", 8, 8, sizes=[(8, 8)]))
    del empty.spec.description.input[0].type.imageType.enumeratedSizes.sizes[:]
    named_wrong, updatable = model(LABELLED), model(ANY, array("fp32", 1, 3, 8, 8, shapes=[(1, 3, 8, 8)]))
    named_wrong.spec.description.predictedProbabilitiesName = "y"
    updatable.spec.isUpdatable = True
    one_axis = named(image("RGB", 1, 1, [(1, -1), (1, -1)]), "y")
    return {
        "an image given out, as coremltools 9.0 writes it": model(text("fp32 [1, 3, 32, ?]"), outputs=[one_axis]),
        "without an end": model(ANY, array("fp32", 1, 3, 8, 8, ranges=[(1, 1), (3, 3), (1, -1), (8, 8)])),
        "no size listed": empty,
        "another size listed": model(ANY, image("RGB", 8, 8, sizes=[(9, 9)])),
        "an array for probabilities": named_wrong,
        "updatable": updatable,
        "one name of two": in_memory(pipeline(spec(), suppression(), names=("net",))),
        "one name for two": in_memory(pipeline(spec(), suppression(), names=("net", "net"))),
    }


@pytest.mark.parametrize("kind", unusual())
def test_faults_of_the_original_are_kept(kind: str, tmp_path: Path) -> None:
    old = unusual()[kind]
    before = Model.FromString(old.spec.SerializeToString())
    assert described(old, lambda written: written, tmp_path).spec == before
    before.description.metadata.author = "me"
    assert described(unusual()[kind], author, tmp_path).spec == before


def test_an_entry_is_held_to_the_program_that_is_new(tmp_path: Path) -> None:
    old = model(text("fp32 [1, 3, 8, 8]"), array("fp32", 1, 3, 8, 8))
    [found, *_] = mistakes(old, author, tmp_path, text("fp32 [1, 3, 8, 9]"))
    assert found[:2] == ("MIL477", "shape = [1, 3, 8, 8]")
    odd = model(text("fp32 [1, 3, 32, ?]"), outputs=[named(image("RGB", 1, 1, [(1, -1), (1, -1)]), "y")])
    assert described(odd, author, tmp_path, text("fp32 [1, 3, 32, ?]").replace("relu", "tanh")).spec.HasField(
        "mlProgram"
    )


def test_a_text_with_a_dimension_of_any_size_requests_its_range(tmp_path: Path) -> None:
    toml = write(tmp_path / "d.toml", miltext.describe(TextModel(ANY.encode(), "m.mil", None)).encode())
    with pytest.raises(ModelError, match=r"d.toml:\d+:\d+: error\[MIL452\].* write one, as in `\[1, 4\]`"):
        prepare(TextModel(ANY.encode(), "m.mil", None), Path("N.mlpackage"), BuildChoices(description=toml))


def test_a_range_that_loses_one_axis_is_reported_alone(tmp_path: Path) -> None:
    old = model(ANY, array("fp32", 1, 3, 8, 8, ranges=[(1, 1), (3, 3), (2, 100), (4, 64)]))
    one, both = (TextModel(text(f"fp32 [1, 3, {sizes}]").encode(), "m.mil", None) for sizes in ("8, ?", "8, 8"))
    [warning] = prepare(one, Path("N.mlpackage"), BuildChoices(original=old)).warnings
    assert warning.message.endswith("its description loses the range 2..100 of axis 2")
    [warning] = prepare(both, Path("N.mlpackage"), BuildChoices(original=old)).warnings
    assert warning.message.endswith("its description loses the ranges [1, 3, 2..100, 4..64]")
