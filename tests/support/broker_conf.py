"""The settings that a broker ran with."""

from __future__ import annotations

from pathlib import Path

from recovery.rules.settings import StoreSettings, broker_conf_pairs


def settings_of_conf(path: Path) -> StoreSettings:
    """What a broker.conf says of the store; names that concern other parts of the broker are left out."""
    pairs = broker_conf_pairs(path).items()
    return StoreSettings.from_config((name, text) for name, text in pairs if StoreSettings.since(name) is not None)
