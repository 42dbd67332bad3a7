"""`rocketlens init STORE…`: a first rocketlens.toml from what is found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from parsers.evidence.guard import NewFile
from pipelines.cli.frame.asked.options import LAKE
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.run import Run
from pipelines.cli.frame.errors import Unreadable, WrongUsage
from pipelines.cli.frame.visible import as_named

if TYPE_CHECKING:
    from pipelines.answers.config_draft import DraftedBroker


@command("init", panel=LAKE)
def init(
    run: Run,
    stores: Annotated[
        list[Path], typer.Argument(readable=False, metavar="STORE…", help="Store roots, one for each broker.")
    ],
    to: Annotated[
        Path, typer.Option(readable=False, metavar="FILE", help="Write it there; a file that is there stays.")
    ] = Path("rocketlens.toml"),
) -> None:
    """Write a commented rocketlens.toml for these stores, from what their files and the folders beside them show.

    The broker.conf and the logs beside a store are named where it is clear that they are its own; name, cluster and id
    come from that broker.conf. The version stands there as a comment, with what the files tell of it: no file proves
    it. Read the file before `rocketlens ingest`.

    Example: `rocketlens init /data/broker-a/store /data/broker-b/store`
    """
    from pipelines.answers.config_draft import draft_brokers, draft_text

    if to.exists():
        raise WrongUsage(f"--to {to}: is there already and stays as it is; name another file")
    try:
        brokers = draft_brokers(stores)
    except ValueError as wrong:
        raise Unreadable(str(wrong)) from wrong
    for broker in brokers:
        for read in (broker.store, broker.broker_conf, broker.logs, broker.client_logs):
            if read is not None:
                run.reads(read)
    write_new(run, to, as_named(draft_text(brokers)))
    tell(run, brokers)
    run.note(f"written to {to}: read it, then `rocketlens ingest`")


def write_new(run: Run, to: Path, text: str) -> None:
    """Write the file whole or not at all. Raises WrongUsage, WouldTouchEvidence."""
    try:
        new = NewFile(to, run.guard, "--to")
    except (OSError, ValueError) as refused:  # ValueError: no name at all
        why = refused.strerror if isinstance(refused, OSError) else refused
        raise WrongUsage(f"--to {to}: cannot be written: {why}") from refused
    try:
        new.file.write(text.encode("utf-8"))
    except UnicodeEncodeError as unprintable:
        new.discard()
        raise WrongUsage("a name among these is no UTF-8 text, which TOML cannot hold") from unprintable
    except BaseException:
        new.discard()
        raise
    new.commit()


def tell(run: Run, brokers: list[DraftedBroker]) -> None:
    """A row for each broker: what was found of it."""
    names = ("broker", "store", "likely_version", "broker_conf", "logs", "client_logs")
    places = (
        (broker.name, broker.store, broker.version.value, broker.broker_conf, broker.logs, broker.client_logs)
        for broker in brokers
    )
    run.emit_rows(
        ", ".join(f"{name} text" for name in names),
        (
            {name: None if value is None else as_named(str(value)) for name, value in zip(names, row, strict=True)}
            for row in places
        ),
    )
