"""Popped messages: each message that a group popped, acknowledged or not, and where it is delivered again.

The broker's revive service reads the revive log in order. Where a checkpoint's time has passed it puts each message of
it that is not acknowledged into the group's retry topic, with one more in reconsumeTimes, and commits the checkpoint's
place as the offset of CID_RMQ_SYS_REVIVE_GROUP. A changed invisible time is a new checkpoint of one message, and an
acknowledgement of the old one. Since 5.1.0 a message that could not be put there has its checkpoint written anew, with
the same pop time; since 5.3.1 that says how often.
Source: PopReviveService#consumeReviveMessage, #mergeAndRevive, #reviveRetry,
ChangeInvisibleTimeProcessor#appendCheckPointThenAckOrigin @5.0.0, 5.3.3; PopReviveService#rePutCK @5.1.0, 5.3.1, 5.3.3.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from parsers.damage.errors import DamageSink
from parsers.kernels.arrays import Codes, Longs, Mask
from parsers.store.store import Store
from parsers.store.store_file import StoreFile
from parsers.values.java import LONG_MAX
from parsers.values.topics import REVIVE_GROUP, is_retry, pop_retry_topics
from recovery.fates.held import Held, Story, held_records
from recovery.fates.held_kernel import NONE, HeldColumns
from recovery.fates.joins import first_after, firsts, last_before, numbered
from recovery.fates.retries import Offsets
from recovery.fates.revive_log import Entries, ReviveLog, keeps_revive_log, revive_log
from recovery.fates.stated_pops import POP_SOURCES, StatedPops, stated_pops
from recovery.fates.states import PopSource, PopState
from recovery.knowledge.inference import StoreKnowledge
from recovery.rules.dispatch import DispatchRules
from recovery.scan.queue_rows import NO_ROWS, queue_rows, topic_rows

QUEUE_SHIFT = 40
"""A queue id and an offset in it as one number; no queue has more messages."""


POP_STATES = tuple(PopState)
ACKED, IN_FLIGHT, REVIVED, PASSED, UNMATCHED, UNKNOWN = range(len(POP_STATES))


class Pops(NamedTuple):
    """One row per message and group that a checkpoint or an acknowledgement names, NONE where there is none.

    Attributes:
        entry: the row of the last checkpoint among the entries of the revive log, where it was written first; of an
            acknowledgement without a checkpoint that one.
        checkpoints: how many name the message.
        delivered: the record that is the last checkpoint in the revive topic, a row of those held.
        acked: the first acknowledgement of the last checkpoint; copy: the message in the retry topic, after the last
            checkpoint. Rows of those held.
        message: the message itself, a row of the messages.
        is_done: the revive service is done with the last checkpoint, by its offset.
        state: place in POP_STATES.
    """

    entry: Longs
    checkpoints: Longs
    delivered: Longs
    acked: Longs
    copy: Longs
    message: Longs
    is_done: Mask
    state: Codes


@dataclass(frozen=True, slots=True)
class StorePops:
    """The popped messages of a store. `messages`: their records; `revive_offsets`: by revive topic and queue the last
    checkpoint that the broker is done with, None where no offsets are known; `stated`: what other files state;
    `stated_messages`: the row of each of these among the messages; `stated_state`: its place in POP_STATES."""

    log: ReviveLog
    found: Pops
    messages: Held
    revive_offsets: Mapping[tuple[str, int], int] | None
    stated: StatedPops
    stated_messages: Longs
    stated_state: Codes


def pops(
    store: Store,
    known: StoreKnowledge,
    offsets: Offsets | None,
    damage: DamageSink,
    topics: Collection[str] | None = None,
) -> StorePops:
    """What became of every message that was popped; `offsets`: those of all groups, None where none are known.

    Args:
        damage: gets the damage of the files that `stated_pops` reads.
        topics: all that the log has records of, where that is known: a log that has none of `keeps_revive_log` is not
            read for them.
    """
    is_read = topics is None or any(map(keeps_revive_log, topics))
    log = revive_log(store.commitlog if is_read else (), known.rules)
    stated = stated_pops(store, damage)
    done = None if offsets is None else _revive_offsets(offsets)
    messages = _messages(store.commitlog, known.rules, log, stated)
    named = stated.topic, stated.queue_id, stated.queue_offset
    ends = np.full(len(stated.topic), LONG_MAX, np.int64)
    stated_messages = _rows_at(messages, stated.topics, named, ends)
    found = _pops(log, messages, done)
    return StorePops(log, found, messages, done, stated, stated_messages, _stated_states(stated, offsets or {}))


def _stated_states(stated: StatedPops, offsets: Offsets) -> Codes:
    """Acknowledged where the file says so, unknown below the group's stored offset, else in flight.

    An orderly pop stores its own start, and an acknowledgement what comes after it: an offset past the message is
    newer than the file, or was set by hand. A pop that kvStore keeps has its offset put past it by the next pop.
    Source: PopMessageProcessor#popMsgFromQueue, ConsumerOrderInfoManager#commitAndNext @5.3.3.
    """
    is_acked, source = (stated.rows[name].to_numpy() for name in ("is_acked", "source"))
    group = stated.rows["group"].combine_chunks().dictionary_encode()
    groups, code = group.dictionary.to_pylist(), group.indices.to_numpy().astype(np.int64)
    queues = np.column_stack((code, stated.topic, stated.queue_id))
    each, place = np.unique(queues, axis=0, return_inverse=True)
    stored = [
        offsets.get((groups[of], stated.topics[topic]), {}).get(queue, NONE) for of, topic, queue in each.tolist()
    ]
    is_below = stated.queue_offset < np.array(stored, np.int64)[place.ravel()]
    is_below &= source == POP_SOURCES.index(PopSource.ORDER_INFO)
    state: Codes = np.where(is_acked, ACKED, np.where(is_below, UNKNOWN, IN_FLIGHT)).astype(np.int8)
    return state


def _revive_offsets(offsets: Offsets) -> dict[tuple[str, int], int]:
    of_broker = ((topic, queues) for (group, topic), queues in offsets.items() if group == REVIVE_GROUP)
    return {(topic, queue_id): offset for topic, queues in of_broker for queue_id, offset in queues.items()}


def _messages(files: Sequence[StoreFile], rules: DispatchRules, log: ReviveLog, stated: StatedPops) -> Held:
    """The records that entries and files name by topic, queue and offset."""
    of_topic: dict[str, Longs] = {}
    for topics, topic, queue_id, queue_offset in (
        (log.topics, log.entries.topic, log.entries.queue_id, log.entries.queue_offset),
        (stated.topics, stated.topic, stated.queue_id, stated.queue_offset),
    ):
        is_place = (queue_offset >= 0) & (queue_offset < 1 << QUEUE_SHIFT)
        is_place &= (queue_id >= 0) & (queue_id < 1 << (62 - QUEUE_SHIFT))
        places = (queue_id << QUEUE_SHIFT) + queue_offset
        rows_of = topic_rows(np.where(is_place, topic, NONE))
        for code, name in enumerate(topics):
            of_topic[name] = np.union1d(of_topic.get(name, NO_ROWS), places[rows_of.get(code, NO_ROWS)])

    def is_named(columns: HeldColumns, topics: Sequence[str]) -> Mask:
        theirs = (columns.queue_id.astype(np.int64) << QUEUE_SHIFT) + columns.queue_offset
        wanted = np.zeros(len(theirs), np.bool_)
        for code, rows in topic_rows(columns.topic).items():
            if (named := of_topic.get(topics[code])) is not None:
                wanted[rows] = np.isin(theirs[rows], named)
        return wanted

    story = Story(keeps=of_topic.__contains__, wanted=is_named)
    return held_records(files if of_topic else (), rules, story)


def _pops(log: ReviveLog, messages: Held, done: Mapping[tuple[str, int], int] | None) -> Pops:
    entries, columns = log.entries, log.held.columns
    if not len(entries.record):
        nothing = np.empty(0, np.int64)
        return Pops._make([*[nothing] * 6, np.empty(0, np.bool_), np.empty(0, np.int8)])
    placed = columns.physical_offset[entries.record]
    (number,) = numbered((entries.group, entries.topic, entries.queue_id, entries.queue_offset))
    of_checkpoint = (number, entries.broker, entries.start_offset, entries.pop_time_ms)
    (key,) = numbered(of_checkpoint)
    count, is_checkpoint = int(number.max()) + 1, entries.is_checkpoint == 1
    is_delivered = is_checkpoint & ~log.is_waiting[entries.record]
    (alike,) = numbered((*of_checkpoint, entries.put_again))
    (checkpoint,) = numbered((alike, _deliveries_before(alike, placed, is_delivered)))
    written = _firsts_of(is_checkpoint, checkpoint, placed)
    entry = _last(entries, number, placed, np.where(is_checkpoint, placed[written[checkpoint]], NONE))
    delivered = _record(entries, _firsts_of(is_delivered, checkpoint, placed)[checkpoint[entry]])
    acked = _record(entries, _firsts_of(~is_checkpoint, key, placed)[key[entry]])
    of_each = np.bincount(number[written[written != NONE]], minlength=count)
    message = _message_rows(log, messages, entry)
    copy = _copies(log, messages, entry, message)
    is_done = _is_done(log.held, delivered, done)
    is_damaged = log.held.damaged_behind()[entries.record[entry]]
    state = np.where(is_done, PASSED, IN_FLIGHT).astype(np.int8)
    state[is_damaged | (done is None)] = UNKNOWN
    state[acked != NONE] = ACKED
    state[copy != NONE] = REVIVED
    state[~is_checkpoint[entry]] = UNMATCHED
    return Pops(entry, of_each, delivered, acked, copy, message, is_done, state)


def _deliveries_before(alike: Longs, placed: Longs, is_delivered: Mask) -> Longs:
    """A number for each entry that grows with every delivery to the revive topic among those alike, in log order.

    Each delivery ends a checkpoint: what is alike after it was written anew (rePutCK before 5.3.1 says nothing of it).
    """
    order, before = np.lexsort((placed, alike)), np.empty(len(alike), np.int64)
    ends = is_delivered[order].astype(np.int64)
    before[order] = np.cumsum(ends) - ends
    return before


def _last(entries: Entries, number: Longs, placed: Longs, written: Longs) -> Longs:
    """For each message the checkpoint of its latest pop that was written last, where it was written first; without one
    its last acknowledgement. `written`: where the checkpoint of each entry was written first."""
    found = np.empty(int(number.max()) + 1, np.int64)
    order = np.lexsort((-placed, written, entries.pop_time_ms, entries.is_checkpoint, number))
    found[number[order]] = order
    return found


def _firsts_of(wanted: Mask, numbers: Longs, placed: Longs) -> Longs:
    """For each number the first wanted entry in the log, NONE without one."""
    rows = np.flatnonzero(wanted)
    first = firsts(numbers[rows], placed[rows], int(numbers.max()) + 1)
    found: Longs = np.concatenate((rows, [NONE]))[first]  # NONE, -1, is the last one
    return found


def _record(entries: Entries, rows: Longs) -> Longs:
    return np.where(rows == NONE, NONE, entries.record[rows])


def _message_rows(log: ReviveLog, messages: Held, entry: Longs) -> Longs:
    entries = log.entries
    named = entries.topic[entry], entries.queue_id[entry], entries.queue_offset[entry]
    return _rows_at(messages, log.topics, named, log.held.columns.physical_offset[entries.record[entry]])


def _rows_at(messages: Held, topics: Sequence[str], named: tuple[Longs, Longs, Longs], before: Longs) -> Longs:
    """The record at each place (topic, queue, offset): the last one in the log before `before`, NONE without one."""
    theirs, codes = messages.columns, {name: code for code, name in enumerate(messages.topics)}
    topic = np.array([*(codes.get(name, NONE) for name in topics), NONE], np.int64)[named[0]]
    there = (theirs.topic.astype(np.int64), theirs.queue_id.astype(np.int64), theirs.queue_offset)
    number, number_there = numbered((topic, *named[1:]), there)
    return last_before(number, before, number_there, theirs.physical_offset)


def _copies(log: ReviveLog, messages: Held, entry: Longs, message: Longs) -> Longs:
    """The first copy of each message in its retry topic after its last checkpoint, of one more in reconsumeTimes; of
    a suspended checkpoint of as many (PopReviveService#reviveRetry @5.5.0)."""
    entries, columns, found = log.entries, log.held.columns, np.full(len(entry), NONE, np.int64)
    has = np.flatnonzero(message != NONE)
    copies = np.flatnonzero(np.array([is_retry(name) for name in log.held.topics] or [False])[columns.topic])
    if not len(has) or not len(copies):
        return found
    there = (columns.topic[copies].astype(np.int64), columns.message[copies], _times(columns)[copies])
    placed = columns.physical_offset[entries.record[entry[has]]]
    for topics in _retry_topics(log, entry[has]):
        itself, times = messages.columns.message[message[has]], _times(messages.columns)[message[has]]
        times = times + 1 - entries.is_suspended[entry[has]]
        number, number_there = numbered((topics, itself, times), there)
        first = first_after(number, placed, number_there, columns.physical_offset[copies])
        found[has] = np.where(first == NONE, found[has], copies[first])
    return found


def _times(columns: HeldColumns) -> Longs:
    return columns.reconsume_times.astype(np.int64)


def _retry_topics(log: ReviveLog, entry: Longs) -> tuple[Longs, Longs]:
    """The code of the retry topic of each entry, by either version's name; NONE for one that the log has nothing of."""
    codes = {name: code for code, name in enumerate(log.held.topics)}
    pairs = np.column_stack((log.entries.group[entry], log.entries.topic[entry]))
    each, place = np.unique(pairs, axis=0, return_inverse=True)
    named = [pop_retry_topics(log.groups[group], log.topics[topic]) for group, topic in each.tolist()]
    first, last = ([codes.get(names[at], NONE) for names in named] for at in (0, -1))
    return np.array(first, np.int64)[place.ravel()], np.array(last, np.int64)[place.ravel()]


def _is_done(held: Held, delivered: Longs, done: Mapping[tuple[str, int], int] | None) -> Mask:
    """Whether the broker's offset on the revive topic has come to the checkpoint: it is the last one that it is done
    with (PopReviveService#consumeReviveMessage reads from the next one on)."""
    columns, is_done = held.columns, np.zeros(len(delivered), np.bool_)
    has = np.flatnonzero(delivered != NONE)
    records = delivered[has]
    for (topic, queue_id), rows in queue_rows(columns.topic[records], columns.queue_id[records]).items():
        offset = (done or {}).get((held.topics[topic], queue_id))
        if offset is not None:
            is_done[has[rows]] = columns.queue_offset[records[rows]] <= offset
    return is_done
