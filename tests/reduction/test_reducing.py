"""`miltext.reduce` as a function: what a test gets, what counts, what comes out, and what goes wrong."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from conftest import EXAMPLE
from support.containers import compile_package

import miltext
from miltext import Candidate, ModelError, Reduction, check, load, parse, reduce, to_text
from miltext.containers.programs import TextModel
from miltext.drafting.draft import infer_draft
from miltext.reduction.source import OriginalModel
from miltext.schema.proto import Program
from miltext.schema.walk import operations

LINES = "a = relu(x);\nb = tanh(a);\nc = exp(b);\ny = add(c, a);"


def program(lines: str = LINES, inputs: str = "tensor<fp32, [2, 3]> x", outputs: str = "y") -> Program:
    return parse(infer_draft(f"program(1.3)\n{{\nfunc main<ios18>({inputs}) {{\n{lines}\n}} -> ({outputs});\n}}\n"))


def types(made: Program) -> list[str]:
    return [operation.type for _, operation in operations(made) if operation.type != "const"]


def has(*wanted: str) -> Callable[[Candidate], bool]:
    return lambda candidate: {*wanted} <= {*types(candidate.program)}


def test_the_least_part_is_found() -> None:
    found = reduce(program(), has("exp"))
    assert types(found.program) == ["exp"]
    assert (found.is_complete, found.is_steady, found.original.program) == (True, True, program())


def test_each_program_is_tested_once_and_the_result_twice() -> None:
    seen: list[bytes] = []

    def test(candidate: Candidate) -> bool:
        seen.append(candidate.program.SerializeToString(deterministic=True))
        return has("exp")(candidate)

    found = reduce(program(), test)
    assert len(seen) == found.tests == len({*seen}) + 1
    assert seen[-1] == found.program.SerializeToString(deterministic=True)


def test_a_fault_in_the_numbers_is_found() -> None:
    """A division by 0 makes infinities, which go on to the end."""
    lines = "a = exp(x);\nb = exp(a);\nc = real_div(b, 0.0);\nd = relu(c);\ny = add(d, a);"

    def test(candidate: Candidate) -> bool:
        given = {each.name: np.ones((2, 3), np.float32) for each in candidate.program.functions["main"].inputs}
        return not all(np.isfinite(each).all() for each in miltext.run(candidate.model, given).values())

    found = reduce(program(lines), test)
    assert types(found.program) == ["real_div"]
    assert "fp32(0x0p+0)" in to_text(found.program)


def test_fault_that_two_operations_make_together_stays_connected() -> None:
    """The numbers are those of `exp`, squared, at whatever way."""
    lines = "a = exp(x);\nb = relu(a);\nc = relu(b);\nd = relu(c);\ny = square(d);"

    def test(candidate: Candidate) -> bool:
        function = candidate.program.functions["main"]
        given = {each.name: np.full((2, 3), 3, np.float32) for each in function.inputs}
        return any(np.allclose(each, np.exp(6)) for each in miltext.run(candidate.model, given).values())

    assert types(reduce(program(lines), test).program) == ["exp", "square"]


def flows(first: str, last: str) -> Callable[[Candidate], bool]:
    """Look for an operation that something which another one made goes into, by any way."""

    def test(candidate: Candidate) -> bool:
        after = set[str]()
        for _, operation in operations(candidate.program):
            used = {each.name for argument in operation.inputs.values() for each in argument.arguments}
            if operation.type == last and used & after:
                return True
            if operation.type == first or used & after:
                after.update(value.name for value in operation.outputs)
        return False

    return test


@pytest.mark.parametrize(
    "lines",
    [
        "e = exp(x);\na = add(x, e);\ny = erf(a);",
        "e = exp(x);\na = add(e, x);\ny = erf(a);",
        "e = exp(x);\na = add(x, e);\nb = mul(x, a);\nc = sub(x, b);\ny = erf(c);",
        "e = exp(x);\na = select(greater(x, 0.5), x, e);\nb = add(relu(x), a);\ny = erf(b);",
        "w = const()[val = tensor<fp32, [2, 3]>([[1, 2, 3], [4, 5, 6]])];\ne = exp(x);\ny = erf(real_div(w, e));",
        "e = exp(x);\na = add(x, e);\nb = mul(a, x);\nc = add(x, b);\ny = erf(c);",
    ],
)
def test_whichever_input_leads_through_takes_place_of_operation(lines: str) -> None:
    assert types(reduce(program(lines), flows("exp", "erf")).program) == ["exp", "erf"]


def test_a_test_gets_paths_and_models_that_know_their_weights() -> None:
    seen: list[Path] = []

    def test(candidate: Candidate) -> bool:
        seen.append(candidate.path)
        again = load(candidate.path)
        assert types(again.program) == types(candidate.program)
        numbers = [weight[...] for weight in again.weights.values()]
        assert [each.shape for each in numbers] == [each.shape for each in candidate.model.weights.values()]
        return "conv" in types(again.program)

    for kind in ("mlpackage", "mil"):
        found = reduce(EXAMPLE, test, kind=kind)
        assert types(found.program) == ["conv"]
    assert {path.suffix for path in seen} == {".mlpackage", ".mil"}
    assert not any(path.exists() for path in seen)


def test_a_candidate_with_a_new_error_is_not_tested() -> None:
    """The error of the original may stay."""
    lines = "a = relu(x);\ny = add(a, x);"
    odd = program(lines)
    odd.functions["main"].block_specializations["CoreML8"].operations[0].type = "rleu"
    odd.functions["main"].block_specializations["CoreML8"].operations[0].inputs["z"].arguments.add(name="none")
    assert [each.code for each in check(odd) if each.severity == "error"]

    def test(candidate: Candidate) -> bool:
        found = {each.code for each in check(candidate.program) if each.severity == "error"}
        assert found <= {each.code for each in check(odd) if each.severity == "error"}
        return "rleu" in types(candidate.program)

    assert types(reduce(odd, test).program) == ["rleu"]


def test_no_more_tests_are_run_than_are_allowed() -> None:
    for most in (1, 2, 3):
        found = reduce(program(), has("exp"), max_tests=most)
        assert (found.tests <= most, found.is_complete) == (True, False)
        assert "exp" in types(found.program)


def test_the_best_so_far_is_reported() -> None:
    told: list[tuple[list[str], int]] = []
    reduce(program(), has("exp"), on_progress=lambda best, tests: told.append((types(best.program), tests)))
    assert told[-1][0] == ["exp"]
    assert [len(each) for each, _ in told] == sorted((len(each) for each, _ in told), reverse=True)


def test_a_test_that_fails_on_the_model_is_reported() -> None:
    with pytest.raises(ModelError) as failure:
        reduce(program(), has("conv"))
    assert failure.value.diagnostics[0].code == "MIL486"


def test_an_exception_of_a_test_is_raised() -> None:
    def test(candidate: Candidate) -> bool:
        if len(types(candidate.program)) < 4:
            raise KeyboardInterrupt
        return True

    with pytest.raises(KeyboardInterrupt):
        reduce(program(), test, jobs=2)


def test_another_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="a candidate must be written as"):
        reduce(program(), has("exp"), kind="pb")


def test_a_test_that_changes_its_mind_is_reported() -> None:
    said: set[bytes] = set()

    def once(candidate: Candidate) -> bool:
        before = len(said)
        said.add(candidate.program.SerializeToString(deterministic=True))
        return len(said) > before and has("exp")(candidate)

    assert not reduce(program(), once).is_steady


# ---- where models come from


def saved(found: Reduction, path: Path) -> miltext.Model:
    found.best.save(path)
    return load(path)


def test_the_description_of_a_kept_input_stays(tmp_path: Path) -> None:
    def test(candidate: Candidate) -> bool:
        return "image" in {each.name for each in candidate.program.functions["main"].inputs}

    model = load(EXAMPLE)
    assert model.description is not None
    image = model.description.input[0].type.imageType
    image.width, image.height, image.colorSpace = 16, 16, image.GRAYSCALE
    made = saved(reduce(model, test), tmp_path / "Small.mlpackage")
    assert made.description is not None
    assert made.description.input[0].type.imageType == image
    assert not made.description.HasField("metadata")


def test_a_classifier_keeps_its_predicted_feature(tmp_path: Path) -> None:
    made = saved(reduce(EXAMPLE, has("classify")), tmp_path / "Small.mlpackage")
    assert made.description is not None
    assert made.description.predictedFeatureName == "classLabel"


def test_metadata_stays_where_the_test_wants_it(tmp_path: Path) -> None:
    def test(candidate: Candidate) -> bool:
        return load(candidate.path).metadata is not None

    made = saved(reduce(EXAMPLE, test), tmp_path / "Small.mlpackage")
    assert made.metadata is not None
    assert len(types(made.program)) == 1


@pytest.mark.parametrize("kind", ["mlpackage", "mlmodelc", "mil"])
def test_a_compiled_model_is_reduced(kind: str, tmp_path: Path) -> None:
    compile_package(EXAMPLE, tmp_path / "Compiled.mlmodelc")
    found = reduce(tmp_path / "Compiled.mlmodelc", has("max_pool"), kind=kind)
    assert types(saved(found, tmp_path / f"Small.{kind}").program) == ["max_pool"]


def test_a_draft_with_arrays_is_completed_first(tmp_path: Path) -> None:
    np.save(tmp_path / "w.npy", np.arange(12, dtype=np.float32).reshape(4, 3))
    (tmp_path / "draft.mil").write_text(
        'program(1.3)\n{\nfunc main<ios18>(tensor<fp32, [2, 3]> x) {\ny = tanh(linear(relu(x), $npy("w.npy")));\n}'
        " -> (y);\n}\n",
        encoding="utf-8",
    )
    seen: list[list[str]] = []

    def test(candidate: Candidate) -> bool:
        seen.append(types(load(candidate.path).program))
        return any(each[...].any() for each in load(candidate.path).weights.values())

    found = reduce(tmp_path / "draft.mil", test)
    assert seen[0] == ["relu", "linear", "tanh"]
    made = saved(found, tmp_path / "Small.mlpackage")
    assert types(made.program) == ["linear"]
    assert [each.tolist() for each in made.weights.values()] == [np.arange(12).reshape(4, 3).tolist()]


def test_a_size_that_is_open_gets_the_greatest_that_there_is(tmp_path: Path) -> None:
    text = to_text(program(inputs="tensor<fp32, [?, 3]> x"))
    miltext.build(TextModel(text.encode(), "open.mil", None), tmp_path / "Open.mlpackage", ranges={"x": "1..64,3"})
    made = saved(reduce(tmp_path / "Open.mlpackage", has("exp")), tmp_path / "Small.mlpackage")
    assert made.description is not None
    (entry,) = made.description.input
    assert [each.upperBound for each in entry.type.multiArrayType.shapeRange.sizeRanges] == [64, 3]


def test_sizes_that_a_model_does_not_state_can_be_given(tmp_path: Path) -> None:
    """Of a text, nothing else says them; a value that becomes an input has the greatest of them."""
    open_text = program(inputs="tensor<fp32, [?, 3]> x")
    found = reduce(open_text, has("exp"), kind="mlpackage", ranges={"x": "2..64,3"})
    assert [each.name for each in found.program.functions["main"].inputs] != ["x"]
    made = saved(found, tmp_path / "Small.mlpackage")
    assert made.description is not None
    (entry,) = made.description.input
    limits = [(each.lowerBound, each.upperBound) for each in entry.type.multiArrayType.shapeRange.sizeRanges]
    assert limits == [(1, 64), (3, 3)]
    for ranges, code in (({}, "MIL452"), ({"z": "1..2,3"}, "MIL425"), ({"x": "many"}, "MIL434")):
        with pytest.raises(ModelError, match=code):
            reduce(open_text, lambda candidate: candidate.path.exists(), kind="mlpackage", ranges=ranges)


def test_a_remaining_input_has_the_given_sizes(tmp_path: Path) -> None:
    open_text = program(inputs="tensor<fp32, [?, 3]> x")
    made = saved(reduce(open_text, has("relu"), ranges={"x": "2..64,3"}), tmp_path / "Small.mlpackage")
    assert made.description is not None
    assert [each.type.multiArrayType.shapeRange.sizeRanges[0].lowerBound for each in made.description.input] == [2]


def test_the_model_itself_is_not_changed(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE, tmp_path / EXAMPLE.name)
    model = load(tmp_path / EXAMPLE.name)
    before = model.program.SerializeToString(deterministic=True)
    reduce(model, has("relu"))
    assert model.program.SerializeToString(deterministic=True) == before
    assert miltext.diff(EXAMPLE, tmp_path / EXAMPLE.name).same


def appended(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"more")


def emptied(path: Path) -> None:
    path.write_bytes(b"")


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A model with weights of each kind that has files of its own."""
    folder = tmp_path_factory.mktemp("originals")
    found = {"package": folder / "Model.mlpackage", "compiled": folder / "Model.mlmodelc", "text": folder / "a.mil"}
    shutil.copytree(EXAMPLE, found["package"])
    compile_package(EXAMPLE, found["compiled"])
    shutil.copytree(found["compiled"] / "weights", folder / "weights")
    found["text"].write_text(to_text(load(found["compiled"]).program), encoding="utf-8")
    return found


