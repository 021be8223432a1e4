"""Random damage to each kind of file that a verb reads, and what became of the verb that read it."""

from __future__ import annotations

import os
import re
import shutil
import struct
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from click.testing import CliRunner
from conftest import EXAMPLE, GOLDEN
from google.protobuf import text_format
from support.array_files import safetensors, tensor, text_of
from support.containers import (
    LFS,
    compile_package,
    coremldata,
    metadata_json,
    pipeline,
    sized,
    suppression,
    suppression_data,
    write,
)
from support.overlays import METADATA_TABLE, add_overlays

import miltext
from miltext.cli import command
from miltext.schema.proto import Model, ModelDescription, Program

DATA = "Data/com.apple.CoreML"

READ, REFUSED, OTHER = "read all the same", "refused", "others"


class Kind(NamedTuple):
    """One kind of file: the file that is damaged in the scene, and the verbs that then read it, one at a time."""

    file: str
    verbs: tuple[str, ...]

    @property
    def calls(self) -> list[str]:
        """The verbs as they are called."""
        return [verb.replace("FILE", self.file).replace("EXAMPLE", str(EXAMPLE)) for verb in self.verbs]


def _each(model: str, *verbs: str) -> tuple[str, ...]:
    return tuple(f"{verb} {model}" for verb in verbs)


PRINTING = (
    "print",
    "print --compact",
    "print --as-coremlc",
    "print --annotate",
    "print --inline-weights",
    "print --html",
    "print --elide 4",
    "print --verify-roundtrip",
)
COMPILING = ("build -o out.mlmodelc", "build --allow-unproven --no-check -o out.mlmodelc")
BUILDING = ("build -o out.mlpackage", "build -o out/m.mlmodel", "build -o out.mlpackage --externalize 1", *COMPILING)
AROUND = ("info", "check", "diff D.mlmodelc", "build -o out.mlpackage", *COMPILING)
LOOKING = ("info", "info --json", "describe", "check", "check --format sarif", "weights", "weights --save out")
COMPARING = (
    "diff EXAMPLE",
    "diff --format json EXAMPLE",
    "diff --format unified EXAMPLE",
    "diff --format markdown EXAMPLE",
    "diff --format html EXAMPLE",
    "diff --format unified --draft EXAMPLE",
    "sidecar",
    "sidecar --full",
    "sidecar --draft",
)
RUNNING = ("run --random", "run --random --all -o out.npz")
OF_MODELS = (*PRINTING, *BUILDING, *LOOKING, *COMPARING, *RUNNING, "parse --to txtpb", "parse -o out.pb")


def _of_program(model: str) -> tuple[str, ...]:
    edits = ("rename {} scores_cast_fp16 result -o out.mlpackage", "expose {} {} -o out.mil", "locate {} 7")
    return (*_each(model, *OF_MODELS), *(edit.format(model, "edges_cast_fp16") for edit in edits))


def _of_model(model: str) -> tuple[str, ...]:
    return (*_of_program(model), f"build good.mil -o out.mlpackage --from {model}")


def _of_pipeline(model: str) -> tuple[str, ...]:
    compared = ("diff same.mlmodel", "diff --format json same.mlmodel", "diff --format unified same.mlmodel")
    looked = _each(
        model, "info", "info --json", "describe", "check --ignore MIL26", "build -o out.mlpackage", "sidecar", *compared
    )
    chosen = _each(model, "print --model 0", "print --model net", "weights --model 0", "diff same.mlmodel --model 0")
    run = _each(model, "run --random --model 0")
    edited = _each(model, "rename --model 0 -o out.mlpackage", "build good.mil --model 0 -o out.mlpackage --from")
    return (
        *looked,
        *chosen,
        *run,
        *(verb + " scores_cast_fp16 result" * verb.startswith("rename") for verb in edited),
    )


ON_ARRAYS = ("check", "build -o out.mlpackage", "build -o out/m.mlmodel")

TEXTS = ("fmt --check", "fmt --diff", "fmt", "infer", "infer -o out.mil")

