"""Signature help: the parameters of the operation that is being written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from miltext.lsp.context import context_at
from miltext.lsp.documents import offset_of
from miltext.lsp.operations import described_parameter, known_signature

if TYPE_CHECKING:
    from miltext.lsp.documents import View

OPTIONS = lsp.SignatureHelpOptions(trigger_characters=["(", ","], retrigger_characters=["="])


def signature_help(view: View, params: lsp.SignatureHelpParams) -> lsp.SignatureHelp | None:
    """Return the signature of the operation round a place, and the parameter there, or the first that is still
    missing.
    """
    context = context_at(view, offset_of(view.document.positions, params.position))
    call = context.call()
    known = known_signature(call.operation, context.opset) if call else None
    if call is None or known is None:
        return None
    names = list(known.parameters)
    missing = [name for name in names if name not in call.given]
    current = call.parameter if call.parameter in names else missing[0] if missing else None
    parameters = [
        lsp.ParameterInformation(str(parameter), view.client.markup(described_parameter(known, parameter.name)))
        for parameter in known.parameters.values()
    ]
    place = names.index(current) if current else None
    shown = lsp.SignatureInformation(str(known), parameters=parameters, active_parameter=place)
    return lsp.SignatureHelp([shown], active_signature=0, active_parameter=place)
