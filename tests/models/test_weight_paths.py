"""Names of weight files: what may be followed, and that nothing leads outside."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import miltext
from miltext.files.refusals import WeightsError
from miltext.syntax.literals import quote
from miltext.weight_files.blob_storage import BlobFile, BlobWriter
from miltext.weight_files.paths import escape, resolve

NAME = "@model_path/weights/weight.bin"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model's folder, with its weight file, and a file beside it that is not the model's."""
    folder = tmp_path / "model"
    (folder / "weights").mkdir(parents=True)
    for path in (folder / "weights/weight.bin", tmp_path / "secret.bin"):
        BlobWriter(path).close()
    return folder


def code_of(failure: pytest.ExceptionInfo[WeightsError]) -> str:
    return failure.value.diagnostics[0].code


def link(path: Path, target: Path | str, *, folder: bool = False) -> None:
    try:
        path.symlink_to(target, target_is_directory=folder)
    except OSError as failure:
        pytest.skip(f"no links here: {failure}")


def test_a_name_inside_the_model(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = Path(os.path.realpath(model)) / "weights" / "weight.bin"
    assert resolve(NAME, model) == expected
    assert resolve("@model_path/./weights//weight.bin", model) == expected
    monkeypatch.chdir(model)
    assert resolve(NAME, Path()) == expected


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("weights/weight.bin", "does not start with @model_path/"),
        ("", "does not start"),
        ("@model_path", "does not start"),
        ("@model_path/", "does not start"),
        ("@model_pathological/weight.bin", "does not start"),
        ("@MODEL_PATH/weights/weight.bin", "does not start"),
        (" @model_path/weights/weight.bin", "does not start"),
        ("/etc/passwd", "does not start"),
        ("file:///etc/passwd", "does not start"),
        ("@model_path//etc/passwd", "absolute"),
        ("@model_path/../secret.bin", "leads outside"),
        ("@model_path/weights/../../secret.bin", "leads outside"),
        ("@model_path/weights/..", "leads outside"),
        ("@model_path/weights/../weights/weight.bin", "leads outside"),
        ("@model_path/..\\secret.bin", "backslash"),
        ("@model_path\\..\\secret.bin", "does not start"),
        ("@model_path/\\\\server\\share", "backslash"),
        ("@model_path/C:/secret.bin", "drive letter"),
        ("@model_path/weights/c:secret.bin", "drive letter"),
        ("@model_path/weights/weight.bin\0.txt", "NUL"),
    ],
)
def test_a_name_that_is_not_followed(model: Path, name: str, reason: str) -> None:
    with pytest.raises(WeightsError, match=reason) as failure:
        resolve(name, model)
    assert code_of(failure) == "MIL301"
    assert repr(name) in str(failure.value)
    assert str(model) in str(failure.value)
    assert "inside the model's folder" in str(failure.value)


@pytest.mark.parametrize(
    "name", ["gone.bin", "weights/weight.bin/deeper", "lone\ud800surrogate", "x" * 5000, "weights"]
)
def test_no_file_of_that_name(model: Path, name: str) -> None:
    with pytest.raises(WeightsError) as failure:
        resolve(f"@model_path/{name}", model)
    assert code_of(failure) == "MIL302"


def test_a_link_that_leads_outside(model: Path) -> None:
    link(model / "weights/out.bin", model.parent / "secret.bin")
    link(model / "weights/relative.bin", "../../secret.bin")
    link(model / "out", model.parent, folder=True)
    link(model / "weights/twice.bin", "out.bin")
    for name in ("weights/out.bin", "weights/relative.bin", "out/secret.bin", "weights/twice.bin"):
        with pytest.raises(WeightsError, match="leads outside through a link") as failure:
            resolve(f"@model_path/{name}", model)
        assert code_of(failure) == "MIL301"
        assert "cp -RL" in str(failure.value)


def test_a_folder_whose_name_only_begins_alike_is_outside(model: Path) -> None:
    beside = model.with_name("model-2")
    beside.mkdir()
    BlobWriter(beside / "weight.bin").close()
    link(model / "beside.bin", beside / "weight.bin")
    with pytest.raises(WeightsError, match="leads outside"):
        resolve("@model_path/beside.bin", model)


