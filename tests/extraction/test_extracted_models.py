"""Values of real packages extracted: a part passes `check`, opens in coremltools, and computes what the whole does.

`scripts/try_extracts.py` tries all of them.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from support.extracts import computed, outcome, random_cut
from support.kinds import kind
from support.new_findings import original_findings

from miltext.containers.opening import open_model

ALLOWED = "no output of the part needs"
"""What is refused with good reason: one random cut makes another needless."""


@pytest.mark.parametrize("name", ["labels-string", "states", "functions", "ranges", "pipeline-2"])
def test_a_part_computes_the_numbers_of_the_whole(name: str, tmp_path: Path) -> None:
    pytest.importorskip("coremltools")
    rng, extracted = random.Random(name), 0
    for stage in open_model(kind(name)).programs():
        for function in sorted(stage.model.program.functions):
            whole = computed(name, stage.model, function, original_findings(kind(name)))
            for value in rng.sample(whole.varying, min(2, len(whole.varying))):
                for given in ([], random_cut(whole, value, rng)):
                    what = outcome(whole, value, given, tmp_path)
                    assert what.endswith("; equal") or ALLOWED in what, (value, given, what)
                    extracted += what.endswith("; equal")
    assert extracted
