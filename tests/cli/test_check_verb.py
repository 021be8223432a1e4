"""`miltext check` and `miltext infer`, run as a user runs them."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from support.commands import miltext, miltext_process

from miltext.diagnostics.codes import TITLES, explanation
from miltext.diagnostics.home import install

GOOD = """program(1.3)
{
    func main<ios18>(tensor<fp16, [2, 3]> x) {
            tensor<fp16, [2, 3]> hidden = relu(x = x);
        } -> (hidden);
}
"""
BAD = GOOD.replace("(hidden)", "(hiden)").replace("relu(x = x)", "tanh(x = x, y = x)")
DOUBTFUL = GOOD.replace("relu", "my_own_op")
DRAFT = GOOD.replace("tensor<fp16, [2, 3]> hidden = relu(x = x);", "_ hidden = reduce_sum(axes = [1], x = x); // a row")
EXAMPLE = ROOT / "examples" / "Classifier.mlpackage"


def run(*arguments: object, input: str | None = None, cwd: Path | None = None) -> tuple[int, str, str]:
    """The exit status, standard output and standard error of a command."""
    done = miltext(*arguments, input=None if input is None else input.encode(), cwd=cwd)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder of programs, good and bad."""
    for name, text in {"good": GOOD, "bad": BAD, "doubtful": DOUBTFUL, "draft": DRAFT}.items():
        (tmp_path / f"{name}.mil").write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "status", "summary"),
    [
        ("good.mil", 0, "nothing found in 1 program\n"),
        ("bad.mil", 1, "2 errors in 1 program\n"),
        ("doubtful.mil", 1, "1 warning in 1 program\n"),
        ("draft.mil", 0, "nothing found in 1 program\n"),
        (".", 1, "2 errors, 1 warning in 4 programs\n"),
        (EXAMPLE, 0, "nothing found in 1 program\n"),
    ],
)
def test_the_exit_status_states_whether_anything_was_found(name: str, status: int, summary: str, files: Path) -> None:
    found = run("check", name, cwd=files)
    assert (found[0], found[2]) == (status, summary)
    assert ("error[" in found[1] or "warning[" in found[1]) == bool(status)


def test_a_folder_with_a_model_mil_is_not_a_compiled_model(files: Path) -> None:
    """So `miltext print -o model.mil` calls its text."""
    (files / "good.mil").rename(files / "model.mil")
    assert run("check", ".", cwd=files)[2] == "2 errors, 1 warning in 4 programs\n"
    (files / "coremldata.bin").write_bytes(b"")  # which a compiled model has, whatever its name
    status, out, _ = run("check", ".", cwd=files)
    assert (status, "bad.mil:" in out, "MIL26" in out) == (1, False, True)


@pytest.mark.parametrize("form", ["text", "json", "sarif", "github"])
def test_a_valid_draft_passes_with_a_note(form: str, files: Path) -> None:
    kinds = {"json": '"severity": "note"', "sarif": '"level": "note"', "github": "::notice "}
    status, out, _ = run("check", "draft.mil", "--format", form, cwd=files)
    assert (status, kinds.get(form, "note[MIL712]") in out) == (0, True)
    kinds = {"json": '"severity": "error"', "sarif": '"level": "error"', "github": "::error "}
    status, out, _ = run("check", "--no-drafts", "draft.mil", "--format", form, cwd=files)
    assert (status, kinds.get(form, "error[MIL712]") in out, "`miltext infer`" in out) == (1, True, True)


SETTINGS = '[tool.miltext]\ndrafts = false\nignore = ["MIL712"]\n'
IN_A_FOLDER = SETTINGS + '[tool.miltext.per-file-ignores]\n"drafts" = ["MIL712"]\n'


