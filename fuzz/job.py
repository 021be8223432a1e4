"""One job of `python -m fuzz run`, in a process of its own.

`python -m fuzz.job TARGET FOLDER JOB SEED SECONDS ENGINE`
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from fuzz.engines import Folders, guided, instrumented, plain
from fuzz.trials import Trials, limited_memory


def main(name: str, folder: Path, job: int, seed: int, seconds: float, engine: str) -> None:
    """Fuzz a target for so many seconds."""
    with instrumented(engine):
        from fuzz.targets import TARGETS

        target = TARGETS[name]
        with target.opened() as law, limited_memory():
            trials = Trials(name, target.suffix, law, folder, job)
            until = time.monotonic() + seconds
            if engine == "atheris":
                folders = Folders(folder / "corpus" / name, folder / "jobs" / f"{name}-{job}.seeds")
                guided(target, trials, seed, until, folders, trials.tell)
            plain(target, trials, seed, until)
            trials.tell()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]).resolve(), int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5]), sys.argv[6])
