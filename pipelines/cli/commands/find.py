"""`rocketlens find` and `offset-at`: questions a broker answers, asked of its files."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from parsers.java import INT_MAX
from pipelines.answers.instants import parse_broker_instant
from pipelines.cli.frame.batch import Answer, Question, answers, instant_in, number_in, text_in
from pipelines.cli.frame.command import command
from pipelines.cli.frame.errors import WrongUsage
from pipelines.cli.frame.opening import NOTHING_SAID, known_store_at
from pipelines.cli.frame.options import STORE_FILES, BrokerOptions, InstantOption, StoreArgument, instant_of
from pipelines.cli.frame.run import Run

if TYPE_CHECKING:
    import pyarrow as pa

    from parsers.store import Store
    from recovery.knowledge.inference import StoreKnowledge
    from recovery.query.query import FoundMessage, StoreQuery
    from recovery.query.time_search import Boundary

BRIEF = (
    "physical_offset",
    "topic",
    "queue_id",
    "queue_offset",
    "store_timestamp",
    "keys",
    "found_by",
    "life",
    "unique_id",
    "message_id",
)
MOST_MESSAGES = 32
SHARED = ("topic", "begin", "end", "max")
"""What the options say for every line of --batch."""
OTHER_NAMES = {
    "queue": "queue_id",
    "queueId": "queue_id",
    "timestamp": "at",
    "maxNum": "max",
    "max_num": "max",
    "msgId": "message_id",
    "message-id": "message_id",
    "uniqKey": "unique_id",
    "unique-id": "unique_id",
}
"""The options' own names and RocketMQ's, which questions may use as well."""


class BoundaryName(StrEnum):
    """Which end of equal store times."""

    LOWER = "lower"
    UPPER = "upper"


def register(app: typer.Typer) -> None:
    """Add the commands."""
    command(app, "find", panel=STORE_FILES)(find)
    command(app, "offset-at", panel=STORE_FILES)(offset_at)


def find(
    run: Run,
    store: StoreArgument,
    topic: Annotated[str | None, typer.Option(metavar="T", help="Topic of the messages.")] = None,
    key: Annotated[str | None, typer.Option(metavar="K", help="A key as the producer set it.")] = None,
    unique_id: Annotated[str | None, typer.Option(metavar="U", help="The id the producer made (UNIQ_KEY).")] = None,
    message_id: Annotated[
        str | None, typer.Option(metavar="M", help="An offset message id: host and position.")
    ] = None,
    begin: InstantOption = None,
    end: InstantOption = None,
    max_: Annotated[
        int, typer.Option("--max", metavar="N", min=1, max=INT_MAX, help="At most so many.")
    ] = MOST_MESSAGES,
    hash_only: Annotated[
        bool,
        typer.Option("--hash-only", help="Also messages whose key merely has the same hash, as the broker sends them."),
    ] = False,
    scan: Annotated[
        bool, typer.Option("--scan", help="Read the log itself, not the index, which may lack messages.")
    ] = False,
    batch: Annotated[bool, typer.Option("--batch", help="Many questions: JSON lines on standard input.")] = False,
    broker: BrokerOptions = NOTHING_SAID,
) -> None:
    """Find messages by key, unique id or message id through the index, newest first, as the broker's query does.

    `found_by` says how: unique_id, key, tag, message_id, hash_only, or scan. Messages with keys that the index does not
    reach are counted on stderr, with exit code 4; --scan finds them. `life` is `living` for a message in its queue,
    `former` for one whose topic was deleted after it. With --batch each line of standard input is a
    question `{"topic", "key" | "unique_id" | "message_id", "begin"?, "end"?, "max"?}`, options giving what a line
    leaves out; its answer repeats it, with `messages` (rows as above) and `physical_offsets` (every entry the index
    query gives, other keys of the same hash included).

    Example: `rocketlens find /data/store --topic Orders --key order-4711`
    """
    asked = _query(run, store, broker, names_version=False)
    question: Question = {
        "topic": topic,
        "key": key,
        "unique_id": unique_id,
        "message_id": message_id,
        "begin": None if begin is None else instant_of(begin, "--begin", parse_broker_instant),
        "end": None if end is None else instant_of(end, "--end", parse_broker_instant),
        "max": max_,
    }
    if not scan and message_id is None:
        _tell_of_uncovered(run, store, asked, topic)
    if batch:
        run.emit_documents(answers(run, lambda given: _find_answer(asked, given, question, hash_only, scan)))
        return
    if topic is None and message_id is None:
        raise WrongUsage("find: --topic is missing; a key is looked up together with its topic")
    try:
        found = _scanned(asked, question) if scan else _found(asked, question, hash_only)
    except ValueError as wrong:
        raise WrongUsage(f"find: {wrong}") from wrong
    run.emit_rows(_found_schema(), (_row(asked, hit) for hit in found), brief=BRIEF)


def _tell_of_uncovered(run: Run, store: Path, asked: StoreQuery, topic: str | None) -> None:
    """Name the messages with keys that no query by key can find."""
    from pipelines.answers.instants import iso_instant

    missing, reach = asked.uncovered(topic), asked.index_reach()
    if missing is None:
        return
    covers = (
        "nothing"
        if reach is None
        else (
            f"the log from physical offset {reach.first_physical_offset} ({iso_instant(reach.first_ms)}) to "
            f"{reach.last_physical_offset} ({iso_instant(reach.last_ms)})"
        )
    )
    run.not_read(
        f"{store}: the index covers {covers}; {missing.messages} messages {f'of {topic} ' if topic else ''}with keys, "
        f"physical offset {missing.first_physical_offset} to {missing.last_physical_offset}, are in none of its "
        "entries; --scan reads the log itself"
    )


def _scanned(asked: StoreQuery, question: Question) -> list[FoundMessage]:
    """Raises ValueError for a question that names not exactly one of key and unique id."""
    if (question.get("key") is None) == (question.get("unique_id") is None) or question.get("message_id") is not None:
        raise ValueError("--scan looks for one of key and unique_id")
    found = asked.scan(_key_question(question))
    unique_id = question.get("unique_id")
    return [hit for hit in found if unique_id in (None, hit.message.property_value("UNIQ_KEY"))]


def offset_at(
    run: Run,
    store: StoreArgument,
    topic: Annotated[str | None, typer.Option(metavar="T", help="Topic of the queue.")] = None,
    queue: Annotated[int | None, typer.Option(metavar="N", min=0, max=INT_MAX, help="Queue id.")] = None,
    at: InstantOption = None,
    boundary: Annotated[BoundaryName, typer.Option(help="Of messages with the same store time: first or last.")] = (
        BoundaryName.LOWER
    ),
    batch: Annotated[bool, typer.Option("--batch", help="Many questions: JSON lines on standard input.")] = False,
    broker: BrokerOptions = NOTHING_SAID,
) -> None:
    """The queue offset that the broker's search by time gives for an instant.

    4.x brokers answer the nearest message; 5.x ones the first at or after the instant (lower), or the last at or before
    it (upper). With --batch each line of standard input is a question `{"topic", "queue_id", "at", "boundary"?}`; its
    answer repeats it, with `queue_offset` (null where the store has no such queue, or one that is not read).

    Example: `rocketlens offset-at /data/store --topic Orders --queue 0 --at 2026-11-21T03:12:00Z`
    """
    import pyarrow as pa

    from recovery.query.query import StoreQuery

    opened, known = known_store_at(run, store, broker, names_version=True)
    _doubt_times(run, opened, known)
    asked = StoreQuery(opened, known, damage=run.damage)
    if batch:
        run.emit_documents(answers(run, lambda question: _offset_answer(asked, question, boundary.value)))
        return
    if topic is None or queue is None or at is None:
        raise WrongUsage(
            "offset-at: --topic, --queue and --at are needed (or --batch, with questions on standard input)"
        )
    question = {"topic": topic, "queue_id": queue, "at": instant_of(at, "--at")}
    row = _offset_answer(asked, question, boundary.value)
    if row["queue_offset"] is None and not run.unread:
        raise WrongUsage(f"{store}: no ConsumeQueue of {topic}/{queue} there; `rocketlens queues {store}` lists them")
    schema = pa.schema(
        [
            ("topic", pa.string()),
            ("queue_id", pa.int32()),
            ("at", pa.timestamp("ms", "UTC")),
            ("queue_offset", pa.int64()),
        ]
    )
    run.emit_rows(schema, [row])


def _query(run: Run, store: Path, broker: BrokerOptions, *, names_version: bool) -> StoreQuery:
    from recovery.query.query import StoreQuery

    return StoreQuery(*known_store_at(run, store, broker, names_version=names_version), damage=run.damage)


def _doubt_times(run: Run, store: Store, known: StoreKnowledge) -> None:
    """Versions that look for a queue's file by its time answer something else on a copy without times."""
    from recovery.knowledge.copied_times import copied_without_times

    if known.version.searches_time_by_boundary or all(len(files) < 2 for files in store.queues.values()):
        return
    if (lost := copied_without_times(store)) is not None:
        run.not_read(f"{store.root}: {known.version} picks a queue's file by its time, and {lost.reason}")


