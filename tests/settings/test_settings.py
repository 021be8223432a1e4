"""The `[tool.miltext]` of a project: where it is looked for, what it takes, and where a mistake in it stands."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import tomlkit
from conftest import ROOT
from jsonschema import Draft7Validator

sys.path.insert(0, str(ROOT / "scripts"))
import make_settings_schema

from miltext import Diagnostic
from miltext.diagnostics import SettingsError, codes, line_and_column
from miltext.diagnostics.selection import Selection, unknown
from miltext.settings.project import settings_from, settings_in, settings_of
from miltext.settings.reading import READERS
from miltext.settings.settings import NONE, Settings

SCHEMA = Draft7Validator(json.loads(make_settings_schema.SCHEMA.read_text(encoding="utf-8")))


def written(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "pyproject.toml"
    path.write_text(text, encoding="utf-8", newline="")
    return path


def refused(folder: Path, text: str) -> tuple[Diagnostic, str | None]:
    """What is wrong with a pyproject.toml, and `line:column` of it."""
    path = written(folder, text)
    with pytest.raises(SettingsError) as error:
        settings_of(str(folder / "a.mil"))
    [found] = error.value.diagnostics
    assert error.value.path == str(path)
    if found.span is None:
        return found, None
    assert error.value.text is not None
    return found, "{}:{}".format(*line_and_column(error.value.text, found.span.start))


# ---- where it is


ALL_SETTINGS = """
[tool.miltext]
select = ["MIL5", "mil6"] # codes
ignore = ["MIL603"]
exclude = ["build", "old/*.mil"]
unsafe-fixes = true
drafts = false

