"""The workloads: what is measured, on what, and beside which peers. `WORKLOADS` names them all."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from google.protobuf import json_format, text_format

import miltext
from benchmarks import peers
from benchmarks.building import building
from benchmarks.converted import converted
from benchmarks.evaluation import evaluation
from benchmarks.measure import Contender, Contest, cold, cold_and_warm, peak_bytes, returned
from benchmarks.programs import immediate_program, nested_text, network_text
from benchmarks.server import Session

if TYPE_CHECKING:
    from miltext.schema.proto import Program

ROOT = Path(__file__).resolve().parent.parent
CORPUS = Path(os.environ.get("MILTEXT_CORPUS") or ROOT.parent / "shared" / "corpus")
EXAMPLE = ROOT / "examples" / "Classifier.mlpackage"
PROTOBUF = "from google.protobuf import descriptor_pb2, descriptor_pool, message_factory"

PAIR = "FluidAudio__160ms_streaming_encoder"
PAIR_OPERATIONS = 2971

Sizes = Callable[[int], int]
"""The size of a workload in this run, from its full size: the same, or a fraction of it in a quick run."""


class Sample(NamedTuple):
    """A text with its Program."""

    text: str
    program: Program
    specification_version: int = 8

    @classmethod
    def of(cls, text: str) -> Sample:
        """Make the sample of a text."""
        return cls(text, miltext.parse(text))


def pair(size: Sizes) -> Sample:
    """Load the corpus pair of 2,971 operations as Apple's compiler wrote it, or make a network of that size."""
    folder = CORPUS / "pairs" / PAIR
    if not folder.exists():
        return Sample.of(network_text(size(PAIR_OPERATIONS)))
    model = miltext.load(folder / "model.mlmodel")
    text = (folder / "model.mil").read_text(encoding="utf-8")
    return Sample(text, miltext.parse(text), model.specification_version or 8)


def corpus(size: Sizes) -> Iterator[Contest]:
    """Compare on the corpus pairs, and on the largest with every peer."""
    sample = pair(size)
    text, program = sample.text, sample.program
    tools = peers.coremltools(program, sample.specification_version)
    contenders = [
        *parsing(sample),
        Contender("json_format.Parse", peers.json_parse(program)),
        Contender("coremltools, proto to pymil", tools.load),
        Contender("floor: regular expression", peers.tokenizer(text)),
        Contender("floor: Program.FromString", peers.binary_parse(program)),
    ]
    yield Contest("pair: parse", "run", contenders)
    contenders = [
        *printing(sample),
        Contender("json_format.MessageToJson", lambda: json_format.MessageToJson(program)),
        Contender("coremltools, str(pymil)", tools.to_text),
        Contender("floor: SerializeToString", program.SerializeToString),
    ]
    yield Contest("pair: print", "run", contenders)
    for path in sorted(CORPUS.glob("pairs/*/model.mil")):
        if path.parent.name != PAIR:
            other = Sample.of(path.read_text(encoding="utf-8"))
            yield Contest(f"{path.parent.name}: parse", "run", parsing(other))
            yield Contest(f"{path.parent.name}: print", "run", printing(other))


def parsing(sample: Sample, units: float = 1) -> list[Contender]:
    """Make the contenders in parsing: miltext and protobuf's text format."""
    contenders = cold_and_warm("miltext.parse", lambda: miltext.parse(sample.text), units)
    return [*contenders, Contender("text_format.Parse", peers.text_format_parse(sample.program), units)]


def printing(sample: Sample, units: float = 1) -> list[Contender]:
    """Make the contenders in printing: miltext and protobuf's text format."""
    contenders = cold_and_warm("miltext.to_text", lambda: miltext.to_text(sample.program), units)
    peer = Contender("text_format.MessageToString", lambda: text_format.MessageToString(sample.program), units)
    return [*contenders, peer]


def generated(size: Sizes) -> Iterator[Contest]:
    """Compare on generated networks, and measure how the cost of an operation grows with their size."""
    samples = {number: Sample.of(network_text(size(number))) for number in (1_000, 5_000, 10_000, 50_000)}
    counts = {number: sample.text.count(";\n") - 1 for number, sample in samples.items()}
    for number in (1_000, 10_000):
        sample, count = samples[number], counts[number]
        tools = peers.coremltools(sample.program, sample.specification_version)
        loader = Contender("coremltools, proto to pymil", tools.load, count)
        yield Contest(f"network of {number:,} operations: parse", "operation", [*parsing(sample, count), loader])
        printer = Contender("coremltools, str(pymil)", tools.to_text, count)
        yield Contest(f"network of {number:,} operations: print", "operation", [*printing(sample, count), printer])
    for name, contenders in ("parse", parsing), ("print", printing):
        sides = [contenders(samples[number], counts[number])[0] for number in (50_000, 5_000)]
        named = [side._replace(name=number) for side, number in zip(sides, ("50,000", "5,000"), strict=True)]
        yield Contest(f"cost of an operation: {name}", "operation", named)


