"""Whether the store is sound, what the next start makes of it, and what can be rebuilt."""

from __future__ import annotations

from pathlib import Path

from rocketlens.document import Document
from rocketlens.forecast import Forecast, forecast_of
from rocketlens.gathered import Instant, Place, at_hand, document_of, instant
from rocketlens.retention import Retention, look_ahead
from rocketlens.rows import Rows
from rocketlens.stores.asked import Asked


class Care(Asked):
    """Questions about the state of the store."""

    def verify(self, *, deep: bool = False) -> Rows:
        """Where the files of the store disagree, worst first; a clean store has no rows (`verify`).

        Args:
            deep: decompress every compressed body as well.

        >>> len(store.verify())
        0
        """
        return self._rows("verify", deep=deep, logs=self._logs)

    def forecast(self) -> Forecast:
        """What this broker would do with these files if it were started now; nothing is touched (`forecast`).

        >>> store.forecast()["commitlog"]["max_physical_offset"]
        3948232
        """
        return forecast_of(self.path, self._broker, self._logs)

    def upgrade(self, to: str, *, rules: bool = False) -> Rows:
        """What changes for this store and its groups when a broker of version `to` starts on it (`upgrade`).

        Args:
            rules: also every declared rule that differs.

        >>> store.upgrade("5.5.0")["after"][0]
        'comes up'
        """
        return self._rows("upgrade", to=to, rules=rules)

    def rebuild(self, to: Place) -> Document:
        """Write ConsumeQueue and index from the CommitLog alone into the new folder `to`, and report (`rebuild`).

        >>> store.rebuild("rebuilt")["units"]
        6114
        """
        from pipelines.cli.commands.broker.rebuild import rebuild

        return document_of(rebuild, self._broker, store=self.path, to=Path(to), logs=self._logs)

    def retention(self, *, now: Instant | None = None) -> Retention:
        """Which files the broker's cleaners would delete when, and whose unread messages with them (`retention`).

        Args:
            now: look ahead from there; without it, from this moment.

        >>> ahead = store.retention(now="2026-11-22T00:00:00Z")
        >>> len(ahead.files), sum(ahead.at_risk["unread_messages"][i] or 0 for i in range(len(ahead.at_risk)))
        (4, 880)
        """
        return look_ahead(self.path, self._broker, instant(now))

    def last_written(self) -> int:
        """When the log was last written to, epoch milliseconds by the times of its files; 0 without any.

        >>> store.last_written() > 0
        True
        """
        from recovery.knowledge.knowledge import open_known

        with at_hand(self.path) as folder:
            log = open_known(folder, self.said).commitlog
        return max((file.mtime_ns // 1_000_000 for file in log), default=0)
