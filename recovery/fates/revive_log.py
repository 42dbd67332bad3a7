"""POP's revive log: the checkpoints of what was popped, and the acknowledgements, message by message.

A pop stores a checkpoint for the revive topic, an acknowledgement a message beside it. Both are timer messages: they
wait in rmq_sys_wheel_timer, a checkpoint until a second before its messages are visible again, an acknowledgement
until then, and are then delivered to the revive topic. Either place has the same body; a timer that rolls has it once
more. With enablePopBufferMerge what is acknowledged soon after it was popped stays in the broker's memory and never
gets here.
Source: PopMessageProcessor#buildCkMsg, AckMessageProcessor#appendAck, PopBufferMergeService#scan @5.0.0, 5.3.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from parsers.kernels.arrays import Longs, Mask
from parsers.messages import pop_ack, pop_checkpoint
from parsers.messages.json_columns import JsonColumns
from parsers.store.store_file import StoreFile
from parsers.values.java import INT_MAX
from parsers.values.topics import TIMER_TOPIC, is_retry, is_revive
from recovery.fates.held import Held, Story, body_texts, held_records, text_hash
from recovery.fates.held_kernel import HASH, NONE, NUMBER, HeldColumns
from recovery.rules.dispatch import DispatchRules

TAG, WAITS_FOR = 0, 1
"""Rows of `HeldColumns.own` of this story."""
OWN = (("TAGS", HASH), ("REAL_QID", NUMBER))
BODIES = JsonColumns(pop_checkpoint.POP_CHECKPOINT, pop_ack.POP_BATCH_ACK)
TAG_HASHES = tuple(text_hash(tag) for tag in (pop_checkpoint.TAG, pop_ack.TAG, pop_ack.BATCH_TAG))
"""The broker parses no body of another tag (PopReviveService#consumeReviveMessage @5.0.0, 5.3.3)."""
MOST_NUM = 127
"""PopCheckPoint#num is a byte."""
BODIES_AT_ONCE = 1 << 16


class Entries(NamedTuple):
    """One row for each message that a record of the revive log names: popped by a checkpoint, or acknowledged.

    `record`: row of those held; `group`, `topic`: places in the names; `broker`: a number for the broker's name;
    `start_offset`, `pop_time_ms`: of the checkpoint, both in acknowledgements too; `invisible_ms`, `put_again`: of
    checkpoints, how long its messages are invisible, and how often the broker wrote it anew because it could not put
    the message into the retry topic, and whether delivering it again counts as no retry (since 5.5.0).
    """

    record: Longs
    group: Longs
    topic: Longs
    broker: Longs
    queue_id: Longs
    start_offset: Longs
    pop_time_ms: Longs
    queue_offset: Longs
    invisible_ms: Longs
    put_again: Longs
    is_suspended: Longs
    is_checkpoint: Longs

    def of(self, rows: Mask) -> Entries:
        return Entries._make(column[rows] for column in self)


@dataclass(frozen=True, slots=True)
class ReviveLog:
    """The revive log of a store. `held`: its records in both places, and all of retry topics; `is_waiting`: those in
    the timer's topic; `unreadable`: those whose bodies the broker cannot read either."""

    held: Held
    is_waiting: Mask
    unreadable: Longs
    groups: list[str]
    topics: list[str]
    entries: Entries


def _wanted(columns: HeldColumns, topics: Sequence[str]) -> Mask:
    kept = np.array([is_revive(name) or is_retry(name) for name in topics] or [False])
    is_timer = np.array([name == TIMER_TOPIC for name in topics] or [False])
    is_for_revive = np.array([is_revive(name) for name in topics] or [False])[columns.real_topic]
    wanted: Mask = kept[columns.topic] | (is_timer[columns.topic] & is_for_revive & (columns.real_topic >= 0))
    return wanted


def keeps_revive_log(topic: str) -> bool:
    """Whether checkpoints and acknowledgements are in the topic, or wait there."""
    return is_revive(topic) or topic == TIMER_TOPIC


REVIVES = Story(keeps=lambda topic: is_revive(topic) or is_retry(topic), own=OWN, wanted=_wanted)


def revive_log(files: Sequence[StoreFile], rules: DispatchRules) -> ReviveLog:
    """Read the log's files, which are given in offset order, once, and the bodies of the revive log."""
    held = held_records(files, rules, REVIVES)
    columns = held.columns
    is_waiting = held.of_topic(TIMER_TOPIC)
    is_of_revive = np.array([is_revive(name) for name in held.topics] or [False])[columns.topic]
    names = _Names([], [], [])
    unreadable, found = [np.empty(0, np.int64)], [Entries._make([np.empty(0, np.int64)] * len(Entries._fields))]
    for rows, bodies in _bodies(held, np.flatnonzero(is_waiting | is_of_revive)):
        readable = bodies["readable"].to_numpy()
        unreadable.append(rows[~readable & np.isin(held.columns.own[TAG][rows], TAG_HASHES)])
        found.append(_entries(held, rows, bodies, readable, names))
    entries = Entries._make(np.concatenate(parts) for parts in zip(*found, strict=True))
    entries = entries._replace(broker=_filled(entries.broker, names.brokers))
    return ReviveLog(held, is_waiting, np.concatenate(unreadable), names.groups, names.topics, entries)


@dataclass(slots=True)
class _Names:
    """Names by the number that each has."""

    groups: list[str]
    topics: list[str]
    brokers: list[str]


def _bodies(held: Held, rows: Longs) -> Iterator[tuple[Longs, pa.Table]]:
    """Some rows, and what their bodies say, piece by piece."""
    for first in range(0, len(rows), BODIES_AT_ONCE):
        some = rows[first : first + BODIES_AT_ONCE]
        yield some, BODIES.read(body_texts(held, some)).combine_chunks()


def _entries(held: Held, rows: Longs, bodies: pa.Table, readable: Mask, names: _Names) -> Entries:
    """A row for each message that these bodies name; none of a body that the broker passes over."""
    tags = held.columns.own[TAG][rows]
    is_checkpoint, is_ack, is_batch = (tags == each for each in TAG_HASHES)
    is_named = bodies["group"].is_valid().to_numpy() & bodies["topic"].is_valid().to_numpy()
    start = _longs(bodies, "start_queue_offset")
    diffs, acked_offsets = bodies["queue_offset_diffs"], bodies["ack_queue_offsets"]
    lists = pc.if_else(pa.array(is_checkpoint), diffs, acked_offsets).combine_chunks()
    sizes = pc.list_value_length(lists).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    values = pc.fill_null(pc.list_flatten(lists), NONE).to_numpy(zero_copy_only=False).astype(np.int64)
    firsts = np.cumsum(sizes) - sizes
    num = np.clip(_longs(bodies, "message_count"), 0, MOST_NUM)
    popped = np.where(sizes > 0, np.minimum(num, sizes), num)
    counts = np.where(is_checkpoint, popped, np.where(is_batch, sizes, is_ack.astype(np.int64)))
    counts[~(is_named & readable)] = 0
    body = np.repeat(np.arange(len(rows)), counts)
    within = np.arange(len(body)) - np.repeat(np.cumsum(counts) - counts, counts)
    has_list = (sizes > 0)[body] & ~is_ack[body]
    listed = np.concatenate((values, [0]))[np.where(has_list, firsts[body] + within, len(values))]
    from_start = start[body] + np.where(has_list, listed, within)
    acked = np.where(is_batch[body], listed, _longs(bodies, "ack_queue_offset")[body])
    return Entries(
        record=rows[body],
        group=_codes(bodies, "group", names.groups)[body],
        topic=_codes(bodies, "topic", names.topics)[body],
        broker=_codes(bodies, "broker", names.brokers)[body],
        queue_id=_longs(bodies, "queue_id")[body],
        start_offset=start[body],
        pop_time_ms=_longs(bodies, "pop_time_ms")[body],
        queue_offset=np.where(is_checkpoint[body], from_start, acked),
        invisible_ms=_longs(bodies, "invisible_ms")[body],
        put_again=_times_put_again(bodies)[body],
        is_suspended=bodies["suspend"].fill_null(False).to_numpy()[body].astype(np.int64),
        is_checkpoint=is_checkpoint[body].astype(np.int64),
    )


def _times_put_again(bodies: pa.Table) -> Longs:
    """PopCheckPoint#parseRePutTimes: 0 where it is not said, the largest byte where it is no number."""
    column = bodies["re_put_times"].combine_chunks().dictionary_encode()
    said = [each if each.isascii() and each.isdigit() else "" for each in column.dictionary.to_pylist()]
    times = [int(each) if 0 < len(each) < len(str(INT_MAX)) else MOST_NUM for each in said]
    codes = column.indices.fill_null(len(times)).to_numpy().astype(np.int64)
    numbers: Longs = np.array([*times, 0], np.int64)[codes]
    return numbers


def _longs(bodies: pa.Table, name: str) -> Longs:
    """A number of each body, 0 where it is not said (Java's value of a field that is not set)."""
    numbers: Longs = bodies[name].fill_null(0).to_numpy().astype(np.int64)
    return numbers


def _codes(bodies: pa.Table, name: str, names: list[str]) -> Longs:
    """The place of each name among the names, which grow; NONE without one, or with a blank one."""
    column = bodies[name].combine_chunks().dictionary_encode()
    known = {each: number for number, each in enumerate(names)}
    places = []
    for each in column.dictionary.to_pylist():
        if each.strip() and each not in known:
            known[each] = len(names)
            names.append(each)
        places.append(known.get(each, NONE))
    codes = column.indices.fill_null(len(places)).to_numpy().astype(np.int64)
    numbers: Longs = np.array([*places, NONE], np.int64)[codes]
    return numbers


def _filled(broker: Longs, names: Sequence[str]) -> Longs:
    """A record that does not name its broker is this broker's own: that which most records name."""
    if not len(names):
        return broker
    own = int(np.bincount(broker[broker >= 0], minlength=1).argmax())
    return np.where(broker < 0, own, broker)
