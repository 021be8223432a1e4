"""What the package first on the path makes of a data type, as JSON: `tests/schema/test_new_data_type.py` runs this
in a copy of the tree whose table has a row more.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from lsprotocol import types as lsp

import miltext
from miltext.diffing.measures import measure
from miltext.highlight import MilLexer
from miltext.lsp.completion import complete
from miltext.lsp.documents import Document, View
from miltext.lsp.positions import Positions
from miltext.lsp.reading import read_whole
from miltext.parsing.lowering import Lowering
from miltext.printing.printer import Printer
from miltext.schema.dtypes import BY_NAME
from miltext.schema.packing import pack, unpack
from miltext.schema.proto import Program, Value
from miltext.schema.tensors import literal
from miltext.schema.walk import values
from miltext.syntax.names import name_text
from miltext.syntax.tables import fast_lark_parser
from miltext.syntax.vocabulary import type_names
from miltext.weight_files.blob_storage import BlobFile, BlobWriter
from miltext.weight_files.statistics import statistics

PROGRAM = """program(1.3)
{{
    func main<ios18>(tensor<fp16, [1]> x) {{
            {type} w = const()[name = string("w"), val = {value}];
            tensor<fp16, [1]> y = relu(x = x)[name = string("y")];
        }} -> (y);
}}
"""


def facts(name: str, elements: list[str], folder: Path) -> dict[str, Any]:
    """Each thing that is done with the data type, and what comes of it for a tensor of these elements."""
    kind = f"tensor<{name}, [{len(elements)}]>"
    value = f"{kind}([{', '.join(elements)}])"
    text = PROGRAM.format(type=kind, value=value)
    program = miltext.parse(text)
    (tensor,) = [each for each in _values(program) if each.type.tensorType.dataType == BY_NAME[name].number]
    data = tensor.immediateValue.tensor.bytes.values
    commented = text.replace(kind, f"tensor<{name}/**/, [{len(elements)}]>").replace(");", ")/**/;")
    raw = PROGRAM.format(type=kind, value=f'{kind}($bytes("{data.hex()}ff"))')
    scalar = PROGRAM.format(type=name, value=f"{name}({elements[0]})")
    stock: Any = fast_lark_parser(transformer=Lowering()).parse(text)
    return {
        "packed": data.hex(),
        "printed": miltext.to_text(program) == text,
        "printed by its messages": "".join(Printer().program(program)) + "\n" == text,
        "scalar": miltext.to_text(miltext.parse(scalar)) == scalar,
        "raw bytes": miltext.to_text(miltext.parse(raw)) == raw,
        "by the fine rules": miltext.parse(commented) == program,
        "by stock Lark": Program.FromString(stock) == program,
        "formatted": miltext.format_text(text.replace("    ", "")) == text,
        "checked": [each.code for each in miltext.check(text)],
        "misspelt": miltext.check(text.replace(f"<{name},", f"<{name}x,", 1))[0].message,
        "reserved": name_text(name),
        "arrays": pack(unpack(data, BY_NAME[name], len(elements)), BY_NAME[name]).hex(),
        "in a weight file": _stored(name, data, len(elements), folder),
        "exchanged": _exchanged(tensor, text, elements),
        "highlighted": sorted({str(kind) for kind, word in MilLexer().get_tokens(text) if word == name}),
        "known word": name in type_names(),
        "completed": name in _completions(text, kind),
    }


def _values(program: Program) -> list[Value]:
    return [held.value for held in values(program)]


def _stored(name: str, data: bytes, count: int, folder: Path) -> list[Any]:
    path = folder / f"{name}.bin"
    dtype = BY_NAME[name]
    with BlobWriter(path) as writer:
        offset = writer.add(dtype, unpack(data, dtype, count))
    with BlobFile(path) as file:
        blob = file.blob(offset)
        summary = statistics(blob)
    assert summary is not None
    return [blob.dtype.name, blob.count, bytes(blob.data).hex(), *np.round(list(summary)[:3], 3).tolist()]


def _exchanged(tensor: Value, text: str, elements: list[str]) -> list[float]:
    """How many elements differ from those of a tensor with the first two exchanged, and how far at the most."""
    first, second = elements[:2]
    other = miltext.parse(text.replace(f"[{first}, {second}", f"[{second}, {first}"))
    (exchanged,) = [each for each in _values(other) if each.type == tensor.type]
    one, changed = literal(tensor), literal(exchanged)
    assert one is not None
    assert changed is not None
    found = measure(one, changed)
    assert found is not None
    assert found.maximum is not None
    return [found.changed, found.maximum]


def _completions(text: str, kind: str) -> list[str]:
    reading = read_whole(text)
    assert reading is not None
    document = Document("untitled:new.mil", 1, Positions(text), before=reading)
    place = lsp.Position(*document.positions.position(text.index(kind)))
    parameters = lsp.CompletionParams(lsp.TextDocumentIdentifier(document.uri), place)
    return [item.label for item in complete(View(document, reading), parameters).items]


if __name__ == "__main__":
    asked = json.loads(sys.argv[1])
    json.dump({name: facts(name, elements, Path(sys.argv[2])) for name, elements in asked.items()}, sys.stdout)
