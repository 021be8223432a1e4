"""Dumps of the Core ML runtime: read into a type of their own, printed and checked, and never a Program."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.commands import miltext as command
from support.dumps import BUFFER, PLACED, needs_measurements, published_dumps, small_dump

import miltext
from miltext.dumps.recognition import is_dump
from miltext.dumps.texts import read_dump

REASON = re.compile(r'ValidationMessage = dict<string, string>\(\{[^;]*\{"ane", "')


def findings(text: str) -> list[str]:
    return [f"{each.code} {each.message}" for each in miltext.check(text)]


@needs_measurements
def test_the_published_dumps_have_no_findings() -> None:
    dumps = published_dumps()
    assert len(dumps) == 84
    for name, text in dumps.items():
        assert is_dump(text), name
        assert miltext.format_text(text) == text, name
        assert findings(text) == [], name
        placed = read_dump(text).placed
        assert all(each.backend for each in placed), name
        assert all(each.backend in each.supported for each in placed if each.supported), name
        assert sum(each.reason is not None for each in placed) == len(REASON.findall(text)), name


def test_a_dump_has_its_operations_and_costs() -> None:
    dump = read_dump(PLACED)
    shown = [(each.name, each.type, each.backend, each.device, each.time) for each in dump.placed]
    assert shown == [
        ("x", "tensor_buffer_to_tensor", "bnns", "CPU", 0.0),
        ("a", "relu", "bnns", "CPU", 0.5),
        ("b", "acos", "bnns", "CPU", 0.5),
        ("y", "relu", "ane", "ANE", 0.25),
        ("y", "tensor_to_tensor_buffer", "bnns", "CPU", None),
    ]
    assert [each.reason for each in dump.placed] == [None, None, 'Unsupported MIL operation "acos".', None, None]
    assert dump.placed[1].supported == ("bnns", "classic_cpu", "ane")
    assert dump.costs["main"].start == {"ane": 0.125, "bnns": 0.0}
    assert dump.costs["main"].switch == {("ane", "bnns"): 0.125, ("bnns", "ane"): 0.125}


def test_a_dump_never_becomes_a_program() -> None:
    with pytest.raises(miltext.ParseError) as refused:
        miltext.parse(PLACED)
    found = refused.value.diagnostics[0]
    assert found.code == "MIL110"
    assert "miltext placement" in found.notes[0].message
    without_buffers = PLACED.replace(BUFFER, "tensor<fp16, [1, 4]>")
    with pytest.raises(miltext.ParseError) as refused:
        miltext.parse(without_buffers)
    assert refused.value.diagnostics[0].code == "MIL109"
    assert findings(without_buffers) == []


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("relu(x = b)", "relu(x = bb)", "MIL604"),
        ("strides=[32, 1]", "strides=[32, 1", "MIL025"),
        (
            '"bnns", "classic_cpu", "ane"]), EstimatedRuntime',
            '"bnns", "classic_cpu", "unsupported"]), EstimatedRuntime',
            "MIL118",
        ),
        ("fp64(0x1p-3)", "fp64(true)", "MIL021"),
        (" a = relu", " b = relu", "MIL602"),
    ],
)
def test_a_changed_dump_has_findings(old: str, new: str, expected: str) -> None:
    changed = PLACED.replace(old, new)
    assert changed != PLACED
    assert any(each.startswith(expected) for each in findings(changed)), findings(changed)


PLAIN = """program(1.3)
{
    func main<ios18>(fp16 x) {
            fp16 y = relu(x = x)[name = string("SelectedBackend")];
        } -> (y);
}
"""


def test_a_text_with_words_of_a_dump_elsewhere_is_not_a_dump() -> None:
    assert not is_dump(PLAIN)
    assert miltext.parse(PLAIN).functions


def test_an_unknown_operation_of_the_runtime_is_not_a_mistake() -> None:
    text = small_dump(
        'y_4D454D5F4F5054 = made_up_by_the_runtime(x = x_4D454D5F4F5054)[SelectedBackend = string("bnns")]'
    )
    assert findings(text) == []


def test_the_command_prints_checks_and_formats_a_dump(tmp_path: Path) -> None:
    path = tmp_path / "analytics.mil"
    path.write_text(PLACED, encoding="utf-8")
    assert command("print", path).stdout.decode() == miltext.format_text(PLACED)
    assert command("check", path).returncode == 0
    refused = command("print", path, "--compact")
    assert refused.returncode == 2
    assert b"dump" in refused.stderr
    assert b"tensor_buffer_to_tensor" in command("print", path, "--html").stdout
    built = command("build", path, "-o", tmp_path / "m.mlmodel")
    assert built.returncode == 1
    assert b"MIL110" in built.stderr
    assert b"miltext placement" in built.stderr
