"""What a broker's log says once a minute of its dispatch: how many bytes of the log are not in their queues yet.

Source: BrokerController#initialize @4.2.0, 4.9.7, #initializeBrokerScheduledTasks @5.3.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.recordings.listening import Listener, Take
from pipelines.recordings.recordings import Recording
from pipelines.recordings.store_broker import one_of

if TYPE_CHECKING:
    from rebalance.readers.logs.lines.reader import LogEvent

MOST_DIGITS = 18


class DispatchLines(Listener):
    """`by_broker`: (epoch ms, bytes) of each line of a broker's log, in the order of the logs."""

    def __init__(self) -> None:
        self.by_broker: dict[str, list[tuple[int, int]]] = {}

    def log(self, recording: Recording) -> Take | None:
        if recording.stem != "broker":
            return None
        behind = self.by_broker.setdefault(recording.source, [])

        def take(event: LogEvent) -> None:
            if event.template.name == "dispatch_behind":
                count = event.named_fields["count"]
                if count.isdigit() and len(count) <= MOST_DIGITS:
                    behind.append((event.at_ms, int(count)))

        return take

    def of_broker(self, name: str | None) -> list[tuple[int, int]]:
        """Of the one broker whose logs are there; where they are of several, of the one of this name."""
        return self.by_broker.get(one_of(self.by_broker, name) or "", [])