def _found(asked: StoreQuery, question: Question, hash_only: bool) -> list[FoundMessage]:
    """Raises ValueError for a question that names not exactly one thing to look for."""

    named = [name for name in ("key", "unique_id", "message_id") if question.get(name) is not None]
    if len(named) != 1:
        raise ValueError("give one of key, unique_id and message_id")
    if named == ["message_id"]:
        return asked.find_by_message_id(text_in(question, "message_id"))
    topic, most = text_in(question, "topic"), number_in(question, "max", MOST_MESSAGES)
    if named == ["unique_id"]:
        return asked.find_by_unique_id(topic, text_in(question, "unique_id"), max_num=most)
    return asked.find_by_key(_key_question(question), hash_only=hash_only)


def _key_question(question: Question) -> Any:
    from parsers.java import LONG_MAX
    from recovery.query.query import KeyQuestion

    return KeyQuestion(
        text_in(question, "topic"),
        text_in(question, "key") if question.get("key") is not None else text_in(question, "unique_id"),
        number_in(question, "max", MOST_MESSAGES),
        instant_in(question, "begin", 0),
        instant_in(question, "end", LONG_MAX),
    )


def _find_answer(asked: StoreQuery, given: Question, otherwise: Question, hash_only: bool, scan: bool) -> Answer:
    question = {name: otherwise[name] for name in SHARED} | _in_our_words(given)
    found = _scanned(asked, question) if scan else _found(asked, question, hash_only)
    by_index = question.get("message_id") is None and not scan
    offsets = asked.query_offsets(_key_question(question)) if by_index else [hit.physical_offset for hit in found]
    from pipelines.answers.instants import iso_instant

    rows = [
        {**row, "store_timestamp": iso_instant(row["store_timestamp"])} for row in (_row(asked, hit) for hit in found)
    ]
    return {**given, "messages": rows, "physical_offsets": offsets}


