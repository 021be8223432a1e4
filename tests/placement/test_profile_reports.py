"""`check --profile` for a model with many refused operations: one screen for people, everything for programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.commands import miltext as command

from miltext.cli.repeats import MOST_ALIKE, MOST_LINES, without_repeats
from miltext.diagnostics import Diagnostic, Span, warning

PROFILE = ("--profile", "ane-m4-macos27")


def layers(count: int) -> str:
    """A model with so many layers, each with two operations that the Neural Engine does not take."""
    lines, last = [], "x"
    for layer in range(count):
        for kind in ("relu", "acos", "sinh"):
            name = f"layer_{layer}_{kind}"
            lines.append(f"            tensor<fp16, [1, 4]> {name} = {kind}(x = {last});\n")
            last = name
    head = "program(1.3)\n{\n    func main<ios18>(tensor<fp16, [1, 4]> x) {\n"
    return f"{head}{''.join(lines)}        }} -> ({last});\n}}\n"


def test_repeated_refusals_fit_one_screen(tmp_path: Path) -> None:
    path = tmp_path / "m.mil"
    path.write_text(layers(500), encoding="utf-8")
    done = command("check", path, *PROFILE)
    said = done.stdout.decode()
    assert done.returncode == 1
    assert said.count("warning[MIL892]") == 2
    assert "note: 499 more like this, in lines 8, 11, 14, 17, 20, 23 and 493 further; `--format json`" in said
    assert len(said.splitlines()) < 24
    assert done.stderr.decode() == "1000 warnings in 1 program\n"
    found = json.loads(command("check", path, *PROFILE, "--format", "json").stdout)
    assert found["warnings"] == 1000
    assert [each["start"]["line"] for each in found["diagnostics"][-2:]] == [1502, 1503]
    assert command("check", path, *PROFILE, "--format", "github").stdout.decode().count("::warning") == 1000


def test_few_refusals_are_shown_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "m.mil"
    path.write_text(layers(MOST_ALIKE), encoding="utf-8")
    said = command("check", path, *PROFILE).stdout.decode()
    assert said.count("warning[MIL892]") == 2 * MOST_ALIKE
    assert "more like this" not in said


def test_errors_and_suggestions_stay_at_their_places() -> None:
    text = "abc\n" * 9
    spans = [Span(4 * line, 4 * line + 3) for line in range(9)]
    fixable = [Diagnostic("warning", "MIL603", "w", span, suggestion="x") for span in spans]
    errors = [Diagnostic("error", "MIL603", "w", span) for span in spans]
    assert without_repeats([*fixable, *errors], text) == [*fixable, *errors]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([0, 0, 0, 0], "3 more like this, in line 1; "),
        ([0, 1, 2, 3], "3 more like this, in lines 2, 3, 4; "),
        ([*range(MOST_LINES + 2)], "7 more like this, in lines 2, 3, 4, 5, 6, 7 and 1 further; "),
    ],
)
def test_the_note_names_the_lines_of_the_others(lines: list[int], said: str) -> None:
    text = "abc\n" * 9
    found = [warning("MIL892", f"w{line}", Span(4 * line, 4 * line + 3)) for line in lines]
    (shown,) = without_repeats(found, text)
    assert shown.message == "w0"
    assert shown.notes[-1].message == f"{said}`--format json` lists each"


def test_findings_without_places_are_counted() -> None:
    (shown,) = without_repeats([warning("MIL892", "w")] * 5, None)
    assert shown.notes[-1].message == "4 more like this; `--format json` lists each"


@given(st.lists(st.tuples(st.sampled_from(["error", "warning", "note"]), st.sampled_from(["a", "b1", "b2", "c"]))))
def test_no_kind_of_finding_is_lost_and_none_is_added(pairs: list[tuple[str, str]]) -> None:
    found = [Diagnostic(severity, "MIL892", message, Span(at, at + 1)) for at, (severity, message) in enumerate(pairs)]
    shown = without_repeats(found, "\n" * (len(found) + 1))
    plain = [each._replace(notes=()) for each in shown]
    assert plain == [each for each in found if each in plain]
    counted = sum(int(note.message.split()[0]) for each in shown for note in each.notes)
    assert len(shown) + counted == len(found)
    assert {each.message[0] for each in shown} == {each.message[0] for each in found}


def test_a_project_chooses_a_profile(tmp_path: Path) -> None:
    path, settings = tmp_path / "m.mil", tmp_path / "pyproject.toml"
    path.write_text(layers(1), encoding="utf-8")
    settings.write_text('[tool.miltext]\nprofile = "ane-m4-macos27"\n', encoding="utf-8")
    assert command("check", path).stdout.decode().count("warning[MIL892]") == 2
    for options in (["--profile", "off"], ["--isolated"]):
        assert command("check", path, *options).stdout == b"", options
    settings.write_text('[tool.miltext]\nprofile = "ane-m4"\n', encoding="utf-8")
    said = command("check", path).stdout.decode()
    assert "error[MIL891]: the setting `profile`: there is no profile `ane-m4`; known are `ane-m4-macos27`" in said
    assert command("check", path, *PROFILE).stdout.decode().count("warning[MIL892]") == 2
    settings.write_text("[tool.miltext]\nprofile = true\n", encoding="utf-8")
    refused = command("check", path)
    assert refused.returncode == 2
    assert '`profile` takes a profile of the Neural Engine, or `"off"`, not' in refused.stderr.decode()
