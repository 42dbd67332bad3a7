"""Rows of a table of messages or units, by the queue that they are of."""

from __future__ import annotations

import numpy as np

from parsers.kernels.arrays import Ints, Longs

NO_ROWS: Longs = np.empty(0, np.int64)


def queue_rows(topic: Ints | Longs, queue_id: Ints | Longs) -> dict[tuple[int, int], Longs]:
    """(topic code, queue id) -> its rows in rising order; the queues in rising order, too."""
    order = np.lexsort((queue_id, topic))
    if not len(order):
        return {}
    topics, queue_ids = topic[order], queue_id[order]
    differs = (np.diff(topics) != 0) | (np.diff(queue_ids) != 0)
    firsts = np.concatenate(([0], np.flatnonzero(differs) + 1))
    keys = zip(topics[firsts].tolist(), queue_ids[firsts].tolist(), strict=True)
    return dict(zip(keys, np.split(order, firsts[1:]), strict=True))


def topic_rows(topic: Ints | Longs) -> dict[int, Longs]:
    """Topic code -> its rows in rising order; the topics in rising order, too."""
    return {code: rows for (code, _), rows in queue_rows(topic, np.zeros_like(topic)).items()}
