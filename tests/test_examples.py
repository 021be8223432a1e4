"""Every example of the helps, of README and of docs is run: here, or by the test of its page."""

from __future__ import annotations

import os
import re
import shutil
from itertools import zip_longest
from pathlib import Path

import pytest
from conftest import GOLDEN, ROOT
from support.followed_examples import Followed, expected
from support.followed_page import Block, blocks
from support.shell_lines import lines
from support.verbs import examples, verbs

pytestmark = [
    pytest.mark.skipif(os.name == "nt", reason="the examples are those of a Unix shell"),
    pytest.mark.skipif(shutil.which("git") is None, reason="some examples need git"),
]

FOUND = [*sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "website" / "pages").glob("*.md"))]
PAGES = ["README.md", *(path.relative_to(ROOT).as_posix() for path in FOUND)]

INDENTED = re.compile(r"^    ((?:miltext|git|pip|python) .*)$", re.MULTILINE)
"""A command of a page that is written alone, and not in a fence."""

FOLLOWED = {
    "docs/placement.md": "tests/placement/test_placement_page.py",
    "README.md": "tests/test_readme.py",
    "docs/tutorial.md": "tests/test_tutorial.py",
    "docs/golden-files.md": "tests/test_golden_page.py",
    "docs/convert-weights.md": "tests/conversion/test_convert_weights_page.py",
    "docs/generate.md": "tests/generation/test_generate_page.py",
    "docs/json.md": "tests/test_json_page.py",
    "docs/how-to/": "tests/test_how_to.py",
}
"""The pages whose commands another test runs."""

NOT_RUN = {
    "python3 -m venv .venv && ": "needs the network; scripts/walk_readme.py runs it",
    "pip install ": "needs the network",
    "python benchmarks/run.py": "takes long; tests/test_benchmarks.py",
    "miltext diff apples/": "needs what Apple's compiler makes",
    "miltext lsp": "serves an editor; tests/lsp",
    'eval "$(miltext completion zsh)"': "is for zsh; tests/cli/test_completion.py",
    "miltext completion fish | source": "is for fish; tests/cli/test_completion.py",
    "miltext check --watch": "ends with Ctrl-C; tests/cli/test_watching.py",
    **dict.fromkeys(
        ("miltext merge --resolve", "git mergetool", "miltext mergetool"),
        "needs a conflict that git left; tests/review/test_resolving.py",
    ),
    "miltext check --with-coremltools": "loads coremltools, which takes seconds; tests/cli/test_check_verb.py",
}
"""The beginnings of the examples that are not run, and why."""


def _reason(line: str) -> str | None:
    return next((why for beginning, why in NOT_RUN.items() if line.lstrip().startswith(beginning)), None)


@pytest.fixture
def followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Followed:
    made = Followed(tmp_path)
    monkeypatch.chdir(made.folder)
    return made


# ---- the helps


HELPS = {tuple(examples(verb)): words or "miltext" for words, verb in verbs().items()}
"""The names of verbs by their examples, of which some have the same."""


@pytest.mark.parametrize("shown", HELPS, ids=[*HELPS.values()])
def test_the_examples_of_a_help(shown: tuple[str, ...], followed: Followed) -> None:
    for line in shown:
        _follow(line, followed)


def _follow(line: str, followed: Followed) -> str:
    if _reason(line):
        return ""
    status, output = followed.run(line)
    assert status == expected(line), f"{line}\n{output}"
    assert "Traceback" not in output, line
    return output


# ---- the pages


def _followers(page: str) -> str | None:
    return next((test for prefix, test in FOLLOWED.items() if page.startswith(prefix)), None)


def _runs(page: str) -> list[tuple[Block, str | None]]:
    """Return the blocks of commands, each with the output that the page shows right after it."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = blocks(text)
    runs = []
    for block, after in zip_longest(found, found[1:]):
        is_shown = after is not None and after.language == "text" and not text[block.end : after.start].strip()
        if block.language in ("sh", "bash", "console"):
            runs.append((block, after.text if after is not None and is_shown else None))
    return runs


def _indented(page: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return INDENTED.findall(re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE))


@pytest.mark.parametrize("page", [page for page in PAGES if _indented(page)])
def test_the_indented_commands_of_a_page(page: str, followed: Followed) -> None:
    for line in _indented(page):
        _follow(line, followed)


@pytest.mark.parametrize("page", [page for page in PAGES if _runs(page) and _followers(page) is None])
def test_the_commands_of_a_page(page: str, followed: Followed) -> None:
    for block, shown in _runs(page):
        outputs = [_follow(line, followed) for line in lines(block.text)]
        assert shown is None or shown in ("".join(outputs), outputs[-1]) or _is_golden(shown), block.text


def _is_golden(shown: str) -> bool:
    """Tell whether a page shows what a golden does, which has its own test."""
    return any(shown in path.read_text(encoding="utf-8") for path in (GOLDEN / "diff").rglob("*.txt"))


def test_the_other_pages_have_their_tests() -> None:
    for page, test in FOLLOWED.items():
        said = (ROOT / test).read_text(encoding="utf-8")
        assert all(part in said for part in page.removesuffix("/").split("/")), test


def test_unexecuted_examples_exist() -> None:
    there = [line for page in PAGES for block, _ in _runs(page) for line in lines(block.text)]
    there += [line for page in PAGES for line in _indented(page)]
    there += [line for verb in verbs().values() for line in examples(verb)]
    assert [why for why in NOT_RUN if not any(line.lstrip().startswith(why) for line in there)] == []
