"""Profiles and the arithmetic of devices for odd models and files: empty, open, drafts, blocks, states, dumps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.commands import miltext as command
from support.dumps import PLACED

PROFILE = ("--profile", "ane-m4-macos27")


def program(inputs: str, lines: str, output: str) -> str:
    return f"program(1.3)\n{{\n    func main<ios18>({inputs}) {{\n{lines}        }} -> ({output});\n}}\n"


X = "tensor<fp16, [1, 4]> x"
WEIGHT = "[[1, 2], [3, 4], [5, 6], [7, 8]]"
BLOCKS = f"""
            y = cond(pred = c) () {{ a = relu(x); w = matmul(a, {WEIGHT}); }} -> (w)
                () {{ b = acos(x); v = matmul(b, {WEIGHT}); }} -> (v);
            z, n = while_loop((y, 0)) (_ a2, i) {{ l = less(i, 3); }} -> (l)
                (_ a1, i1) {{ d = relu(a1); e = add(i1, 1); }} -> (d, e);
"""
STATE = f"""
            a = read_state(input = s);
            b = add(a, x);
            write_state(input = s, data = b);
            c = matmul(b, {WEIGHT});
"""
MODELS = {
    "plain": program(X, "            tensor<fp16, [1, 4]> y = relu(x = x);\n", "y"),
    "draft": program(X, "            y = relu(acos(x));\n", "y"),
    "blocks": program(f"bool c, {X}", BLOCKS, "z"),
    "state": program(f"state<tensor<fp16, [1, 4]>> s, {X}", STATE, "c"),
    "empty": program("tensor<fp16, [0, 4]> x", f"            y = exp(matmul(x, {WEIGHT}));\n", "y"),
    "open": program("tensor<fp16, [?, 4]> x", "            tensor<fp16, [?, 4]> y = relu(x = x);\n", "y"),
    "nothing": program(X, "", "x"),
    "no function": "program(1.3)\n{\n}\n",
}
COUNTS = {
    "plain": (1, 0, 0),
    "draft": (1, 1, 0),
    "blocks": (2, 4, 3),
    "state": (0, 0, 4),
    "empty": (0, 0, 2),
    "open": (0, 0, 1),
    "nothing": (0, 0, 0),
    "no function": (0, 0, 0),
}
"""The operations that the profile supports, refuses and does not know."""


@pytest.fixture(params=[*MODELS])
def model(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / f"{request.param}.mil"
    path.write_text(MODELS[request.param], encoding="utf-8")
    return path


def test_a_profile_answers_about_every_operation(model: Path) -> None:
    supported, refused, unknown = COUNTS[model.stem]
    found = json.loads(command("placement", model, *PROFILE, "--json").stdout)
    assert found["counts"] == {"supported": supported, "not supported": refused, "unknown": unknown}
    said = command("placement", model, *PROFILE).stdout.decode()
    sums = f"on M4, macOS 27.0.1: {supported} supported, {refused} not supported, {unknown} unknown"
    assert sums in said
    assert said.startswith("answer") == bool(found["answers"])
    checked = command("check", model, *PROFILE).stdout.decode()
    assert checked.count("warning[MIL892]") == refused
    assert checked.count("note[MIL894]") == bool(unknown)


@pytest.mark.parametrize("compute", ["ane", "cpu"])
def test_the_arithmetic_of_a_device_takes_it(model: Path, compute: str) -> None:
    run = command("run", model, "--random", "--compute", compute, "--explain")
    compared = command("compare", model, model, "--random", "--compute", compute)
    if model.stem == "open":
        assert b"MIL833" in run.stderr
    elif model.stem == "no function":
        assert b"MIL837" in run.stderr
    else:
        assert (run.returncode, compared.returncode) == (0, 0), run.stderr + compared.stderr
        assert b"operations as measured" in run.stderr or b"operation as measured" in run.stderr


def test_only_a_range_of_numbers_can_be_unknown(tmp_path: Path) -> None:
    path = tmp_path / "m.mil"
    for size, noted in (("0", 0), ("1", 1)):
        path.write_text(MODELS["empty"].replace("[0, 4]", f"[{size}, 4]"), encoding="utf-8")
        assert command("check", "--numbers", path).stdout.decode().count("MIL852") == noted, size


def test_open_sizes_are_named_once(tmp_path: Path) -> None:
    path = tmp_path / "m.mil"
    path.write_text(MODELS["open"], encoding="utf-8")
    assert "  not known here: sizes, elements\n" in command("placement", path, *PROFILE).stdout.decode()


def test_a_profile_answers_about_a_dump_as_about_its_model(tmp_path: Path) -> None:
    dump = tmp_path / "analytics.mil"
    dump.write_text(PLACED, encoding="utf-8")
    found = json.loads(command("placement", dump, *PROFILE, "--json").stdout)
    assert [(each["name"], each["answer"]) for each in found["answers"]] == [
        ("a", "supported"),
        ("b", "not supported"),
        ("y_4D454D5F4F5054", "supported"),
    ]
    by_stream = command("placement", "-", *PROFILE, "--json", input=PLACED.encode())
    assert json.loads(by_stream.stdout)["counts"] == found["counts"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (PLACED[: PLACED.index("name = ")], "MIL005"),  # cut in the middle
        (PLACED + PLACED, "MIL010"),
        (MODELS["plain"], "MIL890"),
        ("", "MIL256"),
        ("version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 1\n", "MIL252"),
    ],
)
def test_a_file_without_a_placement_is_refused_with_its_reason(text: str, code: str, tmp_path: Path) -> None:
    dump, path = tmp_path / "analytics.mil", tmp_path / "m.mil"
    dump.write_text(PLACED, encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    for arguments, status in (((path,), 1), ((path, "--against", dump), 2), ((dump, "--against", path), 2)):
        done = command("placement", *arguments)
        assert (done.returncode, done.stdout) == (status, b"")
        assert f"error[{code}]" in done.stderr.decode()


@pytest.mark.parametrize("verb", ["run", "compare", "build", "diff", "size"])
def test_a_dump_is_not_a_model(verb: str, tmp_path: Path) -> None:
    dump = tmp_path / "analytics.mil"
    dump.write_text(PLACED, encoding="utf-8")
    further = {"run": ("--compute", "ane"), "compare": (dump, "--compute", "ane"), "diff": (dump,)}
    done = command(verb, dump, *further.get(verb, ()), *(("-o", tmp_path / "m.mlpackage") if verb == "build" else ()))
    assert done.returncode in (1, 2)
    assert b"MIL110" in done.stderr
    assert b"`miltext placement` shows a dump" in done.stderr
