"""Building from text alone and with an original: descriptions, specification versions, elided literals, arrays."""

from __future__ import annotations

import re
import shutil
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.containers import LFS, feature, refused, write_bundle, write_pipeline_bundle
from support.model_checks import assert_coremltools_opens, assert_same_model
from support.real_packages import package

import miltext
from miltext.containers.opening import load, open_model
from miltext.containers.programs import TextModel
from miltext.descriptions.program_descriptions import describe
from miltext.descriptions.sizes import read_sizes
from miltext.diagnostics import MiltextError, ParseError
from miltext.drafting.building import build
from miltext.models.model import Model
from miltext.schema.dtypes import BY_NAME
from miltext.schema.packing import pack
from miltext.schema.proto import ArrayFeatureType, FeatureDescription, ModelDescription
from miltext.schema.tensors import Literal, literal
from miltext.weight_files.blob_storage import BlobFile
from miltext.weight_files.printing import annotated_pieces

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "Classifier.mlpackage"
DATA = Path("Data", "com.apple.CoreML")


def text_model(text: str, folder: Path) -> TextModel:
    path = folder / "model.mil"
    path.write_bytes(text.encode())
    return TextModel(text.encode(), str(path), path)


def function(parameters: str, output: str = "", operations: str = "", opset: str = "ios18", name: str = "main") -> str:
    return f"    func {name}<{opset}>({parameters}) {{\n{operations}\n        }} -> ({output});\n"


def program(*functions: str) -> str:
    return "program(1.3)\n{\n" + "".join(functions) + "}\n"


def built(text: str, folder: Path, **choices: Any) -> Model:
    build(text_model(text, folder), folder / "New.mlpackage", force=True, **choices)
    return load(folder / "New.mlpackage")


RELU = '            {type} y = relu(x = x)[name = string("y")];'


def relu(kind: str, opset: str = "ios18", name: str = "main", x: str = "x", y: str = "y") -> str:
    operations = RELU.format(type=kind).replace("(x = x)", f"(x = {x})").replace(" y =", f" {y} =")
    return function(f"{kind} {x}", y, operations, opset, name)


# ---- text alone


@pytest.mark.parametrize(
    ("kind", "opset", "element", "version"),
    [
        ("fp32", "ios15", ArrayFeatureType.FLOAT32, 6),
        ("fp16", "ios15", ArrayFeatureType.FLOAT16, 7),
        ("fp16", "ios17", ArrayFeatureType.FLOAT16, 8),
        ("int32", "ios16", ArrayFeatureType.INT32, 7),
        ("fp64", "ios18", ArrayFeatureType.DOUBLE, 9),
        ("int8", "ios18", ArrayFeatureType.INT8, 10),
        ("fp32", "ios19", ArrayFeatureType.FLOAT32, 10),
    ],
)
def test_a_description_from_types(kind: str, opset: str, element: int, version: int, tmp_path: Path) -> None:
    made = built(program(relu(f"tensor<{kind}, [2, 3]>", opset)), tmp_path, check=False)  # relu takes floats only
    assert made.specification_version == version
    assert made.description is not None
    (entry,) = made.description.input
    assert (entry.name, list(entry.type.multiArrayType.shape)) == ("x", [2, 3])
    assert [each.type.multiArrayType.dataType for each in (entry, made.description.output[0])] == [element, element]


def test_scalars_labels_and_dictionaries() -> None:
    text = program(
        function(
            "fp32 a, tensor<fp32, [2]> p",
            "l, d, a",
            "            string l, dict<string, fp64> d = "
            'classify(classes = list<string, 2>(["a", "b"]), probabilities = p);',
        )
    )
    description = describe(miltext.parse(text))
    assert list(description.input[0].type.multiArrayType.shape) == [1]
    kinds = [entry.type.WhichOneof("Type") for entry in description.output]
    assert kinds == ["stringType", "dictionaryType", "multiArrayType"]
    assert list(description.output[2].type.multiArrayType.shape) == []
    assert (description.predictedFeatureName, description.predictedProbabilitiesName) == ("l", "d")


