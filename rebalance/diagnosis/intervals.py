"""The rows of `ownership_intervals`: from when to when a client had a queue, and why."""

from __future__ import annotations

from rebalance.diagnosis.cause import sentence
from rebalance.diagnosis.causes import RoundCauses
from rebalance.model.frozen import frozen
from rebalance.ownership.history import GroupHistory
from rebalance.tenures.queue_table import Tenure


@frozen()
class OwnershipInterval:
    """One row: a client owned a queue from somewhere in the begin window to somewhere in the end window (epoch ms;
    None: open).
    """

    group: str
    topic: str
    broker: str
    queue_id: int
    client_id: str
    process: int
    begin_earliest: int | None
    begin_latest: int
    end_earliest: int
    end_latest: int | None
    start_queue_offset: int | None
    cause: str
    end_cause: str
    evidence: str
    end_evidence: str


def intervals_of(history: GroupHistory, causes: RoundCauses) -> list[OwnershipInterval]:
    """Rows in queue order, then by begin."""
    return [
        _interval(history.group, tenure, sentence(causes.of_begin(tenure)), sentence(causes.of_end(tenure)))
        for held in history.by_queue.values()
        for tenure in held
    ]


def _interval(group: str, tenure: Tenure, cause: str, end_cause: str) -> OwnershipInterval:
    topic, broker, queue_id = tenure.queue
    client_id, number = tenure.life.key
    return OwnershipInterval(
        group,
        topic,
        broker,
        queue_id,
        client_id,
        number,
        tenure.begin_earliest,
        tenure.begin_latest,
        tenure.end_earliest,
        tenure.end_latest,
        tenure.start_queue_offset,
        cause,
        end_cause,
        str(tenure.begin_evidence),
        str(tenure.end_evidence),
    )
