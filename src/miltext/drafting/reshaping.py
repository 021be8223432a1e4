"""Reshaping of a text to other sizes of its inputs, with all dependent changes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from miltext.checking.findings import counted, named
from miltext.checking.verifier import found_in
from miltext.descriptions.sizes import Size, shape_of, spell_sizes
from miltext.diagnostics import Note, ParseError, codes, warning
from miltext.diagnostics.suggestions import did_you_mean, nearest
from miltext.diagnostics.wording import listed
from miltext.drafting.draft import infer_anew
from miltext.files.refusals import refusal
from miltext.parsing.parser import parse_tree
from miltext.printing.flexible_shapes import ATTRIBUTE
from miltext.printing.printer import type_text
from miltext.schema.types import StateType, TensorType, read_type, show, write_type
from miltext.syntax.phrases import attributes_named, functions, string_of
from miltext.syntax.tree import walk

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from pathlib import Path

    from miltext.checking.retyping import Inputs
    from miltext.descriptions.sizes import Sizes
    from miltext.diagnostics import Diagnostic
    from miltext.drafting.draft import Completed
    from miltext.schema.proto import NamedValueType, Program
    from miltext.schema.types import Type


NOT_ALL_FIT = Note(
    "where only some sizes of a range fit, list those as `enumeratedShapes` in the `description=` of a build"
)

ENDS = 2
"""The number of tried sizes at the ends of a range."""


def reshape(
    text: str,
    sizes: Mapping[str, Sizes],
    *,
    function: str | None = None,
    path: str | None = None,
    weights: Path | None = None,
    on_warning: Callable[[Diagnostic], object] | None = None,
) -> str:
    """Return a text with other sizes for inputs and states, and with the types that follow from them.

    Comments, layout, and the omissions of a draft stay. All functions that have such an input are changed, or only
    `function`. A range of sizes is a `?` in the text, and the text must be correct for its least and its greatest size,
    the size after the least, and a size in the middle; sizes of several ranges are tried together. Constants that
    follow from sizes get their values for the new sizes; constants in weight files are read in the folder `weights`.
    `on_warning` gets the open decisions: constants that were written anew (MIL490) or may have to be (MIL491), and
    types that may be out of date (MIL436).

    Raise ParseError with the errors that `check` finds in the result, and constants that do not fit the new sizes and
    cannot be computed for them (MIL492), at their places in the text; ModelError: MIL430 for an unknown function or
    input, MIL435 for sizes that an input cannot have.
    """
    for tried, notes in _tried(sizes).items():
        _inferred(text, dict(tried), function, path, weights, notes)
    made = _inferred(text, sizes, function, path, weights)
    outdated = [
        each
        for each in made.diagnostics
        if each.code in (codes.OUTDATED_SIZE, codes.CONSTANT_RESIZED, codes.CONSTANT_MAY_FOLLOW)
    ]
    for each in [*_listed_by_the_compiler(text, sizes), *outdated]:
        if on_warning:
            on_warning(each)
    return made.text or ""


def _listed_by_the_compiler(text: str, names: Collection[str]) -> Iterator[Diagnostic]:
    """Yield warnings about the attribute in which Apple's compiler notes flexible shapes, if it has these names."""
    root = parse_tree(text, whole=True).root if ATTRIBUTE in text else None
    for function in functions(root) if root else ():
        for attribute in attributes_named(function, ATTRIBUTE):
            strings = [string_of(token) for token in walk(attribute) if token.name == "STRING"]
            if not set(names).isdisjoint(strings):
                message = f"{ATTRIBUTE} has the old shapes; remove it, or write the new shapes"
                yield warning(codes.OUTDATED_SIZE, message)._replace(span=attribute.children[0].span)


def _tried(sizes: Mapping[str, Sizes]) -> dict[tuple[tuple[str, Sizes], ...], tuple[Note, ...]]:
    """Return the tried sizes of ranges with an end, with notes for errors at these sizes; none without such a range."""
    if all(size.is_fixed or size.greatest is None for each in sizes.values() for size in each):
        return {}
    found: dict[tuple[tuple[str, Sizes], ...], tuple[Note, ...]] = {}
    for which, choose in enumerate((_least, _greatest, _next, _middle)):
        tried = {name: tuple(_only(each, choose) for each in every) for name, every in sizes.items()}
        where = Note(f"this error occurs with {_stated(tried)}, which the range includes")
        found.setdefault((*tried.items(),), (where, NOT_ALL_FIT) if which >= ENDS else (where,))
    return found


def _only(size: Size, choose: Callable[[int, int], int]) -> Size:
    """Return a range narrowed to a single size; a fixed size, or a range without an end, stays unchanged."""
    if size.is_fixed or size.greatest is None:
        return size
    chosen = choose(max(size.least, 1), size.greatest)
    return Size(chosen, chosen)


