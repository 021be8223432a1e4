"""Checks of an output's target: a file of another kind, or the input, is not replaced."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from miltext.diagnostics import Note, codes
from miltext.diagnostics.wording import listed
from miltext.files.contents import is_protobuf_text
from miltext.files.refusals import refusal
from miltext.files.staging import THERE
from miltext.files.writing import is_stream
from miltext.models.manifest import MANIFEST
from miltext.schema.proto import Program

if TYPE_CHECKING:
    from miltext.models.model import Model

ENDINGS = {
    ".mil": "mil",
    ".html": "html",
    ".htm": "html",
    ".pb": "pb",
    ".txtpb": "txtpb",
    ".npy": "npy",
    ".npz": "npz",
    ".png": "png",
    ".toml": "toml",
    ".json": "json",
    ".md": "comment",
    ".diff": "diff",
    ".patch": "diff",
    ".mlmodel": "model",
    ".mlpackage": "model",
    ".mlmodelc": "model",
}
"""The endings that determine the kind of a name; any other ending fits all kinds outside STRICT."""

STRICT = ("npz",)
"""The kinds whose names must have their own ending, or none."""

_CALLED = {
    "mil": "MIL text",
    "html": "a page",
    "outline": "an outline",
    "pb": "a serialized Program",
    "txtpb": "a Program as protobuf's text",
    "sidecar": "a sidecar",
    "npy": "an array",
    "npz": "an archive of arrays",
    "png": "a picture",
    "toml": "a description",
    "difference": "a text difference",
    "diff": "a unified diff",
    "json": "a difference as JSON",
    "comment": "a difference as Markdown",
}

_WRITERS = {
    "mil": "`miltext print` writes MIL text",
    "html": "`miltext print --html` writes a page of a program, and `miltext diff --format html` one of a difference",
    "pb": "`miltext parse` writes a serialized Program",
    "txtpb": "`miltext parse` writes a Program as protobuf's text",
    "npy": "`miltext weights --save` and `miltext run` write arrays",
    "npz": "`miltext run` writes an archive of arrays",
    "png": "`miltext run` writes pictures",
    "toml": "`miltext describe` writes a description",
    "json": "`miltext diff` writes JSON to a file, and `miltext info --format json`, as many verbs, to standard output",
    "comment": "`miltext diff --format markdown` writes Markdown",
    "diff": "`miltext diff --format unified` writes a patch",
    "model": "`miltext build` writes a model",
}
"""The verbs that write a kind of file, for an output with an ending of that kind."""

FOLDERS = {".mlpackage": ("package", (MANIFEST,)), ".mlmodelc": ("compiled model", ("coremldata.bin", "model.mil"))}
"""The nouns for folders of models, by their endings, and the files that such a folder contains."""

DISTINCT = ("pb", "npy", "npz", "png", "json", "comment", "diff")
"""The kinds recognized by a file's beginning, whatever its name: files of others often have the same endings."""

PROGRAMS = ("mil", "pb", "txtpb")
"""The kinds of input that a model does not replace."""

_HEAD = 1 << 16
"""The number of bytes read to determine a file's kind."""


def _is_program(data: bytes) -> bool:
    """Whether bytes are a Program: one with functions or attributes, or a version and a comment, and no more."""
    try:
        made = Program.FromString(data)
        bare = Program(version=made.version, docString=made.docString)
        return bool(made.functions or made.attributes) or bare.SerializeToString() == data
    except Exception:  # noqa: BLE001 - each backend of protobuf has its own errors
        return False


_DIFFERENCE = rb"(?:# [^\n]*\n)*(?:--- [^\n]*\n\+\+\+ |no (?:difference|breaking change)(?: \([^\n]*\))?\n|undecided: )"
_NOTE = rb"# [^\n]*(?:: | -> )"
_COUNT = rb"[^\n]+: (?:added|removed|renamed from |interface changed|\d+ (?:operation|value|change|differ))"
_TABLE = rb" {2,}\|[^\n]*\n(?: [^\n]+ \|[^\n]*\n)* total +\|"
"""Patterns, compiled only to recognize a file: the beginning of a difference in lines; a line of a difference with only
notes; a line of counts; a table of counts.
"""


