"""Completion: the words that fit at a place, the likeliest first; and the signature of the operation around it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from lsprotocol import types as lsp

from miltext.lsp.context import Context, context_at
from miltext.reference.facts import accepted
from miltext.reference.markdown import described_operation, described_parameter, heading
from miltext.schema.dtypes import DTYPES
from miltext.schema.operations import all_names, signature
from miltext.schema.opsets import OPSETS
from miltext.syntax.names import DRAFT, DRAFT_WORDS, name_text
from miltext.syntax.tables import load_grammar

if TYPE_CHECKING:
    from miltext.lsp.client import Abilities
    from miltext.lsp.context import UnfinishedCall
    from miltext.lsp.documents import View
    from miltext.schema.operations import Parameter

MOST = 100
"""The most items sent at once; the client requests more as the word grows."""

OPTIONS = lsp.CompletionOptions(trigger_characters=["(", "=", ",", "<", "[", " "], resolve_provider=True)
SIGNATURE_OPTIONS = lsp.SignatureHelpOptions(trigger_characters=["(", ","], retrigger_characters=["="])

_DTYPE = re.compile(r"[a-z]+[0-9][a-z0-9]*|bool|string")
_MAKERS = ("tensor", "list", "dict", "tuple", "state")


class Proposal(NamedTuple):
    """A completion for a place.

    `detail` is shown beside the text, such as a type. `snippet` is a text with placeholders, for clients that support
    them. `operation` names an operation whose documentation is sent on request.
    """

    text: str
    kind: lsp.CompletionItemKind
    detail: str | None = None
    documentation: str | None = None
    snippet: str | None = None
    operation: str | None = None


def complete(view: View, params: lsp.CompletionParams) -> lsp.CompletionList:
    """Return the completions at a place; after a typed space, only where a value or a parameter follows."""
    document = view.document
    offset = document.offset(params.position)
    typed = params.context.trigger_character if params.context else None
    if typed == " " and not document.text[max(0, offset - 9) : offset].rstrip(" ").endswith(("=", ",")):
        return lsp.CompletionList(False, [])
    context = context_at(view, offset)
    found = _fitting(_items(view, context), context.word)
    edited = document.range(context.start, offset)
    followed = document.text[offset : offset + 1]
    sent = [_sent(view, item, number, edited, context, followed) for number, item in enumerate(found[:MOST])]
    return lsp.CompletionList(len(found) > MOST, sent)


def resolve(item: lsp.CompletionItem, client: Abilities) -> lsp.CompletionItem:
    """Return an operation's item with its documentation."""
    data = item.data
    if isinstance(data, dict) and isinstance(data.get("operation"), str):
        opset = data.get("opset")
        described = described_operation(data["operation"], opset if isinstance(opset, str) else None)
        item.documentation = client.documented(described) if described else None
    return item


def _fitting(items: Iterable[Proposal], word: str) -> list[Proposal]:
    """Return the items whose texts contain the word, those beginning with it first."""
    known: dict[tuple[str, lsp.CompletionItemKind], Proposal] = {}
    for item in items:
        known.setdefault((item.text, item.kind), item)
    wanted = word.lower()
    fitting = [item for item in known.values() if wanted in item.text.lower()]
    return sorted(fitting, key=lambda item: not item.text.lower().startswith(wanted))


def _sent(
    view: View, item: Proposal, number: int, edited: lsp.Range, context: Context, followed: str
) -> lsp.CompletionItem:
    is_snippet = item.snippet is not None and view.client.snippets and followed not in ("(", "<", "=")
    text = item.snippet if is_snippet and item.snippet else item.text
    return lsp.CompletionItem(
        item.text,
        kind=item.kind,
        detail=item.detail,
        documentation=view.client.documented(item.documentation) if item.documentation else None,
        sort_text=f"{number:04}",
        filter_text=item.text,
        insert_text_format=lsp.InsertTextFormat.Snippet if is_snippet else lsp.InsertTextFormat.PlainText,
        text_edit=lsp.TextEdit(edited, text),
        data={"operation": item.operation, "opset": context.opset} if item.operation else None,
    )


# ---- the items


def _items(view: View, context: Context) -> Iterator[Proposal]:
    """Yield the names and words that the grammar allows: words first at the beginning of an operation, which is mostly
    a type.
    """
    keys = context.keys
    names = _names(view, context, keys) if "NAME" in context.expected else ()
    call = context.call() if "NAME" in context.expected and not _is_attribute(keys) else None
    takes_values = call is None or call.signature is None or call.bound or call.placed
    words = _words(context) if takes_values else ()
    yield from chain.from_iterable([words, names] if _begins_operation(keys) else [names, words])
    if call is not None and takes_values:
        yield from _nested(context.opset)


def _begins_operation(keys: list[str]) -> bool:
    return keys[-1:] in ([], ["{"], ["operation"])


def _is_attribute(keys: list[str]) -> bool:
    return keys[-1:] in (["["], ["$["]) or (keys[-1:] == [","] and "[" in keys[-3:])


def _names(view: View, context: Context, keys: list[str]) -> Iterator[Proposal]:
    """Yield the items for a name."""
    if "$draft" in keys:
        given = {node.token for node in context.open}
        yield from (Proposal(word, lsp.CompletionItemKind.Keyword) for word in DRAFT_WORDS if word not in given)
    elif keys[-1:] == ["<"]:
        yield from (Proposal(opset.text, lsp.CompletionItemKind.EnumMember, opset.proto) for opset in OPSETS)
    elif _is_attribute(keys):
        yield Proposal(
            "name", lsp.CompletionItemKind.Property, "the name of the operation", None, 'name = string("$1")'
        )
    elif (call := context.call()) is not None:
        yield from _given(view, context, call)
    elif "->" in keys:
        yield from _values(view, context, None)
    elif keys[-2:] == ["results", "="]:
        yield from _operations(context.opset)
    elif _begins_operation(keys):
        yield Proposal(DRAFT, lsp.CompletionItemKind.Keyword, "a type to be inferred")
        yield from _operations(context.opset)