KINDS = {
    "mil": Kind("text.mil", (*_of_program("text.mil"), *_each("text.mil", *TEXTS))),
    "txtpb": Kind("program.txtpb", _of_program("program.txtpb")),
    "pb": Kind("program.pb", _of_program("program.pb")),
    "mlmodel": Kind("model.mlmodel", (*_of_model("model.mlmodel"), "textconv FILE", "textconv --draft FILE")),
    "odd mil": Kind("odd.mil", (*_each("odd.mil", *OF_MODELS, *TEXTS), "locate odd.mil 9")),
    "odd txtpb": Kind("odd.txtpb", _each("odd.txtpb", *OF_MODELS)),
    "odd mlmodel": Kind("odd.mlmodel", (*_each("odd.mlmodel", *OF_MODELS), "textconv FILE")),
    "pipeline": Kind("pipeline.mlmodel", (*_of_pipeline("pipeline.mlmodel"), "textconv FILE")),
    "mlpackage": Kind(f"M.mlpackage/{DATA}/model.mlmodel", _of_model("M.mlpackage")),
    "manifest": Kind("M.mlpackage/Manifest.json", _of_model("M.mlpackage")),
    **{
        f"overlay {name}": Kind(f"O.mlpackage/{DATA}/{name}", (*_of_model("O.mlpackage"), "textconv FILE"))
        for name in ("Metadata.json", "FeatureDescriptions.json")
    },
    "weights": Kind(f"M.mlpackage/{DATA}/weights/weight.bin", _of_model("M.mlpackage")),
    "weight file": Kind(f"M.mlpackage/{DATA}/weights/weight.bin", _each("FILE", "textconv")),
    "bundle's text": Kind("C.mlmodelc/model.mil", _of_model("C.mlmodelc")),
    "bundle's weights": Kind("C.mlmodelc/weights/weight.bin", _of_model("C.mlmodelc")),
    "coremldata.bin": Kind("C.mlmodelc/coremldata.bin", (*_of_model("C.mlmodelc"), "textconv FILE")),
    "metadata.json": Kind("C.mlmodelc/metadata.json", (*_of_model("C.mlmodelc"), "diff D.mlmodelc C.mlmodelc")),
    "metadata.json alone": Kind("D.mlmodelc/metadata.json", _of_model("D.mlmodelc")),
    "analytics": Kind("C.mlmodelc/analytics/coremldata.bin", ("textconv FILE", *_each("C.mlmodelc", "print", *AROUND))),
    "pipeline's coremldata.bin": Kind("P.mlmodelc/coremldata.bin", (*_of_pipeline("P.mlmodelc"), "textconv FILE")),
    "names": Kind("P.mlmodelc/modelNames/coremldata.bin", (*_of_pipeline("P.mlmodelc"), "textconv FILE")),
    "stage": Kind("P.mlmodelc/model1/coremldata.bin", (*_of_pipeline("P.mlmodelc"), "textconv FILE")),
    **{kind: Kind(f"w.{kind}", _each(f"{kind}.mil", *ON_ARRAYS)) for kind in ("npy", "npz", "safetensors")},
    "input": Kind("x.npy", _each("M.mlpackage", "run --input image=x.npy", "run --input image=x.npy -o out.npz")),
    "inputs": Kind("x.npz", _each("M.mlpackage", "run --inputs x.npz", "run --inputs x.npz --all")),
    "states": Kind("states.npz", _each("states.mil", "run --state FILE --random --state-out out.npz")),
    "picture": Kind("image.png", _each("I.mlpackage", "run --input image=FILE --resize -o out.npz")),
    "description": Kind(
        "model.toml",
        (
            "build M.mlpackage -o out.mlpackage --description FILE",
            "build text.mil -o out/m.mlmodel --description FILE",
            "describe M.mlpackage -o FILE",
        ),
    ),
    "sidecar": Kind(
        "M.mlpackage.mil", ("sidecar --check M.mlpackage", "sidecar M.mlpackage", "fmt FILE", "check FILE")
    ),
    "lfs pointer": Kind("pointer.mlmodel", (*_of_model("pointer.mlmodel"), "fmt FILE")),
}


# ---- the scene: every kind of file, whole


