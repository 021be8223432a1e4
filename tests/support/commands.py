"""The command `miltext` in tests, in a process of its own or, much faster, in that of the test.

`tests/cli/test_cli.py` holds that both say the same. What is about processes needs one of its own: terminals, signals,
closed streams, names of files that are not Unicode, and what is imported.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import signature
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from miltext.cli import command

Ended = subprocess.CompletedProcess[bytes]

_STREAMS: dict[str, Any] = {"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {}
RUNNER = CliRunner(**_STREAMS)
"""click before 8.2 mixes the two streams unless it is told not to."""


def miltext(
    *arguments: object, input: bytes | None = None, cwd: Path | None = None, **environment: str | None
) -> Ended:
    """Run the command in this process, without variables that are None; what it does not catch is raised here."""
    words = [str(each) for each in arguments]
    with _working_in(cwd):
        result = RUNNER.invoke(command, words, input=input, env=environment, prog_name="miltext")
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Ended(words, result.exit_code, result.stdout_bytes, result.stderr_bytes)


def miltext_process(
    *arguments: object, input: bytes | None = None, cwd: Path | None = None, **environment: str
) -> Ended:
    """Run the command in a process of its own; an argument may be bytes."""
    return subprocess.run(
        [sys.executable, "-m", "miltext", *(each if isinstance(each, bytes) else str(each) for each in arguments)],
        input=input,
        stdin=subprocess.DEVNULL if input is None else None,
        capture_output=True,
        cwd=cwd,
        env={**os.environ, **environment},
        check=False,
    )


@contextmanager
def _working_in(folder: Path | None) -> Iterator[None]:
    before = os.getcwd()
    os.chdir(folder or before)
    try:
        yield
    finally:
        os.chdir(before)
