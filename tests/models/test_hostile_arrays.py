"""Files of arrays that lie, or are no such files: one clear error each, nothing unpickled, nothing allocated."""

# ruff: noqa: E501 - in the tables, a case is a line

from __future__ import annotations

import errno
import os
import pickle
import re
import shutil
import signal
import struct
import subprocess
import sys
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from click.testing import CliRunner
from conftest import ROOT
from models.test_build_text import function, program
from support.array_files import npy_bytes, npy_of, npy_with, npz, safetensors, sparse_npy, tensor, text_of
from support.containers import LFS

from miltext.arrays import stored
from miltext.arrays.opening import open_array
from miltext.cli import command
from miltext.diagnostics import ModelError
from miltext.parsing.lowering.arrays import ArrayReference

WHOLE = np.array([1.5, -2.5], np.float32)
DATA = WHOLE.tobytes()
NPY = npy_bytes(WHOLE)

ENDINGS = {"$npy": "w.npy", "$npz": "w.npz", "$safetensors": "w.safetensors"}
GRAMMAR = (ROOT / "grammar" / "mil.lark").read_text(encoding="utf-8")
IN_TEXTS = [kind for kind in ENDINGS if f'"{kind}"' in GRAMMAR]
"""The kinds of files that a text can name."""


class Case(NamedTuple):
    """A file, as bytes or as what makes it at a path; what is said of it; and the name that the text has for it."""

    made: bytes | Callable[[Path], object]
    code: str
    saying: str
    file: str | None = None


