"""`miltext completion`: the script that lets a shell complete command lines."""

from __future__ import annotations

import click

from miltext.cli.streams import write_text

SHELLS = ("bash", "zsh", "fish")

EPILOG = """\b
Examples:
  eval "$(miltext completion bash)"      # in ~/.bashrc
  eval "$(miltext completion zsh)"       # in ~/.zshrc, after compinit
  miltext completion fish | source       # in ~/.config/fish/config.fish
  miltext completion zsh > _miltext      # or a file, in a folder of zsh's $fpath
\b
Exit status: 0 the script is written; 2 usage.
"""


@click.command("completion", epilog=EPILOG)
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Write the script with which SHELL completes miltext's command lines.

    It completes verbs, options and their choices, the files that a verb accepts, codes and operations, and names in the
    model earlier on the line: the values of `miltext expose Model.mlpackage`, for example.
    """
    from miltext.cli.completing import script

    write_text("-", [script(shell)])