@pytest.mark.parametrize(
    ("settings", "options", "status"),
    [
        ("", [], 0),
        ("", ["--no-drafts"], 1),
        ("", ["--no-drafts", "--ignore", "MIL712"], 1),
        ("", ["--no-drafts", "--select", "MIL6"], 1),
        ("", ["--no-drafts", "--fix"], 1),
        ("", ["--no-drafts", "--drafts"], 0),
        (SETTINGS, [], 1),
        (SETTINGS, ["--drafts"], 0),
        (SETTINGS, ["--isolated"], 0),
        (SETTINGS, ["--isolated", "--no-drafts"], 1),
        (SETTINGS.replace("false", "true"), ["--no-drafts"], 1),
        (IN_A_FOLDER, [], 0),
        (IN_A_FOLDER, ["--no-drafts"], 0),
    ],
)
def test_drafts_are_refused_where_requested(settings: str, options: list[str], status: int, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(settings)
    (tmp_path / "drafts").mkdir()
    (tmp_path / "drafts" / "draft.mil").write_text(DRAFT)
    found = run("check", *options, "drafts/draft.mil", cwd=tmp_path)
    assert (found[0], "error[MIL712]" in found[1]) == (status, bool(status))


def test_piped_drafts_are_refused_as_in_the_working_folder(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(IN_A_FOLDER)
    status, out, _ = run("check", "-", input=DRAFT, cwd=tmp_path)
    assert (status, "<stdin>:4:13: error[MIL712]" in out) == (1, True)
    assert run("check", "-", "--drafts", "--ignore", "MIL7", input=DRAFT, cwd=tmp_path)[:2] == (0, "")


def test_comment_on_line_does_not_state_that_text_may_be_draft(files: Path) -> None:
    for comment, status in ((" // mil: ignore", 1), (" // mil: ignore[MIL712]", 0)):
        (files / "draft.mil").write_text(DRAFT.replace(" // a row", comment))
        assert run("check", "--no-drafts", "draft.mil", cwd=files)[0] == status


def test_a_whole_text_passes_where_drafts_are_refused(files: Path) -> None:
    status, out, err = run("check", "--no-drafts", "good.mil", EXAMPLE, cwd=files)
    assert (status, out, err) == (0, "", "nothing found in 2 programs\n")
    assert run("check", "--no-drafts", "bad.mil", cwd=files) == run("check", "bad.mil", cwd=files)


def test_findings_are_on_standard_output_with_their_places(files: Path) -> None:
    _, out, _ = run("check", "bad.mil", cwd=files)
    assert out.startswith("bad.mil:4:55: error[MIL504]: `tanh` has no parameter `y`; it takes `x`\n 4 | ")
    assert "bad.mil:5:15: error[MIL604]: `hiden` is not defined; did you mean `hidden`?\n" in out


@pytest.mark.parametrize("arguments", [("check",), ("check", "missing.mil"), ("check", "--format", "xml", "good.mil")])
def test_a_failure_ends_with_two(arguments: tuple[str, ...], files: Path) -> None:
    status, out, err = run(*arguments, cwd=files)
    assert (status, out) == (2, "")
    assert "Traceback" not in err


def test_a_file_that_is_not_a_model_is_a_finding(files: Path) -> None:
    (files / "broken.mlmodel").write_bytes(b"\xff")
    status, out, err = run("check", "broken.mlmodel", "bad.mil", cwd=files)
    assert (status, err) == (1, "3 errors in 2 programs\n")
    assert "broken.mlmodel: error[MIL253]" in out


def test_unreadable_input_keeps_nothing_else_from_being_checked(files: Path) -> None:
    (files / "a.mil").write_bytes(b"\0")
    (files / "b.mil").mkdir()
    status, out, err = run("check", ".", cwd=files)
    assert (status, err) == (1, "3 errors, 1 warning in 5 programs\n")
    assert "a.mil: error[MIL256]" in out


def test_a_folder_of_nothing_is_not_a_success(files: Path) -> None:
    (files / "empty").mkdir()
    status, out, err = run("check", "good.mil", "empty", cwd=files)
    assert (status, out) == (2, "")
    assert err == "miltext: nothing to read in the folder empty: no .mil, .mlmodel, .mlpackage or .mlmodelc\n"


def test_sidecars_are_passed_over_in_folders_and_checked_by_name(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE, tmp_path / "models" / "Model.mlpackage")
    (tmp_path / "models" / "program.mil").write_text(GOOD)
    made = sorted((tmp_path / "models").iterdir())
    assert run("sidecar", *made, cwd=tmp_path)[0] == 0
    status, output, _ = run("check", "--format", "github", ".", cwd=tmp_path)
    assert (status, output) == (0, "")
    assert run("check", ".", cwd=tmp_path)[2] == "nothing found in 2 programs\n"
    status, output, _ = run("check", "models/Model.mlpackage.mil", cwd=tmp_path)
    assert status == 0
    assert "note[MIL107]" in output
    (tmp_path / "models" / "program.mil").unlink()
    shutil.rmtree(tmp_path / "models" / "Model.mlpackage")
    assert (run("check", "models", cwd=tmp_path)[::2]) == (0, "nothing found in 0 programs\n")


def test_a_file_is_checked_once(files: Path) -> None:
    assert run("check", "bad.mil", "./bad.mil", ".", cwd=files)[2] == "2 errors, 1 warning in 4 programs\n"


def test_standard_input_is_any_kind_of_model(files: Path) -> None:
    assert run("check", "-", input=GOOD)[0] == 0
    assert run("check", "-", input=BAD)[1].startswith("<stdin>:4:55: error[MIL504]")


def test_a_binary_model_is_reported_where_its_text_states_it(files: Path) -> None:
    assert run("parse", "bad.mil", "-o", "bad.pb", cwd=files)[0] == 0
    assert run("check", "bad.pb", cwd=files)[1] == run("check", "bad.mil", cwd=files)[1].replace("bad.mil", "bad.pb")


def test_colours_are_as_requested(files: Path) -> None:
    assert "\x1b[" not in run("check", "bad.mil", cwd=files)[1]
    assert "\x1b[" in run("--color", "always", "check", "bad.mil", cwd=files)[1]


# ---- for machines


def test_json_has_places_notes_and_suggestions(files: Path) -> None:
    status, out, err = run("check", "--format", "json", "bad.mil", "doubtful.mil", cwd=files)
    report = json.loads(out)
    assert (status, err) == (1, "")
    assert (report["errors"], report["warnings"]) == (2, 1)
    assert report["diagnostics"][1] == {
        "path": "bad.mil",
        "model": None,
        "printed": False,
        "severity": "error",
        "code": "MIL604",
        "message": "`hiden` is not defined; did you mean `hidden`?",
        "start": {"line": 5, "column": 15, "offset": BAD.index("hiden")},
        "end": {"line": 5, "column": 20, "offset": BAD.index("hiden") + 5},
        "suggestion": "hidden",
        "applicability": "unsafe",
        "notes": [],
    }
    assert json.loads(run("check", "--format", "json", "good.mil", cwd=files)[1])["diagnostics"] == []


def test_explain_reports_one_code_or_lists_all() -> None:
    status, out, _ = run("explain", "mil604")
    assert (status, out) == (0, explanation("MIL604"))
    assert "Fix:" in out
    assert run("explain")[1].splitlines() == [f"{code}  {title}" for code, title in TITLES.items()]
    status, out, err = run("explain", "MIL999")
    assert (status, out) == (2, "")
    assert "`MIL999` is neither a code nor an operation" in err


def test_sarif_has_rules_results_regions_and_fixes(files: Path) -> None:
    out = run("check", "--format", "sarif", "bad.mil", cwd=files)[1]
    log: dict[str, Any] = json.loads(out)
    [sarif_run] = log["runs"]
    driver, results = sarif_run["tool"]["driver"], sarif_run["results"]
    assert (log["version"], driver["name"], sarif_run["columnKind"]) == ("2.1.0", "miltext", "unicodeCodePoints")
    assert [rule["id"] for rule in driver["rules"]] == ["MIL504", "MIL604"]
    assert driver["rules"][1]["help"]["markdown"] == explanation("MIL604")
    for result in results:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    physical = results[1]["locations"][0]["physicalLocation"]
    region = {"startLine": 5, "startColumn": 15, "endLine": 5, "endColumn": 20}
    assert physical == {"artifactLocation": {"uri": "bad.mil"}, "region": region}
    [change] = results[1]["fixes"][0]["artifactChanges"]
    assert change["replacements"] == [{"deletedRegion": region, "insertedContent": {"text": "hidden"}}]
    assert results[1]["fixes"][0]["properties"] == {"applicability": "unsafe"}


def test_sarif_of_a_printed_text_fixes_no_file(files: Path) -> None:
    run("parse", "bad.mil", "-o", "a bad.pb", cwd=files)
    log = json.loads(run("check", "--format", "sarif", "a bad.pb", cwd=files)[1])
    results = log["runs"][0]["results"]
    assert all("fixes" not in result for result in results)
    assert results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a%20bad.pb"


def test_github_shows_a_command_for_each_finding(files: Path) -> None:
    (files / "100%,a.mil").write_text(GOOD.replace("(hidden)", "(hidden, b)").replace("hidden =", "x ="))
    lines = run("check", "--format", "github", "100%,a.mil", cwd=files)[1].splitlines()
    assert lines[0] == (
        "::warning file=100%25%2Ca.mil,line=4,endLine=4,col=34,endColumn=35,title=MIL603::"
        "`x` hides a value of the same name outside%0Anote: the outer one is defined here"
    )
    assert [line.partition(" ")[0] for line in lines] == ["::warning", "::error", "::error"]


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="file names are text there")
def test_any_name_of_a_file_can_be_reported(files: Path) -> None:
    with open(os.fsencode(files) + b"/\xff\x1b.mil", "wb") as file:
        file.write(BAD.encode())
    name = b"\xff\x1b.mil"
    out = {
        form: miltext_process("check", name, "--format", form, cwd=files).stdout.decode()
        for form in ("json", "sarif", "github")
    }
    assert json.loads(out["json"])["diagnostics"][0]["path"] == "\ufffd\x1b.mil"
    assert '"uri": "%FF%1B.mil"' in out["sarif"]
    assert out["github"].startswith("::error file=\ufffd\x1b.mil,")
    assert miltext_process("check", name, cwd=files).stdout.decode().startswith("\ufffd\ufffd.mil:4:55: ")


def test_sarif_has_an_absolute_path_as_a_uri(files: Path) -> None:
    log = json.loads(run("check", "--format", "sarif", files / "bad.mil")[1])
    place = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == (files / "bad.mil").as_uri()


LOADED = """\
import atexit, sys
FIRST = "miltext.building", "miltext.compiled"
atexit.register(lambda: print([name for name in sys.modules if name.startswith(FIRST)]))
from miltext.__main__ import main
main()
"""


def test_the_check_of_a_text_loads_no_checks_of_models(files: Path) -> None:
    command = [sys.executable, "-c", LOADED, "check", "good.mil"]
    done = subprocess.run(command, capture_output=True, cwd=files, check=True)
    assert done.stdout.decode().splitlines()[-1] == "[]"


# ---- coremltools

WITHOUT = "import sys; sys.modules['coremltools'] = None\nfrom miltext.__main__ import main\nmain()"


def test_without_coremltools_its_loader_is_not_available(files: Path) -> None:
    """MIL480 is no finding: the command could not do what it was asked."""
    command = [sys.executable, "-c", WITHOUT, "check", "--with-coremltools", "good.mil"]
    done = subprocess.run(command, capture_output=True, cwd=files, check=False)
    assert (done.returncode, done.stdout) == (2, b"")
    assert install("coremltools") in done.stderr.decode()


@pytest.mark.skipif(importlib.util.find_spec("coremltools") is None, reason="coremltools is not installed")
def test_the_loader_of_coremltools_is_called(files: Path) -> None:
    assert run("check", "--with-coremltools", EXAMPLE) == (0, "", "nothing found in 1 program\n")
    status, out, _ = run("check", "--with-coremltools", "doubtful.mil", cwd=files)
    assert status == 1
    assert "doubtful.mil:4:43: warning[MIL501]" in out
    assert "doubtful.mil:4:43: warning[MIL801]: coremltools does not load this: " in out
    file = 'BLOBFILE(path = string("@model_path/%s/w.bin"), offset = uint64(64))'
    two = "".join(f"fp16 {name} = const()[val = fp16({file % name})];" for name in "ab")
    (files / "two.mil").write_text(DOUBTFUL.replace("            tensor", f"            {two} tensor"))
    _, out, err = run("check", "--with-coremltools", "two.mil", cwd=files)
    assert "two.mil:1:1: warning[MIL481]: coremltools cannot check this: " in out
    assert err == "2 warnings in 1 program\n"


# ---- infer


def test_infer_fills_in_a_draft_and_keeps_its_comments(files: Path) -> None:
    status, out, err = run("infer", "draft.mil", cwd=files)
    assert (status, err) == (0, "")
    assert "            tensor<fp16, [2]> hidden = reduce_sum(axes = tensor<int32, [1]>([1]), x = x); // a row\n" in out
    assert run("infer", input=DRAFT)[1] == out
    assert run("infer", "draft.mil", "-o", "whole.mil", cwd=files)[:2] == (0, "")
    assert (files / "whole.mil").read_text() == out
    assert run("check", "whole.mil", cwd=files)[0] == 0


def test_infer_refuses_an_unknown_operation_and_writes_nothing(files: Path) -> None:
    (files / "draft.mil").write_text(DRAFT.replace("reduce_sum", "my_own"))
    status, out, err = run("infer", "draft.mil", "-o", "whole.mil", cwd=files)
    assert (status, out) == (1, "")
    assert err.startswith("draft.mil:4:24: error[MIL501]: ")
    assert not (files / "whole.mil").exists()


@pytest.mark.parametrize("text", [DRAFT.replace("x = x", "x = nobody"), DOUBTFUL.replace("x = x", "x = nobody"), "f("])
@pytest.mark.parametrize("output", [(), ("-o", "whole.mil"), ("-o", "there.mil")])
def test_infer_shows_the_findings_of_check_and_writes_nothing(text: str, output: tuple[str, ...], files: Path) -> None:
    (files / "wrong.mil").write_text(text)
    (files / "there.mil").write_text(DRAFT)
    before = sorted(files.iterdir())
    found = [report for report in reports(run("check", "wrong.mil", cwd=files)[1]) if "[MIL712]" not in report]
    status, out, err = run("infer", "wrong.mil", *output, cwd=files)
    assert (status, out) == (1, "")
    assert reports(err) == found
    assert sorted(files.iterdir()) == before
    assert (files / "there.mil").read_text() == DRAFT
    assert run("infer", input=text)[:2] == (1, "")


def reports(shown: str) -> list[str]:
    """The heads of what is shown."""
    return re.findall(r"^wrong\.mil:.*$", shown, re.MULTILINE)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("Model.mlpackage", None),
        ("Model.mlmodelc", None),
        ("texts", None),
        ("a.mlmodel", b"\x08\x09"),
        ("a.pb", b"\x08\x01"),
        ("a.txtpb", b"version: 1"),
        ("a", b"\x08\x01"),
    ],
)
def test_infer_of_a_model_that_is_not_a_text_shows_its_inputs(name: str, data: bytes | None, files: Path) -> None:
    if data is None:
        (files / name).mkdir()
    else:
        (files / name).write_bytes(data)
    status, out, err = run("infer", name, cwd=files)
    assert (status, out) == (2, "")
    assert f"infer takes the text of a draft, a .mil, and {name} is {'none' if data else 'a folder'}" in err
    assert "`miltext print` writes the text of a model" in err


