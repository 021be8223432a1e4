"""Findings: inputs that break a law, one for each place where one breaks, in files."""

from __future__ import annotations

import hashlib
import traceback
from pathlib import Path
from typing import NamedTuple

from fuzz import ROOT

LAWS = ("tests/support/", "fuzz/")
SECONDS, MEMORY = 10, 1 << 30
"""How long an input may take, and how many bytes beyond what the process has before."""


class TooSlow(BaseException):
    """An input took longer than SECONDS. No handler of errors takes it for one of its own."""


class Died(BaseException):
    """The process ended by itself at an input."""


class Failure(NamedTuple):
    """What an input came to: the `place` tells failures apart, the `story` is for people."""

    place: str
    story: str

    @property
    def key(self) -> str:
        """A short name of the place."""
        return hashlib.sha256(self.place.encode()).hexdigest()[:10]


def failure_of(error: BaseException) -> Failure:
    """Return what an error says: its kind, and the line of miltext, or else of a law, that it comes from."""
    story = "".join(traceback.format_exception(error))
    while error.__cause__ is not None:
        error = error.__cause__
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _ours(frame)]
    if isinstance(error, TooSlow | MemoryError):  # where that happens is chance
        frames = [frame for frame in frames if _ours(frame).startswith(LAWS) and frame.name != "stop"]
    kind = type(error).__name__
    place = f"{kind} in {frames[-1].name}, {_ours(frames[-1])}: {frames[-1].line}" if frames else kind
    return Failure(place, story)


def _ours(frame: traceback.FrameSummary) -> str:
    """Return the path of a frame's file below the project; nothing if it is not there."""
    path = Path(frame.filename)
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) and ".venv" not in path.parts else ""


def save(folder: Path, target: str, suffix: str, data: bytes, failure: Failure) -> Path | None:
    """Write an input and its story, unless one as short of its place is there. Return the path of what is new."""
    path = folder / f"{target}-{failure.key}{suffix}"
    is_new = not path.exists()
    if not is_new and path.stat().st_size <= len(data):
        return None
    folder.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.with_name(f"{path.name}.txt").write_text(f"{failure.place}\n\n{failure.story}", "utf-8", "backslashreplace")
    return path if is_new else None


def target_of(path: Path) -> str:
    """Return the name of the target that made a finding."""
    return path.name.partition("-")[0]
