"""`miltext diff` as a command: the forms for pages and comments, and where they are written."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from support.commands import miltext as run
from support.diff_cases import FOLDER

import miltext

CASE = FOLDER / "change_argument"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with two texts."""
    for name in ("a.mil", "b.mil"):
        shutil.copy(CASE / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("form", "name", "begins"),
    [
        ("html", "d.html", "<!DOCTYPE html>"),
        ("markdown", "d.md", "### `a.mil` → `b.mil`\n"),
        ("unified", "d.diff", "--- a.mil"),
        ("json", "d.json", "{"),
        ("text", "d.txt", "--- a.mil"),
    ],
)
def test_each_form_is_written_to_a_file_or_to_standard_output(folder: Path, form: str, name: str, begins: str) -> None:
    shown = run("diff", "a.mil", "b.mil", "--format", form)
    for _ in range(2):  # a file of its own is replaced
        written = run("--color", "always", "diff", "a.mil", "b.mil", "--format", form, "-o", name)
        assert (written.returncode, written.stdout, written.stderr) == (1, b"", b"")
    assert (folder / name).read_bytes() == shown.stdout
    assert shown.stdout.decode().startswith(begins)
    assert shown.returncode == 1


def test_forms_state_that_there_is_no_difference() -> None:
    a = CASE / "a.mil"
    markdown, html = (run("diff", a, a, "--format", form) for form in ("markdown", "html"))
    assert (markdown.returncode, html.returncode) == (0, 0)
    assert markdown.stdout.decode() == f"### `{a}` → `{a}`\n\nNo difference.\n"
    assert b"<p>no difference</p>" in html.stdout
    assert b'class="panes"' not in html.stdout


NOTES = {
    "notes": "mine",
    "README": "# Models\n\nTwo of them.\n",
    "title": "# Models\n",
    "rules": "# what git leaves out\n*.bin\n",
    "config.json": '{"form": 1}\n',
    "page.md": "### Models\n\nTwo of them.\n",
    "front.md": "---\ntitle: Models\n---\n",
    "list": "- one: 2 operations\n- two\n",
}
"""Texts of others."""

FORMS = ("text", "unified", "json", "markdown")
CASES = sorted(path.name for path in FOLDER.iterdir() if (path / "b.mil").exists())[::3]
SHOWN = [*(("--format", form) for form in FORMS), ("--stat",), ("--breaking",), ("--format", "unified", "--draft")]


@pytest.mark.parametrize("options", SHOWN, ids=" ".join)
@pytest.mark.parametrize("case", CASES)
def test_an_earlier_result_is_replaced_in_any_case(case: str, options: tuple[str, ...], tmp_path: Path) -> None:
    a, b = FOLDER / case / "a.mil", FOLDER / case / "b.mil"
    for sides in ((a, b), (a, a), (a, b)):
        told = run("diff", *sides, *options, "-o", tmp_path / "out")
        assert b"MIL40" not in told.stderr + told.stdout, (tmp_path / "out").read_text()


def _refusal(form: str, name: str) -> bytes:
    """The error for a file of others, whose ending may be that of another form."""
    forms = {".json": "json", ".md": "markdown"}
    return b"error[MIL402]" if forms.get(Path(name).suffix, form) == form else b"error[MIL401]"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--limit", "2000"), b"add --format markdown"),
        (("--format", "markdown", "--limit", "999"), b"999"),
        (("--format", "html", "--stat"), b"--stat"),
        (("--format", "markdown", "--draft"), b"--draft"),
        (("--format", "html", "-o", "a.mil"), b"error[MIL401]"),
        (("-o", "a.mil"), b"error[MIL401]"),
        (("-o", "b.mil"), b"error[MIL401]"),
        (("--format", "html", "-o", "no-such/d.html"), b"no-such"),
        (("-o", "other"), b"error[MIL402]"),
        (("--format", "html", "-o", "notes"), b"error[MIL402]"),
        *((("--format", form, "-o", name), _refusal(form, name)) for form in FORMS for name in NOTES),
        (("--stat", "-o", "notes"), b"error[MIL402]"),
        (("--breaking", "-o", "notes"), b"error[MIL402]"),
    ],
)
def test_an_unwritable_file_stays_unchanged(folder: Path, options: tuple[str, ...], said: bytes) -> None:
    shutil.copy("a.mil", "other")
    for name, text in NOTES.items():
        (folder / name).write_text(text)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    result = run("diff", "a.mil", "b.mil", *options)
    told = json.loads(result.stdout)["diagnostics"][0]["code"].encode() if result.stdout else result.stderr
    assert (result.returncode, said.removeprefix(b"error[").removesuffix(b"]") in told) == (2, True), told
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_the_inputs_are_never_replaced(folder: Path) -> None:
    for name in ("a", "b"):
        shutil.copy(f"{name}.mil", name)
    for name in ("a", "b"):
        result = run("diff", "a", "b", "-o", name)
        assert (result.returncode, b"error[MIL402]" in result.stderr) == (2, True)


def test_one_side_may_be_piped_with_windows_line_ends(folder: Path) -> None:
    crlf = (folder / "a.mil").read_bytes().replace(b"\n", b"\r\n")
    for form in ("markdown", "html"):
        assert run("diff", "-", "a.mil", "--format", form, input=crlf).returncode == 0
        result = run("diff", "-", "b.mil", "--format", form, input=crlf)
        assert result.returncode == 1
        assert b"\r" not in result.stdout
        assert b"&lt;stdin&gt;" in result.stdout or b"`<stdin>`" in result.stdout


def test_a_limit_holds(folder: Path) -> None:
    text = "program(1.3)\n{ func main<ios18>(fp16 x) {" + " ".join(
        f"fp16 v{n} = add(x = x, y = fp16({n}));" for n in range(99)
    )
    (folder / "c.mil").write_text(f"{text}}} -> (v0); }}")
    cut = run("diff", "a.mil", "c.mil", "--format", "markdown", "--limit", "1500").stdout.decode()
    assert len(cut) <= 1500
    assert cut.endswith("left out here: `miltext diff` shows all._\n")
    whole = run("diff", "a.mil", "c.mil", "--format", "markdown").stdout.decode()
    assert whole == miltext.diff("a.mil", "c.mil").to_markdown()
    assert "<details><summary>" in whole