def neighbours(size: Sizes) -> Iterator[Contest]:
    """Compare with the text tools of other formats, on the same network in the notation of each.

    ONNX's get 3 MB; the length of names matters much more to them than to miltext. xDSL's get as much as the pair has.
    """
    long_names = network_text(size(14_000))
    short: dict[str, str] = {}
    short_names = re.sub(r"layers_\w+", lambda match: short.setdefault(match[0], f"v{len(short)}"), long_names)
    for names, text in ("long names", long_names), ("short names", short_names):
        sample = Sample.of(text)
        onnx = peers.onnx_text(sample.program)
        parse, to_text = peers.onnx_actions(onnx)
        contenders = [*parsing(sample, len(text))[:2], Contender("onnx.parser (C++)", parse, len(onnx))]
        yield Contest(f"neighbours, {names}: parse", "byte", contenders)
        contenders = [*printing(sample, len(text))[:2], Contender("onnx.printer (C++)", to_text, len(onnx))]
        yield Contest(f"neighbours, {names}: print", "byte", contenders)
    sample = Sample.of(network_text(size(PAIR_OPERATIONS)))
    mlir = peers.mlir_text(sample.program)
    parse, to_text = peers.xdsl_actions(mlir)
    contenders = [*parsing(sample, len(sample.text))[:2], Contender("xDSL's parser", parse, len(mlir))]
    yield Contest("neighbours, MLIR: parse", "byte", contenders)
    contenders = [*printing(sample, len(sample.text))[:2], Contender("xDSL's printer", to_text, len(mlir))]
    yield Contest("neighbours, MLIR: print", "byte", contenders)


def immediates(size: Sizes) -> Iterator[Contest]:
    """Compare on one literal of a million elements."""
    count = size(1_000_000)
    for dtype in ("fp16", "fp32", "int8", "int4"):
        program = immediate_program(dtype, count)
        sample = Sample(miltext.to_text(program), program)
        yield Contest(f"1 M {dtype}: parse", "element", parsing(sample, count))
        yield Contest(f"1 M {dtype}: print", "element", printing(sample, count))


def nesting(size: Sizes) -> Iterator[Contest]:
    """Compare on nested conditionals, as deep as protobuf reads."""
    program = miltext.parse(nested_text(40, size(50)))
    sample = Sample(miltext.to_text(program), program)
    yield Contest("blocks 40 deep: parse", "run", parsing(sample))
    yield Contest("blocks 40 deep: print", "run", printing(sample))


def small_files(size: Sizes) -> Iterator[Contest]:
    """Compare on many small texts, one after the other: those that Apple's compiler wrote, and those of people."""
    written = [path.read_text(encoding="utf-8") for path in sorted(CORPUS.glob("apple/*.mil"))]
    generated = [network_text(number) for number in range(1, size(1000), 60)]
    texts = [text for text in written if len(text) < 40_000] or generated
    yield Contest(f"{len(texts)} texts under 40 kB: parse", "run", parsing_each(texts))
    by_hand = [path.read_text(encoding="utf-8") for path in sorted(CORPUS.glob("handwritten/*.mil"))]
    texts = by_hand or [miltext.format_text(text, width=80) for text in generated]
    yield Contest("hand-written: parse", "run", parsing_each(texts))


def parsing_each(texts: list[str]) -> list[Contender]:
    """Make the contenders in parsing several texts, one after the other."""
    peer = [peers.text_format_parse(miltext.parse(text)) for text in texts]
    contenders = cold_and_warm("miltext.parse", lambda: [miltext.parse(text) for text in texts])
    return [*contenders, Contender("text_format.Parse", lambda: [parse() for parse in peer])]


def checking(size: Sizes) -> Iterator[Contest]:
    """Check the pair, in which nothing is wrong, as a Program and as a text, and compare with parsing it."""
    sample = pair(size)
    broken = sample.text.replace("x = ", "x == ", 50)
    contenders = [
        *cold_and_warm("miltext.check, a Program", lambda: miltext.check(sample.program)),
        *cold_and_warm("miltext.check, a text", lambda: miltext.check(sample.text)),
        Contender("miltext.check, a text of 50 mistakes", lambda: miltext.check(broken), before=cold),
        *parsing(sample),
    ]
    yield Contest("pair: check", "run", contenders)


