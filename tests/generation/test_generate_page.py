"""docs/generate.md: its examples run as they are, and it names each option."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from conftest import ROOT, Check
from hypothesis import settings
from support.running import RUNNER

from miltext.cli import command
from miltext.cli.generate_verb import command as verb
from miltext.generation.options import Options

PATH = ROOT / "docs" / "generate.md"
PAGE = PATH.read_text(encoding="utf-8")
SHOWN = re.compile(r"```sh\nmiltext (.*)\n```\n\n```text\n(.*?)```\n", re.DOTALL)


def test_the_command_prints_the_page(matches_golden: Check) -> None:
    found = SHOWN.search(PAGE)
    assert found
    written = RUNNER.invoke(command, found[1].split()).stdout
    matches_golden(PATH, PAGE[: found.start(2)] + written + PAGE[found.end(2) :])


def test_the_examples_run_unchanged() -> None:
    examples = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    assert len(examples) == 3
    names: dict[str, Any] = {"few": settings(max_examples=3, deadline=None, database=None)}
    for example in examples:
        exec(re.sub(r"@settings\(max_examples=\d+\)", "@few", example), names)


ELSEWHERE = ("--output", "--seed", "--force", "--quiet", "--color")
"""Options that the page shows in examples, or that every verb has."""


def test_each_option_is_named() -> None:
    assert [field.name for field in dataclasses.fields(Options) if f"`{field.name}`" not in PAGE] == []
    options = [option for parameter in verb.params for option in parameter.opts if option.startswith("--")]
    assert [option for option in options if f"`{option}" not in PAGE and option not in ELSEWHERE] == []
