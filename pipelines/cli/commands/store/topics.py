"""`rocketlens topics`: the lives of each topic: what was deleted, what was created again, what lives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pipelines.cli.frame.asked.options import STORE_FILES, BrokerOptions, StoreArgument, TopicLogsOption, TopicOption
from pipelines.cli.frame.call.beside.topic_logs import with_logs
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.opening import NOTHING_SAID, known_store_at
from pipelines.cli.frame.call.run import Run

if TYPE_CHECKING:
    from recovery.lives.life import TopicLife

COLUMNS = (
    "topic text, life i32, state text, first_physical_offset i64, end_physical_offset i64, queues i32, "
    "messages i64, bytes i64, earliest time_ms, latest time_ms, created time_ms, deleted time_ms, certain flag, "
    "evidence text"
)


@command("topics", panel=STORE_FILES)
def topics(
    run: Run,
    store: StoreArgument,
    topic: TopicOption = None,
    logs: TopicLogsOption = None,
    broker: BrokerOptions = NOTHING_SAID,
) -> None:
    """The lives of each topic that the log has messages of: a topic created again under its name counts from 0.

    `state`: alive; recreated, alive after a deletion; deleted; vanished: its queues are gone, and nothing shows that
    somebody deleted it. `certain` is false where the store does not decide it; `evidence` says by what. The messages of
    a life start at or after `first_physical_offset`, and end before `end_physical_offset`; they take `bytes` of the
    log, until its files expire. `created` and `deleted` are what --logs tells, the earliest instant of the line's
    second. Reads the whole log.

    Example: `rocketlens topics /data/store --format table`
    """
    from recovery.lives.topic_lives import lives_of

    opened, known = known_store_at(run, store, broker)
    found = lives_of(opened, known.rules, with_logs(run, known, logs).topic_events).topics
    run.emit_rows(COLUMNS, _rows(life for name in sorted(found) if topic in (None, name) for life in found[name]))


def _rows(lives: Iterator[TopicLife]) -> Iterator[dict[str, Any]]:
    for life in lives:
        yield {
            "topic": life.topic,
            "life": life.life,
            "state": life.state,
            "first_physical_offset": life.first_physical_offset,
            "end_physical_offset": life.end_physical_offset,
            "queues": len(life.queues),
            "messages": life.messages,
            "bytes": life.size_bytes,
            "earliest": life.earliest_ms,
            "latest": life.latest_ms,
            "created": life.logged.created_ms,
            "deleted": life.logged.deleted_ms,
            "certain": life.certain,
            "evidence": life.evidence,
        }
