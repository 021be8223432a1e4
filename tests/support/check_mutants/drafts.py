"""A mutant as a draft, without the types of its outputs: what `check` and `infer_draft` make of it."""

from __future__ import annotations

import os
import traceback
from typing import NamedTuple

from support.check_mutants.loader import refusal

from miltext.advisories.check import check
from miltext.checking.inference import infer_types
from miltext.diagnostics import ParseError, PrintError, Span
from miltext.drafting.draft import infer_draft
from miltext.parsing.parser import parse, parse_tree
from miltext.parsing.spans import phrases_by_path
from miltext.printing.printing import to_text
from miltext.schema.dtypes import BY_NAME
from miltext.schema.proto import Program
from miltext.schema.types import DictionaryType, ListType, StateType, TensorType, TupleType

REFUSED = "refused"
COMPLETED = "completed"
NOT_LOADED = "completed, not loaded by coremltools"
CRASH = "CRASH"
NO_TYPE = "a type that is none"
WRONG = "completed, with errors"
NO_TEXT = "no text"
RESULTS = (REFUSED, COMPLETED, NOT_LOADED, CRASH, NO_TYPE, WRONG, NO_TEXT)
BAD = (CRASH, NO_TYPE, WRONG)


class Tried(NamedTuple):
    """What became of a draft, in one of the RESULTS, and more words about it."""

    result: str
    words: str = ""


def tried(program: Program) -> Tried:
    """Check a Program as a draft, infer its types, and check what was written; also as one without literals' types."""
    try:
        return _tried(program)
    except Exception as failure:  # noqa: BLE001  # nothing but a ParseError may be raised
        return Tried(CRASH, raised(failure))


def raised(failure: Exception) -> str:
    """Return what an exception says, and which line raised it."""
    frame = traceback.extract_tb(failure.__traceback__)[-1]
    return f"{os.path.basename(frame.filename)}:{frame.lineno}: {type(failure).__name__}: {failure}"[:300]


def _tried(program: Program) -> Tried:
    if wrong := _wrong_types(program):
        return Tried(NO_TYPE, wrong)
    try:
        text = to_text(program)
    except PrintError:
        return Tried(NO_TEXT)
    found = [_inferred(draft) for draft in (without_types(text), without_types(text, of_literals=True))]
    return next((each for each in found if each.result in BAD), found[0])


def _inferred(draft: str) -> Tried:
    check(draft)
    try:
        written = infer_draft(draft)
    except ParseError:
        return Tried(REFUSED)
    return _completed(written)


def _completed(text: str) -> Tried:
    errors = [each for each in check(text) if each.severity == "error"]
    if errors:
        return Tried(WRONG, f"{errors[0].code}: {errors[0].message}")
    refused = refusal(parse(text))
    if refused is not None and not refused.is_limit:
        return Tried(NOT_LOADED, f"{refused.kind}: {refused.message}")
    return Tried(COMPLETED)


def without_types(text: str, *, of_literals: bool = False) -> str:
    """Return a text with `_` in the place of each type that an output of an operation states.

    Literals that operations are given may lose theirs, too.
    """
    edits = list[tuple[Span, str]]()
    for path, phrase in phrases_by_path(parse_tree(text, whole=True).root):
        if len(path) > 6 and path[-3] == "outputs" and path[-1] == "type":
            edits.append((phrase.span, "_"))
        elif of_literals and path[-3:-2] == ("arguments",) and path[-1] == "value":
            literal = phrase.children[-2].span
            edits.append((phrase.span, text[literal.start : literal.end]))
    pieces, end = list[str](), 0
    for span, replaced in sorted(edits):
        pieces += text[end : span.start], replaced
        end = span.end
    return "".join([*pieces, text[end:]])


def _wrong_types(program: Program) -> str:
    """Return an inferred type that holds something else than types and sizes."""
    inferred = (each for inference in infer_types(program) for each in inference.inferred or ())
    return next((repr(each) for each in inferred if not is_type(each)), "")


def is_type(made: object) -> bool:
    """Whether a type is made of types and of sizes: whole numbers from 0 on, and None."""
    if isinstance(made, TensorType):
        return made.dtype in BY_NAME and all(map(is_size, made.shape))
    if isinstance(made, ListType):
        return is_size(made.length) and is_type(made.element)
    if isinstance(made, TupleType):
        return all(map(is_type, made.types))
    if isinstance(made, DictionaryType):
        return is_type(made.key) and is_type(made.value)
    return is_type(made.wrapped) if isinstance(made, StateType) else made is None


def is_size(size: object) -> bool:
    return size is None or (type(size) is int and size >= 0)
