"""Verbs on many models: the same results as one by one, in any number of processes, and from a cache."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from conftest import ROOT
from support.commands import Ended, miltext, miltext_process
from support.processes import children_of, is_running
from support.zoo import CANONICAL, GOOD, MODELS, WRONG, age, make_zoo, opened_below

from miltext.cli import many_models
from miltext.cli.many_models import ManyOptions
from miltext.diagnostics import ModelError

VERBS = {
    "check": ("check",),
    "describe": ("describe",),
    "find": ("find", "softmax"),
    "fmt": ("fmt", "--check"),
    "info": ("info",),
    "run": ("run", "--random", "1"),
    "size": ("size",),
    "weights": ("weights",),
}
LIBRARY = ROOT / "src" / "miltext" / "rewriting" / "library"
FIXABLE = CANONICAL.replace("ios16", "IOS16")
TEXTS = [name for name in MODELS if name.endswith(".mil")]


@pytest.fixture
def zoo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(make_zoo(tmp_path / "zoo"))
    return tmp_path / "zoo"


def models_of(verb: str) -> list[str]:
    return TEXTS if verb == "fmt" else MODELS


Line = dict[str, object]


def lines_of(ended: Ended) -> dict[str, Line]:
    lines = [json.loads(line) for line in ended.stdout.splitlines()]
    found = {line["path"]: line for line in lines}
    assert len(found) == len(lines)
    return found


def diagnostics_of(line: Line) -> list[dict[str, str]]:
    found = line["diagnostics"]
    assert isinstance(found, list)
    return found


def one_by_one(call: Sequence[str], names: Sequence[str]) -> list[Ended]:
    return [miltext(*call, name) for name in names]


# ---- the same results


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("jobs", [(), ("--jobs", "1"), ("--jobs", "2")], ids="".join)
def test_a_line_of_json_is_the_object_of_the_model(verb: str, jobs: tuple[str, ...], zoo: Path) -> None:
    names, call = models_of(verb), VERBS[verb]
    if not jobs and verb in ("check", "find", "fmt"):
        pytest.skip("without --jobs, this verb writes one object for all")
    found = miltext(*call, "--json", *jobs, *names)
    alone = one_by_one((*call, "--json"), names)
    assert found.returncode == max(each.returncode for each in alone) == 1
    lines = lines_of(found)
    assert lines.keys() == set(names)
    for name, each in zip(names, alone, strict=True):
        assert lines[name] == {"path": name, "status": each.returncode, **json.loads(each.stdout)}
        assert list(lines[name])[:3] == ["path", "status", "form"]


@pytest.mark.parametrize("verb", ["describe", "info", "run", "size", "weights"])
def test_texts_have_the_name_of_the_model_above_them(verb: str, zoo: Path) -> None:
    names, call = [*MODELS[:3]], VERBS[verb]
    texts = [each.stdout.decode() for each in one_by_one(call, names)]
    expected = "\n".join(f"==> {name} <==\n{text}" for name, text in zip(names, texts, strict=True))
    for jobs in ((), ("--jobs", "2")):
        assert miltext(*call, *jobs, *names).stdout.decode() == expected


@pytest.mark.parametrize("verb", ["describe", "info", "run", "size", "weights"])
def test_a_single_named_model_has_no_name_above_its_text(verb: str, zoo: Path) -> None:
    alone = miltext(*VERBS[verb], "c.mil").stdout
    options = ("--jobs", "2"), ("--cache", "kept"), ("--cache", "kept"), ("--files-from", "-")
    for each in options:
        named = [] if "-" in each else ["c.mil", "./c.mil"]
        assert miltext(*VERBS[verb], *each, *named, input=b"c.mil").stdout == alone
    (zoo / "folder").mkdir()
    (zoo / "c.mil").rename(zoo / "folder" / "c.mil")
    for jobs in ((), ("--jobs", "2")):
        assert miltext(*VERBS[verb], *jobs, "folder").stdout.startswith(b"==> folder/c.mil <==\n")


@pytest.mark.parametrize("call", [("check",), ("check", "--format", "sarif"), ("check", "--format", "github"),
                                  ("find", "softmax"), ("find", "softmax", "--count"), ("fmt", "--check"),
                                  ("fmt", "--diff"), ("check", "--diff", "--unsafe-fixes")], ids=" ".join)  # fmt: skip
def test_processes_change_no_output(call: tuple[str, ...], zoo: Path) -> None:
    (zoo / "fixable.mil").write_text(FIXABLE, encoding="utf-8")
    alone = miltext(*call, ".")
    assert alone.stdout or call[0] == "find" or "--check" in call
    for jobs in ("1", "2", "auto", "1000") if call == ("check",) else ("2",):
        shared = miltext(*call, "--jobs", jobs, ".")
        assert (shared.returncode, shared.stdout, shared.stderr) == (alone.returncode, alone.stdout, alone.stderr)


def test_a_folder_stands_for_the_models_below_it(zoo: Path) -> None:
    for folder in (".", str(zoo)):
        found = miltext("info", "--json", folder)
        assert [Path(name).name for name in lines_of(found)] == [Path(name).name for name in MODELS]
    assert found.returncode == 1


def test_one_model_has_its_own_output(zoo: Path) -> None:
    alone = miltext("info", "--json", "A.mlpackage")
    assert alone.stdout.startswith(b"{\n")
    assert "path" not in json.loads(alone.stdout)
    assert miltext("info", "A.mlpackage").stdout.startswith(b"mlProgram")


def test_check_find_and_fmt_write_one_object_for_several_paths(zoo: Path) -> None:
    for verb in ("check", "find", "fmt"):
        found = json.loads(miltext(*VERBS[verb], "--json", "c.mil", "d.mil").stdout)
        assert "path" not in found


# ---- which models


def test_a_model_named_twice_is_read_once(zoo: Path) -> None:
    (zoo / "linked.mil").symlink_to("c.mil")
    found = miltext("info", "--json", "c.mil", "./c.mil", "linked.mil", str(zoo / "c.mil"), "d.mil")
    assert list(lines_of(found)) == ["c.mil", "d.mil"]


@pytest.mark.parametrize("separator", ["\n", "\0"])
@pytest.mark.parametrize("is_file", [True, False])
def test_paths_are_listed_in_a_file(separator: str, is_file: bool, zoo: Path, tmp_path: Path) -> None:
    listed = separator.join([*MODELS[:3], ""]).encode()
    (tmp_path / "listed").write_bytes(listed)
    source = str(tmp_path / "listed") if is_file else "-"
    found = miltext("info", "--json", "--files-from", source, input=None if is_file else listed)
    assert list(lines_of(found)) == MODELS[:3]


def test_lists_are_joined_and_their_last_line_needs_no_end(zoo: Path) -> None:
    found = miltext("info", "--json", "c.mil", "--files-from", "-", input=b"d.mil\n\nA.mlpackage")
    assert list(lines_of(found)) == ["c.mil", "d.mil", "A.mlpackage"]


@pytest.mark.parametrize("listed", [b"c.mil\r\nd.mil\r\n", b"\r\nc.mil\r\n\r\nd.mil\r", b"c.mil\nd.mil\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_a_list_may_come_from_windows(mark: bytes, listed: bytes, zoo: Path) -> None:
    for source in (mark + listed, mark + b"c.mil\0d.mil\0"):
        found = miltext("info", "--json", "--files-from", "-", input=source)
        assert list(lines_of(found)) == ["c.mil", "d.mil"]
    assert miltext("info", "--json", "--files-from", "-", input=mark + b"\r\n").stdout == b""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("listed", ["c.mil\r\nd.mil\r\nzwölf 十二.mil\r\n", "c.mil\0d.mil\0zwölf 十二.mil"])
def test_a_list_is_read_by_its_byte_order_mark(listed: str, encoding: str, zoo: Path) -> None:
    """PowerShell 5 writes UTF-16 with `>`."""
    (zoo / "zwölf 十二.mil").write_text(CANONICAL, encoding="utf-8")
    (zoo / "listed.txt").write_bytes(f"\ufeff{listed}".encode(encoding))
    found = miltext("info", "--json", "--files-from", "listed.txt")
    assert list(lines_of(found)) == ["c.mil", "d.mil", "zwölf 十二.mil"]
    alone = miltext("info", "--json", "--files-from", "-", input="\ufeff".encode(encoding))
    assert (alone.returncode, alone.stdout, alone.stderr) == (0, b"", b"miltext: no models are named\n")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("\ufeffc.mil\r\nd".encode("utf-16-le") + b"x", "UTF-16 text: the bytes from offset 18, in line 2,"),
        ("\ufeffc.mil".encode("utf-16-be") + b"\xd8\x00", "UTF-16 text: the bytes from offset 12, in line 1,"),
        (b"\xff\xfe\0\0a\0\0", "UTF-32 text: the bytes from offset 4, in line 1,"),
        ("c.mil\r\n".encode("utf-16-le"), "this is UTF-16 without a byte order mark, by its NULs"),
        ("c.mil\r\n".encode("utf-16-be"), "this is UTF-16 without a byte order mark, by its NULs"),
    ],
)
def test_a_list_in_an_unreadable_encoding_is_an_error(data: bytes, message: str, zoo: Path) -> None:
    (zoo / "listed.txt").write_bytes(data)
    for source, shown in (("listed.txt", "listed.txt"), ("-", "<stdin>")):
        found = miltext("info", "--files-from", source, input=data)
        assert (found.returncode, found.stdout) == (1, b"")
        assert f"{shown}: error[MIL256]: " in found.stderr.decode()
        assert message in found.stderr.decode()


def test_a_list_of_bytes_that_name_no_file_on_windows_is_an_error(zoo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (zoo / "listed.txt").write_bytes(b"c.mil\nzw\xf6lf.mil\n")
    monkeypatch.setattr("miltext.cli.many_models.os.fsdecode", lambda path: path.decode("utf-8"))
    with pytest.raises(ModelError, match=r"listed\.txt.*MIL256.*not UTF-8 text: byte 3 of path 2 is 0xf6"):
        many_models._listed("listed.txt")


@pytest.mark.skipif(sys.platform == "win32", reason="names have no line ends there")
def test_a_carriage_return_ends_no_name_in_a_list_with_nul(zoo: Path) -> None:
    (zoo / "c.mil\r").write_text(CANONICAL, encoding="utf-8")
    found = miltext("check", "--json", "--files-from", "-", input=b"c.mil\r\0d.mil\0")
    assert list(lines_of(found)) == ["c.mil\r", "d.mil"]


@pytest.mark.skipif(sys.platform == "win32", reason="names have no line ends there")
def test_a_name_may_contain_a_line_end(zoo: Path) -> None:
    (zoo / "a\nb.mil").write_text(CANONICAL, encoding="utf-8")
    found = miltext("info", "--json", "--files-from", "-", input=b"a\nb.mil\0c.mil\0")
    assert list(lines_of(found)) == ["a\nb.mil", "c.mil"]
    assert miltext("info", "a\nb.mil", "c.mil").stdout.startswith(b"==> a\xef\xbf\xbdb.mil <==\n")


@pytest.mark.parametrize("verb", VERBS)
def test_an_empty_list_is_not_an_error(verb: str, zoo: Path) -> None:
    for jobs in ((), ("--jobs", "2")):
        found = miltext(*VERBS[verb], *jobs, "--json", "--files-from", "-", input=b"")
        assert (found.returncode, found.stdout) == (0, b"")


@pytest.mark.parametrize("verb", VERBS)
def test_a_list_that_does_not_exist_is_an_error(verb: str, zoo: Path) -> None:
    found = miltext(*VERBS[verb], "--files-from", "nowhere")
    assert (found.returncode, found.stdout) == (2, b"")
    assert found.stderr == b"miltext: file or folder not found: nowhere\n"


def test_an_empty_folder_is_an_error(zoo: Path) -> None:
    (zoo / "empty").mkdir()
    for verb in ("info", "check", "fmt"):
        found = miltext(*VERBS[verb], "--jobs", "2", "empty", "c.mil")
        assert (found.returncode, found.stdout) == (2, b"")
        assert b"the folder empty" in found.stderr
        assert b"check" not in found.stderr


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("verb", VERBS)
def test_a_path_that_vanished_is_its_line(verb: str, jobs: str, zoo: Path) -> None:
    found = miltext(*VERBS[verb], "--json", "--jobs", jobs, "vanished", "c.mil")
    lines = lines_of(found)
    assert (found.returncode, lines["c.mil"]["status"], lines["vanished"]["status"]) == (2, 0, 2)
    (found_there,) = diagnostics_of(lines["vanished"])
    assert (found_there["code"], found_there["severity"]) == ("MIL290", "error")
    assert found_there["message"] == "file or folder not found: vanished"
    text = miltext(*VERBS[verb], "--jobs", jobs, "vanished", "c.mil")
    assert b"miltext: file or folder not found: vanished\n" in text.stderr


def test_a_mistyped_name_ends_the_command_before_it_begins(zoo: Path) -> None:
    found = miltext("info", "c.mil", "d.mi")
    assert (found.returncode, found.stdout) == (2, b"")
    assert found.stderr == b"miltext: file or folder not found: d.mi; did you mean `d.mil`?\n"


@pytest.mark.skipif(sys.platform == "win32", reason="needs symlinks")
def test_loops_of_links_and_broken_links_end(zoo: Path) -> None:
    (zoo / "loop").symlink_to(".")
    (zoo / "self.mil").symlink_to("self.mil")
    (zoo / "broken.mil").symlink_to("nowhere.mil")
    lines = lines_of(miltext("info", "--json", "--jobs", "2", "."))
    assert [name for name in MODELS if name not in lines] == []
    assert {name for name, line in lines.items() if line["status"] == 2} == {"self.mil", "broken.mil"}


def test_a_model_in_a_model_is_a_part_of_it(zoo: Path) -> None:
    (zoo / "A.mlpackage" / "inner.mil").write_text(GOOD, encoding="utf-8")
    assert list(lines_of(miltext("info", "--json", "."))) == MODELS
    whole = lines_of(miltext("weights", "--json", "A.mlpackage/Manifest.json", "inner"))
    assert list(whole) == ["A.mlpackage", "inner/B.mlpackage"]


@pytest.mark.parametrize("verb", ["describe", "info", "run", "size", "weights"])
def test_a_rule_file_is_passed_over_in_a_folder(verb: str, zoo: Path) -> None:
    (zoo / "rules.mil").write_text(next(LIBRARY.glob("*.mil")).read_text(encoding="utf-8"), encoding="utf-8")
    found = lines_of(miltext(*VERBS[verb], "--json", "."))["rules.mil"]
    assert found["status"] == 0
    (note,) = diagnostics_of(found)
    assert (note["severity"], note["message"][:9]) == ("note", "skipped: ")
    named = lines_of(miltext(*VERBS[verb], "--json", "--jobs", "1", "rules.mil"))["rules.mil"]
    assert (named["status"], named["errors"]) == (1, 1)


def test_standard_input_is_one_of_many_models(zoo: Path) -> None:
    for jobs in ((), ("--jobs", "2")):
        found = miltext("info", "--json", *jobs, "-", "d.mil", input=CANONICAL.encode())
        assert set(lines_of(found)) == {"<stdin>", "d.mil"}
    named = miltext("info", "--json", "-", "d.mil", "--stdin-filename", "x.mil", input=CANONICAL.encode())
    assert set(lines_of(named)) == {"x.mil", "d.mil"}


# ---- options


WRONG_CALLS = {
    ("info", "--jobs", "few", "c.mil"): "'few' is neither a number of processes nor `auto`.",
    ("info", "--jobs", "-1", "c.mil"): "'-1' is neither a number of processes nor `auto`.",
    ("info", "--executor", "tcp://h:1", "c.mil"): "is not the address of a scheduler, as in dask://localhost:8786",
    ("info", "--executor", "dask://h:1", "--jobs", "2", "c.mil"): "leave out one",
    ("info", "--files-from", "-", "-"): "leave out one `-`",
    ("check", "--jobs", "2"): "name the models",
    ("check", "--jobs", "2", "--watch", "c.mil"): "--watch does not work with --jobs: leave out one",
    ("check", "--files-from", "l", "--watch"): "--watch does not work with --files-from: leave out one",
    ("check", "--cache", "k", "--list"): "--list does not work with --cache: leave out one",
    ("describe", "-o", "x.toml", "--jobs", "2", "c.mil"): "-o does not work with --jobs: leave out one",
    ("describe", "-o", "x.toml", "."): "-o is for one model: leave it out, or name one model without the others",
    ("describe", "-o", "x.toml", "c.mil", "d.mil"): "-o is for one model",
    ("run", "--random", "1", "-o", "x.npz", "c.mil", "d.mil"): "-o is for one model",
    ("run", "--random", "1", "--state-out", "x.npz", "c.mil", "d.mil"): "--state-out is for one model",
    ("weights", "--save", "x", "c.mil", "d.mil"): "--save is for one model",
}


@pytest.mark.parametrize("call", WRONG_CALLS, ids=" ".join)
def test_wrong_usage_is_refused_before_any_model_is_read(call: tuple[str, ...], zoo: Path) -> None:
    before = sorted(zoo.rglob("*"))
    found = miltext(*call)
    assert (found.returncode, found.stdout) == (2, b"")
    assert WRONG_CALLS[call] in found.stderr.decode()
    assert sorted(zoo.rglob("*")) == before


@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_has_all_options(verb: str) -> None:
    shown = miltext(verb, "--help").stdout.decode()
    assert all(f"--{name.replace('_', '-')}" in shown for name in ManyOptions._fields)


def test_an_option_that_fits_no_model_is_refused_at_the_end(zoo: Path) -> None:
    """A range of an input that some of the models have is used."""
    other = CANONICAL.replace("> x)", "> z)").replace("x = x", "x = z")
    (zoo / "other.mil").write_text(other, encoding="utf-8")
    for jobs in ((), ("--jobs", "2")):
        call = ("check", "--numbers", *jobs, "c.mil", "other.mil", "--input-range")
        assert miltext(*call, "z=0:1").returncode == 0
        refused = miltext(*call, "w=0:1")
        assert refused.returncode == 2
        assert b"--input-range w: no program has this input; the inputs are x, z" in refused.stderr


# ---- writing


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_processes_format_files(jobs: str, zoo: Path) -> None:
    (zoo / "e.mil").write_text(CANONICAL.replace("    ", "  "), encoding="utf-8")
    found = miltext("fmt", "--json", "--jobs", jobs, "c.mil", "e.mil")
    states = {name: line["files"][0]["status"] for name, line in lines_of(found).items()}  # type: ignore[index]
    assert states == {"c.mil": "unchanged", "e.mil": "reformatted"}
    assert (zoo / "e.mil").read_text() == CANONICAL


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_processes_fix_texts(jobs: str, zoo: Path) -> None:
    for name in ("f.mil", "g.mil"):
        (zoo / name).write_text(FIXABLE, encoding="utf-8")
    before = miltext("check", "f.mil", "g.mil")
    fixed = miltext("check", "--fix", "--unsafe-fixes", "--jobs", jobs, "f.mil", "g.mil")
    assert before.returncode == 1
    assert fixed.stderr == b"2 fixed, 0 left in 2 programs\n"
    assert (zoo / "f.mil").read_text() == (zoo / "g.mil").read_text() == CANONICAL


# ---- the cache


def cached(verb: str, cache: Path, *words: str) -> Ended:
    return miltext(*VERBS[verb], "--json", "--cache", cache, *words)


@pytest.mark.parametrize("verb", VERBS)
def test_a_second_run_with_the_cache_reads_no_model(verb: str, zoo: Path, tmp_path: Path) -> None:
    with opened_below(zoo) as opened:
        first = cached(verb, tmp_path / "cache", ".")
    assert len(opened) >= len(models_of(verb))
    for jobs in ((), ("--jobs", "2")):
        with opened_below(zoo) as opened:
            second = cached(verb, tmp_path / "cache", ".", *jobs)
        assert opened == []
        assert (second.returncode, second.stdout, second.stderr) == (first.returncode, first.stdout, first.stderr)
    assert [*lines_of(second)] == models_of(verb)


def test_a_second_run_in_text_is_the_first(zoo: Path, tmp_path: Path) -> None:
    call = ("check", "--cache", tmp_path / "cache", ".")
    first = miltext(*call)
    with opened_below(zoo) as opened:
        second = miltext(*call)
    assert opened == []
    assert (second.returncode, second.stdout, second.stderr) == (first.returncode, first.stdout, first.stderr)


def test_processes_fill_a_cache(zoo: Path, tmp_path: Path) -> None:
    first = cached("check", tmp_path / "cache", ".", "--jobs", "2")
    with opened_below(zoo) as opened:
        second = cached("check", tmp_path / "cache", ".")
    assert opened == []
    assert lines_of(first) == lines_of(second)


def test_only_a_changed_model_is_read_again(zoo: Path, tmp_path: Path) -> None:
    cached("check", tmp_path / "cache", ".")
    (zoo / "c.mil").write_text(WRONG, encoding="utf-8")
    with opened_below(zoo) as opened:
        found = cached("check", tmp_path / "cache", ".")
    assert {Path(path).name for path in opened} == {"c.mil"}
    assert lines_of(found)["c.mil"]["errors"] == 1


@pytest.fixture
def undefined(zoo: Path) -> Path:
    (zoo / "wrong.mil").write_text(CANONICAL.replace("x = x", "x = z"), encoding="utf-8")
    age(zoo)
    return zoo


@pytest.mark.parametrize("place", [".", ".."])
def test_settings_of_the_project_are_a_part_of_the_work(place: str, undefined: Path, tmp_path: Path) -> None:
    assert cached("check", tmp_path / "cache", ".").returncode == 1
    (undefined / place / "pyproject.toml").write_text('[tool.miltext]\nignore = ["MIL604"]\n')
    assert cached("check", tmp_path / "cache", ".").returncode == 0
    (undefined / place / "pyproject.toml").unlink()
    assert cached("check", tmp_path / "cache", ".").returncode == 1


def test_options_are_a_part_of_the_work(undefined: Path, tmp_path: Path) -> None:
    assert cached("check", tmp_path / "cache", ".").returncode == 1
    assert cached("check", tmp_path / "cache", ".", "--ignore", "MIL604").returncode == 0
    assert cached("check", tmp_path / "cache", ".").returncode == 1


def test_files_beside_a_text_and_of_options_are_inputs(zoo: Path, tmp_path: Path) -> None:
    import numpy as np

    text = 'program(1.3) { func main<ios16>(tensor<fp32, [2]> x) { y = add(x, $npy("w.npy")); } -> (y); }'
    (zoo / "t.mil").write_text(text, encoding="utf-8")

    def outputs(number: float) -> list[object]:
        np.save(zoo / "w.npy", np.full(2, number, np.float32))
        np.savez(tmp_path / "in.npz", x=np.zeros(2, np.float32))
        age(zoo)
        found = miltext("run", "--inputs", tmp_path / "in.npz", "--cache", tmp_path / "cache", "--json", "t.mil")
        return [each["max"] for each in lines_of(found)["t.mil"]["outputs"]]  # type: ignore[attr-defined]

    assert outputs(1) == [1]
    assert outputs(2) == [2]
    (zoo / "w.npy").unlink()
    gone = miltext("run", "--inputs", tmp_path / "in.npz", "--cache", tmp_path / "cache", "--json", "t.mil")
    assert gone.returncode != 0
    assert outputs(3) == [3]


def test_a_weight_file_that_appears_is_noticed(zoo: Path, tmp_path: Path) -> None:
    text = miltext("print", "A.mlpackage").stdout
    (zoo / "text").mkdir()
    (zoo / "text" / "m.mil").write_bytes(text)
    age(zoo)
    before = cached("run", tmp_path / "cache", "text/m.mil")
    assert before.returncode != 0
    (zoo / "text" / "weights").mkdir()
    (zoo / "text" / "weights" / "weight.bin").write_bytes(next(zoo.glob("A.mlpackage/**/weight.bin")).read_bytes())
    after = cached("run", tmp_path / "cache", "text/m.mil")
    assert after.returncode == 0


def test_a_cache_in_the_zoo_is_not_a_model(zoo: Path) -> None:
    first = cached("check", zoo / "cache", ".")
    second = cached("check", zoo / "cache", ".")
    assert [*lines_of(first)] == [*lines_of(second)] == MODELS
    assert first.stdout == second.stdout


def test_files_that_were_written_are_looked_at_again(zoo: Path, tmp_path: Path) -> None:
    (zoo / "e.mil").write_text(CANONICAL.replace("    ", "  "), encoding="utf-8")
    call = ("fmt", "--json", "--cache", tmp_path / "cache", "c.mil", "e.mil")
    states = [
        {name: line["files"][0]["status"] for name, line in lines_of(miltext(*call)).items()}  # type: ignore[index]
        for _ in range(3)
    ]
    assert states == [
        {"c.mil": "unchanged", "e.mil": "reformatted"},
        *[{"c.mil": "unchanged", "e.mil": "unchanged"}] * 2,
    ]


def test_a_cache_that_cannot_be_made_or_written(zoo: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    found = cached("info", tmp_path / "file", "c.mil")
    assert (found.returncode, found.stdout) == (2, b"")
    assert f"--cache {tmp_path / 'file'}" in found.stderr.decode()
    (tmp_path / "cache" / ".gitignore").mkdir(parents=True)
    (tmp_path / "cache" / "CACHEDIR.TAG").mkdir()
    assert cached("info", tmp_path / "cache", "c.mil").returncode == 0


def test_standard_input_is_never_kept(zoo: Path, tmp_path: Path) -> None:
    for text, status in ((CANONICAL, 0), (WRONG, 1)):
        found = miltext("check", "--json", "--cache", tmp_path / "cache", "-", input=text.encode())
        assert found.returncode == status


# ---- processes


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """A folder of many models."""
    (tmp_path / "large").mkdir()
    for number in range(400):
        (tmp_path / "large" / f"m{number:03}.mil").write_text(CANONICAL, encoding="utf-8")
    return tmp_path / "large"


def started(folder: Path, *words: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "miltext", "run", "--random", "1", "--json", "--jobs", "2", *words, "."]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
@pytest.mark.parametrize(
    ("number", "to_group", "status"),
    [(signal.SIGINT, True, 130), (signal.SIGINT, False, 130), (signal.SIGTERM, False, 143)],
)
def test_a_signal_ends_all_processes(number: int, to_group: bool, status: int, large: Path) -> None:
    with started(large) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b'{"path"')
        children = children_of(process.pid)
        (os.killpg if to_group else os.kill)(process.pid, number)
        process.stdout.read()
        shown = process.stderr.read()
        assert process.wait() == status
    assert len(children) == 2
    assert b"Traceback" not in shown
    assert not any(map(is_running, children))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
@pytest.mark.parametrize("stopped", [1, 2])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_process_delays_no_end(number: int, stopped: int, large: Path) -> None:
    """A stopped process acts on no signal but SIGKILL, which it gets after a few seconds."""
    with started(large) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        children = children_of(process.pid)
        for child in children[:stopped]:
            os.kill(child, signal.SIGSTOP)
        begin = time.monotonic()
        for _ in range(2):  # as an impatient person does
            process.send_signal(number)
            time.sleep(0.2)
        process.stdout.read()
        shown = process.stderr.read()
        assert process.wait(20) == 128 + number
        assert time.monotonic() - begin < 15
    assert len(children) == 2
    assert b"Traceback" not in shown
    assert not any(map(is_running, children))


@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")
def test_results_before_a_signal_are_kept(large: Path, tmp_path: Path) -> None:
    with started(large, "--cache", str(tmp_path / "cache")) as process:
        assert process.stdout is not None
        for _ in range(10):
            process.stdout.readline()
        process.send_signal(signal.SIGINT)
        process.stdout.read()
        assert process.wait() == 130
    assert len([path for path in (tmp_path / "cache").iterdir() if len(path.name) == 64]) >= 10


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_a_reader_that_leaves_ends_all_processes(large: Path) -> None:
    with started(large) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        children = children_of(process.pid)
        process.stdout.close()
        shown = process.stderr.read()
        assert process.wait() == 2
    assert b"Traceback" not in shown
    assert not any(map(is_running, children))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_a_signal_leaves_no_file_half_written(large: Path) -> None:
    for path in large.iterdir():
        path.write_text(CANONICAL.replace("    ", "  "), encoding="utf-8")
    command = [sys.executable, "-m", "miltext", "fmt", "--json", "--jobs", "2", "."]
    names = {path.name for path in large.iterdir()}
    with subprocess.Popen(command, cwd=large, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        os.killpg(process.pid, signal.SIGINT)
        process.stdout.read()
        assert process.wait() == 130
    time.sleep(0.1)
    assert {path.name for path in large.iterdir()} == names
    texts = {path.read_text(encoding="utf-8") for path in large.iterdir()}
    assert texts <= {CANONICAL, CANONICAL.replace("    ", "  ")}


def test_a_separate_process_has_the_same_output(zoo: Path) -> None:
    here = miltext("check", "--jobs", "2", ".")
    there = miltext_process("check", "--jobs", "2", ".")
    assert (there.returncode, there.stdout, there.stderr) == (here.returncode, here.stdout, here.stderr)
