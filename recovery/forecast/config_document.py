"""The section `config` of a forecast's document: file by file, what is missing, what a start takes away."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from recovery.config.load import ConfigLoad
from recovery.config.losses import ConfigLosses
from recovery.config.start import ConfigStart

LISTED = 1000
"""Names and offsets listed of one kind; `lost_counts` has their number."""


def config_document(config: ConfigStart | None) -> dict[str, Any] | None:
    """Plain values. None where the store's classes start without a broker."""
    if config is None:
        return None
    losses = config.losses
    return {
        "has_files": config.has_files,
        "initialize": config.stopped_at is None,
        "refused_by": None if config.refused is None else f"config/{config.refused.file.name}",
        "files": [_file(load, load in config.taken) for load in config.loads],
        "lost": _lost(losses),
        "lost_counts": _counts(losses),
        "gone_back": [asdict(each) for each in losses.gone_back[:LISTED]],
        "destroyed": [asdict(each) for each in config.destroys],
    }


def _file(load: ConfigLoad, is_reached: bool) -> dict[str, Any]:
    return {
        "file": f"config/{load.file.name}",
        "manager": load.file.manager,
        "main": load.main.state.value,
        "bak": load.backup.state.value,
        "reached": is_reached,
        "loads": load.returns,
        "used": None if load.used is None else "main" if load.used is load.main else "bak",
        "rows": len(load.rows),
        "error": load.main.why,
        "bak_error": load.backup.why,
    }


def _lost(losses: ConfigLosses) -> dict[str, Any]:
    """Names and offsets. `offsets` is null where groups must have had some and no copy tells any, as its count is."""
    offsets = [
        {"group": group, "topic": topic, "queue_id": queue_id, "offset": offset}
        for (group, topic, queue_id), offset in sorted(losses.offsets.items())[:LISTED]
    ]
    return {
        "topics": list(losses.topics[:LISTED]),
        "groups": list(losses.groups[:LISTED]),
        "offsets": None if losses.groups_without_offsets and not offsets else offsets,
        "groups_without_offsets": list(losses.groups_without_offsets[:LISTED]),
        "delay_levels": list(losses.delay_levels[:LISTED]),
    }


def _counts(losses: ConfigLosses) -> dict[str, int | None]:
    """How many can be named; `offsets` is null where groups must have had offsets and no copy tells them."""
    return {
        "topics": len(losses.topics),
        "groups": len(losses.groups),
        "offsets": None if losses.groups_without_offsets else len(losses.offsets),
        "groups_without_offsets": len(losses.groups_without_offsets),
        "delay_levels": len(losses.delay_levels),
        "gone_back": len(losses.gone_back),
    }
