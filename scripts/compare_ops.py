"""Tell what the coremltools that is installed would change in src/miltext/schema/ops.json; exit 1 if that is anything.

Nothing is written. Install a newer coremltools than the table's, run this, and settle each line: in the tables of
`make_ops.py` and `op_facts`, in `miltext.schema` (an opset, a data type) or in a rule of `miltext.checking.inference`.
What an op computes from its arguments is not in the registry: read the changes to coremltools/converters/mil/mil/ops.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import make_ops

from miltext.schema.dtypes import BY_NAME
from miltext.schema.opsets import OPSETS

Facts = Mapping[str, Any]


def installed() -> tuple[make_ops.Table, dict[str, str]]:
    """Return the table as the coremltools that is installed has it, and why ops could not be read, by name."""
    read = {name: _read(name, reader) for name, reader in make_ops.readers().items()}
    unread = {name: found for name, found in read.items() if isinstance(found, str)}
    return {name: found for name, found in read.items() if not isinstance(found, str)}, unread


def _read(name: str, reader: Callable[[], make_ops.Versions]) -> make_ops.Versions | str:
    try:
        versions = reader()
    except Exception as error:  # noqa: BLE001  # a newer registry may hold what make_ops does not know
        return f"{type(error).__name__}: {error}"
    make_ops.add_facts(name, versions)
    return versions


def differences(old: make_ops.Table, new: make_ops.Table, unread: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each difference, by op."""
    for word, known in (("opset", {opset.text for opset in OPSETS}), ("data type", BY_NAME)):
        yield from (f"the {word} {name} is not known" for name in sorted(_named(new, word) - {*known}))
    for name in sorted({*old, *new, *unread}):
        if name in unread:
            yield f"{name}: cannot be read: {unread[name]}"
        elif name not in new:
            yield f"{name}: is gone"
        elif name not in old:
            yield from (f"{name}<{version['opset']}>: is new: {_said(version)}" for version in new[name])
        else:
            yield from _versions(name, old[name], new[name])


def _named(table: make_ops.Table, word: str) -> set[str]:
    """Return the opsets or the data types that a table speaks of."""
    versions = [version for versions in table.values() for version in versions]
    if word == "opset":
        return {version["opset"] for version in versions}
    return {
        dtype
        for version in versions
        for facts in version["parameters"].values()
        for dtype in facts.get("dtypes", "").split()
    }


def _versions(name: str, old: make_ops.Versions, new: make_ops.Versions) -> Iterator[str]:
    before = {version["opset"]: version for version in old}
    yield from (f"{name}<{opset}>: is gone" for opset in before.keys() - {version["opset"] for version in new})
    for place, version in enumerate(new):
        head = f"{name}<{version['opset']}>"
        if version["opset"] in before:
            yield from _changes(head, before[version["opset"]], version)
        else:
            earlier = new[place - 1] if place else None
            yield f"{head}: is new" + (f", after {name}<{earlier['opset']}>" if earlier else "")
            yield from _changes(head, earlier or {"parameters": {}}, version)


def _changes(head: str, old: Facts, new: Facts) -> Iterator[str]:
    """Yield what one version of an op has otherwise than another."""
    yield from _facts(head, {**old, "opset": "", "parameters": ""}, {**new, "opset": "", "parameters": ""})
    before, after = old["parameters"], new["parameters"]
    for parameter in sorted({*before, *after}):
        what = f"{head}: `{parameter}`"
        if parameter not in after:
            yield f"{what} is gone"
        elif parameter not in before:
            yield f"{what} is new: {_said(after[parameter])}"
        else:
            yield from _facts(what, before[parameter], after[parameter])


def _facts(head: str, old: Facts, new: Facts) -> Iterator[str]:
    for fact in sorted({*old, *new}):
        if old.get(fact) != new.get(fact):
            yield f"{head}: {fact} {_said(new.get(fact))}, was {_said(old.get(fact))}"


def _said(value: object) -> str:
    return "not said" if value is None else json.dumps(value)


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    logging.disable(logging.WARNING)  # coremltools greets with what it cannot load here
    import coremltools

    found = list(differences(json.loads(make_ops.TABLE.read_text(encoding="utf-8")), *installed()))
    counted = f"{len(found)} difference{'s' * (len(found) != 1)}"
    print(*found, f"coremltools {coremltools.__version__}: {counted}", sep="\n")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
