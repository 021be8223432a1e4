"""`miltext check --fix`, `--diff`, `--select`, `--ignore` and the settings of projects, run as a user runs them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cli.test_check_verb import EXAMPLE, GOOD, run
from conftest import SLOW_IMPORTS

from miltext.checking.fixing import Mended
from miltext.checking.verifier import Checked
from miltext.cli.fixing_files import Fixing
from miltext.containers.programs import TextModel

CERTAIN = GOOD.replace("relu(x = x);", "relu(x = x)")
"""What is certain is mended: a `;`."""

GUESS = GOOD.replace("(hidden)", "(hiden)")
BOTH = CERTAIN.replace("(hidden)", "(hiden)")
HOPELESS = GOOD.replace("(hidden)", "(something_else_entirely)")
DOUBTFUL = GOOD.replace("relu", "my_own_op")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that no settings above it reach."""
    (tmp_path / "pyproject.toml").write_text("[tool.miltext]\n")
    return tmp_path


def put(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


# ---- --fix


@pytest.mark.parametrize(
    ("text", "options", "status", "left", "summary"),
    [
        (GOOD, [], 0, GOOD, "nothing found in 1 program\n"),
        (CERTAIN, [], 0, GOOD, "1 fixed, 0 left in 1 program\n"),
        (GUESS, [], 1, GUESS, "0 fixed, 1 left in 1 program; 1 more with --unsafe-fixes\n"),
        (GUESS, ["--unsafe-fixes"], 0, GOOD, "1 fixed, 0 left in 1 program\n"),
        (BOTH, [], 1, GUESS, "1 fixed, 1 left in 1 program; 1 more with --unsafe-fixes\n"),
        (BOTH, ["--unsafe-fixes"], 0, GOOD, "2 fixed, 0 left in 1 program\n"),
        (BOTH, ["--unsafe-fixes", "--ignore", "MIL604"], 0, GUESS, "1 fixed, 0 left in 1 program\n"),
        (HOPELESS, ["--unsafe-fixes"], 1, HOPELESS, "0 fixed, 1 left in 1 program\n"),
        (DOUBTFUL, [], 1, DOUBTFUL, "0 fixed, 1 left in 1 program\n"),
        (CERTAIN.replace("\n", "\r\n"), [], 0, GOOD.replace("\n", "\r\n"), "1 fixed, 0 left in 1 program\n"),
        ("\ufeff" + GOOD, [], 0, GOOD, "1 fixed, 0 left in 1 program\n"),
        ("// c\u00e9\n" + CERTAIN.rstrip(), [], 0, "// c\u00e9\n" + GOOD.rstrip(), "1 fixed, 0 left in 1 program\n"),
    ],
)
def test_fix_fixes_a_file(text: str, options: list[str], status: int, left: str, summary: str, folder: Path) -> None:
    path = put(folder, "a.mil", text)
    done = run("check", "--fix", *options, "a.mil", cwd=folder)
    assert (done[0], done[2]) == (status, summary)
    assert path.read_bytes().decode() == left
    assert run("check", "--fix", *options, "a.mil", cwd=folder)[0] == status  # and again, without a change
    assert path.read_bytes().decode() == left
    assert os.listdir(folder) == ["pyproject.toml", "a.mil"] or len(os.listdir(folder)) == 2


def test_a_report_lists_the_findings_that_fix_would_fix(folder: Path) -> None:
    put(folder, "a.mil", BOTH)
    assert run("check", "a.mil", cwd=folder)[2] == "2 errors in 1 program; 1 fixable with --fix\n"
    assert run("check", "--unsafe-fixes", "a.mil", cwd=folder)[2] == "2 errors in 1 program; 2 fixable with --fix\n"
    report = json.loads(run("check", "--format", "json", "a.mil", cwd=folder)[1])
    assert [each["applicability"] for each in report["diagnostics"]] == ["safe", "unsafe"]


def test_the_rest_is_reported_at_its_new_place(folder: Path) -> None:
    put(folder, "a.mil", BOTH.replace("relu(x = x)", 'relu(x = x)[name = string("a\tb")]') + "\n")
    status, out, _ = run("check", "--fix", "--format", "json", "a.mil", cwd=folder)
    [found] = json.loads(out)["diagnostics"]
    assert (status, found["code"]) == (1, "MIL604")
    assert (folder / "a.mil").read_text()[found["start"]["offset"] :].startswith("hiden")


def test_a_file_that_holds_nothing_to_fix_is_not_touched(folder: Path) -> None:
    path = put(folder, "a.mil", GUESS)
    os.utime(path, ns=(1, 1))
    before = path.stat()
    run("check", "--fix", "a.mil", cwd=folder)
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == (before.st_mtime_ns, before.st_ino)


def test_a_read_only_file_is_reported_and_the_others_are_fixed(folder: Path) -> None:
    put(folder, "a.mil", CERTAIN).chmod(0o444)
    put(folder, "b.mil", CERTAIN)
    status, out, err = run("check", "--fix", "a.mil", "b.mil", cwd=folder)
    assert status == 2
    assert "miltext: a.mil: the file is read-only, and is left as it is\n" in err
    assert err.endswith("1 fixed, 1 left in 2 programs\n")
    assert out.startswith("a.mil:4:54: error[MIL010]")
    assert ((folder / "a.mil").read_text(), (folder / "b.mil").read_text()) == (CERTAIN, GOOD)


def test_a_file_that_changes_meanwhile_is_left_as_it_is(folder: Path) -> None:
    put(folder, "a.mil", CERTAIN)
    code = f"""
import miltext.checking.fixing as fixing
mend = fixing.mend
def slow(*arguments):
    with open("a.mil", "w") as file:
        file.write({GUESS!r})
    return mend(*arguments)
fixing.mend = slow
from miltext.__main__ import main
main()
"""
    command = [sys.executable, "-c", code, "check", "--fix", "a.mil"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    assert done.returncode == 2
    assert b"a.mil: the file was changed meanwhile, and is left as it is; try again" in done.stderr
    assert (folder / "a.mil").read_text() == GUESS


def test_two_at_the_same_time_do_no_harm(folder: Path) -> None:
    put(folder, "a.mil", CERTAIN)
    command = [sys.executable, "-m", "miltext", "check", "--fix", "a.mil"]
    both = [subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for _ in range(2)]
    told = [process.communicate()[1] for process in both]
    assert {process.returncode for process in both} <= {0, 2}, told
    assert not any(b"Traceback" in each for each in told)
    assert (folder / "a.mil").read_text() == GOOD


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_stays_one_and_a_file_is_fixed_once(folder: Path) -> None:
    real = put(folder, "real/a.mil", CERTAIN)
    (folder / "link.mil").symlink_to(real)
    done = run("check", "--fix", "link.mil", "real/a.mil", "./real", ".", cwd=folder)
    assert (done[0], done[2]) == (0, "1 fixed, 0 left in 1 program\n")
    assert (folder / "link.mil").is_symlink()
    assert real.read_text() == GOOD


def test_missing_and_unreadable_files_are_reported(folder: Path) -> None:
    put(folder, "a.mil", CERTAIN)
    (folder / "b.mil").write_bytes(b"\xff")
    (folder / "c.mil").write_bytes(b"")
    status, out, err = run("check", "--fix", ".", cwd=folder)
    assert (status, err) == (1, "1 fixed, 2 left in 3 programs\n")
    assert [line.partition(":")[0] for line in out.splitlines() if "MIL256" in line] == ["b.mil", "c.mil"]
    assert run("check", "--fix", "missing.mil", cwd=folder)[0] == 2


@pytest.mark.parametrize("name", ["a.mil.mil", "Model.mlpackage.mil", "a.mlmodel.0.mil"])
def test_a_sidecar_is_not_fixed(name: str, folder: Path) -> None:
    put(folder, name, CERTAIN)
    status, _, err = run("check", "--fix", name, cwd=folder)
    assert status == 1
    assert f"miltext: {name}: not fixed: it is a sidecar, which `miltext sidecar` makes from its model\n" in err
    assert (folder / name).read_text() == CERTAIN


def test_the_text_of_a_compiled_model_is_not_fixed(folder: Path) -> None:
    path = put(folder, "Compiled.mlmodelc/model.mil", CERTAIN)
    status, _, err = run("check", "--fix", "Compiled.mlmodelc", cwd=folder)
    assert status == 1
    named = os.path.join("Compiled.mlmodelc", "model.mil")
    assert f"miltext: {named}: not fixed: it is the text of a compiled model; fix a copy, or the source model" in err
    assert path.read_text() == CERTAIN


MISLED = CERTAIN.replace(
    "        }",
    "            bool flag = const()[val = bool(true)];\n"
    "            tensor<fp16, [2, 3]> other = tanh(x = flg);\n        }",
)
"""Two mistakes: one that is mended, and a name like only one that does not fit."""


@pytest.mark.parametrize("options", [["--fix"], ["--fix", "--diff"], ["--fix", "--format", "json"]])
def test_a_suggestion_that_would_make_nothing_better_is_reported(options: list[str], folder: Path) -> None:
    put(folder, "a.mil", MISLED)
    said = "miltext: a.mil: 1 suggestion was not applied: the text would be no better\n"
    assert said in run("check", *options, "--unsafe-fixes", "a.mil", cwd=folder)[2]
    put(folder, "a.mil", MISLED)
    assert "not applied" not in run("check", *options, "a.mil", cwd=folder)[2]
    assert "not applied" not in run("check", *options, "--unsafe-fixes", "--ignore", "MIL604", "a.mil", cwd=folder)[2]


@pytest.mark.parametrize(
    ("useless", "said"),
    [
        (0, ""),
        (2, "miltext: a.mil: 2 suggestions were not applied: the text would be no better\n"),
        (None, "miltext: a.mil: stopped after 100 checks; run it again for further fixes\n"),
    ],
)
def test_remaining_findings_are_reported(
    useless: int | None, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("miltext.checking.fixing.mend", lambda text, *_: Mended(text, 0, [], useless))
    model = TextModel(GOOD.encode(), "a.mil", Path("a.mil"))
    Fixing(diff=True).fix(model, lambda _: Checked([], GOOD), lambda _: True)
    assert capsys.readouterr().err == said


def test_other_models_are_reported_but_not_fixed(folder: Path) -> None:
    put(folder, "a.mil", GUESS)
    assert run("parse", "a.mil", "-o", "a.pb", cwd=folder)[0] == 0
    before = (folder / "a.pb").read_bytes()
    status, out, err = run("check", "--fix", "--unsafe-fixes", "a.pb", cwd=folder)
    assert status == 1
    assert out.startswith("a.pb:5:15: error[MIL604]")
    assert "miltext: a.pb: not fixed: only a .mil text can be fixed; `miltext print` writes" in err
    assert err.endswith("0 fixed, 1 left in 1 program\n")
    assert (folder / "a.pb").read_bytes() == before
    done = run("check", "--fix", EXAMPLE, cwd=folder)
    assert done == (0, "", "nothing found in 1 program\n")


def test_a_text_with_values_left_out_is_fixed(folder: Path) -> None:
    left_out = GOOD.replace("relu(x = x)", 'mul(x = x, y = tensor<fp16, [3]>($elided(3, "sha256:00")))')
    put(folder, "a.mil", left_out.replace(";\n        }", "\n        }"))
    status, out, err = run("check", "--fix", "a.mil", cwd=folder)
    assert (status, err) == (0, "1 fixed, 0 left in 1 program\n")
    assert "note[MIL107]" in out
    assert (folder / "a.mil").read_text() == left_out


# ---- standard input


@pytest.mark.parametrize(
    ("text", "status", "fixed"), [(GOOD, 0, GOOD), (CERTAIN, 0, GOOD), (BOTH, 1, GUESS), (HOPELESS, 1, HOPELESS)]
)
def test_the_fixed_text_of_standard_input_is_written_out(text: str, status: int, fixed: str, folder: Path) -> None:
    done = run("check", "--fix", "-", input=text, cwd=folder)
    assert done[:2] == (status, fixed)
    assert ("<stdin>:5:15: error[MIL604]" in done[2]) == (status == 1)


def test_a_model_on_standard_input_is_not_fixed(folder: Path) -> None:
    put(folder, "a.mil", GUESS)
    run("parse", "a.mil", "-o", "a.pb", cwd=folder)
    command = [sys.executable, "-m", "miltext", "check", "--fix", "-"]
    with open(folder / "a.pb", "rb") as file:
        done = subprocess.run(command, stdin=file, cwd=folder, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"standard input: not fixed: only a .mil text can be fixed" in done.stderr


def test_standard_output_cannot_have_the_text_and_a_report(folder: Path) -> None:
    assert run("check", "--fix", "--format", "json", "-", input=GOOD, cwd=folder)[:2] == (2, "")
    assert run("check", "--diff", "--format", "sarif", "a.mil", cwd=folder)[:2] == (2, "")


# ---- --diff


def test_diff_shows_the_changes_and_writes_nothing(folder: Path) -> None:
    put(folder, "a.mil", BOTH)
    put(folder, "b.mil", HOPELESS)
    put(folder, "c.mil", CERTAIN.rstrip())
    status, out, err = run("check", "--diff", "a.mil", "b.mil", cwd=folder)
    assert (status, err) == (1, "1 would be fixed in 2 programs; 1 more with --unsafe-fixes\n")
    assert out.splitlines()[:2] == ["--- a.mil", "+++ a.mil (fixed)"]
    assert [line for line in out.splitlines()[2:] if line[0] in "+-"] == [
        "-            tensor<fp16, [2, 3]> hidden = relu(x = x)",
        "+            tensor<fp16, [2, 3]> hidden = relu(x = x);",
    ]
    assert (folder / "a.mil").read_text() == BOTH
    assert run("check", "--diff", "b.mil", cwd=folder)[:2] == (0, "")
    unsafe = run("check", "--fix", "--diff", "--unsafe-fixes", "a.mil", cwd=folder)
    assert "\n-        } -> (hiden);\n" in unsafe[1]
    assert unsafe[2] == "2 would be fixed in 1 program\n"
    assert run("check", "--diff", "c.mil", cwd=folder)[1].endswith("\n }\n\\ No newline at end of file\n")


@pytest.mark.skipif(shutil.which("patch") is None, reason="needs patch")
def test_patch_applies_the_difference(folder: Path) -> None:
    put(folder, "a.mil", CERTAIN.rstrip())
    difference = run("check", "--diff", "a.mil", cwd=folder)[1]
    subprocess.run(["patch", "-s", "a.mil"], input=difference.encode(), cwd=folder, check=True)
    assert (folder / "a.mil").read_text() == GOOD.rstrip()


def test_diff_reports_unreadable_files(folder: Path) -> None:
    (folder / "a.mil").write_bytes(b"\xff")
    status, out, err = run("check", "--diff", "a.mil", cwd=folder)
    assert (status, out) == (0, "")
    assert "error[MIL256]" in err
    assert run("check", "--diff", "-", input=CERTAIN, cwd=folder)[0] == 1


# ---- --select and --ignore

WRONG = GOOD.replace("relu(x = x)", "my_own_op(x = x)").replace("(hidden)", "(hiden)")


@pytest.mark.parametrize(
    ("options", "codes"),
    [
        ([], "MIL501 MIL604"),
        (["--select", "MIL6"], "MIL604"),
        (["--select", "mil501,MIL604"], "MIL501 MIL604"),
        (["--select", "MIL501", "--select", "MIL604"], "MIL501 MIL604"),
        (["--ignore", "MIL5"], "MIL604"),
        (["--ignore", "MIL5", "--ignore", "MIL6"], ""),
        (["--select", "ALL", "--ignore", "MIL6"], "MIL501"),
        (["--select", "MIL6", "--ignore", "MIL604"], ""),
        (["--select", "MIL604", "--ignore", "MIL6"], "MIL604"),
        (["--select", "MIL9"], ""),
    ],
)
def test_codes_are_chosen(options: list[str], codes: str, folder: Path) -> None:
    put(folder, "a.mil", WRONG)
    status, out, _ = run("check", "--format", "json", *options, "a.mil", cwd=folder)
    assert " ".join(each["code"] for each in json.loads(out)["diagnostics"]) == codes
    assert status == bool(codes)


def test_no_choice_hides_an_unreadable_file(folder: Path) -> None:
    put(folder, "a.mil", GOOD.replace("relu(", "relu"))
    assert "error[MIL010]" in run("check", "--select", "MIL6", "--ignore", "MIL0", "a.mil", cwd=folder)[1]


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("MIL6O4", "unknown code `MIL6O4`; did you mean `MIL604`?"),
        ("E501", "unknown code `E501`; `miltext explain` lists all codes"),
        ("", "it names no code"),
        (" , ", "it names no code"),
        ("MIL6,MIL999", "unknown code `MIL999`"),
    ],
)
@pytest.mark.parametrize("name", ["--select", "--ignore"])
def test_an_unknown_code_is_refused(name: str, option: str, said: str, folder: Path) -> None:
    put(folder, "a.mil", GOOD)
    status, out, err = run("check", name, option, "a.mil", cwd=folder)
    assert (status, out) == (2, "")
    assert said in err


def test_a_comment_counts_for_the_command(folder: Path) -> None:
    put(folder, "a.mil", DOUBTFUL.replace("x);", "x); // mil: ignore[MIL501]"))
    assert run("check", "a.mil", cwd=folder) == (0, "", "nothing found in 1 program\n")
    put(folder, "a.mil", GOOD.replace("x);", "x); // mil: ignore[MIL501]"))
    assert "warning[MIL713]" in run("check", "a.mil", cwd=folder)[1]
    assert run("check", "--ignore", "MIL713", "a.mil", cwd=folder)[0] == 0
    assert run("check", "--fix", "a.mil", cwd=folder)[0] == 0
    assert (folder / "a.mil").read_text() == GOOD


# ---- settings


def settings(folder: Path, text: str) -> None:
    put(folder, "pyproject.toml", f"[tool.miltext]\n{text}\n")


def test_settings_apply_to_the_paths_below_them(folder: Path) -> None:
    settings(folder, 'ignore = ["MIL604"]')
    put(folder, "a.mil", GUESS)
    put(folder, "deep/down/a.mil", GUESS)
    put(folder, "own/a.mil", GUESS)
    settings(folder / "own", 'ignore = ["MIL5"]')
    status, out, err = run("check", ".", cwd=folder)
    assert (status, err) == (1, "1 error in 3 programs\n")
    assert out.startswith("own/a.mil:5:15: ".replace("/", os.sep))
    assert run("check", "--isolated", ".", cwd=folder)[2] == "3 errors in 3 programs\n"
    assert run("check", "--config", "pyproject.toml", ".", cwd=folder)[2] == "nothing found in 3 programs\n"
    assert run("check", "a.mil", cwd=folder / "deep" / "down")[0] == 0
    assert run("check", "-", input=GUESS, cwd=folder)[0] == 0
    assert run("check", "--isolated", "-", input=GUESS, cwd=folder)[0] == 1


def test_the_command_line_overrides_settings(folder: Path) -> None:
    settings(folder, 'select = ["MIL5"]\nignore = ["MIL501"]\nunsafe-fixes = true')
    put(folder, "a.mil", WRONG)
    assert run("check", "a.mil", cwd=folder)[0] == 0
    assert "MIL501" in run("check", "--select", "MIL5", "a.mil", cwd=folder)[1]
    assert run("check", "--select", "MIL6", "--no-unsafe-fixes", "--diff", "a.mil", cwd=folder)[0] == 0
    assert run("check", "--select", "MIL6", "--diff", "a.mil", cwd=folder)[0] == 1


def test_excluded_files_are_passed_over_in_folders(folder: Path) -> None:
    settings(folder, 'exclude = ["old", "*.draft.mil"]\nper-file-ignores = { "mine/*.mil" = ["MIL604"] }')
    for name in ("old/a.mil", "x.draft.mil", "mine/a.mil"):
        put(folder, name, GUESS)
    put(folder, "a.mil", GOOD)
    assert run("check", ".", cwd=folder) == (0, "", "nothing found in 2 programs\n")
    assert run("check", "old/a.mil", cwd=folder)[0] == 1
    assert run("check", "old", cwd=folder)[2] == "1 error in 1 program\n"
    assert run("check", ".", cwd=folder / "old")[2] == "1 error in 1 program\n"
    assert run("check", "--force-exclude", "old/a.mil", "a.mil", cwd=folder)[2] == "nothing found in 1 program\n"
    assert run("check", "--force-exclude", "old", cwd=folder)[2] == "nothing found in 0 programs\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["a.mil"], "pyproject.toml:2:1: error[MIL461]: `[tool.miltext]` has no setting `ingore`"),
        (["--fix", "."], "error[MIL461]"),
        (["-"], "error[MIL461]"),
        (["--config", "none.toml", "a.mil"], "file or folder not found: none.toml"),
        (["--config", "a.mil", "a.mil"], "a.mil: error[MIL460]: there is no `[tool.miltext]` in this file"),
        (["--config", ".", "a.mil"], ".: error[MIL460]: the settings cannot be read"),
        (["--config", "pyproject.toml", "--isolated", "a.mil"], "--isolated ignores all settings"),
    ],
)
def test_settings_that_cannot_be_followed_end_with_two(arguments: list[str], said: str, folder: Path) -> None:
    settings(folder, 'ingore = ["MIL604"]')
    put(folder, "a.mil", CERTAIN)
    status, out, err = run("check", *arguments, cwd=folder, input=GOOD if "-" in arguments else None)
    assert (status, out) == (2, "")
    assert said in err
    assert "Traceback" not in err
    assert (folder / "a.mil").read_text() == CERTAIN
    assert run("check", "--isolated", "--fix", "a.mil", cwd=folder)[0] == 0