def _is_difference(data: bytes) -> bool:
    """Whether bytes may be a difference in lines."""
    lines = data.splitlines()
    alone = (all(re.match(pattern, line) for line in lines) for pattern in (_NOTE, _COUNT))
    return any(re.match(pattern, data) for pattern in (_DIFFERENCE, _TABLE)) or any(alone)


_IS: dict[str, Callable[[bytes], object]] = {
    "mil": partial(re.match, rb"(?:\s|//[^\n]*\n|/\*(?:[^*]|\*(?!/))*\*/)*program\b"),
    "html": partial(re.match, rb"(?i:\s*<(?:!doctype )?html)"),
    "outline": partial(re.match, rb"(?://[^\n]*\n)*[^\n]+\) -> \([^\n]*\): [\d,]+ operations?\b"),
    "pb": _is_program,
    "txtpb": is_protobuf_text,
    "sidecar": partial(re.match, rb"// Made by miltext "),
    "npy": partial(re.match, rb"\x93NUMPY"),
    "npz": partial(re.match, rb"PK"),
    "png": partial(re.match, rb"\x89PNG\r\n\x1a\n"),
    "toml": bool,  # it was read before
    "difference": _is_difference,
    "diff": _is_difference,
    "json": partial(re.match, rb'\{\s*"form": \d+,\s*"breaking": '),
    "comment": partial(re.match, "### [^\n]+ → [^\n]+\n\n".encode()),
}


def check_output(output: str, kind: str, *sources: str, force: bool | None = None) -> None:
    """Refuse a file that may not be replaced by a `kind` of output from `sources`; each may be `-`.

    With `force`, which is None for verbs without that option, anything except a folder is replaced, even a source;
    without it, nothing. Raise ModelError: MIL401 for a name of another kind, MIL402 for a source itself, a file inside
    it, and, without that option, an existing file with other contents. Raise FileExistsError for a file that --force
    would replace, IsADirectoryError.
    """
    path = Path(output)
    if output == "-" or is_stream(path):
        return
    check_name(path, kind)
    for source in sources:
        if force is None or not _is_same_file(output, source):
            check_place(output, source)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), output)
    if force is None and (kind in DISTINCT or kind not in _kinds_of_ending(Path(os.path.realpath(path)))):
        check_content(path, kind)
    elif force is False and os.path.lexists(os.path.realpath(path)):
        raise FileExistsError(errno.EEXIST, THERE, output)


def _is_same_file(output: str, source: str) -> bool:
    try:
        return source != "-" and os.path.isfile(source) and os.path.samefile(output, source)
    except OSError:
        return False


def check_target(output: Path, force: bool, read: Iterable[Model]) -> None:
    """Refuse a target that may not be replaced by a result from the models `read`.

    Raise FileExistsError for an existing one, unless `force`; ModelError (MIL402) for a target that cannot be replaced:
    a folder of another kind, anything except a file for a file, and a target that contains an input or is inside it.
    """
    real = Path(os.path.realpath(output))
    inputs = {Path(os.path.realpath(model.path)): model.kind for model in read if model.path}
    if any(path.is_dir() and path in real.parents for path in inputs):
        raise refusal(codes.TARGET_WOULD_BE_LOST, "this is inside the input model", output)
    if not os.path.lexists(real):
        return
    if not force:
        raise FileExistsError(errno.EEXIST, THERE, str(output))
    kind, signs = FOLDERS.get(output.suffix.lower(), ("file", ()))
    is_ours = any((real / sign).is_file() for sign in signs) or (real.is_dir() and not any(real.iterdir()))
    if not (is_ours if signs else real.is_file()):
        raise refusal(codes.TARGET_WOULD_BE_LOST, f"this is not a {kind}, and is not replaced", output)
    for path, of in inputs.items():
        if real in path.parents or (real == path and of in PROGRAMS):
            raise refusal(
                codes.TARGET_WOULD_BE_LOST, f"this contains the input {path.name!r}, and is not replaced", output
            )


