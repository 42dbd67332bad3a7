"""Recordings that a command is given: their facts, the history that these make, and what else they tell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.cli.frame.call.run import Run
from pipelines.cli.frame.errors import Unreadable

if TYPE_CHECKING:
    from pipelines.answers.recorded.heard import Heard
    from pipelines.recordings.line_counts import RecordedLines
    from pipelines.recordings.listening import Listener
    from rebalance.facts import Fact
    from rebalance.replay import Replay


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

    why = "no broker log, client log or wire capture there (in a folder by RocketMQ's names)"
    return f"{why}; `replay --show store` reads the logs of a broker that are" if store_logs(places) else why


def replay_of(facts: Iterable[Fact]) -> Replay:
    """The replayed history."""
    from rebalance.replay import replay as replay_facts

    return replay_facts(facts)


def say_no_group(run: Run, history: Replay) -> None:
    """What is missing where nothing can be answered, as of a store without logs."""
    if not history.groups:
        run.note("no consumer group is on record: name logs of brokers or clients, or a capture")


def heard_in(
    run: Run, source: Sequence[Path], own: str | None, *, keeps_facts: bool = False, needed: bool = True
) -> Heard:
    """What recordings tell, each of them read once; `own` is the name of the store's broker, where that is known.

    Where nothing but store.log is there, that alone is heard; where nothing at all is and it is not `needed`, a note
    says so. Raises as `facts_in`.
    """
    from pipelines.answers.recorded.heard import Hearing
    from pipelines.recordings.store_log import logs_of_broker, read_store_logs, store_logs

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
    heard = hearing.heard(history, own)
    if mine := logs_of_broker(logs, own):
        heard.store_log = read_store_logs(mine, run.not_read)
    elif logs:
        run.note("--logs: store.log of several brokers; which is the store's is not known: none is taken")
    return heard