def test_several_functions_and_a_state(tmp_path: Path) -> None:
    state = function("state<tensor<fp16, [4]>> s, tensor<fp32, [2]> z", "z", name="decode")
    made = built(program(relu("tensor<fp32, [2]>", name="encode"), state), tmp_path)
    assert made.description is not None
    assert [each.name for each in made.description.functions] == ["decode", "encode"]
    assert made.description.defaultFunctionName == "decode"
    decode = made.description.functions[0]
    assert [[each.name for each in side] for side in (decode.input, decode.state, decode.output)] == [
        ["z"],
        ["s"],
        ["z"],
    ]
    assert list(decode.state[0].type.stateType.arrayType.shape) == [4]
    assert made.specification_version == 9
    with_main = describe(miltext.parse(program(relu("fp32", name="first"), relu("fp32", name="main"))))
    assert with_main.defaultFunctionName == "main"


def test_an_unknown_size_needs_a_range() -> None:
    made = miltext.parse(program(relu("tensor<fp32, [1, ?]>")))
    with refused("MIL452", "the input `x` of `main` is of shape [1, ?]", '`ranges={"x": "1,LEAST..GREATEST"}`'):
        describe(made)
    description = describe(made, read_sizes(["x=1,2..8"]))
    ranges = description.input[0].type.multiArrayType.shapeRange.sizeRanges
    assert [(each.lowerBound, each.upperBound) for each in ranges] == [(1, 1), (2, 8)]
    assert list(description.input[0].type.multiArrayType.shape) == [1, 2]
    assert list(description.output[0].type.multiArrayType.shape) == []


@pytest.mark.parametrize(
    ("parameters", "output", "saying"),
    [
        ("tensor<int64, [2]> ids", "", "the input `ids` of `main` is a tensor<int64, [2]>"),
        ("bool flag", "", "the input `flag` of `main` is a bool"),
        ("list<fp32, 2> l", "", "the input `l`"),
        ("dict<fp32, fp32> d", "", "the input `d`"),
        ("state<tensor<fp16, [?]>> s", "", "the state `s`"),
        ("tensor<fp32, [$variadic]> v", "", "the input `v`"),
        ("tensor<bf16, [2]> x", "x", "bf16"),
    ],
)
def test_a_type_that_no_description_has(parameters: str, output: str, saying: str, tmp_path: Path) -> None:
    with refused("MIL420", saying):
        built(program(function(parameters, output)), tmp_path, check=False)
    assert not (tmp_path / "New.mlpackage").exists()


def test_output_that_nothing_makes_and_opset_that_is_unknown(tmp_path: Path) -> None:
    with refused("MIL422", "the output `z` of `main`"):
        built(program(function("fp32 x", "z")), tmp_path, check=False)
    with refused("MIL421", "'future'", "ios18"):
        built(program(relu("fp32", opset="future")), tmp_path, check=False)


@pytest.mark.parametrize("head", ["program(1.3)", "program(1.0)", 'program(1.3)[a = string("b")]'])
def test_a_program_without_functions_is_not_built(head: str, tmp_path: Path) -> None:
    with refused("MIL421", "the program has no function", "ios18"):
        built(f"{head} {{ }}", tmp_path)
    assert not (tmp_path / "New.mlpackage").exists()


# ---- with an original


def original(folder: Path, text: str, name: str = "Old.mlpackage") -> Model:
    build(text_model(text, folder), folder / name, force=True)
    return open_model(folder / name)


def rebuilt(folder: Path, old: Model, text: str) -> tuple[ModelDescription, list[str], Model]:
    """What a text becomes, whatever its operations make of their inputs; warnings are those of the description."""
    warnings = build(text_model(text, folder), folder / "New.mlpackage", original=old, force=True, check=False)
    made = load(folder / "New.mlpackage")
    assert made.description is not None
    return made.description, [each.code for each in warnings], made


TWO = function(
    "tensor<fp32, [2]> a, tensor<fp32, [2]> b",
    "c, d",
    "            tensor<fp32, [2]> c = add(x = a, y = b);\n            tensor<fp32, [2]> d = mul(x = a, y = b);",
)