def _offset_answer(asked: StoreQuery, given: Question, boundary: str) -> Answer:
    from recovery.query.query import TimeQuestion

    question = _in_our_words(given)
    wanted = str(question.get("boundary") or boundary).lower()
    if wanted not in ("lower", "upper"):
        raise ValueError(f"boundary is lower or upper, not {wanted!r}")
    queue_id = number_in(question, "queue_id")
    at_ms = instant_in(question, "at")
    end: Boundary = "upper" if wanted == "upper" else "lower"
    found = asked.offset_at(TimeQuestion(text_in(question, "topic"), queue_id, at_ms, end))
    return {**given, "queue_id": queue_id, "at": question["at"], "queue_offset": found}


def _in_our_words(question: Question) -> Question:
    return {OTHER_NAMES.get(name, name): value for name, value in question.items()}


def _row(asked: StoreQuery, hit: FoundMessage) -> dict[str, Any]:
    message = hit.message
    return {
        "physical_offset": hit.physical_offset,
        "message_id": message.message_id,
        "topic": message.topic,
        "queue_id": message.queue_id,
        "queue_offset": message.queue_offset,
        "store_timestamp": message.store_timestamp_ms,
        "keys": message.property_value("KEYS"),
        "unique_id": message.property_value("UNIQ_KEY"),
        "found_by": hit.found_by,
        "life": asked.life_of(message),
    }


def _found_schema() -> pa.Schema:
    import pyarrow as pa

    return pa.schema(
        [
            ("physical_offset", pa.int64()),
            ("message_id", pa.string()),
            ("topic", pa.string()),
            ("queue_id", pa.int32()),
            ("queue_offset", pa.int64()),
            ("store_timestamp", pa.timestamp("ms", "UTC")),
            ("keys", pa.string()),
            ("unique_id", pa.string()),
            ("found_by", pa.string()),
            ("life", pa.string()),
        ]
    )
