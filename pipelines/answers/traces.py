"""What clients wrote about their messages, as rows of the table `trace_events`, and sums of them by group."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from parsers.commitlog.bodies import decompressed_pieces
from parsers.commitlog.body_views import taken_bodies
from parsers.commitlog.read import read_commitlog
from parsers.errors import CorruptRecord, Damage, DamageSink, StoreFormatError
from parsers.kernels.utf8 import are_valid
from parsers.store import Store
from parsers.topics import CLOUD_TRACE_PREFIX, TRACE_TOPIC, is_brokers_own, is_dead_letter, is_retry
from parsers.trace import decode_traces, is_trace_body
from pipelines.answers.fates.columns import Longs, instants
from pipelines.lake.catalog import question
from pipelines.lake.tables.derived import TRACE_EVENTS

CARRIED = ("topic", "queue_id", "queue_offset", "physical_offset", "store_timestamp", "born_host")
COLUMNS = (*CARRIED, "file", "sys_flag", "body_size", "body_view")
PIECE_BYTES = 8 << 20
"""Bodies of about this many bytes are decoded at once."""
MOST_BODY_BYTES = 1 << 20
"""A larger body is none of a dispatcher, which sends at about 128 000 characters (AsyncTraceDispatcher#flushData)."""
BodyFailed = Callable[[str, int, StoreFormatError], None]
"""Told of a body that cannot be decompressed: file name, physical offset, why."""


@dataclass(slots=True)
class TraceTopics:
    """Which topics of a log carry traces: those that a broker knows, those named, and those whose first message begins
    with a trace record (a client may be given a topic of its own)."""

    named: frozenset[str] = frozenset()
    carries: dict[str, bool] = field(default_factory=dict)

    def rows(self, batch: pa.RecordBatch) -> Longs:
        """The rows of this batch that carry traces; batches come in the order of the log."""
        topics = batch["topic"]
        for topic in pc.unique(topics).to_pylist():
            if topic not in self.carries:
                row = pc.index(topics, topic).as_py()
                tells_so = self._may_carry(topic) and _begins_with_trace(batch, row)
                self.carries[topic] = tells_so or self._is_known(topic)
        carriers = [topic for topic, carries in self.carries.items() if carries]
        return np.flatnonzero(pc.is_in(topics, pa.array(carriers, pa.string())).to_numpy(zero_copy_only=False))

    def _is_known(self, topic: str) -> bool:
        return topic == TRACE_TOPIC or topic.startswith(CLOUD_TRACE_PREFIX) or topic in self.named

    def _may_carry(self, topic: str) -> bool:
        """Copies that a group of a trace topic gave back tell nothing new."""
        return not (is_brokers_own(topic) or is_retry(topic) or is_dead_letter(topic))


def trace_batches(
    store: Store, damage: DamageSink, *, named: Iterable[str] = (), broker: str | None = None
) -> Iterator[pa.RecordBatch]:
    """Rows of `trace_events` in the order of the log; `named`: topics that carry traces besides those that tell so.

    A body that cannot be decompressed is damage and has no rows.
    """
    topics = TraceTopics(frozenset(named))
    files = {file.path.name: file for file in store.commitlog}

    def failed(name: str, place: int, error: StoreFormatError) -> None:
        file = files[name]
        damage(replace(Damage.of(error), path=file.path, file_pos=place - (file.base_offset or 0)))

    for batch in read_commitlog(store, columns=COLUMNS, verify_crc=False, damage=damage):
        for rows, bodies in _bodies(batch, topics.rows(batch), failed):
            records = decode_traces(_texts(bodies))
            if records.num_rows:
                carriers = batch.select(CARRIED).take(pa.array(rows[records["body_number"].to_numpy()]))
                yield _events(carriers, records, broker)


def _begins_with_trace(batch: pa.RecordBatch, row: int) -> bool:
    texts = [
        _texts(bodies)[0].as_py() for _, bodies in _bodies(batch, np.array([row]), lambda file, place, error: None)
    ]
    return is_trace_body(texts[0] or "")


def _bodies(batch: pa.RecordBatch, rows: Longs, failed: BodyFailed) -> Iterator[tuple[Longs, pa.Array]]:
    """Pieces of these rows with their decompressed bodies, null where that cannot be, or is none of a dispatcher."""
    sizes = batch["body_size"].to_numpy()[rows]
    pieces = np.cumsum(np.minimum(sizes, MOST_BODY_BYTES), dtype=np.int64) // PIECE_BYTES
    for piece in np.split(rows, np.flatnonzero(np.diff(pieces)) + 1):
        yield from _piece(batch, piece, failed)


def _piece(batch: pa.RecordBatch, rows: Longs, failed: BodyFailed) -> Iterator[tuple[Longs, pa.Array]]:
    def fails(row: int, error: StoreFormatError) -> None:
        at = int(rows[row])
        failed(batch["file"][at].as_py(), batch["physical_offset"][at].as_py(), error)

    is_small = batch["body_size"].to_numpy()[rows] <= MOST_BODY_BYTES
    for row in np.flatnonzero(~is_small).tolist():
        fails(row, CorruptRecord("larger than a body of traces", field="body", expected=f"≤ {MOST_BODY_BYTES}"))
    flags, first = np.where(is_small, batch["sys_flag"].to_numpy()[rows], 0), 0
    bodies = taken_bodies(batch["body_view"], rows, is_small)
    for end, plain in decompressed_pieces(bodies, flags, fails, cap=MOST_BODY_BYTES):
        yield rows[first:end], plain
        first = end


def _texts(bodies: pa.Array) -> pa.Array:
    """The bodies as text. Bytes that are no UTF-8 are replaced, as Java does."""
    _, ends, data = bodies.buffers()
    offsets = np.frombuffer(ends, np.int32)[bodies.offset : bodies.offset + len(bodies) + 1]
    valid = are_valid(np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8), offsets)
    if not valid.all():
        repaired = [bodies[row].as_py().decode("utf-8", "replace").encode() for row in np.flatnonzero(~valid).tolist()]
        bodies = pc.replace_with_mask(bodies, pa.array(~valid), pa.array(repaired, pa.binary()))
    return bodies.cast(pa.string())


