"""`--config`, `--broker-conf` and `--version` to settings and a version, with wrong ones named."""

from __future__ import annotations

from pathlib import Path

from pipelines.cli.errors import WrongUsage
from pipelines.cli.run import Run
from recovery.settings import StoreSettings
from recovery.versions import BrokerVersion


def settings_from(run: Run, config: list[str] | None, broker_conf: Path | None) -> StoreSettings:
    """Defaults, then broker.conf, then each `--config k=v`. A name that changes no answer here is noted and left out.

    Raises:
        WrongUsage: not `k=v`, or a value of the wrong kind.
    """
    pairs = config_pairs(config)
    try:
        settings = StoreSettings.from_broker_conf(broker_conf) if broker_conf else StoreSettings()
        known = settings.as_config().keys()
        for name in sorted(pairs.keys() - known):
            run.note(f"--config {name}: no setting of that name changes this answer; left out")
        return settings.with_config({name: text for name, text in pairs.items() if name in known})
    except ValueError as wrong:
        raise WrongUsage(f"--config: {wrong}") from wrong


def config_pairs(config: list[str] | None) -> dict[str, str]:
    """`["a=b", …]` as a dict. Raises WrongUsage for one without `=`."""
    pairs = [entry.partition("=") for entry in config or []]
    for name, equals, value in pairs:
        if not equals or not name.strip():
            raise WrongUsage(f"--config {name or value!r}: expected NAME=VALUE, e.g. --config fileReservedTime=48")
    return {name.strip(): value.strip() for name, _, value in pairs}


def version_from(text: str | None) -> BrokerVersion | None:
    """The version named, or None. Raises WrongUsage for a text that is none."""
    if text is None:
        return None
    try:
        return BrokerVersion.parse(text)
    except ValueError as wrong:
        raise WrongUsage(f"--version: {wrong}") from wrong
