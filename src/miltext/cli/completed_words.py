"""The completions of a word of the command line: the table of the words that verbs take, and their sources."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import click
from click.shell_completion import CompletionItem

from miltext.files.writing import MODEL_FILES, MODEL_FOLDERS
from miltext.settings.settings import OFF

if TYPE_CHECKING:
    from miltext.cli.habits import Chosen

    _Type: TypeAlias = click.ParamType[Any]
else:
    _Type = click.ParamType  # older releases of click do not allow Any as its parameter

Item: TypeAlias = "CompletionItem[str]"
Source: TypeAlias = Callable[[click.Context, str], Iterable[Item]]
"""Return the completions of the beginning of a word."""

MODELS = (*MODEL_FILES, *MODEL_FOLDERS)
BUILT = (*MODEL_FOLDERS, ".mlmodel")
FILES, PART = "files", "part"
"""Kinds of items besides click's own: files for the shell to list, and the beginning of a word."""


def files(*endings: str) -> Source:
    """Return the source of files with any of the endings, and of folders; without endings, of all files."""

    def found(_context: click.Context, begun: str) -> list[Item]:
        return [CompletionItem(begun, FILES, endings=endings)]

    return found


def behind(before: str, items: Iterable[Item]) -> Iterator[Item]:
    """Yield items for a word after a prefix, such as `--inputs=` or `x=`, which is not a part of a file's name."""
    for item in items:
        inner = before + (item.before or "")
        yield CompletionItem(f"{before}{item.value}", item.type, item.help, endings=item.endings, before=inner)


def nothing(_context: click.Context, _begun: str) -> list[Item]:
    """Return nothing: only the user knows the word."""
    return []


def words(known: Callable[[], Iterable[tuple[str, str]]], *, by_commas: bool = False) -> Source:
    """Return the source of words that need no model, each with its meaning; several may be separated by commas."""

    def found(_context: click.Context, begun: str) -> Iterator[Item]:
        before = begun[: begun.rfind(",") + 1] if by_commas else ""
        last = begun[len(before) :].lower()
        for word, meaning in known():
            if word.lower().startswith(last):
                yield CompletionItem(before + word, help=meaning)

    return found


def in_model(kind: str, after: str = "", value: Source | None = None) -> Source:
    """Return the source of names in the model that is earlier on the line.

    `after` follows the name, and the items of `value` follow that.
    """

    def found(context: click.Context, begun: str) -> Iterator[Item]:
        name, sign, rest = begun.partition(after) if after else (begun, "", "")
        if sign and value is not None:
            yield from behind(f"{name}{sign}", value(context, rest))
        if not sign:
            yield from _named(context, kind, begun, after)

    return found


def _named(context: click.Context, kind: str, begun: str, after: str) -> Iterator[Item]:
    from miltext.cli.model_names import names_in

    params: Mapping[str, Chosen] = context.obj or {}
    model = params.get("model") or params.get("old") or next(iter(params.get("paths") or ()), None)
    given = {each for value in params.values() if isinstance(value, tuple) for each in value}
    for name in names_in(model, kind) if isinstance(model, str) else ():
        if name.startswith(begun) and name not in given:
            yield CompletionItem(name + after, PART if after else "plain")


# ---- words that need no model


def _codes() -> Iterable[tuple[str, str]]:
    from miltext.diagnostics.codes import TITLES

    return TITLES.items()


def _operations() -> Iterable[tuple[str, str]]:
    from miltext.reference.entries import entries

    return [(name, entry.description) for name, entry in entries().items()]


def _families() -> Iterable[tuple[str, str]]:
    from miltext.reference.entries import families

    return [(name, "") for name in families()]


def _opsets() -> Iterable[tuple[str, str]]:
    from miltext.schema.opsets import OPSETS

    return [(opset.text, "") for opset in OPSETS]


def _dtypes() -> Iterable[tuple[str, str]]:
    from miltext.schema.dtypes import BY_NAME

    return [(name, "") for name in BY_NAME]


def _commands(context: click.Context, begun: str) -> list[Item]:
    """Return the verbs, or the commands of the verb named before."""
    found = context.find_root()
    for word in context.params.get("words") or ():
        verb = found.command.get_command(found, word) if isinstance(found.command, click.Group) else None
        if verb is None:
            return []
        found = click.Context(verb, found, word)
    shown = found.command.shell_complete(found, begun) if isinstance(found.command, click.Group) else []
    return [item for item in shown if not item.value.startswith("-")]


def _revisions(_context: click.Context, begun: str) -> list[Item]:
    """Return the branches and tags of git, also behind the dots between two revisions."""
    before, dots, last = begun.rpartition("..")
    try:
        command = ["git", "for-each-ref", "--format=%(refname:short)"]
        found = subprocess.run(command, capture_output=True, check=True).stdout.decode(errors="replace")
    except (OSError, subprocess.CalledProcessError):
        return []
    names = ["HEAD", *found.split()]
    return [CompletionItem(f"{before}{dots}{name}") for name in names if name.startswith(last)]


def _resolving(context: click.Context, begun: str) -> list[Item]:
    """Return the sides of a conflict, and texts."""
    sides = [CompletionItem(side) for side in ("ours", "theirs") if side.startswith(begun)]
    return [*sides, *files(".mil")(context, begun)]


def _rules_or_models(context: click.Context, begun: str) -> list[Item]:
    """Return the packaged rules and files of rules, and files."""
    return [*RULES(context, begun), *files(*MODELS)(context, begun)]


