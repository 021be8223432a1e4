"""Suggestions for an unknown verb or option: the nearest by its meaning or its spelling."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Collection, Iterable

import click

from miltext.diagnostics.suggestions import nearest
from miltext.files.writing import MODEL_FILES, MODEL_FOLDERS

VERBS_MEANT = {
    **dict.fromkeys(("lint", "linter", "validate", "verify", "test", "analyze"), ("check",)),
    "fix": ("check --fix",),
    "watch": ("check --watch",),
    **dict.fromkeys(("format", "indent", "pretty", "prettify", "beautify", "tidy", "canonicalize"), ("fmt",)),
    **dict.fromkeys(("cat", "dis", "disassemble", "objdump", "dump", "show", "decode", "decompile"), ("print",)),
    **dict.fromkeys(("text", "export", "load"), ("print",)),
    **dict.fromkeys(("roundtrip", "round"), ("print --verify-roundtrip",)),
    **dict.fromkeys(("view", "html", "open", "browse", "graph", "visualize", "plot", "draw"), ("print --html",)),
    **dict.fromkeys(("dot", "png", "netron"), ("print --html",)),
    **dict.fromkeys(("outline", "structure", "layers", "architecture"), ("print --outline",)),
    **dict.fromkeys(("as", "asm", "assemble", "encode", "serialize"), ("parse", "build")),
    "translate": ("print", "parse"),
    **dict.fromkeys(("compile", "coremlc", "coremlcompiler", "make", "package", "pack", "write", "save"), ("build",)),
    **dict.fromkeys(("convert", "transform"), ("build", "convert-weights")),
    **dict.fromkeys(("quantize", "compress", "half"), ("convert-weights",)),
    **dict.fromkeys(("fp16", "fp32", "float16", "float32", "dtype"), ("convert-weights",)),
    **dict.fromkeys(("summary", "summarize", "inspect", "stat", "stats", "status", "ls", "list", "tree"), ("info",)),
    **dict.fromkeys(("bytes", "bloat", "du", "largest", "grew"), ("size",)),
    "count": ("info", "size"),
    **dict.fromkeys(("macs", "flops", "complexity", "memory", "peak", "profile", "slow"), ("cost",)),
    **dict.fromkeys(("storage",), ("size", "weights")),
    **dict.fromkeys(("params", "parameters", "tensor", "tensors", "hash", "digest", "checksum"), ("weights",)),
    **dict.fromkeys(("description", "toml", "metadata", "signature", "author", "license"), ("describe",)),
    **dict.fromkeys(("typecheck", "elaborate", "shape"), ("infer", "reshape")),
    **dict.fromkeys(("operations", "operators", "search"), ("ops",)),
    **dict.fromkeys(("bisect", "shrink", "minimize", "minimise", "delta", "creduce"), ("reduce",)),
    **dict.fromkeys(("cut", "slice", "subgraph"), ("extract", "split")),
    **dict.fromkeys(("chunk", "divide", "partition", "shard"), ("split",)),
    **dict.fromkeys(("debug", "probe", "tap"), ("expose",)),
    "resize": ("reshape",),
    **dict.fromkeys(("where", "line", "addr2line"), ("locate",)),
    **dict.fromkeys(("grep", "match", "query", "pattern"), ("find",)),
    **dict.fromkeys(("optimise", "simplify", "passes", "fold", "dce", "cse"), ("optimize",)),
    **dict.fromkeys(("fuse", "substitute"), ("rewrite",)),
    "mv": ("rename",),
    "replace": ("rewrite", "rename"),
    **dict.fromkeys(("predict", "eval", "evaluate", "exec", "execute", "interpret", "trace"), ("run",)),
    **dict.fromkeys(("cmp", "snr", "psnr", "equal", "accuracy"), ("diff", "compare")),
    "breaking": ("diff --breaking",),
    **dict.fromkeys(("combine", "compose", "join", "concat", "chain"), ("link", "merge")),
    **dict.fromkeys(("random", "fuzz", "sample", "smith", "mutate"), ("generate",)),
    **dict.fromkeys(("setup", "install", "init"), ("git setup", "completion", "setup")),
    **dict.fromkeys(("remove", "uninstall"), ("undo", "git undo")),
    "undo": ("git undo",),
    **dict.fromkeys(("complete", "autocomplete", "bash", "zsh", "fish"), ("completion",)),
    **dict.fromkeys(("server", "language", "serve"), ("lsp",)),
    **dict.fromkeys(("code", "error", "rule", "why"), ("explain",)),
    **dict.fromkeys(("doc", "docs"), ("help", "ops")),
    **dict.fromkeys(("example", "examples", "tour", "try", "quickstart", "showcase"), ("demo",)),
    **dict.fromkeys(("man", "usage"), ("help",)),
    "version": ("--version",),
    **dict.fromkeys(("prune", "palettize", "patch", "delete", "cp"), ()),  # no verb does this; spellings mislead
}
"""Other tools' names for a verb's work, or part of it."""

OPTIONS_MEANT = {
    **dict.fromkeys(("--out", "--output", "--output-file", "--to-file"), ("--output", "-o", "--save")),
    **dict.fromkeys(("--out-file", "--outfile"), ("--output",)),
    **dict.fromkeys(("--dump", "--export", "--extract", "-o"), ("--save",)),
    **dict.fromkeys(("--silent", "--no-warnings", "--no-progress", "-s"), ("--quiet",)),
    **dict.fromkeys(("--no-color", "--no-colors", "--no-colour", "--plain"), ("--color never",)),
    **dict.fromkeys(("--colors", "--colour"), ("--color",)),
    **dict.fromkeys(("--stdin-filepath", "--stdin-path", "--filename", "--assume-filename"), ("--stdin-filename",)),
    **dict.fromkeys(("--overwrite", "--replace", "-f"), ("--force",)),
    **dict.fromkeys(("--dry-run", "-n"), ("--diff", "--check")),
    **dict.fromkeys(("--verify", "--check-only"), ("--check",)),
    **dict.fromkeys(("--write", "--apply", "--autofix"), ("--fix",)),
    **dict.fromkeys(("--disable", "--exclude-codes", "--extend-ignore"), ("--ignore",)),
    **dict.fromkeys(("--enable", "--codes", "--rule", "--rules", "--extend-select"), ("--select",)),
    **dict.fromkeys(("--output-format", "--report"), ("--format",)),
    **dict.fromkeys(("--line-length", "--columns"), ("--width",)),
    **dict.fromkeys(("--follow", "-w"), ("--watch",)),
    **dict.fromkeys(("-u", "--unified", "--patch"), ("--format unified", "--diff")),
    **{f"--{form}": (f"--format {form}",) for form in ("sarif", "github")},
    **dict.fromkeys(("--markdown", "--md"), ("--format markdown",)),
    **dict.fromkeys(("--summary", "--shortstat"), ("--stat",)),
    **dict.fromkeys(("--brief", "--short"), ("--stat", "--compact")),
    "--staged": ("--cached",),
    **dict.fromkeys(("--rev", "--revision", "--commit"), ("--git",)),
    "--unsafe": ("--unsafe-fixes",),
    "--strict": ("--no-drafts",),
    "--graph": ("--html",),
    "--hex": ("--floats hex",),
    "--decimal": ("--floats decimal",),
    **dict.fromkeys(("--num-ops", "--num-operations", "generate --size"), ("--ops",)),
    "--target": ("--opset",),
    "--category": ("--family",),
    "--binary": ("--to pb",),
    "--text": ("--to txtpb",),
    **dict.fromkeys(("parse --emit", "parse --format"), ("--to",)),
    **dict.fromkeys(("--atol", "--rtol", "--tolerance", "--snr", "--psnr"), ("--min-snr",)),
    **dict.fromkeys(("convert-weights --dtype", "convert-weights --precision"), ("--to",)),
    **dict.fromkeys(("--half", "--fp16", "--float16"), ("--to fp16",)),
    **dict.fromkeys(("--fp32", "--float32"), ("--to fp32",)),
    **dict.fromkeys(("--script", "--command", "--cmd", "-c"), ("--test",)),
    **dict.fromkeys(("--no-weights", "--hide-weights", "--skip-weights"), ("--compact", "--ignore-weights")),
    **dict.fromkeys(("--input-shape", "--input-shapes"), ("--shape", "--range")),
    **dict.fromkeys(("--no-verify", "--skip-check"), ("--no-check",)),
    "--no-config": ("--isolated",),
    "--seed": ("--random",),
    "--stage": ("--model",),
    **dict.fromkeys(("--exclude", "print --weights"), ()),  # the nearest by spelling does something else
}
"""Other tools' names for an option, perhaps of one verb; the first meaning that the verb has is
suggested.
"""

AS_IT_IS = {
    **{f"fmt {name}": "`fmt` writes the files" for name in ("-w", "-i", "--write", "--in-place", "--inplace")},
    **{f"git {name} --local": "it is for this repository alone" for name in ("setup", "undo")},
}
"""Options of other tools for the default behaviour of a verb."""

CLOSE = 0.85
"""The least similarity of a word to one in VERBS_MEANT: such a guess may be wrong twice."""


def verbs_meant(word: str, verbs: Collection[str]) -> tuple[str, ...]:
    """Return the suggestions for an unknown verb: verbs, some with an option; nothing if there are none."""
    known = {**VERBS_MEANT, **{verb: (verb,) for verb in verbs}}
    known = {name: found for name, meant in known.items() if (found := _those_in(verbs, meant)) or not meant}
    written = word.lower()
    for name in (written, re.split("[-_]", written)[0]):  # `quantize_weights` is `quantize`
        if name in known:
            return known[name]
    if written.endswith((*MODEL_FILES, *MODEL_FOLDERS)) or os.path.isfile(word):
        return (f"print {shlex.quote(word)}",)
    near = nearest(word, known, CLOSE) or nearest(word, verbs)
    return known[near] if near else ()


def _those_in(verbs: Collection[str], meant: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(each for each in meant if each.split()[0] in verbs or each.startswith("--"))


def option_meant(word: str, verb: str, there: Iterable[click.Parameter]) -> str | None:
    """Return the suggestion for an unknown option of a verb; None if no option is like it."""
    options = {name: each for each in there for name in (*each.opts, *each.secondary_opts)}
    known = next((OPTIONS_MEANT[name] for name in (f"{verb} {word}", word) if name in OPTIONS_MEANT), None)
    for meant in known or ():
        name, _, value = meant.partition(" ")
        if name in options and _takes(options[name], value):
            return meant
    if known == ():
        return None
    near = nearest(word.lstrip("-"), [each[2:] for each in options if each.startswith("--")])
    is_opposite = word.startswith("--no-") and not (near or "").startswith("no-")
    return f"--{near}" if near and not is_opposite else None


def _takes(option: click.Parameter, value: str) -> bool:
    return not value or not isinstance(option.type, click.Choice) or value in option.type.choices


def or_meant(meant: Iterable[str]) -> str:
    """Return the end of a message, with its suggestions."""
    named = " or ".join(f"`{each}`" for each in meant)
    return f"; did you mean {named}?" if named else ""


def no_such_command(word: str, context: click.Context, verbs: Collection[str]) -> click.UsageError:
    """Return the error for an unknown verb, or an unknown command of a verb."""
    return click.UsageError(f"no such command: {word}{or_meant(verbs_meant(word, verbs))}", context)


def no_such_option(failure: click.NoSuchOption, context: click.Context) -> click.UsageError:
    """Return the error for an option that a verb does not have; before a verb, it may belong to the verb."""
    verb = context.command_path.partition(" ")[2]
    as_it_is = AS_IT_IS.get(f"{verb} {failure.option_name}")
    if as_it_is:
        return click.UsageError(f"no such option: {failure.option_name}; leave it out: {as_it_is}", context)
    meant = option_meant(failure.option_name, verb, context.command.get_params(context))
    end = or_meant([meant] if meant else [])
    if not end and isinstance(context.command, click.Group):
        end = "; the options of a verb come after it"
    return click.UsageError(f"no such option: {failure.option_name}{end}", context)


def called(context: click.Context) -> click.Context:
    """Return the context of the verb that a group calls, for the usage in an error of the verb's options."""
    name, group = context.invoked_subcommand, context.command
    verb = group.get_command(context, name) if name and isinstance(group, click.Group) else None
    return context if verb is None else click.Context(verb, info_name=name, parent=context)


def in_words(failure: click.BadParameter) -> str:
    """Return the message of a wrong value; a number is called by its kind, and not by click's name of the type."""
    taken = failure.param.type if failure.param is not None else None
    if isinstance(taken, (click.types.IntParamType, click.types.FloatParamType)):
        kind = "a whole number" if isinstance(taken, click.types.IntParamType) else "a number"
        return failure.message.replace(f"a valid {taken.name}", kind)
    return failure.message
