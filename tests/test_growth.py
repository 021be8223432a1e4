"""No text takes time that grows faster than it does: whatever is in it again and again, wherever that is.

Twice as long a run of anything, in any gap of a text that has most of the grammar, takes about twice as long.
"""

from __future__ import annotations

import gc
import random
import re
import time
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import pytest

from miltext import ParseError, check, format_text, parse, to_draft
from miltext.drafting.omitting import gaps_of
from miltext.formatting.layout import Layout
from miltext.highlight import MilLexer
from miltext.syntax.memo import LONGEST, Memo
from miltext.syntax.names import name_text

pytestmark = pytest.mark.any_version

SAMPLE = """program(1.3)
[a = tensor<fp16, [1, 2]>(BLOBFILE(path = string("w"), offset = uint64(64))), b = list<int32, 2>([2, 3]),
 c = $doc("x") tensor<int32, [?], $rank(1), $[e = int32(1)]>($ints([1]))] {
func main<ios18>(tensor<fp16, [1, 2]> x) {
    tensor<fp16, [1, 2]> y = relu(x = x)[name = string("y"), val = tensor<int32, [2]>([1, 2])];
    fp16 z = cond(p = bool(true), q = (x, y), r = fp16(BLOBFILE(path = string("w"), offset = uint64(64)))) (fp16 i) {
    fp16 $"q q" = relu(x = i);
    } -> (i) [n = int32(1)];
} -> (y)$[k = string("v")];
}
"""
PIECES = re.compile(r'\$?"|\$\[|\$?[A-Za-z0-9_.]+|->|[^\sA-Za-z0-9]')
GAPS = sorted({place for match in PIECES.finditer(SAMPLE) for place in (match.start(), match.end())})
RUNS = [
    *' \n\r10a[](){}<>=,;.?*/-+$@"\\',
    "/**/",
    "//\n",
    "\n/**/",
    "/* ",
    " ,",
    "[ ",
    "\\n",
    "tensor<\n",
    '\n$"',
    ";/* ",
    "tensor<fp16, [1]> a, ",
    "a<> b, ",
]
READ: dict[str, Callable[[str], Any]] = {
    "parse": parse,
    "format": partial(format_text, width=60),
    "check": check,
    "guess": MilLexer.analyse_text,
    "colour": lambda text: [*MilLexer().get_tokens(text)],
}

SHORT = 2_000
LEAST, MOST = 0.06, 3.0
"""Seconds that say nothing yet, and the ratio for twice as much: 2 if time grows with the text, 4 with its square."""


def seconds(read: Callable[[str], Any], text: str) -> float:
    start = time.process_time()
    with suppress(ParseError):
        read(text)
    return time.process_time() - start