def described(folder: Path) -> Model:
    """A model whose description says more than its types do."""
    model = original(folder, program(TWO))
    assert model.spec is not None
    description = model.spec.description
    description.metadata.author = "me"
    for entry in (*description.input, *description.output):
        entry.shortDescription = f"what {entry.name} is"
    description.input[0].CopyFrom(feature("a", [2], ranges=[[1, 2]]))
    description.input[0].type.isOptional = True
    description.predictedFeatureName = "c"
    return model


def test_entries_stay_for_unchanged_and_go_for_removed_values(tmp_path: Path) -> None:
    old = described(tmp_path)
    assert old.description is not None
    description, warnings, made = rebuilt(tmp_path, old, program(TWO.replace("(c, d)", "(d)")))
    assert list(description.input) == list(old.description.input)
    assert list(description.output) == [old.description.output[1]]
    assert (description.predictedFeatureName, warnings) == ("", [])
    assert made.metadata is not None
    assert made.metadata.author == "me"


def test_a_renamed_value_keeps_all_but_its_name(tmp_path: Path) -> None:
    old = described(tmp_path)
    text = re.sub(r"\bc\b", "sum", re.sub(r"\ba\b", "left", program(TWO)))
    description, warnings, _ = rebuilt(tmp_path, old, text)
    assert old.description is not None
    expected = FeatureDescription.FromString(old.description.input[0].SerializeToString())
    expected.name = "left"
    assert description.input[0] == expected
    assert description.output[0].shortDescription == "what c is"
    assert ([each.name for each in description.output], description.predictedFeatureName) == (["sum", "d"], "sum")
    assert warnings == []


def test_new_and_retyped_features_follow_from_their_types(tmp_path: Path) -> None:
    old = described(tmp_path)
    text = program(
        TWO.replace("tensor<fp32, [2]> a,", "tensor<fp32, [1, 2]> a, int32 n,").replace("(c, d)", "(d, c, a)")
    )
    description, warnings, _ = rebuilt(tmp_path, old, text)
    assert [each.name for each in description.input] == ["a", "b", "n"]
    assert list(description.input[0].type.multiArrayType.shape) == [1, 2]
    assert description.input[0].type.isOptional
    assert description.input[1].shortDescription == "what b is"
    assert [each.name for each in description.output] == ["c", "d", "a"]
    assert warnings == ["MIL450"]


def test_the_specification_is_raised_and_never_lowered(tmp_path: Path) -> None:
    old = original(tmp_path, program(relu("tensor<fp32, [2]>", "ios15")))
    texts = {
        6: relu("tensor<fp32, [2]>", "ios15"),
        7: relu("tensor<fp16, [2]>", "ios15"),
        9: relu("tensor<fp32, [2]>", "ios18"),
        10: relu("tensor<int8, [2]>", "ios15"),
    }
    for version, text in texts.items():
        assert rebuilt(tmp_path, old, program(text))[2].specification_version == version
    newest = original(tmp_path, program(relu("tensor<fp32, [2]>", "ios19")), "Newest.mlpackage")
    assert rebuilt(tmp_path, newest, program(texts[6]))[2].specification_version == 10


def test_functions_come_go_and_change_their_names(tmp_path: Path) -> None:
    one = relu("tensor<fp32, [2]>")
    old = original(tmp_path, program(one))
    assert old.spec is not None
    old.spec.description.input[0].shortDescription = "kept"
    description, _, made = rebuilt(tmp_path, old, program(one, relu("fp32", name="other")))
    assert [each.name for each in description.functions] == ["main", "other"]
    assert description.functions[0].input[0].shortDescription == "kept"
    assert (len(description.input), description.defaultFunctionName) == (0, "main")
    assert made.specification_version == 9
    renamed, _, again = rebuilt(tmp_path, made, program(one.replace("main", "begin"), relu("fp32", name="other")))
    assert [(each.name, each.input[0].shortDescription) for each in renamed.functions] == [
        ("begin", "kept"),
        ("other", ""),
    ]
    assert renamed.defaultFunctionName == "begin"
    left, _, _ = rebuilt(tmp_path, again, program(relu("fp32", name="other")))
    assert ([each.name for each in left.functions], left.defaultFunctionName) == (["other"], "other")


