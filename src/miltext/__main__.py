"""The command `miltext` as a process, also as `python -m miltext`."""

import gc
import os
import sys
from io import TextIOWrapper

STREAMS = (("stdin", "r", os.O_WRONLY), ("stdout", "w", os.O_RDONLY), ("stderr", "w", os.O_WRONLY))
"""The standard streams by number: name, mode, and the flags of a stand-in. Only the stand-in for stderr accepts
writes.
"""


def main() -> None:
    """Run the command and end the process."""
    try:
        _run()
    except KeyboardInterrupt:  # the command was not running yet
        sys.exit(130)
    finally:
        gc.freeze()  # otherwise, the interpreter searches all objects for garbage at its end


def _run() -> None:
    gc.disable()  # imported modules are never garbage, so a search would only take time
    from miltext.cli import command

    gc.freeze()
    gc.enable()
    _open_streams()
    command(prog_name="miltext")


def _open_streams() -> None:
    """Replace closed standard streams by stand-ins that fail when they are read or written, as in C.

    The stand-ins keep the numbers of the streams: otherwise, the next opened file would get such a number, and then the
    output of that stream.
    """
    for number, (name, mode, flags) in enumerate(STREAMS):
        if getattr(sys, name) is None:
            os.open(os.devnull, flags)
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", errors="backslashreplace", closefd=False))
    if isinstance(sys.stdout, TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")  # the terminal may lack characters of a file's name


if __name__ == "__main__":
    main()
