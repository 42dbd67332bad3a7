"""`rocketlens check-lake | vacuum`: whether a lake is whole, and what lies in its folder for nothing."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated

import typer

from pipelines.cli.commands.lake.lake import WaitOption, ingested, started
from pipelines.cli.frame.asked.options import LAKE
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.configured import ConfigFile, require_lake, sources_of, with_stores
from pipelines.cli.frame.call.run import Run
from pipelines.cli.frame.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipelines.lake.check import Fault
    from pipelines.lake.configuration.sources import Sources
    from pipelines.lake.lake import Lake

KEEP_DAYS = 7


@command("check-lake", panel=LAKE)
def check_lake(
    run: Run,
    repair: Annotated[
        bool, typer.Option("--repair", help="Take out what is not whole, and read it from the stores again.")
    ] = False,
    config_file: ConfigFile = None,
) -> None:
    """Look at every part that the lake's tables name, and whether a message is there twice. Exit code 1: something is.

    With --repair the rows of a file that still gives all of them leave their table, and an ingest reads them again. Of
    what no store gives any more only the parts that cannot be read are taken out: all other rows stay, messages that
    are there twice too. What is lost is named with its rows (exit code 4), and what is left is named.

    While the log of a table cannot be read nothing is repaired (exit code 3). Move its folder to another place and keep
    it, then `rocketlens ingest` makes the table from what the stores hold now. Only the folder you kept has the rest:
    rows of files that a broker has deleted since, and of topic_configs, group_configs, queue_mappings and
    offset_snapshots every earlier snapshot, from which lag_history is made.

    Example: `rocketlens check-lake --format table`
    """
    from pipelines.installed.extras import need
    from pipelines.lake.check import faults
    from pipelines.lake.lake import lake_to_write
    from pipelines.lake.lock import writing

    need("pyspark", "deltalake")
    sources = sources_of(run, config_file)
    lake = lake_to_write(sources)
    require_lake(lake)
    is_lost = False
    with writing(lake.root, "check-lake") if repair else nullcontext(), lake.asked_often():
        found = list(faults(lake))
        if repair and found:
            is_lost = _repaired(run, lake, sources, found)
            left = list(faults(lake))
            run.note(f"{len(found)} faults found, {len(left)} left")
            found = left
    run.emit_rows("table text, partition text, part text, what text", map(_fault_row, found))
    if not found:
        run.note("every part that the tables name is there and whole, and no message is there twice")
    run.findings(len(found))
    if is_lost:
        run.ends_with(ExitCode.READ_IN_PART)


def _repaired(run: Run, lake: Lake, sources: Sources, found: Sequence[Fault]) -> bool:
    """Repair the lake through Spark; whether anything is lost, or may be."""
    from pipelines.ingest.repair import repair, require_logs

    require_logs(lake, found)
    losses: list[str] = []

    def lost(sentence: str) -> None:
        run.not_read(sentence)  # at once: nobody finds it later, when the rows are out of the lake
        losses.append(sentence)

    with with_stores(run, sources) as here:
        spark = started(run, here)
        try:
            repair(lake, here, found, lambda: ingested(run, spark, here, lake, ()), run.note, lost)
        finally:
            spark.stop()
    return bool(losses)


@command("vacuum", panel=LAKE)
def vacuum(
    run: Run,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List it, remove nothing.")] = False,
    keep_days: Annotated[
        float, typer.Option(metavar="DAYS", min=0, help="Versions of the last so many days keep their parts.")
    ] = KEEP_DAYS,
    wait: WaitOption = 0,
    config_file: ConfigFile = None,
) -> None:
    """Remove what lies in the lake's folder and belongs to no version that is kept, and list it.

    These are parts that were replaced, parts that a killed process never committed, its temporary files, and what the
    logs of the tables tell of earlier versions. The published catalogue keeps its parts. A version older than
    --keep-days can no longer be read afterwards; a reader that has had one open for longer loses it.

    Example: `rocketlens vacuum --dry-run --format table`
    """
    from pipelines.installed.extras import need
    from pipelines.lake.lake import lake_to_write
    from pipelines.lake.lock import writing
    from pipelines.lake.vacuum import leftovers, remove
    from pipelines.objects.both import below

    need("deltalake")
    lake = lake_to_write(sources_of(run, config_file))
    require_lake(lake)
    with nullcontext() if dry_run else writing(lake.root, "vacuum", wait_s=wait):
        found = list(leftovers(lake, keep_days=keep_days))
        for left in () if dry_run else found:
            remove(left)
    verb = "would be" if dry_run else "were"
    run.note(f"{len(found)} files and folders of {sum(left.size for left in found)} bytes {verb} removed")
    rows = ({"path": below(left.path, lake.root), "bytes": left.size, "why": left.why} for left in found)
    run.emit_rows("path text, bytes i64, why text", rows)


def _fault_row(fault: Fault) -> dict[str, str | None]:
    partition = None if fault.partition is None else "/".join(map(str, fault.partition))
    return {"table": fault.table, "partition": partition, "part": fault.part, "what": fault.what}
