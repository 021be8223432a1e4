"""The recipe of docs/review-in-ci.md: its script, run as GitHub would, writes the comment that it promises."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

from miltext.models.opening import load
from miltext.models.weights import BlobWriter
from miltext.schema.dtypes import BY_NAME

RECIPE = ROOT / "docs" / "review-in-ci.md"
EXAMPLE = ROOT / "examples" / "Classifier.mlpackage"

pytestmark = [
    pytest.mark.skipif(not RECIPE.exists(), reason="needs the source tree"),
    pytest.mark.skipif(sys.platform == "win32" or not shutil.which("bash"), reason="needs bash"),
]


def workflow() -> dict[str, list[dict[str, str]]]:
    yaml = pytest.importorskip("yaml", reason="needs PyYAML")
    blocks = re.findall(r"^```yaml\n(.*?)^```$", RECIPE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    made: dict[str, list[dict[str, str]]] = yaml.safe_load(blocks[-1])["jobs"]["comment"]
    return made


TEXT = """\
program(1.3)
{
    func main<ios18>(tensor<fp16, [2]> x) {
            tensor<fp16, [2]> w = const()[name = string("w"), val = tensor<fp16, [2]>(BLOBFILE(path = string("@model_path/weights/weight.bin"), offset = uint64(64)))];
            tensor<fp16, [2]> y = add(x = x, y = w)[name = string("y")];
        } -> (y);
}
"""  # noqa: E501


@pytest.fixture
def checkouts(tmp_path: Path) -> Path:
    """A folder with the checkouts `old` and `new`, and a `gh` that writes down how it is called."""
    for side in ("old", "new"):
        (tmp_path / side / "models").mkdir(parents=True)
    (tmp_path / "bin").mkdir()
    gh = tmp_path / "bin" / "gh"
    gh.write_text(
        f"#!/bin/sh\necho \"$@\" >> '{tmp_path}/calls'\ncase \"$*\" in *--paginate*) cat '{tmp_path}/ids';; esac\n"
    )
    gh.chmod(0o755)
    (tmp_path / "ids").write_text("")
    return tmp_path


def compare(folder: Path) -> str:
    """What the script of the recipe finds: the comment."""
    _run("Compare", folder)
    return (folder / "comment.md").read_text()


def comment(folder: Path) -> list[str]:
    """How the recipe then calls GitHub, but for asking which comment there is."""
    (folder / "calls").unlink(missing_ok=True)
    _run("Comment", folder)
    return [line for line in (folder / "calls").read_text().splitlines() if "--paginate" not in line]


def _run(step: str, folder: Path) -> None:
    (script,) = (each["run"] for each in workflow()["steps"] if each.get("name") == step)
    script = script.replace("${{ github.repository }}", "owner/name")
    path = os.pathsep.join([str(folder / "bin"), os.path.dirname(sys.executable), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "PULL": "repos/owner/name/issues/7/comments"}
    for options in (["-e"], ["--noprofile", "--norc", "-eo", "pipefail"]):  # both shells that GitHub has
        subprocess.run(["bash", *options, "-c", script], cwd=folder, env=environment, check=True)


def put(folder: Path, name: str, text: str, weights: bytes | None = None) -> None:
    """A text on both sides, with weights beside it."""
    for side in ("old", "new"):
        path = folder / side / "models" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if weights is not None:
            (path.parent / "weights").mkdir(exist_ok=True)
            with BlobWriter(path.parent / "weights" / "weight.bin") as writer:
                writer.add_packed(BY_NAME["fp16"], weights)


def test_the_comment_tells_of_each_model_that_changed(checkouts: Path) -> None:
    tmp_path = checkouts
    for side, models in {"old": ("same", "changed one", "gone"), "new": ("same", "changed one", "new")}.items():
        for name in models:
            shutil.copytree(EXAMPLE, tmp_path / side / "models" / f"{name}.mlpackage")
    path = next((tmp_path / "new" / "models" / "changed one.mlpackage").rglob("*.mlmodel"))
    model = load(path)
    assert model.spec is not None
    operations = next(iter(model.program.functions["main"].block_specializations.values())).operations
    next(operation for operation in operations if operation.type == "relu").type = "tanh"
    path.write_bytes(model.spec.SerializeToString())
    comment = compare(tmp_path)
    assert comment.startswith("<!-- miltext diff -->\n")
    assert "`models/gone.mlpackage` is gone." in comment
    assert "`models/new.mlpackage` is new." in comment
    assert "<summary>models/changed one.mlpackage</summary>" in comment
    assert "relu" in comment
    assert "tanh" in comment
    assert "same.mlpackage" not in comment


def test_texts_are_compared_where_they_changed(checkouts: Path) -> None:
    for name in (
        "same.mil",
        "alone.mil",
        "gone.mil",
        "new.mil",
        "broken.mil",
        "Model.mlpackage.mil",
        "a.mlmodel.0.mil",
    ):
        put(checkouts, name, TEXT)
    put(checkouts, "spaced out/beside.mil", TEXT, b"\0\1\2\3")
    put(checkouts, "spaced out/inside.mlmodelc/model.mil", TEXT, b"\0\1\2\3")
    put(checkouts, "whole/same.mil", TEXT, b"\0\1\2\3")
    new = checkouts / "new" / "models"
    for name in ("alone.mil", "Model.mlpackage.mil", "a.mlmodel.0.mil", "spaced out/inside.mlmodelc/model.mil"):
        (new / name).write_text(TEXT.replace("add(", "sub("))
    (new / "broken.mil").write_text(TEXT.replace("add(", "add(("))
    (new / "gone.mil").unlink()
    (checkouts / "old" / "models" / "new.mil").unlink()
    weights = new / "spaced out" / "weights" / "weight.bin"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\7")
    told = compare(checkouts)
    assert "`models/gone.mil` is gone." in told
    assert "`models/new.mil` is new." in told
    assert re.findall("<summary>(.*)</summary>", told) == [
        "models/alone.mil",
        "models/broken.mil",
        "models/spaced out/beside.mil",
        "models/spaced out/inside.mlmodelc",
    ]
    alone = told.partition("models/alone.mil")[2].partition("</details>")[0]
    assert "add" in alone
    assert "sub" in alone
    assert "error[MIL010]" in told
    assert "weights: 1 differs" in told


def test_there_is_no_comment_of_nothing(checkouts: Path) -> None:
    assert compare(checkouts).endswith("\nNo model is different now.\n")
    assert comment(checkouts) == []
    put(checkouts, "same.mil", TEXT)
    put(checkouts, "laid out.mil", TEXT)
    (checkouts / "new" / "models" / "laid out.mil").write_text(TEXT.replace("   ", " "))
    compare(checkouts)
    assert comment(checkouts) == []
    (checkouts / "ids").write_text("42\n43\n")  # there is one from before
    patch = "api --method PATCH repos/owner/name/issues/comments/42 -F body=@comment.md"
    assert comment(checkouts) == [patch] * 2
    (checkouts / "new" / "models" / "same.mil").write_text(TEXT.replace("add(", "sub("))
    assert "### Models in this pull request" in compare(checkouts)
    assert comment(checkouts) == [patch] * 2
    (checkouts / "ids").write_text("")
    assert comment(checkouts) == ["api --method POST repos/owner/name/issues/7/comments -F body=@comment.md"] * 2


def test_sidecars_are_passed_over_as_check_does() -> None:
    from miltext.review import sidecar

    (script,) = (each["run"] for each in workflow()["steps"] if each.get("name") == "Compare")
    assert f"grep -Ev '{sidecar._NAME.pattern}'" in script


def test_the_steps_are_all_there() -> None:
    steps = workflow()["steps"]
    assert [step.get("name") for step in steps if "name" in step] == ["Compare", "Comment"]
