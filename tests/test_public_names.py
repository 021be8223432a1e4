"""The public names: one table, from which each is imported when it is first used, and type checkers see the same."""

from __future__ import annotations

import ast
import inspect

import pytest

import miltext


def seen_by_type_checkers() -> dict[str, str]:
    """The modules of the names that are imported for type checkers alone."""
    (guarded,) = [each for each in ast.parse(inspect.getsource(miltext)).body if isinstance(each, ast.If)]
    imports = [each for each in guarded.body if isinstance(each, ast.ImportFrom)]
    return {alias.asname or "": str(each.module) for each in imports for alias in each.names}


def test_type_checkers_see_the_names_of_the_table() -> None:
    assert seen_by_type_checkers() == miltext._HOME
    assert miltext.__all__ == list(miltext._HOME)


@pytest.mark.parametrize("name", miltext.__all__)
def test_each_name_is_what_its_module_has(name: str) -> None:
    assert name in dir(miltext)
    value = getattr(miltext, name)
    assert name == "Source" or value.__name__ == name  # an alias has no name of its own
    assert value is vars(miltext)[name]


def test_another_name_is_refused() -> None:
    with pytest.raises(AttributeError, match="module 'miltext' has no attribute 'prase'"):
        miltext.prase  # noqa: B018
