"""Transactions: from the half message over its checks to commit, rollback, or being given up.

A half message waits in RMQ_SYS_TRANS_HALF_TOPIC; each check of its producer writes it again, with one more in
TRANSACTION_CHECK_TIMES. A commit is a record in the real topic that names the half's place. Whatever the decision, a
message in RMQ_SYS_TRANS_OP_HALF_TOPIC lists the half's queue offset (since 5.1.0 several, up to three seconds later).
After transactionCheckMax checks a copy goes to TRANS_CHECK_MAX_TIME_TOPIC. With transRocksDBEnable (since 5.4.0) and
without transWriteOriginTransHalfEnable a half waits in RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC and in rocksdbstore, which
counts its checks; an op message names its place in the log, and of one that is given up nothing stays.
Before 4.3.0 the half is a record of the real topic without a queue unit, and a rollback a record that names it.
Source: TransactionalMessageBridge#parseHalfMessageInner, #renewHalfMessageInner, TransactionalMessageServiceImpl#check,
#deletePrepareMessage, EndTransactionProcessor#endMessageTransaction @4.2.0 … 5.3.3; TransMessageRocksDBStore,
TransactionalMessageRocksDBService @5.4.0 … 5.5.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from parsers.damage.errors import Damage, DamageSink
from parsers.kernels.arrays import Codes, Ints, Longs, Mask
from parsers.messages.transaction_op import TAG as OP_TAG
from parsers.rocksdb.layout import HALF_FAMILY, HALVES_TO
from parsers.rocksdb.message_records import read_message_records, read_notes
from parsers.store.store import Store
from parsers.values.topics import (
    DATABASE_HALF_TOPIC,
    DATABASE_OP_TOPIC,
    GIVEN_UP_TOPIC,
    TRANSACTION_OP_TOPIC,
    TRANSACTION_TOPIC,
    is_dead_letter,
    is_retry,
)
from recovery.fates.held import Held, Story, held_records, text_hash
from recovery.fates.held_kernel import HASH, NONE, NUMBER
from recovery.fates.op_kernel import count_numbers, put_numbers
from recovery.fates.states import TransactionState
from recovery.knowledge.inference import StoreKnowledge
from recovery.rules.dispatch import COMMIT, PREPARED, ROLLBACK

CHECK_TIMES, FIRST_QUEUE_OFFSET, TAGS, HALF_OFFSET = range(4)
"""Rows of `HeldColumns.own` of this story."""
TRANSACTIONS = Story(
    keeps=(
        TRANSACTION_TOPIC,
        TRANSACTION_OP_TOPIC,
        DATABASE_HALF_TOPIC,
        DATABASE_OP_TOPIC,
        GIVEN_UP_TOPIC,
    ).__contains__,
    own=(
        ("TRANSACTION_CHECK_TIMES", NUMBER),
        ("TRAN_PREPARED_QUEUE_OFFSET", NUMBER),
        ("TAGS", HASH),
        ("TRANS_OFFSET", NUMBER),
    ),
    triggers=("TRANSACTION_CHECK_TIMES",),
    transactions=True,
)
CHECKER = "CID_RMQ_SYS_TRANS"
"""The broker's own group, whose offset on the half topic is how far it has checked (MixAll)."""
QUEUE_SHIFT = 48
"""A queue id and an offset in it as one number."""


TRANSACTION_STATES = tuple(TransactionState)
COMMITTED, ROLLED_BACK, PENDING, GIVEN_UP, UNKNOWN = range(len(TRANSACTION_STATES))


class Transactions(NamedTuple):
    """One row per transaction whose half message the log has. Records are rows of those held, NONE without one.

    Attributes:
        first, last: its first half message, and the last one that a check wrote.
        commit, given_up: the first commit, the copy in the topic of those given up; commits: how many there are.
        decision: the op message that lists its last half, or the rollback record.
        checks: how often the producer was asked, NONE where that is not kept.
    """

    first: Longs
    last: Longs
    commit: Longs
    commits: Ints
    decision: Longs
    given_up: Longs
    checks: Ints
    state: Codes


@dataclass(frozen=True, slots=True)
class StoreTransactions:
    """The transactions of a store, in the order of their ids; `knows_check`: whether it is known how far the broker's
    check of halves in files is."""

    held: Held
    found: Transactions
    knows_check: bool


