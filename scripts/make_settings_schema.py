"""Make docs/settings.schema.json, a JSON Schema of `[tool.miltext]`, from the readers and the table of the page.

python scripts/make_settings_schema.py          writes it
python scripts/make_settings_schema.py --check  exits with 1 if it would change
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from generated import settle

from miltext.diagnostics.codes import TITLES
from miltext.diagnostics.selection import ALL
from miltext.placement.rules import profiles
from miltext.settings.reading import IDLE, READERS
from miltext.settings.settings import ADVISORIES, NONE, OFF

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE, SCHEMA = DOCS / "settings.md", DOCS / "settings.schema.json"
DRAFT = "http://json-schema.org/draft-07/schema#"  # the one that editors of TOML read, and SchemaStore wants

ROW = re.compile(r"^\| `([a-z-]+)` \| (.+?) \| (.+?) \|$", re.MULTILINE)
LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")

Schema = dict[str, Any]

_CODE: Schema = {"$ref": "#/definitions/code"}
_PATTERN: Schema = {"$ref": "#/definitions/pattern"}
VALUES: dict[str, Schema] = {
    "a list of codes": {"type": "array", "items": _CODE},
    "a list of patterns": {"type": "array", "items": _PATTERN},
    "a table: a pattern, and a list of codes": {
        "type": "object",
        "propertyNames": _PATTERN,
        "additionalProperties": {"type": "array", "items": _CODE},
    },
    "`true` or `false`": {"type": "boolean"},
    "a list of rules": {"type": "array", "items": {"type": "string", "not": {"pattern": r"\.py$"}}},
    '`"off"`, `"usual"` or `"all"`': {"enum": [*ADVISORIES]},
    '`"off"`, or a profile': {"enum": [OFF, *profiles()]},
}
"""The schema of a value, by its words in the table of the page."""


def schema(page: str) -> Schema:
    """Return the schema of the section. Raise ValueError if the page and the readers list different settings."""
    rows = ROW.findall(page)
    if [name for name, _, _ in rows] != list(READERS):
        raise ValueError(f"docs/settings.md must list the settings {', '.join(READERS)}, in this order")
    return {
        "$schema": DRAFT,
        "title": "[tool.miltext] in a pyproject.toml",
        "type": "object",
        "additionalProperties": False,
        "properties": {name: _setting(name, value, meaning) for name, value, meaning in rows},
        "definitions": {"code": _codes(), "pattern": _patterns()},
    }


def _setting(name: str, value: str, meaning: str) -> Schema:
    default = getattr(NONE, name.replace("-", "_"))
    plain = dict(default) if name == "per-file-ignores" else list(default) if isinstance(default, tuple) else default
    return {"description": LINK.sub(r"\1", meaning), "default": plain, **VALUES[value]}


def _codes() -> Schema:
    """Return the schema of a code: completion offers whole codes, and a known beginning of codes is valid, too."""
    beginnings = sorted({code[:end] for code in TITLES for end in range(len("MIL"), len(code))})
    known = "|".join(_any_case(word) for word in (ALL, *beginnings, *TITLES))
    return {"type": "string", "anyOf": [{"enum": [ALL, *TITLES]}, {"pattern": rf"^\s*(?:{known})\s*$"}]}


def _any_case(word: str) -> str:
    return "".join(f"[{letter}{letter.lower()}]" if letter.isalpha() else letter for letter in word)


def _patterns() -> Schema:
    """Return the schema of a pattern: none that matches no file. JSON Schema has JavaScript's expressions."""
    idle = [form.replace(r"\A", "^").replace(r"\Z", "$") for form in IDLE]
    return {"type": "string", "not": {"anyOf": [{"pattern": form} for form in idle]}}


def main() -> None:
    """Write the schema, or compare it with the file."""
    settle(__doc__, [(SCHEMA, json.dumps(schema(PAGE.read_text(encoding="utf-8")), indent=2) + "\n")])


if __name__ == "__main__":
    main()
