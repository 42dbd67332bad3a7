"""`rocketlens offset-at`: the queue offset of an instant, as a broker's search by time gives it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from parsers.values.java import INT_MAX
from pipelines.cli.frame.asked.options import STORE_FILES, BrokerOptions, StoreArgument, instant_of, instant_option
from pipelines.cli.frame.call.batch import Answer, Question, answers, in_our_words, instant_in, number_in, text_in
from pipelines.cli.frame.call.beside.kept_offsets import offsets_at
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.opening import NOTHING_SAID, known_store_at
from pipelines.cli.frame.call.run import Run
from pipelines.cli.frame.errors import WrongUsage

if TYPE_CHECKING:
    from parsers.store.store import Store
    from recovery.knowledge.inference import StoreKnowledge
    from recovery.query.by_time.time_search import Boundary
    from recovery.query.query import StoreQuery


class BoundaryName(StrEnum):
    """Which end of equal store times."""

    LOWER = "lower"
    UPPER = "upper"


@dataclass(frozen=True, slots=True)
class InstantOptions:
    """One question: a queue, or all of a topic, and an instant; and whose offsets would go there."""

    topic: Annotated[str | None, typer.Option(metavar="T", help="Topic of the queue.")] = None
    queue: Annotated[int | None, typer.Option(metavar="N", min=0, max=INT_MAX, help="Queue id; else every queue.")] = (
        None
    )
    at: Annotated[str | None, instant_option("The instant that is looked for")] = None
    boundary: Annotated[BoundaryName, typer.Option(help="Of messages with the same store time: first or last.")] = (
        BoundaryName.LOWER
    )
    group: Annotated[
        str | None, typer.Option(metavar="G", help="What a reset of this group to the instant would skip and repeat.")
    ] = None

    def questions(self, asked: StoreQuery) -> list[Question]:
        """In the form of lines of --batch, one for each queue. Raises WrongUsage where a part is missing."""
        if self.topic is None or self.at is None:
            raise WrongUsage("offset-at: --topic and --at are needed (or --batch, with questions on standard input)")
        queues = asked.queues_of(self.topic) if self.queue is None else [self.queue]
        at_ms = instant_of(self.at, "--at")
        return [{"topic": self.topic, "queue_id": queue_id, "at": at_ms} for queue_id in queues]


@command("offset-at", panel=STORE_FILES)
def offset_at(
    run: Run,
    store: StoreArgument,
    wanted: InstantOptions,
    *,
    batch: Annotated[bool, typer.Option("--batch", help="Many questions: JSON lines on standard input.")] = False,
    broker: BrokerOptions = NOTHING_SAID,
) -> None:
    """The queue offset that the broker's search by time gives for an instant.

    4.x brokers answer the nearest message; 5.x ones the first at or after the instant (lower), or the last at or before
    it (upper). With --batch each line of standard input is a question `{"topic", "queue_id", "at", "boundary"?}`; its
    answer repeats it, with `queue_offset` (null where the store has no such queue, or one that is not read). With
    --group nothing is reset: `skipped` and `repeated` say how many messages `mqadmin resetOffsetByTime` to the instant
    would pass over, and make come again; both are empty where the group has no offset, which such a reset leaves alone.

    Example: `rocketlens offset-at /data/store --topic Orders --group CG_orders --at 2026-11-21T03:12:00Z`
    """
    from recovery.query.query import StoreQuery

    opened, known = known_store_at(run, store, broker, names_version=True)
    _doubt_times(run, opened, known)
    asked = StoreQuery(opened, known, damage=run.damage)
    if batch:
        run.emit_documents(answers(run, lambda question: _offset_answer(asked, question, wanted.boundary.value)))
        return
    rows = [_offset_answer(asked, question, wanted.boundary.value) for question in wanted.questions(asked)]
    if not any(row["queue_offset"] is not None for row in rows) and not run.unread:
        place = wanted.topic if wanted.queue is None else f"{wanted.topic}/{wanted.queue}"
        raise WrongUsage(f"{store}: no ConsumeQueue of {place} there; `rocketlens queues {store}` lists them")
    columns = "topic text, queue_id i32, at time_ms, queue_offset i64"
    if wanted.group is not None:
        columns += ", consumer_offset i64, skipped i64, repeated i64"
        stored = offsets_at(run, opened, None).offsets.get((wanted.group, wanted.topic or ""), {})
        rows = [{**row, **_plan(asked, row, stored)} for row in rows]
    run.emit_rows(columns, rows)


def _plan(asked: StoreQuery, row: Answer, stored: Mapping[int, int]) -> Answer:
    """What a reset to the row's offset would do to a group; messages that the queue lost are neither.

    Source: Broker2Client#resetOffset @4.9.8, #resetOffsetInner @5.3.3, with isForce, as `mqadmin resetOffsetByTime`
    asks for by default.
    """
    now, then = stored.get(row["queue_id"]), row["queue_offset"]
    if now is None or then is None:
        return {"consumer_offset": now}
    first, end = asked.limits(row["topic"], row["queue_id"])
    return {
        "consumer_offset": now,
        "skipped": max(0, min(then, end) - max(now, first)),
        "repeated": max(0, min(now, end) - max(then, first)),
    }


def _doubt_times(run: Run, store: Store, known: StoreKnowledge) -> None:
    """Versions that look for a queue's file by its time answer something else on a copy without times."""
    from recovery.knowledge.copied_times import copied_without_times

    if known.version.searches_time_by_boundary or all(len(files) < 2 for files in store.queues.values()):
        return
    if (lost := copied_without_times(store)) is not None:
        run.not_read(f"{store.root}: {known.version} picks a queue's file by its time, and {lost.reason}")


def _offset_answer(asked: StoreQuery, given: Question, boundary: str) -> Answer:
    from recovery.query.query import TimeQuestion

    question = in_our_words(given)
    wanted = str(question.get("boundary") or boundary).lower()
    if wanted not in ("lower", "upper"):
        raise ValueError(f"boundary is lower or upper, not {wanted!r}")
    queue_id = number_in(question, "queue_id")
    at_ms = instant_in(question, "at")
    end: Boundary = "upper" if wanted == "upper" else "lower"
    found = asked.offset_at(TimeQuestion(text_in(question, "topic"), queue_id, at_ms, end))
    return {**given, "queue_id": queue_id, "at": question["at"], "queue_offset": found}
