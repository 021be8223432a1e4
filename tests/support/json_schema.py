"""Whether a value is what a JSON Schema says, for the words that scripts/make_json_schema.py uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from operator import getitem
from typing import Any

Schema = Mapping[str, Any]

TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
    "array": (list,),
    "object": (dict,),
}
WORDS = {"type", "properties", "required", "items", "anyOf", "$ref", "description", "additionalProperties"}


def faults(value: Any, schema: Schema, whole: Schema, where: str = "$") -> Iterator[str]:
    """Yield where a value is not what a schema in a `whole` one says; an object has no keys that are not listed."""
    assert schema.keys() <= WORDS, schema.keys()
    if "$ref" in schema:
        yield from faults(value, reduce(getitem, schema["$ref"].removeprefix("#/").split("/"), whole), whole, where)
    if "anyOf" in schema:
        tried = [list(faults(value, each, whole, where)) for each in schema["anyOf"]]
        yield from min(tried, key=len)
    if "type" in schema and not _is(value, schema["type"]):
        yield f"{where}: {value!r:.60} is not {schema['type']}"
        return
    if "properties" in schema:
        known = schema["properties"]
        yield from (f"{where}.{key} is missing" for key in schema["required"] if key not in value)
        yield from (f"{where}.{key} is not described" for key in value if key not in known)
        for key in value.keys() & known.keys():
            yield from faults(value[key], known[key], whole, f"{where}.{key}")
    for index, each in enumerate(value if "items" in schema else ()):
        yield from faults(each, schema["items"], whole, f"{where}[{index}]")


def _is(value: Any, name: str) -> bool:
    return isinstance(value, TYPES[name]) and not (isinstance(value, bool) and name in ("integer", "number"))