def _rules() -> Iterable[tuple[str, str]]:
    """Return the packaged rules, files of rules, and passes."""
    from miltext.rewriting.packaged import library, packaged

    return {**dict.fromkeys(library(), ""), **{each.name: each.purpose for each in packaged()}}.items()


def _profiles() -> Iterable[tuple[str, str]]:
    """Return the profiles of the Neural Engine, each with its chip and system."""
    from miltext.placement.rules import known_system, profiles

    return [(each, known_system(each)) for each in profiles()]


def _checked_profiles() -> Iterable[tuple[str, str]]:
    """Return the profiles, and the words that list them, or choose none."""
    return [*_profiles(), ("list", "list the profiles"), (OFF, "no profile, whatever the settings are")]


RULES = words(_rules)
CODES, OPERATIONS = words(_codes, by_commas=True), words(_operations)
ARRAYS = files(".npy", ".npz", ".safetensors", ".png", ".jpg", ".jpeg")
ANY, FOLDERS = files(), files(os.sep)

WORDS: dict[str, Source] = {
    **dict.fromkeys(
        ("model", "old", "new", "names", "paths", "original", "conversion", "stdin_filename"), files(*MODELS)
    ),
    **dict.fromkeys(("base", "ours", "theirs"), files(*MODELS)),
    "models": files(*BUILT),
    "link models": files(*MODELS),
    "draft": files(".mil"),
    "fmt paths": files(".mil"),
    # outputs
    "output": files(*BUILT, ".mil"),
    "split output": FOLDERS,
    "print output": files(".mil", ".html"),
    "parse output": files(".pb", ".txtpb"),
    "infer output": files(".mil"),
    "describe output": files(".toml"),
    "run outputs": files(".npz", ".npy", ".png"),
    **dict.fromkeys(("save", "cache"), FOLDERS),
    # other files
    **dict.fromkeys(("config", "description"), files(".toml")),
    "files_from": ANY,
    **dict.fromkeys(("archive", "state", "state_out", "against"), files(".npz")),
    "size against": files(*MODELS),
    "cost against": files(*MODELS),
    "weights": files(*BUILT, ".bin"),
    **dict.fromkeys(("run weights", "compare weights"), FOLDERS),
    "run samples": ANY,
    **dict.fromkeys(("placement model", "placement against"), files(*MODELS, ".tsv", ".json")),
    **dict.fromkeys(("reduce line", "textconv file", "textconv keep", "difftool old", "difftool new"), ANY),
    "mergetool file": files(*MODELS),
    "resolve": _resolving,
    # words that need no model
    "code": words(_codes),
    **dict.fromkeys(("select", "ignore"), CODES),
    **dict.fromkeys(("only", "ops words"), OPERATIONS),
    **dict.fromkeys(("rewrite words", "find pattern"), _rules_or_models),
    "rewrite sites": nothing,
    "skipped": RULES,
    "opset": words(_opsets),
    "family": words(_families),
    "dtype": words(_dtypes),
    "profile": words(_profiles),
    "check profile": words(_checked_profiles),
    "help words": _commands,
    "revisions": _revisions,
    # names in the model
    **dict.fromkeys(("values", "inputs", "at"), in_model("values")),
    "rename old": in_model("names"),
    "function": in_model("functions"),
    "nested": in_model("stages"),
    "words": in_model("inputs", "=", ARRAYS),
    **dict.fromkeys(("reshape words", "cost words"), in_model("inputs", "=", nothing)),
    **dict.fromkeys(("ranges", "shapes", "input_ranges"), in_model("inputs", "=", nothing)),
    # words that only the user knows
    **dict.fromkeys(("jobs", "executor", "max_weights"), nothing),
    **dict.fromkeys(("rename new", "place", "weights_as", "coremlc_version", "coremlc_mil_version"), nothing),
    **dict.fromkeys(("bindings", "apart", "keep", "chosen", "link ranges"), nothing),
    **dict.fromkeys(("mergedriver path", "mergedriver labels"), nothing),
}
"""The sources of a parameter's completions, by its name, or by its verb and its name."""


def source_of(verb: str, parameter: str) -> Source | None:
    """Return the source of completions for a word of a verb; None if there is none."""
    return WORDS.get(f"{verb} {parameter}") or WORDS.get(parameter)


class Word(_Type):
    """The type of a word during completion: its own type, with the source of its completions."""

    name = "text"

    def __init__(self, source: Source, type: _Type) -> None:
        self._source = source
        self._type = type

    def convert(self, value: Chosen, param: click.Parameter | None, ctx: click.Context | None) -> Chosen:
        return self._type.convert(value, param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Item]:
        return list(self._source(ctx, incomplete))


def takes_text(parameter: click.Parameter) -> bool:
    """Return whether a parameter takes a word of any text: neither a number nor a choice."""
    is_flag = isinstance(parameter, click.Option) and (parameter.is_flag or parameter.count)
    return not is_flag and (parameter.type is click.STRING or isinstance(parameter.type, click.Path))


def with_words(verb: click.Command, name: str) -> click.Command:
    """Return a verb whose words are completed by the table, or as names of files if the table has no entry."""
    for parameter in verb.params:
        if takes_text(parameter):
            parameter.type = Word(source_of(name, parameter.name or "") or ANY, parameter.type)
    for inner in verb.commands.values() if isinstance(verb, click.Group) else ():
        with_words(inner, f"{name} {inner.name}")
    return verb
