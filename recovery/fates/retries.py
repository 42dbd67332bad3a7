"""Retries and dead letters: each message that a group gave back, from its origin over its retries to where it is now.

A consumer that fails gives the message back: the broker stores a copy for %RETRY% and the group, with one more in
reconsumeTimes, which waits in SCHEDULE_TOPIC_XXXX for a delay level, and is then delivered to the retry topic; when the
retries are used up, it stores the copy for %DLQ% and the group at once. A client whose request fails sends the copy
itself. A popped message that nobody acknowledged is put into the retry topic without a wait, by the broker.
Source: AbstractSendMessageProcessor#consumerSendMsgBack, SendMessageProcessor#handleRetryAndDLQ,
DefaultMQPushConsumerImpl#sendMessageBack, PopReviveService#reviveRetry, KeyBuilder#buildPopRetryTopic @4.9.7, 5.3.3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from parsers.kernels.arrays import Codes, Ints, Longs, Mask
from parsers.store.store import Store
from parsers.store.store_file import StoreFile
from parsers.values.topics import (
    SCHEDULE_TOPIC,
    TIMER_TOPIC,
    RetryTopic,
    is_brokers_own,
    is_dead_letter,
    is_retry,
    retry_topic_of,
)
from recovery.fates.held import Held, Story, held_records
from recovery.fates.held_kernel import HASH, ID_OFFSET, NONE, HeldColumns
from recovery.fates.states import RetryState
from recovery.knowledge.inference import StoreKnowledge
from recovery.rules.dispatch import DispatchRules

ORIGIN, ORIGIN_OFFSET, RETRY_TOPIC = 0, 1, 2
"""Rows of `HeldColumns.own` of this story."""
OWN = (("ORIGIN_MESSAGE_ID", HASH), ("ORIGIN_MESSAGE_ID", ID_OFFSET), ("RETRY_TOPIC", HASH))
WAIT, RETRY, DEAD, OTHER = range(4)
"""What a record is: a copy that waits, one that can be consumed, a dead letter; or none of a chain."""
Offsets = Mapping[tuple[str, str], Mapping[int, int]]
"""(group, topic) -> queue id -> number of the next message to consume."""


RETRY_STATES = tuple(RetryState)


class Doubt(StrEnum):
    """Why it is unknown where a message stands."""

    NONE = ""
    NO_OFFSET = "the group has no stored offset on the queue of its last retry"
    DAMAGE = "a later copy of it may be in damaged or missing bytes behind its last one"
    POPPED = "popped: nothing in the store tells whether it was acknowledged (`pop`)"


DOUBTS = tuple(Doubt)


class Chains(NamedTuple):
    """One row per (group, message) that was given back. Records are rows of those held, NONE without one.

    Attributes:
        first, last: the first and the last copy of the chain in the log.
        last_failure: the last copy that was stored because of a failure: one that waits, or a dead letter.
        last_retry, dead_letter: the last copy that could be consumed, the first dead letter.
        origin: row of the message itself among the origins.
        failures: how often it was given back, as its copies count; least: the smallest count that the log has.
        copies: how many of the copies could be consumed; repeated: copies that the log has more than once.
        state, doubt: places in RETRY_STATES and DOUBTS.
    """

    first: Longs
    last: Longs
    last_failure: Longs
    last_retry: Longs
    dead_letter: Longs
    origin: Longs
    failures: Ints
    least: Ints
    copies: Ints
    repeated: Ints
    state: Codes
    doubt: Codes


@dataclass(frozen=True, slots=True)
class Retries:
    """The chains of a store. `retry_topics`: by topic code; `origins`: records with the id of a chain."""

    held: Held
    kind: Codes
    retry_topics: Mapping[int, RetryTopic]
    chains: Chains
    origins: Held


def _keeps_copies(topic: str) -> bool:
    return is_retry(topic) or is_dead_letter(topic)


RETRIES = Story(keeps=_keeps_copies, own=OWN, triggers=("ORIGIN_MESSAGE_ID",))


def retries(store: Store, known: StoreKnowledge, offsets: Offsets | None) -> Retries:
    """What became of every message that a group gave back; `offsets`: of the groups, None where none are known."""
    held = held_records(store.commitlog, known.rules, RETRIES)
    kind = _kinds(held)
    retry_topics = retry_topics_of(held)
    origins = _origins(store.commitlog, known.rules, held)
    return Retries(held, kind, retry_topics, _chains(held, kind, retry_topics, origins, offsets or {}), origins)


def retry_topics_of(held: Held) -> dict[int, RetryTopic]:
    """The group of each retry and dead letter topic, by code."""
    columns = held.columns
    is_pushed = columns.own[RETRY_TOPIC] != NONE
    pushed = {*np.unique(columns.topic[is_pushed]).tolist(), *np.unique(columns.real_topic[is_pushed]).tolist()}
    ordinary = {name for name in held.topics if not _keeps_copies(name)}
    return {
        code: retry_topic_of(name, is_pushed=code in pushed, topics=ordinary)
        for code, name in enumerate(held.topics)
        if _keeps_copies(name)
    }


def _kinds(held: Held) -> Codes:
    """What each record held is."""
    columns = held.columns
    if not held.rows:
        return np.empty(0, np.int8)
    topics = [RETRY if is_retry(name) else DEAD if is_dead_letter(name) else OTHER for name in held.topics]
    waits = np.array([is_retry(name) for name in held.topics])[columns.real_topic]
    is_held_back = held.of_topic(SCHEDULE_TOPIC) | held.of_topic(TIMER_TOPIC)
    return np.where(
        is_held_back & waits & (columns.real_topic >= 0), WAIT, np.array(topics, np.int8)[columns.topic]
    ).astype(np.int8)


def _origins(files: Sequence[StoreFile], rules: DispatchRules, held: Held) -> Held:
    """The records of users' topics that have the id of a message that was given back."""
    wanted = np.unique(held.columns.message)

    def has_wanted_id(columns: HeldColumns, topics: Sequence[str]) -> Mask:
        users = np.array([not _is_copy_topic(name) for name in topics] or [False])
        is_wanted: Mask = users[columns.topic] & np.isin(columns.message, wanted)
        return is_wanted

    story = Story(keeps=lambda topic: not _is_copy_topic(topic), wanted=has_wanted_id)
    return held_records(files if len(wanted) else (), rules, story)


