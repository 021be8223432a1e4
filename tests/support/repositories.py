"""Repositories of git with a model in them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from conftest import ROOT

import miltext

EXAMPLE = ROOT / "examples" / "Classifier.mlpackage"
MODEL = "Model.mlpackage/Data/com.apple.CoreML/model.mlmodel"
WEIGHTS = "Model.mlpackage/Data/com.apple.CoreML/weights/weight.bin"


class Repository:
    """A git repository with a model in it, and a home of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "repository"
        self.home = folder / "home"
        self.home.mkdir()
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "XDG_"))},
            "HOME": str(self.home),
            "USERPROFILE": str(self.home),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_PAGER": "cat",
        }
        shutil.copytree(EXAMPLE, self.folder / "Model.mlpackage")
        self.git("init", "-q")
        for key, value in (("user.name", "a"), ("user.email", "a@b"), ("core.autocrlf", "false")):
            self.git("config", key, value)
        self.commit()

    def git(self, *arguments: str, status: int = 0) -> str:
        return self._run(["git", *arguments], status)

    def miltext(self, *arguments: str, status: int = 0) -> str:
        return self._run([sys.executable, "-m", "miltext", *arguments], status)

    def _run(self, command: list[str], status: int) -> str:
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == status, (done.stdout.decode(), done.stderr.decode())
        return (done.stdout + done.stderr).decode()

    def commit(self) -> None:
        self.git("add", ".")
        self.git("commit", "-q", "-m", "change")

    def edit(self) -> None:
        """Make the first relu of the model a tanh."""
        path = self.folder / MODEL
        model = miltext.load(path)
        assert model.spec is not None
        operations = next(iter(model.program.functions["main"].block_specializations.values())).operations
        next(operation for operation in operations if operation.type == "relu").type = "tanh"
        path.write_bytes(model.spec.SerializeToString(deterministic=True))

    def state(self) -> dict[str, bytes]:
        """All that setup might touch."""
        files = [*(self.folder / ".git" / "info").rglob("*"), self.folder / ".git" / "config", *self.home.rglob("*")]
        return {str(path): path.read_bytes() for path in files if path.is_file()}


def changes(diff: str) -> list[str]:
    """The operations in the lines that a diff takes away and adds."""
    return [sign + name for sign, name in re.findall(r"^([-+]) .*? = (\w+)\(", diff, re.MULTILINE)]
