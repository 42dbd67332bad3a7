"""`rocketlens start-at`: where a group without a stored offset would begin on each queue of a topic."""

from __future__ import annotations

from typing import Annotated

import typer

from pipelines.cli.frame.asked.options import BROKER, BrokerOptions, StoreArgument, instant_of, instant_option
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.opening import NOTHING_SAID, known_store_at
from pipelines.cli.frame.call.run import Run
from pipelines.cli.frame.errors import WrongUsage
from recovery.query.group_start import Policy


@command("start-at", panel=BROKER)
def start_at(
    run: Run,
    store: StoreArgument,
    topic: Annotated[str, typer.Option(metavar="T", help="The topic that the group subscribes to.")],
    policy: Annotated[
        Policy, typer.Option("--from", help="The client's ConsumeFromWhere: last, first or timestamp.")
    ] = Policy.LAST,
    timestamp: Annotated[str | None, instant_option("The client's consumeTimestamp, with --from timestamp")] = None,
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
    from pipelines.answers.offsets.start_rows import START_SCHEMA, NewGroup, start_rows

    if timestamp is not None and policy is not Policy.TIMESTAMP:
        raise WrongUsage("start-at: --timestamp counts with --from timestamp only; name both")
    opened, known = known_store_at(run, store, broker, names_version=True)
    timestamp_ms = None if timestamp is None else instant_of(timestamp, "--timestamp")
    group = NewGroup(policy, known.version, memory, timestamp_ms)
    run.emit_rows(START_SCHEMA, start_rows(opened, topic, group, run.damage))
