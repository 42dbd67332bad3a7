"""A broker of rocketlens.toml: its store with its log, and what is known of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from parsers.store.store import NotAStore, Store
from pipelines.lake.configuration.sources import BrokerSource, SourcesError
from recovery.knowledge.knowledge import Said, knowledge_of, open_known
from recovery.rules.versions import BrokerVersion

if TYPE_CHECKING:
    from recovery.knowledge.inference import StoreKnowledge


def said_of(broker: BrokerSource) -> Said:
    """What rocketlens.toml says of the broker. Raises SourcesError: a text that is no version, a wrong setting, a
    broker.conf that cannot be read."""
    try:
        version = None if broker.version is None else BrokerVersion.parse(broker.version)
        return Said.read(version, broker.broker_conf, broker.settings)
    except OSError as refused:
        raise SourcesError(f"broker {broker.name!r}: {broker.broker_conf}: {refused.strerror}") from refused
    except ValueError as wrong:
        raise SourcesError(f"broker {broker.name!r}: {wrong}") from wrong


def store_of(broker: BrokerSource, *, needs_log: bool = True) -> Store:
    """The broker's store with its log, which has to be there unless it is not needed.

    Raises NotAStore, SourcesError: one sentence.
    """
    return open_known(_folder_of(broker), said_of(broker), needs_log=needs_log)


def known_store_of(broker: BrokerSource) -> tuple[Store, StoreKnowledge]:
    """The broker's store, and its version and settings. Raises NotAStore, SourcesError: one sentence."""
    said = said_of(broker)
    store = open_known(_folder_of(broker), said)
    return store, knowledge_of(store, said)


def _folder_of(broker: BrokerSource) -> Path:
    """Raises NotAStore for a store at an address that is not at hand (`stores_here`)."""
    if broker.address is not None and broker.view is None:
        raise NotAStore(broker.refused or f"{broker.address}: was not listed")
    return broker.store
