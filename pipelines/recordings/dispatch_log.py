"""What a broker's log says once a minute of its dispatch: how many bytes of the log are not in their queues yet.

Source: BrokerController#initialize @4.2.0, 4.9.7, #initializeBrokerScheduledTasks @5.3.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.recordings.kinds import log_stem
from pipelines.recordings.listening import Listener, Take
from pipelines.recordings.recordings import Recording

if TYPE_CHECKING:
    from rebalance.readers.logs.lines.reader import LogEvent

MOST_DIGITS = 18


class DispatchLines(Listener):
    """`behind`: (epoch ms, bytes) of each line of a broker's log, in the order of the logs."""

    def __init__(self) -> None:
        self.behind: list[tuple[int, int]] = []

    def log(self, recording: Recording) -> Take | None:
        return self._take if log_stem(recording.paths[0]) == "broker" else None

    def _take(self, event: LogEvent) -> None:
        if event.template.name == "dispatch_behind":
            count = event.named_fields["count"]
            if count.isdigit() and len(count) <= MOST_DIGITS:
                self.behind.append((event.at_ms, int(count)))