def _events(carriers: pa.RecordBatch, records: pa.RecordBatch, broker: str | None) -> pa.RecordBatch:
    """Decoded records beside the messages that carry them."""
    schema = TRACE_EVENTS.bare_schema
    made = {name: carriers[name] for name in ("queue_id", "queue_offset", "physical_offset", "born_host")}
    made |= {name: records[name] for name in records.schema.names if name in schema.names}
    made |= {
        "broker": pa.array([broker] * records.num_rows, pa.string()),
        "trace_topic": carriers["topic"],
        "stored_at": carriers["store_timestamp"],
        "at": instants(records["at_ms"].fill_null(-1).to_numpy()),
    }
    return pa.RecordBatch.from_arrays([made[name] for name in schema.names], schema=schema)


def of_message(batches: Iterable[pa.RecordBatch], *ids: str) -> Iterator[pa.RecordBatch]:
    """Records of one message, by its unique id or its message id, whatever the case; a batch's record names several."""
    word = f"(?i)(^|,)({'|'.join(map(re.escape, ids))})(,|$)"
    for batch in batches:
        named = [batch[name] for name in ("message_id", "offset_message_id")]
        is_one = [pc.fill_null(pc.match_substring_regex(each, word), False) for each in named]
        yield batch.filter(pc.or_(*is_one))


def trace_sums(batches: Iterable[pa.RecordBatch]) -> pa.Table:
    """The answer of traces_by_group.sql over rows of `trace_events`."""
    reader = pa.RecordBatchReader.from_batches(TRACE_EVENTS.bare_schema, batches)
    with duckdb.connect() as database:
        database.execute("SET TimeZone = 'UTC'")
        database.register("arriving", reader)
        database.execute(f"CREATE TABLE {TRACE_EVENTS.name} AS SELECT * FROM arriving")
        return database.sql(question("traces_by_group")).to_arrow_table()
