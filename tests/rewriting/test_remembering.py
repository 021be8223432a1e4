"""A rewriting that remembers sites finds the sites and makes the program of one that looks at all of them again."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import GOLDEN, corpus_files, wire
from support.applied_edits import program_of

import miltext
from miltext.rewriting import instances
from miltext.rewriting.packaged import library, passes
from miltext.rewriting.planning import PlannedSite
from miltext.rewriting.remembering import Memory
from miltext.schema.proto import Program

GOLDENS = sorted((GOLDEN / "print").glob("*.mil"))
NAMES = [*library(), *passes()]


def chain(length: int) -> str:
    """Return a text in which replacements lead to further ones, in a row and in an inner block."""
    lines = "".join(
        f"""
            a{at} = mul(v{at}, 1.0);
            b{at} = relu(relu(a{at}));
            c{at} = cast(cast(b{at}, "fp16"), "fp32");
            d{at} = transpose(transpose(c{at}, [1, 0]), [1, 0]);
            w{at} = cond(p) () {{ t{at} = relu(mul(d{at}, 1.0)); }} -> (t{at}) () {{ f{at} = abs(d{at}); }} -> (f{at});
            v{at + 1} = add(w{at}, d{at});"""
        for at in range(length)
    )
    return f"""program(1.3)
{{
    func main<ios18>(tensor<fp32, [2, 3]> v0, tensor<bool, []> p) {{{lines}
        }} -> (v{length});
}}
"""


def found(source: str | Path | Program) -> tuple[list[PlannedSite], bytes]:
    done = miltext.rewrite(source, NAMES)
    return done.sites, wire(done.program)


def both(source: str | Path | Program, monkeypatch: pytest.MonkeyPatch) -> int:
    """Assert that both ways have one result, and return the number of remembered sites."""
    recalled = 0
    original = Memory.recalled

    def count(self: Memory[PlannedSite | None], *place: object) -> PlannedSite | None:
        nonlocal recalled
        recalled += 1
        return original(self, *place)  # type: ignore[arg-type]

    monkeypatch.setattr(Memory, "recalled", count)
    quick = found(source)
    monkeypatch.setattr(Memory, "knows", lambda *_: False)
    assert quick == found(source)
    return recalled


def test_a_chain_of_replacements(monkeypatch: pytest.MonkeyPatch) -> None:
    assert both(chain(8), monkeypatch) > 10


@pytest.mark.parametrize("seed", range(40))
def test_random_programs(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    both(program_of(seed), monkeypatch)


@pytest.mark.parametrize("path", GOLDENS, ids=lambda path: path.stem)
def test_goldens(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    both(path, monkeypatch)


@pytest.mark.parametrize("path", corpus_files("../rewrites/*/before-*.mil", "pairs/*/model.mil")[:40])
def test_texts_beside_the_corpus(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    both(path, monkeypatch)


LINEARS = """program(1.3)
{{
    func main<ios18>(tensor<fp32, [1, 2, 20]> x) {{{lines}
        }} -> (y{last});
}}
"""


def linears(weight: str, sites: int) -> str:
    lines = "".join(
        f"""
            tensor<fp32, [20, 20]> w{at} = const()[val = {weight.format(at=at)}];
            y{at} = linear({f"y{at - 1}" if at else "x"}, w{at});"""
        for at in range(sites)
    )
    return LINEARS.format(lines=lines, last=sites - 1)


STORED = 'tensor<fp32, [20, 20]>(BLOBFILE(path = string("@model_path/weights/weight.bin"), offset = uint64({at}64)))'
WRITTEN = f"tensor<fp32, [20, 20]>([{', '.join(['[' + ', '.join(['{at}'] * 20) + ']'] * 20)}])"


@pytest.mark.parametrize("weight", [STORED, WRITTEN], ids=["unreadable weights", "weights of other numbers"])
def test_a_replacement_is_inferred_once_for_each_type(weight: str, monkeypatch: pytest.MonkeyPatch) -> None:
    inferred = 0
    original = instances._inferred

    def count(*given: object) -> object:
        nonlocal inferred
        inferred += 1
        return original(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(instances, "_inferred", count)
    sites = miltext.rewrite(linears(weight, 6), "linear-to-conv").sites
    assert len([each for each in sites if each.rule == "linear_to_conv"]) == 6
    assert {each.reason for each in sites} == ({"the constant `w` cannot be read"} if weight is STORED else {""})
    assert inferred == 1