def start_up(_: Sizes) -> Iterator[Contest]:
    """Measure whole processes that print a small package, and that parse its text."""
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, "small.mil"), Path(folder, "small.pb")
        source.write_text(miltext.to_text(miltext.load(EXAMPLE).program), encoding="utf-8")
        home = str(Path(miltext.__file__).parents[1])
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([home, os.environ.get("PYTHONPATH", "")])}
        # Bytecode is there, as it is once a package is installed; the checkout is left as it is.
        environment |= {"PYTHONPYCACHEPREFIX": folder, "PYTHONDONTWRITEBYTECODE": ""}
        miltext_command = [sys.executable, "-c", "from miltext.__main__ import main; main()"]

        def process(*command: str) -> Callable[[], Any]:
            run = partial(subprocess.run, command, env=environment, capture_output=True, check=True)
            run()
            return run

        tools = process(sys.executable, "-c", "import coremltools") if find_spec("coremltools") else None
        contenders = [
            Contender("miltext print", process(*miltext_command, "print", str(EXAMPLE))),
            Contender("python, protobuf", process(sys.executable, "-c", PROTOBUF)),
            Contender("python", process(sys.executable, "-c", "pass")),
            Contender("miltext parse", process(*miltext_command, "parse", str(source), "-o", str(program))),
            Contender("python, coremltools", tools),
        ]
        yield Contest("start-up", "run", contenders)


def formatting(size: Sizes) -> Iterator[Contest]:
    """Format the pair, and compare with parsing it."""
    sample = pair(size)
    form = cold_and_warm("miltext.format_text", lambda: miltext.format_text(sample.text))
    yield Contest("pair: format", "run", [*form, *parsing(sample)[:2]])


def server(size: Sizes) -> Iterator[Contest]:
    """Compare the language server with a check in this process, and measure its answers to edits while typing goes on.

    The text has 3,000 operations; typing goes on in one of 25 kB and in one of 600 kB.
    """
    text, typed = network_text(size(3_000)), [network_text(size(number)) for number in TYPED.values()]
    check = Contender("miltext.check", lambda: miltext.check(text))
    if find_spec("pygls") is None:
        yield Contest("language server", "run", [check, *(Contender(name, None) for name in SERVED)])
        yield Contest("typing", "run", [Contender(name, None) for name in TYPED])
        return
    line, start = middle(text)
    used, operation = start + len("add(x = "), start
    with Session() as session:
        actions: list[Callable[[], Any]] = [
            lambda: session.diagnosed(text),
            lambda: session.ask_at("textDocument/hover", line, used),
            lambda: session.ask_at("textDocument/hover", line, operation),
            lambda: session.ask_at("textDocument/completion", line, used),
            lambda: session.ask_at("textDocument/completion", line, operation),
        ]
        served = [Contender(name, action) for name, action in zip(SERVED, actions, strict=True)]
        yield Contest("language server", "run", [check, *served])
        edits = [partial(session.noticed, each, middle(each)) for each in typed]
        typing = [Contender(name, edit, gauge=returned) for name, edit in zip(TYPED, edits, strict=True)]
        yield Contest("typing", "run", typing)


def middle(text: str) -> tuple[int, int]:
    """Find the first `add` after the middle of a network: its line and column, counted from 0."""
    lines = text.splitlines()
    line = next(number for number in range(len(lines) // 2, len(lines)) if " add(x = " in lines[number])
    return line, lines[line].index("add(")


SERVED = ("open to diagnostics", "hover, a value", "hover, an operation", "complete a value", "complete an operation")

TYPED = {"edit of 25 kB to diagnostics": 100, "edit of 600 kB to diagnostics": 2_700}
"""The contenders in typing, with the operations of their texts."""


def memory(size: Sizes) -> Iterator[Contest]:
    """Measure the most memory that parsing takes besides the Program itself, caches included, and the text's size."""
    count = size(1_000_000)
    million = miltext.to_text(immediate_program("fp16", count))
    texts = {"pair": pair(size).text, "network of 10,000 operations": network_text(size(10_000)), "1 M fp16": million}
    for name, text in texts.items():
        contenders = [
            Contender("miltext.parse", lambda text=text: miltext.parse(text), before=cold, gauge=peak_bytes),  # type: ignore[misc]
            Contender("the text", lambda text=text: len(text.encode()), gauge=returned),  # type: ignore[misc]
        ]
        yield Contest(f"{name}: memory", "memory", contenders)


WORKLOADS: dict[str, Callable[[Sizes], Iterator[Contest]]] = {
    "corpus": corpus,
    "generated": generated,
    "neighbours": neighbours,
    "immediates": immediates,
    "nesting": nesting,
    "small-files": small_files,
    "start-up": start_up,
    "formatting": formatting,
    "checking": checking,
    "converted": converted,
    "building": building,
    "server": server,
    "memory": memory,
    "evaluation": evaluation,
}