def test_links_that_stay_inside(model: Path) -> None:
    link(model / "shared.bin", "weights/weight.bin")
    link(model.parent / "alias", model, folder=True)
    path = resolve("@model_path/shared.bin", model.parent / "alias")
    assert path == resolve(NAME, model)
    with BlobFile(path) as file:
        assert len(file) == 0


def test_links_in_a_circle(model: Path) -> None:
    link(model / "a.bin", "b.bin")
    link(model / "b.bin", "a.bin")
    with pytest.raises(WeightsError) as failure:
        resolve("@model_path/a.bin", model)
    assert code_of(failure) == "MIL302"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs on this system")
def test_a_fifo_is_refused_and_not_waited_for(model: Path) -> None:
    os.mkfifo(model / "pipe.bin")
    with pytest.raises(WeightsError, match="not a regular file") as failure:
        resolve("@model_path/pipe.bin", model)
    assert code_of(failure) == "MIL302"
    with pytest.raises(WeightsError, match="not a regular file") as failure:
        BlobFile(model / "pipe.bin")
    assert code_of(failure) == "MIL302"


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no device files on this system")
def test_a_device_is_refused() -> None:
    with pytest.raises(WeightsError, match="not a regular file"):
        resolve("@model_path/zero", Path("/dev"))
    with pytest.raises(WeightsError, match="not a regular file"):
        BlobFile("/dev/zero")


def test_opening_a_path_that_is_not_a_file(model: Path) -> None:
    for path in (model / "gone.bin", model):
        with pytest.raises(WeightsError) as failure:
            BlobFile(path)
        assert code_of(failure) == "MIL302"
        assert str(path) in str(failure.value)


@pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="this system cannot refuse links when opening")
def test_a_link_put_in_place_of_the_file_is_not_opened(model: Path) -> None:
    path = resolve(NAME, model)
    path.unlink()
    link(path, model.parent / "secret.bin")
    with pytest.raises(WeightsError, match="it is a link") as failure:
        BlobFile(path)
    assert code_of(failure) == "MIL302"


PARTS = ["..", ".", "", "weights", "weight.bin", "C:", "c:x", "a\\b", "..\\x", "\0", "...", ".hidden", "a b", "größe"]


@pytest.mark.parametrize("start", [("@model_path",), (), ("@model_path", "@model_path"), ("",), ("@model_path", "")])
@given(st.lists(st.sampled_from(PARTS), min_size=1, max_size=4))
def test_check_reports_each_path_that_leads_out_of_the_model(start: tuple[str, ...], parts: list[str]) -> None:
    name = "/".join([*start, *parts])
    where = f"BLOBFILE(path = string({quote(name)}), offset = uint64(64))"
    text = f"program(1.3) {{ func f<ios16>(fp16 x) {{ fp16 w = const()[val = fp16({where})]; }} -> (w); }}"
    draft = f"program(1.3) {{ func f<ios16>(fp16 x) {{ y = add(x, fp16($blob({quote(name)}, 64))); }} -> (y); }}"
    own = name if name.startswith("@") else f"@model_path/{name}"  # what a draft means by it
    for meant, subject in ((name, text), (name, miltext.parse(text)), (own, draft)):
        told = [each for each in miltext.check(subject) if each.code == "MIL614"]
        assert len(told) == (escape(meant) is not None)
        assert [each.severity for each in told] == ["error"] * len(told)
    if start[:1] == ("@model_path",):
        with pytest.raises(WeightsError) as refused:
            resolve(name, Path("/nowhere"))
        assert (code_of(refused) == "MIL301") == (escape(name) is not None)


@pytest.mark.parametrize(
    "name", ["@model_path/../../etc/passwd", "/etc/passwd", "../x", "@model_path/./../x", "@model_path/weights/."]
)
def test_no_path_that_leads_out_of_the_model_is_clean(name: str) -> None:
    assert escape(name)


@pytest.mark.parametrize("name", [NAME, "weight.bin", "@model_path/./weights//weight.bin", "@model_path/a..b", "..."])
def test_paths_inside_the_model_are_clean(name: str) -> None:
    assert escape(name) is None
