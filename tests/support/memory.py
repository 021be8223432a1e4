"""The most memory that a command of miltext has at once, in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from typing import NamedTuple

_CODE = """
import sys
from miltext.cli import command

try:
    command(sys.argv[1:])
finally:
    with open("/proc/self/status") as status:
        print(next(line.split()[1] for line in status if line.startswith("VmHWM:")))
"""
# Not getrusage's ru_maxrss: in Linux, a process that is started inherits the maximum of the one that starts it.


class Run(NamedTuple):
    """How a command ended, what it said on standard error, and the most bytes that were resident at once."""

    status: int
    said: str
    resident: int


def run(*arguments: object) -> Run:
    """Run a command of miltext, in Linux, whose `/proc` says what is resident: code and mapped files, too."""
    call = [sys.executable, "-c", _CODE, *map(str, arguments)]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    return Run(done.returncode, done.stderr, int(done.stdout.split()[-1]) * 1024)
