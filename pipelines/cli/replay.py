"""`rocketlens replay`: who owned which queue when, from what brokers and clients left behind."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipelines.cli.batch import Answer, answers, instant_in
from pipelines.cli.command import command
from pipelines.cli.errors import Unreadable
from pipelines.cli.options import OWNERSHIP, InstantOption, instant_of
from pipelines.cli.run import Run

if TYPE_CHECKING:
    from rebalance.events import Fact
    from rebalance.replay import Replay


class Show(StrEnum):
    """Tables of a replay."""

    INTERVALS = "intervals"
    ASSIGNMENTS = "assignments"
    ANOMALIES = "anomalies"
    DIVERGENCE = "divergence"


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
            help="Broker logs, client logs, captures (JSON lines or pcap), or folders of them.",
        ),
    ],
    show: Annotated[Show, typer.Option(help="Which table.")] = Show.INTERVALS,
    at: InstantOption = None,
    batch: Annotated[
        bool, typer.Option("--batch", help='Many instants: lines `{"at": ms}` on standard input.')
    ] = False,
    broker: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the broker, for captures and logs that do not tell it.")
    ] = None,
    broker_port: Annotated[
        list[int] | None,
        typer.Option(metavar="N", help="Port the broker listened on, for pcap files; may be repeated."),
    ] = None,
) -> None:
    """Replay the history of queue ownership and show who owned what, how sure that is, and what went wrong.

    An interval has an earliest and a latest begin and end; `--at` answers `{"at", "queues": [{"group", "topic",
    "broker", "queue_id", "owners", "certain", "possible"}]}`. Exit code 1 when there are anomalies.

    Example: `rocketlens replay /data/logs --at 2026-11-21T03:12:00Z`
    """
    history = replay_of(facts_in(run, source, broker, broker_port))
    if batch:
        run.emit_documents(answers(run, lambda question: owners_at(history, instant_in(question, "at"))))
    elif at is not None:
        run.emit_documents([owners_at(history, instant_of(at, "--at"))], one=True)
    else:
        _emit_table(run, history, show)
    run.findings(len(history.anomalies))


def facts_in(
    run: Run, source: Iterable[Path], broker: str | None = None, ports: list[int] | None = None
) -> Iterator[Fact]:
    """The facts of all recordings found in files and folders; those that could not be read are named on stderr too.

    Raises:
        Unreadable: there is no log and no capture.
    """
    from pipelines.recordings import BROKER_PORTS, facts_of, find_recordings
    from rebalance.events import UnreadRecord

    places = list(source)
    for place in places:
        run.keep_out_of(place)
    recordings = find_recordings(places, broker=broker, broker_ports=ports or BROKER_PORTS)
    if not recordings:
        named = ", ".join(map(str, places))
        raise Unreadable(f"{named}: no broker log, client log or wire capture there (names as RocketMQ gives them)")
    for recording in recordings:
        for fact in facts_of(recording, run.not_read):
            if isinstance(fact, UnreadRecord):
                run.not_read(f"{fact.evidence.file} record {fact.evidence.record}: {fact.reason}")
            yield fact


def replay_of(facts: Iterable[Fact]) -> Replay:
    """The replayed history."""
    from rebalance.replay import replay as replay_facts

    return replay_facts(facts)


def owners_at(history: Replay, at_ms: int) -> Answer:
    """The answer for one instant, in the form of the contract."""
    queues = []
    for found in history.ownership_at(at_ms):
        row = dataclasses.asdict(found)
        queues.append({**row, "owners": list(found.owners), "possible": list(found.possible)})
    return {"at": at_ms, "queues": queues}


def _emit_table(run: Run, history: Replay, show: Show) -> None:
    from pipelines.cli.ownership_rows import TABLE_OF, rows_of

    schema, brief = TABLE_OF[show.value]
    found: dict[Show, Iterable[Any]] = {
        Show.INTERVALS: history.intervals,
        Show.ASSIGNMENTS: history.assignments,
        Show.ANOMALIES: history.anomalies,
        Show.DIVERGENCE: history.divergence,
    }
    run.emit_rows(schema, rows_of(found[show], schema), brief=brief)
