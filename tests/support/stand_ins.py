"""Small models and files under the names that examples use: what the docs call `Model.mlpackage` has to be something.

A stand-in fits what is done with it, as the example's whole line says. Each model is made once a session.
"""

from __future__ import annotations

import functools
import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from conftest import EXAMPLE, ROOT
from support.containers import write_package
from support.dumps import PLACED
from support.pipelines import of_text, piped

import miltext
from miltext.drafting.draft import complete_anew
from miltext.schema.proto import Model

HEAD = "program(1.3)\n{{\n    func main<{opset}>({inputs}) {{\n"

MAIN = """\
            conv_1 = conv(image, $npy("a.npy"), pad_type = "same");
            relu_1 = relu(conv_1);
            conv_3 = conv(relu_1, $npy("b.npy"), pad_type = "same");
            relu_3 = relu(conv_3);
            q = sigmoid(relu_3);
            k = tanh(relu_3);
            out = add(q, k);
            var_42 = reduce_mean(out, axes = [2, 3], keep_dims = false);
        } -> (var_42);
"""

DECODE = """\
    func decode<ios18>(tensor<fp32, [1, 4]> x) {
            hidden = relu(x);
            y = tanh(hidden);
        } -> (y);
"""

STATEFUL = """\
            before = read_state(kv);
            after = add(before, cast(token, dtype = "fp16"));
            write_state(kv, after);
        } -> (after);
"""

ENCODED = "            hidden = add(x, mask);\n        } -> (hidden);\n"

MASKED = """\
            known = cast(tokens, dtype = "fp32");
            scores = add(known, mask);
        } -> (scores);
"""

RULES = """\
program(1.3)[rules = "1"]
{
    func find_twice(x) {
            y = relu(relu(x));
        } -> (y);
    func replace_twice(x) {
            y = relu(x);
        } -> (y);
    func example_twice<ios17>(tensor<fp32, [3]> x) {
            y = relu(relu(x));
        } -> (y);
    func keep_twice<ios17>(tensor<fp32, [3]> x) {
            y = relu(exp(x));
        } -> (y);
}
"""

PYTHON_RULES = """\
import miltext

rules = "1"


@miltext.rule(source="here")
def unused(graph):
    for op in graph.walk():
        if op.block and not op.is_constant and not any(value.uses for value in op.outputs):
            yield miltext.RuleSite(op, op.remove)
"""

SMALL = """\
            relu_3 = relu(x);
            picked = gather(x = relu_3, indices = [0, 2], axis = 1);
            var_42 = real_div(x = 1.0, y = picked);
        } -> (var_42);
"""

FIRST = """\
            relu_3 = relu({x});
            pooled = reduce_mean(relu_3, axes = [2, 3], keep_dims = true);
            between = gather(x = pooled, indices = [0, 2], axis = 1);
        }} -> (between);
"""

SECOND = """\
            relu_3 = relu(between);
            y = {last}(relu_3);
        }} -> (y);
"""

VECTOR = "            y = relu(x);\n        } -> (y);\n"

LONG = "".join(f"            t{n + 1} = relu(t{n});\n" for n in range(260)) + "        } -> (t260);\n"
"""More lines than examples of `locate` name."""

SIZES = (1, 3, 16, 16)
IMAGE = re.compile(r"\[1, 3, (\d+), \1\]> image")
DESCRIPTION = """\
[[input]]
name = "image"
type = "image"
colorSpace = "RGB"
width = {size}
height = {size}

[[output]]
name = "{output}"
type = "multiArray"
dataType = "fp32"
shape = {shape}
"""

SCRIPT = '#!/bin/sh\ngrep -qr gather "$1" && echo "MIL->EIR: what is looked for"\n'
"""A test for `reduce`, and a tool whose output is looked through."""

OTHERS = ("new", "New", "b", "B", "Apples")
"""The names of models that are other than those that they are compared with."""

JOINED = ("A", "B")
"""The names of models whose programs are joined, in two functions, which models have from ios18 on."""

HALVES = ("fp16", "Half", "quantized")


Made: TypeAlias = "bytes | Path"
"""The bytes of a file, or a folder that is a model."""


def stand_in(name: str, line: str) -> Made | None:
    """Return what a name stands for in an example's line; None for a name that stands for nothing."""
    path = Path(name)
    maker = FILES.get(path.name) or KINDS.get(path.suffix)
    return maker(path.stem, line) if maker else None


