"""A verb or an option that is not there: the nearest is named, by its meaning or its spelling; and `help`."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.commands import miltext as run
from support.verbs import verbs

from miltext.cli import VERBS
from miltext.cli.meanings import OPTIONS_MEANT, VERBS_MEANT


def said(*words: str, cwd: Path | None = None) -> str:
    """The last line of an error of usage."""
    done = run(*words, cwd=cwd)
    assert (done.returncode, done.stdout) == (2, b"")
    return done.stderr.decode().splitlines()[-1]


@pytest.mark.parametrize(
    ("word", "end"),
    [
        ("lint", "; did you mean `check`?"),
        ("validate", "; did you mean `check`?"),
        ("VERIFY", "; did you mean `check`?"),
        ("format", "; did you mean `fmt`?"),
        ("formt", "; did you mean `fmt`?"),
        ("dump", "; did you mean `print`?"),
        ("graph", "; did you mean `print --html`?"),
        ("assemble", "; did you mean `parse` or `build`?"),
        ("quantize", "; did you mean `convert-weights`?"),
        ("convert", "; did you mean `build` or `convert-weights`?"),
        ("summary", "; did you mean `info`?"),
        ("bisect", "; did you mean `reduce`?"),
        ("version", "; did you mean `--version`?"),
        ("quantize_weights", "; did you mean `convert-weights`?"),
        ("visualize-spec", "; did you mean `print --html`?"),
        ("compyle", "; did you mean `build`?"),
        ("decode", "; did you mean `print`?"),
        ("breaking", "; did you mean `diff --breaking`?"),
        ("addr2line", "; did you mean `locate`?"),
        ("patch", ""),
        ("component", ""),
        ("prnt", "; did you mean `print`?"),
        ("Print", "; did you mean `print`?"),
        ("Gone.mlpackage", "; did you mean `print Gone.mlpackage`?"),
        ("it is there", "; did you mean `print 'it is there'`?"),
        ("docs", "; did you mean `help` or `ops`?"),
        ("xyzzy", ""),
    ],
)
def test_a_verb_that_is_not_there_gets_the_nearest(word: str, end: str, tmp_path: Path) -> None:
    (tmp_path / "it is there").touch()
    (tmp_path / "docs").touch()
    (tmp_path / "xyzzy").mkdir()
    assert said(word, cwd=tmp_path) == f"Error: no such command: {word}{end}"


def test_an_empty_verb_is_refused() -> None:
    assert said("") == "Error: no such command: "


@pytest.mark.parametrize(
    ("words", "end"),
    [
        ("git stup", "command: stup; did you mean `setup`?"),
        ("git install", "command: install; did you mean `setup`?"),
        ("git lint", "command: lint"),
        ("help lint", "command: lint; did you mean `check`?"),
        ("help git stup", "command: stup; did you mean `setup`?"),
        ("print --outptu x", "option: --outptu; did you mean `--output`?"),
        ("expose --out x", "option: --out; did you mean `--output`?"),
        ("check --json x", "option: --json; did you mean `--format json`?"),
        ("check --silent x", "option: --silent; did you mean `--quiet`?"),
        ("fmt --no-color x", "option: --no-color; did you mean `--color never`?"),
        ("fmt --dry-run x", "option: --dry-run; did you mean `--diff`?"),
        ("build --overwrite x", "option: --overwrite; did you mean `--force`?"),
        ("diff -u a b", "option: -u; did you mean `--format unified`?"),
        ("print --no-weights x", "option: --no-weights; did you mean `--compact`?"),
        ("compare --atol 1 a b", "option: --atol; did you mean `--min-snr`?"),
        ("git setup --dryrun", "option: --dryrun; did you mean `--dry-run`?"),
        ("explain --xyzzy", "option: --xyzzy"),
        ("--colour always print x", "option: --colour; did you mean `--color`?"),
        ("--strict print x", "option: --strict; the options of a verb stand after it"),
        ("print -z", "option: -z"),
    ],
)
def test_so_do_options_and_the_commands_of_verbs(words: str, end: str) -> None:
    assert said(*words.split()) == f"Error: no such {end}"


def test_what_is_meant_is_there() -> None:
    there = verbs()
    inner = {words.split()[-1] for words in there if " " in words}
    for word, meant in VERBS_MEANT.items():
        assert word not in VERBS
        for name in meant:
            verb = name.partition(" --")[0]
            assert verb in there or verb in inner or name == "--version", (word, name)
            option = name.removeprefix(verb).strip()
            assert not option or any(option in each.opts for each in there[verb].params), (word, name)
    options = {name for verb in there.values() for each in verb.params for name in (*each.opts, *each.secondary_opts)}
    for word, meant in OPTIONS_MEANT.items():
        assert any(name.split()[0] in options for name in meant), word


def test_help_is_that_of_the_verb() -> None:
    for words in ("", "check", "git", "git setup", "help", "textconv"):
        asked = run("help", *words.split())
        assert (asked.returncode, asked.stderr) == (0, b"")
        assert asked.stdout == run(*words.split(), "--help").stdout, words


def test_help_of_what_has_no_commands_is_refused() -> None:
    assert said("help", "print", "x") == "Error: `print` has no commands of its own: leave out x"
