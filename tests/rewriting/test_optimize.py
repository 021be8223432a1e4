"""`miltext optimize`: what goes, what stays, and that a second time changes nothing."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result
from conftest import EXAMPLE, corpus_files
from support.containers import pipeline
from support.running import RUNNER

import miltext
from miltext.cli import command
from miltext.ir.graph import Graph
from miltext.rewriting.operands import ConstantContents
from miltext.rewriting.packaged import exact, packaged

TEXT = """\
program(1.3)
{
    func main<ios17>(tensor<fp16, [2, 4]> image) {
            a = cast(cast(image, "fp32"), "fp16");
            b = exp(identity(a));
            c = exp(a);
            unused = tanh(c);
            w = transpose([[1.0], [2.0], [3.0], [4.0]], [1, 0]);
            y = mul(add(b, c), w);
        } -> (y);
}
"""


def run(*arguments: object) -> Result:
    return RUNNER.invoke(command, [*map(str, arguments)])


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.mil"
    path.write_text(TEXT, encoding="utf-8")
    return path


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "Manifest.json"  # its identifiers are random
    }


def test_only_exact_rules_apply() -> None:
    names = {each.name for each in exact()}
    assert {"dead-code", "common-subexpressions", "constant-folding", "cast_pair", "transpose_pair"} <= names
    assert names.isdisjoint({"add_zero", "softmax", "leaky_relu", "linear_to_conv", "rmsnorm"})
    assert len(names) < len(packaged())


def test_a_dry_run_lists_the_removals(model: Path) -> None:
    ended = run("optimize", model, "--dry-run")
    assert ended.exit_code == 0
    assert ended.stdout.splitlines() == [
        "cast_pair: 1 site, 2 operations less, 0 bytes of constants less",
        "identity: 1 site, 1 operation less, 0 bytes of constants less",
        "constant-folding: 1 site, 1 operation less, 8 bytes of constants less",
        "common-subexpressions: 1 site, 1 operation less, 0 bytes of constants less",
        "dead-code: 1 site, 1 operation less, 0 bytes of constants less",
        "9 -> 3 operations, 16 -> 8 bytes of constants",
    ]
    assert [*model.parent.iterdir()] == [model]


def test_the_model_is_written_and_proven(model: Path) -> None:
    output = model.with_name("New.mlpackage")
    made = json.loads(run("optimize", model, "-o", output, "--verify", "--json").stdout)
    assert (made["output"], made["verified"], made["operations"]) == (str(output), 4, {"before": 9, "after": 3})
    assert made["changes_by_rule"][0] == {"rule": "cast_pair", "sites": 1, "operations": 2, "bytes": 0}
    assert [op.type for op in Graph(miltext.load(output).program).walk() if not op.is_constant] == ["exp", "add", "mul"]
    given = {"image": np.linspace(-2, 2, 8, dtype=np.float16).reshape(2, 4)}
    assert miltext.run(output, given)["y"].tobytes() == miltext.run(model, given)["y"].tobytes()


def test_a_second_time_changes_no_byte(model: Path) -> None:
    first, second = (model.with_name(name) for name in ("First.mlpackage", "Second.mlpackage"))
    run("optimize", model, "-o", first)
    ended = run("optimize", first, "-o", second)
    assert ended.stdout.splitlines() == ["nothing to change", "3 -> 3 operations, 8 -> 8 bytes of constants"]
    assert files(first) == files(second)


def test_rules_can_be_left_out(model: Path) -> None:
    made = miltext.optimize(model, skip=["dead-code", "casts"])
    assert {each.rule for each in made.sites if each.is_replaced}.isdisjoint({"dead-code", "cast_pair"})
    assert miltext.optimize(model, skip="identity").operations == (9, 5)
    with pytest.raises(miltext.MiltextError, match="there is no rule `dead_code`; did you mean `dead-code`"):
        miltext.optimize(model, skip="dead_code")


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["{}"], 2, "name the model to write with -o"),
        (["{}", "--dry-run", "-o", "o.mil"], 2, "leave out either --dry-run or -o"),
        (["{}", "--dry-run", "--skip", "nope"], 1, "there is no rule `nope`"),
        (["none.mlpackage", "--dry-run"], 2, "file or folder not found"),
    ],
)
def test_misuse(model: Path, arguments: list[str], status: int, message: str) -> None:
    ended = run("optimize", *[each.replace("{}", str(model)) for each in arguments])
    assert ended.exit_code == status, ended.output
    assert message in ended.stderr


def test_an_existing_model_stays_without_force(model: Path) -> None:
    output = model.with_name("New.mlpackage")
    run("optimize", model, "-o", output)
    assert run("optimize", model, "-o", output).exit_code == 2
    assert run("optimize", model, "-o", output, "--force").exit_code == 0
    assert run("optimize", output, "-o", output, "--force").exit_code == 0
    assert miltext.optimize(output).replaced == []


def test_a_model_keeps_all_else(tmp_path: Path) -> None:
    output = tmp_path / "New.mlpackage"
    made = miltext.optimize(EXAMPLE, output)
    assert made.replaced == []
    assert miltext.describe(output) == miltext.describe(EXAMPLE)
    assert miltext.diff(EXAMPLE, output).to_text() == miltext.diff(EXAMPLE, EXAMPLE).to_text()


def test_functions_outputs_and_inner_blocks_keep_their_names() -> None:
    other = TEXT[TEXT.index("    func") : -2].replace("main", "other")
    text = TEXT[:-2] + other.replace("} -> (y)", "} -> (y, c)") + "}\n"
    made = miltext.optimize(text)
    functions = made.program.functions
    assert {name: [*each.block_specializations["CoreML7"].outputs] for name, each in functions.items()} == {
        "main": ["y"], "other": ["y", "c"],
    }  # fmt: skip
    assert [each.name for each in functions["main"].inputs] == ["image"]
    assert [each for each in miltext.check(made.program) if each.severity == "error"] == []


@pytest.mark.parametrize("body", ["y = identity(x);", 'y = cast(identity(x), dtype = "fp16");'])
def test_an_input_that_would_be_an_output_stays(body: str) -> None:
    text = f"program(1.3)\n{{\n    func main<ios17>(tensor<fp16, [2]> x) {{\n {body}\n }} -> (y);\n}}\n"
    made = miltext.optimize(text)
    assert made.operations[1] == 1
    assert made.program.functions["main"].block_specializations["CoreML7"].outputs == ["y"]


def test_open_sizes() -> None:
    text = TEXT.replace("[2, 4]> image", "[?, 4]> image")
    made = miltext.optimize(text)
    assert made.operations == (9, 3)
    shape = "program(1.3)\n{\n    func main<ios17>(tensor<fp16, [?, 4]> x) {\n y = add(shape(x), 1);\n } -> (y);\n}\n"
    assert miltext.optimize(shape).replaced == []


@pytest.mark.parametrize("path", corpus_files("bundles/*.mlpackage"))
def test_a_package_of_the_corpus(path: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "First.mlpackage", tmp_path / "Second.mlpackage"
    made = miltext.optimize(path, first)
    assert made.operations[1] <= made.operations[0]
    assert made.weights[1] <= made.weights[0]
    assert miltext.describe(first) == miltext.describe(path)
    assert miltext.optimize(first, second).replaced == []
    assert files(first) == files(second)


def test_a_model_in_a_pipeline(tmp_path: Path) -> None:
    whole = miltext.build(TEXT, tmp_path / "M.mlpackage")
    assert whole == []
    spec = miltext.open_model(tmp_path / "M.mlpackage").spec
    assert spec is not None
    outer = pipeline(spec, spec, names=("one", "two"))
    outer.description.CopyFrom(spec.description)
    [inner] = (tmp_path / "M.mlpackage").rglob("*.mlmodel")
    inner.write_bytes(outer.SerializeToString())
    with pytest.raises(miltext.ModelError, match="MIL257"):
        miltext.optimize(tmp_path / "M.mlpackage", tmp_path / "N.mlpackage")
    made = miltext.optimize(tmp_path / "M.mlpackage", tmp_path / "N.mlpackage", model="two")
    assert made.operations == (9, 3)
    stages = [miltext.load(tmp_path / "N.mlpackage", nested) for nested in (0, 1)]
    assert [sum(not op.is_constant for op in Graph(each.program).walk()) for each in stages] == [9, 3]


def test_the_rules_to_skip_are_not_replaced(tmp_path: Path) -> None:
    rules = tmp_path / "rules.mil"
    text = """program(1.3)[rules = "1", exactness = "exact"]
{
    func find_own(x) { y = abs(abs(x)); } -> (y);
    func replace_own(x) { y = abs(x); } -> (y);
}
"""
    rules.write_text(text, encoding="utf-8")
    with pytest.raises(miltext.ModelError, match=r"contains the input 'rules\.mil'") as failure:
        miltext.optimize(TEXT, rules, skip=[str(rules)], force=True)
    assert failure.value.diagnostics[0].code == "MIL402"
    assert rules.read_text(encoding="utf-8") == text


def test_a_fold_without_a_result_stays_among_others() -> None:
    """Operations are computed together; one that fails, and what depends on it, stays by itself."""
    text = """program(1.3)
{
    func main<ios17>(tensor<fp32, [2]> x) {
            a = sin([1.0, 2.0]);
            whole = floor_div([4, 2], [2, 0]);
            b = cos(a);
            more = add(whole, [1, 1]);
            c = tanh(b);
            y = add(mul(x, c), cast(more, "fp32"));
        } -> (y);
}
"""
    done = miltext.optimize(text)
    assert {each.value for each in done.replaced if each.rule == "constant-folding"} == {"a", "b", "c"}
    types = [op.type for op in Graph(done.program).walk() if not op.is_constant]
    assert types == ["floor_div", "add", "mul", "cast", "add"]
    wanted = np.tanh(np.cos(np.sin(np.array([1, 2], np.float32))))
    [made] = [op.literal("val") for op in Graph(done.program).walk() if op.outputs[0].name == "c"]
    folded = ConstantContents(None).array(made)
    assert folded is not None
    assert np.array_equal(folded, wanted)
