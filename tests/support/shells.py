"""Real shells on a terminal of their own: what they make of a line when the tabulator key is pressed."""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

SECONDS = 20
"""How long a shell may take to answer: a busy machine starts Python slowly."""

ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[()][A-Z0-9]|[=>78])|[\r\x00\x07]|[^\n]\x08")

STARTS = {
    "bash": ("bash", "--norc", "--noprofile", "-i"),
    "zsh": ("zsh", "-f", "-i"),
}
SET_UP = {
    "bash": """\
bind 'set show-all-if-ambiguous on'; bind 'set completion-query-items 0'; bind 'set page-completions off'
bind 'set bell-style none'; bind 'set enable-bracketed-paste off'; bind -x '"\\C-t": echo "<<$READLINE_LINE>>"'
eval "$(miltext completion bash)"; PS1=; echo ready""",
    "zsh": """\
unsetopt prompt_sp beep; PS1=; LISTMAX=10000; LISTPROMPT=; autoload -Uz compinit; compinit -D -u
dump() { print -r -- "<<$BUFFER>>" }; zle -N dump
bindkey '^T' dump; bindkey '^U' kill-whole-line; bindkey '^I' complete-word
eval "$(miltext completion zsh)"; echo ready""",
}
"""What is typed first; CTRL-T then shows the line as it is, CTRL-U makes it empty."""


class Shell:
    """A shell that runs on a pseudo-terminal, in a folder."""

    def __init__(self, name: str, folder: Path, tools: Path = Path(sys.executable).parent) -> None:
        """Start it; `tools` is the folder of the `miltext` that it finds."""
        import pty

        master, slave = pty.openpty()
        self._master = master
        path = f"{tools}{os.pathsep}{os.environ['PATH']}"
        environment = {"PATH": path, "HOME": str(folder), "TERM": "vt100", "COLUMNS": "400", "LC_ALL": "C.UTF-8"}
        self._process = subprocess.Popen(
            STARTS[name],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=folder,
            env=environment,
            start_new_session=True,
        )
        os.close(slave)
        for line in SET_UP[name].splitlines():
            self._type(f"{line}\r")
        self._until("\nready")

    def completed(self, line: str) -> tuple[str, str]:
        """What becomes of a line, and what is shown meanwhile."""
        self._type("\x15" + line)
        time.sleep(0.05)
        self._type("\t\x14")
        shown = self._until(">>")
        before, _, made = shown.rpartition("<<")
        return made.partition(">>")[0], before

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._master)

    def _type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def _until(self, end: str) -> str:
        read, limit = "", time.monotonic() + SECONDS
        while end not in read:
            assert time.monotonic() < limit, read
            if select.select([self._master], [], [], 0.2)[0]:
                read += os.read(self._master, 1 << 16).decode(errors="replace")
        return ESCAPES.sub("", read)


def fish(lines: Sequence[str], folder: Path) -> dict[str, list[str]]:
    """What fish would complete each line to, without what it says of that."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    code = 'miltext completion fish | source; for line in $argv; echo "<<$line"; complete -C "$line"; end'
    done = subprocess.run(
        ["fish", "--no-config", "-c", code, *lines],
        cwd=folder,
        env={**os.environ, "PATH": path, "HOME": str(folder), "LC_ALL": "C.UTF-8"},
        capture_output=True,
        check=True,
    )
    parts = [part.splitlines() for part in done.stdout.decode().split("<<")[1:]]
    return {line: [each.partition("\t")[0] for each in made] for line, *made in parts}
