"""Stack space for recursion: data nested as deep as protobuf allows can be read and written at any depth of the
caller.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial, wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

CALLERS = 4
"""The fraction of Python's limit on calls that may be used when a function with room begins."""


def with_room(function: Callable[P, R]) -> Callable[P, R]:
    """Return a function that begins with most of Python's limit on calls unused, on a new stack if necessary."""

    @wraps(function)
    def run(*arguments: P.args, **named: P.kwargs) -> R:
        if not _is_deep():
            return function(*arguments, **named)
        return _on_a_new_stack(partial(function, *arguments, **named))

    return run


def _is_deep() -> bool:
    try:
        sys._getframe(sys.getrecursionlimit() // CALLERS)
    except ValueError:  # there are fewer frames
        return False
    return True


def _on_a_new_stack(run: Callable[[], R]) -> R:
    """Return the result of a call in a new thread, where the count of calls starts at 0."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1, "miltext") as pool:
        return pool.submit(run).result()
