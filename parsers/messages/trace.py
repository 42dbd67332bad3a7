"""Traces of clients: who sent a message, who consumed it, how long it took (RMQ_SYS_TRACE_TOPIC or their own topic).

Which values a record has, and in what order, is `RECORDS` of `trace_columns`, which reads many bodies at once; here
each value has the bytes that it stands in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from parsers.damage.errors import CorruptRecord
from parsers.messages.declared import BodyKind, Named, Piece, text_value
from parsers.messages.trace_columns import DATED_SUB_AFTER, FIELD_END, OLDEST_PUB, RECORD_END, RECORDS

VALUE_END, END = FIELD_END.encode(), RECORD_END.encode()
TYPE = Named("trace_type", "", "text", f"the event that the record describes: {', '.join(RECORDS)}")
SURPLUS = Named("surplus", "", "text", "a value that no version is known to write")
STARTS = tuple(name.encode() + VALUE_END for name in RECORDS)
JOINED_AT = 7
"""Values of a SubAfter record after which another record may follow at once (AccessChannel.CLOUD)."""
_NAMED = (
    Named("at_ms", "", "time_ms", "when it began, by the client's clock; of SubAfter, when it had ended"),
    Named("region", "", "text", "region of the broker"),
    Named("group", "", "text", "group of the client"),
    Named("topic", "", "text", "topic of the message"),
    Named("message_id", "", "text", "unique id of the message (UNIQ_KEY)"),
    Named("offset_message_id", "", "text", "id that holds the broker's address and the physical offset"),
    Named("tags", "", "text", "tag of the message"),
    Named("keys", "", "text", "keys of the message"),
    Named("store_host", "", "text", "broker that stored it"),
    Named("client_host", "", "text", "host of the client (4.8.0)"),
    Named("body_size", "", "int64", "bytes of the body"),
    Named("cost_ms", "", "int64", "milliseconds that the call took; of SubAfter divided by its messages"),
    Named("message_type", "", "int64", "number of its MessageType"),
    Named("success", "", "flag", "whether it succeeded"),
    Named("request_id", "", "text", "joins SubBefore and SubAfter of one call"),
    Named("retry_times", "", "int64", "how often the message had been consumed before"),
    Named("result", "", "int64", "0 success, 1 timeout, 2 exception, 3 null, 4 failed (ConsumeReturnType)"),
    Named("transaction_id", "", "text", "id of the transaction"),
    Named("transaction_state", "", "text", "decision of the producer (LocalTransactionState)"),
    Named("from_transaction_check", "", "flag", "whether a check of the broker asked for it"),
)
NAMED = {field.name: field for field in _NAMED}


class Trace(BodyKind):
    """A record for each traced action; `trace_type` tells its form."""

    name = "trace"
    title = "what a client did with messages"
    source = "TraceDataEncoder#encoderFromContextBean @4.4.0 - 5.3.3"
    fields = (TYPE, *_NAMED)

    def pieces(self, body: bytes) -> Iterator[Piece]:
        for number, (at, end, next_at) in enumerate(_records(body)):
            yield from _values(body, at, end, next_at, number)

    def fields_of(self, record: Sequence[Piece]) -> Sequence[Named]:
        return (TYPE, *(NAMED[name] for name in RECORDS[str(record[0].value)].fields))


def _records(body: bytes) -> Iterator[tuple[int, int, int]]:
    """The first byte and the end of each record, and where the next one begins."""
    at = 0
    while at < len(body):
        found = body.find(END, at)
        end = len(body) if found < 0 else found
        while (joined := _joined(body, at, end)) is not None:
            yield at, joined - len(VALUE_END), joined
            at = joined
        yield at, end, min(end + len(END), len(body))
        at = min(end + len(END), len(body))


def _joined(body: bytes, at: int, end: int) -> int | None:
    """Where a record begins that follows a SubAfter record without a separator of records."""
    if not body.startswith(b"SubAfter" + VALUE_END, at):
        return None
    pos = at
    for _ in range(JOINED_AT):
        pos = body.find(VALUE_END, pos, end) + len(VALUE_END)
        if not pos:
            return None
    return pos if body.startswith(STARTS, pos) else None


def _values(body: bytes, at: int, end: int, next_at: int, number: int) -> Iterator[Piece]:
    stored = body[at:end].split(VALUE_END)
    form = _form(stored, at)
    for place, value in enumerate(stored):
        value_end = next_at if place == len(stored) - 1 else at + len(value) + len(VALUE_END)
        text = value.decode("utf-8", "replace")
        if place < len(form) and (text or form[place].form == "text"):
            yield Piece(at, value_end, number, form[place], text_value(form[place], text))
        else:
            yield Piece(at, value_end, number, SURPLUS if text else None, text or None)
        at = value_end


def _form(stored: list[bytes], at: int) -> list[Named]:
    """The fields of a record in their order."""
    name = stored[0].decode("utf-8", "replace")
    if name not in RECORDS:
        raise CorruptRecord("no type of trace", at=at, field="trace_type", expected=", ".join(RECORDS))
    count = len(stored)
    while count and not stored[count - 1]:  # String#split drops them
        count -= 1
    names = RECORDS[name].fields
    if count <= RECORDS[name].least:
        raise CorruptRecord("too few values", at=at, field="trace", expected=RECORDS[name].least + 1, actual=count)
    if name == "Pub" and count == OLDEST_PUB:
        names = tuple(each for each in names if each != "offset_message_id")
    if name == "SubAfter" and count < DATED_SUB_AFTER:
        names = names[: names.index("at_ms")]
    return [TYPE, *(NAMED[each] for each in names)]


TRACE = Trace()