def test_the_only_function_is_the_default_one_under_its_new_name(tmp_path: Path) -> None:
    one = relu("tensor<fp32, [2]>")
    merged = program(one.replace("main", "second"), relu("fp32", name="first"))
    description, _, _ = rebuilt(tmp_path, original(tmp_path, program(one)), merged)
    assert ([each.name for each in description.functions], description.defaultFunctionName) == (
        ["second", "first"],
        "second",
    )


def test_a_model_that_describes_nothing_describes_nothing_or_all(tmp_path: Path) -> None:
    one = relu("tensor<fp32, [2]>")
    old = original(tmp_path, program(one))
    assert old.spec is not None
    old.spec.ClearField("description")
    old.spec.description.metadata.author = "kept"
    renamed = one.replace(" x", " z").replace("= x", "= z")
    same, _, made = rebuilt(tmp_path, old, program(renamed))
    assert [*same.input, *same.output] == []
    same, _, made = rebuilt(tmp_path, made, program(one))
    assert [*same.input, *same.output] == []
    description, _, _ = rebuilt(tmp_path, made, program(one.replace("-> (y)", "-> (y, x)")))
    names = [each.name for side in (description.input, description.output) for each in side]
    assert (names, description.metadata.author) == (["x", "y", "x"], "kept")
    several, _, _ = rebuilt(tmp_path, made, program(one, relu("fp32", name="other")))
    listed = {each.name: [entry.name for entry in (*each.input, *each.output)] for each in several.functions}
    assert (listed, several.defaultFunctionName) == ({"main": ["x", "y"], "other": ["x", "y"]}, "main")


def test_names_hold_where_only_types_change(tmp_path: Path) -> None:
    """The new type of one output is the old one of the other, and all else of the two is alike."""

    def text(x: int, a: int, b: int) -> str:
        cut = "            tensor<fp32, [{0}]> {1} = slice_by_size(begin = [0], size = [{0}], x = x);"
        operations = "\n".join((cut.format(a, "a"), cut.format(b, "b")))
        return program(function(f"tensor<fp32, [{x}]> x", "a, b", operations))

    old = original(tmp_path, text(9, 8, 4))
    assert old.spec is not None
    for entry in old.spec.description.output:
        entry.shortDescription = f"of {entry.name}"
    description, _, _ = rebuilt(tmp_path, old, text(13, 12, 8))
    said = {each.name: (each.shortDescription, [*each.type.multiArrayType.shape]) for each in description.output}
    assert said == {"a": ("of a", [12]), "b": ("of b", [8])}


def test_a_model_inside_a_pipeline(tmp_path: Path) -> None:
    pytest.importorskip("coremltools")
    old = open_model(package("pipeline"))
    inner = old.select("1")
    text = miltext.to_text(inner.program, elide=4).replace("= relu(", "= sigmoid(")
    warnings = build(text_model(text, tmp_path), tmp_path / "New.mlpackage", original=old, model="1")
    assert warnings == []
    made = open_model(tmp_path / "New.mlpackage")
    assert made.select(0).program == old.select(0).program
    assert "sigmoid" in miltext.to_text(made.select(1).program)
    assert_coremltools_opens(tmp_path / "New.mlpackage")
    renamed = text.replace(" middle", " between").replace("= middle", "= between")
    warnings = build(text_model(renamed, tmp_path), tmp_path / "Other.mlpackage", original=old, model="1")
    assert warnings == []
    one, two = open_model(tmp_path / "Other.mlpackage").models
    assert one.description is not None
    assert two.description is not None
    assert [each.name for each in (*one.description.output, *two.description.input)] == ["between", "between"]
    assert_coremltools_opens(tmp_path / "Other.mlpackage")
    with refused("MIL257", "a pipeline of 2 models"):
        build(text_model(text, tmp_path), tmp_path / "None.mlpackage", original=old)
    old.save(tmp_path / "Whole.mlpackage")
    assert_same_model(tmp_path / "Whole.mlpackage", package("pipeline"))


# ---- what the text leaves out


