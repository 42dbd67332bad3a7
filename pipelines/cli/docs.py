"""docs/cli.md, printed from the commands themselves: `python -m pipelines.cli.docs docs/cli.md`.

contents.tsv, which the program shows before it has loaded a command, is printed with it.
"""

from __future__ import annotations

import inspect
import re
from argparse import ArgumentParser
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

import typer

from pipelines.cli.app import app
from pipelines.cli.contents import MODULES, commands_of, print_contents
from pipelines.cli.frame.asked.help_page import meaning, option_names, place_name
from pipelines.cli.frame.asked.options import PANELS, SHARED

CODE_WITH_BARS = re.compile(r"`([^`|]*\|[^`]*)`")
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
    by_panel: dict[str, list[str]] = {panel: [] for panel in PANELS}
    for name, found in _commands():
        lines = (line for path, leaf in _leaves(name, found) for line in ("", *_command(path, leaf)))
        by_panel[found.rich_help_panel].extend(lines)
    for panel, lines_of_it in by_panel.items():
        parts += ["", f"## {panel}", *lines_of_it]
    return "\n".join(parts) + "\n"


def leaves() -> dict[str, Any]:
    """Every command that does something, by its whole name (`dump commitlog`)."""
    return {name: command for top, found in _commands() for name, command in _leaves(top, found)}


def _commands() -> Iterator[tuple[str, Any]]:
    for module in MODULES:
        yield from commands_of(module).items()


def _leaves(name: str, found: Any) -> Iterator[tuple[str, Any]]:
    inner = getattr(found, "commands", None)
    if inner is None:
        yield name, found
        return
    for below, command in inner.items():
        yield from _leaves(f"{name} {below}", command)


def _command(path: str, command: Any) -> Iterator[str]:
    own = [parameter for parameter in command.params if parameter.name not in SHARED and parameter.name != "help"]
    places = [place_name(p) for p in own if p.param_type_name == "argument"]
    yield f"### `{' '.join(['rocketlens', path, *places])}`"
    yield ""
    yield inspect.cleandoc(command.help or "")
    options = [parameter for parameter in own if parameter.param_type_name == "option"]
    if options:
        yield ""
        yield from _options(options)


def _options(options: Any) -> Iterator[str]:
    yield "| option | meaning |"
    yield "|---|---|"
    for option in options:
        names = option_names(option).replace(", --", "`, `--")
        yield f"| `{names}` | {_cell(meaning(option))} |"


def _cell(text: str) -> str:
    """A cell of a table. Within backticks the site would show the backslash before a bar: such code is written out."""
    coded = CODE_WITH_BARS.sub(lambda code: f"<code>{escape(code[1])}</code>", text)
    return coded.replace("|", "&#124;")


if __name__ == "__main__":
    asked = ArgumentParser(description=__doc__)
    asked.add_argument("file", type=Path, help="the page to write")
    asked.parse_args().file.write_text(page(), "utf-8")
    print_contents()
