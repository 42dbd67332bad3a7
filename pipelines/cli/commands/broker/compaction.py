"""`rocketlens compaction`: the copies of compacted topics, and what their next pass would drop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from parsers.values.java import LONG_MAX
from pipelines.cli.frame.asked.options import BROKER, BrokerOptions, QueueOptions, StoreArgument
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.opening import known_store_at
from pipelines.cli.frame.call.run import Run
from pipelines.cli.frame.errors import WrongUsage

if TYPE_CHECKING:
    import pyarrow as pa

    from pipelines.answers.derived.compaction_rows import CompactedQueue

BRIEF = ("topic", "queue_id", "min_queue_offset", "max_queue_offset", "messages", "next_pass_drops", "reason")


@command("compaction", panel=BROKER)
def compaction(
    run: Run,
    store: StoreArgument,
    wanted: QueueOptions,
    *,
    messages: Annotated[
        bool, typer.Option("--messages", help="One row per message instead, in the order consumers are given them.")
    ] = False,
    from_offset: Annotated[
        int | None,
        typer.Option("--from", metavar="N", min=0, max=LONG_MAX, help="With --messages: as pulls from N on."),
    ] = None,
    broker: BrokerOptions,
) -> None:
    """Copies of compacted topics (cleanup.policy=COMPACTION): what consumers get, what the next pass drops.

    Pulls of such a topic go to the copy; lag, searches by time and every other question go to the ordinary queue.
    `served` is false where the topic is not compacted (any more), null where config/topics.json is not there.
    `compacted_to` is the last queue offset that a pass took in. A pass never reads the last file; of the others it
    keeps the newest message of each key, and none without a body. `reason` says why it would change nothing, or what
    it hangs on. Offsets are those after a start.

    Example: `rocketlens compaction /data/store --topic Latest --messages --from 120`
    """
    from pipelines.answers.derived.compaction_rows import MESSAGE_SCHEMA, QUEUE_SCHEMA, compacted_queues, served_topics

    if from_offset is not None and not messages:
        raise WrongUsage("compaction: --from says where pulls of --messages begin; name both")
    opened, known = known_store_at(run, store, broker, in_part=True)
    found = compacted_queues(opened, known, run.damage, topic=wanted.topic, queue=wanted.queue)
    if messages:
        run.emit(MESSAGE_SCHEMA, _messages(run, found, from_offset or 0))
        return
    served = served_topics(opened, known.settings, run.damage)
    rows = (one.row(None if served is None else one.key[0] in served) for one in found)
    run.emit_rows(QUEUE_SCHEMA, rows, brief=BRIEF)


def _messages(run: Run, found: Iterator[CompactedQueue], from_offset: int) -> Iterator[pa.RecordBatch]:
    for one in found:
        yield from one.messages(from_offset, run.note)
