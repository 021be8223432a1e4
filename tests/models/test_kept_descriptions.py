"""An entry of a description keeps all that fits the new type of what it describes; what it loses is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.containers import coremldata, refused
from support.entries import Built, array, built, image, model, named, text

import miltext
import miltext.building.editing
from miltext.containers.opening import open_model
from miltext.containers.spec import SpecModel
from miltext.printing.coremlc import as_coremlc
from miltext.schema.features import ELEMENTS
from miltext.schema.proto import FeatureDescription


class Kept(NamedTuple):
    """An entry of an input of one type, the entry that it becomes with another, and what is told to be lost."""

    entry: FeatureDescription
    old: str
    new: str
    expected: FeatureDescription
    lost: str = ""


RANGES = [(1, 1), (2, 8)]
KEPT = {
    # Images.
    "an image of another size": Kept(
        image("RGB", 224, 224), "fp32 [1, 3, 224, 224]", "fp32 [1, 3, 256, 320]", image("RGB", 256, 320)
    ),
    "an image of a single row": Kept(image("BGR", 8, 8), "fp32 [1, 3, 8, 8]", "fp32 [1, 3, 1, 8]", image("BGR", 1, 8)),
    "a gray one": Kept(image("GRAY", 8, 8), "fp32 [1, 1, 8, 8]", "fp32 [1, 1, 9, 8]", image("GRAY", 9, 8)),
    "a gray one of floats": Kept(
        image("GRAY16", 8, 8), "fp16 [1, 1, 8, 8]", "fp16 [1, 1, 9, 8]", image("GRAY16", 9, 8)
    ),
    "one that says no colors": Kept(image("", 8, 8), "fp32 [1, 3, 8, 8]", "fp32 [1, 3, 9, 8]", image("", 9, 8)),
    "of another data type": Kept(image("RGB", 8, 8), "fp32 [1, 3, 8, 8]", "fp16 [1, 3, 8, 8]", image("RGB", 8, 8)),
    "a range of an image stays": Kept(
        image("RGB", 64, 32, [(16, 512), (32, 32)]),
        "fp32 [1, 3, ?, 32]",
        "fp32 [1, 3, ?, 48]",
        image("RGB", 64, 48, [(16, 512), (48, 48)]),
    ),
    "a range of an image becomes a size": Kept(
        image("RGB", 64, 64, [(16, 512), (16, 512)]),
        "fp32 [1, 3, ?, ?]",
        "fp32 [1, 3, ?, 48]",
        image("RGB", 64, 48, [(16, 512), (48, 48)]),
        "the range 16..512 of axis 3",
    ),
    "all ranges of an image become sizes": Kept(
        image("RGB", 64, 64, [(16, 512), (16, 512)]),
        "fp32 [1, 3, ?, ?]",
        "fp32 [1, 3, 32, 48]",
        image("RGB", 32, 48),
        "the ranges [1, 3, 16..512, 16..512]",
    ),
    "enumerated sizes of which the program knows nothing": Kept(
        image("RGB", 8, 8, sizes=[(8, 8), (16, 16)]),
        "fp32 [1, 3, 8, 8]",
        "fp32 [1, 3, 16, 16]",
        image("RGB", 16, 16, sizes=[(8, 8), (16, 16)]),
    ),
    "enumerated sizes without the new one": Kept(
        image("RGB", 8, 8, sizes=[(8, 8), (16, 16)]),
        "fp32 [1, 3, 8, 8]",
        "fp32 [1, 3, 32, 32]",
        image("RGB", 32, 32),
        "the enumerated shapes [1, 3, 8, 8], [1, 3, 16, 16]",
    ),
    "enumerated sizes by their height": Kept(
        image("RGB", 8, 9, sizes=[(8, 9), (16, 9)]),
        "fp32 [1, 3, ?, 9]",
        "fp32 [1, 3, ?, 7]",
        image("RGB", 8, 7, sizes=[(8, 7), (16, 7)]),
    ),
    "a range around what the program states": Kept(
        image("RGB", 8, 8, [(4, 64), (4, 64)]),
        "fp32 [1, 3, 8, 8]",
        "fp32 [1, 3, 16, 16]",
        image("RGB", 16, 16, [(4, 64), (4, 64)]),
    ),
    # Sizes of arrays.
    "an array of another shape": Kept(array("fp32", 2, 3), "fp32 [2, 3]", "fp32 [4]", array("fp32", 4)),
    "an array of one element": Kept(array("fp32", 1), "fp32", "fp32 [2]", array("fp32", 2)),
    "an array that becomes a scalar": Kept(array("fp32", 2), "fp32 [2]", "fp32", array("fp32", 1)),
    "a range stays with its axis": Kept(
        array("fp32", 3, 4, ranges=[(3, 3), (2, 8)]),
        "fp32 [3, ?]",
        "fp32 [5, ?]",
        array("fp32", 5, 4, ranges=[(5, 5), (2, 8)]),
    ),
    "one of two ranges": Kept(
        array("fp32", 1, 4, ranges=[(1, 9), (2, 8)]),
        "fp32 [?, ?]",
        "fp32 [?, 8]",
        array("fp32", 1, 8, ranges=[(1, 9), (8, 8)]),
        "the range 2..8 of axis 1",
    ),
    "a range of another rank": Kept(
        array("fp32", 1, 4, ranges=RANGES), "fp32 [1, ?]", "fp32 [8]", array("fp32", 8), "the ranges [1, 2..8]"
    ),
    "ranges that say nothing": Kept(
        array("fp32", 1, 4, ranges=[(1, 1), (4, 4)]),
        "fp32 [1, 4]",
        "fp32 [1, 5]",
        array("fp32", 1, 5, ranges=[(1, 1), (5, 5)]),
    ),
    "a range without an end stays": Kept(
        array("fp32", 1, 4, ranges=[(1, 1), (2, -1)]),
        "fp32 [1, ?]",
        "fp32 [3, ?]",
        array("fp32", 3, 4, ranges=[(3, 3), (2, -1)]),
    ),
    "enumerated shapes that the new one allows": Kept(
        array("fp32", 1, 4, shapes=[[1, 4], [1, 8], [2, 8]]),
        "fp32 [?, ?]",
        "fp32 [?, 8]",
        array("fp32", 1, 8, shapes=[[1, 8], [2, 8]]),
        "1 of the enumerated shapes [1, 4], [1, 8], [2, 8]",
    ),
    "enumerated shapes with another size beside": Kept(
        array("fp32", 1, 4, shapes=[[1, 4], [1, 8]]),
        "fp32 [1, ?]",
        "fp32 [2, ?]",
        array("fp32", 2, 4, shapes=[[2, 4], [2, 8]]),
    ),
    "a single enumerated shape is left": Kept(
        array("fp32", 1, 4, shapes=[[1, 4], [1, 8]]),
        "fp32 [1, ?]",
        "fp32 [1, 8]",
        array("fp32", 1, 8),
        "the enumerated shapes [1, 4], [1, 8]",
    ),
    # Data types and default values.
    "a data type with ranges": Kept(
        array("fp32", 1, 4, ranges=RANGES), "fp32 [1, ?]", "fp16 [1, ?]", array("fp16", 1, 4, ranges=RANGES)
    ),
    "a data type with enumerated shapes": Kept(
        array("fp32", 1, 4, shapes=[[1, 4], [1, 8]]),
        "fp32 [1, ?]",
        "int32 [1, ?]",
        array("int32", 1, 4, shapes=[[1, 4], [1, 8]]),
    ),
    "a default and another shape": Kept(
        array("fp32", 2, float=0.1), "fp32 [2]", "fp32 [3]", array("fp32", 3, float=0.1)
    ),
    "a default that fp16 has": Kept(array("fp32", 2, float=0.5), "fp32 [2]", "fp16 [2]", array("fp16", 2, float=0.5)),
    "a default that int32 has": Kept(array("fp32", 2, float=-3), "fp32 [2]", "int32 [2]", array("int32", 2, int=-3)),
    "a default that fp32 has": Kept(array("int32", 2, int=7), "int32 [2]", "fp32 [2]", array("fp32", 2, float=7)),
    "a default of fp64": Kept(array("fp32", 2, float=0.1), "fp32 [2]", "fp64 [2]", array("fp64", 2, double=0.1)),
    "a default that is infinite": Kept(
        array("fp32", 2, float=float("inf")), "fp32 [2]", "fp16 [2]", array("fp16", 2, float=float("inf"))
    ),
    "a state's type": Kept(array("fp32", 2), "fp32 [2]", "fp16 [2]", array("fp16", 2)),
}
KEPT["a default of fp64"].expected.type.multiArrayType.doubleDefaultValue = 0.10000000149011612


@pytest.mark.parametrize("case", KEPT)
def test_fitting_entries_are_kept(case: str) -> None:
    entry, old, new, expected, lost = KEPT[case]
    made = built(text(new), model(text(old), entry))
    assert made.input == expected
    told = f"MIL450 the type of the input `x` changed, and its description loses {lost}"
    assert made.warnings == ([told] if lost else [])
    assert any(line.startswith("~ input x: ") for line in made.changes) == (entry != expected)


def test_an_image_keeps_a_data_type_that_others_do_not_have() -> None:
    """coremltools makes uint8 of gray images if it is asked to."""

    def casting(size: int) -> str:
        kinds = [f"tensor<{dtype}, [1, 1, {size}, 8]>" for dtype in ("uint8", "fp32")]
        source = text(f"fp32 [1, 1, {size}, 8]").replace("relu(x = x)", 'cast(dtype = string("fp32"), x = x)')
        return source.replace(f"({kinds[1]} x)", f"({kinds[0]} x)")

    old = model(text("fp32 [1, 1, 8, 8]"), image("GRAY", 8, 8))
    spec = old.spec
    spec.mlProgram.CopyFrom(miltext.parse(casting(8)))
    made = built(casting(9), SpecModel("mlmodel", "old", None, None, spec))
    assert made.input == image("GRAY", 9, 8)


LOST_DEFAULTS = [
    ("fp16", array("fp32", 2, float=70000), "70000"),
    ("int32", array("fp32", 2, float=0.5), "0.5"),
    ("int32", array("fp32", 2, float=float("nan")), "nan"),
    ("int32", array("fp32", 2, float=3e9), "3e+09"),
    ("int8", array("fp32", 2, float=200), "200"),
]


@pytest.mark.parametrize(("dtype", "entry", "number"), LOST_DEFAULTS)
def test_a_default_that_is_not_exact_is_lost_and_reported(dtype: str, entry: FeatureDescription, number: str) -> None:
    made = built(text(f"{dtype} [2]"), model(text("fp32 [2]"), entry))
    assert made.input.type.multiArrayType.WhichOneof("defaultOptionalValue") is None
    assert made.input.type.isOptional
    assert made.warnings == [
        f"MIL450 the type of the input `x` changed, and its description loses the default value {number}"
    ]
    with refused("MIL454", f"the default value {number}", "`no_loss=True`"):
        built(text(f"{dtype} [2]"), model(text("fp32 [2]"), entry), no_loss=True)


ROUNDED_DEFAULTS = [
    ("fp32", 0.1, "fp16", "0.100000001", "0.0999755859"),
    ("fp32", 1e-9, "fp16", "9.99999972e-10", "0"),
    ("fp32", 65519.0, "fp16", "65519", "65504"),
]


@pytest.mark.parametrize(("before", "number", "dtype", "said", "rounded"), ROUNDED_DEFAULTS)
def test_a_default_is_rounded_and_reported(before: str, number: float, dtype: str, said: str, rounded: str) -> None:
    entry = array(before, 2, float=number)
    made = built(text(f"{dtype} [2]"), model(text(f"{before} [2]"), entry))
    assert made.warnings == [f"MIL450 the type of the input `x` changed: the default value {said} becomes {rounded}"]
    assert made.input.type.multiArrayType.floatDefaultValue == pytest.approx(float(rounded))
    assert made.input.type.isOptional
    again = built(text(f"{dtype} [2]"), model(text(f"{before} [2]"), entry), no_loss=True)
    assert again.input == made.input


def test_two_losses_are_one_warning() -> None:
    entry = array("fp32", 1, 4, ranges=RANGES, float=0.5)
    made = built(text("int32 [1, 4]"), model(text("fp32 [1, ?]"), entry))
    assert made.warnings[0].endswith("loses the default value 0.5 and the ranges [1, 2..8]")


@pytest.mark.parametrize(
    ("colors", "new", "way"),
    [
        ("RGB", "fp32 [1, 4, 8, 8]", "make it a tensor<fp32, [1, 3, HEIGHT, WIDTH]>"),
        ("RGB", "fp32 [2, 3, 8, 8]", "make it a tensor<fp32, [1, 3, HEIGHT, WIDTH]>"),
        ("RGB", "fp32 [1, 8, 8, 3]", "make it a tensor<fp32, [1, 3, HEIGHT, WIDTH]>"),
        ("RGB", "fp32 [3, 8, 8]", "make it a tensor<fp32, [1, 3, HEIGHT, WIDTH]>"),
        ("RGB", "fp32", "make it a tensor<fp32, [1, 3, HEIGHT, WIDTH]>"),
        ("RGB", "int32 [1, 3, 8, 8]", "make it a tensor<fp32, [1, 3, HEIGHT, WIDTH]>"),
        ("RGB", "fp32 [?, 3, 8, 8]", "make it a tensor<fp32, [1, 3, HEIGHT, WIDTH]>"),
        ("GRAY", "fp32 [1, 3, 8, 8]", "make it a tensor<fp32, [1, 1, HEIGHT, WIDTH]>"),
        ("GRAY16", "bool", "make it a tensor<fp32, [1, 1, HEIGHT, WIDTH]>"),
    ],
)
def test_a_feature_that_stops_being_an_image_is_refused(colors: str, new: str, way: str) -> None:
    channels = 1 if "GRAY" in colors else 3
    old = model(text(f"fp32 [1, {channels}, 8, 8]"), image(colors, 8, 8))
    with pytest.raises(miltext.MiltextError) as failure:
        built(text(new), old)
    shown = str(failure.value)
    assert "m.mil:3:22: error[MIL424]: the input `x` of `main` is described as an image of " in shown
    assert way in shown
    assert "`description=`" in shown


# ---- the oracle: coremltools' own edits


def test_images_equal_those_of_coremltools(tmp_path: Path) -> None:
    coremltools = pytest.importorskip("coremltools")
    from coremltools.models.neural_network import flexible_shape_utils

    old = model(text("fp32 [1, 3, 8, 8]"), image("RGB", 8, 8))
    spec = coremltools.proto.Model_pb2.Model.FromString(old.spec.SerializeToString())
    feature = spec.description.input[0]
    feature.type.imageType.width, feature.type.imageType.height = 320, 256
    made = built(text("fp32 [1, 3, 256, 320]"), old)
    assert made.input.SerializeToString() == feature.SerializeToString()
    limits = flexible_shape_utils.NeuralNetworkImageSizeRange((64, 512), (32, 640))
    flexible_shape_utils.update_image_size_range(spec, "x", limits)
    asked = built(text("fp32 [1, 3, ?, ?]"), made_of(made), ranges={"x": "1,3,64..512,32..640"})
    assert asked.input.SerializeToString() == feature.SerializeToString()


def test_arrays_equal_those_of_coremltools() -> None:
    coremltools = pytest.importorskip("coremltools")
    from coremltools.models.neural_network import flexible_shape_utils

    old = model(text("fp32 [1, 4]"), array("fp32", 1, 4, float=2))
    spec = coremltools.proto.Model_pb2.Model.FromString(old.spec.SerializeToString())
    flexible_shape_utils.set_multiarray_ndshape_range(spec, "x", [1, 2], [1, 8])
    asked = built(text("fp32 [1, ?]"), old, ranges={"x": "1,2..8"})
    assert asked.input.SerializeToString() == spec.description.input[0].SerializeToString()
    spec.description.input[0].type.multiArrayType.dataType = ELEMENTS["int32"]
    spec.description.input[0].type.multiArrayType.intDefaultValue = 2
    made = built(text("int32 [1, ?]"), made_of(asked))
    assert made.input.SerializeToString() == spec.description.input[0].SerializeToString()


def made_of(made: Built) -> SpecModel:
    return SpecModel("mlmodel", "made", None, None, made.spec)


# ---- ranges that are asked for


@pytest.mark.parametrize(
    ("new", "ranges", "expected"),
    [
        ("fp32 [1, ?]", "1,2..8", array("fp32", 1, 4, ranges=[(1, 1), (2, 8)])),
        ("fp32 [1, ?]", "?,2..8", array("fp32", 1, 4, ranges=[(1, 1), (2, 8)])),
        ("fp32 [1, ?]", [1, (2, 8)], array("fp32", 1, 4, ranges=[(1, 1), (2, 8)])),
        ("fp32 [1, ?]", "1,5..8", array("fp32", 1, 5, ranges=[(1, 1), (5, 8)])),
        ("fp32 [1, ?]", "1,1..3", array("fp32", 1, 3, ranges=[(1, 1), (1, 3)])),
        ("fp32 [1, ?]", "1,6", array("fp32", 1, 6)),
        ("fp16 [?, 2, ?]", "2..3,2,4..5", array("fp16", 2, 2, 4, ranges=[(2, 3), (2, 2), (4, 5)])),
        ("fp32 [1, 4]", "1,4", array("fp32", 1, 4)),
        ("fp32 [1, 4]", "?,?", array("fp32", 1, 4)),
        ("fp32", "[]", array("fp32", 1)),
    ],
)
def test_a_range_requested(new: str, ranges: Any, expected: FeatureDescription) -> None:
    old = model(text("fp32 [1, 4]"), array("fp32", 1, 4))
    made = built(text(new), old, ranges={"x": ranges})
    assert made.input == expected
    assert made.warnings == []
    alone = built(text(new), None, ranges={"x": ranges}).input
    assert list(alone.type.multiArrayType.shapeRange.sizeRanges) == list(
        expected.type.multiArrayType.shapeRange.sizeRanges
    )


def test_a_range_replaces_enumerated_shapes_by_itself() -> None:
    old = model(text("fp32 [1, ?]"), array("fp32", 1, 4, shapes=[[1, 4], [1, 8]]))
    made = built(text("fp32 [1, ?]"), old, ranges={"x": "1,2..8"}, no_loss=True)
    assert made.input == array("fp32", 1, 4, ranges=RANGES)
    assert made.changes == ["~ input x: shapes [1, 4] or [1, 8] -> none, sizes none -> [1, 2..8]"]


@pytest.mark.parametrize(
    ("ranges", "code", "saying"),
    [
        ({"z": "1,2"}, "MIL425", "sizes are given for `z`, but no input has this name"),
        ({"X": "1,2"}, "MIL425", "did you mean `x`?"),
        ({"y": "1,2"}, "MIL425", "no input has this name"),
        ({"x": "2..8"}, "MIL425", "one for each of its 2 axes is needed"),
        ({"x": "2,2..8"}, "MIL425", "the program allows only 1 at axis 0"),
        ({"x": "1..2,2..8"}, "MIL425", "the program allows only 1 at axis 0"),
        ({"x": "1,?"}, "MIL425", "a range needs an end"),
        ({"x": "1,2.."}, "MIL425", "a range needs an end"),
        ({"x": "1,0..4"}, "MIL425", "a size is 1 or more at axis 1"),
        ({"x": "1,4..2"}, "MIL434", "begins above its end"),
        ({"x": ""}, "MIL434", "has no sizes"),
        ({"x": [1, (2, 3, 4)]}, "MIL434", "are not sizes"),
        ({}, "MIL452", '`ranges={"x": "1,LEAST..GREATEST"}`'),
    ],
)
def test_a_range_that_does_not_fit_is_refused(ranges: Any, code: str, saying: str) -> None:
    for original in (None, model(text("fp32 [1, 4]"), array("fp32", 1, 4))):
        with pytest.raises(miltext.MiltextError) as failure:
            built(text("fp32 [1, ?]"), original, ranges=ranges)
        assert f"error[{code}]" in str(failure.value)
        assert saying in str(failure.value)


def test_a_range_of_a_feature_without_sizes_is_refused() -> None:
    with pytest.raises(miltext.MiltextError, match=r"MIL425.*`s` of `main`, which is not an array"):
        built(text("fp32 [2]").replace("[2]> x)", "[2]> x, string s)"), None, ranges={"s": "[]"})


def test_sizes_are_for_each_function_that_allows_them() -> None:
    def function(name: str, shape: str) -> str:
        kind = f"tensor<fp32, [{shape}]>"
        return f"func {name}<ios18>({kind} x) {{ {kind} y = relu(x = x); }} -> (y);"

    source = f"program(1.3) {{ {function('one', '1, ?')} {function('two', '1, 4')} {function('three', '1, ?')} }}"
    made = built(source, None, ranges={"x": "1,2..8"}).spec.description
    ranged = {each.name: len(each.input[0].type.multiArrayType.shapeRange.sizeRanges) for each in made.functions}
    assert ranged == {"one": 2, "two": 0, "three": 2}
    with pytest.raises(miltext.MiltextError, match=r"MIL425.*of `one`, whose shape is \[1, \?\]"):
        built(source, None, ranges={"x": "2,2..8"})


def test_coremltools_refuses_a_range_without_an_end(tmp_path: Path) -> None:
    """What MIL452 is on: coremltools' converter refuses an input of an ML Program without a greatest size."""
    coremltools = pytest.importorskip("coremltools")
    from coremltools.converters.mil import Builder
    from coremltools.converters.mil.mil import get_new_symbol

    @Builder.program(input_specs=[Builder.TensorSpec(shape=(1, get_new_symbol()))])  # type: ignore[untyped-decorator]
    def program(x: Any) -> Any:
        return Builder.relu(x=x)

    shape = coremltools.Shape(shape=(1, coremltools.RangeDim(1, -1)))
    with pytest.raises(ValueError, match="infinite upper_bound is not allowed"):
        coremltools.convert(program, inputs=[coremltools.TensorType(name="x", shape=shape)], skip_model_load=True)


