"""FlexibleShapeInformation from descriptions: ranges, enumerated shapes, images, and what is unproven."""

from __future__ import annotations

from typing import Any

import pytest
from support.containers import feature

import miltext
from miltext.printing.flexible_shapes import shape_information
from miltext.schema.proto import FeatureDescription, FeatureType, ImageFeatureType, Program


def flexible_text(*features: FeatureDescription, dialect: str = "1.3") -> tuple[str, list[str]]:
    """The attribute's value as MIL text, less the type before it, and what is unproven about it."""
    information, doubts = shape_information(features)
    assert information is not None
    text = miltext.to_text(Program(version=1, attributes={"a": information}), dialect=dialect)
    return text.split("\n")[1].partition(">>>>(")[2][:-2], doubts


def test_ranges() -> None:
    one = feature("x", [1, 2], [[1, 1], [2, 8]])
    assert flexible_text(one) == ('(("DefaultShapes", {{"x", [1, 2]}}), ("RangeDims", {{"x", [[1, 1], [2, 8]]}}))', [])


def test_inputs_are_sorted_and_fixed_ones_left_out() -> None:
    features = [
        feature("b", [2], [[1, 2]]),
        feature("fixed", [3, 3]),
        feature("B", [1], [[1, 9]]),
        FeatureDescription(name="s"),
    ]
    assert flexible_text(*features) == (
        '(("DefaultShapes", {{"B", [1]}, {"b", [2]}}), ("RangeDims", {{"B", [[1, 9]]}, {"b", [[1, 2]]}}))',
        [],
    )
    assert shape_information(features[1:2]) == (None, [])


def test_a_default_shape_that_is_not_given() -> None:
    """Core ML's own rule: the first shape listed, else the least of each range."""
    assert flexible_text(feature("x", [], [[1, 1], [2, 8]]))[0].startswith('(("DefaultShapes", {{"x", [1, 2]}})')
    assert flexible_text(feature("x", [], None, [[3], [1]]))[0].startswith('(("DefaultShapes", {{"x", [3]}})')


def test_enumerated_shapes_have_numbers_for_keys() -> None:
    expected = (
        '(("DefaultShapes", {{"x", [4]}}), '
        '("EnumeratedShapes", {{"00000000", {{"x", [1]}}}, {"00000001", {{"x", [2]}}}, {"00000002", {{"x", [4]}}}}))'
    )
    text, doubts = flexible_text(feature("x", [4], None, [[1], [2], [4]]))
    assert text == expected
    assert doubts == ["numbers in place of the keys of enumerated shapes (`x`)"]


def test_the_type_of_enumerated_shapes_is_apples() -> None:
    """As the one known text with enumerated shapes has it."""
    information, _ = shape_information([feature("input", [4], None, [[1]])])
    strings, shapes = "tuple<string, ", "dict<string, tensor<int32, [?]>>"
    expected = f"tuple<{strings}{shapes}>, {strings}dict<string, {shapes}>>>"
    assert information is not None
    assert f" = {expected}(" in miltext.to_text(Program(version=1, attributes={"a": information}))


def test_several_enumerations_and_ranges_beside_them() -> None:
    features = [feature("a", [1], None, [[1], [2]]), feature("b", [5], None, [[5]]), feature("c", [7], [[6, 8]])]
    text, doubts = flexible_text(*features)
    assert '{"00000000", {{"a", [1]}, {"b", [5]}}}, {"00000001", {{"a", [2]}}}' in text
    assert text.endswith(', ("RangeDims", {{"c", [[6, 8]]}}))')
    assert doubts[-1] == "ranges beside enumerated shapes"


def image(color: Any, **flexibility: Any) -> FeatureDescription:
    made = ImageFeatureType(width=64, height=32, colorSpace=color, **flexibility)
    return FeatureDescription(name="i", type=FeatureType(imageType=made))


def test_images() -> None:
    sides = {"widthRange": {"lowerBound": 8, "upperBound": 64}, "heightRange": {"lowerBound": 4, "upperBound": 32}}
    text, doubts = flexible_text(image(ImageFeatureType.RGB, imageSizeRange=sides))
    expected = (
        '(("DefaultShapes", {{"i", [1, 3, 32, 64]}}), ("RangeDims", {{"i", [[1, 1], [3, 3], [4, 32], [8, 64]]}}))'
    )
    assert text == expected
    assert doubts == ["images (`i`)"]
    text, doubts = flexible_text(
        image(ImageFeatureType.GRAYSCALE, enumeratedSizes={"sizes": [{"width": 8, "height": 4}]})
    )
    assert '{"00000000", {{"i", [1, 1, 4, 8]}}}' in text
    assert len(doubts) == 2
    assert shape_information([image(ImageFeatureType.RGB)]) == (None, [])


def test_a_range_without_an_end() -> None:
    text, doubts = flexible_text(feature("x", [1], [[1, -1]]))
    assert '("RangeDims", {{"x", [[1, -1]]}})' in text
    assert doubts == ["a range without an end (`x`)"]


def test_a_size_that_int32_does_not_hold() -> None:
    with pytest.raises(miltext.PrintError, match=r"(?s)MIL213.*`x`"):
        shape_information([feature("x", [1], [[1, 1 << 31]])])
    assert "2147483647" in flexible_text(feature("x", [1], [[1, (1 << 31) - 1]]))[0]