def _least(least: int, _greatest: int) -> int:
    return least


def _greatest(_least: int, greatest: int) -> int:
    return greatest


def _next(least: int, greatest: int) -> int:
    return min(least + 1, greatest)


def _middle(least: int, greatest: int) -> int:
    return (least + greatest) // 2


def _stated(sizes: Mapping[str, Sizes]) -> str:
    return " ".join(f"`{name}={spell_sizes(each)}`" for name, each in sizes.items())


def _inferred(
    text: str,
    sizes: Mapping[str, Sizes],
    function: str | None,
    path: str | None,
    weights: Path | None,
    notes: tuple[Note, ...] = (),
) -> Completed:
    """Return a text with inputs of these sizes. Raise as `reshape` does, with these `notes`.

    An error that the text already has is left out, unless it prevents the inference of types.
    """
    made = infer_anew(text, path, partial(_types, sizes=sizes, function=function, path=path), weights)
    wrong = [each for each in made.diagnostics if each.severity == "error"]
    if wrong and made.text is not None:
        before = {(each.code, each.message) for each in found_in(text, path=path)}
        wrong = [each for each in wrong if (each.code, each.message) not in before]
    first = [each for each in wrong if each.code == codes.IMPOSSIBLE_PACKAGE_SIZE][:1]  # others follow from it
    known = {each.span for each in wrong if each.code == codes.CONSTANT_CANNOT_FOLLOW}
    wrong = first or [each for each in wrong if each.code == codes.CONSTANT_CANNOT_FOLLOW or each.span not in known]
    if wrong:
        raise ParseError([each._replace(notes=(*each.notes, *notes)) for each in wrong], text=text, path=path)
    return made


# ---- the requested sizes


def _types(program: Program, *, sizes: Mapping[str, Sizes], function: str | None, path: str | None) -> Inputs:
    """Return the types of inputs of these sizes, in each function that has one. Raise ModelError: MIL430, MIL435."""
    functions = chosen_functions(program.functions, function, path)
    inputs = {each: {value.name: value for value in program.functions[each].inputs} for each in functions}
    require_inputs(sizes, {name for values in inputs.values() for name in values}, path)
    others = (Note("choose one of the functions, if only one is meant"),) if len(functions) > 1 else ()
    return {
        each: {
            name: _reshaped(values[name], requested, each, path, others)
            for name, requested in sizes.items()
            if name in values
        }
        for each, values in inputs.items()
    }


def chosen_functions(functions: Collection[str], function: str | None, path: str | None) -> list[str]:
    """Return the names of all functions for None, or only `function`. Raise ModelError (MIL430) for an unknown one."""
    if function is None:
        return sorted(functions)
    if function not in functions:
        near = did_you_mean(nearest(function, functions))
        raise refusal(codes.UNKNOWN_NAME, f"unknown function {named(function)}{near}", path)
    return [function]


def require_inputs(names: Iterable[str], known: set[str], path: str | None) -> None:
    """Require that all names are of inputs. Raise ModelError (MIL430)."""
    for name in names:
        if name not in known:
            near = did_you_mean(nearest(name, sorted(known)))
            raise refusal(codes.UNKNOWN_NAME, f"unknown input {named(name)}{near}", path, *_listed(known))


def _listed(known: set[str]) -> Iterator[Note]:
    if known:
        yield Note(f"the inputs are {listed(sorted(known), 'and')}")


def _reshaped(value: NamedValueType, sizes: Sizes, function: str, path: str | None, others: tuple[Note, ...]) -> Type:
    """Return the type of an input or a state of these sizes. Raise ModelError (MIL435), with notes about `others`."""
    kind = read_type(value.type)
    held = kind.wrapped if isinstance(kind, StateType) else kind
    noun = f"{named(value.name)} of {named(function)}"
    if not isinstance(held, TensorType) or write_type(kind) != value.type:
        raise refusal(codes.IMPOSSIBLE_SIZES, f"{noun} is {type_text(value.type)}, whose sizes cannot be changed", path)
    if len(held.shape) != len(sizes):
        message = f"{noun} has {counted(len(held.shape), 'dimension')}, {show(held.shape)}, not {len(sizes)}"
        raise refusal(codes.IMPOSSIBLE_SIZES, message, path, *others)
    made = held._replace(shape=shape_of(sizes))
    if not isinstance(kind, StateType):
        return made
    if None in made.shape:
        raise refusal(
            codes.IMPOSSIBLE_SIZES, f"{noun} is a state, whose sizes must be fixed, unlike {spell_sizes(sizes)}", path
        )
    return StateType(made)
