"""Make docs/json.schema.json, a JSON Schema for what verbs tell, out of the tables of docs/json.md.

python scripts/make_json_schema.py          writes it
python scripts/make_json_schema.py --check  exits with 1 if it would change
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from generated import settle

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE, SCHEMA = DOCS / "json.md", DOCS / "json.schema.json"
DRAFT = "https://json-schema.org/draft/2020-12/schema"
EVERY = "Every object"
"""The heading of the keys that all objects have; an object of a failure has no others."""

FAILURE = "failure"

ROW = re.compile(r"^\| `([^`]+)` \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
PLAIN = ("string", "integer", "number", "boolean", "null")

Schema = dict[str, Any]


class Key(NamedTuple):
    """A row of a table: the way to a key, as in `files[].path`, its type, and what it means."""

    way: tuple[str, ...]
    type: str
    meaning: str

    @property
    def is_optional(self) -> bool:
        """Whether the key may be missing."""
        return self.type.startswith("optional ")


def tables(page: str) -> dict[str, list[Key]]:
    """Return the rows of a page by its headings, those of verbs by the verb."""
    parts = re.split(r"^## (?:miltext )?(.*)\n", page, flags=re.MULTILINE)
    found = {heading: ROW.findall(text) for heading, text in zip(parts[1::2], parts[2::2], strict=True)}
    return {
        heading: [Key(tuple(re.sub(r"\[\]", ".[]", way).split(".")), said, meaning) for way, said, meaning in rows]
        for heading, rows in found.items()
    }


def schema(page: str) -> Schema:
    """Return the schema: in `$defs`, that of each verb's object, and of that of a failure."""
    found = tables(page)
    every = found.pop(EVERY)
    made = {FAILURE: {**_object(every, ()), "additionalProperties": False}}
    for verb, keys in found.items():
        own = {key.way for key in keys}
        whole = _object([*keys, *(key for key in every if key.way not in own)], ())
        for name in {key.way[0] for key in every} - {way[0] for way in own}:
            whole["properties"][name] = {"$ref": f"#/$defs/{FAILURE}/properties/{name}"}
        made[part(verb)] = {"anyOf": [whole, {"$ref": f"#/$defs/{FAILURE}"}]}
    return {"$schema": DRAFT, "title": "What miltext tells as JSON", "$defs": made}


def part(verb: str) -> str:
    """Return the name of a verb's part of the schema, without what a link could not have."""
    return verb.replace(" ", "-")


def _object(keys: list[Key], way: tuple[str, ...]) -> Schema:
    """Return the schema of the object at a way; one whose keys are not listed is any object."""
    inner = [key for key in keys if key.way[:-1] == way]
    if not inner:
        return {"type": "object"}
    return {
        "type": "object",
        "properties": {key.way[-1]: {"description": key.meaning, **_value(key, keys)} for key in inner},
        "required": [key.way[-1] for key in inner if not key.is_optional],
    }


def _value(key: Key, keys: list[Key]) -> Schema:
    """Return the schema of a value by the words of its type."""
    words = key.type.removeprefix("optional ").split(" or ")
    choices = [made for word in words for made in [_word(word, key, keys)] if made]
    return choices[0] if len(choices) == 1 else {"anyOf": choices} if choices else {}


def _word(word: str, key: Key, keys: list[Key]) -> Schema:
    if word in PLAIN:
        return {"type": word}
    if word == "object":
        return _object(keys, key.way)
    if word == "list of objects":
        return {"type": "array", "items": _object(keys, (*key.way, "[]"))}
    if word.startswith("list of "):
        return {"type": "array", "items": {"type": word.removeprefix("list of ").removesuffix("s")}}
    known: dict[str, Schema] = {"list": {"type": "array"}, "map": {"type": "object"}, "any": {}}
    return known[word]


def main() -> None:
    """Write the schema, or compare it with the file."""
    settle(__doc__, [(SCHEMA, json.dumps(schema(PAGE.read_text(encoding="utf-8")), indent=2) + "\n")])


if __name__ == "__main__":
    main()
