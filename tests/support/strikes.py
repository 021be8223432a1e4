"""A run of miltext that a signal strikes after it has written some files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import os, signal, sys, time
from miltext.building import writing
from miltext.models import manifest
from miltext.files import writing as files
from miltext.__main__ import main

count = 0
def struck(path, pieces, write=files.write_new):
    global count
    write(path, pieces)
    count += 1
    if count == {strike}:
        os.kill(os.getpid(), signal.{number})
        time.sleep(60)

writing.write_new = files.write_new = struck
main()
"""


def struck(folder: Path, number: str, strike: int, *words: str) -> subprocess.CompletedProcess[bytes]:
    """Run a verb in a folder, struck by the signal of a name after so many files, and return its end."""
    command = [sys.executable, "-c", SCRIPT.format(number=number, strike=strike), *words]
    return subprocess.run(command, capture_output=True, check=False, timeout=50, cwd=folder)
