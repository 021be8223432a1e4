"""What else is in a package stays: a built, renamed or exposed one has all that the original has, and opens."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from support.containers import link, refused, spec, write_package
from support.model_checks import assert_coremltools_opens
from support.real_packages import convert, package

import miltext
from miltext.cli import command
from miltext.containers.opening import open_model

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "Classifier.mlpackage"
DATA = Path("Data", "com.apple.CoreML")


def relu(path: Path) -> None:
    convert(lambda mb, x: mb.relu(x=mb.tanh(x=x, name="inner"), name="y"), (1, 4)).save(str(path))


def cond(path: Path) -> None:
    def body(mb: Any, x: Any) -> Any:
        some = mb.reduce_sum(x=x, axes=[0, 1], keep_dims=False, name="some")
        inner = mb.relu(x=x, name="inner")
        return mb.cond(
            pred=mb.greater(x=some, y=0.0, name="more"),
            _true_fn=lambda: mb.relu(x=inner, name="yes"),
            _false_fn=lambda: mb.tanh(x=inner, name="no"),
            name="y",
        )

    convert(body, (1, 4)).save(str(path))


def loop(path: Path) -> None:
    def body(mb: Any, x: Any) -> Any:
        inner = mb.relu(x=x, name="inner")
        return mb.while_loop(
            _cond=lambda i, _: mb.less(x=i, y=4.0, name="less"),
            _body=lambda i, a: (mb.add(x=i, y=1.0, name="next"), mb.tanh(x=a, name="again")),
            loop_vars=(mb.reduce_sum(x=x, axes=[0, 1], keep_dims=False, name="some"), inner),
            name="y",
        )

    convert(body, (1, 4)).save(str(path))


def optional(path: Path) -> None:
    import coremltools as ct
    from coremltools.converters.mil import Builder as mb

    @mb.program(input_specs=[mb.TensorSpec((2,)), mb.TensorSpec((2,))], opset_version=ct.target.iOS17)  # type: ignore[untyped-decorator]
    def program(x: Any, more: Any) -> Any:
        return mb.add(x=mb.relu(x=x, name="inner"), y=more, name="y")

    inputs = [
        ct.TensorType(name="x", shape=(2,)),
        ct.TensorType(name="more", shape=(2,), default_value=np.ones(2, np.float32)),
    ]
    made = ct.convert(
        program,
        inputs=inputs,
        convert_to="mlprogram",
        minimum_deployment_target=ct.target.iOS17,
        compute_precision=ct.precision.FLOAT32,
        skip_model_load=True,
    )
    made.save(str(path))


UNWEIGHTED = {"relu": relu, "cond": cond, "while": loop, "optional": optional}
EDITS: dict[str, Callable[[str, str, str], list[str]]] = {
    "build": lambda source, text, out: ["build", text, "--from", source, "-o", out],
    "whole": lambda source, _, out: ["build", source, "-o", out],
    "rename": lambda source, _, out: ["rename", source, "x", "image", "-o", out],
    "expose": lambda source, _, out: ["expose", source, "inner", "-o", out],
}


@pytest.fixture(scope="module")
def unweighted(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A package of each kind, which coremltools makes when it is first asked for."""
    folder = tmp_path_factory.mktemp("unweighted")

    def made(kind: str) -> Path:
        path = folder / f"{kind}.mlpackage"
        if not path.exists():
            UNWEIGHTED[kind](path)
        return path

    return made


