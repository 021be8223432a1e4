"""Weight files from elsewhere than the original: folders and files that are given, and two models made one."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.containers import compile_package, link, pipeline, write_package
from support.model_checks import assert_coremltools_opens
from support.weighted import (
    DATA,
    WEIGHT,
    build,
    constant,
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
from miltext.diagnostics import MiltextError
from miltext.schema.proto import Model as Spec

OTHER = "weights/b.bin"


@pytest.fixture
def offsets(tmp_path: Path) -> list[int]:
    """Those of the weights of A, 1 and 2, and of B, 2 and 3."""
    write_weights(tmp_path / "b" / WEIGHT, [numbers(2), numbers(3)])
    return write_weights(tmp_path / "a" / WEIGHT, [numbers(1), numbers(2)])


@pytest.fixture
def packages(tmp_path: Path, offsets: list[int]) -> tuple[Path, Path]:
    text = program_of(function_of({f"w{index}": (WEIGHT, offset) for index, offset in enumerate(offsets)}))
    for name in "ab":
        build(text_model(text, tmp_path / name), tmp_path / f"{name.upper()}.mlpackage")
    return tmp_path / "A.mlpackage", tmp_path / "B.mlpackage"


def both(offsets: list[int], file: str = OTHER) -> str:
    """The functions of A and B; B's weights are in a file of another name."""
    own = function_of({f"w{index}": (WEIGHT, offset) for index, offset in enumerate(offsets)})
    return program_of(own, function_of({f"w{index}": (file, offset) for index, offset in enumerate(offsets)}, "other"))


def firsts(path: Path) -> list[float]:
    return [each[0] for each in held_weights(path).values()]


def refused_build(code: str, saying: str, *arguments: Any, **choices: Any) -> str:
    with pytest.raises(MiltextError) as failure:
        miltext.build(*arguments, **choices)
    assert failure.value.diagnostics[0].code == code
    assert saying in str(failure.value)
    assert not arguments[1].exists()
    return str(failure.value)


@pytest.mark.parametrize("given", ["model", "file", "bare", "path", "whole", "folder", "several", "mapping of path"])
def test_two_packages_become_one(given: str, packages: tuple[Path, Path], offsets: list[int], tmp_path: Path) -> None:
    a, b = packages
    file = b / DATA / WEIGHT
    shutil.copy(file, tmp_path / "b.bin")
    ways: dict[str, Any] = {
        "model": {"b.bin": b},
        "file": {OTHER: str(file)},
        "bare": {"b.bin": file},
        "path": tmp_path,  # which has a b.bin
        "whole": {f"@model_path/{OTHER}": b / DATA},
        "folder": str(tmp_path),
        "several": [tmp_path, {"b.bin": b}],
        "mapping of path": [{"b.bin": b}],
    }
    text = text_model(both(offsets), tmp_path / "text")
    build(text, tmp_path / "AB.mlpackage", original=load(a), weights=ways[given])
    assert firsts(tmp_path / "AB.mlpackage") == [1, 2, 2, 3]
    weights = tmp_path / "AB.mlpackage" / DATA / "weights"
    assert {each.name: each.read_bytes() for each in weights.iterdir()} == {
        "weight.bin": (a / DATA / WEIGHT).read_bytes(),
        "b.bin": file.read_bytes(),
    }


def test_weights_of_both_are_kept_by_the_original(
    packages: tuple[Path, Path], offsets: list[int], tmp_path: Path
) -> None:
    """The order of names does not matter: b.bin would come first."""
    a, b = packages
    text = text_model(both(offsets), tmp_path / "text")
    build(text, tmp_path / "AB.mlpackage", original=load(a), weights={"b.bin": b}, prune_weights=True)
    assert records(tmp_path / "AB.mlpackage" / DATA / WEIGHT) == [1, 2]
    assert records(tmp_path / "AB.mlpackage" / DATA / OTHER) == [3]
    assert firsts(tmp_path / "AB.mlpackage") == [1, 2, 2, 3]
    pytest.importorskip("coremltools")
    assert_coremltools_opens(tmp_path / "AB.mlpackage")


