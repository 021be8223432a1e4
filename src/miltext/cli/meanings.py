"""What was perhaps meant by a verb or an option that is not there: the nearest by its meaning or its spelling."""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Iterable

import click

from miltext.diagnostics.suggestions import nearest

VERBS_MEANT = {
    **dict.fromkeys(("lint", "validate", "verify", "test", "analyze"), ("check",)),
    "fix": ("check --fix",),
    "watch": ("check --watch",),
    **dict.fromkeys(("format", "indent", "pretty", "prettify", "beautify", "tidy"), ("fmt",)),
    **dict.fromkeys(("cat", "dis", "disassemble", "dump", "show", "decompile", "text", "export"), ("print",)),
    **dict.fromkeys(("view", "html", "open", "browse", "graph", "visualize", "plot", "draw"), ("print --html",)),
    **dict.fromkeys(("as", "asm", "assemble", "encode", "serialize"), ("parse", "build")),
    **dict.fromkeys(("compile", "coremlc", "make", "package", "pack", "write", "save"), ("build",)),
    **dict.fromkeys(("convert", "transform"), ("build", "convert-weights")),
    **dict.fromkeys(("quantize", "palettize", "compress", "prune", "half", "fp16"), ("convert-weights",)),
    **dict.fromkeys(("summary", "summarize", "inspect", "stat", "stats", "ls", "list", "metadata"), ("info",)),
    **dict.fromkeys(("description", "toml"), ("describe",)),
    **dict.fromkeys(("infer-types", "typecheck", "complete", "elaborate"), ("infer",)),
    **dict.fromkeys(("operations", "operators", "search"), ("ops",)),
    **dict.fromkeys(("bisect", "shrink", "minimize", "delta"), ("reduce",)),
    **dict.fromkeys(("cut", "slice", "split", "subgraph"), ("extract",)),
    **dict.fromkeys(("resize", "shape"), ("reshape",)),
    **dict.fromkeys(("find", "where", "line"), ("locate",)),
    **dict.fromkeys(("mv", "replace"), ("rename",)),
    **dict.fromkeys(("predict", "eval", "evaluate", "exec", "execute", "interpret"), ("run",)),
    **dict.fromkeys(("cmp", "snr", "equal"), ("diff", "compare")),
    **dict.fromkeys(("random", "fuzz", "sample"), ("generate",)),
    **dict.fromkeys(("setup", "install", "init"), ("git setup", "completion", "setup")),
    **dict.fromkeys(("server", "language-server", "serve"), ("lsp",)),
    **dict.fromkeys(("code", "error", "why"), ("explain",)),
    **dict.fromkeys(("remove", "uninstall"), ("undo",)),
    **dict.fromkeys(("doc", "docs"), ("help", "ops")),
    "man": ("help",),
    "version": ("--version",),
}
"""What other tools call what a verb does, or part of it."""

OPTIONS_MEANT = {
    **dict.fromkeys(("--out", "--output", "--output-file", "--to-file"), ("--output", "-o")),
    "--json": ("--format json",),
    **dict.fromkeys(("--silent", "--no-warnings", "--no-progress", "-s"), ("--quiet",)),
    **dict.fromkeys(("--no-color", "--no-colors", "--no-colour", "--plain"), ("--color never",)),
    **dict.fromkeys(("--colors", "--colour"), ("--color",)),
    **dict.fromkeys(("--stdin-filepath", "--stdin-path", "--filename", "--assume-filename"), ("--stdin-filename",)),
    **dict.fromkeys(("--overwrite", "--replace", "-f"), ("--force",)),
    **dict.fromkeys(("--dry-run", "-n"), ("--diff", "--check")),
    **dict.fromkeys(("--write", "--apply", "--autofix"), ("--fix",)),
    **dict.fromkeys(("--disable", "--exclude-codes", "--extend-ignore"), ("--ignore",)),
    **dict.fromkeys(("--enable", "--codes", "--extend-select"), ("--select",)),
    **dict.fromkeys(("--output-format", "--report"), ("--format",)),
    **dict.fromkeys(("--line-length", "--columns"), ("--width",)),
    **dict.fromkeys(("--follow", "-w"), ("--watch",)),
    "--no-config": ("--isolated",),
    "--seed": ("--random",),
    "--stage": ("--model",),
}
"""What other tools call an option; of what it may mean, the first that a verb has is told."""

MODEL_ENDINGS = (".mil", ".mlmodel", ".mlpackage", ".mlmodelc", ".pb", ".txtpb")


def verbs_meant(word: str, verbs: Collection[str]) -> tuple[str, ...]:
    """Return what was perhaps meant by a verb that is not there: verbs, some with an option; nothing if unknown."""
    known = {**{verb: (verb,) for verb in verbs}, **VERBS_MEANT}
    if word.lower() not in known and (word.lower().endswith(MODEL_ENDINGS) or os.path.isfile(word)):
        return (f"print {shlex.quote(word)}",)
    found = word.lower() if word.lower() in known else nearest(word, known)
    meant = known[found] if found else ()
    return tuple(each for each in meant if each.split()[0] in verbs or each.startswith("--"))


def option_meant(word: str, options: Iterable[str]) -> str | None:
    """Return the option that was perhaps meant by one that a verb does not have; None if none is like it."""
    there = list(options)
    meant = [each for each in OPTIONS_MEANT.get(word, ()) if each.split()[0] in there]
    near = nearest(word.lstrip("-"), [each[2:] for each in there if each.startswith("--")])
    return meant[0] if meant else f"--{near}" if near else None


def or_meant(meant: Iterable[str]) -> str:
    """Return the end of a message that names what was perhaps meant."""
    named = " or ".join(f"`{each}`" for each in meant)
    return f"; did you mean {named}?" if named else ""


def no_such_command(word: str, context: click.Context, verbs: Collection[str]) -> click.UsageError:
    """Return the error of a verb, or a command of one, that is not there."""
    return click.UsageError(f"no such command: {word}{or_meant(verbs_meant(word, verbs))}", context)


def no_such_option(failure: click.NoSuchOption, context: click.Context) -> click.UsageError:
    """Return the error of an option that a verb does not have; before a verb, it is perhaps the verb's."""
    options = [name for each in context.command.get_params(context) for name in (*each.opts, *each.secondary_opts)]
    meant = option_meant(failure.option_name, options)
    end = or_meant([meant] if meant else [])
    if not end and isinstance(context.command, click.Group):
        end = "; the options of a verb stand after it"
    return click.UsageError(f"no such option: {failure.option_name}{end}", context)