def place(made: Made, target: Path) -> None:
    """Put a stand-in where an example looks for it, in place of what is there."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_dir():
        shutil.rmtree(target)
    if isinstance(made, Path):
        shutil.copytree(made, target)
        return
    target.write_bytes(made)
    target.chmod(0o755 if target.suffix in ("", ".sh") else 0o644)


# ---- models


def _verb(line: str) -> str:
    found = re.search(r"\bmiltext (?:--\S+ )*([\w-]+)", line)
    return found[1] if found else ""


def _draft(stem: str, line: str) -> str:
    """Return the draft that a model is built from."""
    verb = _verb(line)
    if verb == "locate":
        return _text("tensor<fp32, [1, 4]> t0", LONG)
    if verb == "link":
        takes = "states" if "states" in line else "hidden"
        is_first = stem in ("Encoder", "A", "Half")
        opset = "ios18" if "--functions" in line else "ios16"
        if is_first:
            return _text("tensor<fp32, [1, 4]> x, tensor<fp32, [1, 4]> mask", ENCODED, opset)
        return _text(
            f"tensor<fp32, [1, 4]> {takes}", f"            logits = tanh({takes});\n        }} -> (logits);\n", opset
        )
    if stem == "draft":
        return _text("tensor<fp32, [3]> x", VECTOR)
    if verb == "reduce":
        return _text("tensor<fp32, [1, 4]> x", SMALL)
    if stem == "Decoder":
        if "mask=" in line:
            return _text("tensor<int32, [1, 16]> tokens, tensor<fp32, [1, 1, 16, 16]> mask", MASKED)
        return _text("tensor<fp32, [1]> token, state<tensor<fp16, [4]>> kv", STATEFUL, "ios18")
    is_new = "--function" in line or stem in JOINED
    text = _text(f"tensor<fp32, {[*SIZES]}> image", MAIN, "ios18" if is_new else "ios16")
    text = text.replace("16, 16", "224, 224") if "224" in line else text
    if "--function" in line:
        text = text.removesuffix("}\n") + DECODE + "}\n"
    if "--breaking" in line and stem in (*OTHERS, "Model"):  # than what a repository has
        text = text.replace("16, 16", "24, 24").replace("-> (var_42)", "-> (out)")
    elif stem in OTHERS and verb != "compare":
        text = text.replace("tanh", "softsign")
    return re.sub(r"\bimage\b", "x", text) if " x image" in line else text


def _text(inputs: str, body: str, opset: str = "ios16") -> str:
    return HEAD.format(opset=opset, inputs=inputs) + body + "}\n"


def _package(stem: str, line: str) -> Path:
    if stem == "Pipeline" or (_verb(line) in ("diff", "info") and "--model" in line):
        return _pipeline(" x image" in line, stem in OTHERS)
    made = _built(_draft(stem, line))
    return _converted(made) if stem in HALVES else made


@functools.cache
def _folder() -> Path:
    kept.append(tempfile.TemporaryDirectory(prefix="miltext-stand-ins-"))
    folder = Path(kept[0].name)
    random = np.random.default_rng(0)
    for name, sizes in (("a", (4, 3, 3, 3)), ("b", (4, 4, 3, 3))):
        np.save(folder / f"{name}.npy", random.standard_normal(sizes, dtype=np.float32))
    return folder


kept: list[tempfile.TemporaryDirectory[str]] = []
"""The folder of the models, which goes when the session ends."""


@functools.cache
def _built(draft: str) -> Path:
    """Return a package of a draft, whose image is described as one."""
    source, description = _folder() / "draft.mil", None
    source.write_text(draft, encoding="utf-8")
    output = _folder() / f"{_built.cache_info().misses}.mlpackage"
    if (found := IMAGE.search(draft)) and "decode" not in draft:
        size = int(found[1])
        name = draft.rpartition("-> (")[2].partition(")")[0]
        shape = [1, 4, size, size] if name == "out" else [1, 4]
        description = _folder() / "image.toml"
        description.write_text(DESCRIPTION.format(size=size, output=name, shape=shape), encoding="utf-8")
    miltext.build(source, output, description=description)
    return output


@functools.cache
def _converted(package: Path) -> Path:
    output = package.with_suffix(".half.mlpackage")
    miltext.convert_weights(package, "fp16", output)
    return output


@functools.cache
def _compiled(package: Path) -> Path:
    output = package.with_suffix(".mlmodelc")
    miltext.build(package, output, allow_unproven=True)
    return output


@functools.cache
def _pipeline(takes_x: bool, is_other: bool) -> Path:
    first = "x" if takes_x else "image"
    last = "softsign" if is_other else "tanh"
    texts = [
        _text(f"tensor<fp32, {[*SIZES]}> {first}", FIRST.format(x=first)),
        _text("tensor<fp32, [1, 2, 1, 1]> between", SECOND.format(last=last)),
    ]
    made = piped(*[of_text(miltext.infer_draft(text)) for text in texts], names=["head", "tail"])
    return write_package(_folder() / f"{first}{is_other:d}.pipeline.mlpackage", made.SerializeToString())


def _spec(stem: str, line: str) -> bytes:
    """Return the bytes of a model; of `model.mlmodel`, which stands alone, without weight files."""
    package = _built(_text("tensor<fp32, [3]> x", VECTOR)) if stem == "model" else _package(stem, line)
    (file,) = package.rglob("*.mlmodel")
    return Model.FromString(file.read_bytes()).SerializeToString()


# ---- texts


def _mil(stem: str, line: str) -> bytes:
    if stem in ("draft", "program", "mine", "base", "yours", "a", "b"):
        text = _text("tensor<fp32, [3]> x", VECTOR)
        text = text.replace("        } ->", "            z = exp(x);\n        } ->") if stem in ("b", "yours") else text
        return (text if stem == "draft" else miltext.infer_draft(text)).encode()
    if stem == "odd":
        return miltext.infer_draft(_text("tensor<fp32, [3]> x", VECTOR)).replace("[3]> y", "[4]> y").encode()
    if stem == "ffn":
        return (ROOT / "examples" / "ffn" / "ffn.mil").read_bytes()
    if stem == "part":
        return miltext.to_text(miltext.open_model(_package("Pipeline", line)).models[1].program).encode()
    if stem == "both":
        first, second = [miltext.to_text(miltext.load(_package(each, line)).program) for each in JOINED]
        second = second[second.index("    func") :].replace("main<", "other<").replace("weights/weight.bin", "b.bin")
        return (first.rstrip().removesuffix("}") + second).encode()
    if stem in ("rules", "pattern"):
        return RULES.encode()
    package = _package("Model", line)
    if stem == "cut":
        shorter = package.with_suffix(".cut.mlpackage")
        if not shorter.exists():
            miltext.extract(package, ["relu_1"], shorter)
        package = shorter
    text = miltext.to_text(miltext.load(package).program)
    if "--range" in line:  # which is for sizes that the program leaves open
        text = complete_anew(text.replace("16, 16]> image", "?, ?]> image"), "model.mil", []).text or ""
    return text.encode()


# ---- other files


def _toml(stem: str, line: str) -> bytes:
    return miltext.describe(_package({"pipeline": "Pipeline"}.get(stem, stem), line)).encode()


def _arrays(stem: str, line: str) -> bytes:
    from io import BytesIO

    held: dict[str, Any] = {"image": np.full(SIZES, 7, np.float32)}
    if stem == "kv":
        held = {"kv": np.zeros(4, np.float16)}
    elif stem in ("y", "from_a_device"):
        held = dict(miltext.run(_package("Model", line), held))
    written = BytesIO()
    np.savez(written, **held)
    return written.getvalue()


def _picture(_stem: str, _line: str) -> bytes:
    from io import BytesIO

    pillow = pytest.importorskip("PIL.Image", reason="an example has a picture, which needs pillow")
    written = BytesIO()
    pillow.new("RGB", SIZES[2:] if "--resize" not in _line else (20, 30), "red").save(written, "JPEG")
    return written.getvalue()


def _weights(_stem: str, line: str) -> Path:
    return next(_package("Model", line).rglob("weights")).parent


def _script(_stem: str, _line: str) -> bytes:
    return SCRIPT.encode()


def _dump(*_: str) -> bytes:
    return PLACED.encode()


def _plan(*_: str) -> bytes:
    return b"case\tindex\toperation\toutput\tpreferred\nmain\t0\tios18.relu\ty\tANE\n"


KINDS: dict[str, Callable[[str, str], Made]] = {
    ".mlpackage": _package,
    ".mlmodelc": lambda stem, line: _compiled(_package(stem, line)),
    ".mlmodel": _spec,
    ".mil": _mil,
    ".toml": _toml,
    ".npz": _arrays,
    ".jpg": _picture,
    ".sh": _script,
}
"""What makes a stand-in, by the ending of its name."""

FILES: dict[str, Callable[[str, str], Made]] = {
    "Classifier.mlpackage": lambda *_: EXAMPLE,
    "predict": _script,
    "analytics.mil": _dump,
    "before.mil": _dump,
    "plan.tsv": _plan,
    "rules.py": lambda *_: PYTHON_RULES.encode(),
    "DIR": _weights,
    **{f"{name}.npy": lambda *_, name=name: _ffn(name) for name in ("w1", "w2", "w3", "rms")},
}
"""What makes a stand-in, by its whole name."""


def _ffn(name: str) -> bytes:
    return (ROOT / "examples" / "ffn" / f"{name}.npy").read_bytes()
