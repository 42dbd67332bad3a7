"""`rocketlens what-if`: the same memberships under another strategy, with more clients, or with more queues."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipelines.cli.commands.ownership.allocate import params_of
from pipelines.cli.frame.asked.options import OWNERSHIP, BrokerOption, ParamOption
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.recordings import facts_in, replay_of
from pipelines.cli.frame.call.run import Run
from pipelines.cli.frame.errors import WrongUsage

if TYPE_CHECKING:
    import pyarrow as pa


BRIEF = (
    "group",
    "topic",
    "begin_at",
    "end_at",
    "members",
    "moved_queues",
    "largest_share",
    "smallest_share",
    "unowned",
    "shared",
    "strategy",
    "queues",
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "what-if", panel=OWNERSHIP)(what_if)


def what_if(
    run: Run,
    source: Annotated[
        list[Path],
        typer.Argument(readable=False, metavar="SOURCE…", help="Logs and captures, or folders of them, as for replay."),
    ],
    strategy: Annotated[
        str | None, typer.Option(metavar="S", help="Java's getName(); without it, the one each group was seen to use.")
    ] = None,
    param: ParamOption = None,
    more_clients: Annotated[int, typer.Option(metavar="N", min=0, help="So many more members, all the time.")] = 0,
    more_queues: Annotated[
        int, typer.Option(metavar="N", min=0, help="So many more queues of each topic on each broker.")
    ] = 0,
    broker: BrokerOption = None,
) -> None:
    """Share out the queues anew through a recorded history: another strategy, more clients, more queues.

    One row per group, topic and span of unchanged membership: queues that would have moved since the span before,
    the largest and smallest share, queues that nobody (`unowned`) or several (`shared`) would have had. Without
    options as it was, to compare with. Broadcasting groups share nothing out and are left out.

    Example: `rocketlens what-if /data/logs --strategy CONSISTENT_HASH --more-clients 1`
    """
    from pipelines.answers.recorded.ownership_rows import rows_to_batches
    from rebalance.model.budget import OverBudget
    from rebalance.what_if import what_if as recompute

    history = replay_of(facts_in(run, source, broker, alone=True))
    try:
        rows = recompute(
            history, strategy=strategy, params=params_of(param), more_clients=more_clients, more_queues=more_queues
        )
    except OverBudget as beyond:
        raise WrongUsage(f"--more-clients, --more-queues: {beyond}") from beyond
    except ValueError as wrong:
        raise WrongUsage(f"--strategy: {wrong}") from wrong
    schema = _schema()
    run.emit(schema, rows_to_batches(schema, rows), brief=BRIEF)


def _schema() -> pa.Schema:
    import pyarrow as pa

    instant = pa.timestamp("ms", "UTC")
    counts = ("members", "queues", "moved_queues", "largest_share", "smallest_share", "unowned", "shared")
    return pa.schema(
        [
            ("group", pa.string()),
            ("topic", pa.string()),
            ("begin_at", instant),
            ("end_at", instant),
            ("strategy", pa.string()),
            *((name, pa.int64()) for name in counts),
        ]
    )
