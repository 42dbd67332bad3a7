"""Messages in the form in which a producer can send them again: nothing but what a producer says of a message."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from parsers.commitlog.batches.schema import MESSAGE_SCHEMA
from parsers.commitlog.record.layout import SYS_FLAG_INNER_BATCH
from parsers.kernels.arrays import Mask
from parsers.values.topics import is_brokers_own, is_dead_letter, is_retry

NEEDED = ("topic", "queue_id", "queue_offset", "born_timestamp", "flag", "tags", "keys", "properties")
BODY = "body_decompressed"
JUDGED = ("sys_flag", "transaction_type", "crc_ok", "record_crc_ok")
"""What tells whether a record is a message to send at all."""
SENDABLE = pa.schema([*(MESSAGE_SCHEMA.field(name) for name in NEEDED), pa.field("body", pa.binary())])
"""`body`: the bytes that the producer handed over. `queue_offset` puts messages of a queue in order again."""


OF_BROKER = "of the broker's own topics"
RETRIES = "of retry topics: copies that a group is given again"
DEAD_LETTERS = "of dead letter topics: copies that a group gave up"
UNDECIDED = "prepared or rolled back in a transaction"
BATCHED = "inner batches: their bodies are messages of their own"
WRONG_CRC = "their CRCs are wrong"
NO_BODY = "their bodies cannot be decompressed"
DAMAGE = (WRONG_CRC, NO_BODY)
"""Kinds of records that are left out because they are damaged; those of the other kinds are none to send."""


def sendable(batch: pa.RecordBatch) -> tuple[pa.RecordBatch, Counter[str]]:
    """The messages as `SENDABLE`, and how many records of each kind were left out. Of its kinds, the first counts."""
    left_out: Counter[str] = Counter()
    kept = np.ones(batch.num_rows, np.bool_)
    for kind, mask in _kinds(batch).items():
        left_out[kind] += int(np.count_nonzero(kept & mask))
        kept &= ~mask
    whole = batch if kept.all() else batch.filter(pa.array(kept))
    columns = [*(whole[name] for name in NEEDED), whole[BODY]]
    return pa.RecordBatch.from_arrays(columns, schema=SENDABLE), +left_out


def _kinds(batch: pa.RecordBatch) -> dict[str, Mask]:
    """Before 4.3.0 prepared and rolled back records lie in the topic itself.

    Source: TransactionalMessageBridge @4.3.0; EndTransactionProcessor @4.2.0.
    """
    topics = batch["topic"].dictionary_encode()
    names, at = topics.dictionary.to_pylist(), topics.indices.to_numpy()
    of_topics = {
        kind: np.array([asked(name) for name in names], np.bool_)[at]
        for kind, asked in ((OF_BROKER, is_brokers_own), (RETRIES, is_retry), (DEAD_LETTERS, is_dead_letter))
    }
    return of_topics | {
        UNDECIDED: _mask(pc.is_in(batch["transaction_type"], pa.array(["prepared", "rollback"]))),
        BATCHED: (batch["sys_flag"].to_numpy() & SYS_FLAG_INNER_BATCH) != 0,
        WRONG_CRC: _is_false(batch["crc_ok"]) | _is_false(batch["record_crc_ok"]),
        NO_BODY: _mask(batch[BODY].is_null()),
    }


def _is_false(column: pa.BooleanArray) -> Mask:
    return _mask(pc.fill_null(pc.invert(column), False))


def _mask(column: pa.BooleanArray) -> Mask:
    return np.asarray(column, np.bool_)
