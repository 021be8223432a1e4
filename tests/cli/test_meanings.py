"""A verb or an option that is not there: the nearest is named, by its meaning or its spelling; and `help`."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.commands import miltext as run
from support.verbs import verbs

from miltext.cli import VERBS
from miltext.cli.meanings import AS_IT_IS, OPTIONS_MEANT, VERBS_MEANT
from miltext.diagnostics.codes import TITLES


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
        ("prune", ""),
        ("palettize", ""),
        ("delete", ""),
        ("cp", ""),
        ("tensors", "; did you mean `weights`?"),
        ("undo", "; did you mean `git undo`?"),
        ("component", ""),
        ("prnt", "; did you mean `print`?"),
        ("Print", "; did you mean `print`?"),
        ("Gone.mlpackage", "; did you mean `print Gone.mlpackage`?"),
        ("it is there", "; did you mean `print 'it is there'`?"),
        ("docs", "; did you mean `help` or `ops`?"),
        ("xyzzy", ""),
    ],
)
def test_an_unknown_verb_gets_the_nearest(word: str, end: str, tmp_path: Path) -> None:
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
        ("--strict print x", "option: --strict; the options of a verb come after it"),
        ("print -z", "option: -z"),
        ("check --exclude x", "option: --exclude"),
        ("git setup --local", "option: --local; leave it out: it is for this repository alone"),
        ("print --weights x", "option: --weights"),
        ("print --no-compact x", "option: --no-compact"),
        ("print --hex x", "option: --hex; did you mean `--floats hex`?"),
        ("print --short x", "option: --short; did you mean `--compact`?"),
        ("print --graph x", "option: --graph; did you mean `--html`?"),
        ("print --out-file x", "option: --out-file; did you mean `--output`?"),
        ("weights --dump x", "option: --dump; did you mean `--save`?"),
        ("weights --output x", "option: --output; did you mean `--save`?"),
        ("weights -o x", "option: -o; did you mean `--save`?"),
        ("diff --staged", "option: --staged; did you mean `--cached`?"),
        ("diff --commit x", "option: --commit; did you mean `--git`?"),
        ("check --sarif x", "option: --sarif; did you mean `--format sarif`?"),
        ("check --md x", "option: --md"),
        ("check --unsafe x", "option: --unsafe; did you mean `--unsafe-fixes`?"),
        ("check --strict x", "option: --strict; did you mean `--no-drafts`?"),
        ("fmt --in-place x", "option: --in-place; leave it out: `fmt` writes the files"),
        ("fmt -w x", "option: -w; leave it out: `fmt` writes the files"),
        ("fmt --verify x", "option: --verify; did you mean `--check`?"),
        ("generate --num-ops 3", "option: --num-ops; did you mean `--ops`?"),
        ("generate --size 3", "option: --size; did you mean `--ops`?"),
        ("ops --target ios17", "option: --target; did you mean `--opset`?"),
        ("ops --category x", "option: --category; did you mean `--family`?"),
        ("parse --binary x", "option: --binary; did you mean `--to pb`?"),
        ("parse --format pb x", "option: --format; did you mean `--to`?"),
        ("parse --fp16 x", "option: --fp16"),
        ("convert-weights --fp16 x", "option: --fp16; did you mean `--to fp16`?"),
        ("convert-weights --precision fp16 x", "option: --precision; did you mean `--to`?"),
    ],
)
def test_unknown_options_and_subcommands_have_suggestions(words: str, end: str) -> None:
    assert said(*words.split()) == f"Error: no such {end}"


def test_the_meanings_exist() -> None:
    there = verbs()
    inner = {words.split()[-1] for words in there if " " in words}
    for word, meant in VERBS_MEANT.items():
        assert word not in VERBS
        for name in meant:
            verb = name.partition(" --")[0]
            assert verb in there or verb in inner or name == "--version", (word, name)
            option = name.removeprefix(verb).strip()
            assert not option or any(option in each.opts for each in there[verb].params), (word, name)
    for word, known in OPTIONS_MEANT.items():
        name = word.rpartition(" ")[0]
        asked = [there[name]] if name else there.values()
        options = {option for verb in asked for each in verb.params for option in (*each.opts, *each.secondary_opts)}
        assert not known or any(each.split()[0] in options for each in known), word
        assert not name or word.rpartition(" ")[2] not in options, word
    for word in AS_IT_IS:
        name, _, option = word.rpartition(" ")
        assert not any(option in each.opts for each in there[name].params), word


@pytest.mark.parametrize(
    ("word", "end"),
    [
        ("609999", "`miltext explain` lists all codes"),
        ("MIL6O4", "did you mean `MIL604`?"),
        ("MIL60", " or ".join(f"`MIL60{digit}`" for digit in range(1, 10)) + "?"),
        ("covn", "`covn` is neither a code nor an operation; did you mean `conv`?"),
        ("softmaxx", "did you mean `softmax`?"),
        ("MIL", "`miltext explain` lists all codes"),
        ("", "`miltext explain` lists all codes"),
        ("xyzzy", "`miltext explain` lists all codes"),
    ],
)
def test_an_unknown_code_gets_the_nearest(word: str, end: str) -> None:
    assert said("explain", word).endswith(end)


@pytest.mark.parametrize("word", ["604", "mil604", "MIL604"])
def test_a_code_may_be_its_number_alone(word: str) -> None:
    for form in ((), ("--json",)):
        asked = run("explain", word, *form)
        assert (asked.returncode, asked.stdout) == (0, run("explain", "MIL604", *form).stdout)


def test_a_word_of_a_title_gets_its_codes() -> None:
    codes = [code for code, title in TITLES.items() if "unused" in title.split()]
    assert codes
    assert said("explain", "unused").endswith(f"did you mean {' or '.join(f'`{code}`' for code in codes)}?")


def test_help_matches_the_verb() -> None:
    for words in ("", "check", "git", "git setup", "help", "textconv"):
        asked = run("help", *words.split())
        assert (asked.returncode, asked.stderr) == (0, b"")
        assert asked.stdout == run(*words.split(), "--help").stdout, words


def test_help_of_a_verb_without_commands_is_refused() -> None:
    assert said("help", "print", "x") == "Error: `print` has no commands of its own: leave out x"
