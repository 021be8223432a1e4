"""Programs and their texts, a file for each family of constructs: tests/golden/print."""

from __future__ import annotations

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


def test_there_are_goldens() -> None:
    assert len(NAMES) > 9
    assert {path.name.split(".")[0] for path in FOLDER.glob("*.mil")} == set(NAMES)


@pytest.mark.parametrize(("name", "options"), CASES, ids=lambda part: part if isinstance(part, str) else ".".join(part))
def test_prints_and_parses(name: str, options: dict[str, str], mil_golden: MilGolden) -> None:
    program = text_format.Parse((FOLDER / f"{name}.txtpb").read_text(encoding="utf-8"), Program())
    golden = ".".join([name, *options.values()])
    mil_golden.check(program, golden, keep_build_info=True, digest_weights=False, **options)  # type: ignore[arg-type]
    assert wire(parse((FOLDER / f"{golden}.mil").read_bytes().decode())) == wire(program)