def test_arrays_go_into_the_file_of_the_original(
    packages: tuple[Path, Path], offsets: list[int], tmp_path: Path
) -> None:
    a, b = packages
    np.save(tmp_path / "c.npy", numbers(9))
    value = 'tensor<fp16, [40]> c = const()[val = tensor<fp16, [40]>($npy("c.npy"))];'
    text = both(offsets).replace("        } -> (w1_sum);", f"            {value}\n        }} -> (w1_sum);", 1)
    source = text_model(text, tmp_path)
    build(source, tmp_path / "AB.mlpackage", original=load(a), weights={"b.bin": b})
    assert records(tmp_path / "AB.mlpackage" / DATA / WEIGHT) == [1, 2, 9]
    assert records(tmp_path / "AB.mlpackage" / DATA / OTHER) == [2, 3]


def test_a_merge_into_the_original_itself(packages: tuple[Path, Path], offsets: list[int], tmp_path: Path) -> None:
    a, b = packages
    build(text_model(both(offsets), tmp_path / "text"), a, original=load(a), weights={"b.bin": b})
    assert firsts(a) == [1, 2, 2, 3]
    build(text_model(both(offsets), tmp_path / "text"), a, original=load(a), weights={"b.bin": b})
    assert firsts(a) == [1, 2, 2, 3]


def test_unnamed_weights_do_not_belong_to_the_original(
    packages: tuple[Path, Path], offsets: list[int], tmp_path: Path
) -> None:
    """A stray file of that name in the package, or beside the text, is not what was asked for."""
    a, b = packages
    for folder in (a / DATA, tmp_path / "text"):
        write_weights(folder / OTHER, [numbers(8), numbers(9)])
    text = text_model(both(offsets), tmp_path / "text")
    for output in (tmp_path / "AB.mlpackage", a):
        build(text, output, original=load(a), weights={"b.bin": b})
        assert firsts(output) == [1, 2, 2, 3]
    (tmp_path / "text" / WEIGHT).write_bytes((tmp_path / "a" / WEIGHT).read_bytes())
    build(text, tmp_path / "T.mlpackage", weights={"b.bin": b})
    assert firsts(tmp_path / "T.mlpackage") == [1, 2, 2, 3]


@pytest.mark.parametrize("kind", ["mlmodel", "mlmodelc"])
def test_other_kinds_of_originals(kind: str, packages: tuple[Path, Path], offsets: list[int], tmp_path: Path) -> None:
    a, b = packages
    (tmp_path / "out").mkdir()
    original = tmp_path / "out" / f"A.{kind}"
    build(open_model(a), original) if kind == "mlmodel" else compile_package(a, original)
    text = text_model(both(offsets), tmp_path / "text")
    for output in (tmp_path / "out/AB.mlmodel", tmp_path / "AB.mlpackage"):
        build(text, output, original=load(original), weights={"b.bin": b}, prune_weights=output.suffix == ".mlmodel")
        assert firsts(output) == [1, 2, 2, 3]


def test_a_text_by_itself(packages: tuple[Path, Path], offsets: list[int], tmp_path: Path) -> None:
    """Its own folder counts unless another one is given."""
    _, b = packages
    text = text_model(both(offsets), tmp_path / "a")
    build(text, tmp_path / "AB.mlpackage", weights={"b.bin": b})
    assert firsts(tmp_path / "AB.mlpackage") == [1, 2, 2, 3]
    build(text, tmp_path / "BB.mlpackage", weights=[b, {"b.bin": b}])
    assert firsts(tmp_path / "BB.mlpackage") == [2, 3, 2, 3]
    refused_build("MIL302", "b.bin", text, tmp_path / "C.mlpackage", weights=tmp_path / "b")


# ---- files that differ


@pytest.mark.parametrize("pruned", [False, True])
def test_a_name_that_both_have_is_refused(
    pruned: bool, packages: tuple[Path, Path], offsets: list[int], tmp_path: Path
) -> None:
    a, b = packages
    names = {"w0": (WEIGHT, offsets[0])}
    text = text_model(program_of(function_of(names)), tmp_path / "text")
    for given in (b, {WEIGHT: b}, b / DATA, [b / DATA / "weights"]):
        said = refused_build(
            "MIL310", "--weights-as", text, tmp_path / "C.mlpackage",
            original=load(a), weights=given, prune_weights=pruned,
        )  # fmt: skip
        assert "m.mil:4:" in said
        assert "A.mlpackage" in said
        assert "B.mlpackage" in said


