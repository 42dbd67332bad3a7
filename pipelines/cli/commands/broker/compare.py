"""`rocketlens compare`: replicas of one broker, and which of them to keep."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from parsers.values.java import INT_MAX
from pipelines.cli.frame.asked.options import BROKER, BrokerOptions, Format
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.opening import NOTHING_SAID, known_store_at
from pipelines.cli.frame.call.run import Run
from pipelines.cli.frame.errors import WrongUsage

if TYPE_CHECKING:
    from parsers.store.store import Store
    from recovery.compare.comparison import Comparison

StoresArgument = Annotated[
    list[Path],
    typer.Argument(readable=False, metavar="STORE STORE…", help="Store roots of replicas of one broker: two or more."),
]
GroupSizeOption = Annotated[
    int | None,
    typer.Option(
        "--group-size",
        metavar="N",
        min=2,
        max=INT_MAX,
        help="How many nodes the DLedger group has (its dLegerPeers): no store tells, and an election depends on it.",
    ),
]
BRIEF = ("what", "nature", "replica", "topic", "queue_id", "group", "field", "messages", "left_value", "right_value")


@command("compare", panel=BROKER)
def compare(
    run: Run,
    stores: StoresArgument,
    broker: BrokerOptions = NOTHING_SAID,
    rows: Annotated[
        bool, typer.Option("--rows", help="A row for each difference instead, as in the table replica_differences.")
    ] = False,
    group_size: GroupSizeOption = None,
) -> None:
    """Hold replicas of one broker side by side: from where they differ, which one to keep, and what that costs.

    The common part of the logs, the first record that differs with its fields, what each has alone, holes, records
    that one copy holds otherwise and which copy is proven wrong; queues, offsets and configuration; epochs and what a
    slave would cut (controller mode), entries by term (DLedger); who can become master by the rules of the mode, and
    what each group loses or reads again. In words on a terminal, else one JSON document. Exit code 1 when the logs
    differ. What is said of the broker holds for every store.

    Example: `rocketlens compare /data/master/store /data/slave/store`
    """
    from pipelines.cli.commands.broker.compare_words import in_words
    from pipelines.cli.frame.written.documents import width_of
    from recovery.compare.logs.history import Relation
    from recovery.compare.written.document import document_of

    compared = comparison_of(run, stores, broker, group_size)
    if rows:
        _emit_rows(run, compared)
    elif run.format_ is Format.TABLE:
        run.write_lines(in_words(document_of(compared), width_of(run.output())))
    else:
        run.emit_documents([document_of(compared)], one=True)
    same = [pair.history.relation is Relation.LEVEL and not pair.history.altered for pair in compared.pairs]
    run.findings(same.count(False))


def comparison_of(run: Run, stores: list[Path], broker: BrokerOptions, group_size: int | None) -> Comparison:
    """The stores compared. Raises NotAStore, Unreadable, WrongUsage: one sentence."""
    from recovery.compare.comparison import compare as compared
    from recovery.compare.replica import Replica, names_of

    if len(stores) < 2:
        raise WrongUsage("compare takes two stores or more")
    replicas = [
        Replica.of(name, *known_store_at(run, path, broker), run.damage)
        for name, path in zip(names_of(stores), stores, strict=True)
    ]
    _refuse_one_for_all([replica.store for replica in replicas])
    return compared(replicas, group_size=group_size, damage=run.damage)


def _refuse_one_for_all(stores: Sequence[Store]) -> None:
    """Raise WrongUsage where a setting gives one place outside to several stores, which would be compared with itself.

    A relative path is each store's own, for it counts from the root.
    """
    taken: dict[Path, Path] = {}
    for store in stores:
        for place in store.places[1:]:
            other = taken.setdefault(place.resolve(), store.root)
            if other.resolve() != store.root.resolve():
                raise WrongUsage(
                    f"{place}: a setting names it for {other} and for {store.root}, and each replica has its own; "
                    f"say it relative to the store roots, for example --config NAME=../{place.name}"
                )


def _emit_rows(run: Run, compared: Comparison) -> None:
    from pipelines.lake.tables.judgements import REPLICA_DIFFERENCES
    from recovery.compare.written.rows import as_dicts

    run.emit_rows(REPLICA_DIFFERENCES.bare_schema, as_dicts(compared), brief=BRIEF)
