"""What a split makes of odd programs and requests, and what it refuses."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import EXAMPLE

import miltext
from miltext.containers.opening import open_model
from miltext.diagnostics import ModelError

X = "tensor<fp32, [2, 3]> x, tensor<fp32, [2, 3]> z, bool p"
CHAIN = "a = relu(x = x); b = exp(x = a); c = tanh(x = b); d = add(x = c, y = z);"
SKIP = "a = relu(x = x); b = exp(x = a); c = tanh(x = b); d = add(x = c, y = a);"
TOWERS = "a = relu(x = x); b = exp(x = z); c = tanh(x = a); d = cos(x = b); e = add(x = c, y = d);"
MASKED = "a = relu(x = x); m = greater(x = x, y = a); b = exp(x = a); c = select(cond = m, a = a, b = b);"
BOOLS = "m = greater(x = x, y = z); n = logical_not(x = m); o = select(cond = n, a = x, b = z);"
SEVERAL = "q, r = split(x = x, axis = 0, num_splits = 2); s = add(x = q, y = r);"
SHARED = """
    w = const()[val = [[1.5, 2, 3], [4, 5, 6]]]; a = add(x = x, y = w); b = exp(x = a); c = mul(x = b, y = w);
"""
COND = """
    a = relu(x = x); w = exp(x = z);
    tensor<fp32, [2, 3]> y = cond(pred = p)
        () { tensor<fp32, [2, 3]> inside = add(x = a, y = w); } -> (inside)
        () { } -> (a);
    e = exp(x = y);
"""
DEAD = "a = relu(x = x); dead = exp(x = a); c = tanh(x = a); idle = const()[val = [[1.5, 2, 3], [4, 5, 6]]];"
STATES = "tensor<fp16, [4]> x, state<tensor<fp16, [4]>> k"
WRITES = """
    u = relu(x = x);
    k0 = read_state(input = k);
    a = add(x = k0, y = u);
    b = exp(x = a);
    write_state(input = k, data = b);
    c = tanh(x = b);
