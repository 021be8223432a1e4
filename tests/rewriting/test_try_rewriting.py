"""A sample of what `scripts/try_rewriting.py` tries on thousands of programs."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress

import pytest
from conftest import CORPUS, ROOT
from support.oracle import ORACLE
from support.program_sources import SOURCES, subjects

import miltext
from miltext.drafting.programs import program_of
from miltext.syntax.programs import own_copy

pytest.importorskip("coremltools")


def test_planted_rules_are_rewritten_and_proven() -> None:
    script = ROOT / "scripts" / "try_rewriting.py"
    words = [sys.executable, str(script), "--programs", "12", "--seed", "7", "--rule", "softmax", "--rule", "cast_pair"]
    ended = subprocess.run(words, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout
    assert ended.stdout.splitlines()[-1].startswith("12 programs, ")
    assert "softmax" in ended.stdout.partition("sites of rules")[2]
    assert "cast_pair" in ended.stdout.partition("sites of rules")[2]


@pytest.mark.parametrize("source", SOURCES)
def test_each_source_has_programs(source: str) -> None:
    needed = {"corpus": CORPUS, "ops": ORACLE, "torch": ORACLE}.get(source)
    if needed is not None and not needed.exists():
        pytest.skip(f"no {needed}; MILTEXT_CORPUS names another folder")
    for _, model, _ in subjects(source, 1):
        with suppress(miltext.MiltextError):  # some are wrong on purpose
            assert own_copy(program_of(model)).functions
            return
    pytest.fail(f"there are no programs in {source}")
