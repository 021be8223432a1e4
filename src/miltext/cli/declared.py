"""The options of verbs, declared with the keywords of a function: see `syntax/keywords`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import Field, fields
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from miltext.cli.streams import Decorator


def declared(options: type, *names: str) -> Decorator:
    """Return a decorator that adds the options of these fields of a dataclass, in this order."""
    by_name = {each.name: each for each in fields(options)}

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        for name in reversed(names):
            command = _option(by_name[name])(command)
        return command

    return decorate


def _option(declared: Field[object]) -> Decorator:
    words, spelled = dict(declared.metadata), declared.name.replace("_", "-")
    if declared.default is True:
        return click.option(f"--no-{spelled}", declared.name, flag_value=False, default=True, **words)
    if declared.default is False:
        return click.option(f"--{spelled}", is_flag=True, **words)
    if "least" in words:
        words["type"] = click.IntRange(min=words.pop("least"))
    if "among" in words:
        words["type"] = click.Choice(words.pop("among"))
    return click.option(words.pop("flag", f"--{spelled}"), declared.name, default=declared.default, **words)
