"""Completion in a shell: its script calls this command for the completions of the word at the cursor.

The script runs `miltext` with a variable that names the shell, and click's own machinery answers. Each item is a line:
its kind, the whole completed word, and its description, separated by tabs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import click
from click.shell_completion import CompletionItem, ShellComplete, add_completion_class, shell_complete, split_arg_string

from miltext.cli.completed_words import ANY, FILES, Item, behind
from miltext.cli.habits import with_habits

FOLDER = "folder"
"""The kind of item for a folder to look into."""

CURSOR = "\x01"
"""The mark at the end of an unfinished word: an open quotation mark, or an empty word."""

REDIRECTIONS = (">", ">>", "<", "2>", "2>>", "&>", "&>>", ">|")


def answer(verbs: click.Group, variable: str) -> int:
    """Write the completions of the word at the cursor, in the form that a variable selects, and return an exit
    status.
    """
    return shell_complete(verbs, {}, "miltext", variable, os.environ[variable])


def script(shell: str) -> str:
    """Return the script through which a shell calls this command."""
    return Path(__file__).with_name(f"completion.{shell}").read_text(encoding="utf-8")


class Completion(ShellComplete):
    """The part shared by all shells. The script passes the words of the line, whose last is completed."""

    source_template = ""

    def source(self) -> str:
        """Return the shell's script."""
        return script(self.name)

    def get_completion_args(self) -> tuple[list[str], str]:
        *args, incomplete = sys.argv[1:] or [""]
        return args, incomplete

    def get_completions(self, args: list[str], incomplete: str) -> list[Item]:
        """Return the items, each with the whole word: click leaves out the option before a value."""
        assert isinstance(self.cli, click.Group)
        with_habits(self.cli, None)
        at = _place_of_verb(args, self.cli)
        verb = self.cli.get_command(click.Context(self.cli), args[at]) if at < len(args) else None
        if incomplete == "=" or (at < len(args) and verb is None):  # click would ignore a `=`
            return []
        open_option = _open_option(args, verb)
        if verb is not None:  # click reads no arguments where an option, which the words may name, has no value yet
            given = args[at + 1 : -1] if open_option else args[at + 1 :]
            self.ctx_args["obj"] = verb.make_context(args[at], given, resilient_parsing=True).params
        if open_option and type(open_option.flag_value) is int:
            args = args[:-1]  # its number is optional, and has no completion
        option = incomplete[: incomplete.find("=") + 1] if incomplete.startswith("--") else ""
        found = behind(option, super().get_completions(args, incomplete))
        return [item for item in found if item.value.isprintable()]

    def format_completion(self, item: Item) -> str:
        return f"{item.type}\t{item.value}\t{' '.join((item.help or '').split())}"


class Listing(Completion):
    """Completion for a shell that gets the names of files from here, as it cannot select them itself."""

    def get_completions(self, args: list[str], incomplete: str) -> list[Item]:
        return list(_listed(super().get_completions(args, incomplete)))


class Bash(Listing):
    """Completion for bash, which passes the line up to the cursor, and its own idea of the word there.

    For bash, a word ends at `=` and `:`, so only the text after them is returned.
    """

    name = "bash"

    def get_completion_args(self) -> tuple[list[str], str]:
        args, incomplete = _begun(sys.argv[1])
        self._cut = len(incomplete) - len(_begun(sys.argv[2])[1].lstrip("=:"))
        return args[1:], incomplete

    def get_completions(self, args: list[str], incomplete: str) -> list[Item]:
        if args and args[-1] in REDIRECTIONS:
            return list(_listed(ANY(click.Context(self.cli), incomplete)))
        return super().get_completions(args, incomplete)

    def format_completion(self, item: Item) -> str:
        item.value = item.value[self._cut :]
        return super().format_completion(item)


class Zsh(Completion):
    """Completion for zsh, which lists files itself, by a pattern for their names."""

    name = "zsh"

    def format_completion(self, item: Item) -> str:
        if item.type != FILES:
            return super().format_completion(item)
        return f"{FILES}\t{len(item.before or '')}\t{_pattern(item.endings)}"


class Fish(Listing):
    """Completion for fish, which passes the words before the last, and the last one as it is written."""

    name = "fish"

    def get_completion_args(self) -> tuple[list[str], str]:
        *args, last = sys.argv[1:] or [""]
        return args, _begun(last)[1]

    def format_completion(self, item: Item) -> str:
        return super().format_completion(item).partition("\t")[2].removesuffix("\t")


for known in (Bash, Zsh, Fish):
    add_completion_class(known)


def _begun(line: str) -> tuple[list[str], str]:
    """Return the words of a line as a shell reads them, and the last one, which may be empty or unfinished."""
    *words, last = split_arg_string(line + CURSOR) or [CURSOR]
    return words, last.replace(CURSOR, "")


def _place_of_verb(args: list[str], verbs: click.Group) -> int:
    """Return the place of the first word besides options and their values; without such a word, the end."""
    options = [each for each in verbs.params if isinstance(each, click.Option) and not each.is_flag]
    valued = {name for each in options for name in each.opts}
    pairs = enumerate(zip(["", *args], args, strict=False))
    found = (at for at, (before, word) in pairs if not word.startswith("-") and before not in valued)
    return next(found, len(args))


def _open_option(args: list[str], verb: click.Command | None) -> click.Option | None:
    """Return the option of a verb if the last word is one without its value."""
    options = [each for each in verb.params if isinstance(each, click.Option) and not each.is_flag] if verb else []
    return next((each for each in options if args[-1] in each.opts), None)


# ---- files


def _listed(items: Iterable[Item]) -> Iterator[Item]:
    """Yield items, with the existing files in place of each item for files."""
    for item in items:
        if item.type in (FILES, "file", "dir"):
            endings = (os.sep,) if item.type == "dir" else item.endings or ()
            before = item.before or ""
            yield from behind(before, _files(item.value[len(before) :], endings))
        else:
            yield item


def _files(begun: str, endings: tuple[str, ...]) -> Iterator[Item]:
    """Yield the files with these endings whose names begin so, and folders.

    A folder with such an ending is a model, and an item itself.
    """
    folder, start = os.path.split(begun)
    parent = f"{folder}{'' if folder.endswith(os.sep) or not folder else os.sep}"
    try:
        found = sorted(os.scandir(os.path.expanduser(folder) or os.curdir), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in found:
        name = entry.name
        is_hidden = name.startswith(".") and not start.startswith(".")
        if not name.startswith(start) or is_hidden or not name.isprintable():
            continue
        if entry.is_dir() and not name.lower().endswith(endings or (os.sep,)):
            yield CompletionItem(f"{parent}{name}{os.sep}", FOLDER)
        elif not endings or name.lower().endswith(endings):
            yield CompletionItem(f"{parent}{name}", "file")


def _pattern(endings: tuple[str, ...] | None) -> str:
    """Return zsh's pattern of files with these endings; an empty text for folders alone."""
    if not endings:
        return "*"
    if endings == (os.sep,):
        return ""
    return f"*{endings[0]}" if len(endings) == 1 else f"*({'|'.join(endings)})"
