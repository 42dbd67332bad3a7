"""The metadata of a tiered store against the broker's queues: what its next hand-over does to each queue there.

Source: MessageStoreDispatcherImpl#doScheduleDispatch, FlatFileStore#destroyFile @5.3.0 … 5.3.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from parsers.tiered.metadata import FILE, TieredMetadata
from recovery.tiered.queues import told_queues
from recovery.verify.findings.finding import Finding, Place, Span

BEHIND, AHEAD = "tiered_queue_behind", "tiered_queue_ahead"


def check_tiered(metadata: TieredMetadata, ends: Mapping[tuple[str, int], tuple[int, int]]) -> Iterator[Finding]:
    """A finding for each queue of the tiered store that ends before the broker's own begins, or after its end.

    Args:
        ends: first message number that still exists and the next one to come, by queue. Of a queue without, nothing is
            said: a topic that was deleted keeps its segments until they expire.
    """
    for state in told_queues(metadata):
        first, following = ends.get((state.topic, state.queue_id), (None, None))
        if first is None or following is None or state.handed_to is None:
            continue
        is_behind = state.handed_to < first
        begin, end = (state.handed_to, first) if is_behind else (following, state.handed_to)
        if begin < end:
            yield Finding(
                BEHIND if is_behind else AHEAD,
                Span(state.topic, state.queue_id, begin, end),
                (Place(f"config/{FILE}", 0, 0),),
                end - begin,
                (f"tiered store: messages up to {state.handed_to}", f"consumequeue: {first} to {following}"),
            )
