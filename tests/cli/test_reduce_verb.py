"""`miltext reduce`: what it writes, tells and refuses, with commands that a shell runs."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result
from conftest import EXAMPLE
from support.pipelines import piped, unary
from support.running import RUNNER

from miltext import build, load, parse
from miltext.cli import command
from miltext.schema.walk import operations

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the commands are those of a Unix shell")

TEXT = """program(1.3)
{
    func main<ios18>(tensor<fp32, [2, 3]> x) {
            a = relu(x);
            b = tanh(a);
            c = exp(b);
            y = add(c, a);
        } -> (y);
}
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.mil"
    path.write_text(TEXT, encoding="utf-8")
    return path


def run(*arguments: object) -> Result:
    return RUNNER.invoke(command, ["reduce", *map(str, arguments)])


def types(path: Path) -> list[str]:
    return [operation.type for _, operation in operations(load(path).program) if operation.type != "const"]


def test_the_rest_is_written_and_reported(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "small.mil"
    result = run(model, "--test", "grep -q exp", "-o", out)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == (
        "before: 4 operations, 0 constants, 1 input, 1 output\n"
        "after:  1 operation, 0 constants, 1 input, 1 output\n"
        "5 tests\n"
        "\n"
        "       |      renamed  interface  consequences\n"
        " main  |  -3        1          1             1\n"
        " total |  -3        1          1             1\n"
    )
    assert types(out) == ["exp"]


def test_the_path_takes_the_place_of_braces(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "small.mil"
    assert run(model, "--test", "grep -q tanh {} && test -s {}", "-o", out).exit_code == 0
    assert types(out) == ["tanh"]


@pytest.mark.parametrize("kind", ["mil", "mlpackage", "mlmodel", "mlmodelc"])
def test_the_command_gets_the_request(kind: str, tmp_path: Path) -> None:
    """It does not see whether a package has an operation in it, so that nothing more than the original is left."""
    seen = tmp_path / "seen"
    command = f'echo {{}} >> {seen}; test -e {{}} && test "$(wc -l < {seen})" -le 1'
    result = run(EXAMPLE, "--as", kind, "--test", command, "--max-tests", 2, "-o", tmp_path / "Small.mlpackage")
    assert result.exit_code == 0, result.stderr
    paths = seen.read_text(encoding="utf-8").splitlines()
    assert [Path(path).suffix for path in paths] == [f".{kind}"] * 2
    assert not any(Path(path).exists() for path in paths)
    assert "stopped after 2 tests, as" in result.stderr


def test_one_test_is_counted_as_one(model: Path, tmp_path: Path) -> None:
    result = run(model, "--test", "grep -q exp", "--max-tests", 1, "-o", tmp_path / "small.mil")
    assert "stopped after 1 test, as" in result.stderr


def test_a_package_keeps_its_other_files(tmp_path: Path) -> None:
    out = tmp_path / "Small.mlpackage"
    assert run(EXAMPLE, "--test", "grep -q relu", "--as", "mil", "-o", out).exit_code == 0
    assert types(out) == ["relu"]
    assert load(out).specification_version == load(EXAMPLE).specification_version


def test_a_model_on_which_the_command_fails_is_refused(model: Path, tmp_path: Path) -> None:
    result = run(model, "--test", "echo no such thing; false", "-o", tmp_path / "small.mil")
    assert result.exit_code == 1
    assert "error[MIL486]: the test does not pass on the model itself\n" in result.stderr
    assert "note: its exit status was 1\n" in result.stderr
    assert "note: it printed: no such thing\n" in result.stderr
    assert list(tmp_path.iterdir()) == [model]


def test_command_that_takes_long_is_ended_with_that_it_started(model: Path, tmp_path: Path) -> None:
    begun = time.monotonic()
    result = run(model, "--test", "sleep 60 | sleep 60; true", "--timeout", 0.2, "-o", tmp_path / "small.mil")
    assert time.monotonic() - begun < 30
    assert result.exit_code == 1
    assert "note: it did not end in time\n" in result.stderr


@pytest.mark.parametrize("last", ["grep -q exp", "grep -q exp && kill -9 $$"])
def test_processes_that_a_command_leaves_running_end_with_it(last: str, model: Path, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    run(model, "--test", f"sleep 60 & echo $! >> {pids}; {last} {{}}", "-o", tmp_path / "small.mil")
    started = pids.read_text(encoding="utf-8").split()
    for pid in started:
        state = subprocess.run(["ps", "-o", "stat=", "-p", pid], capture_output=True, text=True, check=False).stdout
        assert not state or state.startswith("Z"), pid


def test_a_test_that_does_not_always_are_equal_is_reported(model: Path, tmp_path: Path) -> None:
    once = f"test ! -e {tmp_path}/$(md5sum < {{}} | cut -c -32) && grep -q exp {{}} && touch "
    once += f"{tmp_path}/$(md5sum < {{}} | cut -c -32)"
    result = run(model, "--test", once, "-o", tmp_path / "small.mil")
    assert result.exit_code == 0
    assert "warning[MIL487]" in result.stderr
    assert types(tmp_path / "small.mil") == ["exp"]


def test_the_output_of_the_command_is_shown_on_request(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "small.mil"
    result = run(model, "--test", "grep exp", "-v", "-o", out)
    assert "= exp(x = b)" in result.stderr


def test_an_existing_output_is_refused_before_any_test(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "small.mil"
    out.write_text("mine", encoding="utf-8")
    ran = f"touch {tmp_path}/ran"
    assert "--force replaces it" in run(model, "--test", ran, "-o", out).stderr
    assert run(model, "--test", ran, "-o", tmp_path / "small.txt").exit_code == 2
    assert run(model, "--test", ran, "-o", tmp_path / "nowhere" / "small.mil").exit_code == 2
    assert run(EXAMPLE, "--test", ran, "-o", EXAMPLE).exit_code == 2
    assert not (tmp_path / "ran").exists()
    assert out.read_text(encoding="utf-8") == "mine"
    assert run(model, "--test", "grep -q exp", "-o", out, "--force").exit_code == 0
    assert types(out) == ["exp"]


@pytest.mark.parametrize("options", [("--jobs", 0), ("--timeout", 0), ("--max-tests", 0), ("--as", "pb")])
def test_options_out_of_range_are_refused(options: tuple[object, ...], model: Path, tmp_path: Path) -> None:
    assert run(model, "--test", "true", "-o", tmp_path / "small.mil", *options).exit_code == 2


@pytest.mark.parametrize("out", ["Small.mlpackage", "Small.mlmodel", "Small.mlmodelc", "small.mil"])
def test_a_text_becomes_a_model_beside_it(out: str, model: Path, tmp_path: Path) -> None:
    result = run(model, "--test", "grep -q exp", "--as", "mil", "-o", tmp_path / out)
    assert result.exit_code == 0, result.stderr
    assert types(tmp_path / out) == ["exp"]


WIDE = """program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 128]> x) {
            y = linear(x, $npy("w.npy"));
        } -> (y);
}
"""


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    """A package with a weight that is too much for a text."""
    (tmp_path / "wide.mil").write_text(WIDE, encoding="utf-8")
    np.save(tmp_path / "w.npy", np.ones((129, 128), np.float16))
    build(tmp_path / "wide.mil", tmp_path / "Wide.mlpackage", externalize=10)
    return tmp_path / "Wide.mlpackage"


@pytest.mark.parametrize(
    ("out", "seen", "is_zero"),
    [
        ("small.mil", None, False),
        ("small.mil", "mlmodelc", False),
        ("Small.mlpackage", "mil", False),
        ("Small.mlpackage", None, True),
    ],
)
def test_no_text_spells_large_weights_as_zeros(
    out: str, seen: str | None, is_zero: bool, wide: Path, tmp_path: Path
) -> None:
    """Neither one that the command gets, nor one that is written."""
    asked = ("--as", seen) if seen else ()
    result = run(wide, "--test", "test -e", "--max-tests", 9, *asked, "-o", tmp_path / out)
    assert result.exit_code == 0, result.stderr
    if out == "small.mil":
        assert "BLOBFILE" in (tmp_path / out).read_text(encoding="utf-8")
    else:
        assert [each[...].any() for each in load(tmp_path / out).weights.values()] == [not is_zero]


def test_the_sizes_of_an_input_can_be_given(model: Path, tmp_path: Path) -> None:
    model.write_text(TEXT.replace("[2, 3]", "[?, 3]"), encoding="utf-8")
    asked = ("--test", "grep -q exp {}", "--as", "mil", "-o", tmp_path / "Small.mlpackage")
    refused = run(model, *asked)
    assert (refused.exit_code, "as in `--range x=LEAST..GREATEST,3" in refused.stderr) == (1, True)
    assert run(model, "--range", "x=1..8,3", *asked).exit_code == 0
    assert types(tmp_path / "Small.mlpackage") == ["exp"]


def test_several_at_once_find_the_same(model: Path, tmp_path: Path) -> None:
    for jobs in (1, 3):
        assert run(model, "--test", "grep -q exp", "--jobs", jobs, "-o", tmp_path / f"{jobs}.mil").exit_code == 0
    assert (tmp_path / "1.mil").read_text(encoding="utf-8") == (tmp_path / "3.mil").read_text(encoding="utf-8")


def test_the_result_is_kept_where_the_output_cannot_be(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "small.mil"
    result = run(model, "--test", f"touch {out}; grep -q exp", "-o", out)
    assert result.exit_code == 2
    kept = Path(result.stderr.split("is kept as ")[1].split("\n")[0])
    assert types(kept) == ["exp"]
    assert out.read_bytes() == b""
    shutil.rmtree(kept.parent)


def test_an_impossible_output_is_refused_before_any_test(tmp_path: Path) -> None:
    """A text may take any size, a package may not."""
    (tmp_path / "open.mil").write_text(TEXT.replace("[2, 3]", "[?, 3]"), encoding="utf-8")
    result = run(tmp_path / "open.mil", "--test", f"touch {tmp_path}/ran", "-o", tmp_path / "Small.mlpackage")
    assert result.exit_code == 1
    assert "error[MIL452]" in result.stderr
    assert not (tmp_path / "ran").exists()
    assert run(tmp_path / "open.mil", "--test", "grep -q exp", "-o", tmp_path / "small.mil").exit_code == 0


def test_a_pipeline_requires_a_choice_of_a_model(tmp_path: Path) -> None:
    out, pipeline = tmp_path / "Small.mlpackage", tmp_path / "Pipeline.mlmodel"
    pipeline.write_bytes(piped(unary("x", "y"), unary("y", "z")).SerializeToString())
    assert "error[MIL257]" in run(pipeline, "--test", "true", "-o", out).stderr
    assert run(pipeline, "--model", "1", "--as", "mil", "--test", "grep -q relu", "-o", out).exit_code == 0
    assert types(out) == ["relu"]


def test_a_terminal_shows_how_far_it_is(model: Path, tmp_path: Path) -> None:
    import pty

    ours, theirs = pty.openpty()
    line = [
        sys.executable,
        "-m",
        "miltext",
        "reduce",
        str(model),
        "--test",
        "grep -q exp",
        "-o",
        str(tmp_path / "o.mil"),
    ]
    subprocess.run(line, stderr=theirs, stdout=subprocess.DEVNULL, check=True)
    told = os.read(ours, 1 << 16).decode()
    assert "4 operations left, 1 test run" in told
    assert "1 operation left, 4 tests run" in told
    assert told.endswith("\r\x1b[K")


def test_an_interrupt_keeps_the_best_so_far(model: Path, tmp_path: Path) -> None:
    """The second smaller model is tested for ever."""
    out, seen = tmp_path / "small.mil", tmp_path / "seen"
    line = f"echo . >> {seen}; test $(wc -l < {seen}) -lt 4 || sleep 600; grep -q tanh"
    process = subprocess.Popen(
        [sys.executable, "-m", "miltext", "reduce", str(model), "--test", line, "-o", str(out)],
        stderr=subprocess.PIPE,
        text=True,
    )
    while not seen.exists() or seen.read_text(encoding="utf-8").count(".") < 4:
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert f"interrupted after 3 tests; {out} is the best so far" in told
    left = parse(out.read_text(encoding="utf-8"))
    assert "tanh" in {operation.type for _, operation in operations(left)}
    assert len(list(operations(left))) < 4
