"""What a description says of inputs: flexible sizes, defaults of optional ones, and pictures."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import miltext
from miltext import Evaluator, MiltextError
from miltext.evaluation.pictures import picture_of, read_picture
from miltext.schema.proto import FeatureDescription, ImageFeatureType

TEXT = """program(1.3)
{
    func main<ios18>(tensor<fp32, [1, ?, 4, ?]> x) {
            tensor<fp32, [1, ?, 4, ?]> y = relu(x = x);
        } -> (y);
}
"""


def described(folder: Path, text: str = TEXT) -> tuple[miltext.Model, FeatureDescription]:
    """A model, and what its description says of its first input."""
    source = folder / "model.mil"
    source.write_text(text, encoding="utf-8")
    sizes = text[text.index("[") : text.index("]")].replace("?", "1..9")
    miltext.build(miltext.load(source), folder / "Model.mlpackage", force=True, ranges={"x": f"{sizes}]"})
    model = miltext.load(folder / "Model.mlpackage")
    assert model.description is not None
    first = model.description.functions[0] if model.description.functions else model.description
    entry = first.input[0]
    entry.type.multiArrayType.ClearField("ShapeFlexibility")
    return model, entry


# ---- flexible sizes


def ranges(entry: FeatureDescription) -> None:
    entry.type.multiArrayType.shape[:] = [1, 2, 4, 3]
    for least, most in [(1, 1), (2, 8), (4, 4), (3, -1)]:
        entry.type.multiArrayType.shapeRange.sizeRanges.add(lowerBound=least, upperBound=most)


def shapes(entry: FeatureDescription) -> None:
    entry.type.multiArrayType.shape[:] = [1, 2, 4, 3]
    for sizes in [(1, 3, 4, 5), (1, 2, 4, 3), (1, 8, 4, 4)]:
        entry.type.multiArrayType.enumeratedShapes.shapes.add(shape=sizes)


def fixed(entry: FeatureDescription) -> None:
    entry.type.multiArrayType.shape[:] = [1, 2, 4, 3]


@pytest.mark.parametrize(
    ("kind", "allowed", "refused", "says"),
    [
        (ranges, [(2, 3), (8, 3), (5, 1000)], [(1, 3), (9, 3), (2, 2)], r"[1, 2 to 8, 4, 3 or more]"),
        (shapes, [(3, 5), (2, 3), (8, 4)], [(3, 4), (2, 5), (1, 1)], "[1, 3, 4, 5], [1, 2, 4, 3] or [1, 8, 4, 4]"),
        (fixed, [(2, 3)], [(3, 3), (2, 4)], "allows [1, 2, 4, 3]"),
    ],
)
def test_the_description_allows_the_size(
    kind: Any, allowed: list[tuple[int, int]], refused: list[tuple[int, int]], says: str, tmp_path: Path
) -> None:
    model, entry = described(tmp_path)
    kind(entry)
    evaluator = Evaluator(model)
    assert evaluator.features["x"].default == (1, 2, 4, 3)
    for one, other in allowed:
        assert evaluator.run({"x": np.ones((1, one, 4, other))})["y"].shape == (1, one, 4, other)
    for one, other in refused:
        with pytest.raises(MiltextError) as caught:
            evaluator.run({"x": np.ones((1, one, 4, other))})
        assert [each.code for each in caught.value.diagnostics] == ["MIL833"]
        assert says in str(caught.value)
    with pytest.raises(MiltextError, match="but it takes"):
        evaluator.run({"x": np.ones((1, 2, 5, 3))})  # which the program does not


def test_a_message_lists_the_first_of_many_shapes(tmp_path: Path) -> None:
    model, entry = described(tmp_path)
    for size in range(1, 100):
        entry.type.multiArrayType.enumeratedShapes.shapes.add(shape=[1, size, 4, size])
    with pytest.raises(MiltextError, match=r"\[1, 6, 4, 6\] or 93 others"):
        Evaluator(model).run({"x": np.ones((1, 1, 4, 2))})


RANGES = """[FlexibleShapeInformation = tuple<tuple<string, dict<string, tensor<int32, [?]>>>, tuple<string, \
dict<string, list<tensor<int32, [2]>, ?>>>>((("DefaultShapes", {{"x", [1, 2, 4, 3]}}), \
("RangeDims", {{"x", [[1, 1], [2, 8], [4, 4], [3, -1]]}})))]"""
SHAPES = """[FlexibleShapeInformation = tuple<tuple<string, dict<string, tensor<int32, [?]>>>, tuple<string, \
dict<string, dict<string, tensor<int32, [?]>>>>>((("DefaultShapes", {{"x", [1, 2, 4, 3]}}), \
("EnumeratedShapes", {{"543d0f94", {{"x", [1, 3, 4, 5]}}}, {"9e38c1a4", {{"x", [1, 2, 4, 3]}}}})))]"""


@pytest.mark.parametrize(("attribute", "allowed"), [(RANGES, (5, 1000)), (SHAPES, (3, 5))])
def test_the_text_of_a_compiled_model_has_sizes_too(attribute: str, allowed: tuple[int, int]) -> None:
    text = TEXT.replace("x) {", f"x) {attribute} {{")
    evaluator = Evaluator(text)
    assert evaluator.features["x"].default == (1, 2, 4, 3)
    for one, other in [(2, 3), allowed]:
        assert evaluator.run({"x": np.ones((1, one, 4, other))})["y"].shape == (1, one, 4, other)
    with pytest.raises(MiltextError, match="the description allows"):
        evaluator.run({"x": np.ones((1, 1, 4, 1))})


def test_an_attribute_of_another_form_is_left_aside() -> None:
    text = TEXT.replace("x) {", 'x) [FlexibleShapeInformation = string("any")] {')
    assert Evaluator(text).run({"x": np.ones((1, 1, 4, 1))})["y"].shape == (1, 1, 4, 1)


def test_a_text_that_is_silent_takes_any_size() -> None:
    evaluator = Evaluator(TEXT)
    assert evaluator.features["x"].default is None
    for sizes in [(1, 1, 4, 1), (1, 0, 4, 7), (1, 30, 4, 2)]:
        assert evaluator.run({"x": np.ones(sizes)})["y"].shape == sizes


def test_each_function_has_features_of_its_own(tmp_path: Path) -> None:
    two = TEXT.replace("main", "one") + TEXT.replace("main", "two")
    two = two.replace("}\nprogram(1.3)\n{", "")
    model, _ = described(tmp_path, two)
    assert model.description is not None
    for function, size in zip(model.description.functions, (2, 5), strict=True):
        array = function.input[0].type.multiArrayType
        array.ClearField("ShapeFlexibility")
        array.shape[:] = [1, size, 4, 1]
    for name, size in [("one", 2), ("two", 5)]:
        assert Evaluator(model, name).features["x"].default == (1, size, 4, 1)


# ---- optional inputs


@pytest.mark.parametrize(
    ("member", "value"), [("intDefaultValue", 3), ("floatDefaultValue", 0.5), ("doubleDefaultValue", 2)]
)
def test_an_optional_input_that_is_left_out_has_its_default(member: str, value: float, tmp_path: Path) -> None:
    model, entry = described(tmp_path)
    fixed(entry)
    entry.type.isOptional = True
    setattr(entry.type.multiArrayType, member, value)
    evaluator = Evaluator(model)
    np.testing.assert_array_equal(evaluator.run({})["y"], np.full((1, 2, 4, 3), value))
    np.testing.assert_array_equal(evaluator.run({"x": np.ones((1, 2, 4, 3))})["y"], np.ones((1, 2, 4, 3)))


@pytest.mark.parametrize(("optional", "value"), [(True, None), (False, 1.0)])
def test_an_input_without_both_is_missing(optional: bool, value: float | None, tmp_path: Path) -> None:
    model, entry = described(tmp_path)
    fixed(entry)
    entry.type.isOptional = optional
    if value is not None:
        entry.type.multiArrayType.floatDefaultValue = value
    with pytest.raises(MiltextError, match="the input `x` is missing"):
        Evaluator(model).run({})


@pytest.mark.parametrize(
    ("shape", "value", "code"),
    [
        ((1, 2, 5, 3), 1.0, "MIL833"),
        ((1, -2, 4, 3), 1.0, "MIL833"),
        ((1, 2, -4, 3), 1.0, "MIL833"),
        ((1, 2, 4, 3), 1e39, "MIL834"),
    ],
)
def test_a_default_that_the_program_does_not_take_is_reported(
    shape: tuple[int, ...], value: float, code: str, tmp_path: Path
) -> None:
    model, entry = described(tmp_path)
    entry.type.multiArrayType.shape[:] = shape
    entry.type.isOptional = True
    entry.type.multiArrayType.doubleDefaultValue = value
    with pytest.raises(MiltextError, match="the default of the input `x`") as caught:
        Evaluator(model).run({})
    assert [each.code for each in caught.value.diagnostics] == [code]


# ---- pictures

IMAGE = TEXT.replace("[1, ?, 4, ?]", "[1, 3, 4, 5]")
GRAY = TEXT.replace("[1, ?, 4, ?]", "[1, 1, 4, 5]")
PIXELS = np.arange(60, dtype=np.uint8).reshape(4, 5, 3)


def pictured(folder: Path, colours: str, text: str = IMAGE) -> miltext.Model:
    """A model whose input and output are images."""
    model, entry = described(folder, text)
    assert model.description is not None
    for each in (entry, model.description.output[0]):
        each.type.imageType.width, each.type.imageType.height = 5, 4
        each.type.imageType.colorSpace = getattr(ImageFeatureType, colours)
    return model


@pytest.mark.parametrize(("colours", "order"), [("RGB", [0, 1, 2]), ("BGR", [2, 1, 0])])
def test_a_picture_is_taken_as_its_channels(colours: str, order: list[int], tmp_path: Path) -> None:
    pillow = pytest.importorskip("PIL.Image")
    evaluator = Evaluator(pictured(tmp_path, colours))
    made = evaluator.run({"x": pillow.fromarray(PIXELS)})["y"]
    np.testing.assert_array_equal(made, PIXELS[:, :, order].transpose(2, 0, 1)[None])
    image = evaluator.features["y"].image
    assert image is not None
    np.testing.assert_array_equal(np.asarray(picture_of(made, image)), PIXELS)
    np.testing.assert_array_equal(evaluator.run({"x": made})["y"], made)  # as an array


@pytest.mark.parametrize(
    ("colours", "mode", "dtype"), [("GRAYSCALE", "L", np.uint8), ("GRAYSCALE_FLOAT16", "F", np.float32)]
)
def test_gray_pictures(colours: str, mode: str, dtype: Any, tmp_path: Path) -> None:
    pillow = pytest.importorskip("PIL.Image")
    evaluator = Evaluator(pictured(tmp_path, colours, GRAY))
    pixels = PIXELS[:, :, 0].astype(dtype)
    made = evaluator.run({"x": pillow.fromarray(pixels, mode)})["y"]
    np.testing.assert_array_equal(made, pixels[None, None])
    image = evaluator.features["y"].image
    assert image is not None
    assert picture_of(made, image).mode == mode


def test_numbers_of_a_picture_are_rounded_and_cut() -> None:
    pytest.importorskip("PIL.Image")
    image = ImageFeatureType(width=2, height=2, colorSpace=ImageFeatureType.GRAYSCALE)
    array = np.array([[[[-3.0, 300.0], [1.6, np.nan]]]], np.float32)
    assert np.asarray(picture_of(array, image)).tolist() == [[0, 255], [2, 0]]


@pytest.mark.parametrize(
    ("mode", "size", "code", "says"),
    [
        ("RGBA", (5, 4), "MIL834", r"takes pictures of the mode 'RGB', and this one is of 'RGBA'"),
        ("L", (5, 4), "MIL834", r"and this one is of 'L'"),
        ("RGB", (4, 5), "MIL833", r"has the shape \[1, 3, 5, 4\], but it takes \[1, 3, 4, 5\]"),
    ],
)
def test_wrong_pictures_are_refused(mode: str, size: tuple[int, int], code: str, says: str, tmp_path: Path) -> None:
    pillow = pytest.importorskip("PIL.Image")
    with pytest.raises(MiltextError, match=says) as caught:
        Evaluator(pictured(tmp_path, "RGB")).run({"x": pillow.new(mode, size)})
    assert [each.code for each in caught.value.diagnostics] == [code]


def test_a_picture_for_an_array_is_refused(tmp_path: Path) -> None:
    pillow = pytest.importorskip("PIL.Image")
    with pytest.raises(MiltextError, match="is not an image, but a picture is given") as caught:
        Evaluator(described(tmp_path, IMAGE)[0]).run({"x": pillow.new("RGB", (5, 4))})
    assert [each.code for each in caught.value.diagnostics] == ["MIL834"]


def test_a_picture_in_a_file_is_read_in_the_colours_of_the_input(tmp_path: Path) -> None:
    pillow = pytest.importorskip("PIL.Image")
    pillow.fromarray(PIXELS).convert("RGBA").save(tmp_path / "x.png")
    image = ImageFeatureType(width=5, height=4, colorSpace=ImageFeatureType.BGR)
    np.testing.assert_array_equal(np.asarray(read_picture(tmp_path / "x.png", image)), PIXELS)


def gray(colours: str = "GRAYSCALE") -> ImageFeatureType:
    return ImageFeatureType(width=3, height=2, colorSpace=getattr(ImageFeatureType, colours))


@pytest.mark.parametrize("dtype", ["<u2", ">u2"])
@pytest.mark.parametrize("ending", ["png", "tif"])
def test_a_picture_of_16_bits_is_scaled(ending: str, dtype: str, tmp_path: Path) -> None:
    pillow = pytest.importorskip("PIL.Image")
    path = tmp_path / f"deep.{ending}"
    pillow.fromarray(np.array([[0, 128, 257], [300, 32768, 65535]], dtype)).save(path)
    assert np.asarray(read_picture(path, gray())).tolist() == [[0, 0, 1], [1, 128, 255]]
    assert np.asarray(read_picture(path, gray("RGB")))[1, 1].tolist() == [128, 128, 128]
    floats = np.asarray(read_picture(path, gray("GRAYSCALE_FLOAT16")))
    np.testing.assert_allclose(floats, np.array([[0, 128, 257], [300, 32768, 65535]]) / 257, rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.int32, np.float32])
@pytest.mark.parametrize("colours", ["GRAYSCALE", "RGB", "GRAYSCALE_FLOAT16"])
def test_only_float_inputs_take_numbers_without_white(colours: str, dtype: Any, tmp_path: Path) -> None:
    pillow = pytest.importorskip("PIL.Image")
    path = tmp_path / "deep.tif"
    numbers = np.array([[0, -1, 2], [300, 5, 7]], dtype)
    pillow.fromarray(numbers).save(path)
    if (colours, dtype) == ("GRAYSCALE_FLOAT16", np.float32):
        np.testing.assert_array_equal(np.asarray(read_picture(path, gray(colours))), numbers)
        return
    with pytest.raises(MiltextError, match="whose numbers have no known white") as caught:
        read_picture(path, gray(colours))
    assert [each.code for each in caught.value.diagnostics] == ["MIL836"]
    assert "scale its numbers" in str(caught.value)


def test_a_deep_picture_is_not_advised_to_be_cut(tmp_path: Path) -> None:
    pillow = pytest.importorskip("PIL.Image")
    with pytest.raises(MiltextError, match="scale its numbers to 0 to 255"):
        Evaluator(pictured(tmp_path, "GRAYSCALE", GRAY)).run({"x": pillow.fromarray(np.ones((4, 5), np.uint16))})


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_picture_in_a_file_is_turned_upright(orientation: int, tmp_path: Path) -> None:
    """What a camera notes beside the pixels: 1 is upright; 2 to 4 are mirrored or upside down; 5 to 8 lie down."""
    pillow = pytest.importorskip("PIL.Image")
    pixels = np.array([[1, 2, 3], [4, 5, 6]], np.uint8)
    turned = [
        pixels, pixels[:, ::-1], pixels[::-1, ::-1], pixels[::-1],
        pixels.T, np.rot90(pixels, -1), pixels[::-1, ::-1].T, np.rot90(pixels),
    ]  # fmt: skip
    made, noted = pillow.fromarray(pixels), pillow.Exif()
    noted[0x0112] = orientation
    made.save(tmp_path / "x.png", exif=noted)
    assert np.asarray(read_picture(tmp_path / "x.png", gray())).tolist() == turned[orientation - 1].tolist()


@pytest.mark.parametrize("content", [None, b"", b"not a picture", b"\x89PNG\r\n\x1a\n\0\0"])
def test_a_file_that_is_not_a_picture_is_refused(content: bytes | None, tmp_path: Path) -> None:
    pytest.importorskip("PIL.Image")
    if content is not None:
        (tmp_path / "x.png").write_bytes(content)
    with pytest.raises(MiltextError, match="this picture cannot be read") as caught:
        read_picture(tmp_path / "x.png", ImageFeatureType(width=5, height=4))
    assert [each.code for each in caught.value.diagnostics] == ["MIL836"]


def test_without_pillow_pictures_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    image = ImageFeatureType(width=5, height=4)
    uses = [partial(read_picture, tmp_path / "x.png", image), partial(picture_of, np.zeros((1, 3, 4, 5)), image)]
    for use in uses:
        with pytest.raises(MiltextError, match="pillow is not installed") as caught:
            use()
        assert [each.code for each in caught.value.diagnostics] == ["MIL839"]


def image_ranges(image: ImageFeatureType) -> None:
    image.imageSizeRange.heightRange.lowerBound, image.imageSizeRange.heightRange.upperBound = 2, 8
    image.imageSizeRange.widthRange.lowerBound, image.imageSizeRange.widthRange.upperBound = 5, -1


def image_sizes(image: ImageFeatureType) -> None:
    image.enumeratedSizes.sizes.add(height=8, width=10)


@pytest.mark.parametrize(
    ("kind", "allowed", "refused", "says"),
    [
        (image_ranges, [(4, 5), (8, 500)], [(1, 5), (4, 4)], "[1, 3, 2 to 8, 5 or more]"),
        (image_sizes, [(4, 5), (8, 10)], [(8, 5), (4, 10)], "[1, 3, 4, 5] or [1, 3, 8, 10]"),
    ],
)
def test_sizes_of_pictures(
    kind: Any, allowed: list[tuple[int, int]], refused: list[tuple[int, int]], says: str, tmp_path: Path
) -> None:
    pillow = pytest.importorskip("PIL.Image")
    model = pictured(tmp_path, "RGB", TEXT.replace("[1, ?, 4, ?]", "[1, 3, ?, ?]"))
    assert model.description is not None
    kind(model.description.input[0].type.imageType)
    evaluator = Evaluator(model)
    for height, width in allowed:
        made = evaluator.run({"x": pillow.new("RGB", (width, height))})["y"]
        assert made.shape == (1, 3, height, width)
    for height, width in refused:
        with pytest.raises(MiltextError) as caught:
            evaluator.run({"x": pillow.new("RGB", (width, height))})
        assert says in str(caught.value)
