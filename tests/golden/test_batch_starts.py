"""Starts of damaged stores with queues of type BatchCQ: what the store classes of 5.3.3 did, and what we play."""

from __future__ import annotations

import pytest

from recovery.forecast.forecast import forecast
from tests.support.opened import opened
from tests.support.recovery_cases import batch_cases
from tests.support.recovery_judge import judge

CASES = batch_cases()
LOSING = ("batch.unit_zeroed clean", "batch.field clean")


@pytest.mark.parametrize("name", CASES.names())
def test_every_field_that_is_decided_is_as_the_store_classes_have_it(name: str) -> None:
    fields, wrong = judge(CASES, name)
    assert "quiet.queues" in fields or CASES.case(name)["damageClass"] == "batch.file_cut"
    assert wrong == {}


@pytest.mark.parametrize("description", LOSING)
def test_a_queue_that_ends_at_a_damaged_unit_goes_on_with_a_lower_number(description: str) -> None:
    """And the message that the next one takes the number of has no unit."""
    name = next(name for name in CASES.names() if CASES.case(name)["description"] == description)
    case = CASES.case(name)
    with CASES.built(case) as root:
        told = forecast(*opened(root, case["version"], config=case["configOverrides"]))
    lower = {f"{each.topic}-{each.queue_id}": each.next_queue_offset for each in told.renumbered}
    table = case["truth"]["quiet"]["topicQueueTable"]
    assert lower == {queue: table[queue] for queue in lower}
    lost = {
        (loss.topic, loss.queue_id): loss.queue_offset for loss in reversed(list(told.lost)) if loss.what != "message"
    }
    of_batches = {f"{topic}-{queue_id}": number for (topic, queue_id), number in lost.items()}
    assert lower == of_batches
    assert len(lower) == 1
