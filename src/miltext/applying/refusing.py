"""Errors about a Difference that cannot be carried out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.diagnostics import codes
from miltext.files.refusals import refusal

if TYPE_CHECKING:
    from miltext.diagnostics import ModelError


def other_model(what: str, name: str) -> ModelError:
    """Return the error about a model other than the Difference's old one."""
    return refusal(codes.DIFFERENCE_OF_ANOTHER_MODEL, f"this is not the old model of the difference: {what}", name)


def not_applicable(what: str, name: str) -> ModelError:
    """Return the error about a compared part whose edit cannot be carried out."""
    return refusal(codes.PART_NOT_APPLICABLE, what, name)


def lacking(what: str, name: str) -> ModelError:
    """Return the error about an entry that the others need."""
    return refusal(codes.LACKING_ENTRY, f"the difference lacks an entry: {what}", name)
