"""Weight files that are written with what the model refers to, and nothing else."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from support.containers import NEURAL_NETWORK, link, pipeline, refused, write_package
from support.model_checks import assert_coremltools_opens
from support.real_packages import package
from support.weighted import (
    DATA,
    WEIGHT,
    build,
    function_of,
    held_weights,
    numbers,
    program_of,
    records,
    text_model,
    write_weights,
)

import miltext
from miltext.containers.opening import load, open_model
from miltext.descriptions.program_descriptions import describe
from miltext.schema import wire
from miltext.schema.proto import Model as Spec
from miltext.weight_files.blob_storage import ALIGNMENT

ROOT = Path(__file__).parents[2]
RECORD = ALIGNMENT + 128
"""Bytes of a record of SIZE elements, with those between it and the next."""


@pytest.fixture
def offsets(tmp_path: Path) -> list[int]:
    """Those of five records beside a text, of which the third equals the first."""
    return write_weights(tmp_path / WEIGHT, [numbers(each) for each in (1, 2, 1, 3, 4)])


@pytest.fixture
def original(tmp_path: Path, offsets: list[int]) -> Path:
    """A package that refers to all of them."""
    names = {f"w{index}": (WEIGHT, offset) for index, offset in enumerate(offsets)}
    build(text_model(program_of(function_of(names)), tmp_path), tmp_path / "A.mlpackage")
    return tmp_path / "A.mlpackage"


def cut(offsets: list[int], *kept: int) -> str:
    """The text of a program that refers to some of the records."""
    return program_of(function_of({f"w{index}": (WEIGHT, offsets[index]) for index in kept}))


def manifest_paths(path: Path) -> set[str]:
    return {item["path"] for item in json.loads((path / "Manifest.json").read_text())["itemInfoEntries"].values()}


@pytest.mark.parametrize(
    ("kept", "stay"),
    [
        ((0, 1, 2, 3, 4), [1, 2, 3, 4]),
        ((1,), [2]),
        ((4, 1), [2, 4]),
        ((2,), [1]),
        ((0, 2), [1]),
        ((1, 1, 3), [2, 3]),
    ],
)
@pytest.mark.parametrize("itself", [False, True], ids=["to another", "onto itself"])
def test_the_records_that_stay(
    kept: tuple[int, ...], stay: list[int], itself: bool, original: Path, offsets: list[int], tmp_path: Path
) -> None:
    output = original if itself else tmp_path / "B.mlpackage"
    text = text_model(cut(offsets, *kept), tmp_path)
    miltext.build(text, tmp_path / "Plain.mlpackage", original=load(original))
    before = original / DATA / WEIGHT
    size = before.stat().st_size
    (told,) = build(text, output, original=load(original), prune_weights=True)
    assert records(output / DATA / WEIGHT) == stay
    assert held_weights(output) == held_weights(tmp_path / "Plain.mlpackage")
    left = size - (output / DATA / WEIGHT).stat().st_size
    assert told == f"{left:,} of {size:,} bytes of weights were removed: nothing uses them"
    assert len(manifest_paths(output)) == 2


def test_a_model_that_needs_all_weights_is_written_as_before(tmp_path: Path) -> None:
    offsets = write_weights(tmp_path / WEIGHT, [numbers(1), numbers(2)])
    (told,) = build(text_model(cut(offsets, 0, 1), tmp_path), tmp_path / "A.mlpackage", prune_weights=True)
    assert told == f"all of the {64 + 2 * RECORD - 48:,} bytes of weights are used: none were removed"
    assert (tmp_path / "A.mlpackage" / DATA / WEIGHT).read_bytes() == (tmp_path / WEIGHT).read_bytes()


def test_a_model_without_weight_files_reports_nothing(tmp_path: Path) -> None:
    text = text_model(program_of(function_of({})), tmp_path)
    assert build(text, tmp_path / "A.mlpackage", prune_weights=True) == []
    assert not (tmp_path / "A.mlpackage" / DATA / "weights").exists()


def test_an_unused_file_is_removed(original: Path, offsets: list[int], tmp_path: Path) -> None:
    text = text_model(program_of(function_of({})), tmp_path)
    build(text, original, original=load(original))
    size = (original / DATA / WEIGHT).stat().st_size
    for source in (text, open_model(original)):
        kept = load(original) if source is text else None
        (told,) = build(source, tmp_path / "B.mlpackage", original=kept, prune_weights=True)
        assert told.startswith(f"{size:,} of {size:,} bytes")
        assert not (tmp_path / "B.mlpackage" / DATA / WEIGHT).exists()
        assert_coremltools_opens(tmp_path / "B.mlpackage")


@pytest.mark.parametrize("listed", ["weights/weight.bin", "./weights//weight.bin", "weights"])
def test_the_manifest_lists_an_existing_part(listed: str, original: Path, tmp_path: Path) -> None:
    manifest = original / "Manifest.json"
    manifest.write_text(manifest.read_text().replace("com.apple.CoreML/weights", f"com.apple.CoreML/{listed}"))
    assert any(listed in path for path in manifest_paths(original))
    text = text_model(program_of(function_of({})), tmp_path)
    build(text, original, original=load(original), prune_weights=True)
    assert all((original / "Data" / path).exists() for path in manifest_paths(original))
    assert len(manifest_paths(original)) == (2 if listed == "weights" else 1)


def test_several_files_stay_several(tmp_path: Path) -> None:
    """But what two of them have, the first has alone."""
    first = write_weights(tmp_path / "weights/a.bin", [numbers(1), numbers(2), numbers(3)])
    second = write_weights(tmp_path / "weights/b.bin", [numbers(3), numbers(4), numbers(5)])
    names = {"w0": ("weights/a.bin", first[2]), "w1": ("weights/b.bin", second[0])}
    names |= {"w2": ("weights/b.bin", second[2])}
    build(text_model(program_of(function_of(names)), tmp_path), tmp_path / "A.mlpackage", prune_weights=True)
    assert records(tmp_path / "A.mlpackage" / DATA / "weights/a.bin") == [3]
    assert records(tmp_path / "A.mlpackage" / DATA / "weights/b.bin") == [5]
    assert [each[0] for each in held_weights(tmp_path / "A.mlpackage").values()] == [3, 3, 5]
    assert_coremltools_opens(tmp_path / "A.mlpackage")


def test_a_file_with_duplicate_records_is_removed(tmp_path: Path) -> None:
    first = write_weights(tmp_path / "weights/a.bin", [numbers(1), numbers(2)])
    second = write_weights(tmp_path / "weights/b.bin", [numbers(2), numbers(1)])
    names = {"w0": ("weights/a.bin", first[0]), "w1": ("weights/a.bin", first[1]), "w2": ("weights/b.bin", second[0])}
    build(text_model(program_of(function_of(names)), tmp_path), tmp_path / "A.mlpackage")
    build(open_model(tmp_path / "A.mlpackage"), tmp_path / "A.mlpackage", prune_weights=True)
    assert os.listdir(tmp_path / "A.mlpackage" / DATA / "weights") == ["a.bin"]
    assert [each[0] for each in held_weights(tmp_path / "A.mlpackage").values()] == [1, 2, 2]
    assert_coremltools_opens(tmp_path / "A.mlpackage")


def test_all_functions_count(tmp_path: Path) -> None:
    offsets = write_weights(tmp_path / WEIGHT, [numbers(each) for each in range(4)])
    functions = [function_of({"w": (WEIGHT, offset)}, name) for name, offset in zip("ab", offsets[1:], strict=False)]
    text = text_model(program_of(*functions), tmp_path)
    build(text, tmp_path / "A.mlpackage", prune_weights=True)
    assert records(tmp_path / "A.mlpackage" / DATA / WEIGHT) == [1, 2]
    assert [each[0] for each in held_weights(tmp_path / "A.mlpackage").values()] == [1, 2]


def stage(text: str) -> Spec:
    made = Spec(specificationVersion=9, mlProgram=miltext.parse(text))
    made.description.input.add(name="x")
    return made


def piped(folder: Path, *stages: Spec) -> Path:
    return write_package(
        folder,
        pipeline(*stages).SerializeToString(),
        itemInfoEntries={"1": {"path": "com.apple.CoreML/weights"}, "2": {"path": "com.apple.CoreML/model.mlmodel"}},
    )


def test_all_stages_count(tmp_path: Path, offsets: list[int]) -> None:
    """Stages that share a file, and one that has its own, in which it keeps what another file has, too."""
    own = program_of(function_of({"v": ("weights/own.bin", offsets[1])}))
    source = piped(tmp_path / "P.mlpackage", stage(cut(offsets, 1)), stage(cut(offsets, 3, 1)), stage(own))
    write_weights(source / DATA / "weights/own.bin", [numbers(7), numbers(2)])
    shutil.copy(tmp_path / WEIGHT, source / DATA / WEIGHT)
    before = held_weights(source)
    build(open_model(source), source, prune_weights=True)
    assert records(source / DATA / WEIGHT) == [2, 3]
    assert records(source / DATA / "weights/own.bin") == [2]
    assert held_weights(source) == before


def test_an_edited_stage_leaves_the_others_theirs(tmp_path: Path, offsets: list[int]) -> None:
    source = piped(tmp_path / "P.mlpackage", stage(cut(offsets, 0, 1)), stage(cut(offsets, 3)))
    (source / DATA / "weights").mkdir()
    shutil.copy(tmp_path / WEIGHT, source / DATA / WEIGHT)
    text = text_model(cut(offsets, 1), tmp_path)
    build(text, tmp_path / "Q.mlpackage", original=open_model(source), model=0, prune_weights=True)
    assert records(tmp_path / "Q.mlpackage" / DATA / WEIGHT) == [2, 3]
    assert [each[0] for each in held_weights(tmp_path / "Q.mlpackage").values()] == [2, 3]


def test_stage_of_another_kind_keeps_file_that_it_may_speak_of(tmp_path: Path, offsets: list[int]) -> None:
    network = Spec.FromString(NEURAL_NETWORK)
    network.description.metadata.userDefined["weights"] = "kept.bin"
    source = piped(tmp_path / "P.mlpackage", network, stage(cut(offsets, 3)))
    for name in ("weight.bin", "kept.bin", "gone.bin"):
        write_weights(source / DATA / "weights" / name, [numbers(each) for each in (1, 2, 1, 3, 4)])
    build(open_model(source), source, prune_weights=True)
    assert sorted(os.listdir(source / DATA / "weights")) == ["kept.bin", "weight.bin"]
    assert records(source / DATA / "weights/kept.bin") == [1, 2, 1, 3, 4]
    assert open_model(source).models[0].spec == network


def test_files_other_than_weight_files_stay(original: Path, tmp_path: Path, offsets: list[int]) -> None:
    for name, data in (("notes.txt", b"keep"), ("odd.bin", b"\2\0\0\0\2\0\0\0" + bytes(200)), ("empty.bin", b"")):
        (original / DATA / "weights" / name).write_bytes(data)
    (original / DATA / "weights" / "none.bin").write_bytes(b"\0\0\0\0\2\0\0\0" + bytes(56))
    shutil.copy(tmp_path / WEIGHT, original / "Data" / "mine.bin")
    before = {path.name for path in original.rglob("*")}
    build(text_model(cut(offsets, 1), tmp_path), original, original=load(original), prune_weights=True)
    assert before - {path.name for path in original.rglob("*")} == {"none.bin"}


def test_weights_of_another_model_in_the_package_stay(original: Path, tmp_path: Path, offsets: list[int]) -> None:
    (original / DATA / "weights" / "theirs.bin").write_bytes((tmp_path / WEIGHT).read_bytes())
    (original / DATA / "other.mil").write_text("// @model_path/weights/theirs.bin @model_path/weights/weight.bin")
    (told,) = build(text_model(cut(offsets, 1), tmp_path), original, original=load(original), prune_weights=True)
    assert told.startswith("all of the")
    for name in ("weight.bin", "theirs.bin"):
        assert records(original / DATA / "weights" / name) == [1, 2, 1, 3, 4]
    assert [each[0] for each in held_weights(original).values()] == [2]


# ---- odd values and files


def test_values_at_all_places(tmp_path: Path, offsets: list[int]) -> None:
    """Of the program, of functions, blocks and operations; in lists, in arguments, and in a block that no opset has."""
    made = miltext.parse(cut(offsets, 0))
    values = miltext.parse(cut(offsets, 1, 3, 4))
    block = values.functions["main"].block_specializations["CoreML8"]
    others = [each.attributes["val"] for each in block.operations if each.type == "const"]
    made.attributes["a"].CopyFrom(others[0])
    made.functions["main"].block_specializations["CoreML8"].attributes["b"].immediateValue.list.values.add().CopyFrom(
        others[1]
    )
    made.functions["main"].block_specializations["CoreML5"].operations.add(type="odd").inputs[
        "c"
    ].arguments.add().value.CopyFrom(others[2])
    source = text_model(cut(offsets, 0), tmp_path)
    source.program = made
    build(source, tmp_path / "A.mlpackage", prune_weights=True, check=False)
    assert records(tmp_path / "A.mlpackage" / DATA / WEIGHT) == [1, 2, 3, 4]
    assert sorted(each[0] for each in held_weights(tmp_path / "A.mlpackage").values()) == [1, 2, 3, 4]


def test_one_record_under_two_shapes_and_two_names_of_a_file(tmp_path: Path, offsets: list[int]) -> None:
    names = {
        "w0": (WEIGHT, offsets[1]),
        "w1": ("weights/./weight.bin", offsets[3]),
        "w2": ("weights//weight.bin", offsets[1]),
    }
    text = program_of(function_of(names))
    head, _, tail = text.partition(" w2 = ")
    shaped = (
        head.rpartition("tensor<fp16, [40]>")[0]
        + "tensor<fp16, [4, 10]> w2 = "
        + tail.replace("tensor<fp16, [40]>(B", "tensor<fp16, [4, 10]>(B", 1)
    )
    build(text_model(shaped, tmp_path), tmp_path / "A.mlpackage", prune_weights=True, check=False)
    assert records(tmp_path / "A.mlpackage" / DATA / WEIGHT) == [2, 3]
    assert [each[0] for each in held_weights(tmp_path / "A.mlpackage").values()] == [2, 3, 2]
    assert os.listdir(tmp_path / "A.mlpackage" / DATA / "weights") == ["weight.bin"]


def test_an_unused_damaged_record_does_not_matter(tmp_path: Path, offsets: list[int]) -> None:
    data = bytearray((tmp_path / WEIGHT).read_bytes())
    data[:4] = b"\xff\xff\xff\xff"  # the count of records
    data[offsets[0] + 4] = 255  # the type of the first
    (tmp_path / WEIGHT).write_bytes(data)
    text = text_model(cut(offsets, 1, 4), tmp_path)
    build(text, tmp_path / "A.mlpackage", prune_weights=True)
    assert records(tmp_path / "A.mlpackage" / DATA / WEIGHT) == [2, 4]
    with pytest.raises(miltext.MiltextError, match="MIL306"):
        miltext.build(text_model(cut(offsets, 0), tmp_path), tmp_path / "B.mlpackage", prune_weights=True)
    assert not (tmp_path / "B.mlpackage").exists()


def test_records_that_share_bytes(tmp_path: Path, offsets: list[int]) -> None:
    """The second record says that its data is that of the first, the fourth that it begins in the middle of it."""
    path = tmp_path / WEIGHT
    data = bytearray(path.read_bytes())
    start = offsets[0] + ALIGNMENT
    data[offsets[1] + 16 : offsets[1] + 24] = start.to_bytes(8, "little")
    data[offsets[3] + 16 : offsets[3] + 24] = (start + 2).to_bytes(8, "little")
    data[start : start + 2] = np.float16(9).tobytes()
    path.write_bytes(data)
    build(text_model(cut(offsets, 0, 1, 3), tmp_path), tmp_path / "Plain.mlpackage")
    build(text_model(cut(offsets, 0, 1, 3), tmp_path), tmp_path / "A.mlpackage", prune_weights=True)
    assert held_weights(tmp_path / "A.mlpackage") == held_weights(tmp_path / "Plain.mlpackage")
    assert records(tmp_path / "A.mlpackage" / DATA / WEIGHT) == [9, 1]


def test_records_that_share_so_much_that_nothing_is_gained(tmp_path: Path) -> None:
    size = 4096
    offsets = write_weights(tmp_path / WEIGHT, [np.arange(size, dtype=np.float16), *[numbers(1)] * 4])
    data = bytearray((tmp_path / WEIGHT).read_bytes())
    for index, offset in enumerate(offsets[1:]):
        data[offset + 8 : offset + 24] = (2 * size - 64).to_bytes(8, "little") + (130 + 2 * index).to_bytes(8, "little")
    (tmp_path / WEIGHT).write_bytes(data)
    names = {f"w{index}": (WEIGHT, offset) for index, offset in enumerate(offsets[1:])}
    text = text_model(program_of(function_of(names, size=size - 32)), tmp_path)
    (told,) = build(text, tmp_path / "A.mlpackage", prune_weights=True)
    assert told.startswith("all of the")
    assert (tmp_path / "A.mlpackage" / DATA / WEIGHT).read_bytes() == data


def test_a_link_in_the_package_is_a_file_of_its_own(original: Path, offsets: list[int], tmp_path: Path) -> None:
    link(original / DATA / "weights/alias.bin", original / DATA / WEIGHT)
    names = {"w0": (WEIGHT, offsets[0]), "w1": ("weights/alias.bin", offsets[1])}
    text = text_model(program_of(function_of(names)), tmp_path)
    for output in (tmp_path / "B.mlpackage", original):
        build(text, output, original=load(original), prune_weights=True)
        assert [records(output / DATA / name) for name in (WEIGHT, "weights/alias.bin")] == [[1], [2]]
        assert not (output / DATA / "weights/alias.bin").is_symlink()
        assert [each[0] for each in held_weights(output).values()] == [1, 2]


def test_a_missing_file_stays_a_warning(original: Path, tmp_path: Path) -> None:
    (original / DATA / WEIGHT).unlink()
    before = open_model(original).program.SerializeToString(deterministic=True)
    found = miltext.build(open_model(original), tmp_path / "B.mlpackage", prune_weights=True)
    assert [each.code for each in found] == ["MIL451"]
    assert open_model(tmp_path / "B.mlpackage").program.SerializeToString(deterministic=True) == before


def test_unknown_fields_may_refer_to_weights(original: Path, tmp_path: Path) -> None:
    model = open_model(original)
    assert model.spec is not None
    model.program.functions["main"].MergeFromString(wire.sized(wire.tag(700), b"new"))
    with refused("MIL427", "unknown", "without `prune_weights=True`"):
        miltext.build(model, tmp_path / "B.mlpackage", prune_weights=True)
    assert not (tmp_path / "B.mlpackage").exists()
    miltext.build(model, tmp_path / "B.mlpackage")


# ---- what is told without being asked


@pytest.mark.parametrize(("size", "kept", "tells"), [(1 << 19, 2, True), (1 << 19, 3, False), (1 << 16, 1, False)])
def test_a_build_reports_many_unused_bytes(size: int, kept: int, tells: bool, tmp_path: Path) -> None:
    """If they are more than a million, and more than half of all."""
    offsets = write_weights(tmp_path / WEIGHT, [numbers(each, size) for each in range(5)])
    names = {f"w{index}": (WEIGHT, offset) for index, offset in enumerate(offsets[:kept])}
    found = miltext.build(text_model(program_of(function_of(names, size=size)), tmp_path), tmp_path / "A.mlpackage")
    assert [(each.severity, each.code) for each in found] == [("note", "MIL312")] * tells
    if tells:
        total = 5 * (2 * size + ALIGNMENT) + ALIGNMENT
        assert found[0].message == f"nothing refers to {3 * (2 * size + ALIGNMENT):,} of the {total:,} bytes of weights"
        assert "a build with pruned weights" in found[0].notes[0].message


@pytest.mark.parametrize(("suffix", "told"), [("mlpackage", ("MIL312", True)), ("mlmodel", ("MIL442", False))])
def test_a_build_reports_a_large_file_that_nothing_names(suffix: str, told: tuple[str, bool], tmp_path: Path) -> None:
    """A package is written with all of its files, and a model file without this one."""
    offsets = write_weights(tmp_path / WEIGHT, [numbers(1)])
    text = program_of(function_of({"w": (WEIGHT, offsets[0])}))
    miltext.build(text_model(text, tmp_path), tmp_path / "A.mlpackage")
    write_weights(tmp_path / "A.mlpackage/Data/com.apple.CoreML/weights/old.bin", [numbers(2, 1 << 20)])
    found = miltext.build(open_model(tmp_path / "A.mlpackage"), tmp_path / "new" / f"B.{suffix}")
    assert [(each.code, "nothing refers to 2,097,2" in each.message) for each in found] == [told]


@pytest.mark.parametrize("is_named", [True, False])
def test_file_that_text_beside_model_names_stays_and_is_reported(is_named: bool, tmp_path: Path) -> None:
    offsets = write_weights(tmp_path / "a" / WEIGHT, [numbers(1), numbers(2)])
    text = program_of(function_of({"w": (WEIGHT, offsets[0])}))
    output = tmp_path / "b" / "M.mlmodel"
    miltext.build(text_model(text, tmp_path / "a"), output)
    model = open_model(output)
    if is_named:
        (output.parent / "m.mil").write_text(miltext.to_text(model.program))
    [found] = miltext.build(model, output, prune_weights=True, force=True)
    assert [note.message.endswith("another file there names it, or it is behind a link") for note in found.notes] == (
        [True] * is_named
    )
    assert len([*output.parent.rglob("*.bin")]) == 1 + is_named


# ---- with arrays that are stored


def test_arrays_come_after_the_rest(original: Path, offsets: list[int], tmp_path: Path) -> None:
    """One equals a record that stays, one a record that goes, and is new then."""
    for name, value in (("a", 2), ("b", 3), ("c", 9)):
        np.save(tmp_path / f"{name}.npy", numbers(value))
    lines = "".join(
        f'            tensor<fp16, [40]> {name} = const()[val = tensor<fp16, [40]>($npy("{name}.npy"))];\n'
        for name in "abc"
    )
    text = cut(offsets, 4, 1).replace("        } ->", f"{lines}        }} ->")
    build(text_model(text, tmp_path), original, original=load(original), prune_weights=True)
    assert records(original / DATA / WEIGHT) == [2, 4, 3, 9]
    weights = load(original).weights
    assert {name: int(weights[name][0]) for name in weights} == {"w4": 4, "w1": 2, "a": 2, "b": 3, "c": 9}
    assert_coremltools_opens(original)


def test_all_weights_are_replaced_by_an_array(original: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", numbers(9))
    text = program_of(function_of({})).replace(
        "        } ->",
        '            tensor<fp16, [40]> a = const()[val = tensor<fp16, [40]>($npy("a.npy"))];\n        } ->',
    )
    build(text_model(text, tmp_path), original, original=load(original), prune_weights=True)
    assert records(original / DATA / WEIGHT) == [9]
    assert_coremltools_opens(original)


# ---- beside an .mlmodel


def mlmodel(folder: Path, offsets: list[int], name: str = "A.mlmodel") -> Path:
    """A model that refers to the second and the fourth record of the file beside it."""
    spec = Spec(specificationVersion=9, mlProgram=miltext.parse(cut(offsets, 1, 3)))
    spec.description.CopyFrom(describe(spec.mlProgram))
    (folder / name).write_bytes(spec.SerializeToString())
    return folder / name


def test_a_model_that_is_replaced_has_its_file_pruned(tmp_path: Path, offsets: list[int]) -> None:
    (tmp_path / "m.mil").unlink(missing_ok=True)
    model = mlmodel(tmp_path, offsets)
    before = held_weights(model)
    build(open_model(model), model, prune_weights=True)
    assert records(tmp_path / WEIGHT) == [2, 3]
    assert held_weights(model) == before
    assert os.listdir(tmp_path / "weights") == ["weight.bin"]


@pytest.mark.parametrize("other", ["B.mlmodel", "b.mil"])
@pytest.mark.parametrize("output", ["A.mlmodel", "C.mlmodel"])
def test_a_file_that_another_model_has_is_left_alone(
    output: str, other: str, tmp_path: Path, offsets: list[int]
) -> None:
    model = mlmodel(tmp_path, offsets)
    if other == "b.mil":
        (tmp_path / other).write_text(cut(offsets, 0))
    else:
        mlmodel(tmp_path, offsets, other)
    before = (tmp_path / WEIGHT).read_bytes()
    build(open_model(model), tmp_path / output, prune_weights=True)
    assert (tmp_path / WEIGHT).read_bytes() == before
    assert records(tmp_path / f"weights/{output[0]}-weight.bin") == [2, 3]
    assert [each[0] for each in held_weights(tmp_path / output).values()] == [2, 3]


@pytest.mark.parametrize("way", ["file", "folder"])
def test_a_file_behind_a_link_is_left_alone(way: str, tmp_path: Path, offsets: list[int]) -> None:
    """Models in its own folder may have it, and offsets change."""
    (tmp_path / "shared").mkdir()
    model = mlmodel(tmp_path, offsets)
    if way == "file":
        os.rename(tmp_path / WEIGHT, tmp_path / "shared/w.bin")
        link(tmp_path / WEIGHT, tmp_path / "shared/w.bin")
    else:
        os.rename(tmp_path / "weights", tmp_path / "shared/weights")
        link(tmp_path / "weights", tmp_path / "shared/weights")
    before = (tmp_path / WEIGHT).read_bytes()
    build(open_model(model), model, prune_weights=True)
    assert (tmp_path / WEIGHT).read_bytes() == before
    assert records(tmp_path / "weights/A-weight.bin") == [2, 3]


@pytest.mark.parametrize("shared", [False, True])
def test_a_replaced_models_own_file_is_removed(shared: bool, tmp_path: Path, offsets: list[int]) -> None:
    model = mlmodel(tmp_path, offsets)
    if shared:
        mlmodel(tmp_path, offsets, "B.mlmodel")
    text = text_model(program_of(function_of({})), tmp_path / "text")
    (told,) = build(text, model, original=open_model(model), prune_weights=True)
    assert (tmp_path / WEIGHT).exists() == shared
    assert told == "976 of 976 bytes of weights were removed: nothing uses them"


@pytest.mark.parametrize("name", ["../victim.bin", "notes.txt", "linked/w.bin"])
def test_only_a_weight_file_of_its_own_folder_is_removed(name: str, tmp_path: Path, offsets: list[int]) -> None:
    """Whatever the replaced model names; the new one names nothing."""
    folder = tmp_path / "in"
    (folder / "weights").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    link(folder / "linked", tmp_path / "elsewhere")
    (folder / "notes.txt").write_text("keep this")
    for place in (tmp_path / "victim.bin", tmp_path / "elsewhere/w.bin", folder / WEIGHT):
        shutil.copy(tmp_path / WEIGHT, place)
    model = mlmodel(folder, offsets)
    other = Spec(mlProgram=miltext.parse(program_of(function_of({"v": (name, 64)}, "other"))))
    model.write_bytes(model.read_bytes() + other.SerializeToString())
    text = text_model(program_of(function_of({})), tmp_path / "text")
    build(text, model, original=open_model(model), prune_weights=True)
    assert not (folder / WEIGHT).exists()
    for place in (tmp_path / "victim.bin", tmp_path / "elsewhere/w.bin", folder / "notes.txt"):
        assert place.exists()


def test_two_files_beside_a_model_that_another_model_has_too(tmp_path: Path) -> None:
    """Values that refer to the other file now get its new name."""
    first = write_weights(tmp_path / "weights/a.bin", [numbers(1), numbers(2), numbers(3)])
    second = write_weights(tmp_path / "weights/b.bin", [numbers(3), numbers(4), numbers(5)])
    names = {"w0": ("weights/a.bin", first[2]), "w1": ("weights/b.bin", second[0]), "w2": ("weights/b.bin", second[2])}
    build(text_model(program_of(function_of(names)), tmp_path), tmp_path / "A.mlmodel", prune_weights=True)
    assert records(tmp_path / "weights/A-a.bin") == [3]
    assert records(tmp_path / "weights/A-b.bin") == [5]
    assert [each[0] for each in held_weights(tmp_path / "A.mlmodel").values()] == [3, 3, 5]
    assert records(tmp_path / "weights/a.bin") == [1, 2, 3]


def test_a_package_pruned_into_a_file_keeps_its_contents(original: Path, offsets: list[int], tmp_path: Path) -> None:
    before = {path: path.read_bytes() for path in original.rglob("*") if path.is_file()}
    (tmp_path / "out").mkdir()
    text = text_model(program_of(function_of({})), tmp_path / "text")
    build(text, tmp_path / "out/A.mlmodel", original=load(original), prune_weights=True)
    assert os.listdir(tmp_path / "out") == ["A.mlmodel"]
    build(
        text_model(cut(offsets, 3), tmp_path),
        tmp_path / "out/A.mlmodel",
        original=load(original),
        prune_weights=True,
    )
    assert records(tmp_path / "out" / WEIGHT) == [3]
    assert {path: path.read_bytes() for path in original.rglob("*") if path.is_file()} == before


# ---- real models


@pytest.mark.parametrize("name", ["fp32", "int4", "functions", "pipeline"])
def test_models_of_coremltools_have_equal_weights(name: str, tmp_path: Path) -> None:
    pytest.importorskip("coremltools")
    source = package(name)
    build(open_model(source), tmp_path / "B.mlpackage", prune_weights=True)
    assert held_weights(tmp_path / "B.mlpackage") == held_weights(source)
    assert_coremltools_opens(tmp_path / "B.mlpackage")


def test_a_failure_leaves_everything_as_it_was(original: Path, offsets: list[int], tmp_path: Path) -> None:
    before = {path: path.read_bytes() for path in original.rglob("*") if path.is_file()}

    def stop(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        miltext.build(
            text_model(cut(offsets, 1), tmp_path),
            original,
            original=load(original),
            prune_weights=True,
            force=True,
            progress=stop,
        )
    assert {path: path.read_bytes() for path in original.rglob("*") if path.is_file()} == before
