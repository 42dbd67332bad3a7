"""What brokers and consumers count in their logs: stats.log, watermark.log, logs of consumers. A row for each line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import isfinite
from pathlib import Path

from pipelines.recordings.kinds import CLIENT_STEMS, logs_among
from pipelines.recordings.lines import Problem, lines_of
from rebalance.readers.logs.lines.reader import LogEvent, LogReader
from rebalance.readers.logs.templates.stats import STATISTICS

COUNTING_STEMS = {"stats", "watermark"}
_NAMES = {name.lower(): name for name in STATISTICS}
NOT_AVERAGED = "BROKER_"
"""Statistics of a whole broker that are summed only: the average that is written beside them says nothing."""


def counting_logs(given: Iterable[Path]) -> list[Path]:
    """The logs that count among files and folders, each once; a file that is named itself is one by whatever name.

    Raises:
        FileNotFoundError: a path that is not there.
    """
    return logs_among(given, COUNTING_STEMS | CLIENT_STEMS, or_named=True)


def counted_rows(paths: Sequence[Path], problem: Problem) -> Iterator[dict[str, object]]:
    """Rows of `replay --show counted`, file by file; a watermark of nothing that waits is no row."""
    for path in paths:
        for event in LogReader().events(lines_of(path, problem)):
            name = _NAMES.get(event.template.name)
            row = None if name is None else _row(name, event)
            if row is not None:
                yield {**row, "evidence": f"{path}:{event.record}"}


def _row(name: str, event: LogEvent) -> dict[str, object] | None:
    fields = event.named_fields
    topic, queue_id, group = _counted_of(fields)
    total, waited_ms = _whole(fields.get("sum")), _whole(fields.get("waited_ms"))
    if name == "WATERMARK" and not total and not waited_ms:
        return None
    average = None if name.startswith(NOT_AVERAGED) else _decimal(fields.get("average"))
    return {
        "at": None if event.early_ms else event.at_ms,
        "statistic": name,
        "topic": topic,
        "queue_id": queue_id,
        "group": group,
        "subject": fields.get("subject") or fields.get("pool"),
        "span": fields.get("span"),
        "sum": total,
        "times": _whole(fields.get("times")),
        "per_second": _decimal(fields.get("per_second")),
        "average": average,
        "waited_ms": waited_ms,
        "means": STATISTICS[name].means,
    }


def _counted_of(fields: dict[str, str]) -> tuple[str | None, int | None, str | None]:
    """Topic, queue and group of a line; a queue below 0 is any queue, as a pop asks for."""
    topic, queue, group = fields.get("topic"), fields.get("queue_id"), fields.get("group")
    of_group = fields.get("topic_at_group")
    if "queue_of_group" in fields:
        queue, _, of_group = fields["queue_of_group"].partition("@")
    if of_group is not None:
        topic, _, group = of_group.rpartition("@")
    queue_id = _whole(queue)
    return topic, queue_id if queue_id is not None and 0 <= queue_id < 1 << 31 else None, group


def _whole(text: str | None) -> int | None:
    return None if text is None else int(text)


def _decimal(text: str | None) -> float | None:
    """A number with two decimals, by the locale of the process that wrote it; None for the NaN of a first sample."""
    value = float("nan" if text is None else text.replace(",", "."))
    return value if isfinite(value) else None