def _odd_program() -> Program:
    """A Program with all that the goldens of printing have."""
    odd = Program(version=1)
    for path in sorted(GOLDEN.glob("print/*.mil")):
        part = miltext.parse(path.read_text(encoding="utf-8"))
        for name, value in part.attributes.items():
            odd.attributes[f"{path.stem}_{name}"].CopyFrom(value)
        for name, function in part.functions.items():
            odd.functions[f"{path.stem}_{name}"].CopyFrom(function)
    return odd


def make_scene(folder: Path) -> None:
    """Write every file of KINDS, and what is around them."""
    example = miltext.load(EXAMPLE)
    _write_programs(folder, example)
    _write_models(folder, example)
    _write_bundles(folder)
    _write_arrays(folder)
    _write_states_and_pictures(folder)
    write(folder / "model.toml", miltext.describe(example).encode())
    CliRunner().invoke(command, ["sidecar", str(folder / "M.mlpackage")])


def _write_programs(folder: Path, example: miltext.Model) -> None:
    odd = _odd_program()
    for name, program in (("text", example.program), ("good", example.program), ("odd", odd)):
        write(folder / f"{name}.mil", miltext.to_text(program).encode())
    for name, program in (("program", example.program), ("odd", odd)):
        write(folder / f"{name}.pb", program.SerializeToString(deterministic=True))
        write(folder / f"{name}.txtpb", text_format.MessageToString(program).encode())
    write(folder / "odd.mlmodel", _wire(Model(specificationVersion=9, mlProgram=odd)))


def _write_models(folder: Path, example: miltext.Model) -> None:
    assert example.spec is not None
    whole = pipeline(example.spec, suppression(), names=("net", "suppress"))
    write(folder / "model.mlmodel", _wire(example.spec))
    for name in ("pipeline.mlmodel", "same.mlmodel"):
        write(folder / name, _wire(whole))
    write(folder / "pointer.mlmodel", LFS)
    shutil.copytree(EXAMPLE / DATA / "weights", folder / "weights")
    shutil.copytree(EXAMPLE, folder / "M.mlpackage")
    shutil.copytree(EXAMPLE, folder / "O.mlpackage")
    add_overlays(
        folder / "O.mlpackage", METADATA_TABLE, {"Inputs": {"image": {"MLFeatureShortDescription": "over an image"}}}
    )


def _wire(spec: Model) -> bytes:
    return spec.SerializeToString(deterministic=True)


def _write_bundles(folder: Path) -> None:
    """C has all that a bundle may have, D no coremldata.bin, and P is a pipeline."""
    bundle = compile_package(EXAMPLE, folder / "C.mlmodelc")
    (bundle / "analytics").mkdir()
    write(bundle / "analytics/coremldata.bin", struct.pack("<Q", 1) + sized(b"NeuralNetworkModelDetails"))
    write(bundle / "metadata.json", _metadata())
    bundle = compile_package(EXAMPLE, folder / "D.mlmodelc")
    (bundle / "coremldata.bin").unlink()
    write(bundle / "metadata.json", _metadata())
    bundle = folder / "P.mlmodelc"
    compile_package(EXAMPLE, bundle / "model0")
    for name in ("modelNames", "model1"):
        (bundle / name).mkdir()
    outer = coremldata(ModelDescription(), number=202, target=b"generic.model0v9.0.0", models=2)
    write(bundle / "coremldata.bin", outer)
    write(bundle / "modelNames/coremldata.bin", struct.pack("<Q", 2) + sized(b"net") + sized(b"suppress"))
    write(bundle / "model1/coremldata.bin", suppression_data())


def _metadata() -> bytes:
    """A `metadata.json` with features of several types."""
    array = {"type": "MultiArray", "dataType": "Float16", "shape": "[1, 6, 8, 8]", "isOptional": "0"}
    ranges = {**array, "name": "x", "shapeRange": "[[1, 1], [2, -1]]", "enumeratedShapes": "[[1], [2]]"}
    image = {"type": "Image", "name": "i", "width": "64", "height": "32", "colorspace": "RGB"}
    inputs = [ranges, {**image, "sizeRange": "[[8, 64], [4, 32]]"}]
    return metadata_json(inputSchema=inputs, outputSchema=[{**array, "name": "y"}], userDefinedMetadata={"a": "b"})


