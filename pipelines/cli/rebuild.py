"""`rocketlens rebuild`: ConsumeQueue and IndexFile from the CommitLog alone, into a new folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipelines.cli.command import command
from pipelines.cli.errors import WrongUsage
from pipelines.cli.opening import store_at
from pipelines.cli.options import BROKER, BrokerConfOption, ConfigOption, Format, StoreArgument, VersionOption
from pipelines.cli.run import Run, refuse_inside
from pipelines.cli.settings import settings_of, version_of

if TYPE_CHECKING:
    from recovery.rebuild_report import RebuildReport


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "rebuild", panel=BROKER)(rebuild)


def rebuild(
    run: Run,
    store: StoreArgument,
    to: Annotated[
        Path,
        typer.Option(readable=False, metavar="DIR", help="New folder for consumequeue/ and index/; outside the store."),
    ],
    version: VersionOption = None,
    config: ConfigOption = None,
    broker_conf: BrokerConfOption = None,
) -> None:
    """Write consumequeue/ and index/ from the CommitLog alone, byte for byte as the broker would, and a report.

    Sizes and layouts that leave traces are taken from the store's own files when nothing says otherwise; the report
    names each such fact. The folder appears when it is complete.

    Example: `rocketlens rebuild /data/store --to /tmp/rebuilt --config mappedFileSizeConsumeQueue=6000000`
    """
    from recovery.rebuild import rebuild as rebuild_store

    refuse_inside(to, store, "--to")
    opened = store_at(run, store)
    running, settings = version_of(run, opened, version), settings_of(run, opened, config, broker_conf)
    try:
        report = rebuild_store(opened, to, version=running, settings=settings)
    except ValueError as wrong:
        raise WrongUsage(f"--to: {wrong}") from wrong
    for gap in report.gaps:
        run.not_read(f"{gap.file.path} bytes {gap.file_pos}..{gap.file_pos + gap.length}: {gap.kind}, {gap.reason}")
    if run.format_ is Format.TABLE:
        run.print(_summary(report))
    else:
        run.emit_documents([report.document()], one=True)


def _summary(report: RebuildReport) -> str:
    lines = [
        f"{report.to}: {len(report.queues)} queues with {report.units:,} units, {len(report.index_files)} index files "
        f"with {report.keys:,} entries, from {report.records:,} records (RocketMQ {report.version})",
        *(f"  taken: {fact.what} = {fact.value} ({fact.why})" for fact in report.inferred),
        *(f"  not byte-identical: {difference}" for difference in report.differences),
    ]
    return "\n".join(lines)
