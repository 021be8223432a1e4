"""Functions whose parameters are the fields of a dataclass."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field, fields
from pathlib import Path

import pytest

import miltext
from miltext.syntax.keywords import taking


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of asking.

    Args:
        force: Whether to insist.
        name: The name
            of it.
    """

    force: bool = False
    name: str = "x"


@dataclass(frozen=True)
class Request(Options):
    source: str
    options: Options | None = field(default=None, kw_only=True)


@taking(Request)
def asked(request: Request) -> tuple[str, bool, str]:
    """Ask.

    Args:
        source: A text.
        options: An `Options`.

    Returns:
        The answer.
    """
    return request.source, request.force, request.name


def test_values_and_keywords_are_fields() -> None:
    assert asked("a", force=True) == asked(source="a", force=True) == ("a", True, "x")


def test_an_object_supplies_values_without_a_keyword() -> None:
    options = Options(force=True, name="y")
    assert asked("a", options=options) == ("a", True, "y")
    assert asked("a", options=options, force=False) == ("a", False, "y")
    assert asked("a", options=None) == ("a", False, "x")


def test_the_docstring_contains_the_fields_of_the_options() -> None:
    described = inspect.getdoc(asked) or ""
    assert described.splitlines()[2:8] == [
        "Args:",
        "    source: A text.",
        "    force: Whether to insist.",
        "    name: The name",
        "        of it.",
        "    options: An `Options`.",
    ]


def test_an_unknown_keyword_is_refused_by_the_function() -> None:
    with pytest.raises(TypeError, match=r"^asked\(\) got an unexpected keyword argument 'forse'"):
        asked("a", forse=True)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"^asked\(\) missing 1 required positional argument: 'source'"):
        asked()  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("name", "options", "given"),
    [
        ("build", miltext.BuildOptions, ["source", "output"]),
        ("extract", miltext.ExtractOptions, ["source", "values", "output"]),
        ("convert_weights", miltext.ConvertOptions, ["source", "to", "output"]),
        ("rename", miltext.EditOptions, ["source", "old", "new", "output"]),
        ("expose", miltext.EditOptions, ["source", "values", "output"]),
        ("reshape", miltext.EditOptions, ["source", "sizes", "output"]),
        ("compare", miltext.CompareOptions, ["a", "b", "inputs"]),
    ],
)
def test_help_shows_every_keyword(name: str, options: type[Options], given: list[str]) -> None:
    parameters = inspect.signature(getattr(miltext, name)).parameters.values()
    positional = [each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
    keywords = {each.name: each.default for each in parameters if each.kind is each.KEYWORD_ONLY}
    assert positional == given
    assert keywords == {**{each.name: each.default for each in fields(options)}, "options": None}


@pytest.mark.parametrize("odd", [miltext.BuildOptions, {}, {"check": False}, 1, miltext.ExtractOptions()], ids=repr)
def test_options_of_another_type_are_refused(odd: object, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"the options of build\(\) are an object of BuildOptions"):
        miltext.build("m.mil", tmp_path / "M.mlpackage", options=odd)  # type: ignore[arg-type]


@pytest.mark.parametrize("keyword", ["ranges", "renames"])
@pytest.mark.parametrize("odd", ["x=1,3", [("a", "b")], 3, {"a"}], ids=repr)
def test_a_keyword_other_than_its_mapping_is_refused(keyword: str, odd: object, tmp_path: Path) -> None:
    with pytest.raises(
        TypeError,
        match=rf"`{keyword}` of build\(\) must be a mapping, such as a dict, of names to (sizes|names) or None, not ",
    ):
        miltext.build("m.mil", tmp_path / "M.mlpackage", **{keyword: odd})  # type: ignore[arg-type]