def weighted(folder: Path) -> tuple[Model, str]:
    text = program(
        function(
            "tensor<fp32, [3]> x",
            "y",
            "            tensor<fp32, [2, 2]> v = "
            "const()[val = tensor<fp32, [2, 2]>([[1, nan], [$0x7fa00001, -0.0]])];\n"
            '            list<string, 3> l = const()[val = list<string, 3>(["a", "b", "c"])];\n'
            "            list<tensor<int32, [3]>, 1> n = const()[val = list<tensor<int32, [3]>, 1>([[1, 2, 3]])];\n"
            "            tensor<fp32, [3]> y = relu(x = x);",
        )
    )
    return original(folder, text), miltext.to_text(miltext.parse(text), elide=2)


def test_elided_literals_are_filled_from_the_original(tmp_path: Path) -> None:
    old, text = weighted(tmp_path)
    assert text.count("$elided(") == 2
    made = rebuilt(tmp_path, old, text)[2]
    assert made.program.SerializeToString(deterministic=True) == old.program.SerializeToString(deterministic=True)


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        ('"sha256:', '"sha256:00', "MIL410"),
        ("tensor<fp32, [2, 2]>($elided", "tensor<fp32, [4]>($elided", "MIL411"),
        ("tensor<fp32, [2, 2]>($elided", "tensor<fp16, [2, 2]>($elided", "MIL411"),
    ],
)
def test_an_elided_literal_that_is_another_is_refused_by_name(
    before: str, after: str, code: str, tmp_path: Path
) -> None:
    old, text = weighted(tmp_path)
    with pytest.raises(ParseError, match=r"model\.mil:4:\d+: error\[" + code) as failure:
        rebuilt(tmp_path, old, text.replace(before, after, 1))
    assert "in the operation `const` that makes `v`" in str(failure.value)
    assert not (tmp_path / "New.mlpackage").exists()


def test_an_elided_literal_without_an_original(tmp_path: Path) -> None:
    _, text = weighted(tmp_path)
    with pytest.raises(ParseError, match="MIL107"):
        built(text, tmp_path)


def array_text(kind: str, shape: str, name: str = "w.npy", opset: str = "ios18") -> str:
    value = f"tensor<{kind}, {shape}>"
    made = f'            {value} w = const()[name = string("w"), val = {value}($npy("{name}"))];'
    return program(function("fp32 x", "x", made, opset))


ARRAYS = {
    "fp32": np.arange(12, dtype=np.float32).reshape(3, 4),
    "fp16": np.arange(12, dtype=np.float16).reshape(3, 4).T.copy().T,
    "bf16": np.arange(12, dtype=np.uint16).reshape(3, 4),
    "fp8e5m2": np.arange(12, dtype=np.uint8).reshape(3, 4),
    "int4": np.arange(-6, 6).reshape(3, 4),
    "uint3": np.arange(12).reshape(3, 4) % 8,
    "int8": np.arange(12, dtype=np.int8).reshape(3, 4),
    "int32": np.arange(12, dtype=np.int32).reshape(3, 4),
    "int64": np.arange(12).reshape(3, 4),
    "uint64": np.arange(12, dtype=np.uint64).reshape(3, 4) + np.uint64(1 << 63),
    "fp64": np.arange(12, dtype=np.float64).reshape(3, 4),
    "bool": np.arange(12).reshape(3, 4) % 2 == 0,
}


NARROW = {"int4", "uint3"}
"""Kinds that constants may have from ios18 on."""


@pytest.mark.parametrize(
    ("opset", "kind"),
    [*product(["ios17"], [kind for kind in ARRAYS if kind not in NARROW]), *product(["ios18"], ARRAYS)],
)
def test_an_array_becomes_a_value(kind: str, opset: str, tmp_path: Path) -> None:
    np.save(tmp_path / "w.npy", ARRAYS[kind])
    made = built(array_text(kind, "[3, 4]", opset=opset), tmp_path)
    (weight,) = made.weights.entries.values()
    stored = BY_NAME[kind].blob is not None and (kind != "int32" or opset == "ios18")
    assert (weight.blob is not None) == stored
    assert np.array_equal(made.weights["w"], ARRAYS[kind])
    assert np.array_equal(made.weights[weight.value], ARRAYS[kind])
    manifest = (tmp_path / "New.mlpackage" / "Manifest.json").read_text()
    assert ("weights" in manifest) == stored


