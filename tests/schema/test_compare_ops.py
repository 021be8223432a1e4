"""What a newer coremltools would change in the table: each kind of change is told, by op and parameter."""

from __future__ import annotations

import copy
import importlib.util
import json
import logging
import subprocess
import sys
from collections.abc import Callable
from enum import IntEnum
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

import compare_ops
import make_ops

needs_coremltools = pytest.mark.skipif(
    importlib.util.find_spec("coremltools") is None, reason="coremltools is not installed"
)
TABLE: make_ops.Table = json.loads(make_ops.TABLE.read_text(encoding="utf-8"))


def changed(change: Callable[[make_ops.Table], object], unread: dict[str, str] | None = None) -> list[str]:
    """The lines for a registry that is the table's but for a change."""
    new = copy.deepcopy(TABLE)
    change(new)
    return list(compare_ops.differences(TABLE, new, unread or {}))


def parameters(table: make_ops.Table, name: str) -> dict[str, Any]:
    """The parameters of the newest version of an op."""
    found: dict[str, Any] = table[name][-1]["parameters"]
    return found


NEW = {"opset": "ios18", "parameters": {"x": {"dtypes": "fp16"}}}
LATER = {"opset": "ios99", "parameters": {"x": {"dtypes": "fp16 fp2"}}}

CHANGES: list[tuple[str, Callable[[make_ops.Table], object], list[str]]] = [
    ("nothing", lambda table: None, []),
    ("an op", lambda table: table.update(foo=[NEW]), [f"foo<ios18>: is new: {json.dumps(NEW)}"]),
    ("an op less", lambda table: table.pop("relu6"), ["relu6: is gone"]),
    (
        "a version",
        lambda table: table["relu6"].append(LATER),
        [
            "the opset ios99 is not known",
            "the data type fp2 is not known",
            "relu6<ios99>: is new, after relu6<ios15>",
            'relu6<ios99>: `x`: domain not said, was "T"',
            'relu6<ios99>: `x`: dtypes "fp16 fp2", was "fp16 fp32"',
        ],
    ),
    (
        "a version in place of the first",
        lambda table: table["relu6"].__setitem__(0, NEW),
        ["relu6<ios15>: is gone", "relu6<ios18>: is new", 'relu6<ios18>: `x` is new: {"dtypes": "fp16"}'],
    ),
    (
        "a parameter",
        lambda table: parameters(table, "relu6").update(most={"dtypes": "fp16", "optional": True}),
        ['relu6<ios15>: `most` is new: {"dtypes": "fp16", "optional": true}'],
    ),
    ("a parameter less", lambda table: parameters(table, "elu").pop("alpha"), ["elu<ios17>: `alpha` is gone"]),
    (
        "a type",
        lambda table: parameters(table, "softmax")["axis"].update(dtypes="int8 int32"),
        ['softmax<ios15>: `axis`: dtypes "int8 int32", was "int32"'],
    ),
    (
        "a default",
        lambda table: parameters(table, "softmax")["axis"].update(default=0),
        ["softmax<ios15>: `axis`: default 0, was -1"],
    ),
    (
        "a flag less",
        lambda table: parameters(table, "softmax")["axis"].pop("constant"),
        ["softmax<ios15>: `axis`: constant not said, was true"],
    ),
    (
        "outputs",
        lambda table: table["softmax"][0].update(outputs=[1, 2]),
        ["softmax<ios15>: outputs [1, 2], was not said"],
    ),
]


@pytest.mark.parametrize(("change", "lines"), [case[1:] for case in CHANGES], ids=[case[0] for case in CHANGES])
def test_a_change_is_reported(change: Callable[[make_ops.Table], object], lines: list[str]) -> None:
    assert changed(change) == lines


def test_an_unreadable_op_is_reported_instead_of_its_gaps() -> None:
    lines = changed(lambda table: table.pop("relu6"), {"relu6": "KeyError: 'x'", "foo": "ValueError: no"})
    assert lines == ["foo: cannot be read: ValueError: no", "relu6: cannot be read: KeyError: 'x'"]


@needs_coremltools
def test_a_registry_of_a_newer_coremltools_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has a version for a target that is not known, of one parameter more, and an op that is not understood."""
    from coremltools.converters.mil.mil import types
    from coremltools.converters.mil.mil.input_type import DefaultInputs, InputSpec, TensorInputType
    from coremltools.converters.mil.mil.ops.registry import SSAOpRegistry

    target = IntEnum("target", {"iOS99": 99})
    softmax = max(SSAOpRegistry.core_ops["softmax"].items())[1]
    temperature = InputSpec(temperature=TensorInputType(const=True, optional=True, type_domain=types.fp32))
    later = type(
        "later",
        (softmax,),
        {
            "input_spec": softmax.input_spec + temperature,
            "default_inputs": lambda op: softmax.default_inputs(op) + DefaultInputs(temperature=1.0),
        },
    )
    ops = {**SSAOpRegistry.core_ops, "softmax": {**SSAOpRegistry.core_ops["softmax"], target(99): later}}
    ops["puzzle"] = {target(99): object}
    monkeypatch.setattr(SSAOpRegistry, "core_ops", ops)
    table, unread = compare_ops.installed()
    assert list(compare_ops.differences(TABLE, table, unread)) == [
        "the opset ios99 is not known",
        "puzzle: cannot be read: AttributeError: type object 'object' has no attribute 'input_spec'",
        "softmax<ios99>: is new, after softmax<ios15>",
        'softmax<ios99>: `temperature` is new: {"dtypes": "fp32", "optional": true, "constant": true, "default": 1.0}',
    ]
    with pytest.raises(AttributeError):
        make_ops.op_table()
    del ops["puzzle"]
    with pytest.raises(SystemExit, match="ios99"):
        make_ops.op_table()


@needs_coremltools
@pytest.mark.parametrize("stale", [False, True])
def test_the_script_exits_with_1_for_any_difference(
    stale: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    old = copy.deepcopy(TABLE)
    if stale:
        del old["relu6"][0]["parameters"]["x"]["dtypes"]
    table = tmp_path / "ops.json"
    table.write_text(json.dumps(old), encoding="utf-8")
    monkeypatch.setattr(make_ops, "TABLE", table)
    monkeypatch.setattr(sys, "argv", ["compare_ops.py"])
    monkeypatch.setattr(logging, "disable", lambda level: None)
    with pytest.raises(SystemExit) as ended:
        compare_ops.main()
    assert ended.value.code == stale
    lines = capsys.readouterr().out.splitlines()
    assert lines[:-1] == ['relu6<ios15>: `x`: dtypes "fp16 fp32", was not said'] * stale
    assert lines[-1].endswith(f": {1 if stale else 0} difference{'s' * (not stale)}")


@pytest.mark.any_version
@needs_coremltools
def test_the_script_can_be_run() -> None:
    ran = subprocess.run([sys.executable, compare_ops.__file__], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout.splitlines()[-1:]) == (0, ["coremltools 9.0: 0 differences"]), ran.stderr
