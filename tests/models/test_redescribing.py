"""A description put around the program that is built: what fits, what does not, and where that stands."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.containers import NEURAL_NETWORK, pipeline, spec, suppression, write

import miltext
from miltext.containers.opening import open_model
from miltext.diagnostics import ModelError, line_and_column
from miltext.schema.proto import ImageFeatureType, Model

PROGRAM = """program(1.3)
{
    func main<ios18>(tensor<fp32, [1, 3, ?, 8]> image, tensor<fp16, [2]> x, tensor<int32, []> n) {
            tensor<fp32, [1, 3, ?, 8]> y = relu(x = image)[name = string("y")];
            tensor<fp16, [2]> z = tanh(x = x)[name = string("z")];
            tensor<int32, []> m = add(x = n, y = n)[name = string("m")];
        } -> (y, z, m);
}
"""

FITTING = """
[[input]]
name = "image"
type = "image"
colorSpace = "RGB"
width = 8
height = 4
widthRange = [8, 8]
heightRange = [1, 64]

[[input]]
name = "x"
isOptional = true
type = "multiArray"
dataType = "fp16"
shape = [2]
default = 0.5

[[input]]
name = "n"
type = "multiArray"
dataType = "int32"
shape = [1]

[[output]]
name = "y"
type = "multiArray"
dataType = "fp32"

[[output]]
name = "z"
type = "multiArray"
dataType = "fp16"
shape = [2]

