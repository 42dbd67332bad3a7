"""Places of messages in a light queue, told by its units."""

import numpy as np
import pytest

from recovery.verify.checks.queue.compared import QueueMessages, QueueUnits
from recovery.verify.checks.queue.light import as_appended

STRANGE = 1_000_000
"""Physical offset of units that lead to no message of the queue."""


def _places(listed: list[int], led_to: list[int]) -> list[int]:
    """Places of messages that list these offsets; message 5 lies at 500.

    Args:
        led_to: the message that each unit leads to, -1 for one of another queue.
    """
    physical, size = 100 * np.arange(len(listed)), np.full(len(listed), 100)
    messages = QueueMessages(np.array(listed), physical, size, size)
    led, unit_size = np.array(led_to), np.full(len(led_to), 100)
    offsets = np.where(led < 0, STRANGE, 100 * led)
    units = QueueUnits(np.arange(len(led)), offsets, unit_size, unit_size)
    return as_appended(messages, units).queue_offset.tolist()


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