# ---- compiled models


def compiled(folder: Path, source: str, entry: FeatureDescription, *, is_described: bool) -> Any:
    """What Apple's compiler would make of a model with this entry, as far as is known."""
    old = model(source, entry)
    made = folder / f"{is_described}.mlmodelc"
    made.mkdir()
    (made / "model.mil").write_text(as_coremlc(old.program, 9, old.spec.description))
    if is_described:
        (made / "coremldata.bin").write_bytes(coremldata(old.spec.description))
    return open_model(made)


def test_a_compiled_model_keeps_fitting_entries(tmp_path: Path) -> None:
    old = compiled(tmp_path, text("fp32 [1, 3, 8, 8]"), image("RGB", 8, 8), is_described=True)
    made = built(text("fp32 [1, 3, 16, 8]", "photo"), old)
    assert made.input == named(image("RGB", 16, 8), "photo")
    assert made.changes[:2] == ["= input x -> photo", "~ input photo: height 8 -> 16"]


@pytest.mark.filterwarnings("ignore:.*is unproven")
@pytest.mark.parametrize("said", [{"ranges": RANGES}, {"shapes": [[1, 4], [1, 8]]}], ids=["ranges", "shapes"])
def test_compiled_model_that_lost_its_description_reports_sizes(said: Any, tmp_path: Path) -> None:
    entry = array("fp32", 1, 4, **said)
    old = compiled(tmp_path, text("fp32 [1, ?]"), entry, is_described=False)
    made = built(old.text, old).input
    assert made.type == entry.type
    alone = built(old.text, None).input
    assert alone.type == entry.type
    renamed = miltext.building.editing.rename(old.text, "x", "z")
    assert built(renamed, old).input.type == entry.type
    assert built(renamed, old).input.name == "z"
    asked = built(old.text, old, ranges={"x": "1,3..5"}).input.type.multiArrayType
    assert [each.lowerBound for each in asked.shapeRange.sizeRanges] == [1, 3]
    bare = text("fp32 [1, ?]")
    with refused("MIL452"):
        built(bare, old)
