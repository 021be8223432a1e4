"""Operations, parameters and opsets in Markdown: for editors, and for the page of the documentation."""

from __future__ import annotations

from collections.abc import Iterator

from miltext.reference.entries import Entry, entries, families
from miltext.reference.facts import accepted, apples_spelling, draft_spelling, facts_of, outline
from miltext.schema.operations import Signature, signature
from miltext.schema.opsets import OPSET_BY_NAME

_HEAD = """\
# Operations

This page describes each operation of MIL that coremltools 9.0 knows: its computation, its parameters, and an example.
`miltext ops` prints the same text: `miltext ops conv` describes one operation, and `miltext ops matrix product` lists
the operations whose descriptions contain these words.

- The first spelling of each operation is for a [draft](language.md#drafts): required arguments without names, then
  optional arguments with their names and defaults. The second spelling is that of Apple's compiler: all arguments by
  name, sorted. `?` marks an optional argument.
- In a shape, a letter is a size, the same for all parameters of the operation. `*d` stands for several sizes, and `#d`
  for their number; `...` stands for any sizes, and `?` for any size.
- The examples are drafts of the opset that they name: `miltext ops NAME --example` prints the example of an operation,
  and `miltext infer` adds its types.

`miltext ops --json` writes an object whose `operations` are records, also of one operation, and
`miltext.operations(*words, opset=None, family=None)` returns them. Keys of a record:

- `name`, `family` and `description`;
- `opset`, of the version shown; `versions`, the opsets of all versions; `since`, the first of these;
- `draft` and `apple`, the two spellings;
- `parameters`, in the order of a draft's arguments: `name`; `note`, its purpose; `dtypes` and `shape`, both empty if
  any is accepted; `rank`, the least and the highest, null for no limit; `kinds` of values; `required`, `constant`,
  `attribute` and `variadic`, true or false; `default`; `asked`, a default that some systems require to be written;
  `least` and `most`, which may be sizes; `words`, if only these are accepted; `axes`, the number of axes that it
  indexes; `sameTypeAs`, the parameters that share its data type; `since`;
- `open`, whether it accepts inputs besides its parameters; `outputs`, the least and the most; `blocks`;
- `result`, the type of the result; `example`, with its `opset` and `text`.

`scripts/make_operations_page.py` makes this page from `src/miltext/reference/operations.txt` and the table of
operations.
"""


def described_operation(name: str, opset: str | None) -> str | None:
    """Return Markdown about the version of an operation in an opset; None for an unknown operation."""
    known = known_signature(name, opset)
    if known is None:
        return None
    missing = "" if signature(name, opset) else f"; this function, of {opset}, cannot use it"
    return "\n".join([f"```\n{heading(known)}\n```", *_described(known, entries().get(name), missing)])


def known_signature(name: str, opset: str | None) -> Signature | None:
    """Return the signature of an operation in an opset, else the newest; None for an unknown operation."""
    return signature(name, opset) or signature(name)


def heading(known: Signature) -> str:
    """Return the signature on a line, with the names of all parameters: `add<ios15>(x, y)`."""
    names = [name if parameter.required else f"{name}?" for name, parameter in known.parameters.items()]
    return f"{known.name}<{known.opset}>({', '.join(names + ['...'] * known.open)})"


def described_parameter(known: Signature, name: str) -> str:
    """Return a line of Markdown about a parameter of an operation."""
    entry = entries().get(known.name)
    note = entry.note(name) if entry else None
    line = f"`{name}`: {accepted(known.parameters[name])}; {', '.join(facts_of(known, name))}"
    return f"{line}. {note[0].upper()}{note[1:]}" if note else line


def described_opset(name: str) -> str | None:
    """Return Markdown about an opset; None if it is unknown."""
    found = OPSET_BY_NAME.get(name)
    if found is None:
        return None
    also = "".join(f", or `{alias}`" for alias in found.aliases)
    models = f"for models of specification version {found.specification} or later"
    return f"`{found.text}`{also}: opset `{found.proto}`, {models}"


def operations_page() -> str:
    """Return the page of all operations."""
    lines = [_HEAD, "| family | operations |", "|---|---|"]
    for family, about in families().items():
        names = ", ".join(f"[{entry.name}](#{entry.name})" for entry in entries().values() if entry.family == family)
        lines.append(f"| {family}: {about.description} | {names} |")
    for family, about in families().items():
        lines += ["", f"## {family.capitalize()}", "", f"{about.description[0].upper()}{about.description[1:]}."]
        for entry in entries().values():
            lines += _section(entry) if entry.family == family else []
    return "\n".join(lines) + "\n"


def _section(entry: Entry) -> Iterator[str]:
    known = signature(entry.name)
    if known is not None:
        yield from ("", f"### {entry.name}", "", f"```mil\n{draft_spelling(known)}\n{apples_spelling(known)}\n```", "")
        yield from _described(known, entry)


def _described(known: Signature, entry: Entry | None, more: str = "") -> Iterator[str]:
    """Yield lines about an operation: its computation, opsets, parameters, type of the result, and an example."""
    yield from (f"{entry.description}.", "") if entry else ()
    yield from (outline(known) + more, "")
    yield from (f"- {described_parameter(known, name)}" for name in known.parameters)
    if entry:
        yield from ("", f"Result: {entry.result}.", "", f"```mil\n{entry.example(known.opset).text}```")