"""


def text(statements: str, outputs: str, inputs: str = X) -> str:
    draft = f"program(1.3) {{ func main<ios18>({inputs}) {{ {statements} }} -> ({outputs}); }}"
    return miltext.infer_draft(draft)


def shown(made: miltext.Splitting) -> list[str]:
    """Each part in a line: what it takes, an arrow, and what it gives."""
    return [
        f"{' '.join(each.name for each in part.inputs)} -> {' '.join(each.name for each in part.outputs)}"
        for part in made.parts
    ]


AT: dict[str, tuple[str, str, str, list[str]]] = {
    "one value": (CHAIN, "d", "b", ["x p -> b", "z b -> d"]),
    "in any order": (CHAIN, "d", "c a", ["x p -> a", "a -> c", "z c -> d"]),
    "twice": (CHAIN, "d", "b b", ["x p -> b", "z b -> d"]),
    "a value that passes by": (SKIP, "d", "a c", ["x z p -> a", "a -> c", "a c -> d"]),
    "an output that is used later": (CHAIN, "b, d", "b", ["x p -> b", "z b -> d"]),
    "an output twice": (CHAIN, "d, d", "b", ["x p -> b", "z b -> d d"]),
    "one of two outputs": (TOWERS, "c, d", "c", ["x p -> c", "z c -> d"]),
    "one tower": (TOWERS, "e", "c", ["x p -> c", "z c -> e"]),
    "an input that is an output": (CHAIN, "d, x", "b", ["x p -> b", "x z b -> d x"]),
    "a constant that is an output": (SHARED, "c, w", "b", ["x z p -> b", "b -> c w"]),
    "a constant of two parts": (SHARED, "c", "a", ["x z p -> a", "a -> c"]),
    "blocks that capture values of other parts": (COND, "e", "a w", ["x -> a", "z -> w", "p a w -> e"]),
    "what no output needs": (DEAD, "c", "a", ["x z p -> a", "a -> c"]),
    "one output of an operation": (SEVERAL, "s", "q", ["x z p -> q r", "q r -> s"]),
    "a mask that is not in need": (MASKED, "c", "b", ["x z p -> a b", "x a b -> c"]),
}


@pytest.mark.parametrize("name", AT)
def test_parts_end_at_values(name: str) -> None:
    statements, outputs, at, expected = AT[name]
    assert shown(miltext.split(text(statements, outputs), at=at.split())) == expected


REFUSED: dict[str, tuple[str, str, str, str, str]] = {
    "an input": (CHAIN, "d", "x", "MIL494", "it is an input of the function"),
    "the only output": (CHAIN, "d", "d", "MIL494", "the outputs of the function need nothing after it"),
    "a constant": (SHARED, "c", "w", "MIL494", "it is a constant"),
    "what no output needs": (DEAD, "c", "dead", "MIL494", "no output of the function needs it"),
    "an inner value": (COND, "e", "inside", "MIL446", "`inside` is a value of an inner block"),
    "an unknown name": (CHAIN, "d", "bb", "MIL430", "unknown value `bb`"),
    "an empty part": (SEVERAL, "s", "q r", "MIL494", "contains everything that it needs"),
    "a bool": (MASKED, "c", "m", "MIL446", "`m` is tensor<bool, [2, 3]>, which cannot be an input of a model"),
    "where a bool crosses": (
        BOOLS + "t = exp(x = o); u = select(cond = m, a = t, b = o);",
        "u",
        "o",
        "MIL446",
        "`m` is",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_value_that_is_not_a_boundary_is_refused(name: str) -> None:
    statements, outputs, at, code, words = REFUSED[name]
    with pytest.raises(ModelError) as raised:
        miltext.split(text(statements, outputs), at=at.split())
    found = raised.value.diagnostics[0]
    assert found.code == code
    assert words in found.message


def test_a_value_that_prevents_a_boundary_is_named_with_its_use() -> None:
    statements = f"{BOOLS} t = exp(x = o); u = select(cond = m, a = t, b = o);"
    with pytest.raises(ModelError) as raised:
        miltext.split(text(statements, "u"), at="o")
    assert raised.value.diagnostics[0].notes[0].message == "it would cross the boundary at `o`, to `u`"


@pytest.mark.parametrize("inputs", ["tensor<int8, [2]> x", "tensor<fp32, []> x"])
def test_a_type_that_no_description_carries_is_not_a_boundary(inputs: str) -> None:
    """A scalar, and int8 before iOS 26."""
    source = text('a = identity(x = x); b = identity(x = a); c = cast(x = b, dtype = "fp32");', "c", inputs)
    with pytest.raises(ModelError) as raised:
        miltext.split(source, at="a")
    assert raised.value.diagnostics[0].code == "MIL446"
    with pytest.raises(ModelError) as raised:
        miltext.split(source, parts=2)
    assert raised.value.diagnostics[0].code == "MIL499"


def test_a_list_is_not_a_boundary() -> None:
    statements = """
        l = make_list(init_length = 1, dynamic_length = true, elem_shape = ("2", "3"), dtype = "fp32");
        m = list_write(ls = l, index = 0, value = x); g = list_gather(ls = m, indices = [0]); o = exp(x = g);
    """
    source = text(statements, "o")
    for how in ({"at": "m"}, {"parts": 2}):
        with pytest.raises(ModelError, match=r"`m` is list<.*, which cannot be an input of a model"):
            miltext.split(source, **how)


PHOTO = """
    a = relu(x = x); out = mul(x = a, y = 255.0); extra = exp(x = out); last = tanh(x = extra);
