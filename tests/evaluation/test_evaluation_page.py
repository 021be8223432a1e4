"""docs/evaluation.md: its examples run as they are, and it says of each code and name what there is."""

from __future__ import annotations

import re
from typing import Any

import pytest
from conftest import ROOT

from miltext.evaluation.arithmetic import COMPUTING
from miltext.evaluation.rules import RULES

PAGE = (ROOT / "docs" / "evaluation.md").read_text(encoding="utf-8")


def test_the_examples_run_unchanged(capsys: pytest.CaptureFixture[str]) -> None:
    examples = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    assert len(examples) >= 3
    names: dict[str, Any] = {}
    for example in examples:
        exec(example, names)
    assert "TensorType(dtype='fp16', shape=(2, 3))" in capsys.readouterr().out


def test_the_operations_on_the_page_exist() -> None:
    section = PAGE.partition("## Behaviour of some operations\n")[2].partition("\n## ")[0]
    named = set(re.findall(r"`([a-z_]+)`", section))
    assert named & RULES.keys() > {"topk", "gather", "resize", "gru", "lstm", "avg_pool", "resample"}


def test_the_page_lists_the_existing_choices_of_arguments() -> None:
    assert f'compute="{COMPUTING[1]}"' in PAGE
