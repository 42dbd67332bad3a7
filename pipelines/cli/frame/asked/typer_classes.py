"""Commands and groups as Typer builds them, with help in plain text and values converted without pydantic."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from pipelines.cli.frame.asked.help_page import first_paragraph, write_panels, write_parameters
from pipelines.cli.frame.asked.values import converted_here
from pipelines.cli.frame.errors import ExitCode


class Command(TyperCommand):
    """A command."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Arguments and options, `--help` among them."""
        return converted_here(super().get_params(ctx))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the sections after the text."""
        write_parameters(self.get_params(ctx), formatter)


class Group(TyperGroup):
    """A group of commands."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Arguments and options, `--help` among them."""
        return converted_here(super().get_params(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Show the help where nothing is asked; that is wrong usage to a shell."""
        if not args and not ctx.resilient_parsing:
            typer.echo(ctx.get_help())
            raise typer.Exit(ExitCode.WRONG_USAGE)
        return super().parse_args(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the sections after the text."""
        write_parameters(self.get_params(ctx), formatter)
        write_panels(self.contents(), formatter)

    def contents(self) -> Iterator[tuple[str, str, str]]:
        """The panel, the name and the first paragraph of each command."""
        for name, command in self.commands.items():
            yield getattr(command, "rich_help_panel", None) or "Commands", name, first_paragraph(command.help or "")