def _write_arrays(folder: Path) -> None:
    """Each kind of file that has arrays, and a text that names one; and inputs of the example."""
    image = np.linspace(0, 1, 256, dtype=np.float32).reshape(1, 1, 16, 16)
    np.save(folder / "x.npy", image)
    np.savez_compressed(folder / "x.npz", image=image)
    array = np.arange(12, dtype=np.float16).reshape(3, 4)
    np.save(folder / "w.npy", np.asfortranarray(array))
    np.savez_compressed(folder / "w.npz", w=array, v=array)
    entries = {"w": tensor("F16", [3, 4], 0, 24), "v": tensor("BF16", [4], 24, 32)}
    write(folder / "w.safetensors", safetensors(entries, array.tobytes() + bytes(8)))
    for kind, key in (("npy", ""), ("npz", ', "w"'), ("safetensors", ', "w"')):
        text = text_of(f'${kind}("w.{kind}"{key})', "fp16", array.shape)
        write(folder / f"{kind}.mil", text.encode())


STATEFUL = """program(1.3)
{
    func main<ios18>(tensor<fp16, [4]> x, state<tensor<fp16, [4]>> sum) {
            tensor<fp16, [4]> before = read_state(input = sum);
            tensor<fp16, [4]> after = add(x = before, y = x);
            write_state(data = after, input = sum);
        } -> (after);
}
"""


def _write_states_and_pictures(folder: Path) -> None:
    """What states hold, and a picture for a package that takes one."""
    np.savez(folder / "states.npz", sum=np.arange(4, dtype=np.float16))
    write(folder / "states.mil", STATEFUL.encode())
    write(folder / "image.png", _png(np.arange(256, dtype=np.uint8).reshape(16, 16)))
    shutil.copytree(EXAMPLE, folder / "I.mlpackage")
    path = folder / "I.mlpackage" / DATA / "model.mlmodel"
    spec = Model.FromString(path.read_bytes())
    image = spec.description.input[0].type.imageType
    image.width, image.height, image.colorSpace = 16, 16, image.GRAYSCALE
    write(path, _wire(spec))


def _png(pixels: npt.NDArray[np.uint8]) -> bytes:
    """A picture of grey pixels, as https://www.w3.org/TR/png-3 has it."""
    height, width = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    parts = {b"IHDR": struct.pack(">2I5B", width, height, 8, 0, 0, 0, 0), b"IDAT": zlib.compress(rows), b"IEND": b""}
    chunks = (
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in parts.items()
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


# ---- damage

EXTREMES = [b"\xff" * 8, b"\xff" * 4, b"\0" * 8, b"\0" * 4, b"\xff" * 7 + b"\x7f", b"\0" * 7 + b"\x80"]
"""Numbers of bytes at the ends of what they can be."""

NUMBERS = [b"-1", b"0", *(b"%d" % (1 << bits) for bits in (31, 63, 64)), b"1e400", b"1" * 5000, b"null", b'"a"', b"[]"]
"""What may be in place of a number in text."""

WORDS = [
    *(b'"{[]}/%\r'[place : place + 1] for place in range(8)),
    b"null",
    b"..",
    b"\\ud800",
    b"\xed\xa0\x80",
    b"\x1b[2J",
]
"""What may be put between."""


def _flip(random: Random, data: bytearray) -> None:
    for _ in range(random.choice((1, 1, 1, 2, 4, 16))):
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)


def _cut(random: Random, data: bytearray) -> None:
    start = random.randrange(len(data))
    del data[start : start + random.choice((1, 2, 8, 64, len(data)))]


def _double(random: Random, data: bytearray) -> None:
    start = random.randrange(len(data))
    piece = data[start : start + random.choice((1, 4, 16, 64, len(data)))]
    data[start:start] = piece


def _overwrite(random: Random, data: bytearray) -> None:
    start, piece = random.randrange(len(data)), random.choice(EXTREMES)
    data[start : start + len(piece)] = piece


def _insert(random: Random, data: bytearray) -> None:
    start = random.randrange(len(data) + 1)
    data[start:start] = random.choice(WORDS)


