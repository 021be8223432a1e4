"""What `miltext run` writes: archives, single arrays, pictures, and what states hold; and how it ends early."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import EXAMPLE
from support.running import DRAFT, GIVEN, done, refused, run, text

import miltext
from miltext.cli import command, progress
from miltext.diagnostics.home import install
from miltext.schema.proto import FeatureDescription, ImageFeatureType

Y, Z = [[1.5, 0.5, 3.5], [4.5, 5.5, 0.5]], [8]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    text("draft.mil", DRAFT)
    return tmp_path


def read(path: str) -> dict[str, Any]:
    with np.load(path) as archive:
        return {name: archive[name] for name in archive}


# ---- files


def test_an_archive_has_all_that_was_requested(folder: Path) -> None:
    assert done("draft.mil", *GIVEN, "-o", "out.npz") == ""
    assert {name: array.tolist() for name, array in read("out.npz").items()} == {"y": Y, "z": Z}
    done("draft.mil", *GIVEN, "--all", "--value", "x", "-o", "out.npz")
    assert sorted(read("out.npz")) == ["a", "x", "y", "z"]


def test_single_values(folder: Path) -> None:
    assert done("draft.mil", *GIVEN, "-o", "y=y.npy", "-o", "a=sub=a.npy", "-o", "out.npz") == ""
    assert np.load("y.npy").tolist() == Y
    assert np.load("sub=a.npy").tolist() == [[1, 0, 3], [4, 5, 0]]
    assert sorted(read("out.npz")) == ["a", "y", "z"]
    assert done("draft.mil", *GIVEN, "-o", "x=x.npy") == ""
    assert np.load("x.npy").dtype == np.float32


def test_labels_and_probabilities_need_no_pickles(folder: Path) -> None:
    done(EXAMPLE, "--random", "-o", "out.npz")
    found = read("out.npz")
    label, probabilities = str(found["classLabel"]), dict(found["classLabel_probs"].tolist())
    assert label == max(probabilities, key=lambda each: probabilities[each])
    assert sum(probabilities.values()) == pytest.approx(1, abs=1e-3)


def test_types_of_inner_values(folder: Path) -> None:
    body = 'b = cast(x = x, dtype = "int8"); t = cast(x = x, dtype = "bool"); y = relu(x = x);'
    text("types.mil", f"program(1.3) {{ func main<ios18>(tensor<fp32, [2]> x) {{ {body} }} -> (y); }}")
    done("types.mil", "--input", "x=[1,-2]", "--all", "-o", "out.npz")
    assert {name: (array.dtype.name, array.tolist()) for name, array in read("out.npz").items()} == {
        "b": ("int8", [1, -2]),
        "t": ("bool", [True, True]),
        "y": ("float32", [1, 0]),
    }


BAD_TARGETS: dict[str, tuple[list[str], str]] = {
    "another ending": (["-o", "out.mil"], "MIL401"),
    "something else is there": (["-o", "notes"], "MIL402"),
    "an input": (["-o", "x.npz"], "MIL402"),
    "the model": (["-o", "draft"], "MIL401"),
    "a folder": (["-o", "folder"], "is a folder"),
    "in no folder": (["-o", "none/out.npz"], "none/out.npz: No such file or directory"),
    "two archives": (["-o", "a.npz", "-o", "b.npz"], "there is one archive of all values, a.npz"),
    "one file twice": (["-o", "a.npz", "--state-out", "./a.npz"], "two outputs are one file"),
    "one file for two values": (["-o", "y=a.npy", "-o", "z=a.npy"], "two outputs are one file"),
    "a value twice": (["-o", "y=a.npy", "-o", "y=b.npy"], "its name is repeated"),
    "no file": (["-o", "y="], "is not NAME=FILE"),
    "no name": (["-o", "=y.npy"], "is not NAME=FILE"),
    "a single one as archive": (["-o", "y=y.npz"], "a single value is written as .npy"),
    "an unknown value": (["-o", "b=b.npy"], "error[MIL837]"),
    "no image": (["-o", "y=y.png"], "has no image 'y'"),
}


@pytest.mark.parametrize("case", BAD_TARGETS)
def test_targets_that_are_refused_before_the_run(case: str, folder: Path) -> None:
    text("notes", "not an archive")
    (folder / "folder").mkdir()
    (folder / "draft").symlink_to("draft.mil")
    np.savez("x.npz", x=np.zeros((2, 3)))
    before = sorted(os.listdir())
    arguments, said = BAD_TARGETS[case]
    status = 1 if "MIL837" in said else 2
    assert said in refused("draft.mil", "--inputs", "x.npz", "--input", "n=1", *arguments, status=status)
    assert sorted(os.listdir()) == before


FAILS = """program(1.3)
{
    func main<ios18>(tensor<fp32, [2]> x, tensor<int32, [1]> i) {
            a = relu(x = x);
            y = gather(x = a, indices = i, axis = 0, validate_indices = true);
        } -> (y);
}
"""


def test_an_operation_without_a_result_is_reported_at_its_line(folder: Path) -> None:
    text("fails.mil", FAILS)
    done("fails.mil", "--random", "-o", "out.npz", "-o", "a=a.npy")
    before = [Path(name).read_bytes() for name in ("out.npz", "a.npy")]
    given = ("fails.mil", "--input", "x=[1,2]", "--input", "i=7", "-o", "out.npz", "-o", "a=a.npy")
    said = refused(*given, status=1)
    assert "fails.mil:5:13: error[MIL838]: `y`, of `gather`, cannot be computed" in said
    assert [Path(name).read_bytes() for name in ("out.npz", "a.npy")] == before
    assert sorted(os.listdir()) == ["a.npy", "draft.mil", "fails.mil", "out.npz"]


@pytest.mark.parametrize(
    ("body", "code"),
    [("y = relu(x = z);", "MIL604"), ("y = relu(y = x);", "MIL504"), ("y = ", "MIL010")],
)
def test_a_wrong_program_is_refused_with_its_findings(body: str, code: str, folder: Path) -> None:
    text("wrong.mil", f"program(1.3) {{ func main<ios18>(tensor<fp32, [2]> x) {{ {body} }} -> (y); }}")
    assert "wrong.mil:1:" in (said := refused("wrong.mil", "--random", "-o", "out.npz", status=1))
    assert f"error[{code}]" in said
    assert not Path("out.npz").exists()


def test_the_archive_is_written_to_standard_output_and_pipes(folder: Path) -> None:
    result = run("draft.mil", *GIVEN, "-o", "-")
    assert result.exit_code == 0
    Path("piped.npz").write_bytes(result.stdout_bytes)
    assert read("piped.npz")["y"].tolist() == Y
    assert done("draft.mil", *GIVEN, "-o", os.devnull) == ""
    done("draft.mil", *GIVEN, "-o", "./y=.npz")
    assert read("y=.npz")["y"].tolist() == Y


@pytest.mark.skipif(os.name == "nt", reason="pipes of Unix")
def test_named_pipes(folder: Path) -> None:
    os.mkfifo("pipe")
    running = process("draft.mil", *GIVEN, "-o", "pipe")
    Path("piped.npz").write_bytes(Path("pipe").read_bytes())
    assert running.communicate(timeout=60) == (b"", b"")
    assert read("piped.npz")["y"].tolist() == Y
    assert "it is not a regular file" in refused("draft.mil", "--inputs", "pipe")


# ---- states

STATEFUL = """program(1.3)
{
    func main<ios18>(tensor<fp16, [2]> x, state<tensor<fp16, [2]>> sum) {
            tensor<fp16, [2]> before = read_state(input = sum);
            tensor<fp16, [2]> y = add(x = before, y = x);
            write_state(input = sum, data = y);
        } -> (y);
}
"""


def test_states_from_one_call_to_the_next(folder: Path) -> None:
    text("stateful.mil", STATEFUL)
    given = ("stateful.mil", "--input", "x=[1,2]")
    first = done(*given, "--state-out", "s.npz").splitlines()
    assert [line.split() for line in first[1:]] == [
        ["y", "tensor<fp16,", "[2]>", "[1,", "2]"],
        [],
        ["sum", "tensor<fp16,", "[2]>", "[1,", "2]"],
    ]
    for step in (2, 3):
        assert f"[{step}, {2 * step}]" in done(*given, "--state", "s.npz", "--state-out", "./s.npz")
    assert read("s.npz")["sum"].tolist() == [3, 6]
    done(*given, "--state", "s.npz", "-o", "out.npz")
    assert {name: array.tolist() for name, array in read("out.npz").items()} == {"y": [4, 8]}
    assert read("s.npz")["sum"].tolist() == [3, 6]
    assert "MIL402" in refused(*given, "--state", "s.npz", "-o", "s.npz")


def test_wrong_states(folder: Path) -> None:
    text("stateful.mil", STATEFUL)
    given = ("stateful.mil", "--input", "x=[1,2]", "--state-out", "after.npz")
    np.savez("unknown.npz", sums=np.zeros(2))
    np.savez("shape.npz", sum=np.zeros(3))
    np.savez("objects.npz", sum=np.array([{}, {}], object))
    assert "did you mean `sum`?" in refused(*given, "--state", "unknown.npz", status=1)
    assert "error[MIL833]" in refused(*given, "--state", "shape.npz")
    assert "error[MIL836]" in refused(*given, "--state", "objects.npz")
    assert "none.npz: error[MIL836]" in refused(*given, "--state", "none.npz")
    assert "error[MIL832]" in refused("draft.mil", *GIVEN, "--state", "unknown.npz", status=1)
    assert not Path("after.npz").exists()


def test_an_input_that_is_an_output_is_given_once(folder: Path) -> None:
    text("through.mil", "program(1.3) { func main<ios18>(fp32 x) { y = exp(x = x); } -> (x, y, x); }")
    given = ("through.mil", "--input", "x=3", "--value", "x")
    assert done(*given, "-o", "out.npz", "-o", "x=x.npy") == ""
    assert ([*read("out.npz")], np.load("x.npy")) == (["x", "y"], 3)
    found = json.loads(done(*given, "--json"))
    assert ([each["name"] for each in found["outputs"]], found["inputs"]) == (["x", "y"], [])


# ---- pictures

IMAGES = """program(1.3)
{
    func main<ios18>(tensor<fp32, [1, 3, 4, 6]> image) {
            y = OUTPUT;
        } -> (y);
}
"""


def images(colours: int = ImageFeatureType.RGB, output: str = "sub(x = 255.0, y = image)") -> str:
    """The name of a package that turns the colours of a picture."""
    channels = 3 if colours in (ImageFeatureType.RGB, ImageFeatureType.BGR) else 1
    text("images.mil", IMAGES.replace("[1, 3,", f"[1, {channels},").replace("OUTPUT", output))
    miltext.build(miltext.load("images.mil"), "Images.mlpackage", force=True)
    model = miltext.load("Images.mlpackage")
    assert model.description is not None
    entries: list[FeatureDescription] = [*model.description.input, *model.description.output]
    for entry in entries:
        entry.type.imageType.CopyFrom(ImageFeatureType(width=6, height=4, colorSpace=colours))
    model.save("Images.mlpackage", force=True)
    return "Images.mlpackage"


@pytest.fixture
def picture(folder: Path) -> Any:
    """A picture of 6 by 4 pixels, which is also in a file."""
    image = pytest.importorskip("PIL.Image")
    pixels = np.random.default_rng(0).integers(0, 256, (4, 6, 3)).astype(np.uint8)
    made = image.fromarray(pixels)
    made.save("cat.png")
    return made


@pytest.mark.parametrize("colours", ["RGB", "BGR", "GRAYSCALE"])
def test_pictures_in_and_out(colours: str, picture: Any) -> None:
    from PIL import Image

    package = images(getattr(ImageFeatureType, colours))
    assert done(package, "--input", "image=cat.png", "-o", "y=y.png", "-o", "out.npz") == ""
    expected = 255 - np.asarray(picture.convert("L" if colours == "GRAYSCALE" else "RGB"))
    with Image.open("y.png") as made:
        assert np.array_equal(np.asarray(made), expected)
    bands = expected.reshape(4, 6, -1).transpose(2, 0, 1)
    assert np.array_equal(read("out.npz")["y"][0], bands[::-1] if colours == "BGR" else bands)


def test_a_picture_of_another_size_is_refused_or_scaled(picture: Any) -> None:
    package = images()
    picture.resize((12, 9)).save("large.png")
    said = refused(package, "--input", "image=large.png")
    assert "error[MIL833]" in said
    assert "--resize" in said
    assert "tensor<fp32, [1, 3, 4, 6]>" in done(package, "--input", "image=large.png", "--resize")
    assert done(package, "--input", "image=cat.png", "--resize") == done(package, "--input", "image=cat.png")


def test_scaling_is_advised_where_a_picture_is_given(picture: Any) -> None:
    package = images()
    np.save("small.npy", np.zeros((1, 3, 2, 2)))
    for word in ("small.npy", "[[1,2]]"):
        assert "--resize" not in refused(package, "--input", f"image={word}")


def test_scaling_leaves_a_picture_of_a_size_that_is_taken(picture: Any) -> None:
    text("images.mil", IMAGES.replace("4, 6]", "?, ?]").replace("OUTPUT", "relu(x = image)"))
    ranges = {"image": "1,3,1..8,1..12"}
    miltext.build(miltext.load("images.mil"), "Images.mlpackage", force=True, ranges=ranges)
    model = miltext.load("Images.mlpackage")
    assert model.description is not None
    image = ImageFeatureType(width=6, height=4, colorSpace=ImageFeatureType.RGB)
    image.enumeratedSizes.sizes.add(height=8, width=12)
    model.description.input[0].type.imageType.CopyFrom(image)
    model.save("Images.mlpackage", force=True)
    sizes = {(12, 8): "8, 12", (6, 4): "4, 6", (12, 4): "4, 6", (1, 1): "4, 6"}
    for size, taken in sizes.items():
        picture.resize(size).save("cat.png")
        made = done("Images.mlpackage", "--input", "image=cat.png", "--resize")
        assert f"tensor<fp32, [1, 3, {taken}]>" in made


def test_arrays_and_random_numbers_for_an_image(picture: Any) -> None:
    package = images()
    np.save("cat.npy", np.asarray(picture).transpose(2, 0, 1)[np.newaxis])
    assert done(package, "--input", "image=cat.npy") == done(package, "--input", "image=cat.png")
    done(package, "--random", "--value", "image", "-o", "out.npz")
    made = read("out.npz")["image"]
    assert (made.min() >= 0, made.max() <= 255, np.array_equal(made, np.rint(made))) == (True, True, True)


def test_outputs_that_are_not_pictures(picture: Any) -> None:
    package = images()
    text("text.png", "hello")
    for name in ("text.png", "none.png", "."):
        assert f"{name}: error[MIL836]" in refused(package, "--input", f"image={name}")
    assert "MIL836" in refused("draft.mil", "--input", "x=cat.png")
    done(package, "--input", "image=cat.png", "-o", "y=y.npy")
    said = refused(images(ImageFeatureType.GRAYSCALE_FLOAT16), "--input", "image=cat.png", "-o", "y=y.png")
    assert "name an .npy" in said


@pytest.mark.parametrize(
    "output", ["tile(x = image, reps = [2, 1, 1, 1])", "reduce_sum(x = image, axes = [1], keep_dims = true)"]
)
def test_an_output_that_is_not_the_picture_that_is_described(output: str, picture: Any) -> None:
    package = images(output=output)
    said = refused(package, "--input", "image=cat.png", "-o", "y=y.png")
    assert "miltext: y.png cannot be written: its value is not the picture of the description" in said
    assert not Path("y.png").exists()


def test_without_pillow(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = images()
    for name in ("PIL", "PIL.Image"):
        monkeypatch.setitem(sys.modules, name, None)
    said = refused(package, "--input", "image=cat.png")
    assert "error[MIL839]" in said
    assert install("images") in said
    assert "MIL839" in refused(package, "--random", "-o", "y=y.png", "-o", "out.npz")
    assert sorted(os.listdir()) == ["Images.mlpackage", "draft.mil", "images.mil"]


# ---- how it runs


def process(*arguments: object, **options: Any) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "miltext", "run", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def long(operations: int) -> str:
    lines = "".join(f"v{at} = tanh(x = {f'v{at - 1}' if at else 'x'});\n" for at in range(operations))
    return f"program(1.3) {{ func main<ios18>(tensor<fp32, [4]> x) {{\n{lines} }} -> (v{operations - 1}); }}"


def test_thousands_of_operations(folder: Path) -> None:
    text("long.mil", long(3000))
    start = time.monotonic()
    lines = done("long.mil", "--random", "--all").splitlines()
    assert len(lines) == 3000 + 2
    assert time.monotonic() - start < 20


class Bar:
    """What is asked of click's bar."""

    def __init__(self, *, length: int, label: str, file: object) -> None:
        self.length, self.label, self.done = length, label, 0
        BARS.append(self)

    def update(self, size: int) -> None:
        self.done += size

    def render_finish(self) -> None:
        self.label += ", finished"


