"""docs/cli.md, printed from the commands themselves: `python -m pipelines.cli.docs docs/cli.md`."""

from __future__ import annotations

import inspect
import re
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from pipelines.cli.app import app
from pipelines.cli.frame.options import BROKER, LAKE, OWNERSHIP, SHARED, STORE_FILES

PANELS = (STORE_FILES, BROKER, OWNERSHIP, LAKE)
FORMS = """\
JSON forms: times are ISO 8601 UTC with milliseconds, hosts `ip:port` (`[ip6]:port`), properties a list of
`[name, value]` pairs in stored order, binary values base64, 64-bit integers numbers, unknown values `null`. A table on
a terminal shows the columns that fit; `--columns` names others. Arrow is the stream format in a pipe and the file
format with `--out`.

Unread ranges are named on stderr one by one (exit code 4); what could be read is delivered all the same. An `--out`
file appears under its name when it is complete. It is refused (exit code 2) where it would lie in what is read, or
replace a file of it: a store with the folders that it links to, settings, kept offsets, recordings, the tables of the
lake."""


def page() -> str:
    """The whole page."""
    root = typer.main.get_command(app)
    parts = ["# Command line", "", inspect.cleandoc(root.help or ""), "", "## Options of every command", ""]
    parts += [*_options(p for p in root.params if p.name in SHARED), "", FORMS]
    by_panel: dict[str, list[tuple[str, Any]]] = {panel: [] for panel in PANELS}
    for name, found in root.commands.items():  # type: ignore[attr-defined]
        by_panel[found.rich_help_panel].append((name, found))
    for panel, commands in by_panel.items():
        parts += ["", f"## {panel}"]
        for name, found in commands:
            for path, leaf in _leaves(name, found):
                parts += ["", *_command(path, leaf)]
    return "\n".join(parts) + "\n"


def leaves() -> dict[str, Any]:
    """Every command that does something, by its whole name (`dump commitlog`)."""
    root = typer.main.get_command(app)
    found = (_leaves(name, command) for name, command in root.commands.items())  # type: ignore[attr-defined]
    return {name: command for pairs in found for name, command in pairs}


def _leaves(name: str, found: Any) -> Iterator[tuple[str, Any]]:
    inner = getattr(found, "commands", None)
    if inner is None:
        yield name, found
        return
    for below, command in inner.items():
        yield from _leaves(f"{name} {below}", command)


def _command(path: str, command: Any) -> Iterator[str]:
    own = [parameter for parameter in command.params if parameter.name not in SHARED and parameter.name != "help"]
    places = [_metavar(p) for p in own if p.param_type_name == "argument"]
    yield f"### `{' '.join(['rocketlens', path, *places])}`"
    yield ""
    yield inspect.cleandoc(command.help or "")
    options = [parameter for parameter in own if parameter.param_type_name == "option"]
    if options:
        yield ""
        yield from _options(options)


def _metavar(argument: Any) -> str:
    return str(argument.metavar or argument.name.upper())


def _options(options: Any) -> Iterator[str]:
    yield "| option | meaning |"
    yield "|---|---|"
    for option in options:
        names = "`, `".join(option.opts + option.secondary_opts)
        value = "" if option.is_flag else f" {_value(option)}"
        yield f"| `{names}{value}` | {_cell(option)} |"


def _value(option: Any) -> str:
    choices = getattr(option.type_descriptor, "choices", None)
    if option.metavar:
        return str(option.metavar)
    return "/".join(str(getattr(c, "value", c)) for c in choices) if choices else "VALUE"


def _cell(option: Any) -> str:
    default = "" if option.default in (None, False, True, ()) or callable(option.default) else option.default
    shown = getattr(default, "value", default)
    text = re.sub(r"\s+", " ", option.help or "").replace("|", "\\|")
    return f"{text} Default: {shown}." if shown not in ("", []) else text


if __name__ == "__main__":
    asked = ArgumentParser(description=__doc__)
    asked.add_argument("file", type=Path, help="the page to write")
    asked.parse_args().file.write_text(page(), "utf-8")
