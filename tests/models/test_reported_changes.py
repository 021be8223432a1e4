"""What a build tells of a description: each entry that changed, was added, dropped or renamed, with what it is now."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.containers import pipeline, refused, write_package
from support.entries import array, built, image, model, named, text
from support.running import RUNNER

import miltext
from miltext.building.build import prepare
from miltext.building.choices import BuildChoices
from miltext.cli import command
from miltext.containers.opening import load, open_model
from miltext.containers.programs import TextModel
from miltext.containers.spec import SpecModel
from miltext.descriptions.program_descriptions import describe

SMALL, LARGE = "tensor<fp32, [1, 3, 8, 8]>", "tensor<fp32, [1, 3, 16, 16]>"
GROWN = "width 8 -> 16, height 8 -> 16"


def function(inputs: str, body: str, outputs: str, name: str = "main") -> str:
    return f"func {name}<ios18>({inputs}) {{ {body} }} -> ({outputs});"


def program(*functions: str) -> str:
    return f"program(1.3) {{ {' '.join(functions)} }}"


def grown(source: str) -> str:
    return source.replace("8, 8]", "16, 16]")


def pictures(*names: str) -> str:
    """Two inputs, each used by an operation of its own."""
    a, b = names
    body = f"{SMALL} p = relu(x = {a}); {SMALL} q = tanh(x = {b}); {SMALL} y = add(x = p, y = q);"
    return program(function(f"{SMALL} {a}, {SMALL} {b}", body, "y"))


def colored(source: str, **colors: str) -> SpecModel:
    """A model of this program with images among its inputs and outputs."""
    return model(source, *[named(image(each, 8, 8), name) for name, each in colors.items()])


Y = "~ output y: shape [1, 3, 8, 8] -> [1, 3, 16, 16]"

TOLD = {
    "nothing": (pictures("a", "b"), []),
    "renamed": (pictures("u", "b"), ["= input a -> u"]),
    "renamed and grown": (
        grown(pictures("u", "b")),
        ["= input a -> u", f"~ input u: {GROWN}", f"~ input b: {GROWN}", Y],
    ),
    "exchanged": (pictures("b", "a"), ["= input a -> b", "= input b -> a"]),
    "exchanged and grown": (
        grown(pictures("b", "a")),
        ["= input a -> b", f"~ input b: {GROWN}", "= input b -> a", f"~ input a: {GROWN}", Y],
    ),
    "both with new names, in the other order": (
        grown(pictures("u", "v").replace(f"{SMALL} u, {SMALL} v", f"{SMALL} v, {SMALL} u")),
        ["= input a -> u", f"~ input u: {GROWN}", "= input b -> v", f"~ input v: {GROWN}", Y],
    ),
    "another output": (pictures("a", "b").replace("(y)", "(y, p)"), ["+ output p: fp32 [1, 3, 8, 8]"]),
    "an output less, one more": (
        pictures("a", "b").replace("(y)", "(q)"),
        ["- output y: fp32 [1, 3, 8, 8]", "+ output q: fp32 [1, 3, 8, 8]"],
    ),
    "an input less": (
        pictures("a", "b").replace(f"{SMALL} a, ", "").replace("(x = a)", "(x = b)"),
        ['- input a: image RGB, width 8, height 8, description "what x is"'],
    ),
    "an input more": (
        pictures("a", "b").replace(f"{SMALL} a,", f"{SMALL} a, tensor<fp16, [2]> n,"),
        ["+ input n: fp16 [2]"],
    ),
    "a newer opset": (pictures("a", "b").replace("ios18", "ios19"), ["~ specification: 9 -> 10"]),
}


@pytest.mark.parametrize("case", TOLD)
def test_each_entry_is_reported(case: str) -> None:
    source, told = TOLD[case]
    made = built(source, colored(pictures("a", "b"), a="RGB", b="BGR"))
    assert made.changes == told
    colors = {entry.name: entry.type.imageType.colorSpace for entry in made.spec.description.input}
    assert 0 not in (color for name, color in colors.items() if name != "n")


def test_an_input_that_is_an_output() -> None:
    def source(name: str) -> str:
        return program(function(f"{SMALL} {name}", f"{SMALL} y = relu(x = {name});", f"y, {name}"))

    old = colored(source("a"), a="RGB")
    assert built(source("b"), old).changes == ["= input a -> b", "= output a -> b"]
    assert built(grown(source("b")), old).changes == [
        "= input a -> b",
        f"~ input b: {GROWN}",
        Y,
        "= output a -> b",
        f"~ output b: {GROWN}",
    ]


def test_unused_values_correspond_only_by_type() -> None:
    def source(name: str, kind: str = SMALL) -> str:
        return program(function(f"{SMALL} x, {kind} {name}", f"{SMALL} y = relu(x = x);", "y"))

    old = colored(source("unused"), unused="BGR")
    assert built(source("left"), old).changes == ["= input unused -> left"]
    lost = built(source("left", LARGE), old)
    assert [line[:8] for line in lost.changes] == ["- input ", "+ input "]
    [warning] = lost.warnings
    assert warning.endswith("was `unused`, which was removed, and had an image and a short description")
    gone = built(program(function(f"{SMALL} x", f"{SMALL} y = relu(x = x);", "y")), old)
    assert (gone.warnings, len(gone.changes)) == ([], 1)


def test_a_prediction_follows_its_output_and_is_reported() -> None:
    old = model(text("fp32 [2]"))
    old.spec.description.predictedFeatureName = "y"
    renamed = built(text("fp32 [2]", output="z"), old)
    assert renamed.changes == ["= output y -> z", '~ predictedFeatureName: "y" -> "z"']
    gone = text("fp32 [2]").replace("(y)", "(x)")
    assert built(gone, old).changes[-1] == '- predictedFeatureName: "y"'
    with refused("MIL454", "the output `y` was removed, but was the predictedFeatureName"):
        built(gone, old, no_loss=True)


# ---- functions

ONE = function(f"{SMALL} a", f"{SMALL} y = relu(x = a);", "y", "one")
MAIN = ONE.replace("func one", "func main")
TWO = function(f"{SMALL} a", f"{SMALL} y = tanh(x = a);", "y", "two")
FUNCTIONS = {
    "one is renamed": (
        program(ONE.replace("one", "uno"), TWO),
        ["= function one -> uno", '~ defaultFunctionName: "one" -> "uno"'],
    ),
    "one is renamed and grows": (
        program(grown(TWO.replace("two", "due")), ONE),
        [
            "= function two -> due",
            f"~ input a of due: {GROWN}",
            "~ output y of due: shape [1, 3, 8, 8] -> [1, 3, 16, 16]",
        ],
    ),
    "one is gone": (
        program(ONE),
        [
            "- function two",
            '- input a of two: image BGR, width 8, height 8, description "what x is"',
            "- output y of two: fp32 [1, 3, 8, 8]",
        ],
    ),
    "one is new": (
        program(ONE, TWO, TWO.replace("two", "three")),
        ["+ function three", "+ input a of three: fp32 [1, 3, 8, 8]", "+ output y of three: fp32 [1, 3, 8, 8]"],
    ),
}


def two_functions() -> SpecModel:
    old = model(program(ONE, TWO))
    for described, colors in zip(old.spec.description.functions, ("RGB", "BGR"), strict=True):
        described.input[0].CopyFrom(named(image(colors, 8, 8), "a"))
    return old


@pytest.mark.parametrize("case", FUNCTIONS)
def test_functions_are_reported(case: str) -> None:
    source, told = FUNCTIONS[case]
    assert built(source, two_functions()).changes == told


def test_a_removed_function_may_lose_its_statements() -> None:
    with refused(
        "MIL454", "the input `a` of `two` was removed with its function, and had an image and a short description"
    ):
        built(program(ONE), two_functions(), no_loss=True)
    plain = model(program(ONE, TWO))
    assert built(program(ONE), plain, no_loss=True).changes[0] == "- function two"


def test_the_only_function_is_listed_when_another_comes() -> None:
    old = colored(program(MAIN), a="RGB")
    made = built(program(MAIN, TWO), old)
    assert made.changes == [
        "+ function two",
        "+ input a of two: fp32 [1, 3, 8, 8]",
        "+ output y of two: fp32 [1, 3, 8, 8]",
        '+ defaultFunctionName: "main"',
    ]
    assert made.spec.description.functions[0].input[0] == old.spec.description.input[0]


# ---- odd descriptions


def test_a_description_without_entries_stays_without() -> None:
    old = model(text("fp32 [2]"))
    old.spec.description.Clear()
    old.spec.description.metadata.author = "me"
    made = built(text("fp32 [3]"), old)
    assert (made.changes, made.warnings) == ([], [])
    assert made.spec.description == old.spec.description


def test_two_entries_of_one_name_change_alike() -> None:
    source = program(MAIN)
    old = colored(source, a="RGB")
    old.spec.description.input.append(named(array("fp32", 1, 3, 8, 8), "a"))
    made = built(grown(source).replace("> a)", "> b)").replace("x = a", "x = b"), old)
    assert made.changes == [
        "= input a -> b",
        f"~ input b: {GROWN}",
        "= input a -> b",
        "~ input b: shape [1, 3, 8, 8] -> [1, 3, 16, 16]",
        Y,
    ]


def test_an_entry_without_a_value_in_the_program_is_kept() -> None:
    old = model(text("fp32 [2]"))
    old.spec.description.input.append(named(image("RGB", 8, 8), "never"))
    made = built(text("fp32 [3]"), old)
    assert made.spec.description.input[1] == old.spec.description.input[1]
    assert [line[:9] for line in made.changes] == ["~ input x", "~ output "]


def test_fields_that_the_schema_lacks_stay_in_an_entry() -> None:
    old = model(text("fp32 [2]"))
    entry = old.spec.description.input[0]
    entry.MergeFromString(b"\xfa\x07\x03new")
    made = built(text("fp32 [3]", "z"), old).input
    assert b"\xfa\x07\x03new" in made.SerializeToString()


def test_a_feature_of_another_kind() -> None:
    source = "program(1.3) { func main<ios18>(TYPE x, fp32 z) { fp32 y = relu(x = z); } -> (y); }"
    entry = named(array("fp32", 1, 4, ranges=[(1, 1), (2, 8)], float=1), "x")
    made = built(source.replace("TYPE", "string"), model(source.replace("TYPE", "tensor<fp32, [1, ?]>"), entry))
    assert made.changes == ["~ input x: fp32 [1, 4], default 1.0, sizes [1, 2..8] -> string"]
    assert made.warnings[0].endswith("loses the ranges [1, 2..8] and the default value 1")
    assert made.input.type.isOptional


STATE = "program(1.3) { func main<ios18>(state<tensor<fp16, [4]>> s, fp32 x) { fp32 y = relu(x = x); } -> (y); }"
LABELS = (
    "program(1.3) { func main<ios18>(tensor<fp32, [2]> p) { KEY label, dict<KEY, fp64> scores = "
    "classify(classes = list<KEY, 2>([A, B]), probabilities = p); } -> (label, scores); }"
)
STRINGS = LABELS.replace("KEY", "string").replace("A, B", '"a", "b"')
OTHERS = {
    "a state grows": (STATE, STATE.replace("[4]", "[8]"), ["~ state s: shape [4] -> [8]"]),
    "a state is renamed": (STATE, STATE.replace("> s", "> t"), ["= state s -> t"]),
    "a state of another type": (STATE, STATE.replace("fp16", "fp32"), ["~ state s: type fp16 -> fp32"]),
    "a state is gone": (STATE, STATE.replace("state<tensor<fp16, [4]>> s, ", ""), ["- state s: state fp16 [4]"]),
    "other labels": (
        STRINGS,
        LABELS.replace("KEY", "int64").replace("A, B", "1, 2"),
        [
            "~ output label: string -> integer",
            "~ output scores: keys string -> int64",
            '~ classLabels: "a" -> 1, "b" -> 2',
        ],
    ),
    "renamed labels": (
        STRINGS,
        STRINGS.replace("label", "class"),
        ["= output label -> class", '~ predictedFeatureName: "label" -> "class"'],
    ),
    "an output of any size": (
        text("fp32 [1, 2]"),
        text("fp32 [1, 2]").replace("tensor<fp32, [1, 2]> y", "tensor<fp32, [1, ?]> y"),
        ["~ output y: shape [1, 2] -> none"],
    ),
}


@pytest.mark.parametrize("case", OTHERS)
def test_states_labels_and_outputs(case: str) -> None:
    before, after, told = OTHERS[case]
    made = built(after, model(before))
    assert (made.changes, made.warnings) == (told, [])
    assert made.spec.description == describe(made.spec.mlProgram) or "renamed" in case


def test_an_image_output_of_any_size() -> None:
    old = model(text("fp32 [1, 3, 8, 8]"), outputs=[named(image("RGB", 8, 8), "y")])
    after = text("fp32 [1, 3, 8, 8]").replace("[1, 3, 8, 8]> y", "[1, 3, ?, 8]> y")
    made = built(after, old)
    assert made.spec.description.output[0] == named(image("RGB", 8, 8, [(1, -1), (8, 8)]), "y")
    assert made.warnings == []
    back = built(text("fp32 [1, 3, 8, 8]"), SpecModel("mlmodel", "made", None, None, made.spec))
    assert back.spec.description.output[0] == old.spec.description.output[0]
    assert back.warnings == []


# ---- in a pipeline, in the command, in Python


def test_a_model_of_a_pipeline_is_named_by_its_path(tmp_path: Path) -> None:
    old = colored(program(MAIN), a="RGB")
    whole = SpecModel("mlmodel", "old", None, None, pipeline(model(text("fp32 [2]")).spec, old.spec))
    made = built(grown(program(MAIN)), whole, model="1")
    assert made.changes == [f"~ model 1: input a: {GROWN}", f"~ model 1: {Y[2:]}"]


@pytest.fixture
def package(tmp_path: Path) -> Path:
    old = colored(program(MAIN), a="RGB")
    return write_package(tmp_path / "M.mlpackage", old.spec.SerializeToString())


def test_the_command_reports_on_standard_error(package: Path, tmp_path: Path) -> None:
    edited = tmp_path / "edited.mil"
    edited.write_text(grown(program(MAIN)))
    arguments = ["build", str(edited), "--from", str(package), "-o", str(tmp_path / "N.mlpackage"), "--force"]
    result = RUNNER.invoke(command, arguments)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", f"~ input a: {GROWN}\n{Y}\n")
    shown = RUNNER.invoke(command, ["--color", "always", *arguments])
    assert shown.stderr.startswith(f"\x1b[33m~ input a: {GROWN}\x1b[0m\n")
    edited.write_text(program(MAIN))
    assert RUNNER.invoke(command, arguments).stderr == ""


def test_no_loss_refuses_before_anything_is_written(tmp_path: Path) -> None:
    old = model(text("fp32 [2]"), array("fp32", 2, float=7e4))
    write_package(tmp_path / "M.mlpackage", old.spec.SerializeToString())
    (tmp_path / "edited.mil").write_text(text("fp16 [2]"))
    out = tmp_path / "N.mlpackage"
    arguments = ["build", str(tmp_path / "edited.mil"), "--from", str(tmp_path / "M.mlpackage"), "-o", str(out)]
    result = RUNNER.invoke(command, [*arguments, "--no-loss"])
    assert (result.exit_code, "error[MIL454]" in result.stderr, out.exists()) == (1, True, False)
    assert "~ input x" not in result.stderr
    result = RUNNER.invoke(command, arguments)
    assert (result.exit_code, "warning[MIL450]" in result.stderr, out.exists()) == (0, True, True)


@pytest.mark.parametrize("verb", [["rename", "x", "z"], ["expose", "h"]])
def test_rename_and_expose_take_no_loss(verb: list[str], package: Path, tmp_path: Path) -> None:
    source = "program(1.3) { func main<ios18>(fp32 x) { fp32 h = relu(x = x); fp32 y = relu(x = h); } -> (y); }"
    write_package(tmp_path / "O.mlpackage", model(source).spec.SerializeToString())
    out = tmp_path / "N.mlpackage"
    result = RUNNER.invoke(command, [verb[0], str(tmp_path / "O.mlpackage"), *verb[1:], "-o", str(out), "--no-loss"])
    told = {"rename": "= input x -> z\n", "expose": "+ output h: fp32\n"}[verb[0]]
    assert (result.exit_code, result.stderr) == (0, told)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["reshape", "IN", "a=1,3,16,16"], [f"~ input a: {GROWN}", Y]),
        (
            ["reshape", "IN", "a=1,3,4..16,8"],
            ["~ input a: sizes none -> [1, 3, 4..16, 8]", "~ output y: shape [1, 3, 8, 8] -> none"],
        ),
        (["convert-weights", "IN", "--to", "fp16", "--io"], ["~ output y: type fp32 -> fp16"]),
        (["convert-weights", "IN", "--to", "fp16"], []),
        (["rename", "IN", "a", "photo"], ["= input a -> photo"]),
    ],
)
def test_all_verbs_that_edit_report(words: list[str], told: list[str], package: Path, tmp_path: Path) -> None:
    arguments = [str(package) if word == "IN" else word for word in words]
    result = RUNNER.invoke(command, [*arguments, "-o", str(tmp_path / "N.mlpackage")])
    assert (result.exit_code, result.stderr.splitlines()) == (0, told)


def test_a_range_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "m.mil").write_text(text("fp32 [1, ?]"))
    out = tmp_path / "N.mlpackage"
    arguments = ["build", str(tmp_path / "m.mil"), "-o", str(out)]
    refused_ = RUNNER.invoke(command, arguments)
    assert (refused_.exit_code, "m.mil:3:22: error[MIL452]" in refused_.stderr, out.exists()) == (1, True, False)
    assert RUNNER.invoke(command, [*arguments, "--range", "x=1,2..8"]).exit_code == 0
    described = load(out).description
    assert described is not None
    limits = described.input[0].type.multiArrayType.shapeRange.sizeRanges
    assert [(each.lowerBound, each.upperBound) for each in limits] == [(1, 1), (2, 8)]
    wrong = RUNNER.invoke(command, [*arguments, "--range", "x"])
    assert (wrong.exit_code, "error[MIL434]" in wrong.stderr) == (2, True)


def test_python_gets_the_changes_when_all_is_written(package: Path, tmp_path: Path) -> None:
    out, told = tmp_path / "N.mlpackage", []
    source = TextModel(grown(program(MAIN)).encode(), "edited.mil", None)
    old = open_model(package)
    miltext.build(source, out, original=old, on_change=lambda change: told.append((change, out.exists())))
    assert [str(change) for change, _ in told] == [f"~ input a: {GROWN}", Y]
    assert all(is_there for _, is_there in told)
    first = told[0][0]
    assert (first.sign, first.kind, first.name, first.function, first.model) == ("~", "input", "a", "", "")
    assert first.details == (("width", "8", "16"), ("height", "8", "16"))
    described = load(out).description
    assert described is not None
    assert described.input[0].type.imageType.width == 16


def test_a_rename_in_a_pipeline_is_reported_for_each_model(tmp_path: Path) -> None:
    first, second = model(text("fp32 [2]", "x", "h")).spec, model(text("fp32 [2]", "h", "y")).spec
    whole = pipeline(first, second)
    whole.description.input.add().CopyFrom(first.description.input[0])
    whole.description.output.add().CopyFrom(second.description.output[0])
    write_package(tmp_path / "P.mlpackage", whole.SerializeToString())
    arguments = ["rename", str(tmp_path / "P.mlpackage"), "-o", str(tmp_path / "N.mlpackage"), "--force"]
    result = RUNNER.invoke(command, [*arguments, "x", "image"])
    assert result.stderr.splitlines() == ["= input x -> image", "= model 0: input x -> image"]
    result = RUNNER.invoke(command, [*arguments, "h", "between"])
    assert result.stderr.splitlines() == ["= model 0: output h -> between", "= model 1: input h -> between"]
    result = RUNNER.invoke(command, [*arguments, "x", "image", "--model", "0"])
    told = [line for line in result.stderr.splitlines() if line[:2] in ("= ", "~ ", "- ", "+ ")]
    assert told == ["= input x -> image", "= model 0: input x -> image"]


def test_a_description_that_is_given_is_reported_too(package: Path, tmp_path: Path) -> None:
    toml = miltext.describe(package).replace("what x is", "what it is")
    (tmp_path / "d.toml").write_text(toml)
    told: list[str] = []
    old = open_model(package)
    how = {"description": tmp_path / "d.toml", "on_change": lambda change: told.append(str(change))}
    miltext.build(old, tmp_path / "N.mlpackage", **how)  # type: ignore[arg-type]
    assert told == ['~ input a: description "what x is" -> "what it is"']
    with refused("MIL425", "in addition to a description"):
        miltext.build(old, tmp_path / "O.mlpackage", ranges={"a": "1,3,8,8"}, **how)  # type: ignore[arg-type]


def test_a_loss_of_a_pipeline_is_a_loss() -> None:
    source = text("fp32 [2]", "x", "h").replace("(h)", "(h, x)")
    first, second = model(source).spec, model(text("fp32 [2]", "h", "y")).spec
    whole = pipeline(first, second)
    whole.description.input.append(first.description.input[0])
    whole.description.output.append(second.description.output[0])
    whole.description.output.append(named(array("fp32", 2), "x"))
    old = SpecModel("mlmodel", "old", None, None, whole)
    made = built(text("fp32 [2]", "x", "h"), old, model="0")
    assert made.changes == [
        '- output x: fp32 [2], description "what x is"',
        "- model 0: output x: fp32 [2]",
    ]
    with refused("MIL454", "`x` of the pipeline was removed, and had a short description"):
        built(text("fp32 [2]", "x", "h"), old, model="0", no_loss=True)


def test_a_model_itself_gets_ranges() -> None:
    old = model(text("fp32 [1, ?]"), named(array("fp32", 1, 4, ranges=[(1, 1), (2, 8)]), "x"))
    made = prepare(old, Path("N.mlpackage"), BuildChoices(ranges={"x": "1,3..16"}))
    assert list(map(str, made.changes)) == ["~ input x: sizes [1, 2..8] -> [1, 3..16]"]


# ---- with a description


def redescribed(old: SpecModel, folder: Path, *edits: tuple[str, str]) -> list[str]:
    written = miltext.describe(old)
    for before, after in edits:
        assert before in written
        written = written.replace(before, after, 1)
    (folder / "d.toml").write_text(written, encoding="utf-8")
    made = prepare(old, Path("New.mlpackage"), BuildChoices(description=folder / "d.toml"))
    return list(map(str, made.changes))


def classifier(*labels: str) -> SpecModel:
    listed = ", ".join(f'"{each}"' for each in labels)
    kind = f"list<string, {len(labels)}>"
    classes = f'{kind} classes = const()[name = string("classes"), val = {kind}([{listed}])];'
    body = f"{classes} string label, dict<string, fp64> scores = classify(classes = classes, probabilities = x);"
    return model(program(function(f"tensor<fp32, [{len(labels)}]> x", body, "label, scores")))


def test_other_labels_are_reported(tmp_path: Path) -> None:
    few = redescribed(classifier("a", "b", "c"), tmp_path, ('"b", "c"', '"x", "c"'))
    assert few == ['~ classLabels: "b" -> "x"']
    many = redescribed(classifier(*"abcdef"), tmp_path, ('"a", "b", "c", "d", "e"', '"v", "w", "x", "y", "z"'))
    assert many == ["~ classLabels: 6 labels -> 6 labels, 5 of them other"]


def test_new_names_and_another_order_of_stages_are_reported(tmp_path: Path) -> None:
    whole = SpecModel("mlmodel", "old", None, None, pipeline(colored(pictures("a", "b"), a="RGB").spec, names=("n",)))
    assert redescribed(whole, tmp_path, ('name = "n"', 'name = "m"')) == ['~ model 0: name: "n" -> "m"']
    assert redescribed(whole, tmp_path, ('name = "n"', "")) == ['- model 0: name: "n"']
    old = colored(pictures("a", "b"), a="RGB", b="RGB")
    swapped = (('name = "a"', 'name = "c"'), ('name = "b"', 'name = "a"'), ('name = "c"', 'name = "b"'))
    assert redescribed(old, tmp_path, *swapped) == ["~ inputs: order a, b -> b, a"]


def test_a_model_that_is_not_updatable_any_more_is_reported(tmp_path: Path) -> None:
    old = colored(pictures("a", "b"), a="RGB")
    old.spec.isUpdatable = True
    assert redescribed(old, tmp_path, ("isUpdatable = true", "")) == ["- isUpdatable: yes"]


def test_entries_of_metadata_are_reported_in_order(tmp_path: Path) -> None:
    old = colored(pictures("a", "b"), a="RGB")
    entries = "\n".join(f'k{number} = "v"' for number in (3, 1, 2, 9, 7))
    told = redescribed(old, tmp_path, ("[[input]]", f"[metadata.userDefined]\n{entries}\n[[input]]"))
    assert told == [f'+ metadata.userDefined[k{number}]: "v"' for number in (1, 2, 3, 7, 9)]
