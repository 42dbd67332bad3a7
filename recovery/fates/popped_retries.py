"""Retries that a group pops: what revive log, consumerOrderInfo.json and kvStore say of the last one of each message.

Of a popped queue the stored offset tells only what was popped (see `pops`): from it on a message is unread, below it
its checkpoint, or its acknowledgement, tells. A pop that was acknowledged while the broker had its checkpoint in memory
leaves neither (PopBufferMergeService#scan @5.0.0, 5.3.3), so that without one nothing tells.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from parsers.kernels.arrays import Longs, Mask
from recovery.fates.held_kernel import NONE
from recovery.fates.pops import ACKED, IN_FLIGHT, QUEUE_SHIFT, UNMATCHED, StorePops
from recovery.fates.retries import DOUBTS, RETRY_STATES, Doubt, Offsets, Retries
from recovery.fates.states import RetryState
from recovery.scan.queue_rows import NO_ROWS

STATE_OF = {ACKED: RetryState.CONSUMED, UNMATCHED: RetryState.CONSUMED, IN_FLIGHT: RetryState.IN_FLIGHT}
"""What became of the pop -> where the message stands."""


def has_popped(found: Retries) -> bool:
    """Whether there is a message that only pops can tell of."""
    return bool((found.chains.doubt == DOUBTS.index(Doubt.POPPED)).any())


def with_pops(found: Retries, popped: StorePops, offsets: Offsets | None) -> Retries:
    """The retries, with where those stand that were popped."""
    state, doubt = found.chains.state.copy(), found.chains.doubt.copy()
    columns, last = found.held.columns, found.chains.last
    rows = np.flatnonzero(doubt == DOUBTS.index(Doubt.POPPED))
    for code in np.unique(columns.topic[last[rows]]).tolist():
        own = rows[columns.topic[last[rows]] == code]
        queue_id, queue_offset = columns.queue_id[last[own]].astype(np.int64), columns.queue_offset[last[own]]
        at = (queue_id << QUEUE_SHIFT) + queue_offset
        told = _state_at(at, *_of_topic(popped, found.held.topics[code]))
        stored = (offsets or {}).get((found.retry_topics[code].group, found.held.topics[code]), {})
        pulled_to = np.array([stored.get(each, NONE) for each in queue_id.tolist()], np.int64)
        is_unread = (told == NONE) & (pulled_to != NONE) & (queue_offset >= pulled_to)
        for is_one, becomes in _becoming(told, is_unread):
            state[own[is_one]] = RETRY_STATES.index(becomes)
            doubt[own[is_one]] = DOUBTS.index(Doubt.NONE)
    return replace(found, chains=found.chains._replace(state=state, doubt=doubt))


def _becoming(told: Longs, is_unread: Mask) -> Iterator[tuple[Mask, RetryState]]:
    """Which of the retries stand where."""
    yield is_unread, RetryState.UNREAD
    for popped, becomes in STATE_OF.items():
        yield told == popped, becomes


def _state_at(places: Longs, popped: Longs, states: Longs) -> Longs:
    """What became of the pop at each place; NONE where nothing was popped. `popped` rises."""
    if not len(popped):
        return np.full(len(places), NONE, np.int64)
    at = np.minimum(np.searchsorted(popped, places), len(popped) - 1)
    return np.where(popped[at] == places, states[at], NONE).astype(np.int64)


def _of_topic(popped: StorePops, topic: str) -> tuple[Longs, Longs]:
    """The places in one topic that were popped, each as one number, and what became of each pop."""
    entries, entry, stated = popped.log.entries, popped.found.entry, popped.stated
    told = (
        (
            popped.log.topics,
            entries.topic[entry],
            entries.queue_id[entry],
            entries.queue_offset[entry],
            popped.found.state,
        ),
        (stated.topics, stated.topic, stated.queue_id, stated.queue_offset, popped.stated_state),
    )
    places, states = [NO_ROWS], [NO_ROWS]
    for topics, code, queue_id, queue_offset, state in told:
        own = np.flatnonzero(code == topics.index(topic)) if topic in topics else NO_ROWS
        places.append((queue_id[own] << QUEUE_SHIFT) + queue_offset[own])
        states.append(state[own].astype(np.int64))
    order = np.argsort(np.concatenate(places), kind="stable")
    return np.concatenate(places)[order], np.concatenate(states)[order]
