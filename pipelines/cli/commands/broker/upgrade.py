"""`rocketlens upgrade`: what another version of the broker changes for this store and its groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pipelines.cli.frame.asked.options import BROKER, BrokerOptions, StoreArgument
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.opening import NOTHING_SAID, config_pairs, known_store_at, said_of
from pipelines.cli.frame.call.run import Run
from pipelines.cli.frame.errors import WrongUsage
from recovery.rules.versions import BrokerVersion

if TYPE_CHECKING:
    from recovery.knowledge.inference import StoreKnowledge


@command("upgrade", panel=BROKER)
def upgrade(
    run: Run,
    store: StoreArgument,
    to: Annotated[str, typer.Option(metavar="V", help="The version that is to start on this store; older ones too.")],
    rules: Annotated[bool, typer.Option("--rules", help="Also every declared rule that differs.")] = False,
    broker: BrokerOptions = NOTHING_SAID,
) -> None:
    """What changes for this store and its groups when a broker of another version starts on it.

    --version is the one that wrote the store. `about`: start, what the two starts do, whether they come up and what
    they lose; place, where queues and tables are kept; setting, what of --broker-conf and --config one version does
    not read; group, whose next pull goes on elsewhere; way_back, what the newer version may write that the older one
    does not take; not_known. What is not listed is not proven to be the same. Exit code 1 when the start is worse.

    Example: `rocketlens upgrade /data/store --version 4.9.7 --to 5.3.3 --broker-conf /etc/broker.conf --format table`
    """
    from pipelines.answers.upgrade_rows import UPGRADE_SCHEMA
    from pipelines.answers.upgrade_rows import upgrade as compared
    from recovery.knowledge.knowledge import knowledge_of
    from recovery.rules.settings import StoreSettings, broker_conf_pairs

    try:
        newer = BrokerVersion.parse(to)
    except ValueError as wrong:
        raise WrongUsage(f"--to: {wrong}") from wrong
    opened, known = known_store_at(run, store, broker, names_version=True)
    pairs = config_pairs(broker.config)

    def as_of(version: BrokerVersion) -> StoreKnowledge:
        read = {name: value for name, value in pairs.items() if StoreSettings.is_read(name, version)}
        return knowledge_of(opened, said_of(version, broker.broker_conf, read))

    said = {**({} if broker.broker_conf is None else broker_conf_pairs(broker.broker_conf)), **pairs}
    found = compared(opened, as_of(known.version), as_of(newer), said, with_rules=rules, damage=run.damage)
    run.emit_rows(UPGRADE_SCHEMA, found.rows())
    run.findings(int(found.is_worse))