def _is_copy_topic(topic: str) -> bool:
    return is_retry(topic) or is_dead_letter(topic) or is_brokers_own(topic)


def _chains(held: Held, kind: Codes, retry_topics: Mapping[int, RetryTopic], origins: Held, offsets: Offsets) -> Chains:
    columns = held.columns
    group = _group_codes(held, kind, retry_topics)
    rows = np.flatnonzero(kind != OTHER)
    keys = (columns.own[ORIGIN], columns.message, group)
    order = rows[np.lexsort((columns.physical_offset[rows], *(key[rows] for key in keys)))]
    starts = _starts(order, keys)
    if not len(starts):
        nothing, none = np.empty(0, np.int64), np.empty(0, np.int32)
        return Chains._make([*[nothing] * 6, *[none] * 4, *[np.empty(0, np.int8)] * 2])
    of_chain = kind[order]
    last = order[np.concatenate((starts[1:], [len(order)])) - 1]
    times = columns.reconsume_times[order]
    last_retry = _place(starts, order, of_chain == RETRY, np.maximum)
    dead = _place(starts, order, of_chain == DEAD, np.minimum)
    first = order[starts]
    state, doubt = _states(held, kind[last], last, dead, retry_topics, offsets)
    return Chains(
        first,
        last,
        _place(starts, order, of_chain != RETRY, np.maximum),
        last_retry,
        dead,
        _origin_rows(columns, first, origins),
        np.maximum.reduceat(times, starts),
        np.minimum.reduceat(times, starts),
        np.add.reduceat((of_chain == RETRY).astype(np.int32), starts),
        _repeated(columns, kind, order, starts),
        state,
        doubt,
    )


def _group_codes(held: Held, kind: Codes, retry_topics: Mapping[int, RetryTopic]) -> Longs:
    """A number for the group of each record; NONE of those of no chain."""
    names = sorted({each.group for each in retry_topics.values()})
    codes = np.full(max(1, len(held.topics)), NONE, np.int64)
    for code, topic in retry_topics.items():
        codes[code] = names.index(topic.group)
    columns = held.columns
    return np.where(kind == WAIT, codes[columns.real_topic], codes[columns.topic])


def _starts(order: Longs, keys: Sequence[Longs]) -> Longs:
    """Where in the ordered rows a new chain begins."""
    if not len(order):
        return np.empty(0, np.int64)
    differs = np.zeros(len(order) - 1, np.bool_)
    for key in keys:
        differs |= key[order[1:]] != key[order[:-1]]
    return np.concatenate(([0], np.flatnonzero(differs) + 1))


