"""Texts that import models: what is read, planted and written, and what is refused, with places."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import numpy as np
import pytest
from support.links import records, same_files, stored_bytes

import miltext
from miltext.containers.opening import open_model
from miltext.diagnostics import Diagnostic, MiltextError
from miltext.schema.proto import Model

X = np.array([[-1, 0, 1, 2]], np.float32)
NARROW = "tensor<fp32, [1, 4]> x"
WEIGHT = "[[1.0, 2, 3, 4], [2.0, 1, 0, 1], [0.0, 1, 1, 0], [1.0, 0, 2, 0]]"
ENCODER = f"w = const()[val = {WEIGHT}]; h = linear(x, w); y = tanh(h);"


def text(body: str, inputs: str = NARROW, outputs: str = "y", opset: str = "ios18") -> str:
    return f"program(1.3)\n{{\n    func main<{opset}>({inputs}) {{\n{body}\n        }} -> ({outputs});\n}}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a package, a draft and a text of any size."""
    miltext.build(text(ENCODER), tmp_path / "enc.mlpackage", externalize=4)
    (tmp_path / "half.mil").write_text(text("y = mul(x, 0.5);"))
    (tmp_path / "any.mil").write_text(text("y = relu(x);", "tensor<fp32, [?, 4]> x"))
    return tmp_path


def written(folder: Path, body: str, name: str = "whole.mil", **how: str) -> Path:
    path = folder / name
    path.write_text(text(body, **how))
    return path


def built(folder: Path, body: str, **how: str) -> Path:
    out = folder / "Whole.mlpackage"
    miltext.build(written(folder, body, **how), out, force=True)
    return out


def found(folder: Path, body: str, **how: str) -> list[str]:
    """The errors of a text, which a build has, too, at the same places."""
    path = written(folder, body, **how)
    errors = [each for each in miltext.check(path.read_text(), path=str(path)) if each.severity == "error"]
    with pytest.raises(MiltextError) as raised:
        miltext.build(path, folder / "No.mlpackage")
    assert [each for each in raised.value.diagnostics if each.severity == "error"] == errors
    assert not (folder / "No.mlpackage").exists()
    assert all(each.span for each in errors)
    return [f"{each.code} {each.message}" for each in errors]


# ---- what a build makes


def test_the_operations_take_the_place_of_the_import(folder: Path) -> None:
    out = built(folder, 'z = $import("enc.mlpackage")(x); y = relu($import("half.mil")(x = z));')
    expected = miltext.run(folder / "enc.mlpackage", {"x": X})["y"] * np.float32(0.5)
    assert np.array_equal(miltext.run(out, {"x": X})["y"], np.maximum(expected, 0))
    assert np.array_equal(miltext.run(folder / "whole.mil", {"x": X})["y"], np.maximum(expected, 0))
    assert "import" not in miltext.to_text(out)
    assert stored_bytes(out) == 64
    assert [each for each in miltext.check(out) if each.severity == "error"] == []


def test_a_text_with_types_is_built_like_its_draft(folder: Path) -> None:
    draft = written(folder, 'z = $import("enc.mlpackage")(x); y = relu(z);')
    whole = folder / "typed.mil"
    whole.write_text(miltext.infer_draft(draft.read_text(), path=str(draft)))
    assert '$import("enc.mlpackage")(x = x)' in whole.read_text()
    for source in (draft, whole):
        miltext.build(source, folder / f"{source.stem}.mlpackage")
    assert same_files(folder / "whole.mlpackage", folder / "typed.mlpackage")
    assert miltext.infer_draft(whole.read_text(), path=str(whole)) == whole.read_text()


def test_two_builds_are_equal_byte_for_byte(folder: Path) -> None:
    path = written(folder, 'z = $import("enc.mlpackage")(x); y = $import("./enc.mlpackage", "main")(z);')
    for name in ("A", "B"):
        (folder / name).mkdir()
        miltext.build(path, folder / name / "M.mlpackage")
    assert same_files(folder / "A" / "M.mlpackage", folder / "B" / "M.mlpackage")


