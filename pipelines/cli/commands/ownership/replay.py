"""`rocketlens replay`: who owned which queue when, from what brokers and clients left behind."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipelines.cli.frame.asked.options import OWNERSHIP, BrokerOption, Format, instant_of, instant_option
from pipelines.cli.frame.call.batch import Answer, answers, instant_in
from pipelines.cli.frame.call.beside.recordings import facts_in, replay_of, say_no_group
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.run import Run
from pipelines.cli.frame.errors import Unreadable, WrongUsage

if TYPE_CHECKING:
    from pipelines.recordings.line_counts import RecordedLines
    from rebalance.replay import Replay


class Show(StrEnum):
    """Tables of a replay."""

    INTERVALS = "intervals"
    ASSIGNMENTS = "assignments"
    ANOMALIES = "anomalies"
    DIVERGENCE = "divergence"
    NOTES = "notes"
    UNRECOGNISED = "unrecognised"
    STORE = "store"
    COUNTED = "counted"


NOTES_SAID = 10


@command("replay", panel=OWNERSHIP)
def replay(
    run: Run,
    source: Annotated[
        list[Path],
        typer.Argument(
            readable=False,
            metavar="SOURCE…",
            help="Broker logs, client logs, captures (JSON lines or pcap), polled states, copies of topics.json and "
            "subscriptionGroup.json, or folders of them.",
        ),
    ],
    show: Annotated[Show, typer.Option(help="Which table.")] = Show.INTERVALS,
    at: Annotated[str | None, instant_option("Who owned each queue at that instant")] = None,
    batch: Annotated[
        bool, typer.Option("--batch", help='Many instants: lines `{"at": ms}` on standard input.')
    ] = False,
    broker: BrokerOption = None,
    broker_port: Annotated[
        list[int] | None,
        typer.Option(metavar="N", help="Port the broker listened on, for pcap files; may be repeated."),
    ] = None,
) -> None:
    """Replay the history of queue ownership and show who owned what, how sure that is, and what went wrong.

    An interval has an earliest and a latest begin and end; `--at` answers `{"at", "queues": [{"group", "topic",
    "broker", "queue_id", "owners", "certain", "possible"}]}`. Why answers are not sharper is said on stderr, and by
    `--show notes`; `--show unrecognised` lists how the log lines begin that fit no known text, and how many there
    are. Exit code 1 when there are anomalies.

    `--show store` is of other logs instead, of store.log, storeerror.log, transaction.log, protection.log and a
    proxy's proxy.log: what they say of files that were cleaned, cut, damaged or not made in time, of transactions that
    were checked, of groups that were stopped; how often, from when to when, and what it means. `--show counted` lists
    what was counted in stats.log, watermark.log and the logs of consumers: messages, bytes and times of each topic,
    queue and group, minute by minute; `at` is null where nothing in a log tells its time zone.

    Example: `rocketlens replay /data/logs --at 2026-11-21T03:12:00Z`
    """
    from pipelines.recordings.line_counts import RecordedLines

    if show in LINES:
        if at is not None or batch:
            raise WrongUsage(f"replay: --show {show} has lines of all times; --at and --batch do not go with it")
        LINES[show](run, source)
        return
    told = RecordedLines()
    history = replay_of(facts_in(run, source, broker, broker_port, told, alone=True))
    if show is not Show.UNRECOGNISED and any(summary.unrecognised for _, summary in told.logs):
        run.note("lines of no known text are passed over; --show unrecognised lists how they begin")
    say_no_group(run, history)
    _say_why(run, history)
    if batch:
        run.emit_documents(answers(run, lambda question: owners_at(history, instant_in(question, "at"))))
    elif at is not None:
        at_ms = instant_of(at, "--at")
        if silent := history.silent_at(at_ms):
            run.note(silent)
        _emit_owners(run, owners_at(history, at_ms))
    else:
        _emit_table(run, history, told, show)
    run.findings(len(history.anomalies))


def _emit_store_lines(run: Run, source: list[Path]) -> None:
    from pipelines.cli.commands.ownership.ownership_rows import TABLE_OF
    from pipelines.recordings.store_log import read_store_logs, rows_of, store_logs

    logs = store_logs(source)
    if not logs:
        lacking = "no store.log, storeerror.log, transaction.log, protection.log or proxy.log there"
        raise Unreadable(f"{', '.join(map(str, source))}: {lacking}")
    schema, brief = TABLE_OF[Show.STORE.value]
    run.emit_rows(schema, rows_of(read_store_logs(logs, run.not_read).lines), brief=brief)


def _emit_counted(run: Run, source: list[Path]) -> None:
    from pipelines.cli.commands.ownership.ownership_rows import TABLE_OF
    from pipelines.recordings.counted import counted_rows, counting_logs

    logs = counting_logs(source)
    if not logs:
        raise Unreadable(f"{', '.join(map(str, source))}: no stats.log, watermark.log or log of a consumer there")
    schema, brief = TABLE_OF[Show.COUNTED.value]
    run.emit_rows(schema, counted_rows(logs, run.not_read), brief=brief)


LINES = {Show.STORE: _emit_store_lines, Show.COUNTED: _emit_counted}
"""What is shown of lines as they stand, without a replay."""


def owners_at(history: Replay, at_ms: int) -> Answer:
    """The answer for one instant, in the form of the contract."""
    queues = []
    for found in history.ownership_at(at_ms):
        row = dataclasses.asdict(found)
        queues.append({**row, "owners": list(found.owners), "possible": list(found.possible)})
    return {"at": at_ms, "queues": queues}


def _emit_owners(run: Run, answer: Answer) -> None:
    """The document of the contract; on a terminal one line per queue, with other possible owners where there are."""
    from pipelines.cli.commands.ownership.ownership_rows import OWNERS

    if run.format_ is Format.TABLE:
        rows = ({**queue, "possible": [] if queue["certain"] else queue["possible"]} for queue in answer["queues"])
        run.emit_rows(OWNERS, rows)
    else:
        run.emit_documents([answer], one=True)


def _say_why(run: Run, history: Replay) -> None:
    """The first of the reasons for which answers are wider than they could be."""
    for note in history.notes[:NOTES_SAID]:
        where = " ".join(part for part in (note.group, note.subject) if part)
        run.note(f"{note.kind}{f' ({where})' if where else ''}: {note.detail}")
    if len(history.notes) > NOTES_SAID:
        run.note(f"and {len(history.notes) - NOTES_SAID} more reasons: --show notes")


def _emit_table(run: Run, history: Replay, told: RecordedLines, show: Show) -> None:
    from pipelines.answers.recorded.ownership_rows import rows_to_batches
    from pipelines.cli.commands.ownership.ownership_rows import TABLE_OF

    schema, brief = TABLE_OF[show.value]
    found: dict[Show, Iterable[Any]] = {
        Show.INTERVALS: history.intervals,
        Show.ASSIGNMENTS: history.assignments,
        Show.ANOMALIES: history.anomalies,
        Show.DIVERGENCE: history.divergence,
        Show.NOTES: history.notes,
        Show.UNRECOGNISED: told.rows(),
    }
    run.emit(schema, rows_to_batches(schema, found[show]), brief=brief)
