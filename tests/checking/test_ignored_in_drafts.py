"""Errors of drafts that comments ignore: what stops inference is told by all verbs, and nothing else is."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from click.testing import CliRunner

import miltext
from miltext.cli import command
from miltext.diagnostics.selection import CANNOT_IGNORE

DRAFT = """\
program(1.3)
{{
    func main<ios16>(tensor<fp16, [2, 3]> x) {{
            {made}{call}; // mil: ignore{codes}
            {after}
        }} -> (y);
}}
"""

CALLS = {
    "a name that is not defined": ("relu(nope)", "MIL604", True),
    "shapes that do not fit": ("add(x, tensor<fp16, [5]>([1, 2, 3, 4, 5]))", "MIL702", True),
    "an axis that is not there": ("reduce_sum(x, axes = [7], keep_dims = true)", "MIL516", True),
    "an axis of which no type hangs": ("softmax(x, axis = 7)", "MIL516", False),
    "a parameter that is not there": ("relu(x, foo = fp16(1))", "MIL504", True),
    "a parameter without a type that is not there": ("relu(x, foo = 1)", "MIL504", True),
    "an operation that is not known": ("odd(x)", "MIL501", True),
    "a word that is not taken": ('gelu(x, mode = "odd")', "MIL519", False),
    "what is not taken, inside": ('gelu(gelu(x, mode = "odd"), mode = "EXACT")', "MIL519", False),
    "what is not defined, inside": ("exp(relu(nope))", "MIL604", True),
}
"""A call, the error in it, and whether no type follows from it."""

MADE = {"left out": ("y = ", True), "a gap": ("_ y = ", True), "stated": ("tensor<fp16, [2, 3]> y = ", False)}
AFTER = {"nothing": "", "a user": "z = exp(y);", "a user with a type": "tensor<fp16, [2, 3]> z = exp(y);"}


def exit_codes(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    monkeypatch.chdir(folder)
    Path("draft.mil").write_text(text)
    verbs = (["check", "draft.mil"], ["infer", "draft.mil", "-o", "o.mil"], ["build", "draft.mil", "-o", "O.mlpackage"])
    return {words[0]: CliRunner().invoke(command, words).exit_code for words in verbs}


@pytest.mark.parametrize("codes", ["", "code"], ids=["all", "code"])
@pytest.mark.parametrize(("made", "after"), list(product(MADE, AFTER)))
@pytest.mark.parametrize("name", CALLS)
def test_all_verbs_ignore_the_same_findings_as_check(
    name: str, made: str, after: str, codes: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call, code, stops = CALLS[name]
    text = DRAFT.format(made=MADE[made][0], call=call, codes=codes and f"[{code}]", after=AFTER[after])
    found = exit_codes(tmp_path, text, monkeypatch)
    assert len({*found.values()}) == 1, found
    told = [each for each in miltext.check(text) if each.severity == "error"]
    assert bool(told) == bool(found["check"])
    assert all(CANNOT_IGNORE in each.notes for each in told if each.code == code)
    if stops and MADE[made][1]:
        assert code in [each.code for each in told]
    if not stops:
        assert told == []


def test_an_error_that_stops_inference_leaves_others_ignored() -> None:
    text = DRAFT.format(
        made="y = ", call='gelu(x, mode = "odd")', codes="", after="z = relu(nope); // mil: ignore[MIL604]"
    )
    assert [each.code for each in miltext.check(text) if each.severity == "error"] == ["MIL604"]


def test_a_whole_text_ignores_requested_codes() -> None:
    text = DRAFT.format(made="tensor<fp16, [2, 3]> y = ", call="relu(x = nope)", codes="[MIL604]", after="")
    assert miltext.check(text) == []


WAYS = {
    "--ignore": (["--ignore", "{}"], ""),
    "--ignore of all that begin so": (["--ignore", "MIL"], ""),
    "--select of others": (["--select", "MIL9"], ""),
    "ignore": ([], 'ignore = ["{}"]'),
    "select": ([], 'select = ["MIL9"]'),
    "per-file-ignores": ([], 'per-file-ignores = {{ "*.mil" = ["{}"] }}'),
}
"""How codes are ignored besides by comments: words of the command line, and settings of a project."""


def checked_so(way: str, code: str, text: str) -> tuple[int, str]:
    words, settings = WAYS[way]
    Path("draft.mil").write_text(text)
    Path("pyproject.toml").write_text(f"[tool.miltext]\n{settings.format(code)}\n")
    result = CliRunner().invoke(command, ["check", "draft.mil", *(word.format(code) for word in words)])
    return result.exit_code, result.output


@pytest.mark.parametrize("after", AFTER)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", CALLS)
def test_no_choice_of_codes_hides_an_error_that_stops_inference(
    name: str, way: str, after: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was hidden: `check` exited with 0, and `build` refused the draft."""
    call, code, stops = CALLS[name]
    text = DRAFT.format(made="y = ", call=call, codes="", after=AFTER[after]).replace(" // mil: ignore", "")
    monkeypatch.chdir(tmp_path)
    status, said = checked_so(way, code, text)
    assert (status, f"error[{code}]" in said, CANNOT_IGNORE.message in said) == (int(stops), stops, stops)
    if stops:
        with pytest.raises(miltext.ParseError):
            miltext.infer_draft(text)


@pytest.mark.parametrize("way", WAYS)
def test_a_choice_of_codes_hides_other_findings(way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    whole = DRAFT.format(made="tensor<fp16, [2, 3]> y = ", call="relu(x = nope)", codes="", after="")
    assert checked_so(way, "MIL604", whole.replace(" // mil: ignore", "")) == (0, "nothing found in 1 program\n")
    stops = DRAFT.format(made="y = ", call="relu(x)", codes="", after="z = relu(nope); w = gelu(x, mode = 1.5);")
    status, said = checked_so(way, "MIL5", stops.replace(" // mil: ignore", ""))
    assert (status, "MIL604" in said) == (1, True)
    assert CANNOT_IGNORE.message not in checked_so("per-file-ignores", "MIL8", stops)[1]
