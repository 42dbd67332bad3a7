"""A store and what is known of its broker, as every door of `recovery` takes them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from parsers.store.store import Store
from recovery.knowledge.inference import StoreKnowledge
from recovery.knowledge.knowledge import Said, knowledge_of, open_known
from recovery.rules.settings import StoreSettings
from recovery.rules.versions import BrokerVersion
from tests.support.stores import log_setting, store_root


def opened(
    root: Path,
    version: BrokerVersion | str | None = None,
    settings: StoreSettings | None = None,
    config: Mapping[str, str] | None = None,
) -> tuple[Store, StoreKnowledge]:
    """The store at `root`, and its version and settings: those given, the rest as its files show them.

    `config`: single settings, over those.
    """
    running = BrokerVersion.parse(version) if isinstance(version, str) else version
    return _opened(root, Said(running, settings, config or {}))


def opened_golden(
    name: str, version: BrokerVersion | None = None, settings: StoreSettings | None = None
) -> tuple[Store, StoreKnowledge]:
    """A golden store, as `opened` opens it; its log is where its broker had it."""
    return _opened(store_root(name), Said(version, settings, log_setting(name)))


def _opened(root: Path, said: Said) -> tuple[Store, StoreKnowledge]:
    store = open_known(root, said, needs_log=False)
    return store, knowledge_of(store, said)
