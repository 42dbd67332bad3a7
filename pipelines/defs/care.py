"""Who looks after a group of tables, and how old it may become before Dagster says so."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import TypedDict

import dagster as dg

BROKER_OWNERS, CONSUMER_OWNERS = ["team:brokers"], ["team:consumers"]
OWNERS: Mapping[str, list[str]] = {
    "evidence": BROKER_OWNERS,
    "store": BROKER_OWNERS,
    "config": BROKER_OWNERS,
    "consistency": BROKER_OWNERS,
    "recovery": BROKER_OWNERS,
    "lag": CONSUMER_OWNERS,
    "ownership": CONSUMER_OWNERS,
}
"""Those who can do something about what the group shows."""
SNAPSHOTS = dg.FreshnessPolicy.time_window(fail_window=timedelta(hours=6), warn_window=timedelta(hours=1))
"""How old snapshots may be: without one, the history of lag has a gap that nothing fills later."""
DAILY = dg.FreshnessPolicy.time_window(fail_window=timedelta(days=7), warn_window=timedelta(days=1))


class Care(TypedDict):
    """Arguments of an asset."""

    group_name: str
    owners: list[str]
    freshness_policy: dg.FreshnessPolicy


def cared_for(group: str) -> Care:
    """The arguments of an asset that its group decides."""
    return Care(group_name=group, owners=OWNERS[group], freshness_policy=SNAPSHOTS if group == "config" else DAILY)
