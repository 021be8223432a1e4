"""The compact form: what is folded and what is not, and how short it is."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from conftest import CORPUS, ROOT, corpus_files
from support import commands

import miltext
from miltext.files.refusals import WeightsError
from miltext.models.compact import compact, compact_pieces
from miltext.schema.walk import operations

EXAMPLE = ROOT / "examples" / "Classifier.mlpackage"
BODY = """\
program(1.3)
{{
    func main<ios18>(tensor<fp16, [2]> x) {{
{}
        }} -> ({});
}}
"""
ONE = 'fp16 one = const()[name = string("one"), val = fp16(0x1p+0)];'
ADD = 'tensor<fp16, [2]> y = add(x = x, y = one)[name = string("y")];'


def body(*lines: str, outputs: str = "y") -> str:
    return BODY.format("\n".join(f"            {line}" for line in lines), outputs)


def compacted(text: str) -> list[str]:
    made = miltext.to_text(compact(miltext.parse(text)))
    return [line.strip() for line in made.splitlines()[3:-2]]


def test_a_constant_with_one_use_is_in_its_place() -> None:
    assert compacted(body(ONE, ADD)) == ["tensor<fp16, [2]> y = add(x = x, y = fp16(0x1p+0));"]


def test_the_use_may_be_inside_a_block() -> None:
    loop = """tensor<fp16, [2]> y = while_loop(loop_vars = x)[name = string("loop")]
                (tensor<fp16, [2]> a) {
                    bool go = less(x = a, y = one)[name = string("go")];
                } -> (go);"""
    lines = compacted(body(ONE, loop))
    assert lines[0].endswith('while_loop(loop_vars = x)[name = string("loop")]')
    assert lines[2] == "bool go = less(x = a, y = fp16(0x1p+0));"


@pytest.mark.parametrize(
    "lines",
    [
        (ONE, ADD, ADD.replace(" y =", " z =", 1)),  # two uses
        (ONE, ADD.replace("add(x = x", "add(x = one")),
        (ONE,),  # no use
        (ONE.replace("fp16 one", "tensor<fp16, [1]> one"), ADD),  # another type than its value's
        (ONE.replace("[name", "[note = int32(1), name"), ADD),  # it says more
        (ONE.replace("const()", "const(seed = int32(1))"), ADD),
        (ONE.replace("const", "identity"), ADD),
        (ONE, ONE, ADD),  # two of one name
    ],
    ids=lambda lines: lines[0][:60],
)
def test_other_constants_stay(lines: tuple[str, ...]) -> None:
    assert sum(" one = " in line for line in compacted(body(*lines))) == sum(" one = " in line for line in lines)


def test_a_constant_that_is_an_output_stays() -> None:
    assert any("const" in line for line in compacted(body(ONE, ADD, outputs="y, one")))


@pytest.mark.parametrize(
    ("value", "name", "kept"), [("y", "y", False), ("var_7", "op_7", False), ("y", "z", True), ("var_7", "op_8", True)]
)
def test_a_redundant_name_is_omitted(value: str, name: str, kept: bool) -> None:
    (line,) = compacted(body(f'tensor<fp16, [2]> {value} = relu(x = x)[name = string("{name}")];', outputs=value))
    assert ("[name" in line) == kept


def test_the_program_itself_stays_as_it_is() -> None:
    program = miltext.parse(body(ONE, ADD))
    compact(program)
    assert miltext.to_text(program) == body(ONE, ADD)


@pytest.mark.parametrize("path", corpus_files("*/*.mlmodelc", "*/*.mlpackage", "pairs/*/model.mlmodel"))
def test_the_text_parses_and_is_canonical(path: Path) -> None:
    model = miltext.load(path, 0 if path.parent.name == "pipelines" else None)
    unread: list[WeightsError] = []
    text = "".join(compact_pieces(model, on_unread=unread.append))
    assert miltext.format_text(text) == text
    assert ("BLOBFILE" in text) == bool(unread)
    for_parsing = miltext.parse(miltext.to_text(compact(model.program)))
    assert list(operations(for_parsing))


def test_three_thousand_operations_take_eighty_characters_each() -> None:
    path = CORPUS / "pairs" / "FluidAudio__160ms_streaming_encoder" / "model.mlmodel"
    if not path.exists():
        pytest.skip(f"no {path}")
    model = miltext.load(path)
    count = len(list(operations(model.program)))
    text = "".join(compact_pieces(model, on_unread=lambda _: None))
    assert (count, len(text) <= 80 * count) == (2971, True)


# ---- on the command line


def run(*arguments: object, status: int = 0) -> tuple[str, str]:
    done = commands.miltext(*arguments)
    assert done.returncode == status, done.stderr.decode()
    return done.stdout.decode(), done.stderr.decode()


@pytest.fixture
def package(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLE, tmp_path / "Model.mlpackage"))


def test_print_compact_shows_digests_and_shows_where_it_cannot(package: Path) -> None:
    text, errors = run("print", package, "--compact")
    assert "sha256:" in text
    assert errors == ""
    next(package.rglob("weight.bin")).unlink()
    text, errors = run("print", package, "--compact")
    assert "BLOBFILE" in text
    assert errors.count("weights are shown by their places") == 1
    run("print", package, "--compact", "--strict", status=2)


def test_a_sidecar_is_written_and_reported_when_stale(package: Path) -> None:
    sidecar = package.with_name("Model.mlpackage.mil")
    assert str(sidecar) in run("sidecar", "--check", package, status=1)[1]
    assert not sidecar.exists()
    run("sidecar", package)
    text = sidecar.read_text()
    assert text.startswith("// Made by miltext ")
    assert text.splitlines()[0].endswith(": miltext sidecar Model.mlpackage")
    assert "// description {" in text
    assert miltext.format_text(text) == text
    run("sidecar", "--check", package)
    sidecar.write_text("// Made by miltext 0.0.1\n" + text.partition("\n")[2])
    run("sidecar", "--check", package)
    run("sidecar", "--check", "--full", package, status=1)


@pytest.mark.parametrize(
    ("folder", "given"),
    [
        ("", "."),
        ("", ""),
        ("Data", ".."),
        ("Data", "com.apple.CoreML/model.mlmodel"),
        ("Data/com.apple.CoreML", "model.mlmodel"),
        ("Data/com.apple.CoreML", "../../../Model.mlpackage"),
        ("..", "Model.mlpackage"),
    ],
)
def test_a_sidecar_is_beside_the_model_for_any_working_folder(
    folder: str, given: str, package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(package / folder)
    inside = {*package.rglob("*")}
    assert "Model.mlpackage.mil" in run("sidecar", given)[1]
    assert package.with_name("Model.mlpackage.mil").is_file()
    assert {*package.rglob("*")} == inside


def test_a_changed_weight_makes_a_sidecar_stale(package: Path) -> None:
    run("sidecar", package)
    weights = next(package.rglob("weight.bin"))
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(data)
    assert "stale: " in run("sidecar", "--check", weights, package / "Manifest.json", status=1)[1]
    weights.unlink()
    assert "MIL302" in run("sidecar", package, status=1)[1]


def test_a_full_sidecar_has_every_operation(package: Path) -> None:
    run("sidecar", "--full", package)
    text = package.with_name("Model.mlpackage.mil").read_text()
    assert text.count(" const()") == miltext.to_text(miltext.load(package).program).count(" const()")
    assert "BLOBFILE" not in text


def test_a_pipeline_has_a_sidecar_for_each_program(tmp_path: Path) -> None:
    spec = miltext.schema.proto.Model
    inner = miltext.load(EXAMPLE).spec
    assert inner is not None
    pipeline = spec(specificationVersion=9)
    pipeline.pipeline.models.extend([spec(specificationVersion=9), inner])
    pipeline.pipeline.models[0].pipeline.models.append(spec(mlProgram=miltext.parse(body(ADD.replace("one", "x")))))
    (tmp_path / "p.mlmodel").write_bytes(pipeline.SerializeToString())
    shutil.copytree(next(EXAMPLE.rglob("weights")), tmp_path / "weights")
    run("sidecar", tmp_path / "p.mlmodel")
    assert sorted(path.name for path in tmp_path.glob("*.mil")) == ["p.mlmodel.0.0.mil", "p.mlmodel.1.mil"]
    assert "from p.mlmodel, model 0/0: " in (tmp_path / "p.mlmodel.0.0.mil").read_text()
