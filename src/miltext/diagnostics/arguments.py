"""Arguments of public functions, compared with their annotations: a wrong argument is a TypeError with its name."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, wraps
from inspect import signature
from numbers import Integral, Real
from types import NoneType
from typing import NamedTuple, ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class Kind(NamedTuple):
    """A kind of arguments, with its name in messages."""

    noun: str
    accepts: Callable[[object], bool]


def _is_truth(value: object) -> bool:
    return isinstance(value, bool) or type(value).__name__ in ("bool_", "bool")  # numpy's, without its import


def _are_strings(value: object) -> bool:
    """Return whether a value contains strings, as far as it can be read twice."""
    if not isinstance(value, Iterable) or isinstance(value, (bytes, str)):
        return False
    return not hasattr(value, "__len__") or all(isinstance(each, str) for each in value)


def _is_sequence(value: object) -> bool:
    return isinstance(value, Sequence) and len(value) > 0 and _are_strings(value)


def _is_mapping(value: object) -> bool:
    return isinstance(value, Mapping) and all(isinstance(key, str) for key in value)


def _is_path(value: object) -> bool:
    return isinstance(value, (str, os.PathLike))


def _are_sizes(value: object) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(key, str) and isinstance(each, Sequence) and not isinstance(each, bytes)
        for key, each in value.items()
    )


def _are_names(value: object) -> bool:
    return _is_mapping(value) and _are_strings(list(value.values()))  # type: ignore[attr-defined]


def _are_bound(value: object) -> bool:
    """Return whether a value has a name, or several, for each name."""
    return _is_mapping(value) and all(isinstance(each, str) or _are_strings(each) for each in value.values())  # type: ignore[attr-defined]


def _are_weights(value: object) -> bool:
    """Return whether a value is a folder or file of weights, files by their names, or several of both."""
    if isinstance(value, Mapping):
        return _is_mapping(value) and all(map(_is_path, value.values()))
    if isinstance(value, (list, tuple)):
        return all(_is_path(each) or (isinstance(each, Mapping) and _are_weights(each)) for each in value)
    return _is_path(value)


def _of_class(name: str) -> Kind:
    """Return the kind of the objects of a class in a room that imports this one."""
    return Kind(f"a {name}", lambda value: any(each.__name__ == name for each in type(value).__mro__))


_MAPPING = Kind("a mapping, such as a dict, by names", _is_mapping)
_FUNCTION = Kind("a function", callable)

KINDS: dict[str, Kind] = {
    "None": Kind("None", lambda value: isinstance(value, NoneType)),
    "str": Kind("a str", lambda value: isinstance(value, str)),
    "int": Kind("a whole number", lambda value: isinstance(value, Integral)),
    "float": Kind("a number", lambda value: isinstance(value, Real)),
    "bool": Kind("True or False", _is_truth),
    "os.PathLike[str]": Kind("a path", lambda value: isinstance(value, os.PathLike)),
    "Iterable[str]": Kind("several str", _are_strings),
    "Sequence[str]": Kind("several str", _is_sequence),
    "Mapping[str, Range]": Kind("a mapping, such as a dict, of names to sizes", _are_sizes),
    "Mapping[str, str]": Kind("a mapping, such as a dict, of names to names", _are_names),
    "Bound": Kind("a mapping, such as a dict, of names to names", _are_bound),
    "GivenWeights": Kind("a path, or a mapping, such as a dict, of names to paths", _are_weights),
    "Named": _MAPPING,
    "Mapping[str, Any]": _MAPPING,
    "Graph": _of_class("Graph"),
    "Markers": _of_class("Markers"),
    "Callable": _FUNCTION,
    "Expect": _FUNCTION,
    "Progress": _FUNCTION,
    "Test": _FUNCTION,
}
"""The kinds by annotation. Functions check arguments with other annotations themselves."""


def checked(*names: str) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """Return a decorator that compares arguments with their annotations; without names, all of them."""

    def decorate(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        own = signature(function)
        shown = function.__qualname__.removesuffix(".__init__")
        kinds = {
            each.name: str(each.annotation)
            for each in own.parameters.values()
            if (not names or each.name in names) and each.kind is not each.VAR_KEYWORD
        }

        @wraps(function)
        def wrapper(*values: Parameters.args, **keywords: Parameters.kwargs) -> Result:
            given = own.bind(*values, **keywords).arguments
            for name, annotation in kinds.items():
                if name in given and own.parameters[name].kind is not own.parameters[name].VAR_POSITIONAL:
                    require(name, given[name], annotation, shown)
            return function(*values, **keywords)

        return wrapper

    return decorate


def require(name: str, value: object, annotation: str, function: str) -> None:
    """Raise TypeError for an argument of no kind in its annotation."""
    kinds = _kinds(annotation)
    if kinds and not any(each.accepts(value) for each in kinds):
        nouns = " or ".join(each.noun for each in kinds)
        raise TypeError(f"`{name}` of {function}() must be {nouns}, not {_called(value)}")


def require_counts(function: str, **counts: int | None) -> None:
    """Raise ValueError for a count below 1."""
    for name, count in counts.items():
        if count is not None and count < 1:
            raise ValueError(f"`{name}` of {function}() must be 1 or more, not {count}")


def require_names(*names: object) -> None:
    """Raise TypeError for a name other than a string; an iterator of names is read once."""
    for each in names:
        if not isinstance(each, str):
            raise TypeError(f"a name must be a string, not {type(each).__name__}")


def _called(value: object) -> str:
    """Return the type of an argument, or of the first wrong part in it."""
    inner = [*value.items()] if isinstance(value, Mapping) else []
    parts = [part for item in inner for part in item if not isinstance(part, str)]
    if not parts and isinstance(value, (list, tuple, set)):
        parts = [each for each in value if not isinstance(each, str)]
    return type(value).__name__ + (f" with {type(parts[0]).__name__}" if parts else "")


@lru_cache(maxsize=256)
def _kinds(annotation: str) -> tuple[Kind, ...]:
    """Return the kinds in an annotation, None last; no kinds if the table lacks any of them."""
    words = [each.strip() for each in _alternatives(annotation)]
    found = [KINDS.get(each) or KINDS.get(each.partition("[")[0]) for each in words]
    if None in found:
        return ()
    known = [each for each in found if each is not None]
    return tuple(sorted(known, key=lambda each: each.noun == "None"))


def _alternatives(annotation: str) -> list[str]:
    """Return the parts of an annotation between `|` outside of brackets."""
    parts, depth = [""], 0
    for character in annotation:
        depth += (character == "[") - (character == "]")
        if character == "|" and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return parts
