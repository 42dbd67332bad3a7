"""`rocketlens replay`: who owned which queue when, from what brokers and clients left behind."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipelines.cli.frame.asked.options import OWNERSHIP, BrokerOption, Format, instant_of, instant_option
from pipelines.cli.frame.call.batch import Answer, answers, instant_in
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.run import Run
from pipelines.cli.frame.errors import Unreadable, WrongUsage

if TYPE_CHECKING:
    from pipelines.answers.recorded.heard import Heard
    from pipelines.recordings.line_counts import RecordedLines
    from pipelines.recordings.listening import Listener
    from rebalance.facts import Fact
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


NOTES_SAID = 10


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "replay", panel=OWNERSHIP)(replay)


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
    are. Exit code 1 when there are anomalies. `--show store` is of store.log and storeerror.log instead: what they say
    of files that were cleaned, cut, damaged or not made in time, of which queue, how often, from when to when, and
    what it means.

    Example: `rocketlens replay /data/logs --at 2026-11-21T03:12:00Z`
    """
    from pipelines.recordings.line_counts import RecordedLines

    if show is Show.STORE:
        if at is not None or batch:
            raise WrongUsage("replay: --show store has lines of all times; --at and --batch do not go with it")
        _emit_store_lines(run, source)
        return
    told = RecordedLines()
    history = replay_of(facts_in(run, source, broker, broker_port, told, alone=True))
    if show is not Show.UNRECOGNISED and any(summary.unrecognised for _, summary in told.logs):
        run.note("lines of no known text are passed over; --show unrecognised lists how they begin")
    _say_why(run, history)
    if batch:
        run.emit_documents(answers(run, lambda question: owners_at(history, instant_in(question, "at"))))
    elif at is not None:
        _emit_owners(run, owners_at(history, instant_of(at, "--at")))
    else:
        _emit_table(run, history, told, show)
    run.findings(len(history.anomalies))


def _emit_store_lines(run: Run, source: list[Path]) -> None:
    from pipelines.cli.commands.ownership_rows import TABLE_OF
    from pipelines.recordings.store_log import read_store_logs, rows_of, store_logs

    logs = store_logs(source)
    if not logs:
        raise Unreadable(f"{', '.join(map(str, source))}: no store.log and no storeerror.log there")
    schema, brief = TABLE_OF[Show.STORE.value]
    run.emit_rows(schema, rows_of(read_store_logs(logs, run.not_read).lines), brief=brief)


def facts_in(
    run: Run,
    source: Iterable[Path],
    broker: str | None = None,
    ports: list[int] | None = None,
    told: RecordedLines | None = None,
    *,
    alone: bool = False,
    beside: Sequence[Listener] = (),
) -> Iterator[Fact]:
    """The facts of all recordings found in files and folders; those that could not be read are named on stderr too.

    Args:
        told: takes the counts of the logs' lines.
        alone: nothing else is read, so that without a fact or a line the input is unreadable, not read in part.
        beside: hear the same recordings while their facts are read.
    Raises:
        Unreadable: there is no log and no capture.
        NoRoom: there is more in them than one command holds.
    """
    from pipelines.recordings.fact_room import FactRoom
    from pipelines.recordings.line_counts import RecordedLines
    from pipelines.recordings.listening import hear_facts
    from pipelines.recordings.recordings import BROKER_PORTS, find_recordings
    from rebalance.facts import UnreadRecord

    places = list(source)
    recordings = find_recordings(places, broker=broker, broker_ports=ports or BROKER_PORTS, problem=run.not_read)
    if not recordings:
        raise Unreadable(f"{', '.join(map(str, places))}: {_nothing_there(places)}")
    told, read, room = told or RecordedLines(), 0, FactRoom()
    for recording in recordings:
        for fact in hear_facts(recording, beside, run.not_read, partial(told.add, recording.name)):
            if isinstance(fact, UnreadRecord):
                run.not_read(f"{fact.evidence.file} record {fact.evidence.record}: {fact.reason}")
            else:
                read += 1
            room.take(fact)
            yield fact
    run.gave_nothing = alone and not read and not told.lines
    if told.lines:
        run.note(told.sentence())


def _nothing_there(places: Iterable[Path]) -> str:
    """Why a replay of these has nothing to go by."""
    from pipelines.recordings.store_log import store_logs

    why = "no broker log, client log or wire capture there (names as RocketMQ gives them)"
    return f"{why}; `replay --show store` reads the store.log that is" if store_logs(places) else why


def replay_of(facts: Iterable[Fact]) -> Replay:
    """The replayed history."""
    from rebalance.replay import replay as replay_facts

    return replay_facts(facts)


def heard_in(run: Run, source: Sequence[Path], *, keeps_facts: bool = False, needed: bool = True) -> Heard:
    """What recordings tell, each of them read once.

    Where nothing but store.log is there, that alone is heard; where nothing at all is and it is not `needed`, a note
    says so. Raises as `facts_in`.
    """
    from pipelines.answers.recorded.heard import Hearing
    from pipelines.recordings.store_log import is_of_one_broker, read_store_logs, store_logs

    hearing = Hearing(keeps_facts=keeps_facts)
    for place in source:
        run.reads(place)
    logs, history = store_logs(source), None
    try:
        history = replay_of(hearing.noting(facts_in(run, source, beside=hearing.listeners)))
    except Unreadable as lacking:
        if needed and not logs:
            raise
        run.note(f"--logs: {lacking}")
    for sentence in (sentence for each in hearing.listeners for sentence in each.problems()):
        run.not_read(sentence)
    heard = hearing.heard(history)
    if is_of_one_broker(logs):
        heard.store_log = read_store_logs(logs, run.not_read)
    elif logs:
        run.note("--logs: store.log of several brokers; which is the store's is not known: none is taken")
    return heard


def owners_at(history: Replay, at_ms: int) -> Answer:
    """The answer for one instant, in the form of the contract."""
    queues = []
    for found in history.ownership_at(at_ms):
        row = dataclasses.asdict(found)
        queues.append({**row, "owners": list(found.owners), "possible": list(found.possible)})
    return {"at": at_ms, "queues": queues}


def _emit_owners(run: Run, answer: Answer) -> None:
    """The document of the contract; on a terminal one line per queue, with other possible owners where there are."""
    from pipelines.cli.commands.ownership_rows import OWNERS

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
    from pipelines.cli.commands.ownership_rows import TABLE_OF

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
