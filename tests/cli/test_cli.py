"""The command line as a user meets it: what it prints, where, and how it ends."""

from __future__ import annotations

import importlib.metadata
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import slow_imports
from support.commands import miltext as run
from support.commands import miltext_process

import miltext

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "Classifier.mlpackage"

TEXT = """\
program(1.3)
{
    func main<ios18>(tensor<fp16, [2]> x) {
            tensor<fp16, [2]> y = relu(x = x)[name = string("y")];
        } -> (y);
}
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.mil"
    path.write_text(TEXT)
    return path


WRONG = TEXT.replace("relu(x = x)", "rellu(x = q)").replace('"y"', '"\u00fc"')


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ("print good.mil", 0),
        ("print --color always wrong.mil", 0),
        ("--color always print syntax.mil", 1),
        ("print -", 0),
        ("parse good.mil --to pb", 0),
        ("parse wrong.mil --to txtpb", 0),
        ("fmt --check --diff wrong.mil good.mil syntax.mil", 1),
        ("check wrong.mil missing.mil", 2),
        ("check --format json .", 1),
        ("infer -", 0),
        ("explain mil604", 0),
        ("explain MIL999", 2),
        ("ops relu", 0),
        ("diff good.mil wrong.mil", 1),
        ("info good.mil", 0),
        ("run good.mil --random", 0),
        ("compare good.mil good.mil --random", 0),
        ("locate good.mil 4", 0),
        ("prnt", 2),
        ("", 2),
    ],
)
def test_a_separate_process_prints_the_same(arguments: str, status: int, tmp_path: Path) -> None:
    for name, text in (("good", TEXT), ("wrong", WRONG), ("syntax", TEXT.replace(";", ""))):
        (tmp_path / f"{name}.mil").write_text(text, encoding="utf-8")
    words = arguments.split()
    given = TEXT.encode() if "-" in words else None
    here, there = (each(*words, input=given, cwd=tmp_path) for each in (run, miltext_process))
    assert (here.stdout, here.stderr, here.returncode) == (there.stdout, there.stderr, status)
    assert there.returncode == status


def test_the_readmes_first_command_prints_the_example() -> None:
    result = run("print", EXAMPLE)
    assert (result.returncode, result.stderr) == (0, b"")
    assert result.stdout.startswith(b"program(1.3)\n[buildInfo = ")
    assert miltext.parse(result.stdout.decode()) == miltext.load(EXAMPLE).program


def test_a_text_survives_every_form(program: Path, tmp_path: Path) -> None:
    for ending in ("pb", "txtpb"):
        out = tmp_path / f"out.{ending}"
        assert run("parse", program, "-o", out).returncode == 0
        assert run("print", out).stdout.decode() == TEXT
        assert run("print", input=out.read_bytes()).stdout.decode() == TEXT


NANS = ["fp32($0xffc00001)", "fp32($0xffc00000)", "fp64($0xfff8000000000000)", "tensor<fp32, [2]>([inf, $0x7fc00002])"]
NANS += ["tuple<fp32>(($0x7f800001))", 'dict<string, fp64>({{"k", $0x7ff8000000000001}})']


@pytest.mark.parametrize("value", NANS)
def test_protobufs_text_loses_no_bit_of_a_nan(value: str, tmp_path: Path) -> None:
    source, out = tmp_path / "a.mil", tmp_path / "a.txtpb"
    out.write_bytes(b"old")
    for where, name in (("[lost = %s] {}", "`lost`"), ("{ func f() [lost = %s] {} -> (); }", "`lost` of `f`")):
        source.write_text(f"program(1.3) {where}".replace("%s", value))
        refused = run("parse", source, "-o", out)
        assert refused.returncode == 1
        assert f"error[MIL206]: protobuf's text cannot express {name}: its `nan`" in refused.stderr.decode()
        assert out.read_bytes() == b"old"
        assert run("parse", source, "-o", out.with_suffix(".pb")).returncode == 0
        assert value in run("print", out.with_suffix(".pb")).stdout.decode()
    source.write_text("program(1.3) [kept = fp32(nan), too = fp64(-inf), three = bf16($0xffc1)] {}")
    assert run("parse", source, "-o", out).returncode == 0
    assert run("print", out).stdout == run("print", source).stdout


@pytest.mark.parametrize("form", ["pb", "txtpb"])
@pytest.mark.parametrize("head", ["", "[kept = fp32(1)] ", '$doc("what it is for") '])
def test_a_program_without_functions_is_replaced_as_any_other(form: str, head: str, tmp_path: Path) -> None:
    out = tmp_path / f"out.{form}"
    for text in (f"program(1.3) {head}{{}}", TEXT):
        for _ in range(2):
            assert run("parse", "-o", out, input=text.encode()).returncode == 0


@pytest.mark.parametrize("form", ["pb", "txtpb"])
def test_no_file_is_written_that_would_be_refused_as_empty(form: str, tmp_path: Path) -> None:
    out = tmp_path / f"out.{form}"
    for text, written in (("program(1.3) $version(0) {}", False), ("program(1.3) {}", True)):
        result = run("parse", "-o", out, input=text.encode())
        assert out.exists() is written is (result.returncode == 0)
        assert written or "error[MIL206]" in result.stderr.decode()
    assert run("print", out).returncode == 0


def test_text_is_taken_from_a_pipe() -> None:
    assert run("print", input=TEXT.encode()).stdout.decode() == TEXT
    assert run("print", "-", input=TEXT.encode()).stdout.decode() == TEXT


def test_a_model_in_a_pipe_is_reported_from_a_program() -> None:
    model = next(EXAMPLE.rglob("*.mlmodel")).read_bytes()
    assert run("print", input=model).stdout == run("print", EXAMPLE).stdout


@pytest.mark.parametrize(
    ("option", "shown"),
    [
        (("--dialect", "1.0"), b'[name = tensor<string, []>("y")]'),
        (("--floats", "decimal"), b"tensor<fp16, [2]>([0.5, 1.0])"),
        (("--elide", "1"), b"tensor<fp16, [2]>($elided(2, "),
        (("--verify-roundtrip",), b"tensor<fp16, [2]>([0x1p-1, 0x1p+0])"),
    ],
)
def test_options_of_print(option: tuple[str, ...], shown: bytes, program: Path) -> None:
    program.write_text(TEXT.replace("relu(x = x)", "add(x = x, y = tensor<fp16, [2]>([0.5, 1]))"))
    result = run("print", program, *option)
    assert (result.returncode, result.stderr) == (0, b"")
    assert shown in result.stdout


def test_elided_text_formats_and_is_refused_with_the_reason(program: Path) -> None:
    program.write_text(TEXT.replace("relu(x = x)", "add(x = x, y = tensor<fp16, [2]>([0.5, 1]))"))
    short = run("print", program, "--elide", "1").stdout
    assert run("fmt", "-", input=short).stdout == short
    refused = run("parse", "--to", "pb", input=short)
    assert (refused.returncode, refused.stdout) == (1, b"")
    assert b"MIL107" in refused.stderr
    assert b"print the text with all literals" in refused.stderr


def test_as_coremlc_puts_the_attributes_on_line_two(program: Path) -> None:
    lines = run("print", program, "--as-coremlc").stdout.decode().splitlines()
    assert lines[1].startswith("[buildInfo = dict<string, string>({{")
    assert "coremlc-component-MIL" in lines[1]


def test_strict_refuses_ours_and_warns_of_the_unproven(program: Path) -> None:
    program.write_text(TEXT.replace("program(1.3)", "program(1.3) $version(2)"))
    ours = run("print", "--strict", program)
    assert (ours.returncode, ours.stdout) == (1, b"")
    assert b"error[MIL201]" in ours.stderr
    unproven = run("parse", "--strict", "--to", "pb", input=TEXT.replace("ios18", "ios26").encode())
    assert (unproven.returncode, b"warning[MIL204]" in unproven.stderr) == (0, True)
    parsed = run("parse", "--strict", "--to", "pb", input=TEXT.replace('"y"', '"a\\tb"').encode())
    assert (parsed.returncode, b"warning[MIL204]" in parsed.stderr) == (0, True)


def test_a_wrong_text_is_shown_with_its_place(program: Path) -> None:
    program.write_text(TEXT.replace(";\n        }", "\n        }"))
    result = run("print", program)
    assert result.returncode == 1
    assert f"{program}:4:66: error[MIL010]: expected `;` after the operation\n" in result.stderr.decode()


@pytest.mark.parametrize(
    "arguments",
    [
        ("print", "missing.mil"),
        ("parse", "x.mil"),
        ("prnt",),
        ("fmt",),
        ("print", "--dialect", "2"),
        ("print", EXAMPLE, "--as-coremlc", "--dialect", "1.0"),
        ("fmt", "missing"),
    ],
)
def test_usage_and_files_end_with_two_and_no_traceback(arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert result.returncode == 2
    assert result.stdout == b""
    assert b"Traceback" not in result.stderr


def test_a_near_miss_of_a_verb_gets_a_hint() -> None:
    assert b"did you mean `print`?" in run("prnt").stderr


def test_an_output_that_fails_leaves_the_old_file_whole(program: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.pb"
    out.write_bytes(b"old")
    program.write_text("program(1.3) {")
    assert run("parse", program, "-o", out).returncode == 1
    assert out.read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.pb", "program.mil"]


def test_an_unwritable_place_is_two(program: Path, tmp_path: Path) -> None:
    result = run("parse", program, "-o", tmp_path / "no" / "out.pb")
    assert result.returncode == 2
    assert b"no" in result.stderr
    assert b"Traceback" not in result.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_binary_is_never_written_to_a_terminal(program: Path) -> None:
    import pty

    master, slave = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "miltext", "parse", str(program), "--to", "pb"],
        stdout=slave,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(slave)
    os.close(master)
    assert done.returncode == 2
    assert b"terminal" in done.stderr


def test_fmt_rewrites_in_place_and_keeps_the_mode(program: Path) -> None:
    program.write_text(TEXT.replace("    ", " ").replace(" = ", "="))
    program.chmod(0o640)
    assert run("fmt", "--check", program).returncode == 1
    assert program.read_text() != TEXT
    assert run("fmt", program).returncode == 0
    assert program.read_text() == TEXT
    assert stat.S_IMODE(program.stat().st_mode) == 0o640
    assert run("fmt", "--check", program).returncode == 0


def test_fmt_leaves_a_canonical_file_untouched(program: Path) -> None:
    before = program.stat().st_mtime_ns
    assert run("fmt", program).returncode == 0
    assert program.stat().st_mtime_ns == before


def test_fmt_walks_folders_and_reports_every_bad_file(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "good.mil").write_text(TEXT.replace("    ", " "))
    (tmp_path / "bad.mil").write_text("program(1.3) {")
    result = run("fmt", tmp_path)
    assert result.returncode == 1
    assert (tmp_path / "a" / "good.mil").read_text() == TEXT
    assert b"bad.mil" in result.stderr
    assert (tmp_path / "bad.mil").read_text() == "program(1.3) {"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no FIFOs")
@pytest.mark.parametrize("verb", [("fmt", "--check"), ("check",)])
def test_a_fifo_in_a_folder_is_not_waited_for(verb: tuple[str, ...], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.mil")
    (tmp_path / "b.mil").symlink_to("nowhere.mil")
    (tmp_path / "c.mil").symlink_to("c.mil")
    (tmp_path / "d.mil").mkdir()
    (tmp_path / "d.mil" / "e.mil").write_text("program(1.3) {")
    done = miltext_process(*verb, tmp_path)
    said = (done.stdout + done.stderr).decode()
    assert [name for name in "abcde" if f"{name}.mil:" in said] == ["b", "c", "e"]
    assert done.returncode


def test_fmt_diff_shows_the_changes(program: Path) -> None:
    program.write_text(TEXT.replace("x = x", "x=x"))
    result = run("fmt", "--diff", program)
    assert result.returncode == 1
    assert b'-            tensor<fp16, [2]> y = relu(x=x)[name = string("y")];' in result.stdout
    assert b'+            tensor<fp16, [2]> y = relu(x = x)[name = string("y")];' in result.stdout


def test_color_is_for_terminals_unless_requested(program: Path) -> None:
    program.write_text("program(1.3) {")
    assert b"\x1b[" not in run("print", program).stderr
    assert b"\x1b[" in run("--color", "always", "print", program).stderr


def test_help_and_version() -> None:
    assert run("--version").stdout.startswith(b"miltext ")
    top = run("--help").stdout.decode()
    for verb in ("print", "parse", "fmt"):
        assert verb in top
        assert "Examples:" in run(verb, "--help").stdout.decode()


@pytest.mark.parametrize("verb", ["fmt", "infer"])
def test_empty_standard_input_is_reported_as_an_empty_file_is(verb: str, tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    ended, of_file = run(verb, "-", input=b""), run(verb, "empty", cwd=tmp_path)
    assert ended.returncode == of_file.returncode == 1
    assert ended.stderr.startswith(b"<stdin>: error[MIL256]")


@pytest.mark.parametrize("words", [("--version",), ("check", "--format", "sarif", "-")], ids=" ".join)
def test_a_checkout_that_is_not_installed_has_no_version(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def version(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    ended = run(*words, input=b"program(1.3)\n{\n}\n")
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert ended.stderr.startswith(b"miltext: the version is not known, as miltext is not installed: ")
    assert ended.stderr.count(b"\n") == 1


def test_printing_a_package_imports_no_slow_modules() -> None:
    assert slow_imports("print", EXAMPLE) == []