def imported(folder: Path) -> list[str]:
    """Which slow modules a check of a folder imports."""
    code = (
        "import runpy, sys\nsys.argv = ['miltext', 'check', '.']\n"
        "try:\n    runpy.run_module('miltext', run_name='__main__')\n"
        "except SystemExit as end:\n    assert not end.code\n"
        f"print(*[name for name in {(*SLOW_IMPORTS, 'tomlkit')} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, check=True)
    return done.stdout.decode().split()


def test_tomlkit_is_imported_only_where_there_are_settings(folder: Path) -> None:
    put(folder, "a.mil", GOOD)
    assert "tomlkit" in imported(folder)
    put(folder, "pyproject.toml", '[project]\nname = "miltext-user"\n[tool.ruff]\nselect = ["E"]\n')
    assert "tomlkit" not in imported(folder)
    (folder / "pyproject.toml").unlink()
    assert "tomlkit" not in imported(folder)


# ---- folders


def test_a_folder_means_its_texts_and_models(folder: Path) -> None:
    put(folder, "a.mil", GOOD)
    put(folder, "bad.mil", GUESS)
    shutil.copytree(EXAMPLE, folder / "models" / "Model.mlpackage")
    shutil.copytree(EXAMPLE, folder / "models" / "Model.mlpackage" / "Data" / "Inner.mlpackage")
    put(folder, "models/Model.mlpackage.mil", GUESS)
    put(folder, "Compiled.mlmodelc/model.mil", GUESS)
    put(folder, "Compiled.mlmodelc/inner/other.mil", GUESS)
    (folder / "a.pb").write_bytes(b"\xff")
    for passed_over in (".git", ".hidden", "node_modules", "env"):
        put(folder, f"{passed_over}/a.mil", GUESS)
    put(folder, "env/pyvenv.cfg", "")
    ignoring = ("--ignore", "MIL26,MIL27")  # what models of a text alone lack
    status, out, err = run("check", "--format", "json", *ignoring, ".", cwd=folder)
    assert (status, err) == (1, "")
    assert sorted({each["path"] for each in json.loads(out)["diagnostics"]}) == [
        os.path.join("Compiled.mlmodelc", "model.mil"),
        "bad.mil",
    ]
    assert run("check", *ignoring, ".", cwd=folder)[2] == "2 errors in 4 programs\n"
    assert run("check", ".hidden", cwd=folder)[2] == "1 error in 1 program\n"


def test_a_folder_that_cannot_be_read_is_reported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from miltext.files.writing import below

    put(folder, "deep/a.mil", GOOD)
    scan = os.scandir

    def refusing(path: str) -> object:
        if os.path.basename(path) == "deep":
            raise PermissionError(13, "Permission denied", path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", refusing)
    with pytest.raises(PermissionError, match="deep"):
        below(str(folder), (".mil",))


def test_a_broken_model_is_one_finding(folder: Path) -> None:
    put(folder, "a.mil", GUESS)
    (folder / "Empty.mlpackage").mkdir()
    (folder / "Empty.mlmodelc").mkdir()
    (folder / "broken.mlmodel").write_bytes(b"\xff")
    (folder / "lfs.mlmodel").write_bytes(b"version https://git-lfs.github.com/spec/v1\n")
    status, out, err = run("check", "--format", "json", ".", cwd=folder)
    paths = [each["path"] for each in json.loads(out)["diagnostics"]]
    assert (status, err) == (1, "")
    assert sorted(path.split(os.sep)[0] for path in paths) == [
        "Empty.mlmodelc", "Empty.mlpackage", "a.mil", "broken.mlmodel", "lfs.mlmodel",
    ]  # fmt: skip


def test_model_that_is_not_program_is_passed_over_in_folder(folder: Path) -> None:
    from miltext.schema.proto import Model

    network = Model.FromString(b"\x08\x04" + b"\xa2\x1f\x00")  # the empty field 500, neuralNetwork
    pipeline = Model(specificationVersion=4)
    pipeline.pipeline.models.add().CopyFrom(network)
    put(folder, "a.mil", GOOD)
    (folder / "network.mlmodel").write_bytes(network.SerializeToString())
    (folder / "pipeline.mlmodel").write_bytes(pipeline.SerializeToString())
    status, out, err = run("check", ".", cwd=folder)
    assert (status, err) == (0, "nothing found in 3 programs\n")
    assert "network.mlmodel: note[MIL254]: skipped: this model is of the kind `neuralNetwork`" in out
    assert "pipeline.mlmodel: note[MIL254]: skipped: none of the models in this pipeline is an ML Program" in out
    assert run("check", "network.mlmodel", cwd=folder)[0] == 1