class Payload:
    """What writes a file where it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


def objects(path: Path) -> None:
    array = np.array([Payload(path.parent / "unpickled"), None], object)
    path.write_bytes(npy_bytes(array))


def pickled(path: Path) -> None:
    path.write_bytes(pickle.dumps(Payload(path.parent / "unpickled")))


def outside(path: Path) -> None:
    (path.parent.parent / "out.npy").write_bytes(NPY)


def link_outside(path: Path) -> None:
    outside(path)
    path.symlink_to(path.parent.parent / "out.npy")


def linked_folder(path: Path) -> None:
    outside(path)
    (path.parent / "sub").symlink_to(path.parent.parent)


def loop(path: Path) -> None:
    path.symlink_to(path)


def unreadable(path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    path.write_bytes(NPY)
    path.chmod(0)


def hundred_gigabytes(path: Path) -> None:
    path.write_bytes(npy_of((25 << 30,), DATA))


LITERAL = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n"

NPY_FILES = {
    "a shape larger than the data": Case(npy_of((3,), DATA), "MIL414", "declares 12 bytes of data (fp32, [3]), but there are 8"),
    "a shape smaller than the data": Case(npy_of((1,), DATA), "MIL414", "declares 4 bytes of data (fp32, [1]), but there are 8"),
    "a trailing byte": Case(NPY + b"\0", "MIL414", "but there are 9"),
    "two arrays one after the other": Case(NPY + NPY, "MIL414", "declares 8 bytes"),
    "a byte too few": Case(NPY[:-1], "MIL414", "but there are 7"),
    "only a header": Case(NPY[:-8], "MIL414", "but there are 0"),
    "half a header": Case(NPY[:40], "MIL414", "its header cannot be read"),
    "no length": Case(NPY[:9], "MIL414", "ends within its header"),
    "no version": Case(NPY[:7], "MIL414", "does not begin like a .npy"),
    "a negative size": Case(npy_of((-2,), DATA), "MIL414", "a shape that no array has: (-2,)"),
    "two negative sizes": Case(npy_of((-2, -1), DATA), "MIL414", "a shape that no array has"),
    "a huge size": Case(npy_of((1 << 70,), DATA), "MIL414", "a shape that no array has"),
    "sizes that are huge together": Case(npy_of((1 << 40, 1 << 40), DATA), "MIL414", "a shape that no array has"),
    "nothing of a huge size": Case(npy_of((0, 1 << 70)), "MIL414", "a shape that no array has"),
    "no elements": Case(npy_bytes(np.zeros((0, 4), np.float32)), "MIL414", "it has no elements: its shape is [0, 4]"),
    "no elements in another order": Case(npy_bytes(np.zeros((4, 3, 0), np.float32, "F")), "MIL414", "it has no elements: its shape is [4, 3, 0]"),
    "no elements, and yet data": Case(npy_of((0,), DATA), "MIL414", "it has no elements"),
    "a size of thousands of digits": Case(npy_with(b"{'descr': '<f4', 'fortran_order': False, 'shape': (" + b"9" * 4000 + b",), }"), "MIL414", "a shape that no array has"),
    "a size of too many digits": Case(npy_with(b"{'descr': '<f4', 'fortran_order': False, 'shape': (" + b"9" * 9000 + b",), }"), "MIL414", "cannot be read"),
    "a size that is true": Case(npy_of((True, 2), DATA), "MIL414", "a shape that no array has"),
    "a size that is a float": Case(npy_of((2.0,), DATA), "MIL414", "shape is not valid"),
    "a shape that is a list": Case(npy_of([2], DATA), "MIL414", "shape is not valid"),
    "a shape that is a number": Case(npy_of(2, DATA), "MIL414", "shape is not valid"),
    "an order that is a number": Case(npy_of((2,), DATA, fortran=1), "MIL414", "fortran_order"),
    "100 GB in a small file": Case(hundred_gigabytes, "MIL414", "declares 107374182400 bytes of data"),
    "a version that is not known": Case(npy_with(LITERAL.encode(), DATA, version=(9, 9)), "MIL414", "version 9.9"),
    "version 0.0": Case(npy_with(LITERAL.encode(), DATA, version=(0, 0)), "MIL414", "version 0.0"),
    "a header that is a list": Case(npy_with(b"[1, 2]", DATA), "MIL414", "not a dictionary"),
    "a header with a call": Case(npy_with(b"__import__('os').getpid()", DATA), "MIL414", "its header does not describe an array"),
    "a header with a sum": Case(npy_with(b"1 + f(2)", DATA), "MIL414", "its header does not describe an array"),
    "a header with another key": Case(npy_with(LITERAL.replace("descr", "descx").encode(), DATA), "MIL414", "keys"),
    "a header that is not closed": Case(npy_with(LITERAL.replace("}", "(").encode(), DATA), "MIL414", "cannot be read"),
    "a header of signs": Case(npy_with(b"-" * 9999, DATA), "MIL414", "cannot be read"),
    "a header of brackets": Case(npy_with(b"(" * 9999, DATA), "MIL414", "cannot be read"),
    "a header with a NUL": Case(npy_with(b"\0" * 64, DATA), "MIL414", "cannot be read"),
    "a header of no bytes": Case(npy_with(b"", DATA), "MIL414", "cannot be read"),
    "a header of 10 MB": Case(npy_with(LITERAL.encode().ljust(10_000_000), DATA, version=(2, 0)), "MIL414", "10000000 bytes; at most 10000"),
    "a header of 4 GB": Case(npy_with(LITERAL.encode(), DATA, version=(2, 0), length=0xFFFFFFFF), "MIL414", "4294967295 bytes; at most 10000"),
    "a type of nowhere": Case(npy_of((2,), DATA, descr="<q7"), "MIL414", "cannot be read"),
    "a type that is a number": Case(npy_of((2,), DATA, descr=7), "MIL414", "cannot be read"),
    "a type of elements without bytes": Case(npy_of((2,), descr="|V0"), "MIL415", "0 bytes of an unknown type"),
    "objects": Case(objects, "MIL415", "pickled Python objects, which are never loaded"),
    "an object declared": Case(npy_of((2,), DATA, descr="|O"), "MIL415", "pickled Python objects"),
    "objects in a structure": Case(npy_of((2,), DATA, descr=[("a", "|O")]), "MIL415", "pickled Python objects"),
    "a pickle": Case(pickled, "MIL414", "does not begin like a .npy"),
    "complex numbers": Case(npy_bytes(np.ones(2, np.complex64)), "MIL415", "which are complex64"),
    "text": Case(npy_bytes(np.array(["a", "b"])), "MIL415", "which are str"),
    "dates": Case(npy_bytes(np.zeros(2, "M8[s]")), "MIL415", "which are datetime64[s]"),
    "a structure": Case(npy_bytes(np.zeros(2, "i4,f4")), "MIL415", "which are structures"),
    "arrays as elements": Case(npy_of((2,), bytes(16), descr=("<f4", (2,))), "MIL415", "MIL has no data type"),
    "bf16 of ml_dtypes": Case(npy_of((2,), bytes(4), descr="<V2"), "MIL415", "save bf16 or fp8 as bit patterns of unsigned integers"),
    "long doubles": Case(npy_of((2,), bytes(32), descr="<f16"), "MIL415", "which are "),
    "a bool that is neither": Case(npy_of((2,), b"\1\2", descr="|b1"), "MIL417", "is 2, but bool has 0 and 1"),
    "a git-lfs pointer": Case(LFS, "MIL414", "it is a git-lfs pointer instead of the file"),
    "an empty file": Case(b"", "MIL414", "it is empty"),
    "an archive": Case(lambda path: npz(path, ("w.npy", NPY)), "MIL414", "it is an archive"),
    "a text": Case(b"1.5, -2.5\n" * 20, "MIL414", "does not begin like a .npy"),
    "no file": Case(lambda _: None, "MIL413", "the file does not exist"),
    "a folder": Case(Path.mkdir, "MIL413", "it is a folder"),
    "a FIFO": Case(os.mkfifo, "MIL413", "it is not a regular file"),
    "a device": Case(lambda path: path.symlink_to("/dev/zero"), "MIL413", "leads outside"),
    "a file without permission": Case(unreadable, "MIL413", "Permission denied"),
    "a file outside": Case(outside, "MIL413", "leads outside", "../out.npy"),
    "a link that leads outside": Case(link_outside, "MIL413", "leads outside"),
    "a folder's link that leads outside": Case(linked_folder, "MIL413", "leads outside", "sub/out.npy"),
    "a link to itself": Case(loop, "MIL413", ""),
    "an absolute path": Case(lambda path: path.write_bytes(NPY), "MIL413", "absolute", "/w.npy"),
    "the text's folder": Case(lambda _: None, "MIL413", "it is a folder", "."),
    "no name": Case(lambda _: None, "MIL413", "it is a folder", ""),
    "a file as a folder": Case(lambda path: path.write_bytes(NPY), "MIL413", "the file does not exist", "w.npy/w.npy"),
    "a name that is too long": Case(lambda _: None, "MIL413", "", "w" * 5000),
    "a name with a NUL": Case(lambda _: None, "MIL413", "", "w\0.npy"),
}  # fmt: skip


def cut_archive(path: Path) -> None:
    npz(path, ("w.npy", NPY))
    path.write_bytes(path.read_bytes()[:-30])


def encrypted(path: Path) -> None:
    npz(path, ("w.npy", NPY))
    data = bytearray(path.read_bytes())
    for sign, place in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        data[data.index(sign) + place] |= 1
    path.write_bytes(data)


def bomb(path: Path) -> None:
    """A member of 256 MB in a quarter of one."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("w.npy", "w") as member:
        member.write(npy_of((2,), DATA))
        for _ in range(256):
            member.write(bytes(1 << 20))


