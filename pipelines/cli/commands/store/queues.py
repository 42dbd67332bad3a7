"""`rocketlens queues`: what each queue holds, as the broker would say."""

from __future__ import annotations

from pipelines.cli.frame.asked.options import STORE_FILES, BrokerOptions, QueueOptions, StoreArgument
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.opening import known_store_at, note_static_topics
from pipelines.cli.frame.call.run import Run

COLUMNS = (
    "topic text, queue_id i32, min_queue_offset i64, max_queue_offset i64, max_physical_offset i64, units i64, "
    "files i32, messages i64, reason text"
)


@command("queues", panel=STORE_FILES)
def queues(run: Run, store: StoreArgument, wanted: QueueOptions, broker: BrokerOptions) -> None:
    """Per topic and queue: offsets, messages, files.

    Offsets are those that the broker answers once it is started. Until its cleaner has run, the minimum of a queue
    whose first file leads to deleted messages alone is 0; before 5.0.0 it stays 0 for a queue without any message left.
    A queue of batches whose first file holds none has the minimum -1, as its broker says.
    `messages` are those a consumer can still read; `units` includes the ones whose record is deleted.
    `max_physical_offset` is the CommitLog byte after the queue's last message; unknown without units.
    Where the log is not found, the queue files alone answer (exit code 4), and `reason` says why figures are unknown.

    Example: `rocketlens queues /data/store --topic Orders`
    """
    from pipelines.answers.derived.queue_figures import queue_figures

    opened, known = known_store_at(run, store, broker, in_part=True)
    note_static_topics(run, opened)
    run.emit_rows(COLUMNS, queue_figures(opened, known.version, run.damage, topic=wanted.topic, queue=wanted.queue))
