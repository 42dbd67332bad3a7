"""`rocketlens what-if`: the same memberships under another strategy, with more clients, or with more queues; and what
then waits for whom."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipelines.cli.commands.ownership.allocate import params_of
from pipelines.cli.frame.asked.options import OWNERSHIP, BrokerOption, ParamOption
from pipelines.cli.frame.call.beside.kept_offsets import offsets_at
from pipelines.cli.frame.call.beside.recordings import facts_in, replay_of, say_no_group
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.opening import NOTHING_SAID, known_store_at
from pipelines.cli.frame.call.run import Run
from pipelines.cli.frame.errors import WrongUsage

if TYPE_CHECKING:
    import pyarrow as pa

    from rebalance.what_if import Backlog


BRIEF = (
    "group",
    "topic",
    "begin_at",
    "end_at",
    "members",
    "moved_queues",
    "largest_share",
    "smallest_share",
    "largest_backlog",
    "smallest_backlog",
    "unowned",
    "shared",
    "strategy",
    "queues",
)


@dataclass(frozen=True, slots=True)
class MoreOptions:
    """What is added to the record."""

    more_clients: Annotated[int, typer.Option(metavar="N", min=0, help="So many more members, all the time.")] = 0
    more_queues: Annotated[
        int, typer.Option(metavar="N", min=0, help="So many more queues of each topic on each broker.")
    ] = 0


NOTHING_MORE = MoreOptions()


@command("what-if", panel=OWNERSHIP)
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
    more: MoreOptions = NOTHING_MORE,
    backlog: Annotated[
        list[Path] | None,
        typer.Option(
            readable=False,
            metavar="STORE",
            help="Store of a broker whose queues are shared out: what waits in them; once for each broker.",
        ),
    ] = None,
    broker: BrokerOption = None,
) -> None:
    """Share out the queues anew through a recorded history: another strategy, more clients, more queues.

    One row per group, topic and span of unchanged membership: queues that would have moved since the span before,
    the largest and smallest share, queues that nobody (`unowned`) or several (`shared`) would have had. Without
    options as it was, to compare with. Broadcasting groups share nothing out and are left out.

    With --backlog also the messages that wait in the largest and in the smallest share by that measure, by the offsets
    that the stores hold: what is even in queues need not be even in work. They are empty where a queue's are unknown.

    Example: `rocketlens what-if /data/logs --strategy CONSISTENT_HASH --more-clients 1`
    """
    from pipelines.answers.recorded.ownership_rows import rows_to_batches
    from rebalance.model.budget import OverBudget
    from rebalance.what_if import what_if as recompute

    history = replay_of(facts_in(run, source, broker, alone=True))
    say_no_group(run, history)
    waiting = _backlog(run, backlog) if backlog else None
    try:
        rows = recompute(
            history,
            strategy=strategy,
            params=params_of(param),
            more_clients=more.more_clients,
            more_queues=more.more_queues,
            backlog=waiting,
        )
    except OverBudget as beyond:
        raise WrongUsage(f"--more-clients, --more-queues: {beyond}") from beyond
    except ValueError as wrong:
        raise WrongUsage(f"--strategy: {wrong}") from wrong
    schema = _schema()
    run.emit(schema, rows_to_batches(schema, rows), brief=BRIEF)


def _backlog(run: Run, stores: list[Path]) -> Backlog:
    """The messages that wait for each group in each queue of the stores' brokers, where that is known.

    Raises:
        NotAStore, Unreadable: one sentence.
        WrongUsage: a store that does not name its broker.
    """
    from pipelines.answers.lag.lag import store_lag
    from rebalance.model.message_queue import MessageQueue

    found: dict[tuple[str, MessageQueue], int] = {}
    for path in stores:
        store, known = known_store_at(run, path, NOTHING_SAID)
        if known.broker_name is None:
            raise WrongUsage(f"--backlog: {path} does not name its broker: no topic of its topics.json can be the one")
        for row in store_lag(store, offsets_at(run, store, None), damage=run.damage):
            if row.messages_behind is not None and row.messages_behind >= 0:
                queue = MessageQueue(row.topic, known.broker_name, row.queue_id)
                found[row.group, queue] = row.messages_behind
    return found


def _schema() -> pa.Schema:
    from parsers.layouts.columns import schema_from

    return schema_from(
        "group text, topic text, begin_at time_ms, end_at time_ms, strategy text, members i64, queues i64, "
        "moved_queues i64, largest_share i64, smallest_share i64, unowned i64, shared i64, largest_backlog i64, "
        "smallest_backlog i64"
    )
