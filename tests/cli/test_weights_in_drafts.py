"""From a draft that names arrays to a model that holds them, on the command line."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import miltext
from miltext.cli import command

INPUTS = "tensor<fp16, [1, 4, 8, 8]> x"
DRAFT = f"""program(1.3)
{{
    func main<ios18>({INPUTS}) {{
            a = relu(conv(x, $npy("w/w.npy"), bias = fp16 $npz("a.npz", "b")));
            b = conv(a, fp16 $safetensors("m.safetensors", "layer.0.weight"));
            again = const()[val = $npy("w/w.npy")];
            y = mul(conv(b, again), $npy("scale.npy"));
        }} -> (y);
}}
"""


def arrays() -> dict[str, np.ndarray]:
    """The arrays of the draft by the names that its constants get; `a_x_bias` and `b_weight` are saved as fp32."""
    numbers = np.random.default_rng(0)
    return {
        "a_x_weight": numbers.normal(size=(4, 4, 1, 1)).astype(np.float16),
        "a_x_bias": numbers.normal(size=4).astype(np.float32),
        "b_weight": numbers.normal(size=(4, 4, 3, 3)).astype(np.float32),
        "y_y": np.float16(0.25),
    }


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    safetensors = pytest.importorskip("safetensors.numpy")
    found = arrays()
    (tmp_path / "w").mkdir()
    np.save(tmp_path / "w" / "w.npy", np.asfortranarray(found["a_x_weight"]))
    np.save(tmp_path / "scale.npy", found["y_y"])
    np.savez(tmp_path / "a.npz", b=found["a_x_bias"])
    safetensors.save_file({"layer.0.weight": found["b_weight"]}, tmp_path / "m.safetensors")
    (tmp_path / "draft.mil").write_text(DRAFT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: object, stdin: str | None = None) -> tuple[int, str]:
    result = CliRunner().invoke(command, [*map(str, arguments)], input=stdin)
    return result.exit_code, result.output


def expected() -> dict[str, np.ndarray]:
    found = {name: array.astype(np.float16) for name, array in arrays().items()}
    return found | {"again": found["a_x_weight"]}


def test_inferred_constants_are_built_with_the_data(folder: Path) -> None:
    assert run("infer", "draft.mil", "-o", "whole.mil")[0] == 0
    assert run("check", "whole.mil") == (0, "nothing found in 1 program\n")
    assert run("build", "whole.mil", "-o", "M.mlpackage")[0] == 0
    model = miltext.load(folder / "M.mlpackage")
    assert {*model.weights} == {*expected()}
    for name, array in expected().items():
        np.testing.assert_array_equal(model.weights[name], array)
    offsets = {name: weight.value.blobFileValue.offset for name, weight in model.weights.entries.items()}
    assert offsets["again"] == offsets["a_x_weight"]  # stored once


def test_coremltools_reads_the_values(folder: Path) -> None:
    coremltools = pytest.importorskip("coremltools")
    from coremltools.converters.mil.frontend.milproto.load import load

    run("infer", "draft.mil", "-o", "whole.mil")
    run("build", "whole.mil", "-o", "M.mlpackage")
    model = coremltools.models.MLModel("M.mlpackage", skip_model_load=True)
    program = load(model.get_spec(), specification_version=9, file_weights_dir=str(model.weights_dir))
    constants = {
        operation.outputs[0].name: operation.outputs[0].val
        for operation in program.functions["main"].operations
        if operation.op_type == "const"
    }
    for name, array in expected().items():
        np.testing.assert_array_equal(constants[name], array)


def test_standard_input_is_in_the_working_folder(folder: Path) -> None:
    whole = run("infer", "draft.mil")[1]
    assert run("infer", "-", stdin=DRAFT) == (0, whole)
    assert run("check", "-", stdin=whole) == (0, "nothing found in 1 program\n")
    status, shown = run("check", "-", stdin=DRAFT.replace("scale.npy", "none.npy"))
    assert (status, shown.count("error["), "MIL413" in shown) == (1, 1, True)
    assert "the file does not exist in the working folder" in shown
    shown = run("build", "-", "-o", "M.mlpackage", stdin=whole.replace("scale.npy", "none.npy"))[1]
    assert "the file does not exist in the working folder" in shown


def test_a_text_that_is_a_link_has_its_arrays_where_the_link_is(folder: Path) -> None:
    (folder / "there").mkdir()
    (folder / "there" / "link.mil").symlink_to("../draft.mil")
    for call in (["check"], ["infer"], ["build", "-o", "M.mlpackage"]):
        shown = run(*call, "there/link.mil")[1]
        assert 'the file does not exist in "there"' in shown, shown


WRITERS = {
    "infer": ["infer", "draft.mil"],
    "rename": ["rename", "draft.mil", "x", "image"],
    "expose": ["expose", "draft.mil", "a"],
    "reshape": ["reshape", "draft.mil", "x=1,4,16,16"],
    "extract": ["extract", "draft.mil", "y"],
    "merge": ["merge", "draft.mil", "ours.mil", "draft.mil"],
}
"""The verbs that write a text made from a text, which still names its arrays."""


@pytest.mark.parametrize("verb", WRITERS)
def test_a_result_is_not_written_where_its_arrays_are_not(folder: Path, verb: str) -> None:
    (folder / "elsewhere").mkdir()
    (folder / "ours.mil").write_text(DRAFT.replace("a = relu(", "a = tanh("))
    name = "ours.mil" if verb == "merge" else "draft.mil"
    call, target = WRITERS[verb], Path("elsewhere", "whole.mil")
    status, shown = run(*call, "-o", target)
    assert (status, list((folder / "elsewhere").iterdir())) == (2, []), shown
    assert shown.startswith(f"{target}: error[MIL406]: the result names files beside {name}, and would be in another ")
    assert f'the file does not exist in "elsewhere"; write it into {folder}\n' in shown
    os.symlink(folder, folder / "same")
    assert run(*call, "-o", "same/whole.mil")[0] == 0
    for each in ("w/w.npy", "scale.npy", "a.npz", "m.safetensors"):
        (folder / "elsewhere" / each).parent.mkdir(exist_ok=True)
        shutil.copy(folder / each, folder / "elsewhere" / each)
    assert run(*call, "-o", target)[0] == 0


@pytest.mark.parametrize("verb", ["rename", "extract"])
def test_a_text_without_arrays_is_written_anywhere(folder: Path, verb: str) -> None:
    (folder / "elsewhere").mkdir()
    (folder / "draft.mil").write_text(f"program(1.3) {{ func main<ios18>({INPUTS}) {{ y = relu(x); }} -> (y); }}")
    assert run(*WRITERS[verb], "-o", "elsewhere/whole.mil")[0] == 0
    assert run("check", "elsewhere/whole.mil")[0] == 0


def test_a_result_beside_the_link_of_its_text_has_its_arrays(folder: Path) -> None:
    """Arrays are looked for beside the link, and not beside the file that it leads to."""
    (folder / "there").mkdir()
    (folder / "there" / "text.mil").write_text(DRAFT)
    os.symlink(folder / "there" / "text.mil", folder / "link.mil")
    assert run("infer", "link.mil", "-o", "whole.mil")[0] == 0
    status, shown = run("infer", "link.mil", "-o", "there/whole.mil")
    assert (status, "MIL406" in shown) == (2, True)


def test_the_smallest_part_of_a_draft_holds_its_arrays(folder: Path) -> None:
    """A text cannot name a weight file that was made for a run alone."""
    test = f'{sys.executable} -c "import sys; sys.exit(open(sys.argv[1]).read().count(chr(64)) < 1)"'
    assert run("reduce", "draft.mil", "--test", test, "-o", "small.mil")[0] == 0
    text = (folder / "small.mil").read_text()
    assert "conv(" in text
    assert ("@model_path" in text, run("check", "small.mil")[0], run("run", "small.mil", "--random")[0]) == (
        False,
        0,
        0,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="has devices and FIFOs of POSIX")
@pytest.mark.parametrize("output", ["/dev/stdout", "/dev/null", "/dev/fd/{fd}", "{fifo}", "{link}"])
def test_a_result_is_written_into_any_stream(folder: Path, output: str) -> None:
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    os.mkfifo(elsewhere / "fifo")
    (elsewhere / "link").symlink_to("/dev/stdout")
    reader = os.open(elsewhere / "fifo", os.O_RDONLY | os.O_NONBLOCK)
    read, write = os.pipe()
    name = output.format(fd=write, fifo=elsewhere / "fifo", link=elsewhere / "link")
    call = [sys.executable, "-m", "miltext", "infer", "draft.mil", "-o", name]
    made = subprocess.run(call, capture_output=True, pass_fds=[write], timeout=60, check=False)
    os.close(write)
    assert (made.returncode, made.stderr) == (0, b"")
    with os.fdopen(reader, "rb") as fifo, os.fdopen(read, "rb") as pipe:
        got = made.stdout + (fifo.read() or b"") + pipe.read()
    assert got.decode() == ("" if output == "/dev/null" else run("infer", "draft.mil")[1])


def test_a_result_without_arrays_is_written_anywhere(folder: Path) -> None:
    (folder / "plain.mil").write_text(f"program(1.3) {{ func main<ios18>({INPUTS}) {{ y = relu(x); }} -> (y); }}")
    (folder / "elsewhere").mkdir()
    assert run("infer", "plain.mil", "-o", "elsewhere/whole.mil")[0] == 0


def test_a_draft_in_another_folder_has_its_arrays_beside_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = run("infer", "draft.mil")[1]
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    assert run("infer", "../draft.mil") == (0, whole)
    assert run("check", "..")[1].count("error[") == 0


def test_a_conversion_is_a_fix_requested(folder: Path) -> None:
    np.save(folder / "scale.npy", np.float64(0.25))
    assert run("check", "--fix", "draft.mil")[0] == 1
    assert (folder / "draft.mil").read_text() == DRAFT
    run("check", "--fix", "--unsafe-fixes", "draft.mil")
    assert (folder / "draft.mil").read_text() == DRAFT.replace('$npy("scale', 'fp16 $npy("scale')
    assert "error" not in run("check", "draft.mil")[1]