[[output]]
name = "m"
type = "multiArray"
dataType = "int32"
"""

CLASSIFIER = """program(1.3)
{
    func main<ios18>(tensor<fp32, [3]> x) {
            list<string, 3> classes = const()[name = string("classes"), val = list<string, 3>(["a", "b", "c"])];
            string label, dict<string, fp64> scores = classify(classes = classes, probabilities = x);
        } -> (label, scores);
}
"""


def built(folder: Path, program: str, description: str, **choices: object) -> miltext.Model:
    """The package that a text and a description make."""
    write(folder / "m.mil", program.encode())
    write(folder / "d.toml", description.encode())
    made = folder / "N.mlpackage"
    warnings = miltext.build(open_model(folder / "m.mil"), made, description=folder / "d.toml", **choices)  # type: ignore[arg-type]
    assert warnings == []
    return open_model(made)


def refused(folder: Path, program: str, description: str) -> list[tuple[str, str, str]]:
    """The code, the line and the message of each mistake."""
    with pytest.raises(ModelError) as error:
        built(folder, program, description)
    assert error.value.path == str(folder / "d.toml")
    assert not (folder / "N.mlpackage").exists()
    found = []
    for each in error.value.diagnostics:
        assert each.span is not None
        line = str(line_and_column(description, each.span.start)[0])
        found.append((each.code, line, each.message))
    return found


def test_a_text_and_a_description_make_a_model(tmp_path: Path) -> None:
    model = built(tmp_path, PROGRAM, FITTING)
    assert model.specification_version == 9
    assert model.description is not None
    image = model.description.input[0].type.imageType
    assert (image.colorSpace, image.width, image.height) == (ImageFeatureType.RGB, 8, 4)
    assert miltext.describe(model).endswith(FITTING)
    assert miltext.describe(model) == model.description_text == miltext.describe(tmp_path / "N.mlpackage")


CHANGES = {
    # what is there
    ('name = "image"', 'name = "img"'): [
        ("MIL476", "3", "`main` has no input `img`"),
        ("MIL476", "19", 'the input `image` of `main` is not described: add a `[[input]]` with name = "image"'),
    ],
    ('name = "z"', 'name = "y"'): [
        ("MIL476", "31", "the output `y` is described twice"),
        ("MIL476", "36", "the output `z` of `main` is not described"),
    ],
    ('[[output]]\nname = "z"', '[[state]]\nname = "z"'): [
        ("MIL476", "31", "`main` has no state `z`"),
        ("MIL476", "36", "the output `z` of `main` is not described"),
    ],
    ("\n[[input]]", '\npredictedFeatureName = "yy"\n[[input]]'): [
        ("MIL476", "2", "`predictedFeatureName` names no output of `main`: `yy`")
    ],
    ("\n[[input]]", '\ndefaultFunctionName = "main"\n[[model]]\n[[input]]'): [
        ("MIL476", "3", "the model has 0 stages, and the description 1 `[[model]]`")
    ],
    ("\n[[input]]", '\n[[function]]\nname = "mein"\n[[input]]'): [
        ("MIL476", "3", "the program has no function `mein`; did you mean `main`?"),
        ("MIL476", "2", "the function `main` of the program is not described"),
        ("MIL475", "4", "a `[[input]]` is beside a `[[function]]`: write it as `[[function.input]]` below"),
        ("MIL475", "27", "a `[[output]]` is beside a `[[function]]`"),
        ("MIL475", "2", "lists functions, and does not name the default one: add `defaultFunctionName`"),
    ],
    # kinds and data types
    ('type = "image"\ncolorSpace = "RGB"\nwidth = 8\nheight = 4\nwidthRange = [8, 8]\nheightRange = [1, 64]', ""): [
        ("MIL477", "2", "`image`, which is tensor<fp32, [1, 3, ?, 8]> in the program, has no `type`: write"),
    ],
    ('name = "m"\ntype = "multiArray"\ndataType = "int32"', 'name = "m"\ntype = "int64"'): [
        ("MIL477", "38", '`m`, which is int32 in the program, cannot be of the type "int64": write "multiArray"'),
    ],
    ('name = "z"\ntype = "multiArray"\ndataType = "fp16"', 'name = "z"\ntype = "multiArray"\ndataType = "fp32"'): [
        ("MIL477", "33", 'has the `dataType` "fp16", not "fp32"'),
    ],
    # keys that are needed
    ('colorSpace = "RGB"\n', ""): [("MIL477", "4", "needs `colorSpace` to be an image")],
    ("width = 8\nheight = 4\nwidthRange = [8, 8]\nheightRange = [1, 64]", ""): [
        ("MIL477", "4", "needs `width` and `height` to be an image")
    ],
    ("widthRange = [8, 8]\n", ""): [("MIL477", "4", "needs `widthRange` to be an image")],
    ("shape = [2]\ndefault", "default"): [("MIL477", "14", "needs a `shape`")],
    # sizes
    ("width = 8", "width = 9"): [
        ("MIL477", "8", "has the size 9, which its range leaves out: widen the range, which is [8, 8]")
    ],
    ('"RGB"', '"GRAYSCALE"'): [("MIL477", "6", "cannot be [1, 1, 4, 8]")],
    ("widthRange = [8, 8]", "widthRange = [1, 8]"): [("MIL477", "8", "has only the size 8 in the dimension 3")],
    ("heightRange = [1, 64]", "heightRange = [5, 64]"): [
        ("MIL477", "9", "has the size 4, which its range leaves out: widen the range, which is [5, 64]")
    ],
    ("widthRange = [8, 8]\nheightRange = [1, 64]", "enumeratedSizes = [[8, 4], [7, 4]]"): [
        ("MIL477", "8", "cannot be [1, 3, 4, 7]")
    ],
    ("shape = [2]\ndefault", "shape = [2, 1]\ndefault"): [("MIL477", "16", "cannot be [2, 1]")],
    ("shape = [2]\ndefault", "shape = [2]\nshapeRange = [[2, 2], [1, 1]]\ndefault"): [
        ("MIL477", "17", "has 1 dimensions, and the ranges are 2")
    ],
    # sizes without an end
    ("heightRange = [1, 64]", "heightRange = [4, inf]"): [
        ("MIL452", "9", "has no greatest size in the dimension 2: write one, as in `[4, 16]`")
    ],
    ("widthRange = [8, 8]\nheightRange = [1, 64]", ""): [
        ("MIL452", "2", "may be of any size in the dimension 2: add `widthRange` and `heightRange`, each with a least")
    ],
    (
        'type = "image"\ncolorSpace = "RGB"\nwidth = 8\nheight = 4\nwidthRange = [8, 8]\nheightRange = [1, 64]',
        'type = "multiArray"\ndataType = "fp32"\nshape = [1, 3, 4, 8]\nshapeRange = [[1, 1], [3, 3], [1, inf], [8, 8]]',
    ): [("MIL452", "7", "has no greatest size in the dimension 2")],
    (
        'type = "image"\ncolorSpace = "RGB"\nwidth = 8\nheight = 4\nwidthRange = [8, 8]\nheightRange = [1, 64]',
        'type = "multiArray"\ndataType = "fp32"\nshape = [1, 3, 4, 8]',
    ): [("MIL452", "2", "may be of any size in the dimension 2: add a `shapeRange`")],
    # the version
    ("\n[[input]]", "\nspecificationVersion = 8\n[[input]]"): [
        ("MIL478", "2", "`specificationVersion` is 8, but the model needs 9: write 9, or nothing")
    ],
    ("\n[[input]]", "\nclassLabels = ['a']\n[[input]]"): [
        ("MIL479", "2", "`classLabels` has labels, but the program has no `classify`")
    ],
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_mismatch_is_at_its_line(change: tuple[str, str], tmp_path: Path) -> None:
    before, after = change
    assert before in FITTING
    found = refused(tmp_path, PROGRAM, FITTING.replace(before, after, 1))
    wanted = CHANGES[change]
    assert [(code, line) for code, line, _ in found] == [(code, line) for code, line, _ in wanted], found
    for (_, _, message), (_, _, said) in zip(found, wanted, strict=True):
        assert said in message


# ---- the specification version


@pytest.mark.parametrize(
    ("said", "version"), [("", 9), ("specificationVersion = 9\n", 9), ("specificationVersion = 10\n", 10)]
)
def test_the_version_is_as_stated_or_the_least_possible(said: str, version: int, tmp_path: Path) -> None:
    assert built(tmp_path, PROGRAM, said + FITTING).specification_version == version


def test_a_colour_space_of_a_later_version_raises_it(tmp_path: Path) -> None:
    program = PROGRAM.replace("[1, 3, ?, 8]", "[1, 1, 4, 8]").replace("ios18", "ios15").replace("fp16", "fp32")
    sizes = "\nwidthRange = [8, 8]\nheightRange = [1, 64]"
    description = FITTING.replace(sizes, "").replace("fp16", "fp32")
    gray = built(tmp_path, program, description.replace("RGB", "GRAYSCALE"))
    assert gray.specification_version == 6
    (tmp_path / "second").mkdir()
    floats = built(tmp_path / "second", program, description.replace("RGB", "GRAYSCALE_FLOAT16"))
    assert floats.specification_version == 7


def test_an_unknown_opset_has_no_least_version(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="MIL421"):
        built(tmp_path, PROGRAM.replace("ios18", "ios99"), FITTING)


# ---- labels


def labelled(labels: str) -> str:
    outputs = '[[output]]\nname = "label"\ntype = "string"\n[[output]]\nname = "scores"\ntype = "dictionary"\n'
    entry = '[[input]]\nname = "x"\ntype = "multiArray"\ndataType = "fp32"\nshape = [3]\n'
    names = 'predictedFeatureName = "label"\npredictedProbabilitiesName = "scores"\n'
    return f'{names}{labels}\n{entry}{outputs}keyType = "string"\n'


def test_labels_match_the_program(tmp_path: Path) -> None:
    model = built(tmp_path, CLASSIFIER, labelled(""))
    assert 'classLabels = ["a", "b", "c"]\n' in miltext.describe(model)
    again = built_again(tmp_path, model, lambda text: text)
    assert again.program == model.program


def built_again(folder: Path, model: miltext.Model, edit: object) -> miltext.Model:
    """The package that a model and its edited description make."""
    write(folder / "again.toml", edit(miltext.describe(model)).encode())  # type: ignore[operator]
    made = folder / f"{len(list(folder.iterdir()))}.mlpackage"
    assert miltext.build(model, made, description=folder / "again.toml") == []
    return open_model(made)


FORMS = {
    "list": CLASSIFIER,
    "tensor": CLASSIFIER.replace("list<string, 3>", "tensor<string, [3]>"),
    "immediate": "\n".join(line for line in CLASSIFIER.split("\n") if "const" not in line).replace(
        "classes = classes", 'classes = list<string, 3>(["a", "b", "c"])'
    ),
    "unknown count": CLASSIFIER.replace("tensor<fp32, [3]> x", "tensor<fp32, [?]> x"),
}


@pytest.mark.parametrize("form", FORMS)
def test_other_labels_are_put_into_the_program(form: str, tmp_path: Path) -> None:
    text = FORMS[form]
    count = '["x", "y", "z", "\\u0000"]' if form == "unknown count" else '["x", "y", "\\u0000"]'
    described = labelled(f"classLabels = {count}")
    if form == "unknown count":
        described = described.replace("shape = [3]", "shape = [3]\nshapeRange = [[1, 9]]")
    model = built(tmp_path, text, described, check=form != "tensor")
    assert f"classLabels = {count}\n" in miltext.describe(model)
    wanted = text.replace('"a", "b", "c"', '"x", "y", "z", "\\u{0}"' if "z" in count else '"x", "y", "\\u{0}"')
    wanted = wanted.replace("list<string, 3>", "list<string, 4>") if "z" in count else wanted
    assert miltext.parse(wanted) == model.program


def test_labels_may_be_numbers(tmp_path: Path) -> None:
    text = CLASSIFIER.replace('"a", "b", "c"', "1, 2, 3").replace("string, 3", "int64, 3").replace("string,", "int64,")
    text = text.replace("string label", "int64 label")
    description = labelled(f"classLabels = [{-(2**63)}, 0, {2**63 - 1}]").replace('"string"', '"int64"')
    model = built(tmp_path, text, description)
    assert f"classLabels = [{-(2**63)}, 0, {2**63 - 1}]" in miltext.describe(model)


def test_numbers_do_not_become_strings(tmp_path: Path) -> None:
    text = CLASSIFIER.replace('"a", "b", "c"', "1, 2, 3").replace("string, 3", "int64, 3").replace("string,", "int64,")
    text = text.replace("string label", "int64 label")
    description = labelled('classLabels = ["1", "2", "3"]').replace('"string"', '"int64"')
    [(code, _, message)] = refused(tmp_path, text, description)
    assert (code, message) == ("MIL479", "`classLabels` takes whole numbers, as the program's labels are")


REFUSED = {
    '["x", "y"]': "has 2 labels, and the program computes 3 probabilities",
    "[]": "has 0 labels",
    "[1, 2, 3]": "takes strings, as the program's labels are",
}


@pytest.mark.parametrize("labels", REFUSED)
def test_labels_that_the_program_cannot_have(labels: str, tmp_path: Path) -> None:
    [(code, line, message)] = refused(tmp_path, CLASSIFIER, labelled(f"classLabels = {labels}"))
    assert (code, line) == ("MIL479", "3")
    assert REFUSED[labels] in message


# ---- functions, states, pipelines

FUNCTIONS = """program(1.3)
{
    func first<ios18>(tensor<fp32, [2]> x, state<tensor<fp16, [4]>> s) {
            tensor<fp32, [2]> y = relu(x = x)[name = string("y")];
        } -> (y);
    func second<ios18>(tensor<fp32, [2]> x) {
            tensor<fp32, [2]> y = tanh(x = x)[name = string("y")];
        } -> (y);
}
"""


def test_functions_are_described_one_by_one(tmp_path: Path) -> None:
    write(tmp_path / "f.mil", FUNCTIONS.encode())
    text = miltext.describe(tmp_path / "f.mil")
    assert text.count("[[function]]") == 2
    assert '[[function.state]]\nname = "s"\ntype = "state"\ndataType = "fp16"\nshape = [4]\n' in text
    model = built(tmp_path, FUNCTIONS, text)
    assert miltext.describe(model) == text
    changes = {
        'name = "second"': ('name = "secnd"', "the program has no function `secnd`; did you mean `second`?"),
        "shape = [4]": ("shape = [5]", "`s`, which is state<tensor<fp16, [4]>> in the program, cannot be [5]"),
        'type = "state"\ndataType = "fp16"\nshape = [4]': ('type = "string"', 'cannot be of the type "string"'),
        'defaultFunctionName = "first"': (
            'defaultFunctionName = "frist"',
            "there is no function `frist`; did you mean",
        ),
        "specificationVersion = 9": ("specificationVersion = 8", "needs 9"),
    }
    (tmp_path / "N.mlpackage").rename(tmp_path / "M.mlpackage")
    for before, (after, said) in changes.items():
        assert before in text
        assert said in refused(tmp_path, FUNCTIONS, text.replace(before, after, 1))[0][2]


def test_a_program_of_several_functions_needs_each_described(tmp_path: Path) -> None:
    [(code, line, message)] = refused(tmp_path, FUNCTIONS, FITTING)
    assert (code, line) == ("MIL476", "2")
    assert "the program has 2 functions: write a `[[function]]` for each of `first`, `second`" in message


def test_stage_may_be_another_program_under_another_description(tmp_path: Path) -> None:
    stage = Model(specificationVersion=9, mlProgram=miltext.parse(PROGRAM))
    whole = pipeline(stage, suppression(), names=("net", "nms"))
    write(tmp_path / "P.mlmodel", whole.SerializeToString())
    stage_text = FITTING.replace("[[", "[[model.")
    stages = (
        f'[[model]]\nname = "net"\nkind = "mlProgram"\n{stage_text}[[model]]\nname = "nms"\nspecificationVersion = 5\n'
    )
    original = open_model(tmp_path / "P.mlmodel")
    model = built(tmp_path, PROGRAM.replace("relu", "tanh"), f"[metadata]\n{stages}", original=original, model=0)
    assert [each.specification_version for each in (model, *model.models)] == [9, 9, 5]
    assert miltext.describe(model).count("[[model.input]]") == 3
    (tmp_path / "N.mlpackage").rename(tmp_path / "M.mlpackage")
    with pytest.raises(ModelError, match=r"d.toml:\d+:\d+: error\[MIL477\]"):
        built(tmp_path, PROGRAM, f"[metadata]\n{stages.replace('fp16', 'fp32')}", original=original, model=0)


# ---- what is left as it is


def test_an_unchanged_description_that_fits_badly_is_kept(tmp_path: Path) -> None:
    odd = spec()  # its program has no input, its description one
    write(tmp_path / "M.mlmodel", odd.SerializeToString())
    write(tmp_path / "d.toml", miltext.describe(tmp_path / "M.mlmodel").encode())
    miltext.build(open_model(tmp_path / "M.mlmodel"), tmp_path / "N.mlmodel", description=tmp_path / "d.toml")
    assert open_model(tmp_path / "N.mlmodel").spec == odd
    as_it_was = (tmp_path / "d.toml").read_bytes()
    write(tmp_path / "d.toml", as_it_was + b"[metadata]\nauthor = 'me'\n")
    miltext.build(open_model(tmp_path / "M.mlmodel"), tmp_path / "O.mlmodel", description=tmp_path / "d.toml")
    odd.description.metadata.author = "me"
    assert open_model(tmp_path / "O.mlmodel").spec == odd
    write(tmp_path / "d.toml", as_it_was.replace(b'"x"', b'"z"'))
    with pytest.raises(ModelError, match="`main` has no input `z`"):
        miltext.build(open_model(tmp_path / "M.mlmodel"), tmp_path / "P.mlmodel", description=tmp_path / "d.toml")


KINDS = {
    "a network": Model.FromString(NEURAL_NETWORK),
    "suppression": suppression(),
    "an empty pipeline": pipeline(),
    "a classifier of one stage": pipeline(spec(), names=("a",), field="pipelineClassifier"),
    "no description": Model(specificationVersion=9, mlProgram=spec().mlProgram),
    "an empty program": Model(specificationVersion=9, mlProgram=miltext.parse("program(1.3) { }")),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_of_any_kind_is_described_and_kept(kind: str, tmp_path: Path) -> None:
    data = KINDS[kind].SerializeToString(deterministic=True)
    model = open_model(write(tmp_path / "M.mlmodel", data))
    write(tmp_path / "d.toml", model.description_text.encode())
    assert miltext.build(model, tmp_path / "N.mlmodel", description=tmp_path / "d.toml", check=False) == []
    assert (tmp_path / "N.mlmodel").read_bytes() == data


def test_a_network_may_have_another_author(tmp_path: Path) -> None:
    model = open_model(write(tmp_path / "M.mlmodel", NEURAL_NETWORK))
    write(tmp_path / "d.toml", f'{model.description_text}[metadata]\nauthor = "me"\n'.encode())
    miltext.build(model, tmp_path / "N.mlmodel", description=tmp_path / "d.toml")
    made = open_model(tmp_path / "N.mlmodel")
    assert (made.type, made.specification_version) == ("neuralNetwork", 4)
    assert made.metadata is not None
    assert made.metadata.author == "me"


def test_a_description_inside_a_replaced_model_is_kept(tmp_path: Path) -> None:
    built(tmp_path, PROGRAM, FITTING)
    inside = write(tmp_path / "N.mlpackage" / "d.toml", FITTING.encode())
    source = open_model(tmp_path / "m.mil")
    with pytest.raises(ModelError, match="MIL402"):
        miltext.build(source, tmp_path / "N.mlpackage", description=inside, force=True)
    assert inside.read_text(encoding="utf-8") == FITTING
    package = open_model(tmp_path / "N.mlpackage")
    miltext.build(package, tmp_path / "N.mlpackage", description=inside, force=True)
    assert inside.read_text(encoding="utf-8") == FITTING


# ---- in Python


def test_paths_are_taken_and_whole_pipelines_opened(tmp_path: Path) -> None:
    package = built(tmp_path, PROGRAM, FITTING).path
    miltext.build(str(package), tmp_path / "A.mlpackage", description=tmp_path / "d.toml")
    miltext.build(tmp_path / "m.mil", tmp_path / "B.mlpackage", original=str(package))
    assert open_model(tmp_path / "A.mlpackage").spec == open_model(tmp_path / "B.mlpackage").spec
    data = pipeline(spec(), suppression()).SerializeToString(deterministic=True)
    whole = miltext.open_model(write(tmp_path / "P.mlmodel", data))
    toml = write(tmp_path / "p.toml", whole.description_text.encode())
    miltext.build(whole, tmp_path / "Q.mlmodel", description=toml, check=False)
    assert (tmp_path / "Q.mlmodel").read_bytes() == data


UNREAD = {"model.toml": "", "-": "", FITTING: "this is the text of a description, not the name of its file"}


@pytest.mark.parametrize("given", UNREAD)
def test_a_description_that_cannot_be_read_has_a_way_out(given: str, tmp_path: Path) -> None:
    write(tmp_path / "m.mil", PROGRAM.encode())
    path = given if "\n" in given else str(tmp_path / given)
    with pytest.raises(ModelError, match="MIL250") as error:
        miltext.build(tmp_path / "m.mil", tmp_path / "N.mlpackage", description=path)
    [found] = error.value.diagnostics
    assert UNREAD[given] in found.message
    assert [note.message for note in found.notes] == [
        "name a file in TOML, as `miltext describe MODEL -o model.toml` writes it; it is not read from standard input"
    ]


def test_a_description_is_not_bytes(tmp_path: Path) -> None:
    write(tmp_path / "m.mil", PROGRAM.encode())
    with pytest.raises(TypeError, match="bytes"):
        miltext.build(tmp_path / "m.mil", tmp_path / "N.mlpackage", description=b"d.toml")  # type: ignore[arg-type]