def test_the_same_model_twice_has_its_constants_once(folder: Path) -> None:
    out = built(folder, 'z = $import("enc.mlpackage")(x); y = $import("./enc.mlpackage")(z);')
    assert miltext.to_text(out).count(" const(") == 1
    assert records(out) == records(folder / "enc.mlpackage")


def test_equal_names_are_apart(folder: Path) -> None:
    out = built(folder, 'h = relu(x); w = $import("enc.mlpackage")(h); y = add(w, h);')
    graph = miltext.Graph(miltext.parse(miltext.to_text(out)))
    names = [value.name for op in graph.walk() for value in op.outputs]
    assert len({*names}) == len(names)
    assert {"h", "w", "y"} <= {*names}


def test_an_import_inside_a_loop(folder: Path) -> None:
    loop = """y, n = while_loop((x, 0))
        (a, i) { c = less(i, 2); } -> (c)
        (b, j) { d = $import("enc.mlpackage")(b); k = add(j, 1); } -> (d, k);"""
    out = built(folder, loop)
    once = miltext.run(folder / "enc.mlpackage", {"x": X})["y"]
    twice = miltext.run(folder / "enc.mlpackage", {"x": once})["y"]
    assert np.array_equal(miltext.run(out, {"x": X})["y"], twice)


def test_an_input_that_is_passed_through_keeps_both_names(folder: Path) -> None:
    written(folder, "", "same.mil", outputs="x")
    out = built(folder, 'y = $import("same.mil")(x); z = $import("same.mil")(y);', outputs="y, z")
    made = miltext.run(out, {"x": X})
    assert all(np.array_equal(made[name], X) for name in ("y", "z"))


@pytest.mark.parametrize("model", ["same", "enc"])
def test_an_output_that_hides_an_input_keeps_its_name(model: str, folder: Path) -> None:
    miltext.build(text("", outputs="x"), folder / "same.mlpackage", check=False)
    out = built(folder, f'x = $import("{model}.mlpackage")(x); y = relu(x);', outputs="x, y")
    made = miltext.run(out, {"x": X})
    assert [*made] == ["x", "y"]
    assert np.array_equal(made["y"], np.maximum(made["x"], 0))
    assert np.array_equal(made["x"], next(iter(miltext.run(folder / f"{model}.mlpackage", {"x": X}).values())))


def test_literals_are_arguments(folder: Path) -> None:
    out = built(folder, 'z = $import("half.mil")([[2.0, 4, 6, 8]]); y = add(x, z);')
    assert np.array_equal(miltext.run(out, {"x": X})["y"], X + np.array([1, 2, 3, 4]))


def test_arrays_beside_a_text_and_beside_its_import(folder: Path) -> None:
    (folder / "below").mkdir()
    np.save(folder / "w.npy", np.full((1, 4), 2, np.float32))
    np.save(folder / "below" / "w.npy", np.full((1, 4), 3, np.float32))
    written(folder, 'y = add(x, $npy("w.npy"));', "below/add.mil")
    out = built(folder, 'z = $import("below/add.mil")(x); y = mul(z, $npy("w.npy"));')
    assert np.array_equal(miltext.run(out, {"x": X})["y"], (X + 3) * 2)


def test_states_are_joined_by_what_is_passed(folder: Path) -> None:
    state = "state<tensor<fp16, [1, 4]>>"
    inputs = f"tensor<fp16, [1, 4]> x, {state} s"
    written(folder, "c = read_state(s); y = add(c, x); write_state(s, y);", "sum.mil", inputs=inputs)
    body = 'a = $import("sum.mil")(x, s); y = $import("sum.mil")(x, s = s); z = $import("sum.mil")(x, r);'
    out = built(folder, body, inputs=f"{inputs}, {state} r", outputs="a, y, z")
    made = miltext.run(out, {"x": X.astype(np.float16)})
    assert np.array_equal(made["y"], 2 * X)
    assert np.array_equal(made["z"], X)
    [missing] = found(folder, 'y = $import("sum.mil")(x);', inputs="tensor<fp16, [1, 4]> x")
    assert "lacks `s`" in missing
    assert "declare `state<tensor<fp16, [1, 4]>> s`" in missing


