"""`--version`, `--config` and `--broker-conf`: what the user says of a broker."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.cli.frame.asked.options import BrokerOptions
from pipelines.cli.frame.call.run import Run
from pipelines.cli.frame.errors import WrongUsage
from recovery.rules.versions import BrokerVersion

if TYPE_CHECKING:
    from recovery.knowledge.knowledge import Said


def said_by(run: Run, broker: BrokerOptions) -> Said:
    """What the options say; a setting that has no effect is noted and left out.

    Raises:
        WrongUsage: no version, not `k=v`, or a value of the wrong kind.
        OSError: broker.conf cannot be read.
    """
    from recovery.knowledge.knowledge import Said

    pairs, version = config_pairs(broker.config), _version(broker.version)
    try:
        said = Said.read(version, broker.broker_conf, pairs)
    except ValueError as wrong:
        raise WrongUsage(f"--config: {wrong}") from wrong
    for sentence in said.ignored:
        run.note(sentence)
    return said


def config_pairs(config: list[str] | None) -> dict[str, str]:
    """`["a=b", …]` as a dict. Raises WrongUsage for one without `=`."""
    pairs = [entry.partition("=") for entry in config or []]
    for name, equals, value in pairs:
        if not equals or not name.strip():
            raise WrongUsage(f"--config {name or value!r}: expected NAME=VALUE, e.g. --config fileReservedTime=48")
    return {name.strip(): value.strip() for name, _, value in pairs}


def _version(text: str | None) -> BrokerVersion | None:
    try:
        return None if text is None else BrokerVersion.parse(text)
    except ValueError as wrong:
        raise WrongUsage(f"--version: {wrong}") from wrong
