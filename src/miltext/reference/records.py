"""Operations as records, as in the output of `miltext ops --json`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.diagnostics.arguments import checked
from miltext.reference.facts import apples_spelling, arrival, draft_spelling, ordered, ranks, sharing
from miltext.reference.searching import find
from miltext.schema.operations import signature, versions

if TYPE_CHECKING:
    from miltext.diagnostics.dynamic import Record
    from miltext.reference.entries import Entry
    from miltext.schema.operations import Parameter, Signature


@checked()
def operations(*words: str, opset: str | None = None, family: str | None = None) -> list[Record]:
    """Return a record of each operation that the words name, or else of each operation whose texts contain all words;
    without words, of all operations.

    Args:
        words: Names of operations, or words of their descriptions.
        opset: An opset such as `ios17`, whose operations and versions are returned.  [the newest]
        family: A family such as `pooling`, whose operations are returned.

    Returns:
        The records, as in `miltext ops --json`.

    Raises:
        ValueError: An unknown word, opset or family, with a suggestion.

    Example:
        names = [each["name"] for each in miltext.operations("matrix", "product")]
    """
    found = find(words, opset, family)
    return [record(entry, found.opset) for entry in found.entries]


def record(entry: Entry, opset: str | None = None) -> Record:
    """Return all facts about the version of an operation in an opset. Raise KeyError if the opset lacks it."""
    known = signature(entry.name, opset)
    if known is None:
        raise KeyError(entry.name)
    return {
        "name": entry.name,
        "family": entry.family,
        "description": entry.description,
        "since": versions(entry.name)[0].opset,
        "opset": known.opset,
        "versions": [version.opset for version in versions(entry.name)],
        "draft": draft_spelling(known),
        "apple": apples_spelling(known),
        "parameters": [_parameter(known, known.parameters[name], entry.note(name)) for name in known.positions],
        "open": known.open,
        "outputs": list(known.outputs),
        "blocks": [block.name for block in known.blocks],
        "result": entry.result,
        "example": entry.example(opset)._asdict(),
    }


def _parameter(known: Signature, parameter: Parameter, note: str | None) -> Record:
    """Return all facts about a parameter; a fact that does not apply, or has no limit, is null or empty."""
    return {
        "name": parameter.name,
        "note": note,
        "required": parameter.required,
        "dtypes": ordered(parameter.dtypes),
        "kinds": sorted(parameter.kinds),
        "constant": parameter.constant,
        "attribute": parameter.attribute,
        "variadic": parameter.variadic,
        "default": parameter.default,
        "asked": parameter.asked,
        "shape": [pattern.text for pattern in parameter.shape],
        "rank": list(ranks(parameter.shape)),
        "least": parameter.least and parameter.least.text,
        "most": parameter.most and parameter.most.text,
        "words": list(parameter.words),
        "axes": parameter.axes and parameter.axes.text,
        "sameTypeAs": sharing(known, parameter),
        "since": arrival(known, parameter),
    }