def test_open_sizes_follow_the_arguments(folder: Path) -> None:
    path = written(folder, 'y = $import("any.mil")(x);', inputs="tensor<fp32, [3, 4]> x")
    assert "tensor<fp32, [3, 4]> y = " in miltext.infer_draft(path.read_text(), path=str(path))
    miltext.build(path, folder / "Three.mlpackage")
    assert "?" not in miltext.to_text(folder / "Three.mlpackage")
    miltext.build(folder / "any.mil", folder / "any.mlpackage", ranges={"x": "1..8,4"})
    [wide] = found(folder, 'y = $import("any.mlpackage")(x);', inputs="tensor<fp32, [9, 4]> x")
    assert "allows the ranges [1..8, 4]" in wide
    out = built(folder, 'y = $import("any.mlpackage")(x);', inputs="tensor<fp32, [?, 4]> x")
    described = [open_model(each).description for each in (out, folder / "any.mlpackage")]
    assert described[0] is not None
    assert described[1] is not None
    assert described[0].input == described[1].input
    [fixed] = found(folder, 'y = $import("enc.mlpackage")(x);', inputs="tensor<fp32, [?, 4]> x")
    assert "`miltext reshape` gives the model inputs of any size" in fixed


def test_a_text_imports_a_text_that_imports(folder: Path) -> None:
    written(folder, 'y = $import("enc.mlpackage")($import("half.mil")(x));', "inner.mil")
    out = built(folder, 'y = $import("inner.mil")(x);')
    half = {"x": X * np.float32(0.5)}
    assert np.array_equal(miltext.run(out, {"x": X})["y"], miltext.run(folder / "enc.mlpackage", half)["y"])
    miltext.link([folder / "inner.mil", folder / "half.mil"], folder / "L.mlpackage", bind={"inner.y": "half.x"})
    assert records(folder / "L.mlpackage") == records(folder / "enc.mlpackage")


@pytest.mark.parametrize("ending", [".mlmodel", ".mlmodelc", ".pb"])
def test_every_kind_of_model_is_imported(ending: str, folder: Path) -> None:
    source = folder / f"half{ending}"
    if ending == ".pb":
        source.write_bytes(miltext.parse(miltext.infer_draft((folder / "half.mil").read_text())).SerializeToString())
    else:
        miltext.build(folder / "half.mil", source)
    out = built(folder, f'y = $import("half{ending}")(x);')
    assert np.array_equal(miltext.run(out, {"x": X})["y"], X * np.float32(0.5))


def test_a_chosen_function(folder: Path) -> None:
    miltext.link({"one": folder / "enc.mlpackage", "two": folder / "half.mil"}, folder / "B.mlpackage", functions=True)
    out = built(folder, 'y = $import("B.mlpackage", "two")(x);')
    assert np.array_equal(miltext.run(out, {"x": X})["y"], X * np.float32(0.5))
    [unknown] = found(folder, 'y = $import("B.mlpackage", "tow")(x);')
    assert "unknown function `tow`; the model has `one` and `two`" in unknown


def test_an_original_keeps_its_description(folder: Path) -> None:
    miltext.build(text("y = relu(x);"), folder / "Old.mlpackage")
    path = written(folder, 'z = $import("enc.mlpackage")(x); y = relu(z);')
    miltext.build(path, folder / "New.mlpackage", original=folder / "Old.mlpackage")
    expected = np.maximum(miltext.run(folder / "enc.mlpackage", {"x": X})["y"], 0)
    assert np.array_equal(miltext.run(folder / "New.mlpackage", {"x": X})["y"], expected)


