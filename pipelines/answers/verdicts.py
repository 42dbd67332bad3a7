"""One verdict for each broker of a lake: its findings, what a start would lose, who is behind, and what to ask next."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pipelines.answers import losses
from pipelines.lake.configuration.sources import BrokerSource, Sources
from pipelines.lake.lake import Lake

SEVERITIES = ("critical", "error", "warning", "info")
WORST = f"""
SELECT broker, count(*) AS findings,
       arg_min({{'severity': severity, 'kind': kind, 'place': place}},
               list_position({list(SEVERITIES)}, severity)) AS worst
FROM consistency_findings GROUP BY broker
"""
BEHIND = """
SELECT broker, (sum(greatest(messages_behind, 0)) FILTER (messages_behind IS NOT NULL))::BIGINT AS messages_behind,
       CASE WHEN count(*) FILTER (coalesce(messages_behind, 1) > 0 AND seconds_behind IS NULL) = 0
            THEN max(seconds_behind) END AS seconds_behind,
       count(*) FILTER (messages_behind IS NULL) AS queues_unknown
FROM lag GROUP BY broker
"""
DISK = "SELECT broker, sum(size)::BIGINT AS bytes FROM store_files WHERE gone_at IS NULL GROUP BY broker"
FORECASTS = "SELECT broker, document FROM recovery_forecast"


@dataclass(frozen=True, slots=True)
class BrokerVerdict:
    """What the tables say of one broker. None: they do not say, for nothing was made of this store.

    Attributes:
        worst: severity, kind and place of the worst finding.
        forecast: the document of the start of the version that is said, or that the files suggest.
        queues_unknown: queues of groups whose lag is not known; `messages_behind` leaves them out.
        seconds_behind: the most of any queue; None where those of a queue that is behind are not known.
        disk_bytes: the sizes of the store's files.
    """

    broker: str
    store: str
    findings: int | None
    worst: Mapping[str, str] | None
    forecast: Mapping[str, Any] | None
    messages_behind: int | None
    seconds_behind: float | None
    queues_unknown: int
    disk_bytes: int | None

    @property
    def starts(self) -> bool | None:
        """Whether a start comes up."""
        return None if self.forecast is None else losses.starts(self.forecast)

    @property
    def loses(self) -> bool | None:
        """Whether a start loses anything, of the configuration too; None where that is not known."""
        return None if self.forecast is None else losses.loses(self.forecast)

    @property
    def lacks_files(self) -> bool:
        """Whether bytes of the log lie in no file, by the forecast: lost before the start."""
        return self.forecast is not None and bool(losses.missing(self.forecast))

    @property
    def lost(self) -> int | None:
        """Messages lost by a start; None where that is not known."""
        return None if self.forecast is None else losses.messages_lost(self.forecast)

    @property
    def lost_in_words(self) -> str | None:
        """Everything that a start loses, `nothing` or `not known`; None without a forecast."""
        return None if self.forecast is None else losses.lost_or_nothing(self.forecast)

    @property
    def next_command(self) -> str | None:
        """The command that says more of the worst that is known; None where nothing asks for one."""
        store = shlex.quote(self.store)
        if self.findings:
            return f"rocketlens verify {store}"
        if self.starts is False or self.loses or self.lacks_files:
            return f"rocketlens forecast {store}"
        return f"rocketlens lag {store}" if self.messages_behind or self.queues_unknown else None

    @property
    def unknown_queues(self) -> str | None:
        """How many queues of groups have no known lag, in words; None: all of them have one."""
        noun = "queue" if self.queues_unknown == 1 else "queues"
        return f"{self.queues_unknown} {noun} unknown" if self.queues_unknown else None

    def sentence(self) -> str:
        """The verdict for a person."""
        return f"{self.broker}: {self._findings()}; {self._start()}; {self._lag()}{self._next()}"

    def damage(self) -> str:
        """What is wrong with the files, without what changes from minute to minute."""
        return f"{self._findings()}; {self._start()}{self._next()}"

    def _next(self) -> str:
        return f"; next: `{self.next_command}`" if self.next_command else ""

    def _findings(self) -> str:
        if self.findings is None:
            return "its files were not compared"
        if not self.findings or self.worst is None:
            return "its files agree"
        worst = self.worst
        count = f"{self.findings:,} finding{'' if self.findings == 1 else 's'}"
        return f"{count}, worst {worst['severity']} {worst['kind']} ({worst['place']})"

    def _start(self) -> str:
        if self.forecast is None:
            return "no forecast was made"
        if self.starts is False:
            return "a start would not come up"
        if self.loses is None:
            return "what a start would lose is not known"
        return f"a start would lose {self.lost_in_words}" if self.loses else f"a start loses {self.lost_in_words}"

    def _lag(self) -> str:
        known = None if self.messages_behind is None else f"{self.messages_behind:,} messages behind"
        why = "" if self.findings is None else ": no offsets of groups were found"
        return ", ".join(filter(None, (known, self.unknown_queues))) or f"lag unknown{why}"


def verdicts_of(lake: Lake, sources: Sources) -> list[BrokerVerdict]:
    """A verdict for each broker of the configuration, in its order.

    The lake has the files of a store that is gone, and neither findings nor a forecast: a broker whose start was
    forecast was also verified.
    """
    compared = lake.version("consistency_findings") is not None
    with lake.asked_often():
        worst, behind, disk = (_by_broker(lake, sql) for sql in (WORST, BEHIND, DISK))
        forecasts = forecasts_of(lake)
    return [
        _verdict(
            broker,
            worst.get(broker.name, {"findings": 0 if compared and broker.name in forecasts else None}),
            behind.get(broker.name, {}),
            disk.get(broker.name, {}),
            forecasts.get(broker.name),
        )
        for broker in sources.brokers
    ]


def forecasts_of(lake: Lake) -> dict[str, Mapping[str, Any]]:
    """Broker -> the forecast of its version; where several are kept, that of the version which the files suggest."""
    told: dict[str, Mapping[str, Any]] = {}
    for row in lake.query(FORECASTS).to_pylist():
        document = json.loads(row["document"])
        if row["broker"] not in told or document["otherwise"]:
            told[row["broker"]] = document
    return told


def _verdict(
    broker: BrokerSource,
    worst: Mapping[str, Any],
    behind: Mapping[str, Any],
    disk: Mapping[str, Any],
    forecast: Mapping[str, Any] | None,
) -> BrokerVerdict:
    return BrokerVerdict(
        broker=broker.name,
        store=broker.place,
        findings=worst["findings"],
        worst=worst.get("worst"),
        forecast=forecast,
        messages_behind=behind.get("messages_behind"),
        seconds_behind=behind.get("seconds_behind"),
        queues_unknown=behind.get("queues_unknown", 0),
        disk_bytes=disk.get("bytes"),
    )


def _by_broker(lake: Lake, sql: str) -> dict[str, Mapping[str, Any]]:
    return {row["broker"]: row for row in lake.query(sql).to_pylist()}