def check_folder(output: Path, force: bool, read: Iterable[Model], ours: re.Pattern[str]) -> None:
    """Refuse a folder that may not be replaced by results from the models `read`, which have names of the pattern.

    An empty folder may be replaced, and with `force` one that contains only such results. Raise FileExistsError for
    another existing one, ModelError (MIL402) for one with other contents, and for a folder inside a model.
    """
    real = Path(os.path.realpath(output))
    inputs = [Path(os.path.realpath(model.path)) for model in read if model.path]
    if any(path.is_dir() and path in (real, *real.parents) for path in inputs):
        raise refusal(codes.TARGET_WOULD_BE_LOST, "this is inside the input model", output)
    there = sorted(os.listdir(real)) if real.is_dir() else None
    if there == [] or not os.path.lexists(real):
        return
    if not force:
        raise FileExistsError(errno.EEXIST, THERE, str(output))
    others = [name for name in there or () if not ours.fullmatch(name)]
    if there is None or others:
        what = f"this contains {others[0]!r}" if others else "this is not a folder"
        raise refusal(codes.TARGET_WOULD_BE_LOST, f"{what}, and is not replaced", output)
    for path in inputs:
        if real in path.parents:
            message = f"this contains the input {path.name!r}, and is not replaced"
            raise refusal(codes.TARGET_WOULD_BE_LOST, message, output)


def check_kept(output: Path, files: Iterable[Path]) -> None:
    """Refuse a target that equals, or contains, a file among the read `files`.

    Raise ModelError (MIL402).
    """
    if not output.exists():
        return
    target = output.stat()
    for file in sorted({*files}):
        places = (Path(os.path.realpath(file)), Path(os.path.realpath(file.parent), file.name))
        if any(_is_within(place, target) for place in places):
            raise refusal(
                codes.TARGET_WOULD_BE_LOST, f"this contains the input {file.name!r}, and is not replaced", output
            )


def check_place(output: str, source: str) -> None:
    """Refuse to write to `source`, a read file or `-`, or inside it. Raise ModelError (MIL402)."""
    try:
        read = os.fstat(0) if source == "-" else os.stat(source)
    except OSError:
        return
    if _is_within(Path(os.path.realpath(output)), read):
        raise refusal(codes.TARGET_WOULD_BE_LOST, "this is the input, or a part of it, and is not replaced", output)


def _is_within(path: Path, status: os.stat_result) -> bool:
    """Whether a path is the file or folder with this status, or is inside it."""
    return any(each.exists() and os.path.samestat(each.stat(), status) for each in (path, *path.parents))


def check_name(path: Path, kind: str) -> None:
    """Refuse a name whose ending, or the ending of its link's target, belongs to another kind.

    Raise ModelError (MIL401).
    """
    others = _kinds_of_endings(path) - {kind}
    if others or (kind in STRICT and path.suffix != "" and not _kinds_of_endings(path)):
        own = [ending for ending, known in ENDINGS.items() if known == kind]
        message = f"this name does not fit {_CALLED[kind]}{f', which ends in {listed(own)}' if own else ''}"
        raise refusal(codes.WRONG_ENDING, message, str(path), *(Note(_WRITERS[other]) for other in sorted(others)))


def kind_of_name(output: str) -> str | None:
    """Return the kind of an output by the ending of its name; None for any other ending, and for standard output."""
    return ENDINGS.get(Path(output).suffix.lower())


def _kinds_of_endings(path: Path) -> set[str]:
    """Return the kinds of the endings of a name and of its link's target."""
    return _kinds_of_ending(path) | _kinds_of_ending(Path(os.path.realpath(path)))


def _kinds_of_ending(path: Path) -> set[str]:
    ending = path.suffix.lower()
    return {ENDINGS[ending]} if ending in ENDINGS else set()


def check_content(path: Path, kind: str) -> None:
    """Refuse an existing target of another kind: a file, a device, a FIFO. Raise ModelError (MIL402), OSError."""
    if not is_stream(path):
        if not path.is_file():
            return
        with open(path, "rb") as file:
            data = file.read(-1 if kind == "pb" else _HEAD)
        if not data or _IS[kind](data):
            return
    raise refusal(codes.TARGET_WOULD_BE_LOST, f"the target is not {_CALLED[kind]}, and is not replaced", path)