[tool.miltext.per-file-ignores]
"drafts/*.mil" = ["MIL712"]
"""


@pytest.mark.parametrize(
    "text",
    [
        ALL_SETTINGS,
        ALL_SETTINGS.replace("\n", "\r\n"),
        "\ufeff" + ALL_SETTINGS.lstrip(),
        ALL_SETTINGS.replace("[tool.miltext]", '[ "tool" . miltext ]'),
        '[project]\nname = "x"\n' + ALL_SETTINGS + '\n[tool.other]\nselect = ["E"]\n',
    ],
)
def test_every_setting_is_read(text: str, tmp_path: Path) -> None:
    written(tmp_path, text)
    assert settings_of(str(tmp_path / "a.mil")) == Settings(
        str(tmp_path),
        ("MIL5", "MIL6"),
        ("MIL603",),
        (("drafts/*.mil", ("MIL712",)),),
        ("build", "old/*.mil"),
        unsafe_fixes=True,
        drafts=False,
    )


@pytest.mark.parametrize(
    "text",
    [
        'tool.miltext.ignore = ["MIL6"]',
        'tool = {miltext = {ignore = ["MIL6"]}}',
        '[tool]\nmiltext = {ignore = ["MIL6"]}',
        '[tool]\nmiltext.ignore = ["MIL6"]',
        '[tool]\n"miltext" = { "ignore" = ["MIL6"] }',
        "[tool.miltext]\nignore = ['''MIL6''', ]",
    ],
)
def test_every_spelling_of_toml_is_found(text: str, tmp_path: Path) -> None:
    written(tmp_path, text)
    assert settings_in(str(tmp_path)).ignore == ("MIL6",)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[tool.other]\nx = 1\n",
        '[project]\ndependencies = ["miltext"]\n',
        "[tool.miltextual]\nx = 1\n",
        "[tool.miltextual\nx = 1\n",
        "[tool.miltext-x\nx = 1\n",
        "not [ TOML",
    ],
)
def test_a_file_without_the_section_is_passed_over(text: str, tmp_path: Path) -> None:
    written(tmp_path, '[tool.miltext]\nignore = ["MIL6"]')
    written(tmp_path / "inner", text)
    assert settings_of(str(tmp_path / "inner" / "a.mil")).root == str(tmp_path)


def test_the_nearest_section_counts_alone(tmp_path: Path) -> None:
    written(tmp_path, '[tool.miltext]\nignore = ["MIL6"]\nunsafe-fixes = true')
    written(tmp_path / "inner", "[tool.miltext]\n")
    assert settings_of(str(tmp_path / "a.mil")).ignore == ("MIL6",)
    assert settings_of(str(tmp_path / "inner" / "a.mil")) == NONE._replace(root=str(tmp_path / "inner"))
    assert settings_in(str(tmp_path / "inner" / "deeper" / "still")).root == str(tmp_path / "inner")


def test_a_folder_of_that_name_is_passed_over(tmp_path: Path) -> None:
    written(tmp_path, "[tool.miltext]\n")
    (tmp_path / "inner" / "pyproject.toml").mkdir(parents=True)
    assert settings_in(str(tmp_path / "inner")).root == str(tmp_path)


def test_settings_that_change_are_read_again(tmp_path: Path) -> None:
    path = written(tmp_path, '[tool.miltext]\nignore = ["MIL6"]')
    assert settings_in(str(tmp_path)).ignore == ("MIL6",)
    path.write_text('[tool.miltext]\nignore = ["MIL7"]')
    os.utime(path, ns=(1, 1))
    assert settings_in(str(tmp_path)).ignore == ("MIL7",)
    path.unlink()
    assert settings_in(str(tmp_path)).ignore == ()


def test_a_named_file_counts_from_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "elsewhere", '[tool.miltext]\nexclude = ["build"]')
    monkeypatch.chdir(tmp_path)
    assert settings_from(str(path)).root == str(tmp_path)
    empty = written(tmp_path, "")
    with pytest.raises(SettingsError, match="in this file"):
        settings_from(str(empty))


def test_the_page_shows_every_setting(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `([\w-]+)` \|", page, re.MULTILINE) == list(READERS)
    [example] = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    written(tmp_path, example)
    found = settings_in(str(tmp_path))
    assert (found.ignore, found.per_file_ignores) == (("MIL603", "MIL7"), (("drafts/*.mil", ("MIL712",)),))
    assert not found.drafts


# ---- mistakes


MISTAKES = [
    ("[tool.miltext]\nselect = [\n", "MIL460", "3:1", "this is not TOML: it ends too early"),
    ("[tool.miltext\nselect = []\n", "MIL460", "1:14", "this is not TOML"),
    ("[tool.miltext", "MIL460", "1:14", "this is not TOML"),
    ("[ 'tool' . 'miltext'\nselect = []\n", "MIL460", "1:21", "this is not TOML"),
    ("[tool.miltext.per-file-ignores\na = []\n", "MIL460", "1:31", "this is not TOML"),
    ("[tool.miltext]\nselect = what\n", "MIL460", "2:10", "this is not TOML"),
    ("[tool.miltext]\nignore = []\nignore = []\n", "MIL460", "3:1", "this is not TOML"),
    ("[tool.miltext]\n\n  igno = []\n", "MIL461", "3:3", "`[tool.miltext]` has no setting `igno`"),
    ("[tool.miltext]\nper_file_ignores = {}\n", "MIL461", "2:1", "did you mean `per-file-ignores`?"),
    ("[tool.miltext]\n'line length' = 3\n", "MIL461", "2:1", "it has `select`, `ignore`, "),
    ("[tool.miltext.lint]\nselect = []\n", "MIL461", "1:15", "has no setting `lint`"),
    ("[tool.miltext]\nselect = 'MIL6'\n", "MIL462", "2:10", "`select` takes a list of codes"),
    ("[tool.miltext]\nselect = 'MIL6'\n", "MIL462", "2:10", "not a string"),
    ("[tool.miltext]\nignore = [\n  'MIL6', # six\n  7,\n]\n", "MIL462", "4:3", "not a number"),
    ("[tool.miltext]\nexclude = true\n", "MIL462", "2:11", "`exclude` takes a list of patterns"),
    ("[tool.miltext]\nunsafe-fixes = 'yes'\n", "MIL462", "2:16", "takes `true` or `false`, not a string"),
    ("[tool.miltext]\nunsafe-fixes = 2026-01-01\n", "MIL462", "2:16", "not a date or time"),
    ("[tool.miltext]\nper-file-ignores = []\n", "MIL462", "2:20", "takes a table of patterns and codes"),
    ("[tool.miltext.per-file-ignores]\n'a' = 'MIL6'\n", "MIL462", "2:7", "`a` takes a list of codes"),
    ("[tool.miltext]\nper-file-ignores = {a = ['MIL6', 'X1']}\n", "MIL463", "2:34", "unknown code `X1`"),
    ("[tool]\nmiltext = 3\n", "MIL462", "2:11", "`tool.miltext` takes a table of settings, not a number"),
    ("[[tool.miltext]]\nselect = []\n", "MIL462", "1:8", "`tool.miltext` takes a table of settings, not a list"),
    ("[tool.miltext]\r\nselect = []\r\nignore = ['MIL999']\r\n", "MIL463", "3:11", "unknown code `MIL999`"),
    ("[tool.miltext]\nignore = ['MIL6O3']\n", "MIL463", "2:11", "did you mean `MIL603`?"),
    ("[tool.miltext]\nexclude = ['a', '/build']\n", "MIL464", "2:17", "no file fits the pattern `/build`"),
    ("[tool.miltext]\nexclude = ['sub\\deep']\n", "MIL464", "2:12", "names are separated by `/`"),
    ("[tool.miltext]\nexclude = ['C:\\build']\n", "MIL464", "2:12", "names are separated by `/`"),
    ("[tool.miltext]\nexclude = ['C:/build']\n", "MIL464", "2:12", "without a `/` or a drive before it"),
    ("[tool.miltext]\nexclude = ['~/build']\n", "MIL464", "2:12", "it is a path from the pyproject.toml"),
    ("[tool.miltext]\nexclude = ['../build']\n", "MIL464", "2:12", "files below the pyproject.toml"),
    ("[tool.miltext]\nexclude = ['./..']\n", "MIL464", "2:12", "files below the pyproject.toml"),
    ("[tool.miltext]\nexclude = ['.']\n", "MIL464", "2:12", "`*` stands for all of its files"),
    ("[tool.miltext]\nexclude = ['./']\n", "MIL464", "2:12", "`*` stands for all of its files"),
    ("[tool.miltext]\nexclude = ['']\n", "MIL464", "2:12", "it is empty"),
    ("[tool.miltext]\nexclude = ['!keep']\n", "MIL464", "2:12", "there are no exceptions"),
    ("[tool.miltext]\nexclude = ['{a,b}.mil']\n", "MIL464", "2:12", "in a pattern of its own"),
    ("[tool.miltext.per-file-ignores]\n'/old/*.mil' = ['MIL6']\n", "MIL464", "2:1", "no file fits the pattern"),
    ("tool.miltext.ignore = ['é', 'MIL6']\n", "MIL463", "1:24", "unknown code `é`"),
]
"""A text of settings, the code of its mistake, the place, and a part of the message."""


@pytest.mark.parametrize(("text", "code", "place", "message"), MISTAKES)
def test_a_mistake_is_reported_at_its_place(
    text: str, code: str, place: str | None, message: str, tmp_path: Path
) -> None:
    found, at = refused(tmp_path, text)
    assert (found.code, at) == (code, place)
    assert message in found.message


@pytest.mark.parametrize("text", [text for text, code, _, _ in MISTAKES if code != codes.UNREADABLE_SETTINGS])
def test_the_schema_refuses_the_same(text: str) -> None:
    assert not SCHEMA.is_valid(tomlkit.parse(text).unwrap()["tool"]["miltext"])


@pytest.mark.parametrize(
    "text", [ALL_SETTINGS, "[tool.miltext]\n", '[tool.miltext]\nselect = ["all", " mil60 ", "MIL"]\n']
)
def test_the_schema_accepts_the_same(text: str, tmp_path: Path) -> None:
    written(tmp_path, text)
    assert settings_of(str(tmp_path / "a.mil")) != NONE
    SCHEMA.validate(tomlkit.parse(text).unwrap()["tool"]["miltext"])


def test_the_schema_is_up_to_date() -> None:
    made = make_settings_schema.schema(make_settings_schema.PAGE.read_text(encoding="utf-8"))
    assert made == SCHEMA.schema


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ("[tool.miltext]\nper_file_ignores = {}\n", "[tool.miltext]\nper-file-ignores = {}\n"),
        ("[tool.miltext]\nselect = 'MIL6'\n", '[tool.miltext]\nselect = ["MIL6"]\n'),
        ("[tool.miltext]\nexclude = ['/build']\n", '[tool.miltext]\nexclude = ["build"]\n'),
        ("[tool.miltext]\nexclude = ['\\sub\\deep']\n", '[tool.miltext]\nexclude = ["sub/deep"]\n'),
        (
            "[tool.miltext.per-file-ignores]\n'/old' = ['MIL6']\n",
            "[tool.miltext.per-file-ignores]\n\"old\" = ['MIL6']\n",
        ),
        ("[tool.miltext]\nignore = ['MIL6O3'] # a\n", '[tool.miltext]\nignore = ["MIL603"] # a\n'),
    ],
)
def test_a_suggestion_fixes_the_settings(text: str, mended: str, tmp_path: Path) -> None:
    found, _ = refused(tmp_path, text)
    assert found.span is not None
    assert found.suggestion is not None
    assert text[: found.span.start] + found.suggestion + text[found.span.end :] == mended
    written(tmp_path, mended)
    assert settings_in(str(tmp_path)) != NONE


def test_settings_that_are_not_utf_8_are_refused(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_bytes(b"[tool.miltext]\n# \xff\n")
    with pytest.raises(SettingsError, match="the settings cannot be read"):
        settings_in(str(tmp_path))


# ---- patterns and codes


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("a.mil", "a.mil", True),
        ("a.mil", "deep/down/a.mil", True),
        ("a.mil", "aa.mil", False),
        ("*.mil", "deep/a.mil", True),
        ("build", "build/deep/a.mil", True),
        ("build", "deep/build/a.mil", True),
        ("build", "building/a.mil", False),
        ("build/", "build/a.mil", True),
        ("./old/*.mil", "old/a.mil", True),
        ("old/*.mil", "old/deep/a.mil", True),
        ("old/*.mil", "new/old/a.mil", False),
        ("old/deep", "old/deep/a.mil", True),
        ("**/old/*.mil", "old/a.mil", True),
        ("**/old/*.mil", "new/old/a.mil", True),
        ("old/**/a.mil", "old/a.mil", True),
        ("old/**/a.mil", "old/very/a.mil", True),
        ("old/**/*.mil", "old/a.mil", True),
        ("old/**/x/**/*.mil", "old/x/a.mil", True),
        ("old/**/x/**/*.mil", "old/very/x/a.mil", True),
        ("**/x/**/a.mil", "x/very/a.mil", True),
        ("old/**/*.mil", "older/a.mil", False),
        (".hidden", "deep/.hidden/a.mil", True),
        ("..a", "..a/a.mil", True),
        ("{a}", "{a}/a.mil", True),
        ("[ab].mil", "a.mil", True),
        ("[ab", "a.mil", False),
        ("*", "../a.mil", False),
        ("A.mil", "a.mil", False),
    ],
)
def test_the_meaning_of_a_pattern(pattern: str, path: str, fits: bool, tmp_path: Path) -> None:
    settings = NONE._replace(root=str(tmp_path), exclude=(pattern,), per_file_ignores=((pattern, ("MIL6",)),))
    assert settings.excludes(str(tmp_path / path)) is fits
    assert settings.selection(str(tmp_path / path)).ignore == (("MIL6",) if fits else ())


@pytest.mark.parametrize(
    ("select", "ignore", "kept"),
    [
        ((), (), ""),
        (("ALL",), (), "MIL501 MIL603 MIL604 MIL712"),
        (("MIL6",), (), "MIL603 MIL604"),
        (("MIL6",), ("MIL603",), "MIL604"),
        (("MIL603",), ("MIL6",), "MIL603"),
        (("MIL603",), ("MIL603",), ""),
        (("ALL",), ("ALL",), ""),
        (("ALL",), ("MIL",), ""),
        (("MIL5", "MIL712"), ("MIL7",), "MIL501 MIL712"),
    ],
)
def test_the_longer_of_two_words_decides(select: tuple[str, ...], ignore: tuple[str, ...], kept: str) -> None:
    selection = Selection(select, ignore)
    found = [Diagnostic("error", code, "") for code in ("MIL501", "MIL603", "MIL604", "MIL712")]
    assert " ".join(each.code for each in found if selection.keeps(each)) == kept


@pytest.mark.parametrize(
    ("severity", "code", "kept"),
    [
        ("error", "MIL010", True),
        ("error", "MIL104", True),
        ("error", "MIL250", True),
        ("error", "MIL900", True),
        ("note", "MIL107", False),
        ("warning", "MIL481", False),
        ("error", "MIL604", False),
    ],
)
def test_the_error_of_an_unreadable_file_is_kept(severity: str, code: str, kept: bool) -> None:
    assert Selection((), ("ALL",)).keeps(Diagnostic(severity, code, "")) is kept


def test_the_command_line_overrides_settings() -> None:
    settings = Settings("", ("MIL6",), ("MIL603",), (("*", ("MIL604",)),))
    assert settings.selection("a") == (("MIL6",), ("MIL603", "MIL604"), True)
    assert settings.selection("a", (), ("MIL5",)) == (("MIL6",), ("MIL603", "MIL5", "MIL604"), True)
    assert settings.selection("a", ("MIL5",), ("MIL501",)) == (("MIL5",), ("MIL501", "MIL604"), True)


NOTICE = Diagnostic("note", "MIL712", "this is a draft")


@pytest.mark.parametrize(
    ("settings", "asked", "severity"),
    [
        (NONE, {}, "note"),
        (NONE, {"drafts": False}, "error"),
        (NONE, {"drafts": False, "select": ("MIL6",)}, "error"),
        (NONE, {"drafts": False, "ignore": ("MIL712",)}, "error"),
        (NONE, {"drafts": False, "ignore": ("ALL",)}, "error"),
        (NONE, {"ignore": ("MIL7",)}, None),
        (NONE._replace(drafts=False), {}, "error"),
        (NONE._replace(drafts=False), {"drafts": True}, "note"),
        (NONE._replace(drafts=False, ignore=("MIL712",)), {}, "error"),
        (NONE._replace(ignore=("MIL712",)), {"drafts": False}, "error"),
        (NONE._replace(ignore=("MIL712",)), {}, None),
        (NONE._replace(per_file_ignores=(("*.mil", ("MIL712",)),)), {"drafts": False}, None),
        (NONE._replace(per_file_ignores=(("*.mil", ("MIL7",)),)), {"drafts": False}, "error"),
        (NONE._replace(per_file_ignores=(("*.txt", ("MIL712",)),)), {"drafts": False}, "error"),
    ],
)
def test_drafts_are_refused_where_requested(settings: Settings, asked: dict[str, Any], severity: str | None) -> None:
    chosen = settings.selection("a.mil", **asked).chosen([NOTICE])
    assert [each.severity for each in chosen] == [severity] * (severity is not None)
    notes = [note.message for each in chosen for note in each.notes]
    assert ["drafts = false" in note for note in notes] == [True] * (severity == "error")


@pytest.mark.parametrize("word", ["ALL", "all", "MIL", "MIL6", "mil60", " MIL603 "])
def test_codes_their_beginnings_and_all_are_known(word: str) -> None:
    assert unknown(word) is None


@pytest.mark.parametrize("word", ["", "M", "E501", "MIL2x", "MIL999", "MIL6034", "MIL*", "6"])
def test_anything_else_is_not(word: str) -> None:
    assert (unknown(word) or "").startswith(f"unknown code `{word}`")
