"""Since when an offset stands: only what was committed at the store's own broker counts."""

from __future__ import annotations

from pipelines.answers.backlog.standing import stands_since
from pipelines.answers.offsets.heard_lines import OffsetLines
from pipelines.answers.offsets.saved import OffsetsAt
from rebalance.facts import OffsetCommitted
from rebalance.model.message_queue import MessageQueue

QUEUE = ("G", "Orders", 0)
STORED = OffsetsAt(9_000, {("G", "Orders"): {0: 50}})


def since(*told: tuple[str, int, int]) -> dict[tuple[str, str, int], int]:
    """By commits at brokers: (broker, epoch ms, offset)."""
    lines = OffsetLines()
    for broker, at_ms, offset in told:
        queue = MessageQueue("Orders", broker, 0)
        fact = OffsetCommitted(
            at_ms=at_ms, source=broker, group="G", remote="10.0.0.1:7", queue=queue, queue_offset=offset
        )
        lines.captured(fact)
    return stands_since(STORED, (), lines.record().commits_of(["broker-a"]))


def test_an_offset_stands_since_the_first_of_its_equal_commits() -> None:
    assert since(("broker-a", 1_000, 40), ("broker-a", 2_000, 50), ("broker-a", 3_000, 50)) == {QUEUE: 2_000}


def test_commits_to_the_queue_of_the_same_number_at_another_broker_do_not_count() -> None:
    assert since(("broker-b", 1_000, 50), ("broker-a", 3_000, 50)) == {QUEUE: 3_000}
    assert since(("broker-a", 2_000, 50), ("broker-b", 3_000, 70)) == {QUEUE: 2_000}
    assert since(("broker-b", 1_000, 50)) == {}
