"""What clients wrote about their messages, as rows of the table `trace_events`, and sums of them by group."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from parsers.commitlog.batches.bodies import decompressed_pieces
from parsers.commitlog.batches.body_views import taken_bodies
from parsers.commitlog.batches.read import read_commitlog
from parsers.commitlog.batches.segment import WITHOUT_CRC
from parsers.damage.errors import CorruptRecord, Damage, DamageSink, StoreFormatError
from parsers.evidence.guard import scratch_folder
from parsers.kernels.arrays import Longs
from parsers.kernels.utf8 import are_valid
from parsers.messages.trace_columns import FIELD_END, RECORD_END, RECORDS, TRACE_SCHEMA, decode_traces, is_trace_body
from parsers.store.store import Store
from parsers.values.topics import CLOUD_TRACE_PREFIX, TRACE_TOPIC, is_brokers_own, is_dead_letter, is_retry
from pipelines.answers.fates.columns import instants
from pipelines.lake.questions import question
from pipelines.lake.tables.fates import TRACE_EVENTS

CARRIED = ("topic", "queue_id", "queue_offset", "physical_offset", "store_timestamp", "born_host")
COLUMNS = (*CARRIED, "file", "sys_flag", "body_size", "body_view")
PIECE_BYTES = 8 << 20
"""Bodies of about this many bytes are decoded at once."""
MOST_TRACE_BYTES = 1 << 20
"""A larger body is none of a dispatcher, which sends at about 128 000 characters (AsyncTraceDispatcher#flushData)."""
PIECE_RECORDS = 1 << 17
"""No more records than this are decoded at once, unless a single body has more."""
SUMS_MEMORY = "1GB"
SUMMED = (
    "broker",
    "group",
    "trace_type",
    "request_id",
    "message_id",
    "success",
    "retry_times",
    "cost_ms",
    "at",
    "stored_at",
    "problem",
)
"""What traces_by_group.sql asks for."""
BodyFailed = Callable[[int, StoreFormatError], None]
"""Called with a body that cannot be decompressed: its row of the batch, and why."""


@dataclass(slots=True)
class TraceTopics:
    """Which topics of a log carry traces: those that a broker knows, those named, and those whose first message begins
    with a trace record (a client may be given a topic of its own)."""

    named: frozenset[str] = frozenset()
    carries: dict[str, bool] = field(default_factory=dict)

    def rows(self, batch: pa.RecordBatch) -> Longs:
        """The rows of this batch that carry traces; batches come in the order of the log."""
        encoded = batch["topic"].dictionary_encode()
        codes, topics = encoded.indices.to_numpy(), encoded.dictionary.to_pylist()
        _, firsts = np.unique(codes, return_index=True)
        new = [code for code, topic in enumerate(topics) if topic not in self.carries]
        self.carries |= {topics[code]: self._is_known(topics[code]) for code in new}
        asked = np.array([code for code in new if self._may_carry(topics[code])], np.int64)
        for row in _beginning_with_trace(batch, np.sort(firsts[asked])):
            self.carries[topics[codes[row]]] = True
        return np.flatnonzero(np.array([self.carries[topic] for topic in topics], np.bool_)[codes])

    def _is_known(self, topic: str) -> bool:
        return topic == TRACE_TOPIC or topic.startswith(CLOUD_TRACE_PREFIX) or topic in self.named

    def _may_carry(self, topic: str) -> bool:
        """Copies that a group of a trace topic gave back tell nothing new."""
        return not (is_brokers_own(topic) or is_retry(topic) or is_dead_letter(topic))


def trace_batches(
    store: Store, damage: DamageSink, *, named: Iterable[str] = (), broker: str | None = None
) -> Iterator[pa.RecordBatch]:
    """Rows of `trace_events` in the order of the log; `named`: topics that carry traces besides those that tell so.

    A body that cannot be decompressed is damage, and one row whose `problem` says so.
    """
    topics = TraceTopics(frozenset(named))
    files = {file.path.name: file for file in store.commitlog}

    for batch in read_commitlog(store, columns=COLUMNS, decoding=WITHOUT_CRC, damage=damage):
        unread: dict[int, StoreFormatError] = {}
        for rows, bodies in _bodies(batch, topics.rows(batch), unread.__setitem__):
            for first, end in _runs(bodies):
                records = decode_traces(_texts(bodies.slice(first, end - first)))
                if records.num_rows:
                    of_body = rows[first + records["body_number"].to_numpy()]
                    yield _events(batch.select(CARRIED).take(pa.array(of_body)), records, broker)
        if unread:
            for row, error in unread.items():
                file = files[batch["file"][row].as_py()]
                file_pos = batch["physical_offset"][row].as_py() - (file.base_offset or 0)
                damage(replace(Damage.of(error), path=file.path, file_pos=file_pos))
            carriers = batch.select(CARRIED).take(pa.array(list(unread)))
            yield _events(carriers, _not_read(unread.values()), broker)


def _beginning_with_trace(batch: pa.RecordBatch, rows: Longs) -> Iterator[int]:
    """Those of the rows whose body begins with a record of a dispatcher."""
    for piece, bodies in _bodies(batch, rows, lambda row, error: None):
        begins = np.zeros(len(bodies), np.bool_)
        for name in RECORDS:
            of_kind = pc.starts_with(bodies, pattern=(name + FIELD_END).encode())
            begins |= of_kind.fill_null(False).to_numpy(zero_copy_only=False)
        for place in np.flatnonzero(begins).tolist():
            if is_trace_body(_texts(bodies.slice(place, 1))[0].as_py()):
                yield int(piece[place])


def _runs(bodies: pa.Array) -> Iterator[tuple[int, int]]:
    """Ranges of bodies that have about as many records as are decoded at once, or one body."""
    ends = pc.count_substring(bodies, RECORD_END.encode()).fill_null(0).to_numpy().cumsum(dtype=np.int64)
    cuts = (np.flatnonzero(np.diff(ends // PIECE_RECORDS)) + 1).tolist()
    return pairwise((0, *cuts, len(bodies)))


def _not_read(errors: Iterable[StoreFormatError]) -> pa.RecordBatch:
    """A row of nulls with a problem for each body that cannot be read."""
    problems = pa.array([f"the body cannot be read: {error.problem}" for error in errors], pa.string())
    columns = [pa.nulls(len(problems), each.type) for each in TRACE_SCHEMA if each.name != "problem"]
    return pa.RecordBatch.from_arrays([*columns, problems], schema=TRACE_SCHEMA)


def _bodies(batch: pa.RecordBatch, rows: Longs, failed: BodyFailed) -> Iterator[tuple[Longs, pa.Array]]:
    """Pieces of these rows with their decompressed bodies, null where that cannot be, or is none of a dispatcher."""
    sizes = batch["body_size"].to_numpy()[rows]
    pieces = np.cumsum(np.minimum(sizes, MOST_TRACE_BYTES), dtype=np.int64) // PIECE_BYTES
    for piece in np.split(rows, np.flatnonzero(np.diff(pieces)) + 1):
        yield from _piece(batch, piece, failed)


def _piece(batch: pa.RecordBatch, rows: Longs, failed: BodyFailed) -> Iterator[tuple[Longs, pa.Array]]:
    def fails(row: int, error: StoreFormatError) -> None:
        failed(int(rows[row]), error)

    is_small = batch["body_size"].to_numpy()[rows] <= MOST_TRACE_BYTES
    for row in np.flatnonzero(~is_small).tolist():
        fails(row, CorruptRecord("larger than a body of traces", field="body", expected=f"≤ {MOST_TRACE_BYTES}"))
    flags, first = np.where(is_small, batch["sys_flag"].to_numpy()[rows], 0), 0
    bodies = taken_bodies(batch["body_view"], rows, is_small)
    for end, plain in decompressed_pieces(bodies, flags, fails, cap=MOST_TRACE_BYTES):
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
    made = {name: carriers[name] for name in ("queue_id", "queue_offset", "physical_offset", "born_host")}
    made |= {name: records[name] for name in records.schema.names if name in TRACE_EVENTS.bare_schema.names}
    made |= {
        "trace_topic": carriers["topic"],
        "stored_at": carriers["store_timestamp"],
        "at": instants(records["at_ms"].fill_null(-1).to_numpy()),
    }
    return TRACE_EVENTS.batch(made, broker=broker)


def of_message(batches: Iterable[pa.RecordBatch], *ids: str) -> Iterator[pa.RecordBatch]:
    """Records of one message, by its unique id or its message id, whatever the case; a batch's record names several."""
    word = f"(?i)(^|,)({'|'.join(map(re.escape, ids))})(,|$)"
    for batch in batches:
        named = [batch[name] for name in ("message_id", "offset_message_id")]
        is_one = [pc.fill_null(pc.match_substring_regex(each, word), False) for each in named]
        yield batch.filter(pc.or_(*is_one))


def trace_sums(batches: Iterable[pa.RecordBatch], *read: Path) -> pa.Table:
    """The answer of traces_by_group.sql over rows of `trace_events`; `read`: places that nothing is written to.

    Memory: `SUMS_MEMORY`; what needs more lies in a folder for temporary files until the answer is made.
    """
    reader = pa.RecordBatchReader.from_batches(TRACE_EVENTS.bare_schema, batches)
    folder = scratch_folder("traces", *read)
    try:
        with duckdb.connect() as database:
            database.execute(f"SET memory_limit = '{SUMS_MEMORY}'")
            database.execute("SET temp_directory = $folder", {"folder": str(folder / "spilled")})
            database.execute("SET threads = 2")
            database.execute("SET TimeZone = 'UTC'")
            database.register("arriving", reader)
            columns = ", ".join(f'"{name}"' for name in SUMMED)
            database.execute(f"CREATE TABLE {TRACE_EVENTS.name} AS SELECT {columns} FROM arriving")
            return database.sql(question("traces_by_group")).to_arrow_table()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
