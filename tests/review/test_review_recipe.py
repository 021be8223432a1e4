"""The recipes of docs/review-in-ci.md, run as people and GitHub would, together in one repository."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from support.repositories import EXAMPLE, MODEL, WEIGHTS, Repository, changes

RECIPE = ROOT / "docs" / "review-in-ci.md"
ACTION = ROOT / "action.yml"

pytestmark = [
    pytest.mark.skipif(not RECIPE.exists(), reason="needs the source tree"),
    pytest.mark.skipif(sys.platform == "win32" or not shutil.which("bash"), reason="needs bash"),
    pytest.mark.skipif(shutil.which("git") is None, reason="needs git"),
]

TEXT = """\
program(1.3)
{
    func main<ios18>(tensor<fp16, [2]> x) {
            tensor<fp16, [2]> y = relu(x = x)[name = string("y")];
        } -> (y);
}
"""


def blocks(language: str) -> list[str]:
    """The code blocks of the page in a language."""
    page = RECIPE.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)


def loaded(block: str) -> Any:
    yaml = pytest.importorskip("yaml", reason="needs PyYAML")
    return yaml.safe_load(block)


def steps() -> dict[str, dict[str, Any]]:
    """The steps of the action, by name."""
    return {step["name"]: step for step in loaded(ACTION.read_text(encoding="utf-8"))["runs"]["steps"]}


class Review(Repository):
    """A repository whose miltext, pre-commit and `gh` are found as on a runner of GitHub."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.outside = folder / "outside"
        self.outside.mkdir()
        tools = {"miltext": f'exec {sys.executable} -m miltext "$@"', "gh": self._gh()}
        for name, line in tools.items():
            (self.outside / name).write_text(f"#!/bin/sh\n{line}\n")
            (self.outside / name).chmod(0o755)
        (self.outside / "ids").write_text("")
        self.environment["PATH"] = os.pathsep.join([str(self.outside), self.environment["PATH"]])
        self.environment["PRE_COMMIT_HOME"] = str(folder / "pre-commit")

    def _gh(self) -> str:
        """A `gh` that writes down how it is called, and knows the comments that are in the file `ids`."""
        folder = self.outside
        return f"echo \"$@\" >> '{folder}/calls'\ncase \"$*\" in *--paginate*) cat '{folder}/ids';; esac"

    def step(self, name: str, base: str, status: int = 0, **environment: str) -> str:
        """Run a step of the workflow, and return what it writes."""
        output, summary = self.outside / "output", self.outside / "summary"
        output.write_text("")
        given = {"BASE": base, "REPOSITORY": "repos/owner/name", "NUMBER": "7", "TMPDIR": str(self.outside)}
        given |= {"GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(summary)}
        self.environment.update(given, **environment)
        command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", steps()[name]["run"]]  # GitHub's own
        return self._run(command, status)

    def compared(self, base: str) -> tuple[str, str]:
        """The comment that the workflow makes, and whether anything changed."""
        self.step("Compare", base)
        outputs = dict(line.split("=", 1) for line in (self.outside / "output").read_text().splitlines())
        self.comment = outputs["comment"]
        comment = Path(self.comment).read_text(encoding="utf-8")
        assert (self.outside / "summary").read_text(encoding="utf-8").endswith(comment.partition("\n")[2])
        return comment, outputs["changed"]

    def commented(self, changed: str, *there: str) -> list[str]:
        """How GitHub is called, where these comments are there, but for asking which."""
        (self.outside / "ids").write_text("".join(f"{each}\n" for each in there))
        (self.outside / "calls").unlink(missing_ok=True)
        self.step("Comment", "", CHANGED=changed, COMMENT=self.comment)
        calls = (self.outside / "calls").read_text().splitlines()
        return [line for line in calls if "--paginate" not in line]

    def hooks(self, status: int = 0) -> str:
        """Run the hooks of the page on all files: as published they would be installed from the network."""
        (asked,) = loaded(blocks("yaml")[0])["repos"]
        published = {hook["id"]: hook for hook in loaded((ROOT / ".pre-commit-hooks.yaml").read_text())}
        hooks = [{**published[each["id"]], **each, "language": "system"} for each in asked["hooks"]]
        config = json.dumps({"repos": [{"repo": "local", "hooks": hooks}]})
        (self.folder / ".pre-commit-config.yaml").write_text(config)  # JSON is YAML
        self.git("add", ".")
        return self._run([sys.executable, "-m", "pre_commit", "run", "--all-files"], status)


@pytest.fixture
def review(tmp_path: Path) -> Review:
    return Review(tmp_path)


def test_the_recipes_together_in_one_repository(review: Review) -> None:
    pytest.importorskip("pre_commit", reason="needs pre-commit")
    # a clone that shows models as text
    review.miltext("git", "setup")
    review.miltext("sidecar", "Model.mlpackage")
    (review.folder / "block.mil").write_text(TEXT)
    review.hooks()
    review.commit()
    base = review.git("rev-parse", "HEAD").strip()
    # an edit, of which the sidecar and the hooks know
    review.edit()
    assert changes(review.git("diff", "--", "*.mlmodel")) == ["-relu", "+tanh"]
    assert "operation: relu -> tanh" in review.miltext("diff", "--git", "HEAD", status=1)
    (review.folder / "block.mil").write_text(TEXT.replace("relu(x = x)", "relu(x = z)"))
    refused = review.hooks(status=1)
    assert ("stale:" in refused, "block.mil:4:" in refused) == (True, True)
    review.miltext("sidecar", "Model.mlpackage")
    told = review.miltext("check", "--format", "github", ".", status=1)
    assert told.startswith("::error file=block.mil,line=4,")
    (review.folder / "block.mil").write_text(TEXT.replace("[2]", "[3]"))
    review.hooks()
    assert review.miltext("check", "--format", "github", ".") == ""
    review.commit()
    # the pull request
    comment, changed = review.compared(base)
    assert changed == "yes"
    assert comment.startswith("<!-- miltext diff -->\n")
    assert "operation: relu -> tanh" in comment
    assert "block.mil" in comment
    assert "Model.mlpackage.mil" not in comment
    assert review.commented(changed) == [
        f"api --method POST repos/owner/name/issues/7/comments -F body=@{review.comment}"
    ]
    broken = review.step("Keep callers", base, status=1)
    assert "~ input-shape x: fp16 [2] -> fp16 [3]" in broken
    # one more commit takes it back
    review.git("revert", "--no-edit", "HEAD")
    comment, changed = review.compared(base)
    assert (changed, "No difference." in comment) == ("no", True)
    patch = f"api --method PATCH repos/owner/name/issues/comments/42 -F body=@{review.comment}"
    assert review.commented(changed, "42", "43") == [patch]
    assert review.commented(changed) == []
    assert review.step("Keep callers", base) == "no breaking change\n"
    review.miltext("git", "undo")


def test_the_comment_reports_each_model_that_changed(review: Review) -> None:
    for name in ("changed one", "gone"):
        shutil.copytree(EXAMPLE, review.folder / "models" / f"{name}.mlpackage")
    for name in ("same.mil", "broken.mil", "a.mlmodel.0.mil"):
        (review.folder / name).write_text(TEXT)
    review.commit()
    models = review.folder / "models"
    weights = models / "changed one.mlpackage" / WEIGHTS.partition("/")[2]
    weights.write_bytes(weights.read_bytes()[:-1] + b"\7")
    shutil.copytree(models / "gone.mlpackage", models / "new.mlpackage")
    (models / "new.mlpackage" / MODEL.partition("/")[2]).write_bytes((EXAMPLE / MODEL.partition("/")[2]).read_bytes())
    for path in sorted(models.rglob("gone.mlpackage")):
        shutil.rmtree(path)
    (review.folder / "broken.mil").write_text(TEXT.replace("relu(", "relu(("))
    (review.folder / "a.mlmodel.0.mil").write_text(TEXT.replace("relu", "tanh"))
    review.commit()
    comment, changed = review.compared("HEAD~")
    assert changed == "yes"
    assert "models/changed one.mlpackage" in comment
    assert "1 differs" in comment
    assert "models/gone.mlpackage -> models/new.mlpackage" in comment
    assert "error[MIL010]: expected " in comment
    assert "same.mil" not in comment
    assert "a.mlmodel.0.mil" not in comment


def test_a_base_that_is_not_there_fails_the_job(review: Review) -> None:
    assert "error[MIL845]" in review.step("Compare", "0" * 40, status=1)


def test_the_action_checks_models_and_texts(review: Review) -> None:
    (review.folder / "a b").mkdir()
    (review.folder / "block.mil").write_text(TEXT)
    review.commit()
    assert review.step("Check", "", PATHS=".") == ""
    (review.folder / "block.mil").write_text(TEXT.replace("relu(x = x)", "relu(x = z)"))
    for paths in (".", "block.mil Model.mlpackage", "  block.mil "):
        assert "::error file=block.mil,line=4," in review.step("Check", "", 1, PATHS=paths)
    assert review.step("Check", "", PATHS="Model.mlpackage") == ""


def test_the_steps_are_all_there_and_run_where_they_can() -> None:
    action = loaded(ACTION.read_text(encoding="utf-8"))
    assert [*steps()] == ["Install", "Compare", "Comment", "Keep callers", "Check"]
    assert steps()["Install"]["run"].endswith(' "$PLACE"')
    assert steps()["Install"]["env"] == {"PLACE": "${{ github.action_path }}"}
    conditions = {name: step.get("if", "") for name, step in steps().items()}
    assert [name for name, condition in conditions.items() if "pull_request" in condition] == [*steps()][1:4]
    assert [name for name, step in steps().items() if step["shell"] != "bash" or "${{" in step["run"]] == []
    assert {*re.findall(r"inputs\.(\w+)", ACTION.read_text(encoding="utf-8"))} == {*action["inputs"]}


def test_the_page_lists_the_inputs_of_the_action() -> None:
    action = loaded(ACTION.read_text(encoding="utf-8"))
    page = RECIPE.read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE) == [*action["inputs"]]
    _, workflow = blocks("yaml")
    (used,) = [step for step in loaded(workflow)["jobs"]["models"]["steps"] if step["uses"].endswith("/miltext@main")]
    assert {*used["with"]} <= {*action["inputs"]}
