"""`scripts/check_pointers.py` finds which files of compiled models git-lfs pointers prove, and which they refute."""

from __future__ import annotations

import hashlib
import re
import shutil
import sys
from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from conftest import CORPUS, EXAMPLE
from models.test_compiled_pairs import PAIRS, pair
from models.test_compiling import suppressing
from support.containers import write_package
from support.pipelines import piped, unary

import miltext
from miltext.compiled.analytics import analytics, parse_analytics
from miltext.compiled.coremldata import layout
from miltext.models.manifest import model_file
from miltext.schema.proto import Model
from miltext.schema.wire import spans

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

import check_pointers

ANALYTICS, DATA = "analytics/coremldata.bin", "coremldata.bin"


def pointer(data: bytes) -> bytes:
    digest = hashlib.sha256(data).hexdigest()
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {len(data)}\n".encode()


def point(bundle: Path, target: Path) -> Path:
    """Make a folder with a pointer to each file of a compiled model."""
    for path in (each for each in bundle.rglob("*") if each.is_file()):
        place = target / path.relative_to(bundle)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(pointer(path.read_bytes()))
    return target


def run(*arguments: object) -> Result:
    result = CliRunner().invoke(check_pointers.main, [str(each) for each in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def results(source: Path, stated: Path) -> dict[str, str]:
    return dict(check_pointers.compared(source, stated))


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """A folder with the example, and pointers to what it is compiled to."""
    shutil.copytree(EXAMPLE, tmp_path / "E.mlpackage")
    miltext.build(EXAMPLE, tmp_path / "made" / "E.mlmodelc")
    point(tmp_path / "made" / "E.mlmodelc", tmp_path / "E.mlmodelc")
    shutil.rmtree(tmp_path / "made")
    return tmp_path


def test_pointers_to_our_own_files_are_proven(example: Path) -> None:
    result = run(example)
    assert result.exit_code == 0
    assert f"{example / 'E.mlmodelc' / DATA}: equal\n" in result.output
    assert f"{example / 'E.mlmodelc' / ANALYTICS}: equal\n" in result.output
    assert "weights/weight.bin: equal\n" in result.output
    assert "       3  equal\n       2  not compared" in result.output


def test_a_model_without_its_weights_is_compared(example: Path) -> None:
    shutil.rmtree(model_file(example / "E.mlpackage").parent / "weights")
    assert results(example / "E.mlpackage", example / "E.mlmodelc") == {
        ANALYTICS: "equal",
        DATA: "equal",
        "metadata.json": "not compared: it depends on the compiler",
        "model.mil": "not compared: it depends on the compiler",
        "weights/weight.bin": "not compared: the model lacks its weights",
    }


@pytest.mark.parametrize("name", [ANALYTICS, DATA, "weights/weight.bin"])
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [("sha256:.{64}", f"sha256:{'0' * 64}", "its digest"), ("size ", "size 1", "it has")],
    ids=["digest", "size"],
)
def test_a_wrong_pointer_is_found(name: str, old: str, new: str, said: str, example: Path) -> None:
    path = example / "E.mlmodelc" / name
    path.write_text(re.sub(old, new, path.read_text()))
    found = results(example / "E.mlpackage", example / "E.mlmodelc")
    assert [each for each, result in found.items() if result.startswith("DIFFERENT")] == [name]
    assert found[name].startswith(f"DIFFERENT: {said}")
    assert run(example).exit_code == 1


def with_entries(count: int, folder: Path) -> tuple[Path, bytes]:
    """A package of so many user-defined entries, and the bytes of its `coremldata.bin`."""
    spec = unary("x", "y")
    spec.description.input[0].shortDescription = "before \xa2 the entries"
    for index in range(count):
        spec.description.metadata.userDefined[f"key{index}" * (index + 1)] = f"value {index}" * index
    source = write_package(folder / "M.mlpackage", spec.SerializeToString())
    miltext.build(source, folder / "made.mlmodelc", check=False)
    return source, (folder / "made.mlmodelc" / DATA).read_bytes()


def entries_in(data: bytes) -> list[bytes]:
    parts = layout(data, "it")
    stop = len(data) - len(parts.end)
    places = check_pointers._places(data, stop - len(parts.held), stop, (100, 100))
    return [data[first:last] for first, last in places]


@pytest.mark.parametrize(("count", "orders"), [(0, 1), (1, 1), (2, 2), (3, 6), (6, 720)])
def test_entries_are_tried_in_all_orders(count: int, orders: int, tmp_path: Path) -> None:
    source, data = with_entries(count, tmp_path)
    pieces = entries_in(data)
    assert len(pieces) == count
    *_, last = permutations(pieces)
    (tmp_path / "M.mlmodelc").mkdir()
    place = tmp_path / "M.mlmodelc" / DATA
    place.write_bytes(pointer(data.replace(b"".join(pieces), b"".join(last)) if count else data))
    expected = "equal in another order" if orders > 1 else "equal"
    assert results(source, tmp_path / "M.mlmodelc") == {DATA: expected}
    place.write_bytes(pointer(data[:-1] + b"\1"))
    many = f"{orders} orders" if orders > 1 else "1 order"
    assert results(source, tmp_path / "M.mlmodelc") == {DATA: f"DIFFERENT: its digest, in {many}"}


def test_orders_of_more_than_six_entries_are_not_tried(tmp_path: Path) -> None:
    source, data = with_entries(7, tmp_path)
    (tmp_path / "M.mlmodelc").mkdir()
    place = tmp_path / "M.mlmodelc" / DATA
    place.write_bytes(pointer(data))
    assert results(source, tmp_path / "M.mlmodelc") == {DATA: "equal"}
    place.write_bytes(pointer(data[:-1] + b"\1"))
    (said,) = results(source, tmp_path / "M.mlmodelc").values()
    assert said == "unknown: the size is equal, and a map has 7 entries"
    assert run(tmp_path).exit_code == 0


def test_tables_of_analytics_are_tried_in_all_orders(example: Path) -> None:
    bundle = example / "again.mlmodelc"
    miltext.build(EXAMPLE, bundle)
    tables = parse_analytics((bundle / ANALYTICS).read_bytes(), "it")
    turned = {name: dict(reversed(table.items())) for name, table in reversed(tables.items())}
    (example / "E.mlmodelc" / ANALYTICS).write_bytes(pointer(analytics(turned)))
    assert results(example / "E.mlpackage", example / "E.mlmodelc")[ANALYTICS] == "equal in another order"


def test_each_stage_of_a_pipeline_is_compared(tmp_path: Path) -> None:
    stage = suppressing()
    for key in ("one", "two"):
        stage.description.metadata.userDefined[key] = "of the stage"
    made = piped(unary("x", "y"), stage, names=["find", "suppress"])
    source = write_package(tmp_path / "P.mlpackage", made.SerializeToString())
    miltext.build(source, tmp_path / "made.mlmodelc", check=False)
    stated = point(tmp_path / "made.mlmodelc", tmp_path / "P.mlmodelc")
    names = [ANALYTICS, DATA, f"model0/{ANALYTICS}", f"model0/{DATA}", f"model1/{DATA}", f"modelNames/{DATA}"]
    found = results(source, stated)
    assert [name for name, result in found.items() if result == "equal"] == names
    data = (tmp_path / "made.mlmodelc" / "model1" / DATA).read_bytes()
    turned = data.replace(b"one", b"---").replace(b"two", b"one").replace(b"---", b"two")
    (stated / "model1" / DATA).write_bytes(pointer(turned))
    assert results(source, stated)[f"model1/{DATA}"] == "equal in another order"
    (stated / f"modelNames/{DATA}").write_bytes(pointer(b"\0" * 36))
    assert results(source, stated)[f"modelNames/{DATA}"].startswith("DIFFERENT")


def test_files_that_are_not_pointers_are_left_alone(example: Path) -> None:
    bundle = example / "E.mlmodelc"
    (bundle / DATA).write_bytes(b"version https://git-lfs.github.com/spec/v1\nsize 3\n")
    (bundle / ANALYTICS).write_bytes(pointer(b"x") * 40)
    (bundle / "more.bin").write_bytes(pointer(b"x"))
    found = results(example / "E.mlpackage", bundle)
    assert {DATA, ANALYTICS}.isdisjoint(found)
    assert found["more.bin"] == "DIFFERENT: no such file is written"


def test_pointers_with_line_ends_of_windows_are_read(example: Path) -> None:
    for path in (each for each in (example / "E.mlmodelc").rglob("*") if each.is_file()):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    result = run(example)
    assert result.exit_code == 0
    assert "       3  equal\n       2  not compared" in result.output


@pytest.mark.parametrize("made", [Path.mkdir, Path.touch], ids=["an empty folder", "an empty file"])
def test_a_named_pair_without_pointers_is_reported(made: Callable[[Path], None], example: Path) -> None:
    made(example / "none")
    result = run(example, "--pair", example / "E.mlpackage", example / "none")
    assert (result.exit_code, f"{example / 'none'}: refused: no git-lfs pointer" in result.output) == (1, True)
    assert "       3  equal\n" in result.output


def test_folders_without_pairs_are_reported(tmp_path: Path) -> None:
    result = run(tmp_path)
    assert (result.exit_code, "no model with pointers" in result.output) == (1, True)


def test_a_model_that_is_not_compiled_is_reported(example: Path) -> None:
    model_file(example / "E.mlpackage").write_bytes(pointer(b"x"))
    result = run(example)
    assert (result.exit_code, "refused: " in result.output, "MIL252" in result.output) == (1, True, True)


@pytest.mark.parametrize("name", PAIRS)
def test_pointers_to_outputs_of_the_compiler(name: str, tmp_path: Path) -> None:
    """Of real pairs, whose packages may lack their weights."""
    package, bundle = pair(name)
    found = results(package, point(bundle, tmp_path / "P.mlmodelc"))
    assert found[ANALYTICS] == "equal"
    assert found[DATA] in ("equal", "equal in another order")
    assert not any(each.startswith("DIFFERENT") for each in found.values())


ENCODERS = {
    "160ms": "pairs/FluidAudio__160ms_streaming_encoder/model.mlmodel",
    "1280ms": "changes/streaming_encoder/1280ms.mlmodel",
}


@pytest.mark.parametrize(("name", "source"), ENCODERS.items(), ids=ENCODERS)
def test_public_pointers_of_specification_8(name: str, source: str, tmp_path: Path) -> None:
    stated = CORPUS / "pointers" / f"streaming_encoder-{name}"
    if not (stated.exists() and (CORPUS / source).exists()):
        pytest.skip(f"no pointers of {name} in the corpus {CORPUS}")
    shutil.copyfile(CORPUS / source, tmp_path / "model.mlmodel")
    assert results(tmp_path / "model.mlmodel", stated)[DATA] == "equal in another order"


ORDERS_OF_160MS = """
com.github.apple.coremltools.source_dialect com.github.apple.coremltools.version com.github.apple.coremltools.source
a b cond
val name
values axis
values interleave axis
beta x alpha
axes x
epsilon beta axes gamma x
x axis
end end_mask begin x
end squeeze_mask end_mask begin x
dtype x
num_splits x axis
constant_val mode x pad
perm x
reps x
shape x
bias weight x
groups dilations pad_type x strides bias weight pad
strides groups dilations pad_type weight x pad
y x
y transpose_y x transpose_x
"""
"""The orders of the keys of maps in the `.mlmodel` that was compiled, which is another save of the public one.

protobuf 6.33 orders the entries of a map by hashes with a seed, the address of a variable in the process (`_upb_Seed`
in `upb/hash/common.c`). The seed 0x1345676f8 gives all orders of the public file; of the seeds in the same place of a
page of memory, 0x1326036f8 gives these orders, and with them the digest of the pointer.
"""


def saved_again(data: bytes, orders: str) -> bytes:
    """Return a Model with the entries of its maps in other orders, found by their keys."""
    order_of = {frozenset(line.split()): line.split() for line in orders.strip().splitlines()}

    def places(first: int, last: int, *path: int) -> list[tuple[int, int]]:
        return check_pointers._places(data, first, last, path)

    operations = places(0, len(data), 502, 2, 2, 3, 2, 3)
    maps = [places(*operation, 3, field) for operation in operations for field in (2, 5)]
    made = bytearray(data)
    for entries in (places(0, len(data), 2, 100, 100), *maps):
        by_key: dict[str, bytes] = {}
        for first, last in entries:
            (number, *_), *_ = spans(data, first, last)
            ((start, end),) = places(first, last, number, 1)
            by_key[data[start + 2 : end].decode()] = data[first:last]
        if len(by_key) > 1:
            made[entries[0][0] : entries[-1][1]] = b"".join(by_key[key] for key in order_of[frozenset(by_key)])
    return bytes(made)


def test_public_analytics_belong_to_another_save(tmp_path: Path) -> None:
    stated, source = CORPUS / "pointers" / "streaming_encoder-160ms", CORPUS / ENCODERS["160ms"]
    if not (stated.exists() and source.exists()):
        pytest.skip(f"no pointers of 160ms in the corpus {CORPUS}")
    data = source.read_bytes()
    again = saved_again(data, ORDERS_OF_160MS)
    assert again != data
    assert Model.FromString(again) == Model.FromString(data)
    (tmp_path / "model.mlmodel").write_bytes(again)
    assert results(tmp_path / "model.mlmodel", stated) == {ANALYTICS: "equal", DATA: "equal in another order"}
