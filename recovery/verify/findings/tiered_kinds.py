"""Kinds of findings about the hand-over of queues to a tiered store."""

from __future__ import annotations

from recovery.verify.findings.kind import Kind

TIERED_KINDS: dict[str, Kind] = {
    "tiered_queue_behind": Kind(
        "error",
        "unknown",
        "The broker deleted messages of the queue that it had not handed to its tiered store.",
        "With its tiered store on it deletes everything that the tiered store has of this queue, and begins anew near "
        "the queue's end.",
        "Start no broker of this store with its tiered store on (tieredBackendServiceProvider, messageStorePlugIn) "
        "before the queue's segments are copied, or are known not to be wanted.",
    ),
    "tiered_queue_ahead": Kind(
        "warning",
        "unknown",
        "The tiered store has messages that the broker's queue ends before: the broker lost them after it had handed "
        "them over.",
        "It hands over nothing of this queue until the queue is longer than what was handed over; the messages that "
        "get these numbers until then are never handed over.",
        "Read these messages from the tiered store's segments before they expire there, and send those again that are "
        "wanted.",
    ),
}