def test_an_original_gets_the_weights_of_imports_into_its_own_file(folder: Path) -> None:
    other = ENCODER.replace("1.0, 2", "9.0, 9")
    miltext.build(text(other), folder / "Old.mlpackage", externalize=4)
    old = folder / "old.mil"
    old.write_text(miltext.to_text(folder / "Old.mlpackage").replace("tanh(x = h)", '$import("enc.mlpackage")(x = h)'))
    for name in ("New.mlpackage", "New.mlmodelc"):
        miltext.build(old, folder / name, original=folder / "Old.mlpackage")
        assert [each for each in miltext.check(folder / name) if each.severity == "error"] == []
        assert len(records(folder / name)) == 2
        assert [path.name for path in (folder / name).rglob("*.bin") if path.name != "coremldata.bin"] == ["weight.bin"]
    first = miltext.run(folder / "Old.mlpackage", {"x": X}, values="h")["h"]
    expected = miltext.run(folder / "enc.mlpackage", {"x": first})["y"]
    assert np.array_equal(miltext.run(folder / "New.mlpackage", {"x": X})["y"], expected)


def test_other_verbs_see_the_whole(folder: Path) -> None:
    path = written(folder, 'z = $import("enc.mlpackage")(x); y = relu(z);')
    out = built(folder, 'z = $import("enc.mlpackage")(x); y = relu(z);')
    assert np.array_equal(miltext.run(path, {"x": X})["y"], miltext.run(out, {"x": X})["y"])
    assert miltext.diff(path, out).same
    assert [*miltext.weights(path)] == [*miltext.weights(out)]
    with pytest.raises(miltext.ParseError, match="MIL119"):
        miltext.parse(miltext.infer_draft(path.read_text(), path=str(path)))


def test_verbs_that_change_numbers_see_the_whole(folder: Path) -> None:
    path = written(folder, 'z = $import("enc.mlpackage")(x); y = relu(relu(z));')
    made = miltext.convert_weights(path, "fp16", folder / "Half.mlpackage", io=False)
    assert made.changes
    expected = miltext.run(path, {"x": X})["y"]
    assert np.allclose(miltext.run(folder / "Half.mlpackage", {"x": X})["y"], expected, atol=1e-2)
    miltext.optimize(path, folder / "Few.mlpackage")
    assert np.array_equal(miltext.run(folder / "Few.mlpackage", {"x": X})["y"], expected)
    with pytest.raises(MiltextError, match="MIL119"):
        miltext.optimize(path, folder / "few.mil")


def test_a_text_does_not_leave_the_folder_of_its_models(folder: Path) -> None:
    path = written(folder, 'z = $import("enc.mlpackage")(x); y = relu(z);')
    (folder / "other").mkdir()
    with pytest.raises(MiltextError, match="MIL406"):
        miltext.rename(path, "z", "code", folder / "other" / "r.mil")
    miltext.rename(path, "z", "code", folder / "r.mil")
    assert 'code = $import("enc.mlpackage")(x);' in (folder / "r.mil").read_text()


# ---- layout


def test_the_layout_keeps_comments_and_line_ends(folder: Path) -> None:
    body = '_  y=$import ( "enc.mlpackage" /* the table */ ,"main" )(x=x) [ name="y" ] ; // linked'
    path = written(folder, body)
    laid = miltext.format_text(path.read_text())
    assert '_ y = $import("enc.mlpackage" /* the table */, "main")(x = x)[name = "y"]; // linked' in laid
    assert miltext.format_text(laid) == laid
    path.write_bytes(laid.replace("\n", "\r\n").encode())
    read = path.read_bytes().decode()
    assert [each for each in miltext.check(read, path=str(path)) if each.severity == "error"] == []
    miltext.build(path, folder / "C.mlpackage")
    assert '[name = string("y")]' in miltext.to_text(folder / "C.mlpackage")


# ---- what is refused

