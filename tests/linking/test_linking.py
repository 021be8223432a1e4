"""`miltext.link`: what is bound, how names and types agree, and what is refused."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.links import same_files

import miltext
from miltext.containers.opening import open_model
from miltext.diagnostics import ModelError
from miltext.printing.renaming import rename_values
from miltext.schema.dtypes import BY_NAME
from miltext.weight_files.blob_storage import BlobWriter

X = np.array([-1, 0, 1, 2], np.float32)
M = np.array([1, 2, 3, 4], np.float32)


def text(body: str, inputs: str = "tensor<fp32, [4]> x", outputs: str = "y", opset: str = "ios18") -> str:
    return f"program(1.3)\n{{\n    func main<{opset}>({inputs}) {{\n        {body}\n        }} -> ({outputs});\n}}\n"


TWO = "tensor<fp32, [4]> x, tensor<fp32, [4]> m"
ENCODER = text('tensor<fp32, [4]> h = relu(x = x)[name = string("h")]; tensor<fp32, [4]> y = add(x = h, y = m);', TWO)
DECODER = text(
    'tensor<fp32, [4]> h = tanh(x = y)[name = string("h")]; tensor<fp32, [4]> z = mul(x = h, y = m);',
    "tensor<fp32, [4]> y, tensor<fp32, [4]> m",
    "z",
)


def linked(tmp_path: Path, models: Any, **how: Any) -> tuple[miltext.Linked, Path]:
    out = tmp_path / "Whole.mlpackage"
    return miltext.link(models, out, force=True, **how), out


def refused(tmp_path: Path, models: Any, **how: Any) -> str:
    with pytest.raises(ModelError) as raised:
        linked(tmp_path, models, **how)
    assert not (tmp_path / "Whole.mlpackage").exists(), "nothing is written"
    found = raised.value.diagnostics[0]
    return f"{found.code} {found.message}"


def test_an_output_is_bound_to_the_later_input_of_its_name(tmp_path: Path) -> None:
    made, out = linked(tmp_path, {"e": ENCODER, "d": DECODER})
    assert [str(each) for each in made.values] == ["e.y -> d.y", "e.m and d.m are one input"]
    assert (made.inputs, made.outputs, made.warnings) == (["x", "m"], ["z"], [])
    expected = np.tanh(np.maximum(X, 0) + M) * M
    assert np.allclose(miltext.run(out, {"x": X, "m": M})["z"], expected)
    assert 'h_1")' in miltext.to_text(out), "the attribute `name` follows the name"


def test_the_reverse_order_keeps_the_outputs(tmp_path: Path) -> None:
    made, _ = linked(tmp_path, {"d": DECODER, "e": ENCODER})
    assert made.outputs == ["z", "e_y"], "`y` is an input of the first"
    assert [each.new for each in made.renamed if not each.is_inner] == ["e_y"]
    (found,) = made.warnings
    assert (found.code, found.message) == (
        "MIL465",
        "`d.y` stays an input, and `e.y`, of a later model, is an output",
    )
    assert found.notes[0].message == "name `e` before `d`, or bind the two with `bind=`"
    assert linked(tmp_path, {"d": DECODER, "e": ENCODER}, apart="y")[0].warnings == []
    assert linked(tmp_path, {"d": DECODER, "e": ENCODER}, bind={"e.y": "d.y"})[0].warnings == []


def test_outputs_that_inputs_take_are_inside(tmp_path: Path) -> None:
    made, _ = linked(tmp_path, {"e": ENCODER, "d": DECODER})
    assert made.inner == made.to_json()["inner"] == ["e.y"]
    made, _ = linked(tmp_path, {"e": ENCODER, "d": DECODER}, keep=["y", "z"])
    assert made.inner == []


def test_a_binding_may_be_requested_twice(tmp_path: Path) -> None:
    made, _ = linked(tmp_path, {"e": ENCODER, "d": DECODER}, bind={"e.y": ["d.y", "d.y"], "0.y": "d.y"})
    assert [str(each) for each in made.values if each.is_requested] == ["e.y -> d.y"]


def test_names_of_models_that_are_not_identifiers(tmp_path: Path) -> None:
    made, _ = linked(tmp_path, {"a": ENCODER, "ü": ENCODER, "a b": ENCODER})
    assert made.outputs == ["y", "model_1_y", "a_b_y"]
    assert refused(tmp_path / "n", {"": ENCODER}) == "MIL485 the name of a model is empty"


def test_a_way_out_is_about_its_problem(tmp_path: Path) -> None:
    def notes(**how: Any) -> str:
        with pytest.raises(ModelError) as raised:
            linked(tmp_path, {"e": ENCODER, "d": DECODER}, **how)
        return " ".join(each.message for each in raised.value.diagnostics[0].notes)

    assert "depend" in notes(bind={"e.y": "d.y", "d.z": "e.x"})
    assert "depend" not in notes(keep=["y", "y"])


def test_a_binding_to_an_earlier_model_sorts_the_operations(tmp_path: Path) -> None:
    made, out = linked(tmp_path, {"d": DECODER, "e": ENCODER}, bind={"e.y": "d.y"})
    assert (made.inputs, made.outputs) == (["m", "x"], ["z"])
    assert np.allclose(miltext.run(out, {"x": X, "m": M})["z"], np.tanh(np.maximum(X, 0) + M) * M)


def test_models_may_take_values_of_each_other_without_a_circle(tmp_path: Path) -> None:
    both = text(
        "tensor<fp32, [4]> y = relu(x = x); tensor<fp32, [4]> u = tanh(x = w);",
        "tensor<fp32, [4]> x, tensor<fp32, [4]> w",
        "y, u",
    )
    made, out = linked(tmp_path, {"a": both, "b": DECODER}, bind={"a.y": "b.y", "b.z": "a.w"})
    assert (made.inputs, made.outputs) == (["x", "m"], ["u"])
    assert np.allclose(miltext.run(out, {"x": X, "m": M})["u"], np.tanh(np.tanh(np.maximum(X, 0)) * M))


def test_two_inputs_of_one_model_may_be_one(tmp_path: Path) -> None:
    made, out = linked(tmp_path, {"e": ENCODER}, bind={"e.x": "e.m"})
    assert made.inputs == ["x"]
    assert np.array_equal(miltext.run(out, {"x": X})["y"], np.maximum(X, 0) + X)


def test_inputs_apart_are_inputs_of_their_own(tmp_path: Path) -> None:
    made, out = linked(tmp_path, {"e": ENCODER, "d": DECODER}, apart="m")
    assert made.inputs == ["x", "m", "d_m"]
    found = miltext.run(out, {"x": X, "m": M, "d_m": M + 1})["z"]
    assert np.allclose(found, np.tanh(np.maximum(X, 0) + M) * (M + 1))


def test_kept_outputs_leave_out_the_rest(tmp_path: Path) -> None:
    made, out = linked(tmp_path, {"e": ENCODER, "d": DECODER}, keep=["d.z", "y"])
    assert made.outputs == ["z", "y"]
    made, out = linked(tmp_path, {"e": ENCODER, "d": DECODER}, keep="y", apart="m")
    assert (made.inputs, made.outputs) == (["x", "m"], ["y"]), "no `d_m`, which nothing needs"
    assert "tanh" not in miltext.to_text(out)


def test_a_model_twice(tmp_path: Path) -> None:
    made, out = linked(tmp_path, {"a": ENCODER, "b": ENCODER}, bind={"a.y": "b.x"})
    assert (made.inputs, made.outputs) == (["x", "m"], ["y"])
    assert np.array_equal(miltext.run(out, {"x": X, "m": M})["y"], np.maximum(np.maximum(X, 0) + M, 0) + M)
    side, _ = linked(tmp_path, [ENCODER, ENCODER])
    assert side.outputs == ["y", "model_2_y"]


def test_an_output_that_is_an_input_keeps_its_name(tmp_path: Path) -> None:
    through = text("tensor<fp32, [4]> h = relu(x = y);", "tensor<fp32, [4]> y", "h, y")
    made, out = linked(tmp_path, {"e": ENCODER, "t": through}, keep=["t.h", "t.y"])
    assert made.outputs == ["h", "t_y"] or made.outputs == ["h", "y"]
    found = miltext.run(out, {"x": X, "m": M})
    assert np.array_equal(found[made.outputs[1]], np.maximum(X, 0) + M)


def test_inner_blocks_see_bound_values(tmp_path: Path) -> None:
    body = (
        "bool p = const()[val = bool(true)]; tensor<fp32, [4]> z = cond(pred = p)"
        ' () { tensor<fp32, [4]> h = tanh(x = y)[name = string("h")]; } -> (h)'
        ' () { tensor<fp32, [4]> k = relu(x = y)[name = string("k")]; } -> (k);'
    )
    branches = text(body, "tensor<fp32, [4]> y", "z")
    made, out = linked(tmp_path, {"e": ENCODER, "b": branches})
    assert np.allclose(miltext.run(out, {"x": X, "m": M})[made.outputs[0]], np.tanh(np.maximum(X, 0) + M))


# ---- states

STATE = text(
    "tensor<fp16, [4]> k = read_state(input = s); tensor<fp16, [4]> y = add(x = k, y = x); "
    "write_state(input = s, data = y);",
    "tensor<fp16, [4]> x, state<tensor<fp16, [4]>> s",
)


def test_states_stay_apart_or_are_one(tmp_path: Path) -> None:
    made, out = linked(tmp_path, {"a": STATE, "b": STATE}, bind={"a.y": "b.x"})
    assert made.inputs == ["x", "s", "b_s"]
    state: dict[str, Any] = {}
    ones = {"x": np.ones(4, np.float16)}
    first, second = (miltext.run(out, ones, state=state)["y"][0] for _ in range(2))
    assert (first, second) == (1, 3)
    made, out = linked(tmp_path, {"a": STATE, "b": STATE}, bind={"a.y": "b.x", "a.s": "b.s"})
    assert made.inputs == ["x", "s"]
    state = {}
    first, second = (miltext.run(out, ones, state=state)["y"][0] for _ in range(2))
    assert (first, second) == (2, 6), "the second model reads what the first one wrote"
    assert "MIL485 `a.y=b.s` binds a state to a value" in refused(
        tmp_path / "n", {"a": STATE, "b": STATE}, bind={"a.y": "b.s"}
    )


# ---- types


def test_open_sizes_are_inferred(tmp_path: Path) -> None:
    wide = text(
        "tensor<fp32, [?, 4]> z = tanh(x = y); tensor<fp32, [4, ?]> t = transpose(x = z, perm = [1, 0]);",
        "tensor<fp32, [?, 4]> y",
        "t",
    )
    fixed = text("tensor<fp32, [2, 4]> y = relu(x = x);", "tensor<fp32, [2, 4]> x")
    made, out = linked(tmp_path, {"f": fixed, "w": wide}, ranges={"y": "1..8,4"})
    assert [each.sizes for each in made.values] == ["2,4"]
    assert "[4, 2]> t" in miltext.to_text(out)
    assert "?" not in miltext.to_text(out)
    whole = miltext.build(wide, tmp_path / "Wide.mlpackage", ranges={"y": "5..8,4"})
    assert whole == []
    found = refused(tmp_path / "n", {"f": fixed, "w": tmp_path / "Wide.mlpackage"})
    assert found == "MIL488 `w.y` gets [2, 4], but allows the ranges [5..8, 4]"


OPEN = "tensor<fp32, [1, ?]>"


def open_model_of(folder: Path, name: str, given: str, taken: str, sizes: str) -> Path:
    """A package that makes `taken` of `given`, whose sizes are described."""
    made = folder / f"{name}.mlpackage"
    source = text(f"{OPEN} {taken} = relu(x = {given});", f"{OPEN} {given}", taken)
    miltext.build(source, made, ranges={given: sizes})
    return made


def test_described_ranges_hold_after_a_link(tmp_path: Path) -> None:
    wide = open_model_of(tmp_path, "Wide", "x", "h", "1,1..100")
    narrow = open_model_of(tmp_path, "Narrow", "h", "y", "1,2..8")
    with pytest.raises(ModelError) as raised:
        linked(tmp_path, [wide, narrow])
    found = raised.value.diagnostics[0]
    assert (found.code, found.message) == (
        "MIL488",
        "`Narrow.h` gets [1, 1..100], but allows the ranges [1, 2..8]",
    )
    way = "restrict `Wide.x` by `ranges=`, or allow `h` the sizes that it gets, such as 1,1..100"
    assert found.notes[0].message == way
    for ranges in ({"x": "1,2..8"}, {"x": "1,3..4"}, {"h": "1,1..100"}):
        made, _ = linked(tmp_path, [wide, narrow], ranges=ranges)
        assert made.warnings == []
    assert linked(tmp_path, [narrow, wide], bind={"Narrow.y": "Wide.x"})[0].warnings == []


def test_ranges_pass_through_models(tmp_path: Path) -> None:
    """The second model allows more than it gets, so that the third one gets no more than the first one gives."""
    models = [
        open_model_of(tmp_path, *each)
        for each in (("A", "x", "h", "1,2..8"), ("B", "h", "k", "1,1..100"), ("C", "k", "y", "1,1..8"))
    ]
    assert linked(tmp_path, models)[0].warnings == []
    assert refused(tmp_path / "n", models[1:]) == "MIL488 `C.k` gets [1, 1..100], but allows the ranges [1, 1..8]"


def test_unknown_sizes_for_a_described_range_are_a_loss(tmp_path: Path) -> None:
    """The sizes of nonzero values follow from numbers."""
    body = "tensor<int32, [?, 1]> h = non_zero(x = x);"
    found = text(body, "tensor<fp32, [4]> x", "h")
    taken = text("tensor<int32, [?, 1]> y = add(x = h, y = h);", "tensor<int32, [?, 1]> h")
    miltext.build(taken, tmp_path / "T.mlpackage", ranges={"h": "2..3,1"})
    made, _ = linked(tmp_path, {"f": found, "t": tmp_path / "T.mlpackage"})
    assert [each.code for each in made.warnings] == ["MIL450"]
    assert made.warnings[0].message == (
        "the sizes of `f.h` are not known, and `t.h`, bound to it, allows the ranges [2..3, 1] only, which the whole "
        "does not state"
    )
    lost = refused(tmp_path / "n", {"f": found, "t": tmp_path / "T.mlpackage"}, no_loss=True)
    assert lost.startswith("MIL454")


def test_data_types_are_cast_on_request(tmp_path: Path) -> None:
    half = text("tensor<fp16, [4]> z = tanh(x = y);", "tensor<fp16, [4]> y", "z")
    simple = text("tensor<fp32, [4]> y = relu(x = x);")
    found = refused(tmp_path, {"a": simple, "b": half})
    assert found.startswith("MIL488 `a.y` is tensor<fp32, [4]>, but `b.y`, bound to it, is tensor<fp16, [4]>")
    made, out = linked(tmp_path, {"a": simple, "b": half, "c": half}, cast=True)
    assert [each.cast for each in made.values] == ["fp16", "fp16"]
    assert sum(op.type == "cast" for op in miltext.Graph(miltext.load(out).program).walk()) == 1, "one for both"


@pytest.mark.parametrize("given", ["tensor<fp32, [5]>", "tensor<fp32, [1, 4]>", "tensor<fp32, [?]>"])
def test_sizes_that_differ_are_refused(given: str, tmp_path: Path) -> None:
    simple = text(f"{given} y = relu(x = x);", f"{given} x")
    assert refused(tmp_path, {"a": simple, "d": DECODER}, ranges={"x": "1..4"} if "?" in given else None).startswith(
        "MIL488"
    )


def test_inputs_of_one_name_that_differ_are_refused(tmp_path: Path) -> None:
    other = text("tensor<fp16, [4]> y = relu(x = x);", "tensor<fp16, [4]> x")
    found = refused(tmp_path, {"a": ENCODER, "b": other})
    assert found == "MIL489 `a.x` and `b.x` would be one input, and are tensor<fp32, [4]> and tensor<fp16, [4]>"
    made, _ = linked(tmp_path, {"a": ENCODER, "b": other}, apart="x")
    assert made.inputs == ["x", "m", "b_x"]


def test_the_opset_is_the_newest(tmp_path: Path) -> None:
    old = text("tensor<fp32, [4]> y = relu(x = x);", opset="ios15")
    _, out = linked(tmp_path, {"a": old, "d": DECODER})
    model = miltext.load(out)
    (function,) = model.program.functions.values()
    assert (function.opset, [*function.block_specializations], model.specification_version) == (
        "CoreML8",
        ["CoreML8"],
        9,
    )
    gone = text(
        "tensor<fp32, [1, 1, 1, 4, 4]> y = crop_resize(x = x, roi = r, target_height = int32(4), "
        "target_width = int32(4));",
        "tensor<fp32, [1, 1, 8, 8]> x, tensor<fp32, [1, 1, 5, 1, 1]> r",
        opset="ios15",
    )
    found = refused(tmp_path / "n", {"a": gone, "d": DECODER}, apart="y")
    assert "is of ios15 and would become ios18: `crop_resize` has no parameter `roi` there" in found


def test_attributes_of_both_stay_or_are_reported(tmp_path: Path) -> None:
    one = ENCODER.replace("program(1.3)", 'program(1.3)[team = string("a"), own = string("e")]')
    other = DECODER.replace("program(1.3)", 'program(1.3)[team = string("b"), mine = string("d")]')
    made, out = linked(tmp_path, {"e": one, "d": other})
    assert [each.message for each in made.warnings] == ["another attribute `team` of `d` is not kept"]
    found = {
        key: each.immediateValue.tensor.strings.values[0] for key, each in miltext.load(out).program.attributes.items()
    }
    assert found == {"team": "a", "own": "e", "mine": "d"}


# ---- refusals


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ({"bind": {"e.y": "d.q"}}, "MIL430 `d` has no input `q`"),
        ({"bind": {"e.why": "d.y"}}, "MIL430 `e` has no output or input `why`"),
        ({"bind": {"x.y": "d.y"}}, "MIL430 unknown model `x`"),
        ({"bind": {"e.y": "d.z"}}, "MIL430 `z` is an output of `d`, and a binding ends at an input"),
        ({"bind": {"e.y": "e.x"}}, "MIL485 `e.y=e.x` binds a model to itself"),
        ({"bind": {"e.x": "e.x"}}, "MIL485 `e.x=e.x` binds a model to itself"),
        ({"bind": {"e.y": "d.y", "e.m": "d.y"}}, "MIL485 `d.y` is bound twice, to `e.y` and to `e.m`"),
        ({"bind": {"d.z": "e.x"}}, "MIL485 the bindings form a circle: `e.y` -> `d.y`, `d.z` -> `e.x`"),
        ({"bind": {"e.x": "d.m", "d.m": "e.x"}}, "MIL485 the bindings form a circle"),
        ({"apart": ["n"]}, "MIL430 unknown input `n`"),
        ({"keep": ["q"]}, "MIL430 unknown output `q`"),
        ({"keep": ["z", "d.z"]}, "MIL485 the output `d.z` is named twice"),
        ({"function": "nope"}, "MIL430 unknown function `nope`"),
        ({"function": {"q": "main"}}, "MIL430 unknown model `q`"),
        ({"ranges": {"q": "1"}}, "MIL430 unknown input `q`"),
    ],
)
def test_an_impossible_binding_is_refused(how: dict[str, Any], expected: str, tmp_path: Path) -> None:
    assert refused(tmp_path, {"e": ENCODER, "d": DECODER}, **how).startswith(expected)


def test_places_name_models_of_one_name(tmp_path: Path) -> None:
    made, _ = linked(tmp_path, [ENCODER, DECODER], bind={"0.x": "1.m"})
    assert [each.target for each in made.values] == ["model_2.m", "model_2.y"]
    assert refused(tmp_path / "n", [ENCODER, ENCODER], keep="y").startswith(
        "MIL485 several models have an output `y`: write `model.y` or `model_2.y`"
    )


def test_other_models_are_refused(tmp_path: Path) -> None:
    assert refused(tmp_path, []).startswith("MIL485 no model is named")
    with pytest.raises(TypeError, match="several models"):
        miltext.link(ENCODER, tmp_path / "W.mlpackage")
    undefined = text("tensor<fp32, [4]> y = relu(x = h);")
    assert "uses `h`, which nothing defines" in refused(tmp_path, {"e": ENCODER, "u": undefined}, apart=["x"])
    with pytest.raises(ModelError) as raised:
        miltext.link([ENCODER], tmp_path / "W.mil")
    assert raised.value.diagnostics[0].code == "MIL401"


def test_an_input_is_replaced_only_when_all_is_written(tmp_path: Path) -> None:
    out = tmp_path / "E.mlpackage"
    miltext.build(ENCODER, out)
    with pytest.raises(FileExistsError):
        miltext.link([out, out], out)
    made = miltext.link([out, out], out, force=True)
    assert made.outputs == ["y", "E_2_y"]
    assert [*miltext.load(out).program.functions] == ["main"]
    with pytest.raises(ModelError):
        miltext.link([out, out], out / "Inner.mlpackage")


# ---- weights and files


def weighted(folder: Path, numbers: Any, name: str = "w") -> Path:
    """A text whose weight is in a file of its folder."""
    folder.mkdir()
    with BlobWriter(folder / "weight.bin") as writer:
        offset = writer.add(BY_NAME["fp32"], numbers)
    held = f'BLOBFILE(path = string("@model_path/weight.bin"), offset = uint64({offset}))'
    body = (
        f'tensor<fp32, [4]> {name} = const()[name = string("{name}"), val = tensor<fp32, [4]>({held})]; '
        f"tensor<fp32, [4]> y = add(x = x, y = {name});"
    )
    path = folder / "m.mil"
    path.write_text(text(body), encoding="utf-8")
    return path


def test_equal_weights_are_stored_once(tmp_path: Path) -> None:
    one, other = weighted(tmp_path / "a", X), weighted(tmp_path / "b", X)
    different = weighted(tmp_path / "c", M)
    made, out = linked(tmp_path, [one, other, different], bind={"0.y": "1.x", "1.y": "2.x"})
    assert np.array_equal(miltext.run(out, {"x": X})["y"], X + X + X + M)
    assert made.weights == (3 * X.nbytes, 2 * X.nbytes)
    store = out / "Data/com.apple.CoreML/weights/weight.bin"
    assert (made.constants, os.path.getsize(store)) == (1, 272), "two records with heads"
    assert sorted(miltext.load(out).weights) == ["w", "w_1"]
    for ending in (".mlmodel", ".mlmodelc"):
        miltext.link([one, other, different], tmp_path / f"W{ending}", bind={"0.y": "1.x", "1.y": "2.x"})
        assert np.array_equal(miltext.run(tmp_path / f"W{ending}", {"x": X})["y"], X + X + X + M)


def test_progress_reaches_the_expected_number(tmp_path: Path) -> None:
    one, other = weighted(tmp_path / "a", X), weighted(tmp_path / "b", X)
    totals: list[Any] = []
    done: list[int] = []
    linked(tmp_path, [one, other], progress=done.append, expect=lambda total: totals.append(total()))
    assert totals == [sum(done)]


def test_arrays_of_texts_are_stored_once(tmp_path: Path) -> None:
    for name, numbers in (("a", X), ("b", M), ("c", X)):
        (tmp_path / name).mkdir()
        np.save(tmp_path / name / "w.npy", numbers)
        body = 'w = const()[val = tensor<fp32, [4]>($npy("w.npy"))]; y = add(x = x, y = w);'
        (tmp_path / name / "m.mil").write_text(text(body), encoding="utf-8")
    models = [tmp_path / name / "m.mil" for name in "abc"]
    made, out = linked(tmp_path, models, bind={"0.y": "1.x", "1.y": "2.x"})
    assert np.array_equal(miltext.run(out, {"x": X})["y"], X + X + M + X)
    assert made.weights == (3 * X.nbytes, 2 * X.nbytes)


def test_a_lost_weight_file_is_an_error(tmp_path: Path) -> None:
    path = weighted(tmp_path / "a", X)
    miltext.build(path, tmp_path / "A.mlpackage")
    store = tmp_path / "A.mlpackage/Data/com.apple.CoreML/weight.bin"
    store.write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n")
    assert refused(tmp_path, [tmp_path / "A.mlpackage", ENCODER]).startswith("MIL3")
    store.unlink()
    assert refused(tmp_path, [tmp_path / "A.mlpackage", ENCODER]).startswith("MIL302")


def test_a_second_link_is_equal_byte_for_byte(tmp_path: Path) -> None:
    one, other = weighted(tmp_path / "a", X), weighted(tmp_path / "b", M)
    for name in ("One.mlpackage", "Two.mlpackage"):
        miltext.link({"a": one, "b": other, "c": DECODER}, tmp_path / name)
    assert same_files(tmp_path / "One.mlpackage", tmp_path / "Two.mlpackage")


# ---- functions


def test_functions_share_weights(tmp_path: Path) -> None:
    one, other = weighted(tmp_path / "a", X), weighted(tmp_path / "b", X)
    made, out = linked(tmp_path, {"prefill": one, "decode": other}, functions=True)
    model = open_model(out)
    assert model.description is not None
    assert (made.functions, model.description.defaultFunctionName) == (["prefill", "decode"], "prefill")
    assert [each.name for each in model.description.functions] == ["prefill", "decode"]
    assert len({held.value.blobFileValue.offset for held in miltext.load(out).weights.in_files()}) == 1
    assert np.array_equal(miltext.run(out, {"x": X}, function="decode")["y"], X + X)


def test_functions_keep_their_opsets(tmp_path: Path) -> None:
    old = text("tensor<fp32, [4]> y = relu(x = x);", opset="ios16")
    _, out = linked(tmp_path, {"a": old, "b": DECODER}, functions=True)
    program, version = miltext.load(out).program, miltext.load(out).specification_version
    assert ([program.functions[name].opset for name in "ab"], version) == (["CoreML6", "CoreML8"], 9)


def test_functions_have_names_without_quotes(tmp_path: Path) -> None:
    made, out = linked(tmp_path, {"Model-v1": ENCODER, "Model_v1": DECODER, "fp16": DECODER}, functions=True)
    assert made.functions == ["Model_v1_1", "Model_v1", "fp16_1"]
    assert miltext.check(out) == []


@pytest.mark.parametrize("how", [{"keep": "y"}, {"bind": {"e.y": "d.y"}}, {"apart": ["y"]}, {"cast": True}])
def test_functions_have_no_bindings(how: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="`functions` cannot be combined with `bind`"):
        linked(tmp_path, {"e": ENCODER, "d": DECODER}, functions=True, **how)
    assert [*tmp_path.iterdir()] == []


def test_blocks_for_other_opsets_are_left_out(tmp_path: Path) -> None:
    program = miltext.parse(ENCODER)
    function = program.functions["main"]
    function.block_specializations["CoreML7"].CopyFrom(function.block_specializations["CoreML8"])
    made, out = linked(tmp_path, {"e": program, "d": DECODER})
    assert [each.message for each in made.warnings] == ["the block of `main` of `e` for `ios17` is left out"]
    assert [*miltext.load(out).program.functions["main"].block_specializations] == ["CoreML8"]


def test_one_function_of_several(tmp_path: Path) -> None:
    both = miltext.link({"e": ENCODER, "d": DECODER}, tmp_path / "Both.mlpackage", functions=True)
    assert both.functions == ["e", "d"]
    package = tmp_path / "Both.mlpackage"
    made, out = linked(tmp_path, {"one": package, "two": package}, function={"two": "d"})
    assert [str(each) for each in made.values] == ["one.y -> two.y", "one.m and two.m are one input"]
    whole, single = miltext.load(out).program, miltext.load(tmp_path / "Both.mlpackage").program
    assert len(whole.functions) == 1 < len(single.functions)


# ---- the parts of a model


def test_the_parts_of_a_model_are_the_model_again(tmp_path: Path) -> None:
    body = "\n".join(
        f"tensor<fp32, [4]> v{n} = {['relu', 'tanh'][n % 2]}(x = {f'v{n - 1}' if n else 'x'});" for n in range(9)
    )
    whole = miltext.parse(text(body, outputs="v8"))
    miltext.extract(whole, "v3", tmp_path / "A.mlpackage")
    miltext.extract(whole, "v8", tmp_path / "B.mlpackage", inputs="v3")
    _, out = linked(tmp_path, [tmp_path / "A.mlpackage", tmp_path / "B.mlpackage"])
    again = miltext.load(out).program
    assert bool(miltext.diff(whole, again)) is False
    rename_values(again)
    rename_values(whole)
    assert again == whole


def test_fifty_thousand_operations_take_linear_time(tmp_path: Path) -> None:
    def long(count: int) -> miltext.Model:
        lines = [f"tensor<fp32, [4]> v{n} = relu(x = {f'v{n - 1}' if n else 'x'});" for n in range(count)]
        (tmp_path / f"{count}.mil").write_text(text("\n".join(lines), outputs=f"v{count - 1}"), encoding="utf-8")
        return miltext.load(tmp_path / f"{count}.mil")

    def taken(count: int) -> float:
        model = long(count)
        start = time.perf_counter()
        miltext.link(
            {"a": model, "b": model}, tmp_path / f"{count}.mlpackage", bind={f"a.v{count - 1}": "b.x"}, check=False
        )
        return time.perf_counter() - start

    assert taken(25_000) < 16 * taken(2_500) + 1, "ten times the operations"
