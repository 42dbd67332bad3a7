"""Bodies of trace messages as rows: what producers and consumers say of the messages that they sent and consumed.

A client with message trace on sends messages to RMQ_SYS_TRACE_TOPIC, or to the topic that it was given. A body is a
run of records that each end with \\u0002; \\u0001 parts the fields of a record. `RECORDS` says which fields there are.
Source: TraceDataEncoder#encoderFromContextBean, #decoderFromTraceDataString, AsyncTraceDispatcher @4.4.0 - 5.3.3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from parsers.layouts.columns import schema_from
from parsers.values.utc import LAST_MS

FIELD_END, RECORD_END = "\x01", "\x02"
MESSAGE_TYPES = {
    "Pub": ("Normal_Msg", "Trans_Msg_Half", "Trans_Msg_Half", "Delay_Msg", "Delay_Msg"),
    "EndTransaction": (None, None, "Trans_msg_Commit", "Trans_msg_Commit", None),
}
"""By ordinal of MessageType, which 5.0.0 and 5.1.0 number in another way: Order_Msg is 1 there and 4 since 5.1.1. No
client writes Order_Msg (DefaultMQProducerImpl#sendKernelImpl, EndTransactionTraceHookImpl), so a number is one type."""
CONSUME_RESULTS = ("SUCCESS", "TIME_OUT", "EXCEPTION", "RETURNNULL", "FAILED")
"""By ordinal (ConsumeReturnType)."""

TRANSACTION_STATES = ("COMMIT_MESSAGE", "ROLLBACK_MESSAGE", "UNKNOW")
"""As Java spells them (LocalTransactionState)."""


@dataclass(frozen=True, slots=True)
class RecordKind:
    """The fields of one kind of record after its name; `least`: how many of them each record has.

    Fields after the last are left out, as Java's decoder leaves them out.
    """

    fields: tuple[str, ...]
    least: int


def _kind(fields: str, least: int) -> RecordKind:
    return RecordKind(tuple(fields.split()), least)


RECORDS: Mapping[str, RecordKind] = {
    "Pub": _kind(
        "at_ms region group topic message_id tags keys store_host body_size cost_ms message_type offset_message_id "
        "success client_host",
        12,
    ),
    "SubBefore": _kind("at_ms region group request_id message_id retry_times keys client_host", 7),
    "SubAfter": _kind("request_id message_id cost_ms success keys result at_ms group", 5),
    "EndTransaction": _kind(
        "at_ms region group topic message_id tags keys store_host message_type transaction_id transaction_state "
        "from_transaction_check",
        12,
    ),
    "Recall": _kind("at_ms region group topic message_id success", 6),
}
"""By version: `client_host` 4.8.0 and the Go client (internal/trace.go#marshal2Bean v2.1.2); SubAfter's `at_ms` and
`group` 4.8.0, 4.9.0 and since 4.9.2, and since 4.9.5 (5.1.4) not of AccessChannel.CLOUD; EndTransaction since 4.9.0;
Recall since 5.3.2."""
TRACE_SCHEMA = schema_from(
    "body_number i64, record_number i64, trace_type text, at_ms i64, region text, group text, topic text, "
    "message_id text, offset_message_id text, tags text, keys text, store_host text, client_host text, "
    "body_size i64, cost_ms i64, message_type text, success flag, request_id text, retry_times i64, result text, "
    "transaction_id text, transaction_state text, from_transaction_check flag, problem text"
)
"""`body_number` and `record_number` count from 0. `problem`: why a record is not read as its client wrote it."""
OLDEST_PUB = 13
"""Fields of a Pub record that has no `offset_message_id`, its name among them; Java's decoder still knows it."""
DATED_SUB_AFTER = 9
"""Fields of a SubAfter record that has `at_ms` and `group`."""
_NUMBER = "^-?[0-9]{1,18}$"
_NUMBERED = f"SubAfter(?:{FIELD_END}[^{FIELD_END}{RECORD_END}]*){{5}}{FIELD_END}-?[0-9]+{FIELD_END}"
_JOINED = f"({_NUMBERED})({'|'.join(RECORDS)}){FIELD_END}"
"""SubAfter records of AccessChannel.CLOUD end without \\u0002 from 4.9.5 to 4.9.8 and from 5.1.4 to 5.3.0: the next
record follows at once. Java's decoder throws at that (NumberFormatException)."""
_SHOWN = 40


def decode_traces(bodies: pa.Array) -> pa.RecordBatch:
    """Every record of the bodies, as rows of `TRACE_SCHEMA`, in their order.

    Shape: n bodies (text; null has no records) -> one row per record; records without a byte are left out.
    Units: times are epoch milliseconds of the client's clock. `cost_ms` of SubAfter is the time from SubBefore divided
        by the messages of the call (ConsumeMessageTraceHookImpl#consumeMessageAfter).
    Errors: none; a record that is not as its kind says has a `problem`, and null where it cannot be read.
    A text that is empty or reads `null` is null: Java writes a null as that word.
    """
    split = pc.split_pattern(_parted(bodies), RECORD_END)
    texts, of_body = split.flatten(), pc.list_parent_indices(split).to_numpy()
    keeps = np.flatnonzero(pc.greater(pc.binary_length(texts), 0).to_numpy(zero_copy_only=False))
    numbers = np.arange(len(texts)) - np.asarray(split.offsets)[of_body] + np.asarray(split.offsets)[0]
    return _Records(texts.take(pa.array(keeps))).batch(of_body[keeps], numbers[keeps])


def is_trace_body(body: str) -> bool:
    """Whether a body begins with a record that a trace dispatcher writes."""
    first = body.split(RECORD_END, 1)[0]
    rows = decode_traces(pa.array([first], pa.string()))
    return rows.num_rows > 0 and rows["problem"][0].as_py() is None


def _parted(bodies: pa.Array) -> pa.Array:
    for _ in range(2):  # a match takes the name of the record after it, so that every other one is found
        bodies = pc.replace_substring_regex(bodies, _JOINED, rf"\1{RECORD_END}\2{FIELD_END}")
    return bodies


class _Records:
    """Records as texts, and their fields as columns."""

    def __init__(self, texts: pa.Array) -> None:
        fields = pc.split_pattern(texts, FIELD_END)
        self.values = fields.flatten()
        self.starts = np.asarray(fields.offsets)[: len(texts)].astype(np.int64) - (fields.offsets[0].as_py() or 0)
        self.counts = self._counts(pc.list_value_length(fields).to_numpy().astype(np.int64))
        self.kind = pc.index_in(self._at(np.zeros(len(texts), np.int64)), pa.array(list(RECORDS))).fill_null(-1)
        self.texts = texts
        self.problems: list[tuple[npt.NDArray[np.bool_], str]] = []

    def _counts(self, lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Fields of each record without the empty ones at its end, which String#split drops."""
        is_empty = pc.equal(pc.binary_length(self.values), 0).to_numpy(zero_copy_only=False)
        last = np.maximum.accumulate(np.where(is_empty, -1, np.arange(len(is_empty))))
        return np.maximum(last[self.starts + lengths - 1] - self.starts + 1, 0) if len(lengths) else lengths

    def batch(self, of_body: npt.NDArray[np.int64], numbers: npt.NDArray[np.int64]) -> pa.RecordBatch:
        kinds = self.kind.to_numpy()
        names = pa.array(list(RECORDS), pa.string()).take(pa.array(kinds, mask=kinds < 0))
        made = {"body_number": pa.array(of_body), "record_number": pa.array(numbers), "trace_type": names}
        self._note_counts(kinds)
        for field in TRACE_SCHEMA:
            if field.name not in made and field.name != "problem":
                made[field.name] = self._column(field, kinds)
        made["problem"] = self._problem(kinds)
        return pa.RecordBatch.from_arrays([made[name] for name in TRACE_SCHEMA.names], schema=TRACE_SCHEMA)

    def _note_counts(self, kinds: npt.NDArray[np.int32]) -> None:
        for number, (name, kind) in enumerate(RECORDS.items()):
            short = (kinds == number) & (self.counts <= kind.least)
            self.problems.append((short, f"{name} has at least {kind.least + 1} fields"))

    def _at(self, places: npt.NDArray[np.int64]) -> pa.Array:
        """Field number `places` of each record, null where it has none."""
        is_there = (places >= 0) & (places < self.counts)
        return self.values.take(pa.array(np.where(is_there, self.starts + places, 0), mask=~is_there))

    def _places(self, name: str, kinds: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
        places = np.full(len(kinds), -1, np.int64)
        for number, (kind_name, kind) in enumerate(RECORDS.items()):
            if name in kind.fields:
                places[kinds == number] = kind.fields.index(name) + 1
            if kind_name == "Pub" and name in ("offset_message_id", "success"):
                is_oldest = (kinds == number) & (self.counts == OLDEST_PUB)
                places[is_oldest] = OLDEST_PUB - 1 if name == "success" else -1
            if kind_name == "SubAfter" and name == "at_ms":
                places[(kinds == number) & (self.counts < DATED_SUB_AFTER)] = -1
        return places

    def _column(self, field: pa.Field, kinds: npt.NDArray[np.int32]) -> pa.Array:
        texts = self._at(self._places(field.name, kinds))
        if pa.types.is_boolean(field.type):
            word = pc.utf8_lower(texts)
            is_word = pc.is_in(word, pa.array(["true", "false"]))
            self._note(texts, is_word, f"{field.name} is neither true nor false")
            return pc.if_else(is_word, pc.equal(word, "true"), None)
        if field.name == "result":
            return self._named(field.name, texts, CONSUME_RESULTS)
        if field.name == "message_type":
            of_kind = [self._named_of(kind, texts, kinds) for kind in MESSAGE_TYPES]
            return pc.coalesce(*of_kind)
        if pa.types.is_integer(field.type):
            is_number = pc.fill_null(pc.match_substring_regex(texts, _NUMBER), False)
            self._note(texts, is_number, f"{field.name} is no number")
            numbers = pc.if_else(is_number, texts, None).cast(pa.int64())
            return self._instants(numbers) if field.name == "at_ms" else numbers
        if field.name == "transaction_state":
            is_state = pc.is_in(texts, pa.array(TRANSACTION_STATES))
            self._note(texts, is_state, "transaction_state is none that a producer decides")
        return pc.if_else(pc.is_in(texts, pa.array(["", "null"])), None, texts)

    def _instants(self, numbers: pa.Array) -> pa.Array:
        is_known = pc.less_equal(numbers, LAST_MS)
        self._note(numbers, pc.fill_null(is_known, False), "at_ms is beyond the year 9999")
        return pc.if_else(is_known, numbers, None)

    def _named_of(self, kind: str, texts: pa.Array, kinds: npt.NDArray[np.int32]) -> pa.Array:
        of_kind = pa.array(kinds == list(RECORDS).index(kind))
        return self._named("message_type", pc.if_else(of_kind, texts, None), MESSAGE_TYPES[kind])

    def _named(self, name: str, texts: pa.Array, names: Sequence[str | None]) -> pa.Array:
        found = pc.index_in(texts, pa.array([str(number) for number in range(len(names))], pa.string()))
        values = pa.array(names, pa.string()).take(found)
        self._note(texts, values.is_valid(), f"{name} is a number that no client writes")
        return values

    def _note(self, texts: pa.Array, is_right: pa.Array, sentence: str) -> None:
        wrong = pc.and_(texts.is_valid(), pc.invert(is_right))
        self.problems.append((wrong.to_numpy(zero_copy_only=False), sentence))

    def _problem(self, kinds: npt.NDArray[np.int32]) -> pa.Array:
        unknown = pc.binary_join_element_wise(
            "no kind of trace record: ", pc.utf8_slice_codeunits(self.texts, 0, _SHOWN), ""
        )
        problem = pc.if_else(pa.array(kinds < 0), unknown, None)
        for holds, sentence in self.problems:
            problem = pc.coalesce(problem, pc.if_else(pa.array(holds), sentence, None))
        return problem
