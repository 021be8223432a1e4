"""After a merge, the whole model is checked: description, program and weight files; by real git, and by hand."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.git_scenes import Checkout, require_sound
from support.model_checks import reported
from support.package_versions import FIRST, SECOND, Edit, folder_of, laid_anew, save, tanh
from support.running import RUNNER

import miltext
from miltext.cli import command
from miltext.containers.opening import open_model
from miltext.weight_files.model_weights import blob_values

pytest.importorskip("coremltools")

WEIGHTS = Path("weights", "weight.bin")
RESOLVE = "`miltext merge --resolve ours Model.mlpackage` takes ours whole"


def weights_alone(edit: Edit) -> Edit:
    """Leave the model as it was: only its weight file is another one."""

    def edited(package: Path) -> None:
        model = (folder_of(package) / "model.mlmodel").read_bytes()
        edit(package)
        (folder_of(package) / "model.mlmodel").write_bytes(model)

    return edited


def without_weights(package: Path) -> None:
    (folder_of(package) / WEIGHTS).unlink()


def renamed_weights(package: Path) -> None:
    """Give the weight file another name, in the program and on the disk."""
    folder, model = folder_of(package), miltext.load(package)
    (folder / WEIGHTS).rename(folder / "weights" / "other-weight.bin")
    for held in blob_values(model.program):
        held.value.blobFileValue.fileName = "@model_path/weights/other-weight.bin"
    assert model.spec is not None
    save(package, model.spec)


def checked(checkout: Checkout) -> set[str]:
    return {each.code for each in reported(checkout.package)}


LAID_OUT = {"anew": [laid_anew], "both": [laid_anew, FIRST]}


@pytest.mark.parametrize("theirs", LAID_OUT.values(), ids=LAID_OUT)
def test_weights_at_new_places_in_theirs_fit_our_program(theirs: list[Edit], any_checkout: Checkout) -> None:
    told = any_checkout.merge([tanh], theirs)
    assert any_checkout.unmerged == "", told
    require_sound(any_checkout.package)


def test_both_sides_changed_different_weights(any_checkout: Checkout) -> None:
    told = any_checkout.merge([tanh, FIRST], [laid_anew, SECOND])
    assert any_checkout.unmerged == "", told
    require_sound(any_checkout.package)


def test_a_renamed_weight_file_is_in_conflict(any_checkout: Checkout) -> None:
    told = any_checkout.merge([tanh], [renamed_weights])
    assert any_checkout.unmerged
    assert "the merge leaves no weight file" in told, told
    assert RESOLVE in told, told
    any_checkout.resolve("theirs", any_checkout.package.name)
    require_sound(any_checkout.package)


def test_a_renamed_file_of_other_weights_is_not_a_success(any_checkout: Checkout) -> None:
    told = any_checkout.merge([tanh, FIRST], [SECOND, renamed_weights])
    assert any_checkout.unmerged
    assert RESOLVE in told or "CONFLICT (modify/delete)" in told, told


def test_a_package_of_both_sides_with_other_layouts_is_merged(any_checkout: Checkout) -> None:
    told = any_checkout.merge([tanh], [laid_anew], added=True)
    if any_checkout.unmerged:
        assert RESOLVE in told, told
    require_sound(any_checkout.package)


def test_without_the_weights_of_a_side_ours_stays(any_checkout: Checkout) -> None:
    told = any_checkout.merge([tanh, FIRST], [without_weights, laid_out_description])
    assert any_checkout.unmerged
    assert "weight" in told
    assert RESOLVE in told, told


def laid_out_description(package: Path) -> None:
    spec = open_model(package).spec
    assert spec is not None
    spec.description.metadata.author = "theirs"
    save(package, spec)


@pytest.mark.parametrize(
    ("theirs", "code"), [(weights_alone(laid_anew), "MIL263"), (without_weights, "MIL264")], ids=["anew", "missing"]
)
def test_git_merges_without_a_driver_and_check_reports(theirs: Edit, code: str, any_checkout: Checkout) -> None:
    any_checkout.merge([tanh], [theirs])
    assert any_checkout.unmerged == ""  # each file was changed on one side only, so git asks nobody
    assert code in checked(any_checkout)


# ---- contradictions between description and program

TEXT = """program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 4]> x) {
            tensor<fp16, [1, 4]> h = relu(x = x)[name = string("h")];
            tensor<fp16, [1, 4]> y = tanh(x = h)[name = string("y")];
        } -> (y);
}
"""


def predicting(package: Path) -> None:
    """Name an output that the classifier predicts, which the other side renames."""
    spec = open_model(package).spec
    assert spec is not None
    spec.description.predictedProbabilitiesName = "y"
    save(package, spec)


def three(folder: Path) -> list[Path]:
    """A base, a side whose description names an output, and a side that renames the output."""
    (folder / "m.mil").write_text(TEXT)
    base, ours, theirs = (folder / f"{name}.mlpackage" for name in ("Base", "Ours", "Theirs"))
    miltext.build(folder / "m.mil", base)
    shutil.copytree(base, ours)
    predicting(ours)
    assert ran("rename", base, "y", "result", "-o", theirs)[0] == 0
    return [base, ours, theirs]


def ran(*arguments: object) -> tuple[int, str]:
    result = RUNNER.invoke(command, [str(each) for each in arguments])
    return result.exit_code, result.stdout + result.stderr


@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1)], ids=["ours", "theirs"])
def test_a_contradiction_of_both_sides_is_not_a_success(order: tuple[int, ...], tmp_path: Path) -> None:
    versions = three(tmp_path)
    base, ours, theirs = (versions[each] for each in order)
    out = tmp_path / "Merged.mlpackage"
    status, told = ran("merge", base, ours, theirs, "-o", out)
    assert (status, out.exists()) == (1, False)
    assert "error[MIL265]" in told
    assert "`predictedProbabilitiesName` names no output of `main`" in told
    assert ran("merge", base, ours, theirs, "-o", out, "--no-check")[0] == 0
    assert reported(out)


def test_a_contradiction_that_a_side_has_stays(tmp_path: Path) -> None:
    base, ours, _ = three(tmp_path)
    spec = open_model(ours).spec
    assert spec is not None
    spec.description.predictedProbabilitiesName = "nothing"
    save(ours, spec)
    (tmp_path / "m.mil").write_text(TEXT.replace("relu", "sigmoid"))
    theirs, out = tmp_path / "Edited.mlpackage", tmp_path / "Merged.mlpackage"
    assert ran("build", tmp_path / "m.mil", "--from", base, "-o", theirs)[0] == 0
    status, told = ran("merge", base, ours, theirs, "-o", out)
    assert status == 0, told
    assert reported(out) == reported(ours)


@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1)], ids=["ours", "theirs"])
def test_a_contradiction_of_a_side_stays_in_other_sizes(order: tuple[int, ...], tmp_path: Path) -> None:
    """The message names the type of the output, which the other side changes."""
    base, odd, _ = three(tmp_path)
    spec = open_model(base).spec
    assert spec is not None
    spec.description.output[0].type.multiArrayType.dataType = 131104
    save(odd, spec)
    resized, out = tmp_path / "Resized.mlpackage", tmp_path / "Merged.mlpackage"
    assert ran("reshape", base, "x=2,4", "-o", resized)[0] == 0
    versions = base, odd, resized
    status, told = ran("merge", *(versions[each] for each in order), "-o", out)
    assert status == 0, told
    (found,) = reported(out)
    assert (found.code, "[2, 4]" in found.message) == ("MIL265", True), found


def test_git_does_not_commit_a_contradiction_of_both_sides(checkout: Checkout, tmp_path: Path) -> None:
    base, ours, theirs = three(tmp_path)
    for name, source in (("main", base), ("theirs", theirs), ("ours", ours)):
        checkout.git("checkout", "-q", "-B", name, "main")
        shutil.rmtree(checkout.package, ignore_errors=True)
        shutil.copytree(source, checkout.package)
        checkout.commit()
    done = checkout.run("git", "merge", "--no-edit", "theirs")
    assert done.returncode == 1
    assert "model.mlmodel" in checkout.unmerged
    assert "neither side has these errors" in done.stderr
    assert RESOLVE in done.stderr
    assert reported(checkout.package) == reported(ours)
