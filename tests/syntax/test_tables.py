"""The parser's tables: made of the grammar beforehand, the same by every run, shipped, and read without Lark."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from conftest import GOLDEN, ROOT, corpus_files
from lark import Lark, Tree

from miltext.parsing.lowering import Lowering
from miltext.parsing.parser import parse_tree
from miltext.syntax.lexer import COARSE, FINE
from miltext.syntax.parser import NestingFailure, Parser, SyntaxFailure
from miltext.syntax.tables import fast_lark_parser, load_grammar
from miltext.syntax.tree import Node, tree_of, walk

SCRIPT = ROOT / "scripts" / "make_tables.py"

needs_the_tree = pytest.mark.skipif(not SCRIPT.exists(), reason="needs the source tree")


def make_tables() -> ModuleType:
    if str(SCRIPT.parent) not in sys.path:  # it imports modules beside it
        sys.path.insert(0, str(SCRIPT.parent))
    spec = spec_from_file_location("make_tables", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    script = module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


@needs_the_tree
@pytest.mark.parametrize("seed", ["0", "1", "2"])
def test_the_tables_match_the_grammar_for_any_hash_seed(seed: str) -> None:
    run = [sys.executable, str(SCRIPT), "--check"]
    done = subprocess.run(run, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), "run: python scripts/make_tables.py"


@needs_the_tree
@pytest.mark.parametrize("old", [b"", b"{}", b'"relu"'])
def test_stale_tables_are_reported_and_made_again(old: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = make_tables()
    current: bytes = script.TABLES.read_bytes()
    stale = tmp_path / "tables.json"
    stale.write_bytes(old)
    monkeypatch.setattr(script, "TABLES", stale)
    monkeypatch.setattr(sys, "argv", [SCRIPT.name, "--check"])
    with pytest.raises(SystemExit, match="stale"):
        script.main()
    assert stale.read_bytes() == old
    monkeypatch.setattr(sys, "argv", [SCRIPT.name])
    script.main()
    assert stale.read_bytes() == current


# ---- phrases by themselves: stock Lark and the loop read each the same from its own start symbol


@cache
def stock() -> Lark:
    return fast_lark_parser(start=list(load_grammar().starts), transformer=Lowering())


@cache
def parser(coarse: frozenset[str]) -> Parser:
    return Parser(Lowering(), coarse)


STARTS = {
    "operation": "operation",
    "value": "value",
} | dict.fromkeys(["tensor_type", "scalar_type", "list_type", "tuple_type", "dictionary_type", "state_type"], "type")


def phrases(root: Node) -> Iterator[tuple[str, Node]]:
    """The phrases that can be read by themselves, each with its start symbol."""
    yield from ((STARTS[phrase.name], phrase) for phrase in walk(root) if phrase.name in STARTS)


def spelled(value: Any) -> Any:
    """A value to compare: what Lark has as the tree of a list is that list."""
    return value.children if isinstance(value, Tree) else value


def agree(start: str, text: str) -> None:
    expected = spelled(stock().parse(text, start=start))
    for coarse in COARSE, FINE:
        lowering = parser(coarse)
        assert lowering.run(text, stack=lowering.stack(start))[0] == expected


@pytest.mark.parametrize("path", [*sorted(GOLDEN.glob("print/*.mil")), *corpus_files("handwritten/*.mil")], ids=str)
def test_a_phrase_alone_equals_the_phrase_in_its_program(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    seen = {(start, text[phrase.start : phrase.end]) for start, phrase in phrases(parse_tree(text).root)}
    for start, part in sorted(seen)[:400]:
        agree(start, part)


@pytest.mark.parametrize(
    ("start", "text"),
    [
        ("_rest_of_block", "fp16 y = relu(x = x); /* b */ f()[a = int32(1)]; } -> (y) // c"),
        ("_rest_of_block", "} -> ()$[a = int32(1)]"),
        ("_functions", "func f() {} -> (); func g<ios18>(fp16 x) $none;"),
        ("program", "program(1.3) {}"),
    ],
)
def test_phrases_in_a_row(start: str, text: str) -> None:
    agree(start, text)


@pytest.mark.parametrize("start", sorted(load_grammar().starts))
@pytest.mark.parametrize("text", ["", "}", "fp16 )", "f(); }", '"'])
def test_an_invalid_phrase_is_refused_at_its_place(start: str, text: str) -> None:
    with pytest.raises(SyntaxFailure) as refused:
        tree_of(text, COARSE, start, offset=100)
    assert 100 <= refused.value.start <= refused.value.end <= 100 + len(text)


def test_phrase_that_is_nested_deeply_is_refused_at_its_place() -> None:
    with pytest.raises(NestingFailure) as refused:
        tree_of(f"int32({'(' * 3000}", FINE, "value", offset=100)
    assert 100 < refused.value.start < 3200


# ---- nothing else is needed

EVERYTHING = """
import miltext
text = 'program(1.3) { func f<ios18>(fp16 x) { /* c */ fp16 y = relu(x = x)[name = string("y")]; } -> (y); }'
draft = text.replace("fp16 y", "_ y")
broken = text.replace("relu(", "relu((")
program = miltext.parse(text)
miltext.parse_with_source(text)
assert miltext.parse(miltext.to_text(program)) == program
assert "/* c */" in miltext.format_text(text, width=40)
assert [found.code for found in miltext.check(broken)] == ["MIL010"], miltext.check(broken)
assert "fp16 y" in miltext.infer_draft(draft)
miltext.strict_findings(text)
print("done")
"""


def run(code: str, *options: str, **environment: str) -> str:
    kept = {name: value for name, value in os.environ.items() if name not in ("HOME", "USERPROFILE", "XDG_CACHE_HOME")}
    command = [sys.executable, *options, "-c", code]
    done = subprocess.run(command, env={**kept, **environment}, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_no_verb_of_text_imports_lark() -> None:
    assert run(f"import sys\nsys.modules['lark'] = None\n{EVERYTHING}") == "done\n"


def test_a_user_without_a_home() -> None:
    homeless = "import os, pathlib\ndef nowhere(*_): raise RuntimeError\n"
    homeless += "os.path.expanduser = pathlib.Path.home = pathlib.Path.expanduser = nowhere\n"
    assert run(homeless + EVERYTHING) == "done\n"


def test_bytes_are_never_compared_with_text() -> None:
    every = "from pathlib import Path\nimport miltext\n"
    every += f"for path in sorted(Path({str(GOLDEN)!r}).glob('*/*.mil')):\n"
    every += "    text = path.read_bytes().decode()\n    miltext.check(text)\n"
    every += (
        "    try: miltext.parse_with_source(text), miltext.format_text(text, width=40), miltext.strict_findings(text)\n"
    )
    every += "    except miltext.ParseError: pass\n"
    assert run(every + EVERYTHING, "-bb") == "done\n"


THREADS = """
import sys, threading
sys.setswitchinterval(1e-6)
import miltext
text = 'program(1.3) { func f<ios18>(fp16 x) { /* c */ fp16 y = relu(x = x)[name = string("y")]; } -> (y); }'
broken = text.replace("relu(", "relu((")
start, failed = threading.Barrier(8), []

def work(number):
    start.wait()
    try:
        for turn in range(number, number + 4):
            if turn % 4 == 0: assert miltext.parse(text).functions["f"].inputs[0].name == "x"
            elif turn % 4 == 1: assert "/* c */" in miltext.format_text(text)
            elif turn % 4 == 2: assert not miltext.check(text)
            else: assert [found.code for found in miltext.check(broken)] == ["MIL010"]
    except BaseException as error:
        failed.append(repr(error))

threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join(40)
print(failed or [thread.name for thread in threads if thread.is_alive()] or "done")
"""


@pytest.mark.parametrize("turn", range(8))
def test_threads_that_are_the_first_to_parse(turn: int) -> None:
    assert run(THREADS, PYTHONHASHSEED=str(turn)) == "done\n"