BARS: list[Bar] = []


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_bar_on_a_terminal_counts_the_operations(
    is_terminal: bool, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text("long.mil", long(50))
    BARS.clear()
    monkeypatch.setattr("click.progressbar", Bar)
    monkeypatch.setattr(progress, "QUIET_SECONDS", -1.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal, raising=False)
    with pytest.raises(SystemExit) as end:
        command.main(["run", "long.mil", "--random"])
    assert end.value.code == 0
    shown = [(bar.length, bar.done, bar.label) for bar in BARS]
    assert shown == ([(50, 50, "running, finished")] if is_terminal else [])


LOOP = """program(1.3)
{
    func main<ios18>(tensor<fp32, [1]> x) {
            fp32 limit = const()[val = fp32(2)];
            tensor<fp32, [1]> y = while_loop(loop_vars = (x))
                (tensor<fp32, [1]> a) {
                    fp32 most = reduce_max(x = a);
                    bool more = less(x = most, y = limit);
                } -> (more)
                (tensor<fp32, [1]> b) {
                    tensor<fp32, [1]> same = identity(x = b);
                } -> (same);
        } -> (y);
}
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_leaves_the_old_file(number: int, status: int, folder: Path) -> None:
    text("loop.mil", LOOP)
    done("loop.mil", "--input", "x=3", "-o", "out.npz")
    before = Path("out.npz").read_bytes()
    running = process("loop.mil", "--input", "x=0", "-o", "out.npz")
    try:
        for _ in range(600):
            if any(name.startswith(".miltext-") for name in os.listdir()):
                break
            time.sleep(0.05)
        time.sleep(0.2)
        running.send_signal(number)
        _, errors = running.communicate(timeout=60)
    finally:
        running.kill()  # where signals are ignored, as they are in the background of a shell, it would run for ever
    assert (running.returncode, b"Traceback" in errors) == (status, False)
    assert Path("out.npz").read_bytes() == before
    assert sorted(os.listdir()) == ["draft.mil", "loop.mil", "out.npz"]


@pytest.mark.skipif(os.name == "nt", reason="descriptors of Unix")
def test_readers_that_leave_and_closed_streams(folder: Path) -> None:
    text("long.mil", long(2000))
    running = process("long.mil", "--random", "--all")
    assert running.stdout is not None
    assert running.stderr is not None
    running.stdout.close()
    assert (running.wait(60), running.stderr.read()) == (2, b"")
    running.stderr.close()
    shell = f"{sys.executable} -m miltext run draft.mil --random >&-"
    closed = subprocess.run(["bash", "-c", shell], capture_output=True, check=False)
    assert (closed.returncode, b"Traceback" in closed.stderr) == (2, False)


def test_two_at_once_into_one_file(folder: Path) -> None:
    both = [process("draft.mil", *GIVEN[:2], "--input", f"n={number}", "-o", "out.npz") for number in (1, 2)]
    assert [each.communicate(timeout=60)[1] for each in both] == [b"", b""]
    assert read("out.npz")["z"].tolist() in ([2], [3])
    assert sorted(os.listdir()) == ["draft.mil", "out.npz"]


LISTS = """program(1.3)
{
    func main<ios18>(tensor<fp32, [2]> x, tensor<fp32, [3]> w) {
            l = make_list(init_length = 2, dynamic_length = true, elem_shape = ("n"), dtype = "fp32");
            l2 = list_write(ls = l, index = 1, value = x);
            l3 = list_write(ls = l2, index = 2, value = w);
            y = list_read(ls = l3, index = 1);
        } -> (y);
}
"""


def test_lists(folder: Path) -> None:
    text("lists.mil", LISTS)
    given = ("lists.mil", "--input", "x=[1,2]", "--input", "w=[3,4,5]")
    lines = [line.split() for line in done(*given, "--all").splitlines()]
    assert lines[1][-2:] == ["no", "elements"]
    assert lines[3] == "l3 list<tensor<fp32, [?]>, 3> 0 5 2.14286 0 0 2".split()
    done(*given, "--all", "-o", "out.npz")
    found = {name: array.tolist() for name, array in read("out.npz").items()}
    parts = {"l3/0": [0, 0], "l3/1": [1, 2], "l3/2": [3, 4, 5]}
    assert found == parts | {"l2": [[0, 0], [1, 2]], "y": [1, 2]}
    assert "l3.npy cannot be written: a list whose" in refused(*given, "-o", "l3=l3.npy", "-o", "new.npz")
    assert sorted(os.listdir()) == ["draft.mil", "lists.mil", "out.npz"]
