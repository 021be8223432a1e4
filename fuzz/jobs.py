"""Jobs started and watched: what they count, and the input at which one died or stood still."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from fuzz import ROOT
from fuzz.findings import SECONDS, Failure, save
from fuzz.trials import Count, count_file, running_file, total

PATIENCE = 6
"""So many times SECONDS an input may take before its job is ended from outside."""


Command = Callable[[int, float], list[str]]


class NeverBegun(Exception):
    """A job ended before its first input: other targets go on."""


class Result(NamedTuple):
    """What all jobs of a target counted; `covered` is of instrumented places, None where nothing measures it."""

    counted: Count = Count()
    covered: int | None = None


class Job:
    """A process that fuzzes a target until its time is over; one that dies is followed by another.

    `command` gives what to run by the seed and the seconds that are left.
    """

    def __init__(
        self, name: str, suffix: str, folder: Path, number: int, seed: int, seconds: float, command: Command
    ) -> None:
        self.name, self.suffix, self.folder = name, suffix, folder
        self.seed, self.until, self.command = seed, time.monotonic() + seconds, command
        self.before = Count()
        self.running, self.counted = running_file(folder, name, number), count_file(folder, name, number)
        self.log = folder / "jobs" / f"{name}-{number}.log"
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self.log.write_bytes(b"")
        self._start()

    def _start(self) -> None:
        for path in (self.counted, self.running):
            path.unlink(missing_ok=True)
        run = self.command(self.seed, max(1.0, self.until - time.monotonic()))
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(run, cwd=ROOT, stdout=log, stderr=log, stdin=subprocess.DEVNULL)

    def is_over(self) -> bool:
        """Look after the process; whether the job is done."""
        status = self.process.poll()
        if status is None and self._stands_still():
            self.process.kill()
            status = self.process.wait()
        if status is None:
            return False
        if status == 0:
            return True
        self.before = total((self.count(), self._died(status)))
        self.counted.unlink(missing_ok=True)
        if time.monotonic() > self.until:
            return True
        self.seed += 1 << 16
        self._start()
        return False

    def _stands_still(self) -> bool:
        with suppress(FileNotFoundError):
            return time.time() - self.running.stat().st_mtime > PATIENCE * SECONDS
        return False

    def _died(self, status: int) -> Count:
        """Save the input at which the process ended, and count it."""
        story = self.log.read_text(errors="replace")[-3000:]
        if not self.running.exists():
            raise NeverBegun(f"a job ended before its first input:\n{story}")
        failure = Failure(f"the process ended with {status}", story)
        path = save(self.folder, self.name, self.suffix, self.running.read_bytes(), failure)
        return Count(1, 1, (path.name,) if path else ())

    def count(self) -> Count:
        """Return what was counted up to now."""
        with suppress(FileNotFoundError, ValueError):
            tried, failed, new = json.loads(self.counted.read_text())
            return total((self.before, Count(tried, failed, tuple(new))))
        return self.before

    def covered(self) -> int | None:
        """Return how many instrumented places libFuzzer saw covered."""
        found = re.findall(r"\bcov: (\d+)", self.log.read_text(errors="replace"))
        return int(found[-1]) if found else None


def run(name: str, suffix: str, folder: Path, seed: int, seconds: float, jobs: int, engine: str) -> Iterator[Result]:
    """Fuzz a target in so many jobs, and yield each second what they count, and that of the end."""
    working = [
        Job(name, suffix, folder, number, seed + number, seconds, partial(_command, name, folder, number, engine))
        for number in range(jobs)
    ]
    try:
        going = list(working)
        while going:
            time.sleep(1)
            going = [job for job in going if not job.is_over()]
            covered = [found for job in working if (found := job.covered()) is not None]
            yield Result(total(job.count() for job in working), max(covered, default=None))
    finally:
        for job in working:
            if job.process.poll() is None:
                job.process.terminate()
                job.process.wait()


def _command(name: str, folder: Path, number: int, engine: str, seed: int, seconds: float) -> list[str]:
    return [sys.executable, "-m", "fuzz.job", name, str(folder), str(number), str(seed), str(seconds), engine]