"""
IMAGES = "tensor<fp32, [1, 3, 8, 8]> x"
AS_IMAGE = """
[[input]]
name = "x"
type = "multiArray"
dataType = "fp32"
shape = [1, 3, 8, 8]
[[output]]
name = "out"
type = "image"
colorSpace = "RGB"
width = 8
height = 8
[[output]]
name = "last"
shortDescription = "the last one"
type = "multiArray"
dataType = "fp32"
"""


def photo(tmp_path: Path, statements: str) -> Path:
    """A model whose output `out` is an image, which Core ML rounds."""
    description, built = tmp_path / "photo.toml", tmp_path / "Photo.mlpackage"
    description.write_text(AS_IMAGE)
    miltext.build(text(statements, "out, last", IMAGES), built, description=description)
    return built


def test_an_image_that_is_used_later_crosses_no_boundary(tmp_path: Path) -> None:
    built = photo(tmp_path, PHOTO)
    assert shown(miltext.split(built, parts=3)) == ["x -> a", "a -> out extra", "extra -> last"]
    for pipeline in (False, True):
        with pytest.raises(ModelError) as raised:
            miltext.split(built, at="out", pipeline=pipeline)
        found = raised.value.diagnostics[0]
        expected = "`out` is an image outside, whose numbers Core ML rounds, and later operations use it"
        assert (found.code, found.message) == ("MIL446", expected)
        assert found.notes[0].message == "it would cross the boundary at `out`, to `extra`"
    pipe = tmp_path / "Pipe.mlpackage"
    miltext.split(built, pipe, at="extra", pipeline=True)
    assert [each for each in miltext.check(pipe) if each.severity == "error"] == []


def test_an_image_that_ends_a_part_alone_may_do_so(tmp_path: Path) -> None:
    statements = "a = relu(x = x); out = mul(x = a, y = 255.0); b = tanh(x = a); last = exp(x = b);"
    built = photo(tmp_path, statements)
    assert shown(miltext.split(built, at=["a", "out"])) == ["x -> a", "a -> out", "a -> last"]


def test_open_sizes_cross_with_a_range(tmp_path: Path) -> None:
    source = text("a = relu(x = x); b = exp(x = a); c = tanh(x = b);", "c", "tensor<fp32, [?, 3]> x")
    with pytest.raises(ModelError) as raised:
        miltext.split(source, at="a")
    assert raised.value.diagnostics[0].code == "MIL452"
    made = miltext.split(source, tmp_path / "parts", at="a", ranges={"x": "1..8,3", "a": "1..8,3"})
    assert made.parts[1].inputs[0].bytes == 8 * 3 * 4
    built = tmp_path / "Model.mlpackage"
    miltext.build(source, built, ranges={"x": "1..8,3"})
    assert shown(miltext.split(built, at="a")) == ["x -> a", "a -> c"]  # its range follows
    with pytest.raises(ModelError, match="which no output of a model in a pipeline describes"):
        miltext.split(built, at="a", pipeline=True)
    with pytest.raises(ModelError) as raised:
        miltext.split(built, at="a", ranges={"nope": "3"})
    assert raised.value.diagnostics[0].code == "MIL430"


def test_all_uses_of_a_state_are_in_one_part() -> None:
    source = text(WRITES, "c", STATES)
    assert shown(miltext.split(source, at="u")) == ["x -> u", "k u -> c"]
    assert shown(miltext.split(source, at="b")) == ["x k -> b", "b -> c"]  # with the write after it
    with pytest.raises(ModelError) as raised:
        miltext.split(source, parts=5)
    assert raised.value.diagnostics[0].code == "MIL499"
    assert "3 are possible" in raised.value.diagnostics[0].message
    notes = [each.message for each in raised.value.diagnostics[0].notes]
    assert notes[0] == "the state `k` is used from `k0` to `b`"
    with pytest.raises(ModelError, match="the part before `k0` contains everything that it needs"):
        miltext.split(source, at=["a", "k0"])


def test_parts_without_weights_have_equally_many_operations() -> None:
    made = miltext.split(text(CHAIN, "d"), parts=2)
    assert [each.operations for each in made.parts] == [2, 2]
    assert made.weights == made.copied == 0


def test_constant_values_are_computed_where_they_are_used() -> None:
    """The reshaped table is first in the program; it is used last."""
    rows = ", ".join(f"[{', '.join(['0.5'] * 8)}]" for _ in range(4))
    statements = f"""
        w = const()[val = [{rows}]]; s = reshape(x = w, shape = [8, 4]); t = exp(x = s); u = cos(x = s);
        a = relu(x = x); b = exp(x = a); c = tanh(x = b); d = matmul(x = c, y = t); e = sin(x = d);
    """
    made = miltext.split(text(statements, "e, u", "tensor<fp32, [1, 8]> x"), at="b")
    assert shown(made) == ["x -> b", "b -> e u"]
    made = miltext.split(text(statements, "e, u", "tensor<fp32, [1, 8]> x"), parts=2)
    (crossing,) = made.parts[1].inputs
    assert crossing.bytes == 8 * 4
    assert made.parts[1].outputs[-1].name == "u"


def test_an_order_of_constants_alone_is_valid() -> None:
    source = text("s = exp(x = [1.5, 2]); t = cos(x = s);", "t, s", "tensor<fp32, [2]> x")
    assert shown(miltext.split(source, parts=1)) == ["x -> t s"]
    assert shown(miltext.split(source, at="s")) == ["x -> s", "s -> t"]


def test_one_operation_is_one_part() -> None:
    source = text("a = relu(x = x);", "a")
    assert shown(miltext.split(source, parts=1)) == ["x z p -> a"]
    assert shown(miltext.split(source, max_weights=1)) == ["x z p -> a"]
    with pytest.raises(ModelError, match="2 parts are requested of `main`, but it cannot be cut"):
        miltext.split(source, parts=2)


@pytest.mark.parametrize("outputs", ["x", "w"])
def test_a_program_that_computes_nothing_is_one_part(outputs: str) -> None:
    source = text("w = const()[val = [1.5, 2]];", outputs)
    assert shown(miltext.split(source, parts=1)) == [f"x z p -> {outputs}"]
    with pytest.raises(ModelError):
        miltext.split(source, parts=2)


def test_no_possible_boundary_is_an_error_with_its_reasons() -> None:
    with pytest.raises(ModelError) as raised:
        miltext.split(text(BOOLS, "o"), parts=2)
    found = raised.value.diagnostics[0]
    assert found.message == "2 parts are requested of `main`, but it cannot be cut"
    assert [each.message for each in found.notes[:2]] == [
        "`m` is tensor<bool, [2, 3]>, which cannot be an input of a model: it is used from `m` to `n`",
        "`n` is tensor<bool, [2, 3]>, which cannot be an input of a model: it is used from `n` to `o`",
    ]


def large(count: int = 4) -> str:
    rows = ", ".join(f"[{', '.join([f'{row}.5'] * 32)}]" for row in range(32))
    lines = (f"h{place + 1} = linear(x = h{place}, weight = [{rows}]);" for place in range(count))
    return text("".join(lines), f"h{count}", "tensor<fp32, [1, 32]> h0")


WEIGHT = 32 * 32 * 4


def test_parts_by_size_have_no_more_weights() -> None:
    made = miltext.split(large(5), max_weights=2 * WEIGHT)
    assert [each.weights for each in made.parts] == [2 * WEIGHT, 2 * WEIGHT, WEIGHT]
    assert made.weights == 5 * WEIGHT
    with pytest.raises(ModelError) as raised:
        miltext.split(large(), max_weights=WEIGHT - 1)
    expected = "a weight of 4,096 bytes, which `h1` uses, is larger than a part of 4,095 bytes"
    assert raised.value.diagnostics[0].message == expected


def test_weights_of_several_parts_are_in_each() -> None:
    rows = ", ".join(f"[{', '.join(['0.5'] * 32)}]" for _ in range(32))
    statements = f"w = const()[val = [{rows}]]; a = linear(x = x, weight = w); b = linear(x = a, weight = w);"
    made = miltext.split(text(statements, "b", "tensor<fp32, [1, 32]> x"), parts=2)
    assert (made.weights, made.copied) == (WEIGHT, WEIGHT)
    assert made.to_text().endswith("; 4,096 bytes of weights are in several parts\n")


def test_a_program_without_a_chosen_function_is_refused(tmp_path: Path) -> None:
    one, other = (f"func {name}<ios18>(tensor<fp32, [2]> x) {{ y = relu(x = x); }} -> (y);" for name in ("f", "g"))
    source = miltext.infer_draft(f"program(1.3) {{ {one} {other} }}")
    with pytest.raises(ModelError, match="the program has the functions `f` and `g`"):
        miltext.split(source, parts=1)
    with pytest.raises(ModelError, match="unknown function `h`"):
        miltext.split(source, parts=1, function="h")
    assert [each.function for each in miltext.split(source, tmp_path / "parts", functions=True).parts] == ["f", "g"]
    assert sorted(each.name for each in (tmp_path / "parts").iterdir()) == ["01_f.mlpackage", "02_g.mlpackage"]


# ---- requests and outputs


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"parts": 2, "at": "b"},
        {"parts": 2, "functions": True},
        {"functions": True, "pipeline": True},
        {"functions": True, "function": "main"},
    ],
)
def test_a_split_has_one_way(how: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        miltext.split(text(CHAIN, "d"), **how)


@pytest.mark.parametrize("how", [{"parts": 0}, {"max_weights": 0}])
def test_a_number_is_at_least_1(how: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must be at least 1, not 0"):
        miltext.split(text(CHAIN, "d"), **how)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLE, tmp_path / "Model.mlpackage"))


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def test_a_folder_is_replaced_only_with_force_if_it_has_parts(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out" / "parts"
    miltext.split(model, out, parts=3)
    with pytest.raises(FileExistsError):
        miltext.split(model, out, parts=2)
    assert len(names(out)) == 3
    miltext.split(model, out, parts=2, force=True)
    assert names(out) == ["01_Model.mlpackage", "02_Model.mlpackage"]
    (out / "mine.txt").write_text("mine")
    with pytest.raises(ModelError, match=r"this contains 'mine.txt', and is not replaced"):
        miltext.split(model, out, parts=2, force=True)
    assert len(names(out)) == 3
    assert names(tmp_path / "out") == ["parts"]


def test_an_empty_folder_is_filled(model: Path, tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    miltext.split(model, tmp_path / "parts", parts=2)
    assert len(names(tmp_path / "parts")) == 2


def test_nothing_is_written_into_the_model_or_over_it(model: Path, tmp_path: Path) -> None:
    before = sorted(model.rglob("*"))
    for out in (model / "parts", model / "Data" / "parts"):
        with pytest.raises(ModelError, match="this is inside the input model"):
            miltext.split(model, out, parts=2, force=True)
    with pytest.raises(ModelError):
        miltext.split(model, model, parts=2, force=True)
    moved = tmp_path / "01_folder.mlpackage" / "01_Model.mlpackage"
    shutil.copytree(model, moved)
    with pytest.raises(ModelError):
        miltext.split(moved, moved.parent, parts=2, force=True)
    assert sorted(model.rglob("*")) == before


def test_a_pipeline_is_a_package_and_parts_are_in_a_folder(model: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"a pipeline is an .mlpackage"):
        miltext.split(model, tmp_path / "parts", parts=2, pipeline=True)
    with pytest.raises(ModelError, match="the parts are packages in a folder"):
        miltext.split(model, tmp_path / "Parts.mlpackage", parts=2)
    assert names(tmp_path) == ["Model.mlpackage"]


def test_a_failed_part_leaves_nothing(model: Path, tmp_path: Path) -> None:
    weights = next(model.rglob("*.bin"))
    weights.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
    assert len(miltext.split(model, parts=2).parts) == 2  # a plan reads no weights
    for out in (tmp_path / "parts", tmp_path / "Pipe.mlpackage"):
        with pytest.raises(miltext.MiltextError) as raised:
            miltext.split(model, out, parts=2, pipeline=out.suffix != "")
        assert raised.value.diagnostics[0].code == "MIL303", raised.value
    assert names(tmp_path) == ["Model.mlpackage"]
    weights.unlink()
    made = miltext.split(model, tmp_path / "parts", parts=2)  # as a build of the whole
    assert {each.code for each in made.warnings} == {"MIL451"}


def test_labels_and_metadata_stay_with_their_parts(model: Path, tmp_path: Path) -> None:
    miltext.split(model, tmp_path / "parts", parts=2)
    first, last = (open_model(each).description for each in sorted((tmp_path / "parts").iterdir()))
    whole = open_model(model).description
    assert whole is not None
    assert first is not None
    assert last is not None
    assert [each.name for each in first.input] == [each.name for each in whole.input]
    assert first.input[0] == whole.input[0]
    assert not first.predictedFeatureName
    assert last.predictedFeatureName == whole.predictedFeatureName
    assert [*last.output] == [*whole.output]
    assert first.metadata == last.metadata == whole.metadata


@pytest.mark.parametrize("pipeline", [False, True])
def test_entries_of_other_parts_are_not_lost(pipeline: bool, tmp_path: Path) -> None:
    built = photo(tmp_path, PHOTO)
    out = tmp_path / ("Pipe.mlpackage" if pipeline else "parts")
    made = miltext.split(built, out, at=["a", "extra"], pipeline=pipeline, no_loss=True)
    assert made.warnings == []
    assert len(made.parts) == 3


def test_entries_of_functions_that_are_not_part_are_lost(tmp_path: Path) -> None:
    whole = tmp_path / "Whole.mlpackage"
    photo(tmp_path, PHOTO)
    miltext.link({"a": tmp_path / "Photo.mlpackage", "b": tmp_path / "Photo.mlpackage"}, whole, functions=True)
    with pytest.raises(ModelError) as raised:
        miltext.split(whole, tmp_path / "parts", at="a", function="a", no_loss=True)
    found = raised.value.diagnostics
    assert {each.code for each in found} == {"MIL454"}
    assert "of `b` was removed with its function" in found[0].message
    assert "description=" not in str(raised.value)
    assert not (tmp_path / "parts").exists()
    miltext.split(whole, tmp_path / "parts", functions=True, no_loss=True)


def test_a_pipeline_shares_the_weight_file_of_the_model(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "Pipe.mlpackage"
    miltext.split(model, out, parts=3, pipeline=True)
    assert [each.read_bytes() for each in out.rglob("*.bin")] == [each.read_bytes() for each in model.rglob("*.bin")]
    made = open_model(out)
    assert made.type == "pipelineClassifier"
    assert [each.pipeline_name for each in made.models] == ["01_Model", "02_Model", "03_Model"]
    assert made.description == open_model(model).description
    with pytest.raises(FileExistsError):
        miltext.split(model, out, parts=2, pipeline=True)
    miltext.split(model, out, parts=2, pipeline=True, force=True)
    assert len(open_model(out).models) == 2
    parts = tmp_path / "parts"
    miltext.split(out, parts, model="0", parts=2)  # a model in a pipeline
    assert names(parts) == ["01_01_Model.mlpackage", "02_01_Model.mlpackage"]


def test_a_text_is_built_first(tmp_path: Path) -> None:
    (tmp_path / "net.mil").write_text(
        "program(1.3) { func main<ios18>(tensor<fp32, [2]> x) { h = relu(x); y = exp(h); } -> (y); }"
    )
    made = miltext.split(tmp_path / "net.mil", tmp_path / "parts", at="h")
    assert [each.name for each in made.parts] == names(tmp_path / "parts") == ["01_net.mlpackage", "02_net.mlpackage"]


def test_findings_are_reported_once(model: Path, tmp_path: Path) -> None:
    made = miltext.split(model, tmp_path / "parts", parts=3)
    assert len(made.warnings) == len({*made.warnings})


def _chain(count: int) -> Iterator[str]:
    yield from (f"h{place + 1} = relu(x = h{place});" for place in range(count))


def test_time_is_proportional_to_the_number_of_operations() -> None:
    import time

    times = []
    for count in (500, 4000):
        source = miltext.parse(text("".join(_chain(count)), f"h{count}", "tensor<fp32, [4]> h0"))
        start = time.process_time()
        made = miltext.split(source, parts=4)
        times.append(time.process_time() - start)
        assert [each.operations for each in made.parts] == [count // 4] * 4
    assert times[1] < 8 * 4 * times[0]
