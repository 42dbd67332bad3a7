"""Help as plain text: what a command does, its arguments, its options and commands by panel.

Typer's own pages load Rich with its Markdown, which takes longer than most questions do.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from typing import Any

import typer

WIDEST = 100
"""Columns of a page, where the terminal has them."""
PARAMETERS = ("Arguments", "Options")
"""Heads of what is a command's own; they come first."""


def first_paragraph(text: str) -> str:
    """What a help text says first, in one line."""
    return " ".join(text.strip().split("\n\n", 1)[0].split())


def option_names(option: Any) -> str:
    """`--limit N`, `--quiet`: the names of an option, and of its value."""
    names = ", ".join([*sorted(option.opts, key=len), *option.secondary_opts])
    return names if option.is_flag else f"{names} {_value(option)}"


def place_name(argument: Any) -> str:
    """`STORE`: the name of an argument."""
    return str(argument.metavar or argument.name.upper())


def meaning(parameter: Any) -> str:
    """What an option or argument is for, and its default."""
    default = "" if parameter.default in (None, False, True, ()) or callable(parameter.default) else parameter.default
    shown = getattr(default, "value", default)
    text = re.sub(r"\s+", " ", parameter.help or "")
    return f"{text} Default: {shown}." if shown not in ("", []) else text


def _value(option: Any) -> str:
    choices = getattr(option.type_descriptor, "choices", None)
    if option.metavar:
        return str(option.metavar)
    return "/".join(str(getattr(c, "value", c)) for c in choices) if choices else "VALUE"


def write_parameters(parameters: Iterable[Any], formatter: Any) -> None:
    """Write arguments and options, a command's own first."""
    shown = [_shown(parameter) for parameter in parameters if not getattr(parameter, "hidden", False)]
    write_panels(sorted(shown, key=lambda line: PARAMETERS.index(line[0]) if line[0] in PARAMETERS else 9), formatter)


def _shown(parameter: Any) -> tuple[str, str, str]:
    if parameter.param_type_name == "argument":
        return PARAMETERS[0], place_name(parameter), meaning(parameter)
    return getattr(parameter, "rich_help_panel", None) or PARAMETERS[1], option_names(parameter), meaning(parameter)


def write_panels(lines: Iterable[tuple[str, str, str]], formatter: Any) -> None:
    """Write lines of panel, name and text under the heads of their panels."""
    panels: dict[str, list[tuple[str, str]]] = {}
    for panel, name, text in lines:
        panels.setdefault(panel, []).append((_named(name), text))
    for panel, rows in panels.items():
        formatter.write_paragraph()
        formatter.write(f"{typer.style(panel, bold=True)}\n")
        with formatter.indentation():
            formatter.write_dl(rows)


def _named(name: str) -> str:
    """A name in colour; where the page does not go to a terminal Typer takes the colour away."""
    coloured = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    return typer.style(name, fg=typer.colors.CYAN) if coloured else name
