"""Op messages of transactions: which half messages are decided, by their offsets in the queue of halves.

An op message does not tell commit from rollback: a commit is a record in the real topic. Since 5.1.0 one op message
may list several halves, each offset followed by a comma; before, it is one offset alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from parsers.damage.errors import CorruptRecord
from parsers.messages.declared import BodyKind, Named, Piece
from parsers.values.java import decode_utf8, parse_whole

TAG = "d"
MOST_SHOWN = 64
SEPARATOR = b","


class TransactionOp(BodyKind):
    """A record for each offset. What is none between two commas is passed over, as the broker does (#getLong)."""

    name = "transaction_op"
    title = "half messages that are decided (tag d)"
    source = "TransactionalMessageUtil#OFFSET_SEPARATOR, TransactionalMessageServiceImpl#fillOpRemoveMap @4.3.0 - 5.3.3"
    fields = (Named("half_queue_offset", "", "int64", "queue offset of a decided half, in the same queue of halves"),)

    def pieces(self, body: bytes) -> Iterator[Piece]:
        (field,) = self.fields
        at, number, first = 0, 0, body.partition(SEPARATOR)[0]
        while at < len(body):
            found = body.find(SEPARATOR, at)
            end, next_at = (len(body), len(body)) if found < 0 else (found, found + 1)
            value = parse_whole(body[at:end].decode("utf-8", "replace"))
            yield Piece(at, next_at, number, None if value is None else field, value)
            at, number = next_at, number + (value is not None)
        if body and not number:
            raise CorruptRecord("no offset is listed", field=field.name, actual=decode_utf8(first[:MOST_SHOWN]))


TRANSACTION_OP = TransactionOp()