def test_two_files_that_are_given_for_one_name_are_claimed_to_be(
    packages: tuple[Path, Path], offsets: list[int], tmp_path: Path
) -> None:
    a, b = packages
    text = text_model(program_of(function_of({"w0": (OTHER, offsets[0])})), tmp_path / "text")
    for given in ([{OTHER: a}, {OTHER: b}], [{OTHER: b}, {OTHER: a}]):
        said = refused_build(
            "MIL310", "leave one out", text, tmp_path / "C.mlpackage", original=load(a), weights=given
        )  # fmt: skip
        assert "both are given" in said


def test_files_of_one_name_and_the_same_bytes_are_one(
    packages: tuple[Path, Path], offsets: list[int], tmp_path: Path
) -> None:
    a, _ = packages
    text = text_model(program_of(function_of({"w0": (WEIGHT, offsets[0])})), tmp_path / "text")
    build(text, tmp_path / "C.mlpackage", original=load(a), weights=[a, tmp_path / "a"])
    assert firsts(tmp_path / "C.mlpackage") == [1]


def test_a_model_in_place_of_a_text_means_its_own_weights(
    packages: tuple[Path, Path], offsets: list[int], tmp_path: Path
) -> None:
    """B's program would read other numbers in A's file, where its records have the same places."""
    a, b = packages
    refused_build("MIL310", "--weights-as", open_model(b), tmp_path / "C.mlpackage", original=load(a))
    text = text_model(
        program_of(function_of({f"w{index}": (OTHER, each) for index, each in enumerate(offsets)})), tmp_path
    )
    build(text, tmp_path / "Named.mlpackage", weights={"b.bin": b})
    build(open_model(tmp_path / "Named.mlpackage"), tmp_path / "C.mlpackage", original=load(a))
    assert firsts(tmp_path / "C.mlpackage") == [2, 3]
    shutil.copytree(a, tmp_path / "Same.mlpackage")
    build(open_model(tmp_path / "Same.mlpackage"), tmp_path / "D.mlpackage", original=load(a))
    assert firsts(tmp_path / "D.mlpackage") == [1, 2]


def test_folders_that_differ_need_a_name(packages: tuple[Path, Path], offsets: list[int], tmp_path: Path) -> None:
    a, b = packages
    text = text_model(program_of(function_of({"w0": (WEIGHT, offsets[0])})), tmp_path / "text")
    refused_build("MIL310", "two weight files", text, tmp_path / "C.mlpackage", weights=[a, b])
    refused_build(
        "MIL310", "two weight files", text, tmp_path / "C.mlpackage", weights=[{WEIGHT: a}, {"weight.bin": b}]
    )
    build(text, tmp_path / "C.mlpackage", weights=[a, {WEIGHT: a}])


def test_only_names_of_the_text_are_looked_for(offsets: list[int], tmp_path: Path) -> None:
    """What another stage of the original names is no matter, though a given folder has another file of that name."""
    stages = []
    for file in ("weights/0.bin", "weights/1.bin"):
        made = miltext.parse(program_of(function_of({"w": (file, offsets[0])})))
        stages.append(Spec(specificationVersion=9, mlProgram=made))
    source = write_package(tmp_path / "P.mlpackage", pipeline(*stages).SerializeToString())
    for name in "01":
        write_weights(source / DATA / f"weights/{name}.bin", [numbers(10 + int(name))])
    write_weights(tmp_path / "other/0.bin", [numbers(7)])
    write_weights(tmp_path / "other/b.bin", [numbers(8)])
    text = text_model(program_of(function_of({"w": (OTHER, 64)})), tmp_path / "text")
    build(text, tmp_path / "Q.mlpackage", original=open_model(source), model=1, weights=tmp_path / "other")
    assert firsts(tmp_path / "Q.mlpackage") == [10, 8]
    whole = open_model(source)
    refused_build("MIL310", "weights/0.bin", whole, tmp_path / "R.mlpackage", weights=tmp_path / "other")


def test_a_file_that_the_original_lacks_too(packages: tuple[Path, Path], offsets: list[int], tmp_path: Path) -> None:
    a, _ = packages
    kept = shutil.copy(a / DATA / WEIGHT, tmp_path / "kept.bin")
    (a / DATA / WEIGHT).unlink()
    found = miltext.build(open_model(a), tmp_path / "C.mlpackage", weights={WEIGHT: kept})
    assert found == []
    assert firsts(tmp_path / "C.mlpackage") == [1, 2]
    assert [each.code for each in miltext.build(open_model(a), tmp_path / "D.mlpackage")] == ["MIL451"]


# ---- names and files that are wrong