@pytest.mark.parametrize(
    ("original", "kind", "damage"),
    [
        ("package", "mil", appended),
        ("compiled", "mil", emptied),
        ("text", "mil", appended),
        ("text", "mil", Path.unlink),
        ("package", "mlpackage", emptied),
        ("compiled", "mlmodelc", appended),
    ],
)
def test_a_test_that_edits_its_candidate_changes_nothing_else(
    original: str, kind: str, damage: Callable[[Path], None], originals: dict[str, Path]
) -> None:
    """The weights of the model, and of the candidates after it, are what they were."""
    folder = originals[original].parent
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    seen: list[int] = []

    def test(candidate: Candidate) -> bool:
        weights = load(candidate.path).weights
        assert all(each[...].any() for each in weights.values())
        seen.append(len(weights))
        for path in [each for each in candidate.path.parent.rglob("*") if each.is_file()]:
            damage(path)
        return "conv" in types(candidate.program)

    reduce(originals[original], test, kind=kind, max_tests=2)
    assert seen[0] > 0
    assert len(seen) == 2
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_a_source_knows_its_kind() -> None:
    assert (OriginalModel(EXAMPLE).kind, OriginalModel(program()).kind) == ("mlpackage", "mil")
    assert (OriginalModel(EXAMPLE).has_metadata, OriginalModel(program()).has_metadata) == (True, False)
