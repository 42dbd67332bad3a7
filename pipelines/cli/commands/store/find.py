"""`rocketlens find`: messages by key and id, as a broker's query finds them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from parsers.commitlog.record.properties import last_value
from parsers.values.java import INT_MAX
from pipelines.answers.instants import parse_broker_instant
from pipelines.cli.frame.asked.options import STORE_FILES, BrokerOptions, StoreArgument, instant_of, instant_option
from pipelines.cli.frame.call.batch import Answer, Question, answers, in_our_words, instant_in, number_in, text_in
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.opening import known_store_at
from pipelines.cli.frame.call.run import Run
from pipelines.cli.frame.errors import WrongUsage

if TYPE_CHECKING:
    from recovery.query.query import FoundMessage, StoreQuery

COLUMNS = (
    "physical_offset i64, message_id text, topic text, queue_id i32, queue_offset i64, store_timestamp time_ms, "
    "keys text, unique_id text, found_by text, life text"
)
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


@dataclass(frozen=True, slots=True)
class QuestionOptions:
    """What is looked for."""

    topic: Annotated[str | None, typer.Option(metavar="T", help="Topic of the messages.")] = None
    key: Annotated[str | None, typer.Option(metavar="K", help="A key as the producer set it.")] = None
    unique_id: Annotated[str | None, typer.Option(metavar="U", help="The id the producer made (UNIQ_KEY).")] = None
    message_id: Annotated[str | None, typer.Option(metavar="M", help="An offset message id: host and position.")] = None
    begin: Annotated[str | None, instant_option("Stored at or after")] = None
    end: Annotated[str | None, instant_option("Stored at or before")] = None
    max_: Annotated[int, typer.Option("--max", metavar="N", min=1, max=INT_MAX, help="At most so many messages.")] = (
        MOST_MESSAGES
    )

    def as_question(self) -> Question:
        """Raises WrongUsage: a text that is no instant."""
        return {
            "topic": self.topic,
            "key": self.key,
            "unique_id": self.unique_id,
            "message_id": self.message_id,
            "begin": None if self.begin is None else instant_of(self.begin, "--begin", parse_broker_instant),
            "end": None if self.end is None else instant_of(self.end, "--end", parse_broker_instant),
            "max": self.max_,
        }


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How it is looked for."""

    hash_only: Annotated[
        bool,
        typer.Option("--hash-only", help="Also messages whose key merely has the same hash, as the broker sends them."),
    ] = False
    scan: Annotated[
        bool, typer.Option("--scan", help="Read the log itself, not the index, which may lack messages.")
    ] = False


@command("find", panel=STORE_FILES)
def find(
    run: Run,
    store: StoreArgument,
    asked: QuestionOptions,
    how: SearchOptions,
    *,
    batch: Annotated[bool, typer.Option("--batch", help="Many questions: JSON lines on standard input.")] = False,
    broker: BrokerOptions,
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
    from recovery.query.query import StoreQuery

    store_query = StoreQuery(*known_store_at(run, store, broker), damage=run.damage)
    question = asked.as_question()
    if not how.scan and asked.message_id is None:
        _tell_of_uncovered(run, store, store_query, asked.topic)
    if batch:
        run.emit_documents(answers(run, lambda given: _find_answer(store_query, given, question, how)))
        return
    if asked.topic is None and asked.message_id is None:
        raise WrongUsage("find: --topic is missing; a key is looked up together with its topic")
    try:
        found, _ = _looked_up(store_query, question, how)
    except ValueError as wrong:
        raise WrongUsage(f"find: {wrong}") from wrong
    run.emit_rows(COLUMNS, (_row(store_query, hit) for hit in found), brief=BRIEF)
    if asked.message_id is not None and not found:
        run.note(
            f"{asked.message_id}: no message of this log has it as its host and position. The id that a producer made "
            "looks alike: name it with --topic and --unique-id; `rocketlens who` takes either"
        )


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


def _looked_up(asked: StoreQuery, question: Question, how: SearchOptions) -> tuple[list[FoundMessage], list[int]]:
    """What is found, and the physical offsets that were looked at.

    Raises ValueError for a question that does not name one thing to look for.
    """
    if not how.scan:
        return _found(asked, question, how.hash_only)
    found = _scanned(asked, question)
    return found, [hit.physical_offset for hit in found]


def _scanned(asked: StoreQuery, question: Question) -> list[FoundMessage]:
    """Raises ValueError for a question that names not exactly one of key and unique id."""
    if (question.get("key") is None) == (question.get("unique_id") is None) or question.get("message_id") is not None:
        raise ValueError("--scan looks for one of key and unique_id")
    found = asked.scan(_key_question(question))
    unique_id = question.get("unique_id")
    return [hit for hit in found if unique_id in (None, hit.message.property_value("UNIQ_KEY"))]


def _found(asked: StoreQuery, question: Question, hash_only: bool) -> tuple[list[FoundMessage], list[int]]:
    """Raises ValueError for a question that names not exactly one thing to look for."""
    named = [name for name in ("key", "unique_id", "message_id") if question.get(name) is not None]
    if len(named) != 1:
        raise ValueError("give one of --key, --unique-id and --message-id")
    if named == ["message_id"]:
        found = asked.find_by_message_id(text_in(question, "message_id"))
        return found, [hit.physical_offset for hit in found]
    key = _key_question(question)
    offsets = asked.query_offsets(key)
    if named == ["unique_id"]:
        return asked.find_by_unique_id(key, offsets), offsets
    return asked.find_by_key(key, hash_only=hash_only, offsets=offsets), offsets


def _key_question(question: Question) -> Any:
    from parsers.values.java import LONG_MAX
    from recovery.query.query import KeyQuestion

    return KeyQuestion(
        text_in(question, "topic"),
        text_in(question, "key") if question.get("key") is not None else text_in(question, "unique_id"),
        number_in(question, "max", MOST_MESSAGES),
        instant_in(question, "begin", 0),
        instant_in(question, "end", LONG_MAX),
    )


def _find_answer(asked: StoreQuery, given: Question, otherwise: Question, how: SearchOptions) -> Answer:
    question = {name: otherwise[name] for name in SHARED} | in_our_words(given)
    found, offsets = _looked_up(asked, question, how)
    from pipelines.answers.instants import iso_instant

    rows = [
        {**row, "store_timestamp": iso_instant(row["store_timestamp"])} for row in (_row(asked, hit) for hit in found)
    ]
    return {**given, "messages": rows, "physical_offsets": offsets}


def _row(asked: StoreQuery, hit: FoundMessage) -> dict[str, Any]:
    message, properties = hit.message, hit.message.properties()
    return {
        "physical_offset": hit.physical_offset,
        "message_id": message.message_id,
        "topic": message.topic,
        "queue_id": message.queue_id,
        "queue_offset": message.queue_offset,
        "store_timestamp": message.store_timestamp_ms,
        "keys": last_value(properties, "KEYS"),
        "unique_id": last_value(properties, "UNIQ_KEY"),
        "found_by": hit.found_by,
        "life": asked.life_of(message),
    }
