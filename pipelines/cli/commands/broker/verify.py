"""`rocketlens verify`: do CommitLog, ConsumeQueue, index, checkpoint and configuration agree?"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipelines.cli.frame.asked.options import BROKER, BrokerOptions, Format, StoreArgument, TopicLogsOption
from pipelines.cli.frame.call.beside.topic_logs import with_logs
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.opening import NOTHING_SAID, known_store_at
from pipelines.cli.frame.call.run import Run
from pipelines.cli.frame.errors import WrongUsage
from pipelines.cli.frame.visible import as_named

if TYPE_CHECKING:
    from parsers.store.store import Store
    from pipelines.cli.frame.call.alerting import Tell

NOT_COMPARED = "not compared"
BRIEF = ("severity", "kind", "place", "begin", "end", "evidence")


@command("verify", panel=BROKER)
def verify(
    run: Run,
    store: StoreArgument,
    deep: Annotated[bool, typer.Option("--deep", help="Decompress every compressed body as well.")] = False,
    explained: Annotated[
        bool, typer.Option("--explained", help="List instead what looks odd and is normal, with the reason.")
    ] = False,
    alert: Annotated[
        bool, typer.Option("--alert", help="Post the findings to [alert] webhook of the rocketlens.toml here or above.")
    ] = False,
    logs: TopicLogsOption = None,
    broker: BrokerOptions = NOTHING_SAID,
) -> None:
    """Check the files of a store against each other; each row is a range that they disagree about, worst first.

    A clean store has no rows. A store that is written to meanwhile is compared again, three times at most. A row is
    what two comparisons found at the same place; the evidence of one that only the last found says so.
    `place` is a file with byte positions, or a queue; `repair` says what to do. The column `document` holds, as JSON,
    which side is right and why, and what a start would do. Exit code 1 when there is any finding.

    Example: `rocketlens verify /data/store --format table`
    """
    from pipelines.cli.frame.call.alerting import alerting, trouble_of_finding

    with alerting(run, as_named(os.path.realpath(store)), _webhook(run, store) if alert else None) as troubles:
        troubles += map(trouble_of_finding, _verified(run, store, broker, logs, deep=deep, explained=explained))


def _verified(
    run: Run, store: Path, broker: BrokerOptions, logs: TopicLogsOption, *, deep: bool, explained: bool
) -> list[dict[str, Any]]:
    """The rows that were found; they, or what is explained, are emitted."""
    from pipelines.answers.finding_rows import explained_row, finding_row
    from pipelines.lake.tables.judgements import CONSISTENCY_FINDINGS
    from recovery.verify.in_motion import IN_PROGRESS, verify_in_motion

    opened, known = known_store_at(run, store, broker)
    found = verify_in_motion(opened, with_logs(run, known, logs))
    if passing := sum(state.what == IN_PROGRESS for state in found.explained):
        run.note(f"the store is written to: {passing} disagreements were gone at a later look (--explained lists them)")
    for state in found.explained:
        if state.what == NOT_COMPARED:
            run.not_read(f"{store}: {state.why}")
    rows = [finding_row(finding) for finding in found.findings]
    if deep:
        rows += _unreadable_bodies(run, opened)
    if explained:
        columns = "what text, why text, place text, begin i64, end i64"
        run.emit_rows(columns, map(explained_row, found.explained))
    else:
        run.emit_rows(CONSISTENCY_FINDINGS.bare_schema, rows, brief=BRIEF)
        if run.format_ is Format.TABLE:
            for repair in dict.fromkeys(f"{row['kind']}: {row['repair']}" for row in rows):
                run.note(repair)
        odd = len(found.explained) - passing
        if not rows and not run.unread:
            told = "no disagreement was found again" if passing else "the files agree"
            only_odd = "1 state only looks odd" if odd == 1 else f"{odd} states only look odd"
            run.note(f"{told}; {only_odd} (--explained lists them)")
    run.findings(len(rows))
    return rows


def _webhook(run: Run, store: Path) -> Tell:
    """Where the configuration has alerts posted. Raises WrongUsage where it names nothing."""
    from pipelines.cli.frame.call.alerting import to_webhook
    from pipelines.cli.frame.call.configured import sources_of

    sources = sources_of(run, None)
    if sources.webhook is None:
        raise WrongUsage("--alert: rocketlens.toml names no webhook in [alert]")
    return to_webhook(sources.webhook, store)


def _unreadable_bodies(run: Run, store: Store) -> Iterator[dict[str, Any]]:
    """A finding for each body whose CRC fits and which cannot be decompressed all the same."""
    from parsers.commitlog.batches.read import read_commitlog

    folders = {file.name: file.log_folder for file in store.commitlog}
    columns = ("file", "physical_offset", "total_size", "topic", "compression", "crc_ok", "body_decompressed")
    for batch in read_commitlog(store, columns=columns, damage=run.damage):
        for row in batch.to_pylist():
            if row["compression"] is not None and row["crc_ok"] and row["body_decompressed"] is None:
                yield {
                    "kind": "body_not_decompressible",
                    "severity": "error",
                    "place": f"{folders[row['file']]}/{row['file']}",
                    "begin": row["physical_offset"],
                    "end": row["physical_offset"] + row["total_size"],
                    "evidence": f"sysFlag says {row['compression']}, the body of this {row['topic']} message is not",
                    "repair": "None: the producer sent it so. Consumers of the topic fail on it.",
                }
