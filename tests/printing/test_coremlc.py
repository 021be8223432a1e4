"""What Apple's compiler would write: its own texts from their protos, flexible shapes, and what it drops."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
from conftest import CORPUS, ROOT, corpus_files, dear, wire
from hypothesis import given
from support.containers import feature, program, spec
from support.strategies import any_programs

import miltext
from miltext.containers.opening import load
from miltext.diagnostics import Diagnostic
from miltext.parsing.strict import strict_findings
from miltext.printing.coremlc import NEWEST, STRINGS, Versions, as_coremlc
from miltext.printing.flexible_shapes import ATTRIBUTE
from miltext.schema.proto import FeatureDescription, ListValue, ModelDescription, Program, Value
from miltext.schema.types import DictionaryType, ListType, TensorType, TupleType, write_type
from miltext.schema.value_builders import STRING, immediate


def read_text(path: Path) -> str:
    return path.read_bytes().decode()


def versions_in(text: str) -> Versions:
    """The compiler's versions that its text has in line 2."""
    found = re.search(r'"coremlc-component-MIL", "(.*?)"}, {"coremlc-version", "(.*?)"}', text.split("\n")[1])
    assert found
    return Versions(*found.groups())


def compiled(program: Program, **options: Any) -> tuple[str, list[Diagnostic]]:
    told: list[Diagnostic] = []
    text = miltext.to_text(program, as_coremlc=True, on_warning=told.append, **options)
    assert text == as_coremlc(program, on_warning=told.append, **options)
    assert told[len(told) // 2 :] == told[: len(told) // 2]
    return text, told[len(told) // 2 :]


# ---- Apple's own texts


def partners() -> list[Any]:
    """Every model of the corpus that is there beside the text that Apple's compiler made of it."""
    found = corpus_files("pairs/*/model.mlmodel", "bundles/*.mlpackage")
    return [each for each in found if each.values[0] == CORPUS or text_beside(each.values[0]).exists()]


def text_beside(path: Path) -> Path:
    return path.with_suffix(".mlmodelc") / "model.mil" if path.suffix == ".mlpackage" else path.with_suffix(".mil")


@pytest.mark.parametrize("path", partners())
def test_the_compilers_text_from_the_proto(path: Path) -> None:
    assert_the_compilers_text(load(path), read_text(text_beside(path)))


@pytest.mark.parametrize("path", corpus_files("pipelines/*.mlpackage"))
def test_the_compilers_text_of_a_stage(path: Path) -> None:
    expected = read_text(path.with_suffix(".mlmodelc") / "model0" / "model.mil")
    assert_the_compilers_text(load(path, 0), expected)


def assert_the_compilers_text(model: miltext.Model, expected: str) -> None:
    text, told = compiled(
        model.program,
        specification_version=model.specification_version,
        description=model.description,
        versions=versions_in(expected),
    )
    assert text == expected
    assert not told


@pytest.mark.parametrize("path", corpus_files("bundles/*.mlmodelc", "pipelines/*.mlmodelc/model0"))
def test_the_compilers_text_from_a_bundle(path: Path) -> None:
    model = load(path)
    for function in model.program.functions.values():
        function.attributes.pop(ATTRIBUTE, None)  # it is made again, from the description
    text, told = compiled(
        model.program, specification_version=model.specification_version, description=model.description
    )
    assert text == model.text
    assert not told


@pytest.mark.parametrize("path", corpus_files("apple/*.mil", "pairs/*/model.mil", "*/*.mlmodelc/**/model.mil"))
def test_the_compilers_text_from_itself(path: Path) -> None:
    expected = read_text(path)
    text, told = compiled(
        miltext.parse(expected), specification_version=9 if expected.startswith("program(1.3)") else 8
    )
    assert text == expected
    assert not told


# ---- flexible shapes


def described(*features: FeatureDescription) -> ModelDescription:
    return ModelDescription(input=features)


MULTIFUNCTION = ModelDescription(defaultFunctionName="second")
MULTIFUNCTION.functions.add(name="first").input.append(feature("input", [4], [[0, 4]]))
MULTIFUNCTION.functions.add(name="second").input.append(feature("input", [2], [[0, 4]]))
MULTIFUNCTION.functions.add(name="third").input.append(feature("input", [9], [[0, 9]]))

FLEXIBLE = {
    "range": described(feature("input", [4], [[0, 4]])),
    "weighted-legacy": described(feature("input", [1, 4], [[1, 4], [4, 4]])),
    "multifunction": MULTIFUNCTION,
}


@pytest.mark.parametrize("path", corpus_files("apple/mlmodelc-export__flexible-*.mil"))
def test_the_compilers_flexible_shapes(path: Path) -> None:
    expected = read_text(path)
    parsed = miltext.parse(expected)
    for function in parsed.functions.values():
        del function.attributes[ATTRIBUTE]
    description = FLEXIBLE[path.stem.partition("flexible-")[2]]
    assert compiled(parsed, description=description) == (expected, [])


def with_input(name: str = "x") -> Program:
    made = program()
    made.functions["main"].inputs.add(name=name, type=write_type(TensorType("fp32", (None,))))
    return made


def test_a_description_reports_parameters_only() -> None:
    flexible = described(feature("other", [1], [[1, 2]]))
    assert ATTRIBUTE not in compiled(with_input(), description=flexible)[0]
    assert ATTRIBUTE in compiled(with_input("other"), description=flexible)[0]


def test_an_unproven_part_is_stated() -> None:
    _, told = compiled(with_input(), description=described(feature("x", [1], None, [[1], [2]])))
    assert [(warning.severity, warning.code) for warning in told] == [("warning", "MIL211")]
    assert "unproven here, and was never seen: numbers in place of the keys" in told[0].message


def test_the_compilers_own_attribute_is_kept() -> None:
    made = with_input()
    own = immediate(STRING, "the compiler's own")
    made.functions["main"].attributes[ATTRIBUTE].CopyFrom(own)
    text, told = compiled(made, description=described(feature("x", [1], None, [[1]])))
    assert 'string("the compiler\'s own")' in text
    assert not told


# ---- the head


def line_2(made: Program, **options: Any) -> str:
    return compiled(made, **options)[0].split("\n")[1]


def test_build_info_is_always_there() -> None:
    default = NEWEST
    expected = (
        f'[buildInfo = dict<string, string>({{{{"coremlc-component-MIL", "{default.component}"}}, '
        f'{{"coremlc-version", "{default.compiler}"}}}})]'
    )
    assert line_2(program()) == expected
    legacy = line_2(program(), specification_version=8)
    assert legacy.startswith("[buildInfo = dict<tensor<string, []>, tensor<string, []>>({{")


def test_build_info_is_sorted_and_its_own_versions_kept() -> None:
    made = program()
    entries = {"z": "1", "coremltools-version": "9.0", "coremlc-version": "1.2.3", "a": "2"}
    made.attributes["buildInfo"].CopyFrom(immediate(STRINGS, entries))
    made.attributes["another"].CopyFrom(immediate(STRING, "it"))
    line = line_2(made)
    keys = re.findall(r'{"([^"]*)",', line)
    assert keys == ["a", "coremlc-component-MIL", "coremlc-version", "coremltools-version", "z"]
    assert '{"coremlc-version", "1.2.3"}' in line
    assert line.startswith('[another = string("it"), buildInfo')
    given = line_2(made, versions=Versions("4", "5"))
    assert '{"coremlc-component-MIL", "4"}, {"coremlc-version", "5"}' in given
    assert "1.2.3" not in given


@pytest.mark.parametrize(
    "value",
    [
        immediate(STRING, "a text"),
        immediate(DictionaryType(STRING, TensorType("int32", ())), {"a": [1]}),
        immediate(ListType(STRING, None), ["a"]),
        Value(type=write_type(STRINGS)),
        Value(type=write_type(STRINGS), blobFileValue=Value.BlobFileValue(fileName="a")),
    ],
)
def test_a_build_info_that_nothing_can_be_added_to(value: Value) -> None:
    made = program()
    made.attributes["buildInfo"].CopyFrom(value)
    with pytest.raises(miltext.PrintError, match=r"(?s)MIL212.*buildInfo"):
        as_coremlc(made)


@pytest.mark.parametrize(("version", "dialect"), [(6, "1.0"), (8, "1.0"), (9, "1.3"), (10, "1.3")])
def test_the_specification_decides_the_dialect(version: int, dialect: str) -> None:
    assert compiled(program(), specification_version=version)[0].startswith(f"program({dialect})\n")


def test_parameters_are_sorted_and_the_last_line_is_not_ended() -> None:
    made = program()
    for name in ("b", "a", "B", "_"):
        made.functions["main"].inputs.add(name=name, type=write_type(STRING))
    text = compiled(made)[0]
    assert "(string B, string _, string a, string b) {" in text
    assert text.endswith("(y);\n}")
    assert [value.name for value in made.functions["main"].inputs] == ["b", "a", "B", "_"]


def test_the_inputs_of_inner_blocks_keep_their_order() -> None:
    made = program()
    inner = made.functions["main"].block_specializations["CoreML8"].operations[0].blocks.add()
    for name in ("b", "a"):
        inner.inputs.add(name=name, type=write_type(STRING))
    assert "(string b, string a) {" in compiled(made)[0]


# ---- what is dropped, and what is refused


def test_parts_that_the_compiler_drops_are_stated_once() -> None:
    made = program()
    plain = compiled(made)[0]
    made.version = 2
    made.docString = "what it does"
    function = made.functions["main"]
    operation = function.block_specializations["CoreML8"].operations[0]
    attribute = immediate(TupleType((STRING, ListType(STRING, None))), ["a", ["b"]])
    operation.attributes["name"].CopyFrom(attribute)
    attribute.docString = "outer"
    attribute.immediateValue.tuple.values[1].docString = "inner"
    operation.attributes["name"].CopyFrom(attribute)
    function.block_specializations["CoreML5"].outputs.append("never")
    function.block_specializations["CoreML6"].outputs.append("never")
    before = wire(made)
    text, told = compiled(made)
    assert text.replace('[name = tuple<string, list<string, ?>>(("a", ["b"]))]', "") == plain
    (warning,) = told
    assert (warning.severity, warning.code) == ("warning", "MIL210")
    for dropped in (
        "Program.version 2",
        "the Program's docString",
        "`main` for CoreML5",
        "CoreML6",
        "docStrings of 2 Values",
    ):
        assert dropped in warning.message
    assert wire(made) == before


def without_block(made: Program) -> None:
    made.functions["main"].block_specializations.clear()


def of_another_opset(made: Program) -> None:
    made.functions["main"].opset = "CoreML7"


def with_block_inputs(made: Program) -> None:
    made.functions["main"].block_specializations["CoreML8"].inputs.add(name="x", type=write_type(STRING))


def with_block_attributes(made: Program) -> None:
    made.functions["main"].block_specializations["CoreML8"].attributes["a"].CopyFrom(immediate(STRING, "b"))


def with_an_odd_name(made: Program) -> None:
    made.functions["main"].block_specializations["CoreML8"].outputs[0] = "a b"


def with_an_absent_type(made: Program) -> None:
    made.functions["main"].inputs.add(name="x")


def with_a_list_under_a_tensor(made: Program) -> None:
    made.attributes["a"].CopyFrom(Value(type=write_type(STRING), immediateValue=Value.ImmediateValue(list=ListValue())))


@pytest.mark.parametrize(
    "change",
    [
        without_block,
        of_another_opset,
        with_block_inputs,
        with_block_attributes,
        with_an_odd_name,
        with_an_absent_type,
        with_a_list_under_a_tensor,
    ],
)
def test_parts_that_apples_syntax_cannot_state(change: Any) -> None:
    made = program()
    assert as_coremlc(made)
    change(made)
    assert miltext.to_text(made)
    with pytest.raises(miltext.PrintError, match="MIL201"):
        as_coremlc(made)


@dear
@given(any_programs)
def test_any_program_is_stated_in_apples_own_syntax_or_refused(made: Program) -> None:
    told: list[Diagnostic] = []
    try:
        text = as_coremlc(made, on_warning=told.append)
    except miltext.PrintError:
        return
    assert not [finding for finding in strict_findings(text) if finding.severity == "error"]
    assert as_coremlc(miltext.parse(text), on_warning=told.append) == text


@pytest.mark.parametrize("style", [{"dialect": "1.0"}, {"floats": "decimal"}, {"elide": 0}])
def test_the_style_cannot_be_chosen(style: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="the compiler decides"):
        miltext.to_text(program(), as_coremlc=True, **style)


def test_no_description_but_a_description_will_do() -> None:
    with pytest.raises(TypeError, match="ModelDescription"):
        as_coremlc(program(), description=spec())


# ---- warnings without a callback


def test_python_warns_where_miltext_was_called() -> None:
    made = program()
    made.docString = "it"
    for call in (as_coremlc, lambda made: miltext.to_text(made, as_coremlc=True)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call(made)
        (warning,) = caught
        assert "MIL210" in str(warning.message)
        assert warning.filename == __file__


# ---- coremltools' messages, and what is imported


def test_coremltools_own_messages() -> None:
    their_schema = pytest.importorskip("coremltools.proto.Model_pb2", reason="coremltools is not installed")
    made = with_input()
    ours = spec()
    ours.mlProgram.CopyFrom(made)
    ours.description.CopyFrom(described(feature("x", [1], [[1, 2]])))
    theirs = their_schema.Model.FromString(ours.SerializeToString())
    text, told = compiled(theirs.mlProgram, description=theirs.description)
    assert text == compiled(made, description=ours.description)[0]
    assert ATTRIBUTE in text
    assert not told


def test_printing_a_package_imports_nothing_slow() -> None:
    code = (
        "import sys; from miltext.containers.opening import load; from miltext.printing.printing import to_text;"
        "model = load(sys.argv[1]); to_text(model.program); to_text(model.program, as_coremlc=True);"
        "print(*{'lark', 'numpy', 'coremltools', 'miltext.parsing.parser'} & set(sys.modules))"
    )
    package = ROOT / "examples" / "Classifier.mlpackage"
    done = subprocess.run([sys.executable, "-c", code, package], capture_output=True, text=True, check=False)
    assert (done.stdout.split(), done.returncode) == ([], 0), done.stderr


# ---- what is proven


@pytest.mark.parametrize("path", corpus_files("apple/*.mil", "pairs/*/*.mil", "*/*.mlmodelc/**/model.mil"))
def test_nothing_in_the_compilers_texts_is_doubted(path: Path) -> None:
    assert strict_findings(read_text(path)) == []


BLOB = 'BLOBFILE(path = string("@model_path/weights/weight.bin"), offset = uint64({}))'

SCALED = f"""            tensor<fp16, [32, 32]> w = constexpr_blockwise_shift_scale(\
data = tensor<FP8, [32, 32]>({BLOB.format(64)}), scale = tensor<fp16, [32, 1]>({BLOB.format(1216)}))\
[name = string("w")];
"""
SPARSE = f"""            tensor<uint1, [32, 32]> m, tensor<fp16, [512]> d = constexpr_sparse_blockwise_shift_scale(\
data_mask = tensor<uint1, [32, 32]>({BLOB.format(64)}), nonzero_data = tensor<int8, [512]>({BLOB.format(256)}), \
scale = tensor<fp16, [32, 1]>({BLOB.format(1024)}))[name = string("d")];
            tensor<fp16, [32, 32]> w = constexpr_sparse_to_dense(mask = m, nonzero_data = d)[name = string("w")];
"""
PROVEN = {
    "fp8e4m3fn": SCALED.replace("FP8", "fp8e4m3fn"),
    "fp8e5m2": SCALED.replace("FP8", "fp8e5m2"),
    "uint1": SPARSE,
}
"""Operations in the form that coremltools' own tests find in compiled texts."""


@pytest.mark.parametrize("lines", PROVEN.values(), ids=list(PROVEN))
def test_forms_in_known_compiled_texts_are_proven(lines: str) -> None:
    head = "program(1.3)\n{\n    func main<ios18>(tensor<fp16, [1, 32]> x) {\n"
    text = f"{head}{lines}        }} -> (w);\n}}\n"
    assert strict_findings(text) == []
    assert miltext.to_text(miltext.parse(text)) == text
    assert miltext.format_text(text) == text


VALUE = "program(1.3)\n[a = {}]\n{{\n}}\n"
FUNCTION = "program(1.3)\n{{\n    func main{}(fp16 x) {{\n        }} -> (x);\n}}\n"
UNPROVEN = {
    "uint2": (VALUE.format("tensor<uint2, [1]>([0])"), "seen elsewhere (coremltools' names of data types)"),
    "uint3": (VALUE.format("tensor<uint3, [1]>([0])"), "seen elsewhere (coremltools' names of data types)"),
    "uint6": (VALUE.format("tensor<uint6, [1]>([0])"), "seen elsewhere (coremltools' names of data types)"),
    "ios26": (FUNCTION.format("<ios26>"), "seen elsewhere (hand-written texts)"),
    "no opset": (FUNCTION.format(""), "never seen"),
    "nan": (VALUE.format("fp16(nan)"), "never seen"),
    "escape": (VALUE.format(r'string("\n")'), "never seen"),
    "comment": (f"/* a */ {VALUE.format('fp16(0x0p+0)')}", "never seen"),
    "tuple": (FUNCTION.format("<ios18>").replace("fp16", "tuple<>"), "never seen"),
}
"""Constructs that no compiled text has, and their kind."""


@pytest.mark.parametrize(("text", "kind"), UNPROVEN.values(), ids=UNPROVEN)
def test_forms_in_no_compiled_text_have_their_kinds(text: str, kind: str) -> None:
    (finding,) = strict_findings(text)
    assert (finding.code, finding.severity) == ("MIL204", "warning")
    assert f" is unproven, {kind}: it does not occur" in finding.message