def listing(folder: Path) -> set[str]:
    """All files and folders of a package."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


def run(*arguments: str) -> None:
    result = CliRunner().invoke(command, list(arguments))
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("itself", [False, True], ids=["to another", "onto itself"])
@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("kind", UNWEIGHTED)
def test_a_package_without_weights_opens_still(
    kind: str, edit: str, itself: bool, unweighted: Callable[[str], Path], tmp_path: Path
) -> None:
    pytest.importorskip("coremltools")
    source = tmp_path / "M.mlpackage"
    shutil.copytree(unweighted(kind), source)
    before, manifest = listing(source), (source / "Manifest.json").read_text()
    assert not [name for name in before if name.endswith(".bin")]
    (tmp_path / "m.mil").write_text(miltext.to_text(miltext.load(source).program))
    out = source if itself else tmp_path / "New.mlpackage"
    run(*EDITS[edit](str(source), str(tmp_path / "m.mil"), str(out)), *["--force"] * itself)
    assert listing(out) == before
    assert json.loads((out / "Manifest.json").read_text()) == json.loads(manifest)
    assert_coremltools_opens(out)


@pytest.mark.parametrize("name", ["relu", "fp32"])
def test_a_listed_folder_that_git_did_not_keep_is_made(name: str, tmp_path: Path) -> None:
    pytest.importorskip("coremltools")
    source = tmp_path / "M.mlpackage"
    relu(source) if name == "relu" else shutil.copytree(package(name), source)
    shutil.rmtree(source / DATA / "weights")
    warnings = open_model(source).save(tmp_path / "New.mlpackage")
    assert {each.code for each in warnings} == ({"MIL451"} if name == "fp32" else set())
    assert (tmp_path / "New.mlpackage" / DATA / "weights").is_dir()
    import coremltools as ct

    ct.models.utils.load_spec(str(tmp_path / "New.mlpackage"))


def test_a_package_from_text_without_weights_opens(tmp_path: Path) -> None:
    pytest.importorskip("coremltools")
    text = tmp_path / "m.mil"
    text.write_text(
        "program(1.3) { func main<ios18>(tensor<fp32, [2]> x) { tensor<fp32, [2]> y = relu(x = x); } -> (y); }"
    )
    run("build", str(text), "-o", str(tmp_path / "New.mlpackage"))
    assert_coremltools_opens(tmp_path / "New.mlpackage")
    text.write_text(text.read_text().replace("relu", "tanh"))
    run("build", str(text), "--from", str(tmp_path / "New.mlpackage"), "-o", str(tmp_path / "Other.mlpackage"))
    assert_coremltools_opens(tmp_path / "Other.mlpackage")


def odd_package(folder: Path) -> Path:
    """The example with all that else may be in a package: folders, links and items that nobody asked for."""
    made = folder / "Odd.mlpackage"
    shutil.copytree(EXAMPLE, made)
    for name in ("empty", "deep/er/empty", "Data/empty", f"{DATA.as_posix()}/weights/none"):
        (made / name).mkdir(parents=True)
    (made / "Data" / "me").mkdir()
    (made / "Data" / "me" / "notes.txt").write_text("keep this")
    (made / "LICENSE").write_text("none")
    shutil.copy(EXAMPLE / DATA / "weights" / "weight.bin", made / DATA / "weights" / "other.bin")
    link(made / "Data" / "alias.mlmodel", made / DATA / "model.mlmodel")
    manifest = json.loads((made / "Manifest.json").read_text())
    paths = [
        "me/notes.txt",
        "empty",
        "nul\0",
        "lone\ud800",
        "long" * 100,
        "gone.txt",
        "gone/folder",
        "../up",
        "/absolute",
        "me/notes.txt/x",
    ]
    manifest["itemInfoEntries"].update({f"id-{index}": {"path": path} for index, path in enumerate(paths)})
    (made / "Manifest.json").write_text(json.dumps(manifest))
    return made


@pytest.mark.parametrize("externalize", [None, 1])
def test_all_else_in_a_package_is_kept(externalize: int | None, tmp_path: Path) -> None:
    from miltext.drafting.building import build

    source = odd_package(tmp_path)
    before = listing(source)
    manifest = json.loads((source / "Manifest.json").read_text())
    model = open_model(source)
    model.program.functions["main"].block_specializations["CoreML6"].outputs.append("lit_cast_fp16")
    for out in (tmp_path / "New.mlpackage", source):
        build(model, out, externalize=externalize, force=True)
        assert listing(out) == before | {"Data/gone", "Data/gone/folder"}
        assert json.loads((out / "Manifest.json").read_text()) == manifest
        assert (out / "Data" / "me" / "notes.txt").read_text() == "keep this"
        assert (out / "Data" / "alias.mlmodel").stat().st_size > 0


def test_a_root_model_of_any_name_and_a_folder_of_a_file_name(tmp_path: Path) -> None:
    source = write_package(tmp_path / "P.mlpackage", spec().SerializeToString(), "net")
    manifest = (source / "Manifest.json").read_text()
    (source / "Data" / "deep").mkdir()
    (source / "Manifest.json").write_text(manifest.replace('"net"', '"deep/../net"'))
    open_model(source).save(tmp_path / "New.mlpackage")
    assert (tmp_path / "New.mlpackage" / "Data" / "net").is_file()
    assert open_model(tmp_path / "New.mlpackage").spec == open_model(source).spec


def test_a_folder_that_cannot_be_listed_is_not_taken_for_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = shutil.copytree(EXAMPLE, tmp_path / "M.mlpackage")
    real = os.scandir

    def closed(path: Any) -> Any:
        if str(path).endswith("weights"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    model = open_model(source)
    monkeypatch.setattr(os, "scandir", closed)
    with pytest.raises(PermissionError):
        model.save(tmp_path / "New.mlpackage")
    monkeypatch.undo()
    assert not (tmp_path / "New.mlpackage").exists()


def test_a_data_folder_that_is_a_link_to_elsewhere_is_refused(tmp_path: Path) -> None:
    source = shutil.copytree(EXAMPLE, tmp_path / "M.mlpackage")
    shutil.move(source / "Data", tmp_path / "Data")
    link(source / "Data", tmp_path / "Data")
    with refused("MIL255", "leads outside"):
        open_model(source)
