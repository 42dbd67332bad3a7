"""`rocketlens dump …`: the rows of one kind of store file."""

from __future__ import annotations

import typer

from pipelines.cli.commands.store.dump import commitlog, compaction, config, dledger, files
from pipelines.cli.frame.asked.options import STORE_FILES
from pipelines.cli.frame.asked.typer_classes import Group
from pipelines.cli.frame.call.command import add_commands, group

dump = typer.Typer(cls=Group, help="Print what store files hold, one row per message, unit, entry or range.")
for each in (commitlog, compaction, config, dledger, files):
    add_commands(dump, each)
group(__name__, "dump", dump, panel=STORE_FILES)
