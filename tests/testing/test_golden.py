"""What a golden may leave out: each choice of `normalize`, and each kind of thing that it takes a program from."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

import miltext
from miltext.schema.dtypes import BY_NAME
from miltext.testing import assert_matches_golden, normalize
from miltext.weight_files.blob_storage import BlobWriter

EXAMPLE = ROOT / "examples" / "Classifier.mlpackage"
TEXT = """\
program(1.3)
[buildInfo = dict<string, string>({{"coremltools-version", "9.0"}})]
{
    func main<ios18>(tensor<fp16, [2]> x) {
            tensor<fp16, [2]> relu_0 = relu(x = x)[name = string("relu_0")];
            tensor<fp16, [2]> b = add(x = relu_0, y = tensor<fp16, [2]>([0x1p+0, 0x1p+1]))[name = string("sum")];
            tensor<fp16, [2]> n = while_loop(loop_vars = b)[name = string("n")]
                (tensor<fp16, [2]> b) {
                    bool go = less(x = b, y = x)[name = string("go")];
                } -> (go)
                (tensor<fp16, [2]> i) {
                    tensor<fp16, [2]> next = relu(x = i)[name = string("next")];
                } -> (next);
            tensor<fp16, [2]> y = relu(x = n)[name = string("y")];
        } -> (y);
}
"""


def test_by_default_only_the_build_info_is_removed() -> None:
    program = miltext.parse(TEXT)
    assert normalize(program) == "".join(line for line in TEXT.splitlines(keepends=True) if "buildInfo" not in line)
    assert normalize(program, keep_build_info=True) == TEXT
    assert miltext.to_text(program) == TEXT


def test_values_are_named_after_their_makers() -> None:
    text = normalize(miltext.parse(TEXT), rename_values=True, drop_names=True)
    lines = [line.strip() for line in text.splitlines()]
    assert lines[3:-2] == [
        "tensor<fp16, [2]> relu_0 = relu(x = x);",
        "tensor<fp16, [2]> add_0 = add(x = relu_0, y = tensor<fp16, [2]>([0x1p+0, 0x1p+1]));",
        "tensor<fp16, [2]> while_loop_0 = while_loop(loop_vars = add_0)",
        "(tensor<fp16, [2]> input_0) {",
        "bool less_0 = less(x = input_0, y = x);",
        "} -> (less_0)",
        "(tensor<fp16, [2]> input_1) {",
        "tensor<fp16, [2]> relu_1 = relu(x = input_1);",
        "} -> (relu_1);",
        "tensor<fp16, [2]> y = relu(x = while_loop_0);",
    ]


def test_other_names_for_the_same_program_are_the_same_text() -> None:
    renamed = re.sub(r"\b(relu_0|b|go|i|next|n)\b", r"\1_renamed", TEXT)
    assert normalize(miltext.parse(renamed)) != normalize(miltext.parse(TEXT))
    for drop in (False, True):
        one, other = (normalize(miltext.parse(text), rename_values=True, drop_names=drop) for text in (TEXT, renamed))
        assert one == other


def test_a_canonical_name_is_never_a_used_one() -> None:
    taken = TEXT.replace("x)", "relu_0)").replace("> x)", "> relu_0)").replace("relu_0 = relu", "a = relu")
    text = normalize(miltext.parse(taken.replace("x = relu_0, y = tensor", "x = a, y = tensor")), rename_values=True)
    assert "relu_1 = relu(x = relu_0)" in text


def test_long_literals_are_left_out() -> None:
    assert "$elided(2, " in normalize(miltext.parse(TEXT), elide=1)
    assert "$elided" not in normalize(miltext.parse(TEXT), elide=2)


def test_weights_are_reported_by_content_not_by_place() -> None:
    model = miltext.load(EXAMPLE)
    text = normalize(model, digest_weights=True)
    assert normalize(model) == text
    assert "BLOBFILE" in normalize(model, digest_weights=False)
    assert "BLOBFILE" not in text
    assert re.search(r'\(\$elided\(\d+, "sha256:[0-9a-f]{16}"\)\)', text)
    with pytest.raises(ValueError, match="cannot be digested"):
        normalize(model.program, digest_weights=True)


def test_a_changed_weight_changes_text_and_a_moved_one_does_not(tmp_path: Path) -> None:
    texts: list[str] = []
    for values in ([b"\0\0", b"\1\1"], [b"\1\1"], [b"\2\2"]):
        folder = tmp_path / str(len(texts))
        (folder / "weights").mkdir(parents=True)
        with BlobWriter(folder / "weights" / "weight.bin") as writer:
            for data in values:
                offset = writer.add_packed(BY_NAME["fp16"], data)
        blob = (
            f'tensor<fp16, [1]>(BLOBFILE(path = string("@model_path/weights/weight.bin"), offset = uint64({offset})))'
        )
        (folder / "model.mil").write_text(re.sub(r"tensor<fp16, \[2\]>\(.*?\]\)", lambda _: blob, TEXT))  # noqa: B023
        texts.append(normalize(miltext.load(folder / "model.mil"), digest_weights=True))
    assert texts[0] == texts[1] != texts[2]


def test_an_object_that_is_not_a_program_is_refused() -> None:
    with pytest.raises(TypeError, match="expected a Program, MIL text, a model"):
        normalize(3)


def test_texts_and_paths_are_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = miltext.parse(TEXT)
    (tmp_path / "m.mil").write_text(TEXT)
    for source in (TEXT, TEXT.replace("\n", "\r\n"), tmp_path / "m.mil", str(tmp_path / "m.mil")):
        assert normalize(source, rename_values=True) == normalize(program, rename_values=True)
    assert normalize(EXAMPLE) == normalize(miltext.load(EXAMPLE))
    with pytest.raises(miltext.ModelError, match="MIL250"):
        normalize(tmp_path / "absent.mil")
    with pytest.raises(miltext.ParseError, match="MIL010"):
        normalize(TEXT.replace(";", "", 1))


def test_a_draft_counts_as_its_complete_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy as np

    monkeypatch.chdir(tmp_path)
    np.save("w.npy", np.arange(4, dtype="float32").reshape(2, 2))
    draft = 'program(1.3)\n{\n    func main<ios18>(fp32 x) { y = mul(x, $npy("w.npy")); } -> (y);\n}\n'
    (tmp_path / "d.mil").write_text(draft)
    text = normalize(draft)
    assert text == normalize(Path("d.mil"))
    assert "tensor<fp32, [2, 2]> y = mul(x = x, y = " in text
    np.save("w.npy", np.ones((2, 2), dtype="float32"))
    assert normalize(draft) != text


def test_programs_and_models_of_coremltools_are_taken() -> None:
    coremltools = pytest.importorskip("coremltools", reason="needs coremltools")
    import numpy as np
    from coremltools.converters.mil import Builder

    @Builder.program(input_specs=[Builder.TensorSpec((2, 64))], opset_version=coremltools.target.iOS17)
    def program(x):  # type: ignore[no-untyped-def]
        weight = np.arange(64 * 8, dtype=np.float32).reshape(8, 64)
        return Builder.linear(x=x, weight=weight, name="y")

    text = normalize(program, digest_weights=True)
    assert "func main<ios17>(tensor<fp32, [2, 64]> x) {" in text
    assert '$elided(512, "sha256:' in text
    model = coremltools.convert(
        program,
        pass_pipeline=coremltools.PassPipeline.EMPTY,
        skip_model_load=True,
        minimum_deployment_target=coremltools.target.iOS17,
    )
    renamed = [normalize(each, digest_weights=True, rename_values=True, drop_names=True) for each in (model, program)]
    assert renamed[0] == renamed[1]
    message = model.get_spec().mlProgram
    assert normalize(model, digest_weights=False) == normalize(message, digest_weights=False)


# ---- weights are pinned


def saved(folder: Path, data: bytes) -> Path:
    """A text with one weight of 32 elements, which holds 64 bytes."""
    (folder / "weights").mkdir(parents=True)
    with BlobWriter(folder / "weights" / "weight.bin") as writer:
        offset = writer.add_packed(BY_NAME["fp16"], data)
    value = f'tensor<fp16, [32]>(BLOBFILE(path = string("@model_path/weights/weight.bin"), offset = uint64({offset})))'
    text = TEXT.replace("tensor<fp16, [2]>([0x1p+0, 0x1p+1])", value)
    (folder / "model.mil").write_text(text)
    return folder / "model.mil"


def of_text(folder: Path, scale: int) -> Any:
    return miltext.load(saved(folder, bytes([scale]) * 64))


def of_package(folder: Path, scale: int) -> Any:
    model = miltext.load(EXAMPLE)
    model.save(folder / "M.mlpackage")
    weights = next(folder.rglob("weight.bin"))
    data = bytearray(weights.read_bytes())
    data[128] = scale
    weights.write_bytes(data)
    return miltext.load(folder / "M.mlpackage")


def of_pymil(folder: Path, scale: int) -> Any:
    coremltools = pytest.importorskip("coremltools", reason="needs coremltools")
    import numpy as np
    from coremltools.converters.mil import Builder

    @Builder.program(input_specs=[Builder.TensorSpec((2, 64))], opset_version=coremltools.target.iOS17)
    def program(x):  # type: ignore[no-untyped-def]
        return Builder.linear(x=x, weight=scale * np.ones((8, 64), np.float32), name="y")

    return program


def of_conversion(folder: Path, scale: int) -> Any:
    coremltools = pytest.importorskip("coremltools", reason="needs coremltools")
    return coremltools.convert(
        of_pymil(folder, scale), skip_model_load=True, minimum_deployment_target=coremltools.target.iOS17
    )


OTHERS: dict[str, Any] = {"elide": 1, "keep_build_info": True, "dialect": "1.0", "floats": "decimal"}


@pytest.mark.parametrize("others", [{}, OTHERS], ids=["", "others"])
@pytest.mark.parametrize("source", [of_text, of_package, of_pymil, of_conversion])
def test_a_golden_pins_the_numbers_of_weights(source: Any, others: dict[str, Any], tmp_path: Path) -> None:
    choices = {"rename_values": True, "drop_names": True, **others}  # coremltools counts on in its names
    one, same, other = (source(tmp_path / str(index), scale) for index, scale in enumerate([1, 1, 2]))
    golden = tmp_path / "golden.mil"
    assert_matches_golden(one, golden, update=True, **choices)
    assert_matches_golden(same, golden, update=False, **choices)
    with pytest.raises(AssertionError, match="sha256:"):
        assert_matches_golden(other, golden, update=False, **choices)
    assert_matches_golden(one, golden, update=True, digest_weights=False, **choices)
    assert_matches_golden(other, golden, update=False, digest_weights=False, **choices)


def test_a_golden_without_digests_is_reported_the_fix(tmp_path: Path) -> None:
    model, golden = of_text(tmp_path / "m", 1), tmp_path / "golden.mil"
    assert_matches_golden(model, golden, update=True, digest_weights=False)
    with pytest.raises(AssertionError, match=r"(?s)pinned by its digest.*digest_weights=False.*MIL_UPDATE=1"):
        assert_matches_golden(model, golden, update=False)
    assert_matches_golden(model, golden, update=True)
    assert_matches_golden(model, golden, update=False)
    with pytest.raises(AssertionError) as failure:
        assert_matches_golden(of_text(tmp_path / "n", 2), golden, update=False)
    assert "digest_weights" not in str(failure.value)


def test_a_golden_keeps_its_line_ends(tmp_path: Path) -> None:
    program, golden = miltext.parse(TEXT), tmp_path / "golden.mil"
    golden.write_bytes(b"program(1.3)\r\n{\r\n}\r\n")
    assert_matches_golden(program, golden, update=True)
    assert golden.read_bytes() == normalize(program).replace("\n", "\r\n").encode()
    assert_matches_golden(program, golden, update=False)


def test_unreadable_weights_are_not_a_golden(tmp_path: Path) -> None:
    model = of_text(tmp_path / "m", 1)
    with pytest.raises(ValueError, match=r"give the model.*or digest_weights=False"):
        assert_matches_golden(model.program, tmp_path / "golden.mil", update=True)
    (tmp_path / "m" / "weights" / "weight.bin").unlink()
    with pytest.raises(miltext.ModelError, match="MIL302"):
        assert_matches_golden(miltext.load(tmp_path / "m" / "model.mil"), tmp_path / "golden.mil", update=True)
    assert not (tmp_path / "golden.mil").exists()


# ---- what a failure shows


def failure_of(source: Any, golden: Path, **choices: Any) -> str:
    with pytest.raises(AssertionError) as failure:
        assert_matches_golden(source, golden, update=False, **choices)
    return str(failure.value)


def test_a_failure_shows_changes_by_structure_beside_digests(tmp_path: Path) -> None:
    golden = tmp_path / "golden.mil"
    assert_matches_golden(miltext.load(EXAMPLE), golden, update=True, rename_values=True, drop_names=True)
    model = miltext.load(EXAMPLE)
    (relu,) = [each for each in operations(model.program) if each.type == "relu"]
    relu.type = "tanh"
    shown = failure_of(model, golden, rename_values=True, drop_names=True)
    assert shown.splitlines()[1:] == [
        "--- golden",
        "+++ now",
        "operations: +1 tanh, -1 relu",
        "outputs: all 2 may have other numbers",
        "func main",
        "    ~ tanh_0: tanh",
        "        operation: relu -> tanh",
        "    = relu_0 -> tanh_0",
        "to accept it: set MIL_UPDATE=1 and run the test again",
    ]


@pytest.mark.parametrize(("count", "choices"), [(32, {}), (2, {"elide": 1})], ids=["weight", "elided"])
def test_a_failure_names_the_digests_that_differ(count: int, choices: dict[str, Any], tmp_path: Path) -> None:
    golden = tmp_path / "golden.mil"
    if count == 32:
        one, other = (of_text(tmp_path / str(scale), scale) for scale in (1, 2))
    else:
        one, other = (miltext.parse(TEXT.replace("0x1p+1]", f"0x1p+{exponent}]")) for exponent in (1, 2))
    assert_matches_golden(one, golden, update=True, **choices)
    digests = [re.findall(r'"(sha256:[0-9a-f]+)"', normalize(each, **choices))[0] for each in (one, other)]
    assert digests[0] != digests[1]
    shown = failure_of(other, golden, **choices)
    assert f"    ~ b: add\n        y: {digests[0]} -> {digests[1]}\nto accept it" in shown
    assert "$strings" not in shown


def test_strings_that_look_like_digests_are_shown_as_they_are(tmp_path: Path) -> None:
    golden = tmp_path / "golden.mil"
    text = TEXT.replace('string("sum")', 'string("$elided(2, \\"sha256:00\\")")')
    assert_matches_golden(miltext.parse(text), golden, update=True)
    shown = failure_of(miltext.parse(text.replace("sha256:00", "sha256:11")), golden)
    assert 'name "$elided(2, \\"sha256:00\\")" -> "$elided(2, \\"sha256:11\\")"' in shown


def test_a_golden_that_is_not_a_program_is_compared_by_lines(tmp_path: Path) -> None:
    golden = tmp_path / "golden.mil"
    golden.write_text(normalize(of_text(tmp_path / "m", 1)).replace("program(1.3)", "program(", 1))
    assert "\n-program(\n+program(1.3)\n" in failure_of(of_text(tmp_path / "n", 1), golden)


def test_a_golden_is_named_by_its_path_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = miltext.parse(TEXT)
    (tmp_path / "here" / "below").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    below = str(Path("below", "a.mil"))
    for path in (Path("below", "a.mil"), tmp_path / "here" / "below" / "a.mil"):
        assert failure_of(program, path).startswith(f"missing golden {below}\n")
    for path in (Path("..", "a.mil"), tmp_path / "a.mil"):
        assert failure_of(program, path).startswith(f"missing golden {path}\n")


def operations(program: Any) -> list[Any]:
    (block,) = program.functions["main"].block_specializations.values()
    return list(block.operations)
