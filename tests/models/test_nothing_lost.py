"""The law of edits: whatever a description said is still said, or a build tells that it is not, or it is refused.

`support.edited_models` does the edits and reads both sides, by reflection alone. Each kind of package is edited here in
every fifth way, in turn as a package and as what Apple's compiler makes of it; `scripts/try_edits.py` tries all.
"""

from __future__ import annotations

from collections import Counter
from itertools import product
from pathlib import Path

import pytest
from support.containers import compile_package
from support.described_programs import described
from support.description_facts import Facts, Owner
from support.edited_models import ALL, GIVEN_OUT, Outcome, Place, Scene, message, outcome, places
from support.kinds import KINDS, PROGRAMS, kind
from support.model_checks import Reported, findings
from support.new_findings import new_findings

import miltext
from miltext.diagnostics import codes


@pytest.mark.filterwarnings("ignore:.*MIL211")  # how the compiler spells flexible shapes is not what is tried here
@pytest.mark.parametrize("name", KINDS)
def test_nothing_is_lost_in_silence(name: str, tmp_path: Path) -> None:
    pytest.importorskip("coremltools")
    sources = [kind(name)]
    if name in PROGRAMS and name != "bare":  # a bundle without a description has that of its types
        sources.append(compile_package(sources[0], tmp_path / "Compiled.mlmodelc"))
    before, done = message(sources[0]), 0
    for number, (place, edit) in enumerate(product(places(before), ALL)):
        if (number + [*KINDS].index(name)) % 5 == 0:
            source = sources[number // 3 % len(sources)]
            came = outcome(Scene(source, before, tmp_path), place, edit)
            if came is not None:
                assert came.wrong(edit) == [], (edit, place, source.suffix, came.told)
                done += not came.refused
    assert done >= 4


# ---- the law can fail

ENTRY = Owner("", "main", "input", "x")
LOST: Facts = {(ENTRY, "type.imageType.width"): 224, (ENTRY, "type.isOptional"): True}
TOLD = "~ input x: width 224 -> 256, optional yes -> none"
UNTOLD = ["", "~ input y: width 224 -> 256, optional yes -> none", "~ output x: width 224, optional", "- input xy: 224"]


@pytest.mark.parametrize("told", UNTOLD)
def test_an_unreported_loss_of_an_entry_is_found(told: str) -> None:
    assert Outcome(False, LOST, set(), told).wrong("cut an input") == [*LOST]


def test_a_report_is_a_loss_only_after_an_edit_of_nothing() -> None:
    told = Outcome(False, LOST, set(), TOLD)
    assert told.wrong("cut an input") == []
    assert told.wrong("reorder") == [*LOST]
    assert Outcome(False, LOST, set(), TOLD.replace("224", "225")).wrong("cut an input") == [next(iter(LOST))]
    assert Outcome(False, {}, {" x, which 1 takes"}, "").wrong("reorder") == [" x, which 1 takes"]


def test_new_finding_is_wrong_but_of_an_edit_that_deserves_it() -> None:
    returned = Reported("warning", codes.INPUT_AS_OUTPUT, "the input `x` is an output, too")
    other = returned._replace(message="the input `z` is an output, too")
    came = Outcome(False, {}, set(), "", Counter([returned, returned, other]), "x")
    assert came.wrong("reorder") == [returned, returned, other]
    assert came.wrong(GIVEN_OUT) == [returned, other]
    assert came._replace(given="y").wrong(GIVEN_OUT) == [returned, returned, other]


def test_a_finding_that_the_original_lacks_is_new(tmp_path: Path) -> None:
    package = described(miltext.parse(RETURNED), tmp_path / "M.mlpackage")
    assert package is not None
    found = findings(package)
    assert found
    one = Counter([next(iter(found))])
    assert new_findings(found, package) == Counter()
    assert new_findings(found - one, package) == one
    assert new_findings(found, package, lambda name: f"{name}_of_another")


PROGRAM = """program(1.3)
{
    func main<ios18>(tensor<fp32, [1, 3, 8, 8]> image, tensor<fp32, [1, 4]> more, tensor<fp32, [?, 4]> rows) {
            tensor<fp32, [1, 3, 8, 8]> lit = relu(x = image);
            tensor<fp32, [?, 4]> sum = add(x = more, y = rows);
        } -> (lit, sum);
}
"""


RETURNED = PROGRAM.replace("(lit, sum)", "(lit, sum, more)")
"""A program that `check` warns of: an input is returned unchanged."""


def test_descriptions_that_state_more_than_types_are_kept(tmp_path: Path) -> None:
    package = described(miltext.parse(PROGRAM), tmp_path / "M.mlpackage")
    assert package is not None
    scene, place = Scene(package, message(package), tmp_path), Place("", "main")
    kinds = [entry.type.WhichOneof("Type") for entry in scene.before.description.input]
    assert kinds == ["multiArrayType", "multiArrayType", "multiArrayType"]
    for edit in ("rename all", "swap inputs", "reorder", "verb: rename an input", "another data type in"):
        came = outcome(scene, place, edit)
        assert came is not None
        assert came.wrong(edit) == [], (edit, came.told)
