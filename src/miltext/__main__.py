"""The command `miltext` as a process, also as `python -m miltext`."""

import gc
import os
import sys
from io import TextIOWrapper

STREAMS = (("stdin", "r", os.O_WRONLY), ("stdout", "w", os.O_RDONLY), ("stderr", "w", os.O_WRONLY))
"""The standard streams by their numbers: name, mode, and how to open what fails, or of the last what takes all."""


def main() -> None:
    """Run the command and end the process."""
    try:
        _run()
    except KeyboardInterrupt:  # before the command could see to it
        sys.exit(130)
    finally:
        gc.freeze()  # else the interpreter looks through all of it for garbage as it ends


def _run() -> None:
    gc.disable()  # what is imported stays, and looking through it for garbage takes time
    from miltext.cli import command

    gc.freeze()
    gc.enable()
    _open_streams()
    command(prog_name="miltext")


def _open_streams() -> None:
    """Make standard streams of those that are closed: what is read or written there fails, as it does in C.

    They keep their numbers, which else the next file would get that is opened, with all that goes to the stream.
    """
    for number, (name, mode, flags) in enumerate(STREAMS):
        if getattr(sys, name) is None:
            os.open(os.devnull, flags)
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", errors="backslashreplace", closefd=False))
    if isinstance(sys.stdout, TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")  # a file's name need not be of the terminal's characters


if __name__ == "__main__":
    main()
