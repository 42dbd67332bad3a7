"""`rocketlens start-at`: where a group without a stored offset would begin on each queue of a topic."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from pipelines.cli.frame.command import command
from pipelines.cli.frame.opening import NOTHING_SAID, known_store_at
from pipelines.cli.frame.options import BROKER, BrokerOptions, InstantOption, StoreArgument, instant_of
from pipelines.cli.frame.run import Run
from recovery.query.group_start import Policy


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "start-at", panel=BROKER)(start_at)


def start_at(
    run: Run,
    store: StoreArgument,
    topic: Annotated[str, typer.Option(metavar="T", help="The topic that the group subscribes to.")],
    policy: Annotated[
        Policy, typer.Option("--from", help="The client's ConsumeFromWhere: last, first or timestamp.")
    ] = Policy.LAST,
    timestamp: InstantOption = None,
    memory: Annotated[
        int | None, typer.Option(metavar="BYTES", min=0, help="Memory of the broker's machine (before 5.1.0).")
    ] = None,
    broker: BrokerOptions = NOTHING_SAID,
) -> None:
    """Where a push consumer of a group that has no offset yet begins on each queue, and what it then never gets.

    The broker answers 0 for a queue that still begins at 0, as long as it takes the first message to be in memory; else
    the client's policy decides. `earliest` and `latest` are the same where the files decide it; `never_delivered`
    messages are skipped at most.

    Example: `rocketlens start-at /data/store --topic Orders --memory 17179869184 --version 4.9.7`
    """
    import pyarrow as pa

    from pipelines.answers.offsets.ends import Ends
    from recovery.query.group_start import QueueNow, group_start
    from recovery.scan.log_access import LogAccess

    opened, known = known_store_at(run, store, broker, names_version=True)
    at_ms = None if timestamp is None else instant_of(timestamp, "--timestamp")
    numbers = ("min_queue_offset", "max_queue_offset", "earliest", "latest", "never_delivered")
    schema = pa.schema(
        [
            ("topic", pa.string()),
            ("queue_id", pa.int32()),
            *((name, pa.int64()) for name in numbers),
            ("certain", pa.bool_()),
            ("reason", pa.string()),
        ]
    )
    log = LogAccess(opened.commitlog)

    def rows() -> Iterator[dict[str, Any]]:
        from parsers.queues import StoreQueues

        with StoreQueues(opened, on_damage="collect", damage=run.damage) as queues:
            ends = Ends(queues, log)
            last = (queue.last_pointer() for queue in queues.values())
            log_end = max((sum(pointer) for pointer in last if pointer is not None), default=0)
            for (name, queue_id), queue in queues.items():
                limits = ends.limits(name, queue_id, known.version)
                if name != topic or limits is None:
                    continue
                first = queue.pointer(0)
                place = None if first is None else first.physical_offset
                found = None if at_ms is None else ends.at(name, queue_id, at_ms - 1)
                now = QueueNow(name, *limits, place, log_end, found)
                start = group_start(now, policy, known.version, memory)
                yield {
                    "topic": name,
                    "queue_id": queue_id,
                    "min_queue_offset": limits[0],
                    "max_queue_offset": limits[1],
                    "earliest": start.earliest,
                    "latest": start.latest,
                    "never_delivered": start.never_delivered,
                    "certain": start.certain,
                    "reason": start.reason,
                }

    run.emit_rows(schema, rows())