def header_bomb(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("w.npy", "w") as member:
        member.write(npy_with(b"", version=(2, 0), length=256 << 20))
        for _ in range(256):
            member.write(b" " * (1 << 20))


def wrong_sum(path: Path) -> None:
    npz(path, ("w.npy", NPY), compression=zipfile.ZIP_STORED)
    data = path.read_bytes()
    path.write_bytes(data.replace(DATA, bytes(8), 1))


def lying_sizes(path: Path) -> None:
    """A member that is said to be larger than what its compressed bytes give."""
    npz(path, ("w.npy", npy_of((1 << 20,), DATA)))
    data = bytearray(path.read_bytes())
    whole = len(npy_of((1 << 20,))) + (1 << 22)
    for sign, place in ((b"PK\3\4", 22), (b"PK\1\2", 24)):
        struct.pack_into("<I", data, data.index(sign) + place, whole)
    path.write_bytes(data)


def archived_objects(path: Path) -> None:
    objects(path)
    npz(path, ("w.npy", path.read_bytes()))


NPZ_FILES = {
    "an archive without the key": Case(lambda path: npz(path, ("v.npy", NPY)), "MIL416", 'the file has 1 array ("v"), none with this key'),
    "an archive of nothing": Case(npz, "MIL416", "the file has 0 arrays"),
    "a member that is not a .npy": Case(lambda path: npz(path, ("w", NPY)), "MIL416", "the file has 0 arrays"),
    "a member elsewhere": Case(lambda path: npz(path, ("../w.npy", NPY), ("/w.npy", NPY)), "MIL416", 'the file has 2 arrays ("../w", "/w"), none'),
    "two members of a name": Case(lambda path: npz(path, ("w.npy", NPY), ("w.npy", NPY)), "MIL414", "2 members of that name"),
    "a member that is no array": Case(lambda path: npz(path, ("w.npy", b"text" * 9)), "MIL414", "does not begin like a .npy"),
    "an empty member": Case(lambda path: npz(path, ("w.npy", b"")), "MIL414", "does not begin like a .npy"),
    "a member with too little data": Case(lambda path: npz(path, ("w.npy", NPY[:-1])), "MIL414", "but there are 7"),
    "a member with too much data": Case(lambda path: npz(path, ("w.npy", NPY + b"\0")), "MIL414", "but there are 9"),
    "a member without elements": Case(lambda path: npz(path, ("w.npy", npy_bytes(np.zeros(0, np.float32)))), "MIL414", "it has no elements: its shape is [0]"),
    "an encrypted member": Case(encrypted, "MIL414", "encrypted"),
    "a member packed by lzma": Case(lambda path: npz(path, ("w.npy", NPY), compression=zipfile.ZIP_LZMA), "MIL414", "compressed in a way"),
    "a bomb": Case(bomb, "MIL414", "declares 8 bytes of data (fp32, [2]), but there are 268435464"),
    "a bomb of a header": Case(header_bomb, "MIL414", "at most 10000"),
    "a wrong checksum": Case(wrong_sum, "MIL414", "CRC"),
    "sizes that lie": Case(lying_sizes, "MIL41", ""),
    "objects in an archive": Case(archived_objects, "MIL415", "pickled Python objects"),
    "an archive cut short": Case(cut_archive, "MIL414", ""),
    "only the start of an archive": Case(b"PK\3\4", "MIL414", ""),
    "a .npy that is called .npz": Case(NPY, "MIL414", "does not begin like a .npz"),
    "a pointer for an archive": Case(LFS, "MIL414", "it is a git-lfs pointer instead of the file"),
}  # fmt: skip

GOOD = tensor("F32", [2], 0, 8)

SAFETENSORS_FILES = {
    "no such key": Case(safetensors({"v": GOOD}, DATA), 'MIL416', 'the file has 1 array ("v"), none'),
    "keys of a terminal's commands": Case(safetensors({f"\x1b[2J{i}" * 999: tensor("U8", [1], i, i + 1) for i in range(8)}, DATA), "MIL416", "the file has 8 arrays ("),
    "no arrays": Case(safetensors({}), "MIL416", "the file has 0 arrays"),
    "an array without elements": Case(safetensors({"w": tensor("F32", [2, 0], 0, 0), "v": GOOD}, DATA), "MIL414", "it has no elements: its shape is [2, 0]"),
    "arrays that overlap": Case(safetensors({"w": GOOD, "v": tensor("F32", [2], 4, 12)}, bytes(12)), "MIL414", "offset"),
    "arrays with a hole between": Case(safetensors({"w": GOOD, "v": tensor("F32", [1], 12, 16)}, bytes(16)), "MIL414", "offset"),
    "an array behind the end": Case(safetensors({"w": GOOD}, DATA[:4]), "MIL414", "cannot be read"),
    "an array far behind the end": Case(safetensors({"w": tensor("F32", [25 << 30], 0, 100 << 30)}, DATA), "MIL414", "cannot be read"),
    "data that is left over": Case(safetensors({"w": GOOD}, DATA + b"\0"), "MIL414", "not fully covered"),
    "offsets that run back": Case(safetensors({"w": tensor("F32", [2], 8, 0)}, DATA), "MIL414", "cannot be read"),
    "a negative offset": Case(safetensors({"w": tensor("F32", [2], -8, 0)}, DATA), "MIL414", "cannot be read"),
    "a negative size in a shape": Case(safetensors({"w": tensor("F32", [-2], 0, 8)}, DATA), "MIL414", "cannot be read"),
    "a shape of another size": Case(safetensors({"w": tensor("F32", [3], 0, 8)}, DATA), "MIL414", "cannot be read"),
    "a shape beyond 64 bits": Case(safetensors({"w": tensor("F32", [1 << 40, 1 << 40], 0, 8)}, DATA), "MIL414", "overflow"),
    "an unknown type": Case(safetensors({"w": tensor("F33", [2], 0, 8)}, DATA), "MIL414", "unknown variant `F33`"),
    "a type that MIL has not": Case(safetensors({"w": tensor("C64", [1], 0, 8)}, DATA), "MIL415", "which are C64"),
    "scales of eight bits": Case(safetensors({"w": tensor("F8_E8M0", [8], 0, 8)}, DATA), "MIL415", "which are F8_E8M0"),
    "the same key twice": Case(safetensors(b'{"w":%s,"w":%s}' % ((b'{"dtype":"F32","shape":[2],"data_offsets":[0,8]}',) * 2), DATA), "MIL414", "'w' more than once"),
    "the same field twice": Case(safetensors(b'{"w":{"dtype":"F32","dtype":"I32","shape":[2],"data_offsets":[0,8]}}', DATA), "MIL414", "duplicate field"),
    "a field too few": Case(safetensors(b'{"w":{"dtype":"F32","shape":[2]}}', DATA), "MIL414", "missing field"),
    "a header of 2^63 bytes": Case(safetensors({"w": GOOD}, DATA, length=1 << 63), "MIL414", "header"),
    "a header of 2^64 bytes less one": Case(safetensors({"w": GOOD}, DATA, length=(1 << 64) - 1), "MIL414", "header"),
    "a header longer than the file": Case(safetensors({"w": GOOD}, DATA, length=4096), "MIL414", "header"),
    "a header that is a list": Case(safetensors(b"[]", DATA), "MIL414", "header"),
    "a header that is not JSON": Case(safetensors(b"{'w': 1}", DATA), "MIL414", "header"),
    "a header that is not UTF-8": Case(safetensors(b'{"\xff": 1}', DATA), "MIL414", "header"),
    "a header nested deeply": Case(safetensors(b"[" * 100_000), "MIL414", "header"),
    "a key of a terminal's commands": Case(safetensors({"\x1b[2J" * 9999: tensor("F32", [2], 4, 12)}, DATA), "MIL414", "offset"),
    "too few bytes": Case(b"abc", "MIL414", "header"),
    "a pickle of torch": Case(pickled, "MIL414", "header"),
    "a pointer for safetensors": Case(LFS, "MIL414", "it is a git-lfs pointer instead of the file"),
    "a FIFO for safetensors": Case(os.mkfifo, "MIL413", "it is not a regular file"),
}  # fmt: skip

ONLY_IN_DATA = {"a bool that is neither", "a wrong checksum", "sizes that lie"}
"""What no header shows, so that only a build finds it."""

CASES = {
    **{name: ("$npy", case) for name, case in NPY_FILES.items()},
    **{name: ("$npz", case) for name, case in NPZ_FILES.items()},
    **{name: ("$safetensors", case) for name, case in SAFETENSORS_FILES.items()},
}

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="has links, FIFOs and modes of POSIX")


