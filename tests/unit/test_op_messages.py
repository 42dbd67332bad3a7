"""Op messages as the broker reads them: which offsets they list, and which of them decide nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from parsers.commitlog.record.message import encode_message
from parsers.commitlog.record.properties import encode_properties
from parsers.damage.errors import CorruptRecord, Damage
from parsers.messages.transaction_op import TRANSACTION_OP
from parsers.values.topics import TRANSACTION_OP_TOPIC, TRANSACTION_TOPIC
from recovery.fates.states import TransactionState
from recovery.fates.transactions import TRANSACTION_STATES, transactions
from tests.support.new_message import new_message
from tests.support.opened import opened

HALF_OFFSET = 7


def test_what_is_no_offset_is_passed_over() -> None:
    records = TRANSACTION_OP.records(b"+5,x,007,,9223372036854775808,9")
    assert [record.values["half_queue_offset"] for record in records] == [5, 7, 9]
    assert [piece.end for piece in TRANSACTION_OP.pieces(b"5,x,")] == [2, 4]
    with pytest.raises(CorruptRecord):
        TRANSACTION_OP.records(b"no offset,")


@pytest.mark.parametrize(
    ("tag", "body", "state"),
    [
        ("d", b"7", TransactionState.ROLLED_BACK),
        ("d", b"3,+007,", TransactionState.ROLLED_BACK),
        ("d", b"x,7", TransactionState.ROLLED_BACK),
        ("d", b"17", TransactionState.PENDING),
        ("d", b"7x", TransactionState.PENDING),
        ("e", b"7", TransactionState.PENDING),
    ],
)
def test_which_op_messages_decide_a_half(tmp_path: Path, tag: str, body: bytes, state: TransactionState) -> None:
    content = bytearray()
    for topic, own_body, properties, queue_offset in (
        (TRANSACTION_TOPIC, b"half", [("REAL_TOPIC", "T"), ("UNIQ_KEY", "A" * 32)], HALF_OFFSET),
        (TRANSACTION_OP_TOPIC, body, [("TAGS", tag)], 0),
    ):
        content += encode_message(
            new_message(
                topic,
                own_body,
                queue_offset=queue_offset,
                physical_offset=len(content),
                store_timestamp_ms=1_795_000_000_000,
                born_timestamp_ms=1_795_000_000_000,
                properties_stored=encode_properties(properties),
            )
        )
    (tmp_path / "commitlog").mkdir()
    (tmp_path / "commitlog" / ("0" * 20)).write_bytes(content.ljust(8192, b"\0"))
    found = transactions(*opened(tmp_path, "5.3.3"), {0: 0}, list[Damage]().append)
    assert [TRANSACTION_STATES[each] for each in found.found.state.tolist()] == [state]
