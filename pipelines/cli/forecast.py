"""`rocketlens forecast`: what a start of this broker would do with these files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer

from pipelines.cli.command import command
from pipelines.cli.opening import store_to_start
from pipelines.cli.options import (
    BROKER,
    BrokerConfOption,
    ConfigOption,
    Format,
    StoreArgument,
    VersionOption,
)
from pipelines.cli.run import Run
from pipelines.cli.settings import settings_of, version_of

LOSSES_SHOWN = 20


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "forecast", panel=BROKER)(forecast)


def forecast(
    run: Run,
    store: StoreArgument,
    version: VersionOption = None,
    config: ConfigOption = None,
    broker_conf: BrokerConfOption = None,
    heap: Annotated[
        int | None, typer.Option("--heap-bytes", metavar="N", min=1, help="Java heap of the broker, where it is known.")
    ] = None,
    advice: Annotated[
        bool, typer.Option("--advice/--no-advice", help="Also try the repairs that may lose less.")
    ] = True,
) -> None:
    """What this broker would do with these files if it were started now: one JSON document, nothing is touched.

    Load, truncation, where dispatch starts again, the queues before and after, messages lost for good with the reason,
    every rule with its source and evidence. Settings that are not given are those the files show, else the defaults;
    without a version the answer names the ones it holds for. Exit code 1 when there is a loss, or no start.

    Example: `rocketlens forecast /data/store --version 5.3.3 --config flushDiskType=SYNC_FLUSH`
    """
    from recovery.forecast import forecast as foretell
    from recovery.forecast_document import forecast_document

    opened = store_to_start(run, store)
    running = version_of(run, opened, version) if version else None
    settings = settings_of(run, opened, config, broker_conf)
    told = foretell(opened, running, settings, heap_bytes=heap, with_advice=advice)
    document = forecast_document(told)
    if run.format_ is Format.TABLE:
        run.print("\n".join(_in_words(document)))
    else:
        run.emit_documents([document], one=True)
    run.findings(int(told.has_loss))


def _in_words(document: Mapping[str, Any]) -> Iterator[str]:
    """The document for a person: the decision first, then what is lost, why, and what could be done."""
    yield f"RocketMQ {', '.join(document['holds_for'])}; last exit {document['exit']}"
    if not document["load"]["ok"]:
        yield f"The broker would not start: {document['load']['error']}"
    elif not document["start"]["returns"]:
        yield f"The broker would load and not come up: {document['start']['error']}"
    elif document["dispatch_from"] is not None:
        log = document["commitlog"]
        yield f"CommitLog from {log['min_physical_offset']:,} to {log['max_physical_offset']:,}" + (
            f", {len(log['files_deleted'])} files deleted" if log["files_deleted"] else ""
        )
        yield f"{document['redispatched_messages']:,} messages dispatched again, from {document['dispatch_from']:,}"
    if document["dispatch_from"] is not None:
        yield from _losses(document)
    for unknown in document["unknown"]:
        yield f"unknown: {unknown['what']} ({unknown['why']})"
    for reason in document["reasons"]:
        yield f"because: {reason['rule']} [{reason['source']}] {reason['evidence']}"
    for advice in document["advice"]:
        yield f"could do: {advice['do']} ({advice['evidence']})"
    for other in document["otherwise"]:
        yield f"otherwise with {', '.join(other['holds_for'])}: --version {other['version']}"


def _losses(document: Mapping[str, Any]) -> Iterator[str]:
    lost = document["lost"]
    yield f"{len(lost):,} messages lost for good" if lost else "no message would be lost"
    for loss in lost[:LOSSES_SHOWN]:
        place = f"{loss['topic']}/{loss['queue_id']} at {loss['queue_offset']}"
        yield f"  {place}, physical offset {loss['physical_offset']}: {loss['reason']}"
    if len(lost) > LOSSES_SHOWN:
        yield f"  and {len(lost) - LOSSES_SHOWN:,} more (--format json)"
