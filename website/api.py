"""The pages of the Python API: each public name with its signature, types and docstring, out of the code itself."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterable, Iterator
from functools import cached_property
from importlib import import_module
from typing import Any, ForwardRef, is_typeddict

import miltext
import miltext.testing
from miltext.containers import sources
from miltext.descriptions import ranges
from miltext.diagnostics import dynamic
from miltext.evaluation import carried
from miltext.pytest_plugin import MilGolden
from miltext.reduction import trials
from website.markdown import cell, docstring

WIDTH = 88
"""How wide a signature may be in one line, which is what a page shows at once."""

CLASSES = [name for name in miltext.__all__ if inspect.isclass(getattr(miltext, name))]
OPTIONS = [name for name in CLASSES if name.endswith("Options")]
FUNCTIONS = [name for name in miltext.__all__ if inspect.isroutine(getattr(miltext, name))]

REACHED = {
    "models.model": ("Stage",),
    "weight_files.model_weights": ("Weights", "Weight"),
    "diffing.difference": ("ModelDifference",),
    "diffing.structure": ("FunctionDifference", "WeightDifference", "WeightChange", "Change"),
    "evaluation.subjects": ("Subject",),
    "evaluation.comparing.comparison": ("ComparedValue", "Origin", "FirstOddity"),
    "conversion.halves": ("Loss",),
    "checking.inference.program": ("Inference",),
    "printing.coremlc": ("Versions",),
}
"""Classes that a caller gets from others, or gives, and does not import from the top, by their modules."""

ALIASES = {"Source": sources, "Named": carried, "Record": dynamic, "Range": ranges, "Test": trials}
"""What types of arguments stand for, by the modules that say it."""

PUBLIC_ALIASES = [name for name in ALIASES if name in miltext.__all__]

_MODULES = re.compile(r"\b(miltext\.reduction\.trials|collections\.abc|typing)\.")

_CLASS = re.compile(rf"(?<![\w`.\[])({'|'.join(CLASSES)})(?![\w`\]])")


def pages() -> dict[str, str]:
    """Return the page that lists all names, and those of functions, of classes, of options and of `miltext.testing`."""
    return {
        "api/index.md": "".join(_index()),
        "api/functions.md": "".join(_all("Functions", "miltext", {name: getattr(miltext, name) for name in FUNCTIONS})),
        "api/classes.md": "".join(_all("Classes", "miltext", _named(each for each in CLASSES if each not in OPTIONS))),
        "api/options.md": "".join(_all("Options", "miltext", _named(OPTIONS))),
        "api/parts.md": "".join([*_all("Parts of these", "", reached()), *_aliases()]),
        "api/testing.md": "".join(_testing()),
    }


def _named(names: Iterable[str]) -> dict[str, Any]:
    return {name: getattr(miltext, name) for name in names}


def _page_of(name: str) -> str:
    """Return the page of a class."""
    return f"{'options' if name in OPTIONS else 'classes'}.md#{name}"


def reached() -> dict[str, type]:
    """Return the classes that a caller does not import, by name."""
    modules = {name: import_module(f"miltext.{module}") for module, names in REACHED.items() for name in names}
    return {name: getattr(module, name) for name, module in modules.items()}


def _aliases() -> Iterator[str]:
    yield "\n## Types of arguments { #aliases }\n\n| name | what it stands for |\n|---|---|\n"
    for name, module in ALIASES.items():
        said = getattr(module, name)
        shown = said if isinstance(said, str) else _MODULES.sub("", inspect.formatannotation(said))
        yield f"| `{name}` | `{shown}` |\n"
    for name in PUBLIC_ALIASES:
        yield f"\n### miltext.{name} {{ #{name} }}\n\n{_constant(name)}\n"


def _index() -> Iterator[str]:
    yield f"# Python API\n\n{_docstring(miltext)}\n\n"
    yield "| name | what it is |\n|---|---|\n"
    for name in FUNCTIONS:
        yield f"| [`miltext.{name}`](functions.md#{name}) | {first_sentence(name, getattr(miltext, name))} |\n"
    for name in CLASSES:
        yield f"| [`miltext.{name}`]({_page_of(name)}) | {first_sentence(name, getattr(miltext, name))} |\n"
    for name in PUBLIC_ALIASES:
        yield f"| [`miltext.{name}`](parts.md#{name}) | {first_sentence(name, getattr(miltext, name))} |\n"
    for name in miltext.testing.__all__:
        about = first_sentence(name, getattr(miltext.testing, name))
        yield f"| [`miltext.testing.{name}`](testing.md#{name}) | {about} |\n"


def _testing() -> Iterator[str]:
    names = {name: getattr(miltext.testing, name) for name in miltext.testing.__all__}
    ordered = sorted(names, key=lambda name: (not inspect.isfunction(names[name]), not callable(names[name])))
    yield from _all("miltext.testing", "", {name: names[name] for name in ordered})
    yield "\n## The fixture mil_golden { #mil_golden }\n\n"
    yield f"{_docstring(import_module('miltext.pytest_plugin')).partition('`pytest --mil-update`')[0]}\n"
    yield from _entry("MilGolden", MilGolden, 3)


def _all(title: str, module: str, names: dict[str, Any]) -> Iterator[str]:
    yield f"# {title}\n\n{_CONTEXTS[title]}\n"
    for name, value in names.items():
        yield from _entry(name, value, 2, f"{module}." if module else "")


_CONTEXTS = {
    "Functions": "All are imported from the top: `miltext.parse`. Errors are [MiltextErrors](classes.md#MiltextError).",
    "Classes": "What the [functions](functions.md) take and return. [Parts of these](parts.md) have their own page.",
    "Options": "The keywords of [functions](functions.md) in one object, which several calls may share.",
    "Parts of these": "What [classes](classes.md) and [functions](functions.md) hold, take and return; nobody has to"
    " import them.",
    "miltext.testing": "Programs pinned in tests, and programs to test with: [golden files](../golden-files.md) and"
    " [generated programs](../generate.md) are the pages to read first.",
}


def _entry(name: str, value: Any, level: int, module: str = "") -> Iterator[str]:
    yield f"\n{'#' * level} {module}{name} {{ #{name} }}\n\n"
    if not callable(value):
        yield f"```python\n{name} = {value!r}\n```\n\n{_constant(name)}\n"
        return
    yield f"```python\n{_signature(name, value)}\n```\n\n{_docstring(value)}\n"
    if inspect.isclass(value):
        for member, about in _members(value):
            yield f"\n{'#' * (level + 1)} {member} {{ #{name}.{member} }}\n\n"
            yield f"```python\n{_member_signature(member, about)}\n```\n\n{_docstring(about)}\n"


# ---- what a name is


def _members(cls: type) -> Iterator[tuple[str, Any]]:
    """Yield the public methods and properties that a class of ours says something of, those of its own bases too."""
    seen = set[str]()
    for base in cls.__mro__:
        if not base.__module__.startswith("miltext"):
            continue
        for name, value in vars(base).items():
            if not name.startswith("_") and name not in seen and _is_told(value):
                seen.add(name)
                yield name, value


def _is_told(value: Any) -> bool:
    is_method = isinstance(value, (property, cached_property, classmethod, staticmethod)) or inspect.isfunction(value)
    return is_method and bool(inspect.getdoc(value))


def _member_signature(name: str, value: Any) -> str:
    if isinstance(value, (property, cached_property)):
        getter = value.func if isinstance(value, cached_property) else value.fget
        return f"{name}: {_type(inspect.signature(getter).return_annotation)}" if getter else name
    method = getattr(value, "__func__", value)
    return _signature(name, method, kind="def")


def _signature(name: str, value: Any, kind: str | None = None) -> str:
    """Return how a function or a class is called, with types, in lines of at most WIDTH columns."""
    head = kind or ("class" if inspect.isclass(value) else "def")
    if is_typeddict(value):
        fields = [f"    {field}: {_type(said)}" for field, said in value.__annotations__.items()]
        return "\n".join([f"class {name}(TypedDict, total={value.__total__}):", *fields])
    if inspect.isclass(value) and not _has_own_constructor(value):
        return f"class {name}"
    given = inspect.signature(value)
    parameters = [_parameter(each) for each in _starred(given.parameters.values())]
    result = "" if inspect.isclass(value) or given.return_annotation is inspect.Signature.empty else given
    arrow = f" -> {_type(given.return_annotation)}" if result else ""
    line = f"{head} {name}({', '.join(parameters)}){arrow}"
    if len(line) <= WIDTH:
        return line
    return "\n".join([f"{head} {name}(", *(f"    {each}," for each in parameters), f"){arrow}"])


def _has_own_constructor(cls: type) -> bool:
    return issubclass(cls, tuple) or any(
        "__init__" in vars(base) for base in cls.__mro__ if base.__module__.startswith("miltext")
    )


def _starred(parameters: Iterable[inspect.Parameter]) -> Iterator[inspect.Parameter | str]:
    """Yield parameters that are said, with the `*` before those that have only a name."""
    starred = False
    for each in parameters:
        if each.name == "self" or each.name.startswith("_"):
            continue
        if each.kind is each.KEYWORD_ONLY and not starred:
            starred = True
            yield "*"
        starred = starred or each.kind is each.VAR_POSITIONAL
        yield each


def _parameter(each: inspect.Parameter | str) -> str:
    if isinstance(each, str):
        return each
    said = str(each.replace(annotation=each.empty, default=each.empty))
    if each.annotation is not each.empty:
        said += f": {_type(each.annotation)}"
    if each.default is each.empty:
        return said
    default = "..." if repr(each.default).startswith("<") else repr(each.default)
    return f"{said} = {default}"


def _type(annotation: Any) -> str:
    """Return a type as its code spells it."""
    if isinstance(annotation, ForwardRef):
        return annotation.__forward_arg__
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


# ---- what is said of it


def _docstring(value: Any) -> str:
    """Return a docstring as Markdown, in which our classes are links; what is indented in it is code."""
    own = getattr(value, "__name__", "")
    text = docstring(inspect.getdoc(value) or "")
    return _CLASS.sub(lambda name: name[0] if name[0] == own else f"[{name[0]}]({_page_of(name[0])})", text)


def first_sentence(name: str, value: Any) -> str:
    """Return the first sentence of the docstring of a name, for a table."""
    is_described = inspect.isroutine(value) or inspect.isclass(value)
    text = inspect.getdoc(value) if is_described else _constant(name)
    line = " ".join((text or "").partition("\n\n")[0].split())
    return cell(docstring(re.split(r"(?<=\.)\s", line)[0]))


def _constant(name: str) -> str:
    """Return what stands under a constant in the module that defines it."""
    for module in ("testing.golden", "testing.numbers", "testing.generated", "containers.sources"):
        source = inspect.getsource(import_module(f"miltext.{module}"))
        if found := re.search(rf'^{name}(?:: TypeAlias)? = [^\n]*\n"""(.*?)"""', source, re.MULTILINE | re.DOTALL):
            return docstring(textwrap.dedent(found[1]).strip())
    return ""
