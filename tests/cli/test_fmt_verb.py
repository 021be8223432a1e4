"""`miltext fmt` on many files at once, and to a width."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.commands import miltext, miltext_process

from miltext.cli import fmt_verb

HEAD = "program(1.3)\n{\n    func main<ios18>(tensor<fp16, [2]> x) {\n"
LINE = '            tensor<fp16, [2]> y = relu(x = x)[name = string("y")];\n'
FOOT = "        } -> (y);\n}\n"
COUNT = fmt_verb.ENOUGH // len(LINE) // 2


def run(*arguments: object) -> tuple[int, str]:
    """The exit status and standard error of `miltext fmt`."""
    done = miltext("fmt", *arguments)
    return done.returncode, done.stderr.decode()


def test_many_large_files_are_reported_in_their_order(tmp_path: Path) -> None:
    good = HEAD + LINE * COUNT + FOOT
    for name in "abc":
        (tmp_path / f"{name}.mil").write_text(good.replace("= x)", "=x)"))
    (tmp_path / "b.mil").write_text("program(1.3) {")
    result = miltext_process("fmt", tmp_path)
    assert result.returncode == 1
    places = [result.stderr.decode().index(word) for word in ("reformatted", "b.mil:1:15: error[MIL", "c.mil")]
    assert places == sorted(places)
    assert [(tmp_path / f"{name}.mil").read_text() == good for name in "abc"] == [True, False, True]
    assert miltext_process("fmt", "--check", tmp_path / "a.mil", tmp_path / "c.mil").returncode == 0


def test_a_file_named_by_several_paths_is_formatted_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    written = HEAD + LINE.replace("= x)", "=x)") + FOOT
    Path("folder").mkdir()
    Path("folder/a.mil").write_text(written)
    Path("folder/linked.mil").symlink_to("a.mil")
    paths = "folder/linked.mil", "folder/a.mil", "./folder/a.mil", "folder", tmp_path / "folder"
    for jobs in ((), ("--jobs", "2")):
        assert miltext("fmt", "--check", *jobs, *paths).stderr == b"would reformat folder/linked.mil\n"
        assert miltext("fmt", "--check", "--json", *jobs, *paths).stdout.count(b"would be reformatted") == 1
    status, err = run(*paths)
    assert (status, err) == (0, "reformatted folder/linked.mil\n")
    assert Path("folder/linked.mil").is_symlink()
    assert Path("folder/a.mil").read_text() == HEAD + LINE + FOOT


def test_standard_input_named_twice_is_formatted_once() -> None:
    text = (HEAD + LINE + FOOT).encode()
    found = miltext("fmt", "-", "-", input=text)
    assert (found.returncode, found.stdout, found.stderr) == (0, text, b"")


def test_several_processes_have_the_findings_of_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [str(tmp_path / f"{number}.mil") for number in range(4)]
    for name in names:
        Path(name).write_text(HEAD + LINE.replace("= x)", "=x)") + FOOT)
    Path(names[2]).write_text("no program")
    alone = list(fmt_verb._outcomes(names, 40))
    monkeypatch.setattr(fmt_verb, "ENOUGH", 0)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    assert list(fmt_verb._outcomes(names, 40)) == alone
    assert [outcome.formatted is None for outcome in alone] == [False, False, True, False]


def test_to_a_width_long_lists_are_broken(tmp_path: Path) -> None:
    path = tmp_path / "m.mil"
    path.write_text(HEAD + LINE + FOOT)
    assert run("--check", "--width", 80, path)[0] == 0
    assert run("--width", 60, path)[0] == 0
    assert max(map(len, path.read_text().splitlines())) <= 60
    assert run("--check", "--width", 60, path)[0] == 0
    assert run(path)[0] == 0
    assert path.read_text() == HEAD + LINE + FOOT
    assert run("--width", 0, path)[0] == 2


def test_hidden_folders_and_environments_are_passed_over(tmp_path: Path) -> None:
    for name in ("a.mil", ".git/b.mil", "deep/.hidden/c.mil", "env/d.mil", "node_modules/e.mil", "deep/f.mil"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(HEAD + LINE.replace("= x)", "=x)") + FOOT)
    (tmp_path / "env" / "pyvenv.cfg").touch()
    told = run("--check", tmp_path)[1].splitlines()
    assert told == [f"would reformat {tmp_path / name}" for name in ("a.mil", "deep/f.mil")]
    assert run("--check", tmp_path / ".git")[0] == 1


def test_texts_of_models_are_formatted_only_if_they_are_named(tmp_path: Path) -> None:
    loose = HEAD + LINE.replace("= x)", "=x)") + FOOT
    for name in ("a.mil", "X.mlmodelc/model.mil", "Y.MLMODELC/model0/model.mil", "Z.mlpackage/Data/z.mil"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(loose)
    assert run("--check", tmp_path)[1].splitlines() == [f"would reformat {tmp_path / 'a.mil'}"]
    assert run(tmp_path)[0] == 0
    assert (tmp_path / "X.mlmodelc" / "model.mil").read_text() == loose
    for named in (tmp_path / "X.mlmodelc" / "model.mil", tmp_path / "Y.MLMODELC"):
        assert run(named)[0] == 0
    assert (tmp_path / "Y.MLMODELC" / "model0" / "model.mil").read_text() == HEAD + LINE + FOOT
    (tmp_path / "a.mil").unlink()
    assert run(tmp_path)[0] == 2


def test_a_read_only_file_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.mil"
    path.write_text(HEAD + LINE.replace("= x)", "=x)") + FOOT)
    path.chmod(0o444)
    assert run(path) == (2, f"miltext: {path}: the file is read-only, and is left as it is\n")
    assert path.read_text() == HEAD + LINE.replace("= x)", "=x)") + FOOT