@pytest.fixture(autouse=True)
def _never_waiting() -> Iterator[None]:
    """End a test that waits, as for a FIFO."""
    signal.alarm(60)
    yield
    signal.alarm(0)


def scene(name: str, tmp_path: Path) -> tuple[Path, ArrayReference, Case]:
    """The folder with the file of a case, and what names it."""
    kind, case = CASES[name]
    if kind == "$safetensors":
        pytest.importorskip("safetensors")
    folder = tmp_path / "in"
    folder.mkdir()
    path = folder / ENDINGS[kind]
    path.write_bytes(case.made) if isinstance(case.made, bytes) else case.made(path)
    file = path.name if case.file is None else case.file
    return (
        folder,
        ArrayReference(kind, str(folder) + file if file[:1] == "/" else file, None if kind == "$npy" else "w"),
        case,
    )


def drain(reference: ArrayReference, folder: Path) -> None:
    for piece in open_array(reference, folder).pieces():
        assert len(piece) <= 8 * stored.PIECE


@pytest.mark.parametrize("name", CASES)
def test_a_hostile_file_is_one_clear_error(name: str, tmp_path: Path) -> None:
    folder, reference, case = scene(name, tmp_path)
    tracemalloc.start()
    try:
        with pytest.raises(ModelError) as failure:
            drain(reference, folder)
        assert tracemalloc.get_traced_memory()[1] < 12 << 20
    finally:
        tracemalloc.stop()
    (found,) = failure.value.diagnostics
    assert found.code.startswith(case.code)
    assert case.saying in found.message
    assert found.message.startswith(f"`{reference}` cannot be read: ") or found.code == "MIL417"
    assert len(found.message) < 400 + 2 * len(reference.file)
    assert found.notes[-1].message
    assert " 0x" not in found.message  # an address, which is another one in each run
    assert not (folder / "unpickled").exists()


