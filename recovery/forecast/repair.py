"""A step that somebody could take before a start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from recovery.broker.store_folder import Evidence
from recovery.rules.settings import StoreSettings


@dataclass(frozen=True, slots=True)
class Repair:
    """What somebody could do, and what the store and the settings would then be.

    Attributes:
        do: the step, in words.
        config: settings to change for this start, under RocketMQ's names.
        files: files the step touches, below the store root.
        evidence: what suggests it.
        costs: what it takes or gives up.
    """

    do: str
    evidence: str
    costs: str
    config: Mapping[str, str] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    store: Evidence | None = None

    def settings(self, before: StoreSettings) -> StoreSettings:
        return before.with_config(self.config)
