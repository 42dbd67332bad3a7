"""CONFIG: a fixed list, whoever asks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rebalance.model.message_queue import MessageQueue


@dataclass(frozen=True, slots=True)
class ByConfig:
    """AllocateMessageQueueByConfig: every input is ignored, nothing is checked.

    Example: list set to queue 3 -> queue 3, for every client, topic and group.
    Invariant: the answer never depends on an argument, so a queue may have many owners or none.
    Source: AllocateMessageQueueByConfig#allocate. A list never set is null and stays null.
    """

    message_queue_list: tuple[MessageQueue, ...] | None = None
    name: str = "CONFIG"

    def allocate(
        self, group: str, current_cid: str | None, mq_all: Sequence[MessageQueue] | None, cid_all: Sequence[str] | None
    ) -> list[MessageQueue] | None:
        """See `Strategy.allocate`."""
        return None if self.message_queue_list is None else list(self.message_queue_list)