def _place(starts: Longs, order: Longs, wanted: Mask, choose: np.ufunc) -> Longs:
    """The first (minimum) or last (maximum) wanted row of each chain, NONE without one."""
    absent = len(order) if choose is np.minimum else -1
    at: Longs = choose.reduceat(np.where(wanted, np.arange(len(order)), absent), starts)
    return np.where(at == absent, NONE, order[np.clip(at, 0, len(order) - 1)])


def _repeated(columns: HeldColumns, kind: Codes, order: Longs, starts: Longs) -> Ints:
    """Copies of the same kind and count that a chain has beyond the first: the same failure stored twice."""
    chain = np.repeat(np.arange(len(starts)), np.diff(np.concatenate((starts, [len(order)]))))
    times, of_kind = columns.reconsume_times[order], kind[order]
    by = np.lexsort((times, of_kind, chain))
    same = np.ones(max(0, len(by) - 1), np.bool_)
    for column in (chain, of_kind, times):
        same &= column[by[1:]] == column[by[:-1]]
    return np.bincount(chain[by[1:]][same], minlength=len(starts)).astype(np.int32)


def _origin_rows(columns: HeldColumns, first: Longs, origins: Held) -> Longs:
    """The message itself: the record that ORIGIN_MESSAGE_ID places, else the first with its id before the copies."""
    theirs, found = origins.columns, np.full(len(first), NONE, np.int64)
    if not origins.rows:
        return found
    order = np.lexsort((theirs.physical_offset, theirs.message))
    low = np.searchsorted(theirs.message[order], columns.message[first])
    at = np.minimum(low, len(order) - 1)
    is_it = theirs.message[order[at]] == columns.message[first]
    before = theirs.physical_offset[order[at]] < columns.physical_offset[first]
    found[is_it & before] = order[at][is_it & before]
    placed = columns.own[ORIGIN_OFFSET][first]
    exact = np.minimum(np.searchsorted(theirs.physical_offset, placed), origins.rows - 1)
    is_exact = (theirs.physical_offset[exact] == placed) & (theirs.message[exact] == columns.message[first])
    found[is_exact] = exact[is_exact]
    return found


def _states(
    held: Held, last_kind: Codes, last: Longs, dead: Longs, retry_topics: Mapping[int, RetryTopic], offsets: Offsets
) -> tuple[Codes, Codes]:
    """Where each chain stands, by its last copy and the group's offset on the queue of that; why where it is unknown.

    Of a popped queue the broker stores an offset once its checkpoint is stored, before anybody acknowledges
    (PopBufferMergeService#scanCommitOffset @5.3.3): there it tells nothing.
    """
    columns = held.columns
    state = np.full(len(last), RETRY_STATES.index(RetryState.UNKNOWN), np.int8)
    doubt = np.full(len(last), DOUBTS.index(Doubt.NO_OFFSET), np.int8)
    state[last_kind == WAIT] = RETRY_STATES.index(RetryState.WAITING)
    tried = np.flatnonzero(last_kind == RETRY)
    queues = np.column_stack((columns.topic[last[tried]], columns.queue_id[last[tried]]))
    for topic, queue_id in np.unique(queues, axis=0).tolist():
        key = (retry_topics[topic].group, held.topics[topic])
        offset = offsets.get(key, {}).get(queue_id)
        rows = tried[(queues == (topic, queue_id)).all(axis=1)]
        if retry_topics[topic].origin is not None:
            doubt[rows] = DOUBTS.index(Doubt.POPPED)
            continue
        if offset is None:
            continue
        is_past = columns.queue_offset[last[rows]] < offset
        state[rows] = np.where(is_past, RETRY_STATES.index(RetryState.CONSUMED), RETRY_STATES.index(RetryState.UNREAD))
    damaged_behind = held.damaged_behind()[last]
    state[damaged_behind] = RETRY_STATES.index(RetryState.UNKNOWN)
    doubt[damaged_behind] = DOUBTS.index(Doubt.DAMAGE)
    state[dead != NONE] = RETRY_STATES.index(RetryState.DEAD_LETTER)
    doubt[state != RETRY_STATES.index(RetryState.UNKNOWN)] = DOUBTS.index(Doubt.NONE)
    return state, doubt
