"""What keeps a program from running or stops it, told at its operation in the text of the program."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import miltext
from miltext import Evaluator, MiltextError, ParseError, run
from miltext.evaluation.failures import OperationFailure
from miltext.files.refusals import WeightsError

TEXT = """program(1.3)
{
    func main<ios18>(tensor<fp32, [4, 2]> x, tensor<int32, [1]> at) {
            tensor<fp32, [4, 2]> w = const()[val = tensor<fp32, [4, 2]>([[1, 2], [3, 4], [5, 6], [7, 8]])];
            tensor<fp32, [4, 2]> s = add(x = x, y = w);
            int32 axis = const()[val = int32(0)];
            int32 dims = const()[val = int32(0)];
            bool check = const()[val = bool(false)];
            tensor<fp32, [1, 2]> row = gather(axis = axis, batch_dims = dims, indices = at, validate_indices = check, \
x = s);
        } -> (row);
}
"""
X = np.zeros((4, 2))


def saved(folder: Path, text: str) -> miltext.Model:
    (folder / "model.mil").write_text(text, encoding="utf-8")
    return miltext.load(folder / "model.mil")


def packaged(folder: Path, text: str) -> miltext.Model:
    miltext.build(saved(folder, text), folder / "Model.mlpackage")
    return miltext.load(folder / "Model.mlpackage")


def program(_: Path, text: str) -> Any:
    return miltext.parse(text)


def place(failure: MiltextError) -> tuple[str, str]:
    """The code of an error, and what its span points at."""
    found = failure.diagnostics[0]
    assert failure.text is not None
    assert found.span is not None
    return found.code, failure.text[found.span.start : found.span.end]


# ---- operations that fail


@pytest.mark.parametrize("form", [saved, packaged, program])
def test_an_operation_that_fails_is_reported_at_its_place(form: Callable[[Path, str], Any], tmp_path: Path) -> None:
    with pytest.raises(OperationFailure, match="`row`, of `gather`, cannot be computed") as caught:
        run(form(tmp_path, TEXT), {"x": X, "at": [7]})
    code, pointed = place(caught.value)
    assert code == "MIL838"
    assert pointed.startswith("tensor<fp32, [1, 2]> row = gather(")
    shown = str(caught.value)
    assert "MIL838]: `row`, of `gather`, cannot be computed: " in shown
    assert caught.value.path is None if form is program else str(tmp_path) in shown


def test_the_text_of_a_package_equals_that_of_print(tmp_path: Path) -> None:
    """But for literals of many elements, which are elided: each is on one line."""
    numbers = ", ".join(["[1, 2]"] * 400)
    long = TEXT.replace("[4, 2]", "[400, 2]").replace("[[1, 2], [3, 4], [5, 6], [7, 8]]", f"[{numbers}]")
    model = packaged(tmp_path, long)
    with pytest.raises(OperationFailure) as caught:
        run(model, {"x": np.zeros((400, 2)), "at": [4000]})
    _, pointed = place(caught.value)
    printed = miltext.to_text(model.program)
    assert caught.value.text is not None
    assert len(caught.value.text) < len(printed)
    lines = [text[: text.index(pointed)].count("\n") for text in (printed, caught.value.text)]
    assert lines[0] == lines[1]


DRAFT = """program(1.3)
{
    func main<ios18>(tensor<fp32, [4, 2]> x, tensor<int32, [1]> at) {
            row = gather(add(x, x), at, axis = 0); // here
        } -> (row);
}
"""


def test_a_failure_in_a_draft_is_reported_in_the_draft() -> None:
    with pytest.raises(OperationFailure) as caught:
        run(DRAFT, {"x": X, "at": [7]})
    code, pointed = place(caught.value)
    assert (code, pointed[:12]) == ("MIL838", "row = gather")
    assert caught.value.text == DRAFT


def test_an_operation_in_a_block_is_reported_at_its_own_place() -> None:
    inner = """program(1.3)
{
    func main<ios18>(tensor<fp32, [4, 2]> x, tensor<int32, [1]> at, bool pick) {
            y = cond(pred = pick)
                () { inside = gather(x, at, axis = 0); } -> (inside)
                () { outside = gather(x, at, axis = 0); } -> (outside);
        } -> (y);
}
"""
    evaluator = Evaluator(miltext.infer_draft(inner))
    for pick, name in [(True, "inside"), (False, "outside")]:
        with pytest.raises(OperationFailure, match=f"`{name}`, of `gather`"):
            evaluator.run({"x": X, "at": [9], "pick": pick})
        assert evaluator.run({"x": X, "at": [1], "pick": pick})["y"].shape == (1, 2)


def test_a_changed_program_is_reported_in_its_printed_text(tmp_path: Path) -> None:
    model = saved(tmp_path, TEXT)
    block = model.program.functions["main"].block_specializations["CoreML8"]
    with pytest.raises(OperationFailure) as caught:
        run(model, {"x": X, "at": [7]})
    assert caught.value.text == TEXT
    block.operations[-1].outputs[0].name = block.outputs[0] = "line"
    with pytest.raises(OperationFailure, match="`line`, of `gather`") as caught:
        run(model, {"x": X, "at": [7]})
    assert "line = gather(" in place(caught.value)[1]
    assert caught.value.text == miltext.to_text(model.program)


def test_a_result_of_another_shape_than_declared_one_is_refused() -> None:
    text = TEXT.replace("tensor<fp32, [1, 2]> row", "tensor<fp32, [2, 2]> row")
    with pytest.raises(OperationFailure, match=r"\[2, 2\]"):
        Evaluator(text, check=False).run({"x": X, "at": [0]})


def test_a_result_that_memory_does_not_hold_is_refused() -> None:
    text = """program(1.3)
{
    func main<ios18>(tensor<int32, [3]> shape) {
            tensor<fp32, [?, ?, ?]> y = fill(shape = shape, value = fp32(1));
        } -> (y);
}
"""
    evaluator = Evaluator(text)
    assert evaluator.run({"shape": [1, 2, 3]})["y"].shape == (1, 2, 3)
    with pytest.raises(OperationFailure):
        evaluator.run({"shape": [1 << 20, 1 << 20, 1 << 10]})


# ---- operations without a rule

CUSTOM = """program(1.3)
{
    func main<ios18>(fp32 x, bool pick) {
            fp32 y = cond(pred = pick)
                () { fp32 a = my_layer(x = x); } -> (a)
                () { fp32 b = odd_one(x = x); } -> (b);
            fp32 z = my_layer(x = y);
        } -> (z);
}
"""


@pytest.mark.parametrize("form", [lambda _, text: text, saved, program])
def test_operations_without_a_rule_are_reported_each_once(form: Callable[[Path, str], Any], tmp_path: Path) -> None:
    with pytest.raises(MiltextError) as caught:
        Evaluator(form(tmp_path, CUSTOM))
    assert [each.code for each in caught.value.diagnostics] == ["MIL830", "MIL830"]
    assert place(caught.value) == ("MIL830", "my_layer")
    assert "the operation `odd_one`" in str(caught.value)


def test_a_custom_layer_has_no_rule() -> None:
    with pytest.raises(
        MiltextError, match="no rule that computes the operation `custom_layer`; run a program"
    ) as caught:
        Evaluator(CUSTOM.replace("my_layer", "custom_layer"))
    assert {each.code for each in caught.value.diagnostics} == {"MIL503", "MIL830"}  # it lacks its parameters, too


def test_a_function_without_a_block_is_refused() -> None:
    empty = miltext.parse(TEXT)
    empty.functions["main"].block_specializations.clear()
    with pytest.raises(MiltextError) as caught:
        Evaluator(empty)
    assert caught.value.diagnostics[0].code == "MIL607"


def test_missing_rules_in_another_function_do_not_matter() -> None:
    text = CUSTOM.replace("func main", "func other").replace(
        "program(1.3)\n{", "program(1.3)\n{\n func main<ios18>(fp32 x) { fp32 y = relu(x = x); } -> (y);"
    )
    assert run(text, {"x": 2})["y"] == 2


# ---- what check finds

BAD = TEXT.replace("add(x = x, y = w)", "add(x = x, why = w)").replace("gather(", "gathr(")


@pytest.mark.parametrize("form", [lambda _, text: text, saved, program])
def test_program_that_check_finds_wrong_is_refused_with_errors(
    form: Callable[[Path, str], Any], tmp_path: Path
) -> None:
    subject = form(tmp_path, BAD)
    with pytest.raises(MiltextError) as caught:
        run(subject, {})
    found = miltext.check(subject)
    assert caught.value.diagnostics[:1] == [each for each in found if each.severity == "error"]
    assert [each.code for each in caught.value.diagnostics] == ["MIL504", "MIL830"]
    with pytest.raises(MiltextError, match="no rule that computes the operation `gathr`; did you mean `gather`"):
        Evaluator(subject, check=False)  # which goes further


def test_warnings_do_not_keep_a_program_from_running() -> None:
    text = CUSTOM.replace("my_layer", "relu").replace("odd_one", "tanh")
    shadowed = text.replace("fp32 z =", "fp32 a =").replace("-> (z)", "-> (a)")
    assert [each.severity for each in miltext.check(shadowed)].count("error") == 0
    assert run(shadowed, {"x": 2, "pick": True})["a"] == 2


def test_errors_that_a_comment_ignores_do_not_either(tmp_path: Path) -> None:
    text = TEXT.replace("y = w);", "y = w, extra = w);")
    with pytest.raises(MiltextError, match="extra"):
        Evaluator(text)
    ignored = text.replace("extra = w);", "extra = w); // mil: ignore[MIL504]")
    model = saved(tmp_path, ignored)
    for subject in (ignored, model, model):  # whose program was asked for, the second time
        assert run(subject, {"x": X, "at": [1]})["row"].tolist() == [[3, 4]]


@pytest.mark.parametrize("text", ["program(1.3)\n{ func", "program (\n", "\n", DRAFT.replace("add(x, x)", "ad(x, x)")])
def test_a_text_that_is_not_a_program_is_refused_as_elsewhere(text: str) -> None:
    with pytest.raises(ParseError) as caught:
        run(text, {})
    assert caught.value.diagnostics[0].code in {each.code for each in miltext.check(text, path="m.mil")}


# ---- weights

STORED = """program(1.3)
{
    func main<ios18>(tensor<fp32, [2]> x) {
            w = const()[val = $npy("w.npy")];
            y = add(x, w);
            z = mul(y, $npz("more.npz", "v"));
        } -> (z);
}
"""


def arrays(folder: Path) -> None:
    np.save(folder / "w.npy", np.array([1, 2], np.float32))
    np.savez(folder / "more.npz", v=np.array([10, 100], np.float32))


def test_the_arrays_that_a_draft_names_are_found_beside_it(tmp_path: Path) -> None:
    arrays(tmp_path)
    evaluator = Evaluator(saved(tmp_path, STORED))
    for _ in range(2):
        assert evaluator.run({"x": [1, 1]})["z"].tolist() == [20, 300]
    assert run(str(tmp_path / "model.mil"), {"x": [1, 1]})["z"].tolist() == [20, 300]
    assert run(STORED, {"x": [1, 1]}, weights=tmp_path)["z"].tolist() == [20, 300]


def test_arrays_of_a_text_without_a_path_are_in_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arrays(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert run(STORED, {"x": [1, 1]})["z"].tolist() == [20, 300]


def test_a_missing_folder_of_weights_is_reported(tmp_path: Path) -> None:
    arrays(tmp_path)
    program = packaged(tmp_path, STORED).program
    for weights in (None, tmp_path / "nowhere", tmp_path / "w.npy"):
        with pytest.raises(WeightsError) as caught:
            Evaluator(program, weights=weights)
        assert caught.value.diagnostics[0].code == "MIL302"


def test_a_text_in_the_long_spelling_may_name_arrays_too(tmp_path: Path) -> None:
    arrays(tmp_path)
    text = miltext.infer_draft(STORED, path=str(tmp_path / "model.mil"))
    assert "$npy" in text
    assert run(saved(tmp_path, text), {"x": [1, 1]})["z"].tolist() == [20, 300]


def test_outputs_that_no_description_allows_can_be_computed(tmp_path: Path) -> None:
    arrays(tmp_path)
    text = STORED.replace("z = mul(y, ", "z = greater(y, ")
    assert run(text, {"x": [100, 1]}, weights=tmp_path)["z"].tolist() == [True, False]


def test_the_weights_stay_as_long_as_the_evaluator(tmp_path: Path) -> None:
    arrays(tmp_path)
    evaluator = Evaluator(STORED, weights=tmp_path)
    folder = evaluator.subject.folder
    assert folder is not None
    assert folder.exists()
    del evaluator
    assert not folder.exists()


@pytest.mark.parametrize(("lacking", "code"), [("w.npy", "MIL413"), ("more.npz", "MIL413")])
def test_a_missing_array_is_reported_in_the_draft(lacking: str, code: str, tmp_path: Path) -> None:
    arrays(tmp_path)
    (tmp_path / lacking).unlink()
    with pytest.raises(MiltextError) as caught:
        Evaluator(saved(tmp_path, STORED))
    found, pointed = place(caught.value)
    assert found == code
    assert lacking in pointed
    assert caught.value.text == STORED


def test_missing_weights_are_reported_before_anything_runs(tmp_path: Path) -> None:
    arrays(tmp_path)
    model = packaged(tmp_path, STORED)
    text = miltext.to_text(model.program)
    assert model.model_path is not None
    (model.model_path / "weights" / "weight.bin").unlink()
    for subject in (model, miltext.parse(text), text):
        with pytest.raises(WeightsError) as caught:
            Evaluator(subject)
        assert [each.code for each in caught.value.diagnostics] == ["MIL302"]
        assert "BLOBFILE" in place(caught.value)[1]
        assert caught.value.diagnostics[0].notes


def test_the_folder_of_the_weights_of_a_program(tmp_path: Path) -> None:
    arrays(tmp_path)
    model = packaged(tmp_path, STORED)
    folder = model.model_path
    assert folder is not None
    for weights in (folder, folder / "weights"):  # whether or not the path leads through the folder's own
        assert run(model.program, {"x": [1, 1]}, weights=weights)["z"].tolist() == [20, 300]
        assert run(miltext.to_text(model.program), {"x": [1, 1]}, weights=str(weights))["z"].tolist() == [20, 300]


PACKED = """program(1.3)
{
    func main<ios16>() {
            tensor<fp32, [8]> w = constexpr_lut_to_dense(indices = tensor<uint8, [8]>($bytes("01234567")), \
lut = tensor<fp32, [16]>([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]), shape = tensor<int32, [1]>([8]));
        } -> (w);
}
"""


def test_a_constant_unlike_its_type_is_reported_before_a_run() -> None:
    assert {each.severity for each in miltext.check(PACKED)} == {"warning"}
    with pytest.raises(MiltextError, match="cannot be computed: `indices` has another number of elements") as caught:
        Evaluator(PACKED)
    assert place(caught.value) == ("MIL838", 'tensor<uint8, [8]>($bytes("01234567"))')


def test_each_weight_file_that_is_missing_is_reported_once(tmp_path: Path) -> None:
    arrays(tmp_path)
    text = miltext.to_text(packaged(tmp_path, STORED).program).replace("weights/weight.bin", "weights/one.bin", 1)
    with pytest.raises(WeightsError) as caught:
        Evaluator(text, weights=tmp_path / "Model.mlpackage")
    assert [each.code for each in caught.value.diagnostics] == ["MIL302", "MIL302"]
    assert "weights=" in str(caught.value)


def test_an_evaluation_that_is_given_up_leaves_the_states() -> None:
    text = DRAFT.replace("at) {", "at, state<tensor<fp16, [1]>> calls) {").replace(
        "row =", "write_state(input = calls, data = add(read_state(calls), fp16(1)));\n row ="
    )
    state: dict[str, Any] = {}
    evaluator = Evaluator(text)
    evaluator.run({"x": X, "at": [0]}, state=state)
    steps = evaluator.steps({"x": X, "at": [0]}, state)
    for _ in range(3):
        next(steps)
    steps.close()
    assert state["calls"] == 1