@pytest.mark.parametrize(
    ("kind", "shape", "name", "code", "saying"),
    [
        ("fp32", "[4, 3]", "w.npy", "MIL412", "has the shape [3, 4], but the value has [4, 3]"),
        ("fp32", "[12]", "w.npy", "MIL412", "[3, 4]"),
        ("fp16", "[3, 4]", "w.npy", "MIL412", 'fp32, and the value has those of fp16; `fp16 $npy("w.npy")` converts'),
        ("int4", "[3, 4]", "large.npy", "MIL417", 'the element [2, 0] of `$npy("large.npy")` is 8, but int4 has'),
        ("string", "[3, 4]", "w.npy", "MIL412", "string"),
        ("fp32", "[3, 4]", "none.npy", "MIL413", "the file does not exist"),
        ("fp32", "[3, 4]", "../w.npy", "MIL413", "leads outside"),
        ("fp32", "[3, 4]", "text.npy", "MIL414", "does not begin like a .npy"),
        ("fp32", "[1]", "objects.npy", "MIL415", "pickled Python objects"),
        ("fp32", "[1]", "several.npz", "MIL414", "it is an archive"),
        ("fp32", "[1]", "hidden.npy", "MIL414", "it is an archive"),
        ("fp32", "[1]", "pointer.npy", "MIL414", "git lfs pull"),
        ("fp32", "[1]", "empty.npy", "MIL414", "it is empty"),
        ("fp32", "[1]", "cut.npy", "MIL414", "48 bytes of data (fp32, [3, 4]), but there are 47"),
        ("fp32", "[1]", "header.npy", "MIL414", "its header cannot be read"),
        ("fp32", "[1]", "huge.npy", "MIL414", "a shape that no array has"),
        ("fp32", "[1]", "negative.npy", "MIL414", "a shape that no array has"),
        ("fp32", "[1]", "folder.npy", "MIL413", "it is a folder"),
    ],
)
def test_an_array_that_does_not_fit_its_value(
    kind: str, shape: str, name: str, code: str, saying: str, tmp_path: Path
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for place in (tmp_path, folder):
        np.save(place / "w.npy", ARRAYS["fp32"])
    np.save(folder / "large.npy", np.arange(12).reshape(3, 4))
    np.save(folder / "objects.npy", np.array([{}], object), allow_pickle=True)
    (folder / "text.npy").write_text("no array")
    damage_arrays(folder)
    with pytest.raises(ParseError, match=r"model\.mil:4:\d+: error\[" + code) as failure:
        built(array_text(kind, shape, name), folder)
    assert saying in str(failure.value)
    assert "that makes `w`" in str(failure.value)


def damage_arrays(folder: Path) -> None:
    """Write what is no array beside `w.npy`, though it is called one."""
    np.savez(folder / "several.npz", w=ARRAYS["fp32"])
    shutil.copy(folder / "several.npz", folder / "hidden.npy")
    (folder / "folder.npy").mkdir()
    whole, shape = (folder / "w.npy").read_bytes(), b"(3, 4), }"
    (folder / "pointer.npy").write_bytes(LFS)
    (folder / "empty.npy").write_bytes(b"")
    (folder / "cut.npy").write_bytes(whole[:-1])
    (folder / "header.npy").write_bytes(whole.replace(b"'shape'", b"'shape("))
    (folder / "huge.npy").write_bytes(whole.replace(shape + b" " * 20, b"(99999999999999999999,), }" + b" " * 3))
    (folder / "negative.npy").write_bytes(whole.replace(shape, b"(3,-4), }"))


def test_new_records_are_behind_the_old_and_each_once(tmp_path: Path) -> None:
    array = np.arange(4, dtype=np.float16)
    np.save(tmp_path / "w.npy", array)
    old = open_model(EXAMPLE)
    text = miltext.to_text(old.program)
    twice = "".join(
        f'            tensor<fp16, [4]> w{n} = const()[val = tensor<fp16, [4]>($npy("w.npy"))];\n' for n in range(2)
    )
    made = rebuilt(tmp_path, old, text.replace("        } ->", f"{twice}        }} ->"))[2]
    before, after = EXAMPLE / DATA / "weights/weight.bin", tmp_path / "New.mlpackage" / DATA / "weights/weight.bin"
    size = before.stat().st_size
    assert after.read_bytes()[8:size] == before.read_bytes()[8:]
    with BlobFile(after) as file:
        assert [blob.dtype.name for blob in file] == ["fp16"] * 3
    for name in ("w0", "w1"):
        assert np.array_equal(made.weights[name], array)


# ---- immediates and weight files


def test_weights_into_the_text_and_out_again(tmp_path: Path) -> None:
    from miltext.weight_files.model_weights import BlobFolder
    from miltext.weight_files.printing import inline_weights

    old = load(EXAMPLE)
    whole = inline_weights(old.program, BlobFolder(old.model_path))
    some = inline_weights(old.program, BlobFolder(old.model_path), 100)
    assert [miltext.to_text(each).count("BLOBFILE") for each in (old.program, some, whole)] == [2, 1, 0]
    text = miltext.to_text(whole)
    for externalize, count in ((None, 0), (10, 2), (100, 1), (3, 4), (0, 4)):
        made = built(text, tmp_path, externalize=externalize)
        assert miltext.to_text(made.program).count("BLOBFILE") == count, externalize
        for name, array in old.weights.items():
            assert np.array_equal(made.weights[name], array)
    assert "strides" in miltext.to_text(made.program)


def test_the_bytes_of_values_are_kept() -> None:
    for name, array in ARRAYS.items():
        dtype = BY_NAME[name]
        data = pack(array, dtype)
        value = miltext.parse(
            program(function("fp32 x", "x")).replace("(1.3)", f"(1.3) [a = tensor<{name}, [3, 4]>($empty)]")
        )
        held = value.attributes["a"]
        held.immediateValue.tensor.CopyFrom(Literal(dtype, (3, 4), data).message())
        found = literal(held)
        assert found is not None
        assert (found.dtype, found.shape, found.data) == (dtype, (3, 4), data)
        assert miltext.parse(miltext.to_text(value)) == value
    for text in (
        'string("a")',
        "tensor<int8, [1]>($ints([1]))",
        "int16($ints([70000]))",
        "tensor<fp32, [2]>($floats([1]))",
    ):
        held = miltext.parse(f"program(1.3) [a = {text}] {{ }}").attributes["a"]
        assert literal(held) is None


def test_annotations_report_the_contents_of_a_weight_file() -> None:
    from miltext.weight_files.model_weights import BlobFolder

    model = load(EXAMPLE)
    lines = "".join(annotated_pieces(model.program, BlobFolder(model.model_path))).splitlines()
    plain = miltext.to_text(model.program).splitlines()
    notes = [line.removeprefix(before) for line, before in zip(lines, plain, strict=True)]
    array = model.weights["scores_weight_0_to_fp16"]
    digest = model.weights.digest(model.weights.entries["scores_weight_0_to_fp16"])
    assert [bool(note) for note in notes] == ["BLOBFILE" in line for line in plain]
    (note,) = [note for note, line in zip(notes, plain, strict=True) if " scores_weight_0_to_fp16 = const" in line]
    mean = float(array.astype(np.float64).mean())
    expected = f"fp16 sha256:{digest}, min {array.min():.6g}, max {array.max():.6g}, mean {mean:.6g}"
    assert note == f"  // offset 256: {expected}"
    assert miltext.parse("\n".join(lines)) == model.program


# ---- bundles


def test_a_bundle_without_a_program_shows_its_kind(tmp_path: Path) -> None:
    with refused("MIL423", "`neuralNetwork`"):
        build(open_model(write_pipeline_bundle(tmp_path / "P.mlmodelc")), tmp_path / "New.mlpackage")
    folder = tmp_path / "N.mlmodelc"
    folder.mkdir()
    (folder / "model.espresso.net").write_bytes(b"{}")
    with refused("MIL254", "`neuralNetwork`"):
        build(open_model(folder), tmp_path / "New.mlpackage")


def test_a_compiled_pipeline_is_turned_back_whole(tmp_path: Path) -> None:
    folder = write_pipeline_bundle(tmp_path / "P.mlmodelc")
    shutil.rmtree(folder / "model0")
    write_bundle(folder / "model0", weighted_bundle_text())
    (folder / "model0" / "weights").mkdir()
    from miltext.weight_files.blob_storage import BlobWriter

    with BlobWriter(folder / "model0" / "weights" / "weight.bin") as writer:
        writer.add(BY_NAME["fp16"], np.arange(4, dtype=np.float16))
    build(open_model(folder), tmp_path / "New.mlpackage")
    made = open_model(tmp_path / "New.mlpackage")
    assert [(model.pipeline_name, model.type) for model in made.models] == [
        ("prepare", "mlProgram"),
        ("net", "mlProgram"),
        ("", "mlProgram"),
    ]
    assert made.select(0).weights["w"].tolist() == [[0, 1, 2, 3]]
    assert "gelu" in miltext.to_text(made.select(2).program)
    assert (tmp_path / "New.mlpackage" / DATA / "weights" / "0-weight.bin").exists()
    text = miltext.to_text(open_model(folder).select(0).program).replace("add(", "mul(")
    build(text_model(text, tmp_path), tmp_path / "Edited.mlpackage", original=open_model(folder), model=0)
    edited = open_model(tmp_path / "Edited.mlpackage").select(0)
    assert ("mul(" in miltext.to_text(edited.program), edited.weights["w"].tolist()) == (True, [[0, 1, 2, 3]])


def weighted_bundle_text() -> str:
    kind = "tensor<fp16, [1, 4]>"
    blob = f'{kind}(BLOBFILE(path = string("@model_path/weights/weight.bin"), offset = uint64(64)))'
    operations = f"            {kind} w = const()[val = {blob}];\n            {kind} y = add(x = x, y = w);"
    return program(function(f"{kind} x", "y", operations))


def test_bundle_that_lost_description_gets_one_from_types(tmp_path: Path) -> None:
    folder = write_bundle(tmp_path / "C.mlmodelc")
    (folder / "coremldata.bin").unlink()
    build(open_model(folder), tmp_path / "New.mlpackage")
    made = load(tmp_path / "New.mlpackage")
    assert made.description is not None
    assert [each.name for each in made.description.input] == ["x"]
    assert made.specification_version == 9


def test_saving_changes_made_in_memory(tmp_path: Path) -> None:
    model = load(EXAMPLE)
    block = model.program.functions["main"].block_specializations["CoreML6"]
    block.outputs.append("lit_cast_fp16")
    model.save(tmp_path / "New.mlpackage")
    made = load(tmp_path / "New.mlpackage")
    assert made.description is not None
    assert [each.name for each in made.description.output] == ["classLabel", "classLabel_probs", "lit_cast_fp16"]
    text = load(text_model(program(relu("fp32")), tmp_path).path or "")
    text.program.functions["main"].opset = "CoreML7"
    text.program.functions["main"].block_specializations["CoreML7"].outputs.append("y")
    with pytest.raises(MiltextError, match="MIL422"):  # what makes it is in the block of another opset
        text.save(tmp_path / "Text.mlpackage")


def test_an_mlmodel_has_its_weights_beside_it(tmp_path: Path) -> None:
    model = load(EXAMPLE)
    out = tmp_path / "out" / "Model.mlmodel"
    model.save(out)
    made = load(out)
    assert (made.kind, made.program) == ("mlmodel", model.program)
    assert np.array_equal(made.weights["scores_weight_0_to_fp16"], model.weights["scores_weight_0_to_fp16"])
    made.save(out, force=True)
    made.save(tmp_path / "Back.mlpackage")
    assert_same_model(tmp_path / "Back.mlpackage", EXAMPLE)
    out.with_name("weights").rename(tmp_path / "moved")
    warnings = load(out).save(tmp_path / "Bare.mlpackage")
    assert [each.code for each in warnings] == ["MIL451"]
    text = miltext.to_text(model.program).replace("weights/weight.bin", "weights/typo.bin")
    with pytest.raises(MiltextError, match=r"MIL302.*typo\.bin"):
        build(text_model(text, tmp_path), tmp_path / "Typo.mlpackage", original=load(out))
