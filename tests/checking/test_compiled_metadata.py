"""`metadata.json` is compared where it is known what Apple's compiler writes, and findings are at their keys."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.pipelines import binary, of_text, unary

from miltext.checking.compiled.json_places import places
from miltext.checking.compiled.metadata import unlike
from miltext.compiled.metadata import metadata
from miltext.schema.proto import ArrayFeatureType, ImageFeatureType, Model

UNSEEN = """program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 4]> x) {
            tensor<fp16, [1, 4]> a = erf(x = x)[name = string("a")];
            tensor<fp16, [1, 4]> b = erf(x = a)[name = string("b")];
            tensor<fp16, [1, 4]> y = relu(x = b)[name = string("y")];
        } -> (y);
}
"""
HISTOGRAM = "mlProgramOperationTypeHistogram"


def said(spec: Model, change: Callable[[dict[str, Any]], object] = lambda _: None) -> list[str]:
    """What is told of the metadata of a model once it is changed."""
    (model,) = json.loads(metadata(spec, "M").text)
    change(model)
    return [each.message.removeprefix("metadata.json ") for each in unlike(model, spec)]


@pytest.mark.parametrize("spec", [unary("x", "y"), of_text(UNSEEN)], ids=["seen", "unseen"])
def test_written_metadata_fits(spec: Model) -> None:
    assert said(spec) == []


@pytest.mark.parametrize(("color", "stated"), [("BGR", "RGB"), ("GRAYSCALE", "RGB"), ("RGB", "BGR"), ("RGB", "None")])
@pytest.mark.parametrize("is_flexible", [False, True])
def test_an_image_in_rgb_is_reported_from_others(color: str, stated: str, is_flexible: bool) -> None:
    spec = unary("x", "y")
    image = spec.description.input[0].type.imageType
    image.CopyFrom(ImageFeatureType(width=4, height=1, colorSpace=getattr(ImageFeatureType, color)))
    if is_flexible:
        image.enumeratedSizes.sizes.add(width=4, height=2)
    assert said(spec) == []
    (told,) = said(spec, lambda model: model["inputSchema"][0].update(colorspace=stated))
    assert told.startswith(f'states "{stated}" for `inputSchema.x.colorspace`, but it is "')


@pytest.mark.parametrize("stated", ["0", "1"])
def test_only_the_file_states_whether_a_model_is_updatable(stated: str) -> None:
    for is_updatable in (False, True):
        spec = unary("x", "y")
        spec.isUpdatable = is_updatable
        assert said(spec, lambda model: model.update(isUpdatable=stated)) == []


@pytest.mark.parametrize("stated", ["", "2", "01", "1\n", 1, True, None, {}, ["1"]], ids=repr)
def test_a_truth_value_is_one_of_two_words(stated: Any) -> None:
    (told,) = said(unary("x", "y"), lambda model: model.update(isUpdatable=stated))
    assert told == f'states {json.dumps(stated)} for `isUpdatable`, which is not "0" or "1"'
    assert said(unary("x", "y"), lambda model: model.pop("isUpdatable")) == ["lacks `isUpdatable`"]


def test_a_duplicate_in_a_description_is_reported_only_there() -> None:
    spec = unary("x", "y")
    spec.description.output.add().CopyFrom(spec.description.output[0])
    assert said(spec) == []
    twice = said(spec, lambda model: model["outputSchema"].append(model["outputSchema"][0]))
    assert twice == ["has `y` in `outputSchema` twice"]


# ---- what is in doubt


@pytest.mark.parametrize("name", ["Erf", "Ios15.erf", "Ios16.erf", "Ios17.erf", "Ios18.erf"])
def test_operation_whose_name_was_not_seen_is_counted_all_same(name: str) -> None:
    spec = of_text(UNSEEN)
    (model,) = json.loads(metadata(spec, "M").text)
    assert said(spec, lambda each: each.update({HISTOGRAM: {**without(model[HISTOGRAM], "erf"), name: 2}})) == []
    wrong = said(spec, lambda each: each.update({HISTOGRAM: {**without(model[HISTOGRAM], "erf"), name: 1}}))
    assert wrong == [f"counts in `{HISTOGRAM}` 1 `erf`, but it is 2"]
    assert said(spec, lambda each: each.update({HISTOGRAM: without(model[HISTOGRAM], "erf")})) != []


def without(counts: dict[str, int], name: str) -> dict[str, int]:
    return {each: count for each, count in counts.items() if name not in each.lower()}


def test_an_operation_whose_name_was_seen_has_that_name() -> None:
    spec = unary("x", "y")
    assert said(spec, lambda each: each[HISTOGRAM].update({"Relu": each[HISTOGRAM].pop("Ios16.relu")})) == [
        f"lacks `Ios16.relu` in `{HISTOGRAM}`",
        f"states 1 for `{HISTOGRAM}.Relu`, but there is none",
    ]


def test_only_common_keys_of_an_unseen_type_are_compared() -> None:
    spec = unary("x", "y")
    image = ImageFeatureType(width=4, height=1, colorSpace=ImageFeatureType.BGR)
    spec.description.input[0].type.imageType.CopyFrom(image)
    assert said(spec, lambda each: each["inputSchema"][0].update(colorspace="Else", formattedType="Else")) == []
    assert said(spec, lambda each: each["inputSchema"][0].update(isOptional="1", name="z")) == [
        "lacks `x` in `inputSchema`",
        "has `z` in `inputSchema`, which is not there",
    ]
    assert said(spec, lambda each: each["inputSchema"][0].update(shortDescription="More")) == [
        'states "More" for `inputSchema.x.shortDescription`, but it is ""'
    ]


def test_systems_of_a_version_that_was_not_seen_are_not_compared() -> None:
    spec = unary("x", "y")
    spec.specificationVersion = 10
    assert said(spec, lambda each: each["availability"].update(iOS="1.0")) == []
    assert said(spec, lambda each: each.pop("availability")) == []


def test_older_compilers_write_less() -> None:
    assert said(unary("x", "y"), lambda each: (each.pop("stateSchema"), each["availability"].pop("visionOS"))) == []
    spec = unary("x", "y")
    spec.description.state.add(name="s").type.stateType.arrayType.dataType = ArrayFeatureType.FLOAT16
    assert said(spec, lambda each: each.pop("stateSchema")) == ["lacks `stateSchema`"]


# ---- entries


def test_entries_are_compared_by_name() -> None:
    spec = binary("a", "b", "y")
    assert said(spec, lambda each: each["inputSchema"].reverse()) == [
        "has `inputSchema` in another order: `b` in place of `a`"
    ]
    assert said(spec, lambda each: each["inputSchema"].append(each["inputSchema"][0])) == [
        "has `a` in `inputSchema` twice"
    ]
    assert said(spec, lambda each: each["inputSchema"].clear()) == ["lacks `a` and `b` in `inputSchema`"]
    assert said(spec, lambda each: each["inputSchema"][1].pop("shape")) == ["lacks `shape` in `inputSchema.b`"]


# ---- places


def test_keys_and_entries_have_places() -> None:
    text = '[ {"a": [1, {"b,]": "}"}, []], "c\\"d": {}, "e": {"a": null}} ]'
    found = {way: text[span.start : span.end] for way, span in places(text).items()}
    assert found == {
        (0,): "{",
        (0, "a"): '"a"',
        (0, "a", 0): "1",
        (0, "a", 1): "{",
        (0, "a", 1, "b,]"): '"b,]"',
        (0, "a", 2): "[",
        (0, 'c"d'): '"c\\"d"',
        (0, "e"): '"e"',
        (0, "e", "a"): '"a"',
    }


def ways(value: Any, way: tuple[str | int, ...] = ()) -> set[tuple[str | int, ...]]:
    inner = [*(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ())]
    return {(*way, key) for key, _ in inner} | {each for key, one in inner for each in ways(one, (*way, key))}


VALUES = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


@given(VALUES, st.sampled_from([None, 2]), st.booleans())
def test_each_way_through_json_has_its_place(value: Any, indent: int | None, is_ascii: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=is_ascii)
    found = places(text)
    assert {*found} == ways(value)
    for way, span in found.items():
        if isinstance(way[-1], str):
            assert json.loads(text[span.start : span.end]) == way[-1]