def _renumber(random: Random, data: bytearray) -> None:
    """Another number, or something else, in place of one; where there is text."""
    found = list(re.finditer(rb"-?\d+", data))
    if found:
        start, stop = random.choice(found).span()
        data[start:stop] = random.choice(NUMBERS)


def _revalue(random: Random, data: bytearray) -> None:
    """Another value in place of one, in JSON."""
    found = list(re.finditer(rb'"[^"]*"|-?\d+', data))
    if found:
        start, stop = random.choice(found).span()
        data[start:stop] = random.choice(NUMBERS)


Harm = Callable[[Random, bytearray], None]

HARMS: tuple[Harm, ...] = (_flip, _flip, _cut, _double, _overwrite, _insert, _renumber, _renumber, _revalue)


def damaged(random: Random, whole: bytes) -> bytes:
    """The bytes with random damage, once or several times."""
    data = bytearray(whole)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        if data:
            random.choice(HARMS)(random, data)
    return bytes(data)


# ---- cases

SAID = re.compile(r"""(error\[|^// |^ +"code": ")MIL\d{3}|^miltext: """, re.MULTILINE)
"""How the project's own errors show, in JSON too."""

FINDS = ("check", "diff", "fmt", "sidecar --check")
"""Verbs whose exit status is 1 where they found something."""


class Case(NamedTuple):
    """What became of a verb that read a damaged file: READ, REFUSED or OTHER, and what it said or did."""

    outcome: str
    verb: str
    data: bytes
    story: str
    cause: BaseException | None = None


def cases(name: str, folder: Path, seed: int) -> Iterator[Case]:
    """Endless cases of a kind. `folder` has the scene, and is where the process is; what a case writes is removed."""
    random, kind = Random(f"{seed} {name}"), KINDS[name]
    path = folder / kind.file
    whole = path.read_bytes()
    try:
        while True:
            verb, data = random.choice(kind.calls), damaged(random, whole)
            path.write_bytes(data)
            yield run(verb, data, folder)
    finally:
        path.write_bytes(whole)


def run(verb: str, data: bytes, folder: Path) -> Case:
    """What becomes of a verb in the scene, where a file holds `data`; what it writes is removed."""
    (folder / "out").mkdir(exist_ok=True)  # no verb makes the folder of its output
    before = _listing(folder)
    result = CliRunner().invoke(command, verb.split())
    after = _listing(folder)
    changed = [place for place in sorted({*before, *after}) if before.get(place) != after.get(place)]
    for top in {_top(place) for place in after} - {_top(place) for place in before}:
        shutil.rmtree(folder / top) if (folder / top).is_dir() else (folder / top).unlink()
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        return Case(OTHER, verb, data, repr(result.exception), result.exception)
    return _judged(verb, result.exit_code, result.output, changed)._replace(data=data)


def _judged(verb: str, status: int, said: str, changed: list[str]) -> Case:
    """The outcome of a verb that ended by itself: a failure says why and changes nothing; nothing is left behind."""
    strays = [place for place in changed if place.rpartition(os.sep)[2].startswith(".")]
    if strays or (status and changed):
        return Case(OTHER, verb, b"", f"status {status}, and written: {strays or changed}")
    if SAID.search(said) and (status or verb.startswith("textconv")):
        return Case(REFUSED, verb, b"", said)
    if status and not verb.startswith(FINDS):
        return Case(OTHER, verb, b"", f"status {status}, and said: {said}")
    return Case(READ, verb, b"", said)


def _listing(folder: Path) -> dict[str, tuple[int, int]]:
    """Every file below a folder, with what changes when it is written."""
    found: dict[str, tuple[int, int]] = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            path = f"{parent}{os.sep}{name}"
            status = os.stat(path)
            found[path[len(str(folder)) + 1 :]] = status.st_mtime_ns, status.st_ino
    return found


def _top(place: str) -> str:
    return place.split(os.sep, maxsplit=1)[0]


def tally(name: str, folder: Path, seed: int, count: int) -> tuple[Counter[str], list[Case]]:
    """So many cases of a kind: how many of each outcome, and those that must not be."""
    found = list(islice(cases(name, folder, seed), count))
    return Counter(case.outcome for case in found), [case for case in found if case.outcome == OTHER]
