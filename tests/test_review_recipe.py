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

from miltext.models import load

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


def test_the_comment_tells_of_each_model_that_changed(tmp_path: Path) -> None:
    for side, models in {"old": ("same", "changed one", "gone"), "new": ("same", "changed one", "new")}.items():
        for name in models:
            shutil.copytree(EXAMPLE, tmp_path / side / "models" / f"{name}.mlpackage")
    path = next((tmp_path / "new" / "models" / "changed one.mlpackage").rglob("*.mlmodel"))
    model = load(path)
    assert model.spec is not None
    operations = next(iter(model.program.functions["main"].block_specializations.values())).operations
    next(operation for operation in operations if operation.type == "relu").type = "tanh"
    path.write_bytes(model.spec.SerializeToString())
    (script,) = (step["run"] for step in workflow()["steps"] if step.get("name") == "Compare")
    environment = {**os.environ, "PATH": os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])}
    subprocess.run(["bash", "-e", "-c", script], cwd=tmp_path, env=environment, check=True)
    comment = (tmp_path / "comment.md").read_text()
    assert comment.startswith("<!-- miltext diff -->\n")
    assert "`models/gone.mlpackage` is gone." in comment
    assert "`models/new.mlpackage` is new." in comment
    assert "<summary>models/changed one.mlpackage</summary>" in comment
    assert "relu" in comment
    assert "tanh" in comment
    assert "same.mlpackage" not in comment


def test_the_steps_are_all_there() -> None:
    steps = workflow()["steps"]
    assert [step.get("name") for step in steps if "name" in step] == ["Compare", "Comment"]