@pytest.mark.parametrize("name", [name for name, (kind, _) in CASES.items() if kind in IN_TEXTS])
def test_build_with_hostile_file_reports_it_and_writes_nothing(name: str, tmp_path: Path) -> None:
    folder, reference, case = scene(name, tmp_path)
    kind = "bool" if "bool" in case.saying else "fp32"
    value = f"tensor<{kind}, [2]>({reference})"
    made = f'            tensor<{kind}, [2]> w = const()[name = string("w"), val = {value}];'
    (folder / "model.mil").write_text(program(function("fp32 x", "x", made)), encoding="utf-8")
    before = sorted(tmp_path.rglob("*"))
    calls = [["build", str(folder / "model.mil"), "-o", str(folder / "M.mlpackage")]]
    if name not in ONLY_IN_DATA:
        calls.append(["check", str(folder / "model.mil")])
    for call in calls:
        result = CliRunner().invoke(command, call)
        assert result.exit_code == 1, result.output
        (code,) = re.findall(r"model\.mil:4:\d+: error\[(MIL\d+)\]", result.output)
        assert code.startswith(case.code)
        assert "Traceback" not in result.output
        assert "\x1b" not in result.output
        assert sorted(tmp_path.rglob("*")) == before


# ---- what is odd and yet an array


