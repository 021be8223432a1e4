"""Files with odd names, numbers past what their readers hold, and fields from a newer schema: read or refused."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from inspect import signature
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner, Result
from conftest import EXAMPLE
from support.containers import (
    LFS,
    TEXT,
    coremldata,
    metadata_json,
    spec,
    suppression_data,
    write,
    write_bundle,
    write_package,
)
from support.damage import KINDS, OTHER, REFUSED, damaged, make_scene, run

import miltext
from miltext.cli import command
from miltext.diagnostics import ModelError, refusing
from miltext.files.refusals import refusal
from miltext.schema.proto import Model, ModelDescription
from miltext.schema.wire import sized, tag
from miltext.testing import assert_matches_golden

OLD_RUNNER = "mix_stderr" in signature(CliRunner).parameters
"""Whether click is older than 8.2."""


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(command, list(map(str, arguments)))


def assert_ended_well(result: Result) -> None:
    """It ended by itself, with one of the statuses that there are."""
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    assert result.exit_code in (0, 1, 2)


# ---- the net


def test_the_net_turns_every_failure_into_the_files_error() -> None:
    def broken(failure: Exception) -> ModelError:
        return refusal("MIL258", f"broken: {failure!r}", "the_file")

    for failure in (KeyError("k"), MemoryError(), RecursionError(), OverflowError(), SyntaxError("no"), Exception()):
        with (
            pytest.raises(ModelError, match=r"(?s)the_file.*MIL258.*fetch the bundle again") as raised,
            refusing(broken),
        ):
            raise failure
        assert raised.value.__cause__ is failure


def test_stated_errors_and_interrupts_pass_the_net() -> None:
    said = refusal("MIL252", "a pointer", "it")
    with pytest.raises(ModelError) as raised, refusing(lambda _: refusal("MIL258", "less", "it")):
        raise said
    assert raised.value is said
    for stop in (KeyboardInterrupt, SystemExit):
        with pytest.raises(stop), refusing(lambda _: refusal("MIL258", "less", "it")):
            raise stop


# ---- names that are not UTF-8

BYTES = b"caf\xe9-\xff"
"""What a file of another encoding is called."""

NAMED = ("text.mil", "program.pb", "program.txtpb", "model.mlmodel", "pipeline.mlmodel", "M.mlpackage", "C.mlmodelc")
NAMED_VERBS = (
    *KINDS["mlpackage"].verbs[:-2],
    "fmt --diff",
    "fmt --check",
    "infer",
    "textconv",
    "check --format json",
    "check --format github",
    "sidecar --check",
    "weights --model 0",
    "explain",
)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has such names in every folder")
@pytest.mark.skipif(OLD_RUNNER, reason="the streams of this click's runner are strict about surrogates")
@pytest.mark.parametrize("name", NAMED)
def test_a_name_that_is_not_utf_8(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make_scene(tmp_path)
    folder = tmp_path / os.fsdecode(BYTES)
    folder.mkdir()
    odd = folder / (os.fsdecode(BYTES) + name)
    shutil.move(str(tmp_path / name), odd)
    if name == "text.mil":
        odd.write_text(odd.read_text().replace(" = ", "=", 1))
    for verb in NAMED_VERBS:
        words = verb.replace("EXAMPLE", str(EXAMPLE)).replace("M.mlpackage", "").split()
        result = invoke(*words, odd)
        assert_ended_well(result)
        assert result.exit_code != 1 or result.output, verb
        for made in ("out", "out.mlpackage", "out.pb"):
            shutil.rmtree(made) if Path(made).is_dir() else Path(made).unlink(missing_ok=True)
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith(".")]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has such names in every folder")
@pytest.mark.skipif(OLD_RUNNER, reason="the streams of this click's runner are strict about surrogates")
def test_an_odd_name_as_shown(tmp_path: Path) -> None:
    odd = tmp_path / os.fsdecode(b"caf\xe9.mil")
    odd.write_text(TEXT.replace(" = ", "=", 1))
    record = json.loads(invoke("info", "--json", odd).output)
    assert record["name"] == str(odd).replace("\udce9", "\ufffd")
    assert "caf\\udce9.mil" in invoke("fmt", "--diff", odd).output
    assert "caf\\udce9.mil" in invoke("print", "--html", odd).output
    assert invoke("sidecar", odd).exit_code == 0
    (sidecar,) = tmp_path.glob("*.mil.mil")
    assert "from caf\ufffd.mil:" in sidecar.read_text(encoding="utf-8")
    assert invoke("fmt", "--check", sidecar).exit_code == 0
    assert invoke("sidecar", "--check", odd).exit_code == 0


def test_a_line_end_in_a_name_ends_no_comment(tmp_path: Path) -> None:
    if sys.platform == "win32":
        pytest.skip("no such names here")
    path = write(tmp_path / "a\nprogram.mil", TEXT.encode())
    assert invoke("sidecar", path).exit_code == 0
    assert invoke("fmt", "--check", f"{path}.mil").exit_code == 0


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has such names in every folder")
def test_git_is_set_up_in_a_folder_of_such_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / os.fsdecode(BYTES)
    folder.mkdir()
    monkeypatch.chdir(folder)
    subprocess.run(["git", "init", "-q"], check=True)
    subprocess.run(["git", "config", "diff.tool", BYTES], check=True)
    for verb in ("setup", "undo"):
        assert invoke("git", verb).exit_code == 0


# ---- goldens


@pytest.mark.parametrize("seed", range(40))
def test_a_damaged_golden_states_something_else(seed: int, tmp_path: Path) -> None:
    path, program = tmp_path / "golden.mil", miltext.parse(TEXT)
    whole = miltext.to_text(program).encode()
    data = write(path, damaged(Random(seed), whole)).read_bytes()
    if data != whole:
        with pytest.raises(AssertionError, match="differs from"):
            assert_matches_golden(program, path, update=False)
    assert_matches_golden(program, path, update=True)
    assert path.read_bytes() == whole


# ---- numbers

SIZES = ("9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551616")


@pytest.mark.parametrize("size", [*SIZES, f"{SIZES[1]}, ?", f"0, {SIZES[1]}", "4294967296, 4294967296"])
def test_sizes_beyond_the_limits_of_a_description(size: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "a.mil", TEXT.replace("1, 4", size).encode())
    for verb in KINDS["mil"].verbs:
        result = invoke(*verb.replace("text.mil", "a.mil").replace("EXAMPLE", "a.mil").split())
        assert_ended_well(result)
    result = invoke("build", "a.mil", "--no-check", "-o", "New.mlpackage")  # `check` reports sizes beyond int32
    fits = all(int(each) < 1 << 63 for each in size.replace("?", "0").split(","))
    assert Path("New.mlpackage").exists() == fits
    assert fits or "error[MIL" in result.output
    assert (invoke("info", "New.mlpackage").exit_code == 0) == fits


VERSIONS = ("2147483648", "4294967295", "-1", "1e400", "1e9", "null", "[]", '"x"', "1" * 5000)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_version_in_metadata_that_no_model_has(version: str, tmp_path: Path) -> None:
    folder = write_bundle(tmp_path / "C.mlmodelc")
    (folder / "coremldata.bin").unlink()
    before, after, rest = metadata_json(specificationVersion=0).partition(b'"specificationVersion": ')
    write(folder / "metadata.json", before + after + version.encode() + rest[1:])
    for verb in ("info", "print", "sidecar", f"build -o {tmp_path}/New.mlpackage", "print --as-coremlc"):
        assert_ended_well(invoke(*verb.split(), folder))
    if version not in ("-1", "1e9"):
        with pytest.raises(ModelError, match=r"metadata\.json.*MIL258"):
            _ = miltext.load(folder).specification_version


@pytest.mark.parametrize("version", [1 << 31, (1 << 32) - 1])
@pytest.mark.parametrize("kind", ["description", "spec"])
def test_a_version_in_coremldata_that_no_model_has(version: int, kind: str, tmp_path: Path) -> None:
    folder = write_bundle(tmp_path / "C.mlmodelc")
    data = (
        coremldata(ModelDescription(), version=version) if kind == "description" else suppression_data(version=version)
    )
    write(folder / "coremldata.bin", data)
    with pytest.raises(ModelError, match=r"coremldata\.bin.*MIL258"):
        _ = miltext.load(folder).specification_version
    for verb in ("info", "sidecar", "build"):
        result = invoke(verb, folder, *(["-o", tmp_path / "New.mlpackage"] if verb == "build" else []))
        assert_ended_well(result)
        assert "MIL258" in result.output
    assert "MIL258" in invoke("textconv", folder / "coremldata.bin").output


@pytest.mark.parametrize("place", ["4", "4:13", "4:40"])
@pytest.mark.parametrize("value", ["int18446744073709551616(1)", "fp16(0x)", "tensor<fp17, [1]>([1])", "bool(maybe)"])
def test_a_place_in_an_operation_that_breaks_the_syntax(value: str, place: str, tmp_path: Path) -> None:
    path = write(tmp_path / "a.mil", TEXT.replace("(x = x)", f"(x = x, a = {value})").encode())
    result = invoke("locate", path, place)
    assert_ended_well(result)
    assert (result.exit_code == 1) == ("error[MIL" in result.output)
    assert result.exit_code == 0 or "a.mil:4:" in result.output


# ---- fields that the schema does not have


@pytest.mark.parametrize("alone", [False, True], ids=["added", "alone"])
def test_a_field_of_a_newer_schema(alone: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such a field is kept or told of wherever it stands, and no type of nothing but it is taken for one."""
    monkeypatch.chdir(tmp_path)
    make_scene(tmp_path)
    model = miltext.load("model.mlmodel")
    assert model.spec is not None
    main = model.program.functions["main"]
    block = main.block_specializations[main.opset]
    for message in (main.inputs[0].type, block.operations[-1].outputs[0].type, block.operations[0].outputs[0].type):
        changed = Model()
        before = type(message)()
        before.CopyFrom(message)
        if alone:
            message.Clear()
        message.MergeFromString(sized(tag(999), b"new"))
        changed.CopyFrom(model.spec)
        message.CopyFrom(before)
        write(tmp_path / "model.mlmodel", changed.SerializeToString())
        outcomes = {verb: run(verb, b"", tmp_path) for verb in KINDS["mlmodel"].calls}
        assert [(verb, case.story) for verb, case in outcomes.items() if case.outcome == OTHER] == []
        for verb in ("print model.mlmodel", "sidecar --full model.mlmodel", "print --annotate model.mlmodel"):
            assert outcomes[verb].outcome == REFUSED
            assert "MIL202" in outcomes[verb].story


# ---- pointers of git-lfs, wherever text is read


@pytest.mark.parametrize(
    "verb", ["print", "fmt", "fmt --check", "infer", "check", "parse --to txtpb", "textconv", "info"]
)
@pytest.mark.parametrize("name", ["a.mil", "a.mlmodel", "a.pb", "a.txtpb"])
def test_a_pointer_is_called_one(verb: str, name: str, tmp_path: Path) -> None:
    result = invoke(*verb.split(), write(tmp_path / name, LFS))
    assert_ended_well(result)
    assert "MIL252" in result.output
    assert "git-lfs" in result.output


@pytest.mark.parametrize("name", ["-", "a.mil"])
def test_a_pointer_in_a_pipe(name: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(command, ["print"], input=LFS)
    assert "MIL252" in result.output


def test_a_package_with_unknown_items_is_read(tmp_path: Path) -> None:
    entries: dict[str, Any] = {"1": {"path": None}, "2": {"path": "com.apple.CoreML/model.mlmodel"}}
    folder = write_package(tmp_path / "P.mlpackage", spec().SerializeToString(), itemInfoEntries=entries)
    assert invoke("info", folder).exit_code == 0
    assert "MIL255" in invoke("build", folder, "-o", tmp_path / "New.mlpackage").output