def transactions(
    store: Store, known: StoreKnowledge, checked: Mapping[int, int] | None, damage: DamageSink
) -> StoreTransactions:
    """What became of every transaction; `checked`: half queue -> how far the broker's check is, None: not known."""
    held = held_records(store.commitlog, known.rules, TRANSACTIONS)
    columns = held.columns
    in_database = held.of_topic(DATABASE_HALF_TOPIC)
    is_half = held.of_topic(TRANSACTION_TOPIC) | in_database | (columns.transaction == PREPARED)
    rows = np.flatnonzero(is_half)
    order = rows[np.lexsort((columns.physical_offset[rows], columns.message[rows]))]
    is_first = (columns.own[CHECK_TIMES][order] == NONE) & (columns.own[FIRST_QUEUE_OFFSET][order] == NONE)
    is_first[:1] = True
    is_first[1:] |= columns.message[order[1:]] != columns.message[order[:-1]]
    number = np.cumsum(is_first) - 1
    starts = np.flatnonzero(is_first)
    last = order[np.concatenate((starts[1:], [len(order)])) - 1] if len(order) else order
    halves = _Halves(held, order, number, len(starts))
    commit, commits = halves.named_by(np.flatnonzero(_is_commit(held)), columns.prepared_transaction_offset)
    rollback, _ = halves.named_by(np.flatnonzero(columns.transaction == ROLLBACK), columns.prepared_transaction_offset)
    removed, _ = halves.named_by(np.flatnonzero(held.of_topic(DATABASE_OP_TOPIC)), columns.own[HALF_OFFSET])
    decision = np.where(rollback != NONE, rollback, halves.listed(*_listed(held)))
    decision = np.where(removed != NONE, removed, decision)
    given_up = halves.same_message(np.flatnonzero(held.of_topic(GIVEN_UP_TOPIC)))
    times = np.maximum(columns.own[CHECK_TIMES][last], 0).astype(np.int32)
    state = np.full(len(starts), PENDING, np.int8)
    state[_passed(held, last, checked)] = UNKNOWN
    is_kept = in_database[last]
    if is_kept.any():
        kept = _Kept.of(store, damage)
        state[is_kept], times[is_kept] = kept.state(columns.physical_offset[last[is_kept]])
    state[decision != NONE] = ROLLED_BACK
    state[given_up != NONE] = GIVEN_UP
    state[commit != NONE] = COMMITTED
    is_open = (state == ROLLED_BACK) | (state == PENDING) | (is_kept & (state == GIVEN_UP))
    state[is_open & held.damaged_behind()[order[starts]]] = UNKNOWN
    found = Transactions(order[starts], last, commit, commits, decision, given_up, times, state)
    return StoreTransactions(held, found, checked is not None)


def _is_commit(held: Held) -> Mask:
    """Commit records that a decision wrote: of a popped or given back message the copies keep the flag."""
    is_copy = np.array([is_retry(name) or is_dead_letter(name) for name in held.topics] or [False])
    found: Mask = (held.columns.transaction == COMMIT) & ~is_copy[held.columns.topic]
    return found


def _passed(held: Held, last: Longs, checked: Mapping[int, int] | None) -> Mask:
    """Whether the broker's check is, or may be, past a last half of its topic: what has no decision is not known."""
    columns, passed = held.columns, np.zeros(len(last), np.bool_)
    in_topic = held.of_topic(TRANSACTION_TOPIC)[last]
    if checked is None:
        return in_topic
    for queue_id, offset in checked.items():
        passed |= in_topic & (columns.queue_id[last] == queue_id) & (columns.queue_offset[last] < offset)
    return passed


@dataclass(frozen=True, slots=True)
class _Kept:
    """Half messages that rocksdbstore keeps: physical offset -> checks.

    `taken_to`: the last one that it took in, None where that is not known; NONE where it never took in any.
    """

    checks: Mapping[int, int]
    taken_to: int | None

    @classmethod
    def of(cls, store: Store, damage: DamageSink) -> _Kept:
        """What the database of a store says; nothing is known where a part of it cannot be read."""
        broken: list[Damage] = []
        if store.message_database is None:
            return cls({}, None)
        rows = read_message_records(store.message_database, [HALF_FAMILY], damage=broken.append)
        checks = {
            place: times
            for batch in rows
            for place, times in zip(batch["physical_offset"].to_pylist(), batch["check_times"].to_pylist(), strict=True)
            if times is not None
        }
        notes = read_notes(store.message_database, damage=broken.append)
        for each in broken:
            damage(each)
        return cls(checks, None if broken else notes.get(HALVES_TO, NONE))

    def state(self, places: Longs) -> tuple[Codes, Longs]:
        """The states of halves without a decision, and how often they were checked. One that was taken in and is not
        kept any more was checked too often."""
        checks = np.array([self.checks.get(place, NONE) for place in places.tolist()], np.int64)
        if self.taken_to is None:
            return np.where(checks == NONE, UNKNOWN, PENDING).astype(np.int8), checks
        is_new = (places > self.taken_to) & (checks == NONE)
        state = np.where((checks == NONE) & ~is_new, GIVEN_UP, PENDING)
        return state.astype(np.int8), np.where(is_new, 0, checks)


