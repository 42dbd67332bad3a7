"""The commands by name: contents.tsv says what a list of them shows; each is loaded when it is asked for.

`python -m pipelines.cli.docs docs/cli.md` prints that file anew, from the commands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import typer
from typer.core import TyperGroup
from typer.main import get_group

from pipelines.cli.frame.asked.bundles import Body
from pipelines.cli.frame.asked.help_page import first_paragraph
from pipelines.cli.frame.asked.options import PANELS
from pipelines.cli.frame.asked.typer_classes import Group

FILE = Path(__file__).with_name("contents.tsv")
COMMANDS = "pipelines.cli.commands"
MODULES = (
    "store.explain",
    "store.queues",
    "store.topics",
    "store.lives",
    "store.find",
    "store.offset_at",
    "groups.lag",
    "groups.watch",
    "groups.episodes",
    "groups.backlog",
    "groups.ledger",
    "groups.offsets",
    "messages.delays",
    "messages.retries",
    "messages.transactions",
    "messages.pop",
    "messages.traces",
    "store.dump.dump",
    "broker.verify",
    "broker.compare",
    "broker.rebuild",
    "broker.forecast",
    "broker.upgrade",
    "broker.retention",
    "broker.start_at",
    "broker.compaction",
    "broker.tiered",
    "ownership.allocate",
    "ownership.replay",
    "ownership.what_if",
    "ownership.who",
    "lake.init",
    "lake.lake",
    "lake.care",
    "lake.cluster",
    "lake.report",
    "shipped",
    "completion",
)
"""The files of COMMANDS that declare commands, in the order of the list."""


class Entry(NamedTuple):
    """What is shown of a command before it is loaded, and where it is."""

    name: str
    module: str
    panel: str
    summary: str


class OnDemand(Mapping[str, Any]):
    """The commands by name, each loaded when it is asked for."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.entries = {entry.name: entry for entry in entries}
        self._loaded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._loaded:
            self._loaded.update(commands_of(self.entries[name].module))
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)


class Contents(Group):
    """The program: a group whose list, help and completion load no command."""

    def __init__(self, **of_typer: Any) -> None:
        self.on_demand = OnDemand(printed())
        super().__init__(**{**of_typer, "commands": self.on_demand})

    def contents(self) -> Iterator[tuple[str, str, str]]:
        for entry in self.on_demand.entries.values():
            yield entry.panel, entry.name, entry.summary

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        from typer._click.shell_completion import CompletionItem

        found = [(name, text) for _, name, text in self.contents() if name.startswith(incomplete)]
        options = super(TyperGroup, self).shell_complete(ctx, incomplete)
        return [*(CompletionItem(name, help=text) for name, text in found), *options]


@cache
def commands_of(module: str) -> Mapping[str, Any]:
    """The commands that a file of COMMANDS declares; they hold nothing of a call, so that calls share them."""
    from pipelines.cli.frame.call.command import add_commands

    app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
    add_commands(app, import_module(f"{COMMANDS}.{module}"))
    return dict(get_group(app).commands)


def body_of(name: str) -> Body:
    """The function that a command is made of, by the command's name."""
    (module,) = (entry.module for entry in printed() if entry.name == name)
    body: Body = getattr(import_module(f"{COMMANDS}.{module}"), name.replace("-", "_"))
    return body


def printed() -> list[Entry]:
    """What contents.tsv says."""
    return [Entry(*line.split("\t")) for line in FILE.read_text("utf-8").splitlines()]


def of_the_commands() -> list[Entry]:
    """What it has to say: of every command, in the order of panels and modules."""
    entries = [
        Entry(name, module, command.rich_help_panel, first_paragraph(command.help))
        for module in MODULES
        for name, command in commands_of(module).items()
    ]
    return sorted(entries, key=lambda entry: PANELS.index(entry.panel))


def print_contents() -> None:
    """Write contents.tsv anew."""
    FILE.write_text("".join("\t".join(entry) + "\n" for entry in of_the_commands()), "utf-8")
