"""`miltext diff` where weights were not read: each state of a side by each other, with and without --ignore-weights.

No difference is 0 and `true`, a difference 1 and `false`; 2 and `null` if neither can be told.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from conftest import ROOT
from support.containers import LFS

import miltext
from miltext.cli import command
from miltext.cli.diff_verb import EPILOG
from miltext.files.refusals import refusal
from miltext.schema.dtypes import BY_NAME
from miltext.weight_files.blob_storage import BlobWriter

VALUE = 'tensor<fp16, [2]>(BLOBFILE(path = string("@model_path/weights/weight.bin"), offset = uint64(64)))'
TEXT = f"""\
program(1.3)
{{
    func main<ios18>(tensor<fp16, [2]> x) {{
            tensor<fp16, [2]> w = const()[name = string("w"), val = {VALUE}];
            tensor<fp16, [2]> y = add(x = x, y = w)[name = string("y")];
        }} -> (y);
}}
"""
NESTED = TEXT.replace(
    'string("y")]', f'string("y"), kept = tuple<tensor<fp16, [2]>>(({VALUE[len("tensor<fp16, [2]>(") : -1]}))]'
).replace(VALUE, "tensor<fp16, [2]>([0x0p+0, 0x0p+0])")
"""A text whose only weight is inside another value."""


def other_offset(weights: Path) -> None:
    """Let another thing are where the program says that the record does."""
    data = bytearray(weights.read_bytes())
    data[64:68] = b"\0" * 4
    weights.write_bytes(data)


def a_folder(weights: Path) -> None:
    weights.unlink()
    weights.mkdir()


def a_link_to_itself(weights: Path) -> None:
    weights.unlink()
    weights.symlink_to(weights.name)


def no_permission(weights: Path) -> None:
    weights.chmod(0)


STATES: dict[str, Callable[[Path], object]] = {
    "whole": lambda weights: None,
    "deleted": lambda weights: weights.unlink(),
    "without its folder": lambda weights: shutil.rmtree(weights.parent),
    "pointer": lambda weights: weights.write_bytes(LFS),
    "empty": lambda weights: weights.write_bytes(b""),
    "truncated": lambda weights: weights.write_bytes(weights.read_bytes()[:130]),
    "other offset": other_offset,
    "folder": a_folder,
    "link": a_link_to_itself,
    **({} if os.name == "nt" or os.geteuid() == 0 else {"unreadable": no_permission}),
}
ABSENT = {"deleted", "without its folder"}
"""The states in which a model has no weight file to read."""


def model(folder: Path, state: str, text: str = TEXT) -> Path:
    """A text with its weight file beside it, in a state."""
    weights = folder / "weights" / "weight.bin"
    weights.parent.mkdir(parents=True)
    with BlobWriter(weights) as writer:
        writer.add_packed(BY_NAME["fp16"], b"\0\1\2\3")
    STATES[state](weights)
    (folder / "model.mil").write_text(text)
    return folder / "model.mil"


def told(old: object, new: object, *options: str, input: bytes | None = None) -> tuple[int, object, str]:
    """The exit status, what JSON has for `same`, and the text."""
    runs = [
        CliRunner().invoke(command, ["diff", *options, *form, str(old), str(new)], input=input)
        for form in (("--format", "json"), (), ("--stat",), ("--format", "unified"))
    ]
    assert len({run.exit_code for run in runs}) == 1
    same = json.loads(runs[0].stdout)["same"]
    assert all(("no difference" in run.stdout) is (same is True) for run in runs[1:3])
    assert all(("undecided" in run.stdout) is (same is None) for run in runs[1:])
    return runs[0].exit_code, same, runs[1].stdout


@pytest.mark.parametrize("ignoring", [False, True], ids=["", "ignoring"])
@pytest.mark.parametrize(("a", "b"), [*itertools.product(STATES, STATES)])
def test_no_difference_is_stated_only_of_weights_that_were_read(a: str, b: str, ignoring: bool, tmp_path: Path) -> None:
    old, new = model(tmp_path / "a", a), model(tmp_path / "b", b)
    read = {a, b} == {"whole"}
    same = True if read or (ignoring and {a, b} <= ABSENT) else None
    status, shown, text = told(old, new, *["--ignore-weights"] * ignoring)
    assert (status, shown) == ((0, True) if same else (2, None))
    assert text.startswith("# ") is not read
    assert miltext.diff(old, new, ignore_weights=ignoring).same is same
    models = miltext.load(old), miltext.load(new)
    assert miltext.diff(*models, ignore_weights=ignoring).same is same


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("ignoring", [False, True], ids=["", "ignoring"])
def test_a_found_difference_counts_even_with_unread_parts(state: str, ignoring: bool, tmp_path: Path) -> None:
    old = model(tmp_path / "a", state)
    for number, text in enumerate([TEXT.replace("add(", "sub("), TEXT.replace("uint64(64)", "uint64(128)")]):
        new = model(tmp_path / str(number), state, text)
        assert told(old, new, *["--ignore-weights"] * ignoring)[:2] == (1, False)


@pytest.mark.parametrize("ignoring", [False, True], ids=["", "ignoring"])
def test_another_weight_is_a_difference_for_any_option(ignoring: bool, tmp_path: Path) -> None:
    old, new = model(tmp_path / "a", "whole"), model(tmp_path / "b", "whole")
    weights = tmp_path / "b" / "weights" / "weight.bin"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\7")
    assert told(old, new, *["--ignore-weights"] * ignoring)[:2] == (1, False)


@pytest.mark.parametrize("state", STATES)
def test_one_file_is_the_same_as_itself_by_any_name(state: str, tmp_path: Path) -> None:
    path = model(tmp_path / "a", state)
    (tmp_path / "link").symlink_to(tmp_path / "a")
    assert told(path, path)[:2] == (0, True)
    assert told(path, tmp_path / "link" / "model.mil")[:2] == (0, True)
    program = miltext.load(path).program
    assert miltext.diff(program, program).same
    assert miltext.diff(program, miltext.load(path)).same is None
    (tmp_path / "model.mil").symlink_to(path)  # the same text, and other weights beside it: none
    assert told(path, tmp_path / "model.mil")[:2] == (2, None)


@pytest.mark.parametrize("failure", [PermissionError(13, "Permission denied"), OSError(5, "Input/output error")])
@pytest.mark.parametrize("at", ["open", "stat"])
def test_a_file_that_the_system_refuses_is_not_absent(
    failure: OSError, at: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = model(tmp_path / "a", "whole"), model(tmp_path / "b", "deleted")
    place = {"open": "miltext.weight_files.blob_storage.map_file", "stat": "miltext.pairing.contents.resolve"}[at]

    def refused(*_: object) -> None:
        raise refusal("MIL302", str(failure), tmp_path) from failure

    monkeypatch.setattr(place, refused)
    assert told(old, new, "--ignore-weights")[:2] == (2, None)


def test_a_model_without_weights_needs_none(tmp_path: Path) -> None:
    text = TEXT.replace(VALUE, "tensor<fp16, [2]>([0x0p+0, 0x0p+0])")
    old, new = model(tmp_path / "a", "deleted", text), model(tmp_path / "b", "pointer", text)
    assert told(old, new)[:2] == (0, True)
    assert told(old, model(tmp_path / "c", "deleted"), "--ignore-weights")[:2] == (1, False)


@pytest.mark.parametrize(("state", "ignored"), [("whole", (2, None)), ("deleted", (0, True)), ("pointer", (2, None))])
def test_standard_input_has_no_weights(state: str, ignored: tuple[int, object], tmp_path: Path) -> None:
    path = model(tmp_path / "a", state)
    assert told("-", path, input=TEXT.encode())[:2] == (2, None)
    assert told("-", path, "--ignore-weights", input=TEXT.encode())[:2] == ignored


@pytest.mark.parametrize("state", ["deleted", "pointer"])
def test_packages_are_held_to_it_too(state: str, tmp_path: Path) -> None:
    for name in ("a", "b"):
        shutil.copytree(ROOT / "examples" / "Classifier.mlpackage", tmp_path / f"{name}.mlpackage")
    assert told(tmp_path / "a.mlpackage", tmp_path / "b.mlpackage")[:2] == (0, True)
    STATES[state](next((tmp_path / "b.mlpackage").rglob("weight.bin")))
    assert told(tmp_path / "a.mlpackage", tmp_path / "b.mlpackage")[:2] == (2, None)
    assert told(tmp_path / "a.mlpackage", tmp_path / "b.mlpackage", "--ignore-weights")[:2] == (2, None)


def test_weights_inside_other_values_are_compared_by_content(tmp_path: Path) -> None:
    old, new = model(tmp_path / "a", "whole", NESTED), model(tmp_path / "b", "whole", NESTED)
    assert told(old, new)[:2] == (0, True)
    weights = tmp_path / "b" / "weights" / "weight.bin"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\7")
    status, same, text = told(old, new)
    assert (status, same) == (1, False)
    assert len({*re.findall("sha256:[0-9a-f]+", text)}) == 2
    weights.unlink()
    assert told(old, new)[:2] == (2, None)


def test_difftool_never_states_it_of_weights_that_it_cannot_see(tmp_path: Path) -> None:
    old, new = model(tmp_path / "a", "deleted"), model(tmp_path / "b", "whole")
    shown = subprocess.run(
        [sys.executable, "-m", "miltext", "difftool", old, new], capture_output=True, text=True, check=True
    ).stdout
    assert "undecided" in shown
    assert "no difference" not in shown


def test_examples_of_texts_alone_state_that_weights_are_left_out() -> None:
    shown = EPILOG + (ROOT / "docs" / "diff.md").read_text(encoding="utf-8")
    examples = [line for line in shown.splitlines() if re.match(r"\s*(miltext diff|git show)", line)]
    texts = [line for line in examples if ".mil " in f"{line} " and ".mlpackage" not in line]
    assert len(texts) >= 3
    assert all("--ignore-weights" in line for line in texts)


# ---- records that are read, at one place in both files

RECORDS = {
    "type": ("uint8", b"\0\1\2", "3 elements of uint8, sha256:"),
    "count": ("fp16", b"\0\1", "1 elements of fp16, sha256:"),
}


@pytest.mark.parametrize(("dtype", "data", "said"), RECORDS.values(), ids=RECORDS)
def test_records_at_one_place_are_distinguished(dtype: str, data: bytes, said: str, tmp_path: Path) -> None:
    """They have no distance, and the values are spelled alike."""
    old, new = model(tmp_path / "a", "whole"), model(tmp_path / "b", "whole")
    with BlobWriter(tmp_path / "b" / "weights" / "weight.bin") as writer:
        writer.add_packed(BY_NAME[dtype], data)
    place = re.escape('"@model_path/weights/weight.bin" at 64, ')
    shown = told(old, new)[2]
    assert re.search(f"{place}2 elements of fp16, sha256:[0-9a-f]{{12}} -> {place}{said}[0-9a-f]{{12}}\n", shown)
