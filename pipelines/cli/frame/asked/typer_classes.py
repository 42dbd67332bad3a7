"""Commands and groups as Typer builds them, with help in plain text and values converted without pydantic."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from math import isfinite
from pathlib import Path
from typing import Any, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup

from pipelines.cli.frame.asked.help_page import first_paragraph, write_panels, write_parameters
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


def converted_here(parameters: list[Any]) -> list[Any]:
    """Parameters of a built command, made to convert their values here.

    Typer leaves that to pydantic, which takes longer to load than most questions take to answer, even where nothing is
    given. Paths, numbers, choices, flags and texts are converted; any other type is left to Typer.
    """
    for parameter in parameters:
        if (convert := _conversion(parameter.type_descriptor)) is not None:
            parameter.get_runtime_param = lambda convert=convert: _Conversion(convert)
    return parameters


class _Conversion:
    """Stands where Typer has its own."""

    def __init__(self, convert: Callable[[Any], Any]) -> None:
        self._convert = convert

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        many = param.multiple or param.nargs == -1
        try:
            if value is None or not many:
                return () if many else value if value is None else self._convert(value)
            return [self._convert(single) for single in value]
        except ValueError as wrong:
            raise typer.BadParameter(str(wrong), ctx=ctx, param=param) from wrong


def _conversion(described: Any) -> Callable[[Any], Any] | None:
    """From text, or a default, to the value of one; None where Typer knows better."""
    info, kind = described.parameter_info, described.annotation
    if get_origin(kind) is list:
        (kind,) = get_args(kind)
    if info.parser is not None or not isinstance(kind, type):
        return None
    if issubclass(kind, Enum):
        return lambda given: _choice(given, kind)
    if kind in (int, float):
        return lambda given: _number(given, kind, info.min, info.max)
    if issubclass(kind, Path):
        looked_at = info.readable or info.exists or info.writable or info.resolve_path
        return None if looked_at else Path
    return kind if kind in (str, bool) else None


def _choice(given: Any, kind: type[Enum]) -> Enum:
    try:
        return kind(getattr(given, "value", given))
    except ValueError:
        raise ValueError(f"{given!r} is not one of {', '.join(repr(one.value) for one in kind)}") from None


def _number(given: Any, kind: type[int] | type[float], least: float | None, most: float | None) -> float:
    try:
        number = kind(given)
    except ValueError:
        raise ValueError(f"{given!r} is not a {'whole ' if kind is int else ''}number") from None
    if kind is float and not isfinite(number):
        raise ValueError(f"{given!r} is no number to count with")
    if least is not None and number < least:
        raise ValueError(f"{number} is less than {least}")
    if most is not None and number > most:
        raise ValueError(f"{number} is more than {most}")
    return number
