"""What is said of a broker, and what is known of its store: the one way to version, settings and files.

broker.conf where one is given, else what the files show; over both the settings that are named one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from parsers.store.store import NotAStore, Store, open_store
from recovery.rules.settings import (
    FORMER_NAMES,
    RENAMED_IN,
    StoreSettings,
    WrongSetting,
    broker_conf_line,
    broker_conf_pairs,
)
from recovery.rules.store_paths import epoch_file, log_folders, why_no_log
from recovery.rules.versions import BrokerVersion

if TYPE_CHECKING:
    from recovery.knowledge.inference import StoreKnowledge

NO_SETTINGS = {
    "storePathConsumeQueue": "the queues lie in consumequeue/ of the root",
    "storePathIndex": "the index lies in index/ of the root",
    "storeCheckpoint": "the checkpoint lies in the root",
    "abortFile": "the mark of a running broker lies in the root",
}
"""Names that are copied from one broker.conf to the next, and that MessageStoreConfig @4.0.0 … 5.3.3 does not have."""


@dataclass(frozen=True, slots=True)
class Said:
    """What is said of a broker from outside its store.

    Attributes:
        settings: those of a broker.conf, which are complete; None: what the files show.
        config: further settings by RocketMQ's names, which win.
        ignored: a sentence for each setting that was said and that the broker does not have.
        broker_name: brokerName of a broker.conf.
    """

    version: BrokerVersion | None = None
    settings: StoreSettings | None = None
    config: Mapping[str, str] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    broker_name: str | None = None

    @classmethod
    def read(
        cls,
        version: BrokerVersion | None = None,
        broker_conf: Path | None = None,
        config: Mapping[str, str] | None = None,
    ) -> Said:
        """What a broker.conf and single settings say.

        Raises:
            ValueError: a value of the wrong kind; of one in broker.conf its file and line are said.
            WrongSetting: it is one of `config`.
            OSError: broker.conf cannot be read.
        """
        pairs = None if broker_conf is None else broker_conf_pairs(broker_conf)
        renamed = [] if pairs is None else _under_names_of_today(pairs, version)
        ignored = [
            *(f"{broker_conf}: {why}" for why in (*renamed, *_ignored(pairs or {}, version, names_strangers=False))),
            *(f"--config {why}" for why in _ignored(config or {}, None, names_strangers=True)),
        ]
        if pairs and pairs.get("enableDLegerCommitLog") != "true" and pairs.pop("storePathDLedgerCommitLog", ""):
            ignored.append(f"{broker_conf}: storePathDLedgerCommitLog counts with enableDLegerCommitLog=true only")
        settings = None if broker_conf is None else _settings_in(broker_conf, _known(pairs or {}, version))
        name = (pairs or {}).get("brokerName") or None
        said = cls(version, settings, _known(config or {}, None), tuple(ignored), name)
        (settings or StoreSettings()).with_config(said.config)  # a wrong value is reported here, not when it is used
        return said

    def over(self, settings: StoreSettings) -> StoreSettings:
        """The settings of broker.conf, or `settings` where none was given, with those that were named one by one."""
        return (self.settings or settings).with_config(self.config)


NOTHING_SAID = Said()


def open_known(root: Path | str, said: Said = NOTHING_SAID, *, needs_log: bool = True) -> Store:
    """List the store at `root` with its log, wherever that lies by what is said of the broker.

    Raises:
        NotAStore: one sentence; with `needs_log` also where the log is not there. Without, `log_not_found` says so.
    """
    settings = said.over(StoreSettings())
    folders = log_folders(Path(root), settings)
    named = folders.commitlog if settings.store_path_commit_log else ()
    store = open_store(
        root, commitlog_folders=named, dledger_folders=folders.dledger, epoch_file=epoch_file(Path(root), settings)
    )
    store.log_not_found = why_no_log(store, settings)
    if said.settings is not None or "storeType" in said.config or settings.reads_queue_database:
        store.reads_queue_database = settings.reads_queue_database
    if needs_log and store.log_not_found is not None:
        raise NotAStore(store.log_not_found)
    return store


def knowledge_of(store: Store, said: Said = NOTHING_SAID) -> StoreKnowledge:
    """Version and settings of a store's broker: what is said, the rest as the files show it."""
    from recovery.knowledge.inference import infer  # a store is often opened where nobody asks for its version

    known = infer(store, version=said.version, settings=said.settings)
    facts = tuple(fact for fact in known.facts if fact.what not in said.config)
    name = said.broker_name or known.broker_name
    return replace(known, settings=said.over(known.settings), facts=facts, broker_name=name)


def _settings_in(broker_conf: Path, pairs: Mapping[str, str]) -> StoreSettings:
    try:
        return StoreSettings.from_config(pairs)
    except WrongSetting as wrong:
        raise ValueError(f"{broker_conf}:{broker_conf_line(broker_conf, wrong.name)}: {wrong}") from wrong


def _under_names_of_today(pairs: dict[str, str], version: BrokerVersion | None) -> list[str]:
    """Give the settings of a broker.conf the names they have since RENAMED_IN; why some of them have no effect."""
    ignored = []
    for former, name in FORMER_NAMES.items():
        if version is not None and version < RENAMED_IN:
            if name in pairs:
                ignored.append(f"{name}={pairs.pop(name)}: {version} calls this setting {former}, and ignores it")
            if former in pairs:
                pairs[name] = pairs.pop(former)
        elif former in pairs:
            value = pairs.pop(former)
            who = "brokers" if version is None else str(version)
            ignores = "ignore" if version is None else "ignores"
            decides = "; --version decides for an older one" if version is None else ""
            ignored.append(f"{former}={value}: since {RENAMED_IN} {who} {ignores} this name of {name}{decides}")
    return ignored


def _ignored(pairs: Mapping[str, str], version: BrokerVersion | None, *, names_strangers: bool) -> Iterator[str]:
    """Why settings have no effect: the broker does not have them, or no answer needs them."""
    for name, value in sorted(pairs.items()):
        since = StoreSettings.since(name)
        if name in NO_SETTINGS:
            yield f"{name}={value}: RocketMQ has no setting of that name and ignores it; {NO_SETTINGS[name]}"
        elif name in FORMER_NAMES and names_strangers:
            yield f"{name}: say {FORMER_NAMES[name]}, its name since {RENAMED_IN}; left out"
        elif since is None and names_strangers:
            yield f"{name}: no setting of that name changes this answer; left out"
        elif since is not None and version is not None and version < since:
            yield f"{name}={value}: {version} does not have this setting, which came with {since}, and ignores it"


def _known(pairs: Mapping[str, str], version: BrokerVersion | None) -> dict[str, str]:
    sinces = {name: StoreSettings.since(name) for name in pairs}
    return {
        name: pairs[name]
        for name, since in sinces.items()
        if since is not None and (version is None or version >= since)
    }
