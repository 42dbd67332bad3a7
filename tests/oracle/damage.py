"""Random damage to a base, as the edits of a case: one function per class, and several of them together.

A class draws its places from `chance`, so that the same seed damages the same base in the same way. A class that does
not apply to a base (no index file, nothing unforced) gives None.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from recovery.rules.settings import StoreSettings
from recovery.rules.versions import BrokerVersion
from tests.oracle.base import Base
from tests.oracle.edits import Damager, Edit
from tests.oracle.ext_damage import EXT_DAMAGES
from tests.oracle.log_damage import LOG_DAMAGES
from tests.oracle.other_damage import OTHER_DAMAGES
from tests.oracle.power_loss import POWER_LOSSES
from tests.oracle.queue_damage import QUEUE_DAMAGES
from tests.oracle.record_damage import RECORD_DAMAGES

DAMAGES: dict[str, Damager] = {
    **RECORD_DAMAGES,
    **LOG_DAMAGES,
    **QUEUE_DAMAGES,
    **EXT_DAMAGES,
    **OTHER_DAMAGES,
    **POWER_LOSSES,
}

READ_ONLY = "config.read_only_folder"
MOST_DRAWS = 1_000
OTHER_DELAYS = "2s 10s 20s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h 3h"
SETTINGS: dict[str, tuple[dict[str, str], str]] = {
    "config.no_crc": ({"checkCRCOnRecover": "false"}, "record.body_flip"),
    "config.index_off": ({"messageIndexEnable": "false"}, "cq.deleted_all"),
    "config.index_safe": ({"messageIndexSafe": "true"}, ""),
    "config.sync_flush": ({"flushDiskType": "SYNC_FLUSH"}, "powerloss.commitlog"),
    "config.duplication": ({"duplicationEnable": "true"}, ""),
    "config.record_crc": ({"forceVerifyPropCRC": "true"}, "record.properties_flip"),
    "config.recheck_dispatch": ({"recheckReputOffsetFromCq": "true"}, "cq.tail_zeroed_all"),
    "config.recover_few": ({"commitLogRecoverMaxNum": "2"}, "checkpoint.some_zero"),
    "config.accelerated": ({"enableAcceleratedRecovery": "true"}, ""),
    "config.check_offset": ({"checkCommitLogOffsetOnRecover": "true"}, "record.physicaloffset"),
    "config.read_uncommitted": ({"flushDiskType": "SYNC_FLUSH", "readUnCommitted": "true"}, "cq.tail_zeroed_all"),
    "config.other_delays": ({"messageDelayLevel": OTHER_DELAYS}, "cq.deleted_all"),
    "config.ext_on": ({"enableConsumeQueueExt": "true", "mappedFileSizeConsumeQueueExt": "1000"}, "cq.tail_zeroed_all"),
    "config.ext_off": ({"enableConsumeQueueExt": "false"}, "cq.tail_zeroed_all"),
    "config.other_log_size": ({"mappedFileSizeCommitLog": "49152"}, ""),
    "config.other_queue_size": ({"mappedFileSizeConsumeQueue": "800"}, ""),
    "config.more_slots": ({"maxHashSlotNum": "150", "maxIndexNum": "900"}, "cq.tail_zeroed_all"),
    "config.fewer_slots": ({"maxHashSlotNum": "40", "maxIndexNum": "200"}, "checkpoint.some_zero"),
    "config.store_pool": ({"transientStorePoolEnable": "true"}, "powerloss.commitlog"),
    "config.slave": ({"brokerRole": "SLAVE"}, "cq.tail_zeroed_all"),
    "config.other_ext_size": (
        {"enableConsumeQueueExt": "true", "mappedFileSizeConsumeQueueExt": "640"},
        "cq.tail_zeroed_all",
    ),
}
"""Settings that another start has, and the damage it meets; each only where the version knows them."""


@dataclass(frozen=True, slots=True)
class Damage:
    """One damaged copy of a base: what is edited, and with which settings it is started."""

    name: str
    edits: list[Edit]
    settings: Mapping[str, str] = field(default_factory=dict)


def draw(base: Base, chance: random.Random, only: str = "") -> Damage:
    """One of the classes, or two or three of them together; `abort` there, away, or as it was left.

    Args:
        only: what the class's name begins with.
    Raises:
        ValueError: none of them applies to this base.
    """
    names = [name for name in (*DAMAGES, *SETTINGS, READ_ONLY, *["combo"] * 12, *["none"] * 2) if name.startswith(only)]
    for _ in range(MOST_DRAWS if names else 0):
        name = chance.choice(names)
        found = _combo(base, chance) if name == "combo" else _single(name, base, chance)
        if found is not None:
            break
    else:
        raise ValueError(f"no damage that begins with {only!r} applies to {base.plan.name}")
    marker = chance.choice(([{"op": "create", "path": "abort"}], [{"op": "delete", "path": "abort"}], []))
    return Damage(found.name, [*found.edits, *marker], found.settings)


def _single(name: str, base: Base, chance: random.Random) -> Damage | None:
    if name == "none":
        return Damage(name, [])
    if name == READ_ONLY:
        return _read_only(base, chance)
    if name in SETTINGS:
        settings, behind = SETTINGS[name]
        if not _knows(BrokerVersion.parse(base.plan.version), settings):
            return None
        edits = DAMAGES[behind](base, chance) if behind else []
        return None if edits is None else Damage(name, edits, settings)
    edits = DAMAGES[name](base, chance)
    return None if edits is None else Damage(name, edits)


def _read_only(base: Base, chance: random.Random) -> Damage | None:
    """One of several folders is read from only."""
    folders = base.plan.log_folders
    one = chance.choice(folders)
    left = [folder for folder in folders if folder != one]
    named = folders if len(left) < 2 else left  # of a setting without a separator a broker reads no other folder
    settings = {"storePathCommitLog": ",".join(named), "readOnlyCommitLogStorePaths": one}
    return Damage(READ_ONLY, [], settings) if left else None


def _knows(version: BrokerVersion, settings: Mapping[str, str]) -> bool:
    since = [StoreSettings.since(name) for name in settings]
    return all(first is not None and first <= version for first in since)


def _combo(base: Base, chance: random.Random) -> Damage | None:
    drawn = [_single(name, base, chance) for name in chance.sample(sorted(DAMAGES), chance.choice((2, 2, 3)))]
    chosen = [one for one in drawn if one is not None]
    if not chosen or _collide([edit for one in chosen for edit in one.edits]):
        return None
    return Damage("combo " + "+".join(one.name for one in chosen), [edit for one in chosen for edit in one.edits])


def _collide(edits: list[Edit]) -> bool:
    """An edit works on what another one deletes, replaces or cuts."""
    within = ("flip", "write", "zero")
    for number, edit in enumerate(edits):
        for other in edits[:number]:
            same = _is_in(edit["path"], other["path"]) or _is_in(other["path"], edit["path"])
            if same and not (edit["op"] in within and other["op"] in within):
                return True
    return False


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")
