"""The laws of checking: no false alarm, what is broken is told at its line, and a mistake is told once."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random

import pytest
from conftest import CORPUS, ROOT, corpus_files
from support.coremltools_programs import PROGRAMS, Sample
from support.laws.checking import check_first_report, check_text_and_program
from support.mutations import MUTATIONS

import miltext
from miltext.checking.findings import Finding, located
from miltext.checking.programs import verify
from miltext.checking.verifier import examine
from miltext.containers.opening import open_model
from miltext.diagnostics import Diagnostic, line_and_column
from miltext.parsing.parser import parse_tree
from miltext.schema.proto import Program

NO_PROGRAM = ("rejected/",)
SMALL = 30_000
"""How long a text may be, in bytes, to be broken in all known ways."""

needs_coremltools = pytest.mark.skipif(
    importlib.util.find_spec("coremltools") is None, reason="coremltools is not installed"
)


# ---- no false alarm


def errors(diagnostics: list[Diagnostic]) -> list[Diagnostic]:
    return [diagnostic for diagnostic in diagnostics if diagnostic.severity == "error"]


@pytest.mark.parametrize("path", corpus_files("**/*.mil"))
def test_nothing_is_wrong_with_a_text_of_the_corpus(path: Path) -> None:
    found = errors(miltext.check(path.read_bytes().decode()))
    if path.relative_to(CORPUS).as_posix().startswith(NO_PROGRAM):
        assert found
    else:
        assert found == []


@pytest.mark.parametrize("path", corpus_files("**/*.mlmodel"))
def test_nothing_is_wrong_with_a_model_of_the_corpus(path: Path) -> None:
    model = open_model(path)
    programs = [each for each in model.models or [model] if each.type == "mlProgram"]
    assert programs
    for program in programs:
        found = errors(miltext.check(program))
        assert [each for each in found if each.code != "MIL264"] == []  # kept without its weights


@pytest.mark.parametrize("path", corpus_files("handwritten/*.mil", "apple/*.mil"))
def test_hardly_anything_is_even_doubted(path: Path) -> None:
    codes = {diagnostic.code for diagnostic in miltext.check(path.read_bytes().decode())}
    assert codes <= ({"MIL614"} if path.stem == "Espresso__fused_qkv" else set())


@needs_coremltools
@pytest.mark.parametrize("sample", PROGRAMS, ids=str)
def test_programs_from_coremltools_have_no_findings(sample: Sample) -> None:
    assert verify(Program.FromString(sample.program())) == []


# ---- what is broken is told at its line


def whole_programs() -> Iterator[tuple[str, Program]]:
    """Programs of many operations: of the corpus, of coremltools, or at least the example."""
    for path in sorted(CORPUS.glob("apple/*.mil")):
        if path.stat().st_size < SMALL:
            yield path.name, miltext.parse(path.read_bytes().decode())
    if importlib.util.find_spec("coremltools"):
        for sample in PROGRAMS:
            if sample.name.startswith(("nested", "states", "network-ios17")):
                yield sample.name, Program.FromString(sample.program())
    yield "example", miltext.load(ROOT / "examples" / "Classifier.mlpackage").program


@cache
def broken_programs() -> list[tuple[str, bool, int]]:
    """Each breakage: its name, whether it is reported at the right line, and how many reports there are."""
    random, results = Random(7), []
    for name, program in whole_programs():
        for kind, mutate in MUTATIONS.items():
            broken = Program()
            broken.CopyFrom(program)
            places = mutate(random, broken)
            if places is not None:
                found = examine(broken)
                text = found.text or miltext.to_text(broken)
                marks = located([Finding(place, "", "") for place in places], parse_tree(text).root)
                told = bool(lines(text, marks) & lines(text, found.diagnostics))
                results.append((f"{kind} in {name}", told, len(found.diagnostics)))
    return results


def lines(text: str, diagnostics: list[Diagnostic]) -> set[int]:
    return {line_and_column(text, diagnostic.span.start)[0] for diagnostic in diagnostics if diagnostic.span}


@pytest.mark.any_version
def test_breakages_are_reported_at_the_right_line() -> None:
    results = broken_programs()
    missed = [name for name, told, _ in results if not told]
    assert len(results) > 30
    assert len(missed) <= 0.05 * len(results), missed


@pytest.mark.any_version
def test_a_breakage_is_reported_once_or_nearly() -> None:
    counts = [count for _, _, count in broken_programs()]
    assert sum(count > 2 for count in counts) <= 0.05 * len(counts)
    assert max(counts) <= 10


# ---- fifty mistakes in three thousand operations

KINDS = {
    "unknown name": ("x = v{before})", "x = nobody{at})"),
    "unknown operation": ("= relu(", "= rellu("),
    "misspelt parameter": ("(x = v{before})", "(X_in = v{before})"),
    "too many outputs": ("= relu(", ", tensor<fp16, [4, 8]> w{at} = relu("),
    "another data type": ("tensor<fp16, [4, 8]> v{at}", "tensor<fp32, [4, 8]> v{at}"),
    "another dimension": ("[4, 8]> v{at}", "[4, 9]> v{at}"),
    "unknown data type": ("tensor<fp16,", "tensor<fp61,"),
    "missing bracket": ("x = v{before})", "x = v{before}"),
    "missing semicolon": ("];\n", "]\n"),
    "open string": ('"v{at}")', '"v{at})'),
    "attribute twice": ("[name =", '[name = string("a"), name ='),
    "unknown escape": ('string("v{at}")', 'string("v\\q{at}")'),
    "value of another type": ('string("v{at}")', 'int32("v{at}")'),
    "stray character": ("[name =", "# [name ="),
}


def long_program(operations: int) -> list[str]:
    first = "tensor<fp16, [4, 8]> v0 = relu(x = x)"
    body = [f"tensor<fp16, [4, 8]> v{at} = relu(x = v{at - 1})" for at in range(1, operations)]
    texts = [f'            {text}[name = string("v{at}")];\n' for at, text in enumerate([first, *body])]
    head = "program(1.3)\n{\n    func main<ios18>(tensor<fp16, [4, 8]> x) {\n"
    return [head, *texts, f"        }} -> (v{operations - 1});\n}}\n"]


def test_fifty_mistakes_are_fifty_reports() -> None:
    text, places = long_program(3_000), range(30, 3_000, 59)
    kinds = list(KINDS.items())
    for nth, at in enumerate(places[:50]):
        kind, (right, wrong) = kinds[nth % len(kinds)]
        right, wrong = (part.replace("{at}", str(at)).replace("{before}", str(at - 1)) for part in (right, wrong))
        assert right in text[at + 1], kind
        text[at + 1] = text[at + 1].replace(right, wrong, 1)
    whole = "".join(text)
    found = miltext.check(whole)
    told = [line_and_column(whole, diagnostic.span.start)[0] - 4 for diagnostic in found if diagnostic.span]
    assert len(found) == 50
    assert all(line - at in (0, 1) for line, at in zip(told, places, strict=False)), told


def test_the_first_report_is_the_parsers() -> None:
    """`parse` and `check` say the same of the first thing that keeps a text from being a program."""
    for case in sorted((ROOT / "tests" / "golden" / "errors").glob("*.mil")):
        check_first_report(case.read_bytes().decode())


@pytest.mark.parametrize("path", sorted((ROOT / "tests/golden/check").glob("*.mil")), ids=lambda path: path.name)
def test_the_same_is_found_in_a_text_as_in_its_program(path: Path) -> None:
    check_text_and_program(path.read_bytes().decode())
