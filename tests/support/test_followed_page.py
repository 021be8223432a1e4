"""Whether following a page finds what is wrong with it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.followed_page import blocks, files, follow

pytestmark = pytest.mark.skipif(os.name == "nt", reason="commands of a Unix shell")

PAGE = """\
Save this as `a.txt`:

```mil a.txt
first
second
```

```sh
grep second a.txt
```

```text
second
```

Then nothing is written:

```sh
mv a.txt b.txt
```

And a mistake:

```sh
cat b.txt; echo told >&2
grep third b.txt  # exit status 1
```

```text
first
second
told
```

The end.
"""


def test_a_page_that_is_right_stays_as_it_is(tmp_path: Path) -> None:
    assert follow(PAGE, tmp_path) == PAGE
    assert (tmp_path / "b.txt").read_text() == "first\nsecond\n"
    assert files(PAGE) == {"a.txt": "first\nsecond\n"}
    assert [block.language for block in blocks(PAGE)] == ["mil", "sh", "text", "sh", "sh", "text"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("```text\nsecond\n```", "```text\nother\n```"),
        ("```text\nsecond\n```", "```text\nsecond \n```"),
        ("\n```text\nsecond\n```\n", ""),
        ("mv a.txt b.txt\n```\n", "mv a.txt b.txt\n```\n\n```text\nmoved\n```\n"),
        ("second\ntold\n", "second\n"),
    ],
)
def test_an_output_that_is_wrong_is_set_right(old: str, new: str, tmp_path: Path) -> None:
    assert PAGE.count(old)
    wrong = PAGE.replace(old, new)
    assert follow(wrong, tmp_path) != wrong
    (tmp_path / "again").mkdir()
    assert follow(wrong, tmp_path / "again") == PAGE


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("  # exit status 1", "", "grep third"),
        ("exit status 1", "exit status 2", "grep third"),
        ("grep second a.txt\n", "grep third a.txt\ngrep second a.txt\n", "grep third"),
        ("`a.txt`", "a file", "does not tell the reader to save a.txt"),
    ],
)
def test_a_page_that_cannot_be_followed_fails(old: str, new: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=why):
        follow(PAGE.replace(old, new), tmp_path)


def test_times_match_the_page(tmp_path: Path) -> None:
    page = "```sh\necho 1 passed in 12.34s\n```\n\n```text\n1 passed in 0.05s\n```\n"
    assert follow(page, tmp_path) == page


def test_commands_are_left_out_whose_package_is_not_there(tmp_path: Path) -> None:
    page = "```sh no_such_package\necho now\n```\n\n```text\nthen\n```\n"
    assert follow(page, tmp_path) == page
    assert "now" in follow(page.replace("no_such_package", "pytest"), tmp_path).split("```text")[1]
