"""`miltext ops` as a user meets it."""

from __future__ import annotations

import json
import re

import pytest
from conftest import slow_imports
from support import commands

import miltext
from miltext.reference.entries import entries


def run(*arguments: str) -> tuple[int, str, str]:
    done = commands.miltext(*arguments)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_all_operations_are_listed_by_family() -> None:
    status, out, err = run("ops")
    assert (status, err) == (0, "")
    assert out.startswith("elementwise\n  abs        Absolute value: |x|\n")
    assert all(f"\n  {name}" in out for name in entries())


def test_one_operation_is_reported() -> None:
    status, out, err = run("ops", "Conv")
    assert (status, err) == (0, "")
    assert out.startswith("conv\n  Convolution over 1, 2 or 3 spatial axes\n  family: convolution; since ios15; ")
    assert "\nexample, of ios15\n  program(1.3)\n" in out
    assert out.endswith("\nsee also\n  conv_quantized, conv_transpose\n")


def test_several_operations_are_reported_with_a_line_between() -> None:
    both = run("ops", "relu", "tanh")[1]
    assert both == run("ops", "relu")[1] + "\n" + run("ops", "tanh")[1]


def test_an_opset_changes_the_report() -> None:
    assert "score_threshold" in run("ops", "non_maximum_suppression", "--opset", "ios16")[1]
    newest = run("ops", "non_maximum_suppression")[1]
    assert newest == run("ops", "--opset", "CoreML9", "non_maximum_suppression")[1]
    assert "score_threshold = " not in newest
    assert "read_state" not in run("ops", "--opset", "ios17")[1]


def test_json_equals_the_result_of_the_public_function() -> None:
    status, out, _ = run("ops", "--json", "topk", "--opset", "ios16")
    assert (status, json.loads(out)["operations"]) == (0, miltext.operations("topk", opset="ios16"))
    assert json.loads(run("ops", "--json")[1])["operations"] == miltext.operations()
    assert json.loads(run("ops", "--json", "--family", "state")[1])["operations"] == miltext.operations(family="state")


def test_infer_accepts_an_example() -> None:
    status, out, _ = run("ops", "conv", "--example")
    assert (status, out) == (0, entries()["conv"].example().text)
    inferred = commands.miltext("infer", "-", input=out.encode())
    assert inferred.returncode == 0
    assert miltext.check(inferred.stdout.decode()) == []
    older, newer = (run("ops", "crop_resize", "--example", "--opset", opset)[1] for opset in ("ios16", "ios17"))
    assert "func main<ios15>(tensor<fp32, [1, 3, 8, 8]> x, tensor<fp32, [2, 1, 4, 1, 1]> boxes)" in older
    assert "box_indices" in newer


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("cnov",), "the operation `cnov` is not known; did you mean `conv`?"),
        (
            ("xyzzy", "conv"),
            "no description of an operation contains all of `xyzzy` and `conv`; `miltext ops` lists all",
        ),
        (
            ("--opset", "ios71"),
            "the opset `ios71` is not known; there are `ios15`, `ios16`, `ios17`, `ios18` and `ios19`",
        ),
        (("--family", "poling"), "the family `poling` is not known; did you mean `pooling`?"),
        (("read_state", "--opset", "ios17"), "`read_state` came with ios18, and ios17 does not have it"),
        (("--example",), "--example shows a single operation: name it"),
        (("relu", "tanh", "--example"), "--example shows a single operation: name it"),
        (("relu", "--json", "--example"), "--json has the examples, too: leave --example out"),
    ],
)
def test_an_unknown_operation_ends_with_a_way_out(arguments: tuple[str, ...], said: str) -> None:
    status, out, err = run("ops", *arguments)
    assert (status, out) == (2, "")
    assert err.endswith(f"\nError: {said}\n")


def test_color_is_only_for_terminals_or_if_it_is_requested() -> None:
    assert "\x1b" not in run("ops", "conv")[1]
    colored = run("--color", "always", "ops", "conv")[1]
    assert colored.startswith("\x1b[1mconv\x1b[0m\n")
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == run("ops", "conv")[1]
    assert "\x1b" not in run("--color", "never", "ops", "conv")[1]


def test_the_verb_starts_without_slow_imports() -> None:
    assert slow_imports("ops", "conv") == []
    assert slow_imports("ops", "--json") == []
