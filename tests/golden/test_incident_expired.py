"""Queues whose messages have all expired: a rebuild from the log cannot go on with their numbers, and says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from recovery.rebuild.rebuild import rebuild
from tests.support.incidents import incident, incident_names
from tests.support.opened import opened


@pytest.mark.parametrize("name", incident_names("offsets-reset"))
def test_rebuild_names_the_queues_that_have_no_message_left(name: str, tmp_path: Path) -> None:
    case = incident(name)
    report = rebuild(*opened(case.root, case.version), tmp_path / "new")
    rebuilt = {(queue.topic, queue.queue_id) for queue in report.queues}
    ends = {(row["topic"], row["queueId"], row["maxOffset"]) for row in case.lines("queues.jsonl.gz")}
    gone = {end for end in ends if end[2] and end[:2] not in rebuilt}
    assert gone
    assert {(queue.topic, queue.queue_id, queue.next_queue_offset) for queue in report.expired} == gone
