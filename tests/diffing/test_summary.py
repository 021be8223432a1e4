"""Lines of the summary, spans of scopes, and sizes of images that follow."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import CORPUS
from support.pipelines import of_text

import miltext
from miltext.containers.spec import SpecModel
from miltext.diffing.one_line import one_line
from miltext.scopes.families import spread

IMAGE = """program(1.3)
{{
    func main<ios16>(tensor<fp32, [1, 3, {height}, {width}]> x) {{
            tensor<fp32, [1, 3, {height}, {width}]> y = {kind}(x = x)[name = string("y")];
        }} -> (y);
}}
"""


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ([0, 1, 2, 3, 5, 6, 7], "h_0 … 3, 5 … 7"),
        ([0, 1, 3, 4], "h_0, 1, 3, 4"),
        ([0, 2, 4, 5, 6], "h_0, 2, 4 … 6"),
        ([9, 10, 8], "h_8 … 10"),
        ([7], "h_7"),
        ([1, 2], "h_1, 2"),
        ([3, 3, 4, 5], "h_3 … 5"),
    ],
)
def test_scopes_are_named_in_spans(numbers: list[int], words: str) -> None:
    assert spread([f"h_{number}" for number in numbers]) == words


def image(height: int, width: int, kind: str = "relu", described: tuple[int, int] | None = None) -> SpecModel:
    """A model with an image as its input, of the sizes of its tensor unless `described` otherwise."""
    spec = of_text(IMAGE.format(height=height, width=width, kind=kind))
    entry = spec.description.input[0] if spec.description.input else spec.description.input.add(name="x")
    sizes = entry.type.imageType
    sizes.height, sizes.width = described or (height, width)
    sizes.colorSpace = 20
    return SpecModel("mlmodel", "it", None, None, spec)


def causes(old: SpecModel, new: SpecModel) -> list[str]:
    return [each.name for each in miltext.diff(old, new).changes if each.follows is None and "image" in each.name]


def test_sizes_of_an_image_follow_from_its_tensor() -> None:
    assert causes(image(16, 32), image(24, 48)) == []
    assert causes(image(16, 32), image(16, 48)) == []
    assert "    1 field and 1 type follow from x\n" in miltext.diff(image(16, 32), image(16, 48)).to_text()


def test_sizes_of_an_image_without_its_tensor_are_causes() -> None:
    field = "input[x].type.imageType"
    assert causes(image(16, 32), image(16, 32, described=(16, 48))) == [f"{field}.width"]
    wrong = causes(image(16, 32), image(24, 48, described=(48, 24)))
    assert sorted(wrong) == [f"{field}.height", f"{field}.width"]


def test_an_operation_of_another_type_counts_in_both() -> None:
    found = miltext.diff(image(16, 32), image(16, 32, "tanh"))
    assert (found.summary.added, found.summary.removed) == ({"tanh": 1}, {"relu": 1})
    assert "\noperations: +1 tanh, -1 relu\n" in found.to_text()
    assert one_line(found) == "+1 tanh, -1 relu"


@pytest.mark.skipif(not (CORPUS / "bundles").is_dir(), reason="needs the corpus: see MILTEXT_CORPUS")
def test_bytes_of_packed_indices_are_those_stored() -> None:
    """The indices of each palette are packed in bytes, two in each, and its 16 entries are fp32."""
    old, new = (CORPUS / "bundles" / f"ironmill-{name}.mlpackage" for name in ("base", "pal"))
    for pair, sign in (((old, new), 1), ((new, old), -1)):
        sizes = miltext.diff(*pair).summary.sizes
        found = {each.name: (each.old_bytes, each.new_bytes)[::sign] for each in sizes.changed}
        assert found["Parameter5"] == (800, 200 // 2 + 64)
        assert found["Parameter87"] == (12800, 3200 // 2 + 64)
        assert found["Parameter6"] == (32, 8 // 2 + 64)
        assert all(each.used_as for each in sizes.changed)
        assert all({each.old_form, each.new_form} == {"fp32", "4-bit palette"} for each in sizes.changed)
        assert sizes.new_bytes - sizes.old_bytes == sum(each.new_bytes - each.old_bytes for each in sizes.changed)


def test_texts_of_a_description_change_no_numbers() -> None:
    old, new = image(16, 32), image(16, 32)
    new.spec.description.input[0].shortDescription = "a picture"
    summary = miltext.diff(old, new).summary
    assert (summary.interface, summary.outputs.reached, summary.outputs.unreached) == ((), (), ("y",))
    new.spec.description.input[0].type.imageType.colorSpace = 30
    assert miltext.diff(old, new).summary.outputs.reached == ("y",)


NUMBERS = "tensor<fp16, [1, 20]>([[{}]])"
LONG = """program(1.3) {{
    func main<ios18>(tensor<fp16, [1, 20]> x) {{
        tensor<fp16, [1, 20]> w = const()[val = {}];
        tensor<fp16, [1, 20]> y = add(x = x, y = w);
    }} -> (y);
}}"""


def test_nan_is_named() -> None:
    numbers = ["1"] * 20
    old, new = (LONG.format(NUMBERS.format(", ".join([*numbers[1:], each]))) for each in ("2", "fp16(nan)"))
    assert "1 of 20 elements, with NaN or infinities" in miltext.diff(old, new.replace("fp16(nan)", "nan")).to_text()


def test_a_weight_in_a_file_has_the_same_numbers(tmp_path: Path) -> None:
    text = tmp_path / "a.mil"
    text.write_text(LONG.format(NUMBERS.format(", ".join(["1"] * 20))))
    miltext.build(text, output=tmp_path / "B.mlpackage", externalize=10)
    difference = miltext.diff(text, tmp_path / "B.mlpackage")
    assert difference.same is False
    assert difference.summary.outputs.unreached == ("y",)
    assert "1 constant follows from equal numbers" in difference.to_text() or "1 weight follows" in difference.to_text()


def test_types_follow_from_the_input_beside_a_literal_of_its_type() -> None:
    body = "tensor<{0}, [2]> u = mul(x = x, y = {0}(0.5)); tensor<{0}, [2]> y = tanh(x = u);"
    old, new = (
        f"program(1.3) {{ func main<ios18>(tensor<{each}, [2]> x) {{ {body.format(each)} }} -> (y); }}"
        for each in ("fp32", "fp16")
    )
    assert "    1 constant and 2 types follow from x\n" in miltext.diff(old, new).to_text()
