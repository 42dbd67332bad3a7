"""Repairs of config/ before a start: nothing of them deletes a file, and the first is always to copy the folder."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from parsers.config.document import BACKUP
from recovery.broker.store_folder import Evidence
from recovery.config.files import Rows
from recovery.config.load import ConfigCopy, ConfigLoad, CopyState
from recovery.config.start import ConfigStart
from recovery.forecast.repair import Repair

COSTS = {
    Rows.TOPICS: "clients find no route to the topics until they are made again; their queues and messages stay",
    Rows.GROUPS: "settings of groups are gone: with autoCreateSubscriptionGroup they are made anew with the defaults",
    Rows.OFFSETS: "groups begin where consumeFromWhere says: they skip what is unread, or consume it again",
    Rows.DELAY_LEVELS: "every level is delivered from its queue's minimum: what was delivered is delivered again",
    Rows.OTHER: "what the file held is gone",
}


def copy_first(config: ConfigStart) -> Repair | None:
    """The copy without which a start takes away what could still be read; None where it takes nothing."""
    troubled = [load for load in config.loads if _is_troubled(load, config)]
    taken = ", ".join(f"{each.file} is {each.how} ({each.held})" for each in config.destroys)
    if not troubled and not taken:
        return None
    told = [f"config/{load.file.name} is {_state(load.main)}" for load in troubled]
    if taken:
        told.append(f"this start would go over what is left: {taken}")
    return Repair(
        do="copy config/ before any start, also before one that fails",
        evidence="; ".join([*told, "a broker writes these files again, and their .bak with what they held before"]),
        costs="disk space",
        files=("config",),
    )


def config_repairs(config: ConfigStart, store: Evidence) -> Iterator[Repair]:
    """Ways to a start that misses less configuration, the least destructive first."""
    for load in config.loads:
        if load.refuses or config.losses.of(load.file.rows):
            yield from (_restored(load, copy, store) for copy in _better_copies(load))
    refusing = [load for load in config.loads if load.refuses]
    if refusing:
        yield _without(refusing, store)


def _is_troubled(load: ConfigLoad, config: ConfigStart) -> bool:
    return load.refuses or load.used is load.backup or config.losses.of(load.file.rows)


def _better_copies(load: ConfigLoad) -> Iterator[ConfigCopy]:
    """Copies with rows that load() does not take, the newest first."""
    for copy in (load.interrupted, load.backup):
        if copy.state is CopyState.READABLE and copy.rows and copy is not load.used:
            yield copy


def _restored(load: ConfigLoad, copy: ConfigCopy, store: Evidence) -> Repair:
    listed = dict(store.config or {})
    listed[load.file.name] = dataclasses.replace(listed[copy.name], name=load.file.name)
    return Repair(
        f"copy config/ first; then copy config/{copy.name} over config/{load.file.name}",
        f"config/{copy.name} can be read and has {len(copy.rows)} rows, config/{load.file.name} is {_state(load.main)}",
        "what changed after that copy was written is gone back",
        files=(f"config/{load.file.name}",),
        store=dataclasses.replace(store, config=listed),
    )


def _without(refusing: Sequence[ConfigLoad], store: Evidence) -> Repair:
    names = [name for load in refusing for name in (load.file.name, load.file.name + BACKUP)]
    files = ", ".join(f"config/{load.file.name}" for load in refusing)
    listed = {name: entry for name, entry in (store.config or {}).items() if name not in names}
    states = [f"config/{copy.name} is {_state(copy)}" for load in refusing for copy in (load.main, load.backup)]
    return Repair(
        f"copy config/ first; then put backups of {files} in place, and only where there is none move the file and its "
        ".bak out of the store, and keep both",
        "; ".join(states),
        "without a backup: " + "; ".join(dict.fromkeys(COSTS[load.file.rows] for load in refusing)),
        files=tuple(f"config/{name}" for name in names),
        store=dataclasses.replace(store, config=listed),
    )


def _state(copy: ConfigCopy) -> str:
    if copy.state is CopyState.READABLE:
        return "readable" if copy.rows else "readable and without a row"
    if copy.state is CopyState.EMPTY:
        return "0 bytes long"
    return f"{copy.state}: {copy.why}" if copy.why else str(copy.state)
