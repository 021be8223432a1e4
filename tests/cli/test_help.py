"""Every `--help` ends with examples and with exit statuses."""

from __future__ import annotations

import re

import pytest
from support.commands import miltext as run
from support.verbs import examples, verbs

STATUSES = re.compile(r"^ *Exit status: 0 .+?;\s+2 ", re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def helps() -> dict[str, str]:
    return {words: run(*words.split(), "--help").stdout.decode() for words in verbs()}


def test_verbs_and_subcommands_exist(helps: dict[str, str]) -> None:
    assert {"", "print", "git", "git setup", "git undo", "textconv", "difftool"} <= helps.keys()


def test_each_has_an_example_of_itself(helps: dict[str, str]) -> None:
    for words, verb in verbs().items():
        shown = examples(verb)
        assert any(f"miltext {words}".strip() in line for line in shown), words
        assert all(line in helps[words] for line in shown), words


def test_each_explains_how_it_exits(helps: dict[str, str]) -> None:
    assert [words for words, text in helps.items() if not STATUSES.search(text)] == []