@pytest.mark.parametrize("text", [DRAFT, "# of Python\n" + DRAFT])
def test_infer_takes_a_text_of_any_name(text: str, files: Path) -> None:
    (files / "draft.txt").write_text(text)
    status, out, err = run("infer", input=text, cwd=files)
    assert run("infer", "draft.txt", cwd=files) == (status, out, err.replace("<stdin>", "draft.txt"))


@pytest.mark.parametrize("output", ["s.pb", "draft.mil", "absent/whole.mil"])
def test_infer_ends_with_two_where_it_cannot_write(output: str, files: Path) -> None:
    before = (files / "draft.mil").read_text()
    status, out, err = run("infer", "draft.mil", "-o", output, cwd=files)
    assert (status, out) == (2, "")
    assert err
    assert (files / "draft.mil").read_text() == before
    assert not (files / "s.pb").exists()


def test_infer_shows_warnings_and_writes(files: Path) -> None:
    (files / "draft.mil").write_text(DOUBTFUL)
    status, out, err = run("infer", "draft.mil", cwd=files)
    assert (status, run("fmt", "-", input=DOUBTFUL)[1]) == (0, out)
    assert err.startswith("draft.mil:4:43: warning[MIL501]: ")


@pytest.mark.parametrize("words", [("names",), ("consts",), ("defaults",), ("defaults", "names", "consts")])
def test_infer_writes_the_requested_parts(words: tuple[str, ...], files: Path) -> None:
    options = [f"--{word}" for word in words]
    status, out, err = run("infer", "draft.mil", *options, cwd=files)
    assert (status, err) == (0, "")
    hidden = "hidden_axes_0" if "consts" in words else "axes = tensor<int32, [1]>([1])"
    assert (hidden in out, "keep_dims" in out, "[name = " in out) == (True, "defaults" in words, "names" in words)
    assert run("infer", *options, input=DRAFT) == (0, out, "")
    assert run("infer", *options, input=out) == (0, out, "")
    marked = DRAFT.replace("program(1.3)", f"program(1.3) $draft({', '.join(words)})")
    assert run("infer", input=marked) == (0, out, "")
    assert run("infer", "draft.mil", *options, "-o", "whole.mil", cwd=files)[:2] == (0, "")
    assert (files / "whole.mil").read_text() == out
    (files / "whole.mil").write_text(marked)
    assert run("fmt", "--check", "whole.mil", cwd=files)[0] == int(words[0] == "defaults" and len(words) > 1)
    status, out, err = run("parse", "whole.mil", "--to", "txtpb", cwd=files)
    assert (status, out) == (1, "")
    assert "whole.mil:1:14: error[MIL113]" in err


def test_infer_refuses_an_unknown_word_in_the_head(files: Path) -> None:
    (files / "draft.mil").write_text(DRAFT.replace("program(1.3)", "program(1.3) $draft(constants)"))
    status, out, err = run("infer", "draft.mil", "--names", cwd=files)
    assert (status, out) == (1, "")
    assert err.startswith("draft.mil:1:21: error[MIL117]: ")
    assert "did you mean `consts`?" in err


@pytest.mark.parametrize(("words", "said"), [(("none.mil",), "none.mil"), (("draft.mil", "again.mil"), "unexpected")])
def test_infer_takes_one_existing_draft(words: tuple[str, ...], said: str, files: Path) -> None:
    status, out, err = run("infer", *words, cwd=files)
    assert (status, out) == (2, "")
    assert said in err


def test_a_draft_is_not_a_program(files: Path) -> None:
    status, _, err = run("parse", "draft.mil", "--to", "pb", cwd=files)
    assert status == 1
    assert err.startswith("draft.mil:4:13: error[MIL112]: the type of `hidden` is left out")
    assert "`miltext infer`" in err