@pytest.mark.parametrize(
    "name", ["ü/w.npy", "./w.npy", "a/../w.npy", "w .npy", "-w.npy", "w", "$w.npy", "link.npy", 'a"b.npy']
)
def test_odd_names_are_names(name: str, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "ü").mkdir()
    place = tmp_path / ("real.npy" if name == "link.npy" else name)
    place.write_bytes(NPY)
    if name == "link.npy":
        (tmp_path / name).symlink_to("real.npy")
    assert b"".join(open_array(ArrayReference("$npy", name), tmp_path).pieces()) == DATA


def test_members_are_only_keys_and_nothing_is_extracted(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    npz(folder / "w.npz", ("../out.npy", NPY), ("/abs.npy", NPY), ("a.txt", b"text"), (".npy", NPY))
    for key in ("../out", "/abs", ""):
        assert b"".join(open_array(ArrayReference("$npz", "w.npz", key), folder).pieces()) == DATA
    assert [path.name for path in tmp_path.rglob("*")] == ["in", "w.npz"]


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
@pytest.mark.parametrize("text", [LITERAL, LITERAL.replace("2", "2L"), LITERAL.replace(" ", "")])
def test_every_version_and_pythons_old_longs(version: tuple[int, int], text: str, tmp_path: Path) -> None:
    (tmp_path / "w.npy").write_bytes(npy_with(text.encode(), DATA, version))
    assert b"".join(open_array(ArrayReference("$npy", "w.npy"), tmp_path).pieces()) == DATA


# ---- a file that changes


def changed(folder: Path, meanwhile: Callable[[Path], object], first: int) -> bytes:
    """What comes of an array whose file changes after so many pieces."""
    path = folder / "w.npy"
    array = open_array(ArrayReference("$npy", "w.npy"), folder)
    pieces = array.pieces()
    got = [next(pieces) for _ in range(first)]
    meanwhile(path)
    return b"".join([*got, *pieces])


def written_to(path: Path) -> None:
    with open(path, "r+b") as file:
        file.seek(-4, os.SEEK_END)
        file.write(b"abcd")
    os.utime(path, ns=(0, 0))


def replaced(path: Path) -> None:
    shutil.copy(path, path.with_name("new"))
    os.utime(path.with_name("new"), ns=(0, 0))
    path.with_name("new").replace(path)


CHANGES = {
    "cut": (lambda path: os.truncate(path, 200), True),
    "emptied": (lambda path: os.truncate(path, 0), True),
    "longer": (lambda path: os.truncate(path, 100_000), True),
    "written to": (written_to, True),
    "removed": (Path.unlink, False),
    "replaced": (replaced, False),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("first", [0, 1, 30])
def test_a_file_that_changes_while_it_is_read(
    change: str, first: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "PIECE", 32)
    array = np.arange(1000, dtype=np.float32)
    np.save(tmp_path / "w.npy", array)
    meanwhile, is_other_data = CHANGES[change]
    if first and not is_other_data:  # the file that was opened is still whole
        assert changed(tmp_path, meanwhile, first) == array.tobytes()
        return
    with pytest.raises(ModelError) as failure:
        changed(tmp_path, meanwhile, first)
    (found,) = failure.value.diagnostics
    assert found.code == ("MIL413" if change == "removed" else "MIL418")
    assert re.search("has changed|was shortened|does not exist", found.message)


def test_a_file_that_no_one_may_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    (tmp_path / "w.npy").write_bytes(NPY)
    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(ModelError, match=r"MIL413.*Permission denied"):
        open_array(ArrayReference("$npy", "w.npy"), tmp_path)


def test_a_file_that_changes_during_a_build_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from miltext.building import writing

    sparse_npy(tmp_path / "w.npy", (1000, 1000))
    made = '            tensor<fp32, [1000, 1000]> w = const()[val = tensor<fp32, [1000, 1000]>($npy("w.npy"))];'
    (tmp_path / "model.mil").write_text(program(function("fp32 x", "x", made)))
    before = sorted(tmp_path.rglob("*"))
    whole = writing.write_model

    def cut(*arguments: Any) -> None:
        os.truncate(tmp_path / "w.npy", 2_000_000)
        whole(*arguments)

    monkeypatch.setattr("miltext.building.build.write_model", cut)
    result = CliRunner().invoke(command, ["build", str(tmp_path / "model.mil"), "-o", str(tmp_path / "M.mlpackage")])
    assert result.exit_code == 1
    assert re.search(r"model\.mil:4:\d+: error\[MIL418\]", result.output)
    assert "that makes `w`" in result.output
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("fortran", [False, True])
def test_on_a_full_disk_the_output_is_named_and_nothing_is_left(fortran: bool, tmp_path: Path) -> None:
    """The copy in C order, too, is on that disk."""
    import resource

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))

    sparse_npy(tmp_path / "w.npy", (2048, 2048), fortran=fortran)
    (tmp_path / "model.mil").write_text(text_of('$npy("w.npy")', "fp32", (2048, 2048)))
    before = sorted(tmp_path.rglob("*"))
    output = tmp_path / "M.mlpackage"
    call = [sys.executable, "-m", "miltext", "build", str(tmp_path / "model.mil"), "-o", str(output)]
    done = subprocess.run(call, capture_output=True, text=True, check=False, preexec_fn=limit)
    assert (done.returncode, done.stderr) == (2, f"miltext: {output}: File too large\n")
    assert sorted(tmp_path.rglob("*")) == before
