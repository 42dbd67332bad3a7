"""What the open store classes answered, against what we say of the files that they left: records, queues, keys, times.

Records are compared file by file up to the first that the store classes refuse; what lies after it only we read.
Not judged: before 5.1.1 a search by time in a queue of several files, one of which is picked by its modification time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from parsers.commitlog.batches.read import read_commitlog
from parsers.commitlog.record.properties import last_value
from parsers.consumequeue.layout import CQ_UNIT
from parsers.damage.errors import Damage, unheard
from parsers.queues.store_queues import StoreQueues
from parsers.store.store import NotAStore, Store
from parsers.store.store_file import QueueKey
from parsers.values.java import INT_MAX
from pipelines.answers.derived.queue_figures import queue_figures
from recovery.knowledge.knowledge import Said, knowledge_of
from recovery.query.by_time.time_search import Boundary
from recovery.query.query import KeyQuestion, StoreQuery, TimeQuestion
from recovery.rules.versions import BrokerVersion
from tests.support.java_message import FIELDS, HOSTS, TIMES, columns_of
from tests.support.opened import opened

NOTHING_SET: Mapping[str, str] = {}
Told = dict[str, Any]
Differences = dict[str, tuple[Any, Any]]
"""What differs: where -> (ours, theirs)."""

COLUMNS = [*FIELDS, *TIMES, *HOSTS, "properties", "body"]
BOUNDARIES: tuple[tuple[str, Boundary], ...] = (
    ("offset", "lower"),
    ("offsetLOWER", "lower"),
    ("offsetUPPER", "upper"),
)


def judge_answers(
    root: Path, version: BrokerVersion, answers: Told, config: Mapping[str, str] = NOTHING_SET
) -> dict[str, Differences]:
    """Command -> what it says otherwise than the store classes, which had `root` open and then shut down."""
    try:
        store, _ = opened(root, version, config=config)
    except NotAStore:
        return {}
    whole = {key for key, pair in _living_ends(store).items() if pair == _their_ends(answers["queues"].get(_name(key)))}
    return {
        "decode": dict(_decode(store, answers)),
        "find": dict(_find(store, version, answers)),
        "offset-at": dict(_offset_at(store, version, answers["times"], whole)),
    }


def _ends(store: Store, version: BrokerVersion) -> dict[QueueKey, tuple[int, int]]:
    """Least and greatest queue offset of each queue, as the command `queues` gives them."""
    rows = queue_figures(store, version, lambda damage: None)
    return {(row["topic"], row["queue_id"]): (row["min_queue_offset"], row["max_queue_offset"]) for row in rows}


def _living_ends(store: Store) -> dict[QueueKey, tuple[int, int]]:
    """The first message of each queue that exists, which its broker begins with once its cleaner has run, and its end.

    A search by time is judged where the broker does so already.
    """
    start = store.commitlog[0].base_offset or 0 if store.commitlog else 0
    with StoreQueues(store, damage=unheard) as queues:
        return {key: queue.ends(start) for key, queue in queues.items()}


def _their_ends(told: Told | None) -> tuple[int, int] | None:
    return None if told is None else (told["min"], told["max"])


def _name(key: QueueKey) -> str:
    return f"{key[0]}/{key[1]}"


def _decode(store: Store, answers: Told) -> Iterator[tuple[str, tuple[Any, Any]]]:
    up_to = {int(name): int(name) + end for name, end in answers["filesUpTo"].items()}
    theirs = {message["physicalOffset"]: _their_row(message) for message in answers["messages"]}
    ours = {row["physical_offset"]: row for row in _rows(store)}
    bases = {file.base_offset: file for file in store.commitlog}
    for base, end in up_to.items():
        if base in bases:
            own = {at for at in ours if base <= at < end}
            listed = {at for at in theirs if base <= at < end}
            for at in sorted(own | listed):
                if ours.get(at) != theirs.get(at):
                    yield f"record at {at}", (ours.get(at), theirs.get(at))


def _rows(store: Store) -> Iterator[Told]:
    for batch in read_commitlog(store, columns=COLUMNS, damage=unheard):
        for column in TIMES:
            batch = batch.set_column(batch.schema.get_field_index(column), column, batch[column].cast(pa.int64()))
        for row in batch.to_pylist():
            body = row["body"] or b""
            pairs = [(pair["name"], pair["value"]) for pair in row["properties"] or ()]
            said = {"properties": _as_java_keeps(pairs), "body": hashlib.sha256(body).hexdigest()}
            yield row | said | {"body_size": max(0, row["body_size"])}  # MessageDecoder reads any length below as 0


def _as_java_keeps(pairs: Sequence[tuple[str, str]]) -> dict[str, str]:
    """A map of the pairs: the last of one name counts."""
    return {name: last_value(list(pairs), name) or "" for name, _ in pairs}


def _their_row(message: Told) -> Told:
    return columns_of(message) | {"properties": message["properties"], "body": message["body"]}


def judge_queues(
    root: Path, version: BrokerVersion, told: Told, config: Mapping[str, str] = NOTHING_SET
) -> Differences:
    """`queues` and the units of the files at `root`, against what ConsumeQueue makes of them queue by queue."""
    try:
        store, _ = opened(root, version, config=config)
    except NotAStore:
        return {}
    return dict(_queues(store, _ends(store, version), told))


def _queues(
    store: Store, ends: Mapping[QueueKey, tuple[int, int]], theirs: Told
) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """Least and greatest queue offset, and the units between them.

    A restarted broker counts the pre-blanks that a queue begins with; ours begins after them. Not judged: a queue that
    the broker refuses, so that it does not start; a queue of whose log a folder is missing: the broker passes over it,
    and we say that the minimum cannot be told.
    """
    with StoreQueues(store, damage=unheard) as queues:
        for key, queue in queues.items():
            name, (least, most) = _name(key), ends[key]
            told = theirs.get(name)
            if told is None:
                yield name, ("a queue", None)
                continue
            if not told["load"] or "error" in told or store.log_not_found is not None:
                continue
            written = told.get("units", [])
            blanks = _pre_blanks(written)
            if (least, most) != (told["min"] + blanks, told["max"]):
                yield f"{name} ends", ((least, most), (told["min"], told["max"]))
                continue
            if "units" not in told:
                continue
            units = [list(unit) for batch in queue.batches() for unit in _units(batch, least, most)]
            if units != [unit for unit in written[blanks:] if unit[2] > 0]:
                yield f"{name} units", (len(units), len(written) - blanks)


def _pre_blanks(units: list[list[int]]) -> int:
    """How many units a queue begins with that only fill its first file up to its first message."""
    return next((number for number, unit in enumerate(units) if unit[1:] != [0, INT_MAX, 0]), len(units))


def _units(batch: pa.RecordBatch, least: int, most: int) -> Iterator[tuple[int, ...]]:
    columns = [batch[name].to_pylist() for name in ("queue_offset", *(field.name for field in CQ_UNIT.fields))]
    for queue_offset, *unit in zip(*columns, strict=True):
        if least <= queue_offset < most:
            yield queue_offset, *unit


def _find(store: Store, version: BrokerVersion, answers: Told) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """Index entries, and the messages that a query gives; after the first record that is refused only we find any.

    Not judged where we say that an index file's slots and entries cannot be told: the broker's settings tell it.
    """
    untold: list[Damage] = []
    query = StoreQuery(store, knowledge_of(store, Said(version)), damage=untold.append)
    if any(damage.field == "geometry" for damage in untold):
        return
    up_to = {int(name): int(name) + end for name, end in answers["filesUpTo"].items()}
    for line in answers["keys"]:
        if "error" in line:
            continue
        question = KeyQuestion(line["topic"], line["key"], line["maxNum"], line["begin"], line["end"])
        offsets = query.query_offsets(question)
        found = sorted(hit.physical_offset for hit in query.find_by_key(question, hash_only=True))
        if offsets != line["phyOffsets"]:
            yield f"offsets of {question}", (offsets, line["phyOffsets"])
        elif [at for at in found if _is_read(at, up_to)] != [at for at in line["messages"] if _is_read(at, up_to)]:
            yield f"messages of {question}", (found, line["messages"])


def _is_read(physical_offset: int, up_to: Mapping[int, int]) -> bool:
    return any(base <= physical_offset < end for base, end in up_to.items())


def _offset_at(
    store: Store, version: BrokerVersion, asked: Sequence[Told], whole: Collection[QueueKey]
) -> Iterator[tuple[str, tuple[Any, Any]]]:
    query = StoreQuery(store, knowledge_of(store, Said(version)))
    for line in asked:
        key = line["topic"], line["queueId"]
        one_file = len(store.queues.get(key, ())) == 1
        if key not in whole or "error" in line or not (version.searches_time_by_boundary or one_file):
            continue
        for name, boundary in BOUNDARIES:
            if name in line:
                question = TimeQuestion(*key, line["timestamp"], boundary)
                told = query.offset_at(question)
                if told != line[name]:
                    yield f"{question}", (told, line[name])
