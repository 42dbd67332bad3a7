"""`--config`, `--broker-conf` and `--version`: what the user says of a broker, completed by what its files say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.cli.errors import WrongUsage
from pipelines.cli.run import Run
from recovery.settings import StoreSettings
from recovery.versions import BrokerVersion

if TYPE_CHECKING:
    from parsers.store import Store


def settings_of(run: Run, store: Store, config: list[str] | None, broker_conf: Path | None) -> StoreSettings:
    """Settings of the broker: broker.conf when it is given, else what the files show; then each `--config k=v`.

    A name that changes no answer here is noted and left out.

    Raises:
        WrongUsage: not `k=v`, or a value of the wrong kind.
    """
    pairs = config_pairs(config)
    try:
        settings = StoreSettings.from_broker_conf(broker_conf) if broker_conf else _shown_by_files(store)
        known = settings.as_config().keys()
        for name in sorted(pairs.keys() - known):
            run.note(f"--config {name}: no setting of that name changes this answer; left out")
        return settings.with_config({name: text for name, text in pairs.items() if name in known})
    except ValueError as wrong:
        raise WrongUsage(f"--config: {wrong}") from wrong


def _shown_by_files(store: Store) -> StoreSettings:
    from recovery.inference import infer

    return infer(store).settings


def config_pairs(config: list[str] | None) -> dict[str, str]:
    """`["a=b", …]` as a dict. Raises WrongUsage for one without `=`."""
    pairs = [entry.partition("=") for entry in config or []]
    for name, equals, value in pairs:
        if not equals or not name.strip():
            raise WrongUsage(f"--config {name or value!r}: expected NAME=VALUE, e.g. --config fileReservedTime=48")
    return {name.strip(): value.strip() for name, _, value in pairs}


def version_of(run: Run, store: Store, text: str | None, *, said: bool = True) -> BrokerVersion:
    """The version named, else the one the files point to, which is said on stderr where the answer depends on it.

    Raises:
        WrongUsage: a text that is no version.
    """
    if text is not None:
        try:
            return BrokerVersion.parse(text)
        except ValueError as wrong:
            raise WrongUsage(f"--version: {wrong}") from wrong
    from recovery.inference import infer

    known = infer(store)
    for fact in known.facts if said else ():
        if fact.what == "version":
            run.note(f"no --version: {fact.value} is {fact.why}")
    return known.version
