"""Tests of candidates: each once, several at a time, up to a limit."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from miltext.containers.programs import BareProgram
from miltext.diagnostics import MiltextError
from miltext.diagnostics.wording import tally
from miltext.reduction.graph import count_operations
from miltext.reduction.judging import Judge
from miltext.schema.wire import wire_of

if TYPE_CHECKING:
    from types import TracebackType

    from miltext.diagnostics import Diagnostic
    from miltext.models.model import Model
    from miltext.reduction.source import OriginalModel
    from miltext.schema.proto import Program


class Candidate:
    """A smaller model for a test to judge.

    `program` is its Program, which must not be changed; `is_bare` means without metadata, and `kind` is the kind of its
    file. `path` is its file, which is written at the first use, and lasts as long as the test; a test may change it.
    `model` is for `miltext.run(candidate.model, ...)`, which needs the weights.
    """

    def __init__(self, source: OriginalModel, program: Program, kind: str, *, is_bare: bool = False) -> None:
        self.program, self.kind, self.is_bare = program, kind, is_bare
        self._source = source
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def __repr__(self) -> str:
        return f"<Candidate: {tally(count_operations(self.program), 'operation')}, written as {self.kind}>"

    @cached_property
    def path(self) -> Path:
        """The file or folder of the candidate. Raise OSError, and ModelError for a candidate that cannot be written."""
        self._folder = tempfile.TemporaryDirectory(prefix="miltext-reduce-", ignore_cleanup_errors=True)
        path = Path(self._folder.name) / f"candidate.{self.kind}"
        self._source.save(self.program, path, is_bare=self.is_bare, alone=True)
        return path

    @property
    def model(self) -> Model:
        """The program as a model with access to its weights."""
        model = BareProgram.read("pb", wire_of(self.program), self._source.name, None)
        model.model_path = self._source.model_path
        return model

    @property
    def operations(self) -> int:
        """The number of its operations, also in blocks, without constants."""
        return count_operations(self.program)

    def save(self, path: Path, *, force: bool = False) -> list[Diagnostic]:
        """Write it in the format of the path's ending; return the warnings. Raise OSError, and ModelError as
        `miltext.build` does.
        """
        return self._source.save(self.program, path, force=force, is_bare=self.is_bare)

    def require(self, kinds: Collection[str]) -> None:
        """Write it as its kind, if required, and try the other kinds. Raise as `save` does."""
        for kind in kinds:
            if kind == self.kind:
                _ = self.path
            else:
                with tempfile.TemporaryDirectory(prefix="miltext-reduce-", ignore_cleanup_errors=True) as folder:
                    self.save(Path(folder) / f"other.{kind}")

    def forget(self) -> None:
        """Remove the files written for a test."""
        vars(self).pop("path", None)
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None


Test: TypeAlias = Callable[[Candidate], bool]
"""A function that returns whether the fault occurs in a candidate."""


class OutOfTests(Exception):
    """The limit of tests is reached."""


class Trials:
    """Runs of a test: `tests` counts them, and `reused` the known answers.

    A test gets `jobs` candidates at a time. A candidate is not tested if it has a new error, or cannot be `written` as
    each of some kinds. `stop` ends the running tests when a search is interrupted.
    """

    def __init__(
        self,
        test: Test,
        original: Candidate,
        *,
        jobs: int = 1,
        most: int | None = None,
        written: Collection[str] = (),
        stop: Callable[[], object] = bool,
    ) -> None:
        self.tests = self.reused = 0
        self._stop = stop
        self.jobs = max(1, jobs)
        self._test, self._most, self._written = test, most, written
        self._original = original
        self._judge = Judge(original.program)
        self._answers: dict[bytes, bool] = {}
        self._pool = ThreadPoolExecutor(self.jobs)

    def __enter__(self) -> Trials:
        return self

    def __exit__(self, _: type[BaseException] | None, failure: BaseException | None, __: TracebackType | None) -> None:
        if failure is not None:
            self._stop()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def ask(self, candidates: Sequence[Candidate | None]) -> list[bool]:
        """Return for each candidate whether the test passes; for None it does not. Raise OutOfTests."""
        keys = [None if each is None else _key(each) for each in candidates]
        fresh: dict[bytes, Candidate] = {}
        for key, each in zip(keys, candidates, strict=True):
            if key is None or each is None or key in fresh:
                continue
            if key in self._answers:
                self.reused += 1
            elif each is self._original or self._judge(each.program):
                fresh[key] = each
            else:
                self._answers[key] = False
        self._run(fresh)
        return [key is not None and self._answers.get(key, False) for key in keys]

    def once_more(self, candidate: Candidate) -> bool:
        """Return the answer of another test of a candidate that passed before; True if no more tests are allowed."""
        if self._most is not None and self.tests >= self._most:
            return True
        self.tests += 1
        return self._tried(candidate) is True

    def _run(self, fresh: dict[bytes, Candidate]) -> None:
        """Test candidates, as far as allowed; raise OutOfTests only if none of them may be tested."""
        left = len(fresh) if self._most is None else min(self._most - self.tests, len(fresh))
        if fresh and left <= 0:
            raise OutOfTests
        tried = {key: self._pool.submit(self._tried, fresh[key]) for key in [*fresh][:left]}
        for key, running in tried.items():
            answer = running.result()
            self.tests += answer is not None
            self._answers[key] = answer is True

    def _tried(self, candidate: Candidate) -> bool | None:
        """Return the answer of the test; None if nothing can be tested."""
        try:
            if not _is_writable(candidate, self._written):
                return None
            return bool(self._test(candidate))
        finally:
            candidate.forget()


def _is_writable(candidate: Candidate, kinds: Collection[str]) -> bool:
    try:
        candidate.require(kinds)
    except MiltextError:
        return False
    return True


def _key(candidate: Candidate) -> bytes:
    return sha256(wire_of(candidate.program) + bytes([candidate.is_bare])).digest()
