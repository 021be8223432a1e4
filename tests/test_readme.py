"""README.md: its table has every verb, what it names is there, and it reads where the repository is not around it."""

from __future__ import annotations

import re

import click
import pytest
from conftest import ROOT

import miltext
import miltext.testing
from miltext.cli import command

README = (ROOT / "README.md").read_text(encoding="utf-8")
TABLE = [line.split(" | ") for line in README.splitlines() if line.startswith("| `")]
PAGES = "https://github.com/miltext/miltext/blob/main/"
RAW = "https://raw.githubusercontent.com/miltext/miltext/main/"
SITE = "https://miltext.github.io/miltext/"
LINKS = dict.fromkeys(re.findall(r"\]\((\S+?)\)|^\[[\w -]+\]: (\S+)$", README, re.MULTILINE))


def test_the_table_has_every_verb_once() -> None:
    named = [verb for row in TABLE for verb in re.findall(r"`([\w-]+)`", row[0])]
    assert sorted(named) == sorted(command.list_commands(click.Context(command)))


def test_what_the_table_names_in_python_is_there() -> None:
    named = [name for row in TABLE for name in re.findall(r"`([\w.]+)`", row[2])]
    assert len(named) > 15
    for name in named:
        scope, _, last = name.rpartition(".")
        assert last in (miltext.testing if scope else miltext).__all__, name


@pytest.mark.parametrize("link", ["".join(each) for each in LINKS])
def test_each_link_is_whole_and_leads_to_what_is_there(link: str) -> None:
    page, _, anchor = link.partition("#")
    if link.startswith(SITE):
        name = page.removeprefix(SITE).strip("/") or "index"
        assert any((ROOT / folder / f"{name}.md").is_file() for folder in ("website/pages", "docs"))
        return
    assert page.startswith((PAGES, RAW)), "a link from the repository leads nowhere on a package index"
    path = ROOT / page.removeprefix(PAGES).removeprefix(RAW)
    assert path.is_file()
    if anchor:
        heads = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
        assert anchor in {re.sub(r"[^\w -]", "", head).lower().replace(" ", "-") for head in heads}


def test_each_reference_is_there_and_used() -> None:
    defined = re.findall(r"^\[([\w -]+)\]: ", README, re.MULTILINE)
    assert sorted(defined) == sorted(set(re.findall(r"\]\[([\w -]+)\]", README)))
