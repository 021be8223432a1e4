"""One input after another is tried within limits of time and memory; what breaks a law is saved."""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from fuzz.findings import MEMORY, SECONDS, Failure, TooSlow, failure_of, save

Law = Callable[[bytes], None]


class Count(NamedTuple):
    """How many inputs were tried, how many failed, and the files of findings that are new."""

    tried: int = 0
    failed: int = 0
    new: tuple[str, ...] = ()


def total(counts: Iterable[Count]) -> Count:
    """Return counts together; each file of findings once."""
    counts = list(counts)
    new = dict.fromkeys(name for count in counts for name in count.new)
    return Count(sum(count.tried for count in counts), sum(count.failed for count in counts), tuple(new))


def tried(law: Law, data: bytes) -> Failure | None:
    """Return what an input comes to, if it breaks a law, or takes too long."""
    try:
        with _in_time():
            law(data)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  # whatever it is, it is what is looked for
        return failure_of(error)
    return None


@contextmanager
def _in_time() -> Iterator[None]:
    """Raise TooSlow in a `with` block after SECONDS of the processor's time; Windows has no alarm for that."""
    if sys.platform == "win32":
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise TooSlow(f"more than {SECONDS} s")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@contextmanager
def limited_memory() -> Iterator[None]:
    """Let this process take MEMORY more than it has, where Linux says how much that is; beyond is a MemoryError."""
    if sys.platform != "linux":
        yield
        return
    import resource

    before = resource.getrlimit(resource.RLIMIT_AS)
    has = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (has + MEMORY, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


class Trials:
    """Tries inputs of a target, and keeps count in a file. `running` holds the input that is being tried."""

    def __init__(self, name: str, suffix: str, law: Law, folder: Path, job: int) -> None:
        self.name, self.suffix, self.law, self.folder = name, suffix, law, folder
        self.running, self._counted = running_file(folder, name, job), count_file(folder, name, job)
        self.count, self._told = Count(), 0.0
        self.running.parent.mkdir(parents=True, exist_ok=True)

    def __call__(self, data: bytes) -> None:
        self.running.write_bytes(data)
        failure = tried(self.law, data)
        path = save(self.folder, self.name, self.suffix, data, failure) if failure is not None else None
        now = Count(1, int(failure is not None), (path.name,) if path else ())
        self.count = total((self.count, now))
        if failure is not None or time.monotonic() - self._told > 1:
            self.tell()

    def tell(self) -> None:
        """Write the count to its file."""
        self._told = time.monotonic()
        self._counted.write_text(json.dumps(self.count))


def running_file(folder: Path, name: str, job: int) -> Path:
    """Return the file of the input that a job tries."""
    return folder / "jobs" / f"{name}-{job}.running"


def count_file(folder: Path, name: str, job: int) -> Path:
    """Return the file of a job's Count."""
    return folder / "jobs" / f"{name}-{job}.count"
