"""Programs and their texts, a file for each family of constructs in tests/golden/print; the first line of goldens."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from conftest import GOLDEN, wire
from google.protobuf import text_format

from miltext import parse
from miltext.pytest_plugin import MilGolden
from miltext.schema.proto import Program

FOLDER = GOLDEN / "print"
NAMES = [path.stem for path in sorted(FOLDER.glob("*.txtpb"))]
CASES: list[tuple[str, dict[str, str]]] = [
    *((name, {}) for name in NAMES),
    ("literals", {"dialect": "1.0", "floats": "decimal"}),
    ("our_numbers", {"floats": "decimal"}),
    ("types", {"dialect": "1.0"}),
]


@pytest.fixture
def mil_golden_folder() -> Path:
    return FOLDER


def test_goldens_exist() -> None:
    assert len(NAMES) > 9
    assert {path.name.split(".")[0] for path in FOLDER.glob("*.mil")} == set(NAMES)


@pytest.mark.parametrize(("name", "options"), CASES, ids=lambda part: part if isinstance(part, str) else ".".join(part))
def test_prints_and_parses(name: str, options: dict[str, str], mil_golden: MilGolden) -> None:
    program = text_format.Parse((FOLDER / f"{name}.txtpb").read_text(encoding="utf-8"), Program())
    golden = ".".join([name, *options.values()])
    mil_golden.check(program, golden, keep_build_info=True, digest_weights=False, **options)  # type: ignore[arg-type]
    assert wire(parse((FOLDER / f"{golden}.mil").read_bytes().decode())) == wire(program)


# ---- the first line of a golden says what the golden shows

INPUTS = sorted(
    path
    for path in [*GOLDEN.glob("**/*.mil"), *FOLDER.glob("*.txtpb")]
    if path.parent != FOLDER or path.suffix == ".txtpb"  # the texts there are printed
    if GOLDEN / "frozen" not in path.parents  # nothing rewrites these
    if GOLDEN / "fuzz" not in path.parents  # inputs as they were found, with the sentence beside them
    if path.read_bytes().strip()  # the empty text has no line
)
FIRST_LINE = re.compile(r"(\ufeff?//|#) (?P<says>[A-Z`].{8,}[^.]\.)")


def says(path: Path) -> str:
    """The sentence in the first line of a golden."""
    with path.open(encoding="utf-8", newline="\n") as file:
        found = FIRST_LINE.fullmatch(file.readline().rstrip("\n"))
    return found["says"] if found else ""


def test_each_golden_shows_its_content() -> None:
    said = {path: says(path) for path in INPUTS}
    assert [str(path.relative_to(GOLDEN)) for path, sentence in said.items() if not sentence] == []
    assert [key for key, times in Counter((path.parent, say) for path, say in said.items()).items() if times > 1] == []


def test_the_page_of_the_goldens_has_every_folder() -> None:
    page = (GOLDEN / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| `(\w+)/` \|", page, re.MULTILINE)
    assert sorted(named) == sorted(path.name for path in GOLDEN.iterdir() if path.is_dir())