def grown(run: str, place: int, size: int) -> str:
    return SAMPLE[:place] + run * (size // len(run)) + SAMPLE[place:]


def assert_linear(read: Callable[[str], Any], text_of: Callable[[int], str]) -> None:
    """Ask with ever more, until it takes long enough to show how the time grows; short times are fine.

    Noise of the machine and of its caches spoils one ratio. Time that grows faster than the text does so at each size.
    """
    size = SHORT
    while size <= 8 * SHORT:
        if seconds(read, text_of(size)) > LEAST:
            growths = (growth(read, text_of, larger) for larger in (size, 2 * size, 4 * size))
            assert any(ratio < MOST for ratio in growths), size
        size *= 4


def growth(read: Callable[[str], Any], text_of: Callable[[int], str], size: int) -> float:
    """Ratio of the least time for `size` characters to the least time for half of them."""
    half, whole = (min(seconds(read, text_of(length)) for _ in range(3)) for length in (size // 2, size))
    return whole / half


@pytest.mark.parametrize("verb", READ)
@pytest.mark.parametrize("run", RUNS)
def test_runs_in_gaps(run: str, verb: str) -> None:
    """Five of the gaps of each, others for each run and verb."""
    for place in random.Random(f"{run} {verb}").sample(GAPS, 5):
        assert_linear(READ[verb], partial(grown, run, place))


def value(spelled: str) -> str:
    return f"program(1.3) [a = {spelled}] {{}}"


def comments(run: str, size: int) -> str:
    return f"program(1.3) [a = int32(1){run * (size // len(run))}, b = int32(2)] {{}}"


WRITTEN: dict[str, Callable[[int], str]] = {
    "digits in a path": lambda n: value(f'fp16(BLOBFILE(path = string("{"1" * n}"), offset = uint64(64)))'),
    "spaces in dimensions": lambda n: value(f"tensor<fp16, [{' ' * n}1{' ' * n},{' ' * n}2{' ' * n}]>($tensor)"),
    "spaces before a comma": lambda n: value(f"tensor<fp16, [{' ' * n},1]>($tensor)"),
    "spaces in a blob": lambda n: value(
        f'fp16(BLOBFILE{" " * n}(path = string{" " * n}("w"{" " * n}), offset = uint64(64{" " * n}){" " * n}){" " * n})'
    ),
    "spaces after a type": lambda n: value(f"int32{' ' * n}({' ' * n}1{' ' * n})"),
    "openings in the head": lambda n: "/* " * (n // 3) + "program(1.3) {}",
    "comments in an attribute list": partial(comments, "/* x */"),
    "remarks in an attribute list": partial(comments, "// x\n"),
    "carriage returns in a comment": lambda n: f"/*{chr(13) * n}*/ program(1.3) {{}}",
    "carriage returns in a remark": lambda n: f"//{chr(13) * n}x\nprogram(1.3) {{}}",
    "inputs with lists": lambda n: (
        f"program(1.3) {{ func f({', '.join(f'tensor<fp16, [1], $[a = int32(1)]> x{i}' for i in range(n // 30))}) "
        "{} -> (); }"
    ),
    "escapes": lambda n: value(f'string("{chr(92)}n{chr(92)}"{"x" * 5}" )'.replace("x" * 5, '\\n\\"' * (n // 4))),
    "quotes of a broken string": lambda n: value(f'string("{chr(92)}"'.replace('\\"', '\\"' * (n // 2))),
    "stars": lambda n: f"/* {'*a' * (n // 2)} */ program(1.3) {{}}",
    "strings in brackets": lambda n: value("tensor<string, [1]>([" + '"a", ' * (n // 5) + '"b"])'),
}


def around(before: str, run: str, after: str, size: int) -> str:
    return f"{before}{run * (size // len(run))}{after}"


TYPES = ("tensor<fp16, [1]> a, ", "a<> b, ", "a<>b,", "a<b<>> c,\n", "tuple<a<>, b<>> c, ")
FUNCTION = "program(1.3) {{ func main<ios18>(fp16 x) {{ {} }} -> (x); }}"
BROKEN: dict[str, Callable[[int], str]] = {
    "blank lines before a mistake": lambda n: "\n" * n + "y = zz.relu();",
    "spaces in a mistake": lambda n: f"y ={' ' * n}x{' ' * n}+{' ' * n}x;",
    "mistakes one after the other": lambda n: "y = zz.relu();\n" * (n // 20),
    "mistakes on one line": lambda n: "y = zz.relu(); " * (n // 20),
    "numbers without brackets": lambda n: f"y = const()[val = tensor<int32, [9]>({'10, ' * (n // 4)}1)];",
    "numbers in braces": lambda n: f"y = const()[val = tensor<int32, [9]>({{{'10, ' * (n // 4)}1}})];",
    "numbers that do not end": lambda n: f"y = const()[val = tensor<int32, [9]>({'10, ' * (n // 4)}",
    "digits before a letter": lambda n: f"y = const()[val = {'1' * n}a];",
    "names without an end": lambda n: "a, " * (n // 3),
    "heads without an end": lambda n: "y = f(" * (n // 6),
    "types without an end": lambda n: "tensor<" * (n // 7),
    "types of a line": lambda n: f"a, {TYPES[0] * (n // 20)}",
    "types inside types": lambda n: f"a, {'tuple<' * (n // 12)}fp16{'>, ' * (n // 12)} b;",
    "constants of one operation": lambda n: f"y = concat(values = ({'1.0, ' * (n // 20)} x), axis = 0);",
}
"""Bodies of a function, most of them with mistakes."""

BROKEN |= {f"outputs in parentheses: {each}": partial(around, "(", each, "b) y;") for each in TYPES}
BROKEN |= {f"arguments with types: {each}": partial(around, "y = f(", each, " + 1);") for each in TYPES}

WRITTEN["types of inputs"] = lambda n: f"program(1.3) {{ func f({TYPES[0] * (n // 20)}a) {{ }} -> (a); }}".replace(
    ">", ",", 1
)

WRITTEN |= {each: lambda n, body=body: FUNCTION.format(body(n)) for each, body in BROKEN.items()}  # type: ignore[misc]


@pytest.mark.parametrize("verb", READ)
@pytest.mark.parametrize("written", WRITTEN)
def test_formerly_quadratic_work(written: str, verb: str) -> None:
    assert_linear(READ[verb], WRITTEN[written])


# ---- drafts


def given_to_one(constants: list[str], written: str, size: int) -> str:
    """Return a program with constants of some types in turn, all given to one operation."""
    chosen = [constants[index % len(constants)] for index in range(size // 16)]
    names = [f"c{index}" for index in range(len(chosen))]
    stated = [f"{kind} {name} = const()[val = {kind}([1])];" for kind, name in zip(chosen, names, strict=True)]
    given = names if written == "consts" else [f"{kind}([1])" for kind in chosen]
    whole = f"tensor<fp16, [{len(chosen)}]> z = concat(values = ({', '.join(given)}), axis = int32(0));"
    body = f"{' '.join(stated) if written == 'consts' else ''} {whole}"
    return f"program(1.3) {{ func main<ios18>(tensor<fp16, [1]> x) {{ {body} }} -> (z); }}"


def literals_of(program: Any) -> set[Any]:
    return gaps_of(program, lambda value: "[1]", set())


@pytest.mark.parametrize("read", [to_draft, literals_of])
@pytest.mark.parametrize("written", ["consts", "literals"])
@pytest.mark.parametrize("dtypes", ["fp16", "fp32", "int32", "fp16 int32", "int32 fp16 fp32"])
def test_constants_of_one_operation_are_left_out_in_linear_time(
    dtypes: str, written: str, read: Callable[[Any], Any]
) -> None:
    """It asked each of them beside all others; constants whose types do not follow, each time one was found."""
    kinds = [f"tensor<{dtype}, [1]>" for dtype in dtypes.split()]
    programs = {size: parse(given_to_one(kinds, written, size)) for size in (SHORT * 2**step // 2 for step in range(5))}
    assert_linear(lambda text: read(programs[len(text)]), lambda size: "x" * size)


# ---- memory


def peak(run: Callable[[], Any]) -> int:
    gc.collect()
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("read", [parse, format_text, check])
@pytest.mark.parametrize(
    "text",
    [
        value('string("' + "\\n" * 100_000 + '")'),
        value('string("' + "\\na" * 70_000 + '")'),
        value('string("' + "\\\\" * 100_000 + '")'),
        'program(1.3) [$"' + "\\n" * 100_000 + '" = int32(1)] {}',
        value('string("' + "\\n" * 100_000),
        "/* " + "*a" * 100_000 + " */ program(1.3) {}",
        "program(1.3) {}" + " " * 200_000,
    ],
    ids=["escapes", "escapes apart", "backslashes", "a name", "an open string", "stars", "spaces"],
)
def test_memory_is_a_small_multiple_of_the_text(text: str, read: Callable[[str], Any]) -> None:
    def run() -> None:
        with suppress(ParseError):
            read(text)

    run()
    assert peak(run) < 30 * len(text)


def test_long_strings_are_read_as_short_ones_are() -> None:
    for size in 10, 4095, 4096, 4097, 8192, 20_000:
        for body in "\\n", '\\"', "\\\\", "x\\u{41}":
            program = parse(value(f'string("{body * size}")'))
            (said,) = program.attributes["a"].immediateValue.tensor.strings.values
            assert said == {"\\n": "\n", '\\"': '"', "\\\\": "\\", "x\\u{41}": "xA"}[body] * size
            assert parse(format_text(value(f'string("{body * size}")'))) == program


def test_a_memo_keeps_no_long_text() -> None:
    asked: list[str] = []

    def ask(text: str) -> int:
        asked.append(text)
        return len(text)

    kept: Memo[str, int] = Memo(ask, 4)
    long = "b" * (LONGEST + 1)
    assert [kept(text) for text in ("a", "a", long, long)] == [1, 1, len(long), len(long)]
    assert asked == ["a", long, long]
    for text in "cdefg":
        kept(text)
    assert len(kept) <= 4


def test_inner_blocks_enter_no_cache() -> None:
    layout = Layout("1.3")
    block = '() {\n$"a b"' + "x" * 500 + "} -> ()"
    assert layout.inner_block(["()", block]) == f"() {block}"
    assert block not in name_text
    assert not any(len(text) > LONGEST for text in name_text)
