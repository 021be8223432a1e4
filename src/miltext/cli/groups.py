"""Groups of commands, which name the nearest one if a command or an option is not there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click


@contextmanager
def naming_what_was_meant(context: click.Context) -> Iterator[None]:
    """Have the error of an option that is not there name the nearest one."""
    try:
        yield
    except click.NoSuchOption as failure:
        from miltext.cli.meanings import no_such_option

        raise no_such_option(failure, failure.ctx or context) from None


class Commands(click.Group):
    """A group of commands."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        with naming_what_was_meant(ctx):
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        with naming_what_was_meant(ctx):
            return super().invoke(ctx)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchOption:
            raise
        except click.UsageError:
            from miltext.cli.meanings import no_such_command

            raise no_such_command(args[0], ctx, self.list_commands(ctx)) from None
