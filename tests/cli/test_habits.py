"""The options of every verb: `--quiet`, `--color` and `--stdin-filename`, before the verb or after it."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT
from support.commands import miltext as run
from support.verbs import verbs

from miltext.cli import command, streams
from miltext.cli.habits import FROM_STDIN
from miltext.cli.progress import Progress

EXAMPLE = ROOT / "examples" / "Classifier.mlpackage"
GOOD = """program(1.3)
{
    func main<ios18>(tensor<fp16, [2, 3]> x) {
            tensor<fp16, [2, 3]> y = relu(x = x);
        } -> (y);
}
"""
BAD = GOOD.replace("relu(x = x)", "relu(x = q)")
DOUBTFUL = GOOD.replace("relu", "my_own_op")
LOOSE = GOOD.replace("x = x", "x=x")
DRAFT = GOOD.replace("tensor<fp16, [2, 3]> y = relu(x = x)", 'y = add(x, $npy("w.npy"))')


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name, text in {"good": GOOD, "bad": BAD, "doubtful": DOUBTFUL, "loose": LOOSE}.items():
        (tmp_path / f"{name}.mil").write_text(text)
    (tmp_path / "beside").mkdir()
    np.save(tmp_path / "beside" / "w.npy", np.zeros((2, 3), np.float16))
    return tmp_path


def test_every_verb_takes_the_options() -> None:
    for words, verb in verbs().items():
        options = {name for each in verb.params for name in each.opts}
        assert {"--quiet", "-q", "--color"} <= options, words
        assert len(options) == sum(len(each.opts) for each in verb.params), words
        assert ("--stdin-filename" in options) is (words in FROM_STDIN), words


# ---- --quiet


@pytest.mark.parametrize(
    ("words", "status", "told", "left"),
    [
        ("check good.mil", 0, "nothing found in 1 program", ""),
        ("check bad.mil", 1, "1 error in 1 program", ""),
        ("fmt loose.mil", 0, "reformatted loose.mil", ""),
        ("fmt --check loose.mil", 1, "would reformat loose.mil", "would reformat loose.mil"),
        ("check --fix doubtful.mil", 1, "0 fixed, 1 left in 1 program", ""),
        ("print --strict strict.mil", 0, "warning[MIL204]", ""),
        ("print syntax.mil", 1, "error[MIL010]", "error[MIL010]"),
        ("print missing.mil", 2, "not found: missing.mil", "not found: missing.mil"),
        ("infer doubtful.mil", 0, "warning[MIL", ""),
        ("infer bad.mil", 1, "error[MIL604]", "error[MIL604]"),
        ("build good.mil -o M.mlpackage", 0, "", ""),
        ("sidecar Model.mlpackage", 0, "wrote Model.mlpackage.mil", ""),
        ("sidecar --check Model.mlpackage", 1, "stale: Model.mlpackage.mil", "stale: Model.mlpackage.mil"),
        ("rename Model.mlpackage image picture -o N.mlpackage", 0, "picture", ""),
    ],
)
def test_quiet_reports_results_and_errors_only(words: str, status: int, told: str, left: str, files: Path) -> None:
    (files / "strict.mil").write_text(GOOD.replace("x);", 'x)[name = string("a\\tb")];'))
    (files / "syntax.mil").write_text(GOOD.replace(";", ""))
    shutil.copytree(EXAMPLE, files / "Model.mlpackage")
    loud = files.with_name(f"{files.name}-loud")
    shutil.copytree(files, loud)
    verb, *rest = words.split()
    before = run(verb, *rest, cwd=loud)
    assert before.returncode == status
    assert told in before.stderr.decode()
    done = run("-q", verb, *rest, cwd=files)
    assert (done.returncode, done.stdout) == (status, before.stdout)
    assert left in done.stderr.decode()
    assert left or done.stderr == b""


def test_quiet_after_the_verb_hides_warnings_beside_errors(files: Path) -> None:
    both = BAD.replace("} ->", "tensor<fp16, [2, 3]> z = my_own_op(x = x); } ->")
    (files / "both.mil").write_text(both)
    loud = run("infer", "both.mil", cwd=files).stderr.decode()
    assert ("warning[" in loud, "error[" in loud) == (True, True)
    for words in ("infer both.mil --quiet", "--quiet infer both.mil", "-q infer -q both.mil"):
        told = run(*words.split(), cwd=files).stderr.decode()
        assert ("warning[" in told, "error[" in told) == (False, True)


def test_quiet_shows_no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    for words, shown in ((["help"], True), (["--quiet", "help"], False)):
        with command.make_context("miltext", words):
            assert Progress("reading")._shown is shown


def test_a_quiet_check_still_reports_findings(files: Path) -> None:
    for words in (("check", "doubtful.mil"), ("check", "--fix", "-")):
        given = DOUBTFUL.encode() if "-" in words else None
        done = run(*words, "-q", input=given, cwd=files)
        assert (done.returncode, b"warning[" in done.stdout + done.stderr) == (1, True)


# ---- --color


ALWAYS, ON_TERMINALS, NEVER = [True, True], [True, False], [False, False]
"""Whether there are colours on a terminal, and in a file or a pipe."""


@pytest.mark.parametrize(
    ("options", "environment", "messages", "documents"),
    [
        ("", "", ON_TERMINALS, ON_TERMINALS),
        ("", "TERM=dumb", NEVER, NEVER),
        ("", "NO_COLOR=1", NEVER, NEVER),
        ("", "NO_COLOR=0", NEVER, NEVER),
        ("", "NO_COLOR=", ON_TERMINALS, ON_TERMINALS),
        ("", "FORCE_COLOR=1", ALWAYS, ON_TERMINALS),
        ("", "FORCE_COLOR=0", ALWAYS, ON_TERMINALS),
        ("", "FORCE_COLOR=", ON_TERMINALS, ON_TERMINALS),
        ("", "FORCE_COLOR=1 TERM=dumb", ALWAYS, NEVER),
        ("", "CLICOLOR_FORCE=1", ALWAYS, ON_TERMINALS),
        ("", "CLICOLOR_FORCE=0", ON_TERMINALS, ON_TERMINALS),
        ("", "CLICOLOR_FORCE=", ON_TERMINALS, ON_TERMINALS),
        ("", "NO_COLOR=1 FORCE_COLOR=1 CLICOLOR_FORCE=1", NEVER, NEVER),
        ("--color always", "NO_COLOR=1 TERM=dumb", ALWAYS, ALWAYS),
        ("--color never", "FORCE_COLOR=1 CLICOLOR_FORCE=1", NEVER, NEVER),
        ("--color auto", "NO_COLOR=1", NEVER, NEVER),
        ("--color auto", "FORCE_COLOR=1", ALWAYS, ON_TERMINALS),
        ("--color never --color always", "", ALWAYS, ALWAYS),
        ("--color always --color auto", "", ON_TERMINALS, ON_TERMINALS),
    ],
)
def test_the_rules_for_colours(
    options: str, environment: str, messages: list[bool], documents: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (*streams.FORCING, "TERM"):
        monkeypatch.delenv(name, raising=False)
    for word in environment.split():
        monkeypatch.setenv(*word.split("=", 1))
    terminal, file = io.StringIO(), io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    with command.make_context("miltext", [*options.split(), "help"]):
        for is_document, expected in ((False, messages), (True, documents)):
            assert [streams.colored(each, is_document=is_document) for each in (terminal, file)] == expected


@pytest.mark.parametrize("words", ["--color always check bad.mil", "check --color always bad.mil"])
def test_color_comes_before_the_verb_or_after_it(words: str, files: Path) -> None:
    assert b"\x1b[31m" in run(*words.split(), cwd=files, NO_COLOR="1").stdout
    nearer = run("--color", "always", "check", "--color", "never", "bad.mil", cwd=files, FORCE_COLOR="1")
    assert b"\x1b" not in nearer.stdout


def test_only_the_option_colours_documents_in_pipes(files: Path) -> None:
    plain = run("print", "good.mil", cwd=files).stdout
    assert run("print", "good.mil", cwd=files, FORCE_COLOR="1").stdout == plain
    assert b"\x1b" in run("check", "bad.mil", cwd=files, FORCE_COLOR="1").stdout
    assert b"\x1b" in run("print", "good.mil", "--color", "always", cwd=files).stdout
    run("print", "good.mil", "--color", "always", "-o", "out.mil", cwd=files)
    assert (files / "out.mil").read_bytes() == plain


# ---- --stdin-filename


def test_messages_name_standard_input_so(files: Path) -> None:
    for verb in ("check", "fmt", "print", "infer", "parse --to pb", "info", "locate - 4"):
        words = [*verb.split(), *([] if "-" in verb.split() else ["-"])]
        for path in ("sub/dir/m.mil", str(files / "m.mil")):
            done = run(*words, "--stdin-filename", path, input=GOOD.replace(";", "").encode(), cwd=files)
            assert (done.returncode, f"{path}:" in (done.stdout + done.stderr).decode()) == (1, True), verb
        unnamed = run(*words, input=GOOD.replace(";", "").encode(), cwd=files)
        assert b"<stdin>:" in unnamed.stdout + unnamed.stderr, verb


def test_fmt_and_check_need_no_dash_with_it(files: Path) -> None:
    assert run("fmt", "--stdin-filename", "a.mil", input=LOOSE.encode()).stdout.decode() == GOOD
    assert run("fmt", "--check", "--stdin-filename", "a.mil", input=LOOSE.encode()).stderr == b"would reformat a.mil\n"
    assert (
        b"--- a.mil\n+++ a.mil (formatted)\n"
        in run("fmt", "--diff", "--stdin-filename", "a.mil", input=LOOSE.encode()).stdout
    )
    assert run("check", "--stdin-filename", "a.mil", input=BAD.encode()).returncode == 1
    for verb in ("fmt", "check"):
        assert b"or `-` for standard input" in run(verb, input=b"").stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("check bad.mil", "give `-` in place of bad.mil"),
        ("fmt good.mil bad.mil", "give `-` in place of good.mil"),
        ("print good.mil", "give `-` in place of good.mil"),
        ("infer good.mil", "give `-` in place of good.mil"),
        ("diff good.mil bad.mil", "give `-` in place of good.mil"),
    ],
)
def test_standard_input_names_no_file(words: str, said: str, files: Path) -> None:
    verb, *names = words.split()
    done = run(verb, *names, "--stdin-filename", "a.mil", cwd=files, input=b"")
    assert (done.returncode, said in done.stderr.decode()) == (2, True)
    before = run(verb, "--stdin-filename", "a.mil", *names, cwd=files, input=b"")
    assert before.stderr == done.stderr
    empty = run(verb, "-", "--stdin-filename", "", cwd=files, input=b"")
    assert b"--stdin-filename is empty" in empty.stderr or b"Missing argument" in empty.stderr


def test_arrays_and_weights_are_beside_it(files: Path) -> None:
    for verb in ("check", "infer", "run --random", "print"):
        given = ("--stdin-filename", "beside/m.mil")
        text = DRAFT if verb != "print" else GOOD
        done = run(*verb.split()[:1], "-", *verb.split()[1:], *given, input=text.encode(), cwd=files)
        assert (done.returncode, done.stderr.replace(b"nothing found in 1 program\n", b"")) == (0, b""), verb
    assert run("check", "-", input=DRAFT.encode(), cwd=files).returncode == 1
    spec = next(EXAMPLE.rglob("*.mlmodel"))
    named = run("weights", "-", "--stdin-filename", spec, input=spec.read_bytes())
    assert (named.returncode, named.stdout) == (0, run("weights", EXAMPLE).stdout)
    of_package = run("weights", "-", "--stdin-filename", EXAMPLE, input=spec.read_bytes())
    assert of_package.stdout == named.stdout
    printed = run("print", EXAMPLE).stdout
    beside = run("diff", "-", EXAMPLE, "--stdin-filename", spec.with_suffix(".mil"), input=printed)
    assert (beside.returncode, beside.stderr) == (0, b"")


def test_settings_match_its_folder(files: Path) -> None:
    (files / "beside" / "pyproject.toml").write_text(
        '[tool.miltext]\nexclude = ["old.mil"]\n[tool.miltext.per-file-ignores]\n"m.mil" = ["MIL604"]\n'
    )
    for name, status in (("beside/m.mil", 0), ("beside/n.mil", 1), ("m.mil", 1)):
        assert run("check", "-", "--stdin-filename", name, input=BAD.encode(), cwd=files).returncode == status, name
    for extra, status in (((), 1), (("--force-exclude",), 0)):
        done = run("check", "-", *extra, "--stdin-filename", "beside/old.mil", input=BAD.encode(), cwd=files)
        assert done.returncode == status


def test_the_ending_shows_the_kind_of_standard_input(files: Path) -> None:
    done = run("info", "-", "--json", "--stdin-filename", "x.txtpb", input=b"version: 1", cwd=files)
    assert json.loads(done.stdout)["kind"] == "txtpb"
    wrong = run("info", "-", "--stdin-filename", "x.mlmodel", input=GOOD.encode(), cwd=files)
    assert (wrong.returncode, b"x.mlmodel: error[" in wrong.stderr) == (1, True)


def test_a_fix_is_written_to_standard_output_and_the_file_stays(files: Path) -> None:
    slip = GOOD.replace("(x = x)", "(X = x)")
    path = files / "slip.mil"
    path.write_text(slip)
    done = run("check", "--fix", "--unsafe-fixes", "-", "--stdin-filename", "slip.mil", input=slip.encode(), cwd=files)
    assert done.stdout.decode() == GOOD
    assert path.read_text() == slip


def test_its_name_matches_no_folder_of_texts(files: Path) -> None:
    done = run("check", "-", "--stdin-filename", files, input=GOOD.encode())
    assert (done.returncode, b"MIL251" in done.stdout + done.stderr) == (1, True)


def test_a_request_applies_to_one_command_only(files: Path) -> None:
    assert run("-q", "--color", "always", "check", "bad.mil", cwd=files).stderr == b""
    after = run("check", "bad.mil", cwd=files)
    assert (b"\x1b" in after.stdout, after.stderr) == (False, b"1 error in 1 program\n")
