"""A finding made a golden: an input that breaks no law any more, so that it never does again."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from google.protobuf import text_format

import miltext
from fuzz import GOLDEN, ROOT
from fuzz.findings import target_of
from fuzz.messages import read
from miltext.schema.proto import Program

HERE = GOLDEN / "fuzz"
"""The golden inputs that no other folder takes: what a target's law is asserted of, whatever comes of it."""

NAME = re.compile(r"[A-Za-z]\w*", re.ASCII)
SENTENCE = re.compile(r"[A-Z`].{8,}[^.]\.")
"""What the first line of a golden says, as tests/test_goldens.py asks for it."""

TEXTS = ("parse", "check")
RENEWED = {"errors": "parsing/test_bad_input.py", "check": "checking/test_check.py", "print": "test_goldens.py"}
"""The tests that write what is expected of an input in these folders."""


def adopted() -> list[Path]:
    """Return the goldens of laws."""
    return sorted(path for path in HERE.glob("*") if path.suffix != ".txt")


def adopt(finding: Path, name: str, sentence: str) -> list[Path]:
    """Write a golden with an input, and what is expected of it; return the files. `sentence` says what it shows."""
    target, data = target_of(finding), finding.read_bytes()
    path, content = _as_text(target, data, name, sentence) or (HERE / f"{target}-{name}{finding.suffix}", data)
    if path.exists():
        raise FileExistsError(f"{path.name} is there; choose another name")
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    if path.parent == HERE:
        expected = path.with_name(f"{path.stem}.txt")
        expected.write_text(f"{sentence}\n")
        return [path, expected]
    test = ROOT / "tests" / RENEWED[path.parent.name]
    renew = [sys.executable, "-m", "pytest", "-q", "-n", "0", "--mil-update", str(test), "-k", name]
    subprocess.run(renew, cwd=ROOT, check=False, stdout=subprocess.DEVNULL)
    return sorted(path.parent.glob(f"{name}.*"))


def _as_text(target: str, data: bytes, name: str, sentence: str) -> tuple[Path, bytes] | None:
    """Return the golden text of an input, and its place; None where it has none."""
    if target == "print":
        program = read(Program, data)
        text = None if program is None else text_format.MessageToString(program)
        if text is not None and text_format.Parse(text, Program()) == program:
            return GOLDEN / "print" / f"{name}.txtpb", f"# {sentence}\n{text}".encode()
    if target in TEXTS and _is_utf8(data):
        content = f"// {sentence}\n".encode() + data
        return GOLDEN / ("check" if target == "check" or _is_read(content) else "errors") / f"{name}.mil", content
    return None


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_read(data: bytes) -> bool:
    try:
        miltext.parse(data.decode())
    except miltext.ParseError:
        return False
    return True
