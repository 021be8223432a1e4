"""Operations and parameters in words: what hovering, completion and signature help say of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from miltext.schema.operations import first_opset, signature
from miltext.schema.opsets import OPSETS

if TYPE_CHECKING:
    from miltext.schema.operations import Parameter, Signature


def described_operation(name: str, opset: str | None) -> str | None:
    """Return Markdown about an operation as an opset has it; None where nothing is known of it."""
    since, known = first_opset(name), known_signature(name, opset)
    if since is None or known is None:
        return None
    lines = [f"- {described_parameter(known, name)}" for name in known.parameters]
    outline = _outline(known, since) + ("" if signature(name, opset) else f"; this function, of {opset}, cannot use it")
    return "\n".join([f"```\n{heading(known)}\n```", outline, "", *lines]).rstrip()


def known_signature(name: str, opset: str | None) -> Signature | None:
    """Return the signature of an operation in an opset or, where it came later, its newest; None where nothing is
    known.
    """
    return signature(name, opset) or signature(name)


def heading(known: Signature) -> str:
    """Return the signature in a line, with every parameter by its name: `add<ios15>(x, y)`."""
    names = [name if parameter.required else f"{name}?" for name, parameter in known.parameters.items()]
    return f"{known.name}<{known.opset}>({', '.join(names + ['...'] * known.open)})"


def described_parameter(known: Signature, name: str) -> str:
    """Return a line of Markdown about a parameter of an operation."""
    parameter = known.parameters[name]
    alike = [
        f"`{each.name}`"
        for each in known.parameters.values()
        if each.domain and each.domain == parameter.domain and each.name != name
    ]
    facts = ["required" if parameter.required else "optional"]
    facts += ["a compile-time constant"] * parameter.constant
    facts += ["any number of values"] * parameter.variadic
    facts += [f"by default `{json.dumps(parameter.default)}`"] if parameter.default is not None else []
    facts += [f"of the data type of {', '.join(alike)}"] if alike else []
    return f"`{name}`: {accepted(parameter)}; {', '.join(facts)}"


def accepted(parameter: Parameter) -> str:
    """Return what a parameter takes: its data types, or what is not a tensor."""
    kinds = sorted(parameter.kinds - {"tensor"})
    dtypes = sorted(parameter.dtypes)
    return " | ".join([*dtypes, *kinds]) or "any type"


def _outline(known: Signature, since: str) -> str:
    """Return the version of a signature, how many outputs it has, and its blocks."""
    least, most = known.outputs
    outputs = f"{least}" if least == most else f"{least} or more" if most is None else f"{least} to {most}"
    facts = [f"since {since}"]
    later = known.opset != since
    facts += [f"this version since {known.opset}"] * later
    facts += [f"outputs: {outputs}"] * ((least, most) != (1, 1))
    facts += [f"blocks: {', '.join(block.name for block in known.blocks)}"] if known.blocks else []
    return "; ".join(facts)


def described_opset(name: str) -> str | None:
    """Return Markdown about an opset; None where it is not known."""
    found = next((opset for opset in OPSETS if opset.text == name), None)
    if found is None:
        return None
    return f"`{found.text}`: opset `{found.proto}`, for models of specification version {found.specification} or later"
