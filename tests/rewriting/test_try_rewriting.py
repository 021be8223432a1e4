"""A sample of what `scripts/try_rewriting.py` tries on thousands of programs."""

from __future__ import annotations

import subprocess
import sys

import pytest
from conftest import ROOT

pytest.importorskip("coremltools")


def test_planted_rules_are_rewritten_and_proven() -> None:
    script = ROOT / "scripts" / "try_rewriting.py"
    words = [sys.executable, str(script), "--programs", "12", "--seed", "7", "--rule", "softmax", "--rule", "cast_pair"]
    ended = subprocess.run(words, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout
    assert ended.stdout.splitlines()[-1].startswith("12 programs, ")
    assert "softmax" in ended.stdout.partition("sites of rules")[2]
    assert "cast_pair" in ended.stdout.partition("sites of rules")[2]
