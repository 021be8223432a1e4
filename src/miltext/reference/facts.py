"""Facts about an operation and its parameters from the table of operations, as phrases and as spellings."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from miltext.schema.dtypes import DTYPES
from miltext.schema.operations import versions
from miltext.schema.opsets import OPSETS

if TYPE_CHECKING:
    from miltext.schema.operations import Parameter, Signature
    from miltext.schema.shape_patterns import Pattern

LEFT_OPEN = "…"
"""The placeholder for a value in a spelling."""

_FEW = 3
"""The most named parameters of one data type."""


# ---- an operation


def draft_spelling(known: Signature) -> str:
    """Return the spelling of an operation in a draft: `conv(x, weight, bias = …)`, required arguments by position."""
    given = [known.parameters[name] for name in known.positions]
    return _spelled(known, [_short(parameter) for parameter in given if not parameter.attribute])


def apples_spelling(known: Signature) -> str:
    """Return the spelling of an operation by Apple's compiler: `conv(bias? = …, weight = …)`, with sorted names."""
    given = sorted(parameter for parameter in known.parameters.values() if not parameter.attribute)
    return _spelled(known, [_named(parameter) for parameter in given])


def _spelled(known: Signature, given: list[str]) -> str:
    kept = [_named(parameter) for parameter in known.parameters.values() if parameter.attribute]
    attributes = f"[{', '.join(kept)}]" if kept else ""
    inputs = [LEFT_OPEN if block.inputs else "" for block in known.blocks]
    blocks = "".join(f" ({each}) {{ {LEFT_OPEN} }} -> ({LEFT_OPEN})" for each in inputs)
    return f"{known.name}({', '.join(given + [LEFT_OPEN] * known.open)}){attributes}{blocks}"


def _named(parameter: Parameter) -> str:
    return f"{parameter.name}{'' if parameter.required else '?'} = {LEFT_OPEN}"


def _short(parameter: Parameter) -> str:
    if parameter.required:
        return f"({parameter.name}, {LEFT_OPEN})" if parameter.variadic else parameter.name
    return f"{parameter.name} = {LEFT_OPEN if parameter.default is None else json.dumps(parameter.default)}"


def outline(known: Signature) -> str:
    """Return the first opset of an operation and of this version, its outputs, blocks and removed parameters."""
    since = versions(known.name)[0].opset
    least, most = known.outputs
    outputs = f"{least}" if least == most else f"{least} or more" if most is None else f"{least} to {most}"
    facts = [f"since {since}"]
    facts += [f"this version since {known.opset}"] * (known.opset != since)
    facts += [f"outputs: {outputs}"] * ((least, most) != (1, 1))
    facts += [f"blocks: {', '.join(block.name for block in known.blocks)}"] if known.blocks else []
    facts += [f"`{name}` until {last}" for name, last in _gone(known)]
    return "; ".join(facts)


def _gone(known: Signature) -> Iterator[tuple[str, str]]:
    """Yield the parameters of older versions that this one lacks, with the last opset that has them."""
    older = versions(known.name, known.opset)
    texts = [opset.text for opset in OPSETS]
    for version, following in pairwise(older):
        for name in version.parameters:
            if name not in following.parameters:
                yield name, texts[texts.index(following.opset) - 1]


# ---- a parameter


def accepted(parameter: Parameter) -> str:
    """Return the accepted values of a parameter: data types, and other kinds."""
    tensors = ordered(parameter.dtypes) or ["any tensor"] * ("tensor" in parameter.kinds)
    return " | ".join([*tensors, *sorted(parameter.kinds - {"tensor"})])


def facts_of(known: Signature, name: str) -> list[str]:
    """Return a phrase for each fact about a parameter, except for its types."""
    parameter = known.parameters[name]
    return [
        "required" if parameter.required else "optional",
        *["a compile-time constant"] * parameter.constant,
        *["an attribute"] * parameter.attribute,
        *["any number of values"] * parameter.variadic,
        *_default(parameter),
        *_shape(parameter.shape),
        *_limits(parameter),
        *_shared(known, parameter),
        *_constant_before(known, parameter),
        *_since(known, parameter),
    ]


def ranks(shape: Iterable[Pattern]) -> tuple[int, int | None]:
    """Return the least and the highest rank of shapes, None for no limit."""
    found = [pattern.ranks for pattern in shape] or [(0, None)]
    highest = [most for _, most in found if most is not None]
    return min(least for least, _ in found), max(highest) if len(highest) == len(found) else None


def _default(parameter: Parameter) -> Iterator[str]:
    if parameter.asked is not None:
        yield f"by default `{json.dumps(parameter.asked)}`, better written out, as some systems require it"
    elif parameter.default is not None:
        yield f"by default `{json.dumps(parameter.default)}`"


def _shape(shape: tuple[Pattern, ...]) -> Iterator[str]:
    least, most = ranks(shape)
    if most == 0:
        yield "a scalar"
    elif shape:
        yield f"shape {' or '.join(f'`{pattern.text}`' for pattern in shape)}"
        if most is None or least != most:
            yield f"rank {least} to {most}" if most is not None else f"rank {least} or more"


def _limits(parameter: Parameter) -> Iterator[str]:
    least, most = parameter.least, parameter.most
    if least and most:
        yield f"from `{least.text}` to `{most.text}`"
    elif least:
        yield f"at least `{least.text}`"
    elif most:
        yield f"at most `{most.text}`"
    if parameter.words:
        yield f"one of {', '.join(f'`{json.dumps(word)}`' for word in parameter.words)}"
    if parameter.axes:
        yield f"counts `{parameter.axes.text}` axes, from the end if negative"


def _shared(known: Signature, parameter: Parameter) -> Iterator[str]:
    if others := sharing(known, parameter):
        more = f" and {len(others) - _FEW} more" if len(others) > _FEW else ""
        yield f"of the data type of {', '.join(f'`{name}`' for name in others[:_FEW])}{more}"


def _constant_before(known: Signature, parameter: Parameter) -> Iterator[str]:
    """Yield the opset from which a parameter need not be a constant, if it had to be one before."""
    if not parameter.constant:
        having = [each for each in versions(known.name, known.opset) if parameter.name in each.parameters]
        free = next(each.opset for each in having if not each.parameters[parameter.name].constant)
        if free != having[0].opset:
            yield f"before {free} a compile-time constant"


def _since(known: Signature, parameter: Parameter) -> Iterator[str]:
    """Yield the first opset of a parameter, if not the operation's, and the first opsets of further data types."""
    since = arrival(known, parameter)
    if since != versions(known.name)[0].opset:
        yield f"since {since}"
    before = frozenset[str]()
    for version in versions(known.name, known.opset):
        taken = version.dtypes(parameter.name)
        if before and taken - before:
            yield f"{' | '.join(ordered(taken - before))} since {version.opset}"
        before |= taken


def sharing(known: Signature, parameter: Parameter) -> list[str]:
    """Return the other parameters with the same data type as a parameter."""
    alike = [each.name for each in known.parameters.values() if each.domain and each.domain == parameter.domain]
    return [name for name in alike if name != parameter.name]


def arrival(known: Signature, parameter: Parameter) -> str:
    """Return the first opset of a parameter of an operation."""
    having = [each.opset for each in versions(known.name, known.opset) if parameter.name in each.parameters]
    return having[0]


def ordered(dtypes: Iterable[str]) -> list[str]:
    """Return data types in the order of their table."""
    known = set(dtypes)
    return [dtype.name for dtype in DTYPES if dtype.name in known]