WRONG: dict[str, tuple[str, str]] = {
    "gone": ('y = $import("end.mlpackage")(x);', 'MIL409 `$import("end.mlpackage")`: the file does not exist'),
    "outside": ('y = $import("../enc.mlpackage")(x);', "leads outside"),
    "absolute": ('y = $import("/enc.mlpackage")(x);', "its path is absolute"),
    "no model": ('y = $import("plain")(x);', "this folder is neither an .mlpackage nor an .mlmodelc"),
    "a pointer": ('y = $import("lfs.mlmodel")(x);', "git-lfs"),
    "misspelt": ('y = $import("enc.mlpackage")(xs = x);', "has no input `xs`; did you mean `x`?"),
    "none": ('y = $import("enc.mlpackage")();', "MIL503"),
    "twice": ('y = $import("enc.mlpackage")(x, x = x);', "`x` is given twice"),
    "too many": ('y = $import("enc.mlpackage")(x, x);', "takes 1 argument"),
    "several": ('y = $import("enc.mlpackage")((x, x));', "takes one value, not 2"),
    "outputs": ('y, z = $import("enc.mlpackage")(x);', "returns 1 value (`y`), but 2 are declared"),
    "no output": ('$import("enc.mlpackage")(x); y = relu(x);', "but none is declared"),
    "data type": ('y = $import("enc.mlpackage")(cast(x, "fp16"));', '`cast(x, "fp32")` makes a value'),
    "rank": ('y = $import("enc.mlpackage")(squeeze(x));', "makes a value of its rank"),
    "stated type": ('fp32 y = $import("enc.mlpackage")(x);', "returns tensor<fp32, [1, 4]> here"),
    "attribute": ('y = $import("enc.mlpackage")(x)[axis = 1];', "an import has no attribute `axis`"),
    "undefined": ('y = $import("enc.mlpackage")(z);', "`z` is not defined"),
    "wrong text": ('y = $import("wrong.mil")(x);', "wrong.mil:4:10: `q` is not defined"),
    "itself": ('y = $import("whole.mil")(x);', "the text would import itself: whole.mil -> whole.mil"),
    "a circle": ('y = $import("a.mil")(x);', "the text would import itself: a.mil -> b.mil -> a.mil"),
    "a kind": ('y = $import("net.mlmodel")(x);', "MIL409"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_import_is_one_error_at_its_place(name: str, folder: Path) -> None:
    (folder / "plain").mkdir()
    (folder / "lfs.mlmodel").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n")
    (folder / "net.mlmodel").write_bytes(b"\x08\x01\xa2\x1f\x00")  # `neuralNetwork`, field 500 of Model.proto
    written(folder, "y = relu(q);", "wrong.mil")
    written(folder, 'y = $import("b.mil")(x);', "a.mil")
    written(folder, 'y = $import("a.mil")(x);', "b.mil")
    body, message = WRONG[name]
    errors = found(folder, body)
    assert len(errors) == 1, errors
    assert message in errors[0]


def test_a_link_that_leads_outside_is_refused(folder: Path) -> None:
    below = folder / "below"
    below.mkdir()
    (below / "enc.mlpackage").symlink_to(folder / "enc.mlpackage", target_is_directory=True)
    [error] = found(below, 'y = $import("enc.mlpackage")(x);')
    assert "leads outside" in error


def test_images_keep_their_entries(folder: Path) -> None:
    image = "tensor<fp32, [1, 3, 8, 8]> image"
    miltext.build(text("y = relu(image);", image), folder / "plain.mlpackage")
    described = miltext.load(folder / "plain.mlpackage").description_text.replace(
        'type = "multiArray"', 'type = "image"', 1
    )
    described = described.replace(
        'dataType = "fp32"\nshape = [1, 3, 8, 8]', 'colorSpace = "RGB"\nwidth = 8\nheight = 8', 1
    )
    (folder / "image.toml").write_text(described)
    miltext.build(text("y = relu(image);", image), folder / "image.mlpackage", description=folder / "image.toml")
    out = built(folder, 'z = $import("image.mlpackage")(pixels); y = tanh(z);', inputs=image.replace("image", "pixels"))
    [entry] = miltext.load(out).description.input  # type: ignore[union-attr]
    assert (entry.name, entry.type.WhichOneof("Type")) == ("pixels", "imageType")


def imaged(folder: Path, name: str, colours: int) -> None:
    """Build a model with an image as its input and its output."""
    image = "tensor<fp32, [1, 3, 8, 8]> x"
    miltext.build(text("picture = relu(x);", image, "picture"), folder / name)
    path = folder / name / "Data" / "com.apple.CoreML" / "model.mlmodel"
    spec = Model.FromString(path.read_bytes())
    for entry in (*spec.description.input, *spec.description.output):
        picture = entry.type.imageType
        picture.width, picture.height, picture.colorSpace = 8, 8, colours
    path.write_bytes(spec.SerializeToString())


IMAGE = "tensor<fp32, [1, 3, 8, 8]> x"
RGB, BGR = 20, 30


@pytest.mark.parametrize("outputs", ["p", "y", "p, y"])
def test_an_image_that_operations_use_is_no_longer_rounded(outputs: str, folder: Path) -> None:
    imaged(folder, "plain.mlpackage", RGB)
    used = "" if outputs == "p" else " y = tanh(p);"
    path = written(folder, f'p = $import("plain.mlpackage")(x);{used}', inputs=IMAGE, outputs=outputs)
    warned = [each.message for each in miltext.build(path, folder / "Whole.mlpackage")]
    message = "`p` was an image of `plain`, whose numbers Core ML rounds; the operations of the text get them unrounded"
    assert warned == ([message] if used else [])


@pytest.mark.parametrize(
    "body",
    [
        'p = $import("rgb.mlpackage")(x); y = $import("bgr.mlpackage")(p);',
        'y = $import("bgr.mlpackage")($import("rgb.mlpackage")(x));',
        'p = $import("rgb.mlpackage")(x); q = $import("bgr.mlpackage")(x); y = add(p, q);',
    ],
)
def test_images_of_other_colour_spaces_do_not_meet(body: str, folder: Path) -> None:
    imaged(folder, "rgb.mlpackage", RGB)
    imaged(folder, "bgr.mlpackage", BGR)
    [error] = found(folder, body, inputs=IMAGE)
    assert error.startswith('MIL488 `x` of `$import("bgr.mlpackage")` and ')
    assert "are images of other colour spaces; their channels are in another order" in error
    same = body.replace("bgr", "rgb")
    assert not [
        each for each in miltext.check(text(same, IMAGE), path=str(folder / "w.mil")) if each.severity == "error"
    ]


@pytest.mark.parametrize(
    ("sizes", "is_allowed"), [("2..4,4", True), ("4..8,4", True), ("1..4,4", False), ("2..9,4", False), ("9,4", False)]
)
def test_requested_sizes_are_those_that_an_import_allows(sizes: str, is_allowed: bool, folder: Path) -> None:
    miltext.build(folder / "any.mil", folder / "some.mlpackage", ranges={"x": "2..8,4"})
    path = written(folder, 'y = $import("some.mlpackage")(x);', inputs="tensor<fp32, [?, 4]> x")
    if is_allowed:
        miltext.build(path, folder / "Whole.mlpackage", ranges={"x": sizes})
        return
    with pytest.raises(MiltextError) as raised:
        miltext.build(path, folder / "Whole.mlpackage", ranges={"x": sizes})
    [error] = raised.value.diagnostics
    assert error.code == "MIL488"
    assert "but allows" in error.message
    assert not (folder / "Whole.mlpackage").exists()


def by(author: str, package: Path) -> None:
    """Give a package an author."""
    path = package / "Data" / "com.apple.CoreML" / "model.mlmodel"
    spec = Model.FromString(path.read_bytes())
    spec.description.metadata.author = author
    path.write_bytes(spec.SerializeToString())


@pytest.mark.parametrize("author", ["Ada", "Grace"])
def test_the_metadata_are_those_of_the_first_import(author: str, folder: Path) -> None:
    shutil.copytree(folder / "enc.mlpackage", folder / "other.mlpackage")
    by("Ada", folder / "enc.mlpackage")
    by(author, folder / "other.mlpackage")
    path = written(folder, 'y = $import("other.mlpackage")($import("half.mil")($import("enc.mlpackage")(x)));')
    warned = miltext.build(path, folder / "Whole.mlpackage")
    description = open_model(folder / "Whole.mlpackage").description
    assert description is not None
    assert description.metadata.author == "Ada"
    expected = [] if author == "Ada" else ["the metadata are those of `enc`; `other` had another author"]
    assert [each.message for each in warned] == expected


def test_an_older_opset_names_the_need(folder: Path) -> None:
    [error] = found(folder, 'y = $import("enc.mlpackage")(x);', opset="ios16")
    assert "it is for ios18, and this function for ios16: write `<ios18>`" in error


def test_a_name_that_nothing_defines_stays_undefined(folder: Path) -> None:
    """The text defines `z`, which the operations of the import would find by chance."""
    program = miltext.parse(miltext.infer_draft(text("y = relu(x);")))
    operation = program.functions["main"].block_specializations["CoreML8"].operations[0]
    operation.inputs["x"].arguments[0].name = "z"
    (folder / "loose.pb").write_bytes(program.SerializeToString())
    path = written(folder, 'z = tanh(x); y = $import("loose.pb")(x); w = add(y, z);', outputs="w")
    with pytest.raises(MiltextError, match="uses `z`, which nothing defines"):
        miltext.build(path, folder / "No.mlpackage")


def test_sizes_that_a_model_cannot_have_are_an_error_at_the_import(folder: Path) -> None:
    body = "s = const()[val = [1, 8]]; z = reshape(x, s); y = relu(z);"
    (folder / "baked.mil").write_text(text(body, "tensor<fp32, [?, 4]> x"))
    [error] = found(folder, 'y = $import("baked.mil")(x);', inputs="tensor<fp32, [3, 4]> x")
    assert "baked.mil:4:" in error
    assert "requests [1, 8], 8 elements, and `x`, [3, 4], has 12" in error


def test_gone_weights_are_an_error_at_the_import(folder: Path) -> None:
    shutil.rmtree(folder / "enc.mlpackage" / "Data" / "com.apple.CoreML" / "weights")
    path = written(folder, 'y = $import("enc.mlpackage")(x);')
    with pytest.raises(MiltextError) as raised:
        miltext.build(path, folder / "No.mlpackage")
    [error] = raised.value.diagnostics
    assert error.span is not None
    assert path.read_text()[error.span.start : error.span.end] == '$import("enc.mlpackage")'
    assert error.code == "MIL409"
    assert "weight.bin" in error.message


def test_a_package_that_the_text_imports_is_not_replaced(folder: Path) -> None:
    path = written(folder, 'y = $import("enc.mlpackage")(x);')
    before = miltext.to_text(folder / "enc.mlpackage")
    with pytest.raises(MiltextError):
        miltext.build(path, folder / "enc.mlpackage", force=True)
    assert miltext.to_text(folder / "enc.mlpackage") == before


def test_a_text_by_itself_has_no_models() -> None:
    def codes_of(found: list[Diagnostic]) -> list[str]:
        return [f"{each.severity} {each.code}" for each in found if each.code != "MIL712"]

    assert codes_of(miltext.check(text('y = $import("enc.mlpackage")(x);'))) == ["error MIL119"]
    typed = text('tensor<fp32, [1, 4]> y = $import("enc.mlpackage")(x = x);')
    assert codes_of(miltext.check(typed)) == ["note MIL119"]


# ---- size


def test_many_imports_take_linear_time(folder: Path) -> None:
    def seconds(count: int) -> float:
        lines = [f'v{index + 1} = $import("enc.mlpackage")(v{index});' for index in range(count)]
        path = written(folder, "\n".join(lines), inputs="tensor<fp32, [1, 4]> v0", outputs=f"v{count}")
        start = time.process_time()
        miltext.build(path, folder / "Many.mlpackage", force=True)
        return time.process_time() - start

    seconds(10)
    few, many = min(seconds(100) for _ in range(2)), seconds(800)
    assert many < 8 * few * 3
