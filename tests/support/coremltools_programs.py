"""Programs that the real coremltools 9.0 writes, for tests that must hold on whatever it writes.

`PROGRAMS` lists them by name; `Sample.program()` builds one and returns the serialized `MILSpec.Program`.
That is done once a process, or once for all processes to which MILTEXT_TEST_PROGRAMS names a folder.
coremltools is imported only when the first one is built, so that a test can be collected, and skipped,
without it: call `pytest.importorskip("coremltools")` before building.
"""

from __future__ import annotations

import functools
import os
import re
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

IOS15, IOS16, IOS17, IOS18, IOS26 = "ios15", "ios16", "ios17", "ios18", "ios26"
OPSETS = (IOS15, IOS16, IOS17, IOS18)
FROM16, FROM17, TO16 = OPSETS[1:], OPSETS[2:], OPSETS[:2]


class Sample(NamedTuple):
    """One program to make: its name, the opset (text spelling) of its functions, and what makes it."""

    name: str
    opset: str
    make: Callable[[], bytes]

    def program(self) -> bytes:
        """The serialized Program; equal bytes at every call within a process."""
        return _built(self)

    def __repr__(self) -> str:
        return self.name


PROGRAMS: list[Sample] = []


@functools.cache
def _built(sample: Sample) -> bytes:
    folder = os.environ.get("MILTEXT_TEST_PROGRAMS")
    if folder is None:
        return sample.make()
    kept, new = (Path(folder, f"{sample.name}{ending}") for ending in (".pb", f".{os.getpid()}"))
    if not kept.exists():
        new.write_bytes(sample.make())
        new.replace(kept)
    return kept.read_bytes()


def add(name: str, opsets: tuple[str, ...], body: Callable[..., Any], **inputs: str) -> None:
    """Adds one program per opset: `body(mb, **inputs)` returns what the function `main` returns.

    An input is written `fp32[1,3,h]`: a data type and dimensions, a letter standing for an unknown
    dimension (the same letter, the same dimension); `state fp16[2]` is a state.
    """
    functions = {"main": (body, inputs)}
    PROGRAMS.extend(Sample(f"{name}-{opset}", opset, functools.partial(exported, opset, functions)) for opset in opsets)


def add_functions(name: str, opset: str, functions: dict[str, tuple[Callable[..., Any], dict[str, str]]]) -> None:
    """Adds a program of several functions, each with its body and inputs as `add` takes them."""
    PROGRAMS.append(Sample(f"{name}-{opset}", opset, functools.partial(exported, opset, functions)))


def add_converted(
    name: str,
    opset: str,
    body: Callable[..., Any],
    inputs: dict[str, str],
    change: Callable[[Any], Any] | None = None,
    labels: list[str] | None = None,
) -> None:
    """Adds a program that went through `coremltools.convert` with all its passes, and then through `change`.

    `change` takes and returns an MLModel; it is how compressed weights are made. With `labels` the
    model is a classifier of its last op's output.
    """
    PROGRAMS.append(Sample(f"{name}-{opset}", opset, functools.partial(_convert, opset, body, inputs, change, labels)))


def weight(*shape: int, dtype: Any = np.float32) -> Any:
    """Numbers in [-1, 1), the same for the same shape."""
    return (np.random.default_rng(sum(shape)).random(shape) * 2 - 1).astype(dtype)


def integers(*shape: int, dtype: Any = np.int8, high: int = 8) -> Any:
    """Whole numbers from 0 to below `high`, the same for the same shape."""
    return np.random.default_rng(sum(shape)).integers(0, high, shape).astype(dtype)


def exported(opset: str, functions: dict[str, tuple[Callable[..., Any], dict[str, str]]]) -> bytes:
    """Builds a pymil program and writes it with coremltools' own exporter, without any pass."""
    from coremltools.converters.mil.backend.mil.load import MILProtoExporter

    program = pymil(opset, functions)
    with tempfile.TemporaryDirectory() as weights:
        exporter = MILProtoExporter(program, weights, _target(opset))
        return bytes(exporter.export().SerializeToString(deterministic=True))


def _convert(
    opset: str,
    body: Callable[..., Any],
    inputs: dict[str, str],
    change: Callable[[Any], Any] | None,
    labels: list[str] | None,
) -> bytes:
    import coremltools

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # it speaks of every unknown dimension
        model = coremltools.convert(
            pymil(opset, {"main": (body, inputs)}),
            convert_to="mlprogram",
            minimum_deployment_target=_target(opset),
            classifier_config=None if labels is None else coremltools.ClassifierConfig(labels),
            skip_model_load=True,
        )
    if change is not None:
        model = change(model)
    return bytes(model.get_spec().mlProgram.SerializeToString(deterministic=True))


def pymil(opset: str, functions: dict[str, tuple[Callable[..., Any], dict[str, str]]]) -> Any:
    """Builds a pymil program of functions, each a body with its inputs as `add` takes them."""
    from coremltools.converters.mil import mil
    from coremltools.converters.mil.mil import Builder

    Builder.name_count.clear()  # so that a program has the same names whichever were built before it
    program = mil.Program()
    for name, (body, inputs) in functions.items():
        symbols: dict[str, Any] = {}
        placeholders = {key: _placeholder(spec, symbols) for key, spec in inputs.items()}
        with mil.Function(placeholders, _target(opset)) as function:
            outputs = body(Builder, **function.inputs)
            function.set_outputs(list(outputs) if isinstance(outputs, list | tuple) else [outputs])
        program.add_function(name, function)
    if "main" not in functions:
        program.default_function_name = next(iter(functions))
    return program


def _target(opset: str) -> Any:
    import coremltools

    return getattr(coremltools.target, opset.replace("ios", "iOS"))


def _placeholder(spec: str, symbols: dict[str, Any]) -> Any:
    from coremltools.converters.mil.mil import Builder, get_new_symbol, types

    match = re.fullmatch(r"(state )?(\w+)\[([\w,]*)\]", spec)
    assert match, spec
    state, dtype, dimensions = match.groups()
    shape = [
        int(dim) if dim.isdigit() else symbols.setdefault(dim, get_new_symbol()) for dim in dimensions.split(",") if dim
    ]
    if state:
        return Builder.state_tensor_placeholder(shape, types.string_to_builtin(dtype))
    return Builder.placeholder(shape, types.string_to_builtin(dtype), allow_rank0_input=True)


import support.coremltools_layer_ops  # noqa: E402  (each fills PROGRAMS)
import support.coremltools_networks  # noqa: E402
import support.coremltools_tensor_ops  # noqa: E402, F401