@dataclass(frozen=True, slots=True)
class _Halves:
    """Half messages in the order of their transactions: `number` is the transaction of each row in `order`."""

    held: Held
    order: Longs
    number: Longs
    count: int

    def named_by(self, rows: Longs, named_place: Longs) -> tuple[Longs, Ints]:
        """For each transaction the first of these records that names the place of one of its halves, and how many
        do; `named_place`: of every record held."""
        columns = self.held.columns
        first, counts = np.full(self.count, NONE, np.int64), np.zeros(self.count, np.int32)
        if not len(self.order) or not len(rows):
            return first, counts
        by_place = np.argsort(columns.physical_offset[self.order])
        places = columns.physical_offset[self.order[by_place]]
        wanted = named_place[rows]
        at = np.minimum(np.searchsorted(places, wanted), len(places) - 1)
        half = by_place[at]
        is_same = columns.message[self.order[half]] == columns.message[rows]
        is_op = self.held.of_topic(DATABASE_OP_TOPIC)[rows]
        is_named = (places[at] == wanted) & ((wanted > 0) | is_same | is_op)  # a record that names none has 0 too
        number, named = self.number[half[is_named]], rows[is_named]
        first[number[::-1]] = named[::-1]
        np.add.at(counts, number, 1)
        return first, counts

    def listed(self, ops: Longs, offsets: Longs) -> Longs:
        """For each transaction the first op message that lists one of its halves; `offsets`: what each op lists."""
        columns, first = self.held.columns, np.full(self.count, NONE, np.int64)
        if not len(self.order) or not len(ops):
            return first
        wanted = (columns.queue_id[ops].astype(np.int64) << QUEUE_SHIFT) + offsets
        by_wanted = np.argsort(wanted, kind="stable")
        half = (columns.queue_id[self.order].astype(np.int64) << QUEUE_SHIFT) + columns.queue_offset[self.order]
        at = np.minimum(np.searchsorted(wanted[by_wanted], half), len(ops) - 1)
        op = ops[by_wanted[at]]
        later = columns.physical_offset[op] > columns.physical_offset[self.order]
        is_listed = (wanted[by_wanted[at]] == half) & later & self.held.of_topic(TRANSACTION_TOPIC)[self.order]
        number, named = self.number[is_listed], op[is_listed]
        first[number[::-1]] = named[::-1]
        return first

    def same_message(self, rows: Longs) -> Longs:
        """For each transaction the first of these records with its id, after its first half."""
        columns, first = self.held.columns, np.full(self.count, NONE, np.int64)
        if not len(self.order) or not len(rows):
            return first
        at = np.searchsorted(columns.message[self.order], columns.message[rows], "right") - 1
        is_it = (at >= 0) & (columns.message[self.order[np.maximum(at, 0)]] == columns.message[rows])
        number, named = self.number[at[is_it]], rows[is_it]
        first[number[::-1]] = named[::-1]
        return first


def _listed(held: Held) -> tuple[Longs, Longs]:
    """The half queue offsets that the op messages list, with the row of the op message of each. One without their tag
    decides nothing (#fillOpRemoveMap)."""
    is_op = held.of_topic(TRANSACTION_OP_TOPIC) & (held.columns.own[TAGS] == text_hash(OP_TAG))
    ops, offsets = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for of_file, data, positions in held.by_file(np.flatnonzero(is_op)):
        room = count_numbers(data, positions)
        op, listed = np.empty(room, np.int64), np.empty(room, np.int64)
        put_numbers(data, positions, op, listed)
        ops.append(of_file[op])
        offsets.append(listed)
    return np.concatenate(ops), np.concatenate(offsets)
