"""One text for one Program: whatever the hash seed, the protobuf backend, the thread, and whoever is imported first."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import CORPUS, GOLDEN, wire
from schema.test_proto import BACKENDS
from support.strategies import KEEPS_NANS

from miltext import parse, to_text

GOLDENS = sorted(GOLDEN.glob("print/*.mil"))
TEXTS = [*GOLDENS, *(path for path in sorted(CORPUS.glob("apple/*.mil")) if path.stat().st_size < 30_000)]

DIGESTS = """
import hashlib, sys
from google.protobuf.internal import api_implementation
from miltext import parse, to_text
made = hashlib.sha256()
for path in sys.stdin.read().splitlines():
    with open(path, encoding="utf-8", newline="") as file:
        program = parse(file.read())
    for dialect in ("1.0", "1.3"):
        for floats in ("hex", "decimal"):
            made.update(to_text(program, dialect=dialect, floats=floats).encode())
print(api_implementation.Type(), made.hexdigest())
"""


def fresh(code: str, given: str = "", **environment: str) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=given,
        env={**os.environ, **environment},
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def digest_here() -> str:
    made = hashlib.sha256()
    for path in TEXTS:
        program = parse(path.read_bytes().decode())
        for dialect in ("1.0", "1.3"):
            for floats in ("hex", "decimal"):
                made.update(to_text(program, dialect=dialect, floats=floats).encode())
    return made.hexdigest()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("seed", ["0", "4294967295"])
def test_hash_seed_and_backend_do_not_matter(backend: str, seed: str) -> None:
    said = fresh(
        DIGESTS,
        "\n".join(map(str, TEXTS)),
        PYTHONHASHSEED=seed,
        PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION=backend,
        PYTHONPATH=os.pathsep.join(sys.path),
    )
    assert said.split() == [backend, digest_here()]


NANS = "program(1.3)\n[a = tensor<fp32, [2]>([$0x7f800001, $0xffc00000]), b = fp64($0x7ff0000000000001)]\n{\n}\n"


@pytest.mark.skipif(not KEEPS_NANS, reason="protobuf in pure Python loses a NaN's sign and payload as it decodes")
def test_signalling_nans_reach_the_wire_and_return() -> None:
    program = parse(NANS)
    assert bytes.fromhex("0100807f 0000c0ff") in wire(program)
    assert bytes.fromhex("010000000000f07f") in wire(program)
    assert to_text(program) == NANS


def test_pure_python_protobuf_loses_only_documented_parts() -> None:
    code = f"from miltext import parse, to_text; print(to_text(parse({NANS!r})), end='')"
    said = fresh(code, PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION="python", PYTHONPATH=os.pathsep.join(sys.path))
    assert said == NANS.replace("$0x7f800001, $0xffc00000", "nan, nan").replace("$0x7ff0000000000001", "nan")


def test_threads_do_not_matter() -> None:
    texts = [path.read_bytes().decode() for path in TEXTS] * 4
    alone = [to_text(parse(text)) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda text: to_text(parse(text)), texts)) == alone


BESIDE = """
import {first}
import {second}
import miltext
from coremltools.proto import MIL_pb2
text = open({path!r}, encoding="utf-8").read()
theirs = miltext.parse(text, into=MIL_pb2.Program())
assert type(theirs) is MIL_pb2.Program
assert miltext.to_text(theirs) == miltext.to_text(miltext.parse(text)) == text
print("both")
"""


@pytest.mark.parametrize(
    ("first", "second"), [("miltext.parsing.parser", "coremltools"), ("coremltools", "miltext.parsing.parser")]
)
def test_import_order_does_not_matter(first: str, second: str) -> None:
    pytest.importorskip("coremltools", reason="needs coremltools to live beside")
    code = BESIDE.format(first=first, second=second, path=str(GOLDEN / "print" / "our_values.mil"))
    assert fresh(code, PYTHONPATH=os.pathsep.join(sys.path)).endswith("both\n")
