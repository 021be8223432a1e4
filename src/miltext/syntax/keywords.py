"""Functions whose parameters are the fields of a dataclass, from which verbs make their options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, fields
from functools import wraps
from inspect import getdoc, signature
from types import NoneType
from typing import Any, ParamSpec, TypeVar

from miltext.diagnostics.arguments import require

Parameters = ParamSpec("Parameters")
Request = TypeVar("Request")
Result = TypeVar("Result")


def option(default: object, help: str, **words: object) -> Any:
    """Return a field of a dataclass that verbs have as an option, with its help and further words for click."""
    return field(default=default, metadata={"help": help, **words})


def taking(
    request: Callable[Parameters, Request],
) -> Callable[[Callable[[Request], Result]], Callable[Parameters, Result]]:
    """Return a decorator that turns a function of a dataclass into a function of its fields.

    The dataclass adds fields to the class of its options. Its field named `options` accepts an object of that class;
    other keywords take precedence. Raise TypeError for any other object, and for a value of another kind than its
    field. If the class describes its fields, as `Args`, the docstring of the function contains these.
    """

    def decorate(function: Callable[[Request], Result]) -> Callable[Parameters, Result]:
        @wraps(function)
        def wrapped(*values: Parameters.args, **keywords: Parameters.kwargs) -> Result:
            options: Any = keywords.pop("options", None)
            if not isinstance(options, (wanted, NoneType)):
                made = " itself: call it" if options is wanted else f", not {type(options).__name__}"
                raise TypeError(f"the options of {function.__name__}() are an object of {wanted.__name__}{made}")
            for each in () if options is None else fields(options):
                keywords.setdefault(each.name, getattr(options, each.name))
            given: Any = request(*values, **keywords)
            for each in fields(given):
                require(each.name, getattr(given, each.name), str(each.type), function.__name__)
            return function(given)

        wanted: Any = request.__bases__[0]  # type: ignore[attr-defined]
        vars(request)["__init__"].__qualname__ = function.__name__  # for errors about arguments
        own = signature(request).replace(return_annotation=signature(function).return_annotation)
        wrapped.__signature__ = own  # type: ignore[attr-defined]
        wrapped.__doc__ = _documented(getdoc(function) or "", getdoc(wanted) or "")
        return wrapped

    return decorate


def _documented(function: str, options: str) -> str:
    """Return the docstring of a function with the described fields of its options before the argument `options`."""
    described = options.partition("\nArgs:\n")[2]
    return function.replace("\n    options: ", f"\n{described}\n    options: ", 1) if described else function
