"""Places of messages in a light queue, told by its units."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from recovery.scan.intervals import Intervals
from recovery.verify.checks.queue.compared import QueueMessages, QueueUnits
from recovery.verify.checks.queue.light import appended_around
from recovery.verify.verify import verify
from tests.support.build_store import SETTINGS, VERSION, StoreBuilder
from tests.support.copies import copy_tree
from tests.support.opened import opened
from tests.support.stores import store_root

STRANGE = 1_000_000
"""Physical offset of units that lead to no message of the queue."""


def _places(listed: list[int], led_to: list[int], lost: int = -1) -> list[int]:
    """Places of messages that list these offsets; message 5 lies at 500.

    Args:
        led_to: the message that each unit leads to, -1 for one of another queue.
        lost: the message that the log lost.
    """
    physical, size = 100 * np.arange(len(listed)), np.full(len(listed), 100)
    messages = QueueMessages(np.array(listed), physical, size, size)
    led, unit_size = np.array(led_to), np.full(len(led_to), 100)
    offsets = np.where(led < 0, STRANGE, 100 * led)
    units = QueueUnits(np.arange(len(led)), offsets, unit_size, unit_size)
    left = QueueMessages._make(column[physical != 100 * lost] for column in messages)
    return appended_around(left, units, Intervals.of([(100 * lost, 100 * lost + 1)])).queue_offset.tolist()


@pytest.mark.parametrize("kept", [0, 12])
def test_units_of_another_queue_give_no_message_a_negative_place(kept: int) -> None:
    """The queue's first file is another queue's, of which two units lead to two neighbours of this queue's messages."""
    numbers = list(range(24))
    led_to = [-1, 20, 21] + [-1] * 9 + numbers[12:][:kept]

    assert _places(numbers, led_to) == numbers


def test_offsets_that_began_anew_leave_the_earlier_messages_theirs() -> None:
    """The queue was lost after 10 messages; message 15 of its next life lists 5, and offset 7 was never dispatched."""
    listed = [*range(10), *range(7), *range(8, 12)]

    assert _places(listed, list(range(10, 21))) == [*range(10), *range(11)]


def test_holes_in_the_listed_offsets_are_closed() -> None:
    listed = [*range(6), *range(8, 14)]

    assert _places(listed, list(range(12))) == list(range(12))


def test_units_in_another_queue_do_not_stand_for_the_light_queues_own(tmp_path: Path) -> None:
    """The files of a light queue and of an ordinary one are each in the other's place; the light queue is longer."""
    settings = SETTINGS.with_config({"enableMultiDispatch": "true", "enableLmq": "true"})
    builder = StoreBuilder(tmp_path / "store", settings=settings)
    for number in range(8):
        builder.put(properties=(("INNER_MULTI_DISPATCH", "%LMQ%one"), ("INNER_MULTI_QUEUE_OFFSET", str(number))))
    for _ in range(3):
        builder.put("Payments")
    root = builder.finish()
    light, ordinary = (root / "consumequeue" / topic / "0" / f"{0:020d}" for topic in ("%LMQ%one", "Payments"))
    content, other = light.read_bytes(), ordinary.read_bytes()
    light.write_bytes(other)
    ordinary.write_bytes(content)

    findings = verify(*opened(root, VERSION, settings)).findings

    said = {(found.span.topic, found.kind, found.span.queue_offset, found.count) for found in findings}
    assert said == {
        ("%LMQ%one", "unit_of_other_message", 0, 3),
        ("%LMQ%one", "not_dispatched", 3, 5),
        ("Payments", "unit_of_other_message", 0, 8),
    }
    assert {place.file for found in findings for place in found.places if "Orders" in place.file} == set()


@pytest.mark.parametrize("lost", [4, 8, 10])
def test_a_message_that_the_log_lost_moves_none_after_it(lost: int) -> None:
    numbers = list(range(3, 15))

    assert _places(numbers, list(range(12)), lost) == [number for number in range(12) if number != lost]


@pytest.mark.parametrize("setting", ["enableLmq", "enableMultiDispatch"])
def test_settings_that_give_light_queues_nothing_are_one_finding_where_a_store_holds_some(setting: str) -> None:
    root = store_root("5.3.3-lmq")
    (found,) = verify(*opened(root, VERSION, config={setting: "false"})).findings
    assert (found.kind, found.count) == ("light_queues_off", 4)


def test_offsets_of_a_broker_with_light_queues_show_it_without_a_file_of_such_a_queue(tmp_path: Path) -> None:
    """The database beside the queue files has its light queues: consumerOffset.json is not missing, it never was."""
    root = tmp_path / "store"
    copy_tree(store_root("5.3.3-lmq"), root)
    for folder in (root / "consumequeue").glob("%LMQ%*"):
        shutil.rmtree(folder)
    assert opened(root)[1].settings.enable_lmq
    (root / "config" / "consumerOffset.json").write_text('{"offsetTable":{}}')
    assert not opened(root)[1].settings.enable_lmq