def _operations(opset: str | None) -> Iterator[Proposal]:
    for name in all_names():
        known = signature(name, opset)
        if known is not None:
            required = [parameter.name for parameter in known.parameters.values() if parameter.required]
            slots = ", ".join(f"{each} = ${{{number}:{each}}}" for number, each in enumerate(required, 1))
            detail = heading(known)
            yield Proposal(name, lsp.CompletionItemKind.Function, detail, None, f"{name}({slots})$0", name)


def _nested(opset: str | None) -> Iterator[Proposal]:
    """Yield the operations that can be nested in another: operations with a single value and without blocks."""
    for name in all_names():
        known = signature(name, opset)
        if known is not None and known.outputs == (1, 1) and not known.blocks:
            required = [each for each in known.positions if known.parameters[each].required]
            slots = ", ".join(f"${{{number}:{each}}}" for number, each in enumerate(required, 1))
            yield Proposal(name, lsp.CompletionItemKind.Function, heading(known), None, f"{name}({slots})$0", name)


def _given(view: View, context: Context, call: UnfinishedCall) -> Iterator[Proposal]:
    """Yield the items for the beginning of an argument or, behind its equals sign, for its value: values before
    parameters once there is a positional argument.
    """
    known = call.signature.parameters if call.signature else {}
    if call.bound:
        yield from _values(view, context, known.get(call.bound))
        return
    values = _values(view, context, known[call.placed]) if call.placed else ()
    yield from chain(values, _parameters(call)) if call.given else chain(_parameters(call), values)


def _parameters(call: UnfinishedCall) -> Iterator[Proposal]:
    """Yield the missing parameters, the required ones first."""
    for parameter in sorted(call.missing, key=lambda each: not each.required):
        kind = lsp.CompletionItemKind.Field if parameter.required else lsp.CompletionItemKind.Property
        described = call.signature and described_parameter(call.signature, parameter.name)
        yield Proposal(parameter.name, kind, accepted(parameter), described, f"{parameter.name} = $0")


def _values(view: View, context: Context, parameter: Parameter | None) -> Iterator[Proposal]:
    """Yield the visible values that contain the word, values that the parameter accepts first, up to a limit."""
    wanted = context.word.lower().lstrip('$"')
    typed = [(each, view.reading.type_of(each)) for each in context.values if wanted in each.name.text.lower()]
    taken = {type_text: _takes(parameter, type_text) for type_text in {type_text for _, type_text in typed}}
    typed.sort(key=lambda each: (not each[0].name.text.lower().startswith(wanted), not taken[each[1]]))
    for value, type_text in typed[: MOST + 1]:
        kind = lsp.CompletionItemKind.Variable if value.operation else lsp.CompletionItemKind.Constant
        yield Proposal(name_text(value.name.text), kind, type_text)


def _takes(parameter: Parameter | None, type_text: str | None) -> bool:
    """Return whether a parameter takes values of a type, by the type's outermost word and its data type."""
    if parameter is None or type_text is None:
        return True
    kind = next((maker for maker in _MAKERS if type_text.startswith(maker)), "tensor").replace("dict", "dictionary")
    dtype = _DTYPE.search(type_text)
    fits = not parameter.dtypes or kind != "tensor" or (dtype is not None and dtype[0] in parameter.dtypes)
    return kind in parameter.kinds and fits


def _words(context: Context) -> Iterator[Proposal]:
    """Yield the words that the grammar allows: of types, and its own; words of miltext's own spelling only after
    a `$`.
    """
    words = [_literals()[terminal] for terminal in context.expected if terminal in _literals()]
    for word in sorted(words, key=lambda word: word != "tensor"):
        if word[0] != "$" or context.word[:1] == "$":
            snippet = "tensor<${1:fp16}, [$2]>" if word == "tensor" else None
            yield Proposal(word, lsp.CompletionItemKind.Keyword, None, None, snippet)
    if "DTYPE" in context.expected and "BLOBFILE" not in context.expected:
        yield from (Proposal(dtype.name, lsp.CompletionItemKind.TypeParameter, "data type") for dtype in DTYPES)
    if "BOOL" in context.expected:
        yield from (Proposal(word, lsp.CompletionItemKind.Value) for word in ("true", "false"))


@lru_cache(maxsize=1)
def _literals() -> dict[str, str]:
    """Return the words that the grammar itself writes, by terminal."""
    return {
        terminal.name: terminal.literal
        for terminal in load_grammar().terminals
        if terminal.literal and re.fullmatch(r"\$?[A-Za-z_]+", terminal.literal)
    }


# ---- signature help


def signature_help(view: View, params: lsp.SignatureHelpParams) -> lsp.SignatureHelp | None:
    """Return the signature of the operation around a place, and the parameter there, or the first missing one."""
    context = context_at(view, view.document.offset(params.position))
    call = context.call()
    known = call.signature if call else None
    if call is None or known is None:
        return None
    names = list(known.parameters)
    first = call.placed or next((each.name for each in call.missing), None)
    current = call.bound if call.bound in names else first
    parameters = [
        lsp.ParameterInformation(str(parameter), view.client.markup(described_parameter(known, parameter.name)))
        for parameter in known.parameters.values()
    ]
    place = names.index(current) if current else None
    shown = lsp.SignatureInformation(str(known), parameters=parameters, active_parameter=place)
    return lsp.SignatureHelp([shown], active_signature=0, active_parameter=place)