def test_a_name_that_the_text_does_not_have(packages: tuple[Path, Path], offsets: list[int], tmp_path: Path) -> None:
    a, b = packages
    text = text_model(both(offsets), tmp_path / "text")
    given: Any
    for given in ({"c.bin": b}, {"": b}, [{"b.bin": b}, {"weights": b}], {"other/b.bin": b}):
        said = refused_build("MIL311", "weights/b.bin", text, tmp_path / "C.mlpackage", original=load(a), weights=given)
        assert "no value is in a weight file" in said
    names = {"w0": ("one/w.bin", 64), "w1": ("two/w.bin", 64)}
    several = text_model(program_of(function_of(names)), tmp_path / "text")
    refused_build("MIL311", "several values", several, tmp_path / "C.mlpackage", weights={"w.bin": b})
    build(several, tmp_path / "C.mlpackage", weights={"one/w.bin": a, "two/w.bin": b})
    assert firsts(tmp_path / "C.mlpackage") == [1, 2]


def test_files_that_cannot_be_taken(packages: tuple[Path, Path], offsets: list[int], tmp_path: Path) -> None:
    a, b = packages
    text = text_model(both(offsets), tmp_path / "text")
    (tmp_path / "none").mkdir()
    (tmp_path / "text.bin").write_text("no weights" * 20)
    shutil.copy(b / DATA / WEIGHT, b / DATA / "weights/more.bin")
    cases = {
        tmp_path / "gone.bin": ("MIL302", "gone.bin"),
        tmp_path / "text.bin": ("MIL304", "text.bin"),
        tmp_path / "none": ("MIL311", "no weight files"),
        b: ("MIL311", "more.bin"),
    }
    for path, (code, saying) in cases.items():
        refused_build(code, saying, text, tmp_path / "C.mlpackage", original=load(a), weights={"b.bin": path})
    refused_build("MIL302", "b.bin", text, tmp_path / "C.mlpackage", original=load(a), weights=tmp_path / "gone")
    refused_build("MIL302", "b.bin", text, tmp_path / "C.mlpackage", original=load(a))


def test_a_record_that_the_given_file_does_not_have(packages: tuple[Path, Path], tmp_path: Path) -> None:
    a, b = packages
    text = text_model(program_of(function_of({"w": (OTHER, 128)})), tmp_path / "text")
    refused_build("MIL305", "b.bin", text, tmp_path / "C.mlpackage", original=load(a), weights={"b.bin": b})


def test_a_given_file_may_be_a_link(packages: tuple[Path, Path], offsets: list[int], tmp_path: Path) -> None:
    a, b = packages
    link(tmp_path / "link.bin", b / DATA / WEIGHT)
    text = text_model(both(offsets), tmp_path / "text")
    build(text, tmp_path / "AB.mlpackage", original=load(a), weights={"b.bin": tmp_path / "link.bin"})
    assert not os.path.islink(tmp_path / "AB.mlpackage" / DATA / OTHER)
    assert firsts(tmp_path / "AB.mlpackage") == [1, 2, 2, 3]


def test_a_compiled_pipeline_has_a_folder_for_each_model(packages: tuple[Path, Path], tmp_path: Path) -> None:
    from support.containers import coremldata

    from miltext.schema.proto import ModelDescription

    a, b = packages
    compile_package(a, tmp_path / "P.mlmodelc/model0")
    (tmp_path / "P.mlmodelc/coremldata.bin").write_bytes(coremldata(ModelDescription(), number=202))
    refused_build(
        "MIL311", "compiled pipeline", open_model(tmp_path / "P.mlmodelc"), tmp_path / "C.mlpackage", weights=b
    )
    text = text_model(program_of(function_of({"w": (OTHER, 64)})), tmp_path / "text")
    original = open_model(tmp_path / "P.mlmodelc")
    build(text, tmp_path / "C.mlpackage", original=original, model=0, weights={"b.bin": b})
    assert firsts(tmp_path / "C.mlpackage") == [2]


def test_a_draft_takes_them_too(packages: tuple[Path, Path], offsets: list[int], tmp_path: Path) -> None:
    a, b = packages
    draft = program_of(
        "    func main<ios18>(tensor<fp16, [40]> x) {\n"
        f"{constant('w', OTHER, offsets[1])}            y = add(x = x, y = w);\n        }} -> (y);\n"
    )
    build(text_model(draft, tmp_path / "text"), tmp_path / "C.mlpackage", original=load(a), weights={"b.bin": b})
    assert firsts(tmp_path / "C.mlpackage") == [3]
