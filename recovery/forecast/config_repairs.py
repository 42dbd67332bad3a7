"""Repairs of config/ before a start: nothing of them deletes a file, and the first is always to copy the folder."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from parsers.config.document import BACKUP
from parsers.rocksdb.tables import SINGLE_FORM
from recovery.broker.store_folder import Evidence
from recovery.config.databases import transfer_setting
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
    if any(load.file.is_database for load in troubled):
        told.append("a broker writes into its databases as it goes, and keeps no former state of them")
    if taken or not all(load.file.is_database for load in troubled):
        told.append("a broker writes its files again, and their .bak with what they held before")
    if taken:
        told.append(f"this start would go over what is left: {taken}")
    return Repair(
        do="copy config/ before any start, also before one that fails",
        evidence="; ".join(told),
        costs="disk space",
        files=("config",),
    )


def config_repairs(config: ConfigStart, store: Evidence) -> Iterator[Repair]:
    """Ways to a start that misses less configuration, the least destructive first."""
    for load in config.loads:
        if load.file.is_database and config.version.merges_json_if_told and config.losses.of(load.file.rows):
            yield _transferred(load)
        if load.left and load.file.name == SINGLE_FORM not in (store.config or {}):
            yield _in_own_databases(load)
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


def _transferred(load: ConfigLoad) -> Repair:
    name = transfer_setting(load.file)
    return Repair(
        f"copy config/ first; then start once with {name}=true, and take it out again",
        f"{load.file.rows} that other files tell of are not in config/{load.file.name}; 5.3.1 loads the JSON file of "
        "the same table over it with this setting alone, and only where the file's data version counts further",
        "rows of the JSON file take the place of those of the same name in the database",
        config={name: "true"},
    )


def _in_own_databases(load: ConfigLoad) -> Repair:
    return Repair(
        "start with useSingleRocksDBForAllConfigs=false",
        f"{load.file.rows} are in the database of their own, which does not count further than config/{SINGLE_FORM}, "
        "so that a start with the setting does not take them over",
        f"tables stay in three databases; config/{SINGLE_FORM} is not made",
        config={"useSingleRocksDBForAllConfigs": "false"},
    )


def _without(refusing: Sequence[ConfigLoad], store: Evidence) -> Repair:
    names = [name for load in refusing for name in _names(load)]
    files = ", ".join(f"config/{_names(load)[0]}" for load in refusing)
    listed = {name: entry for name, entry in (store.config or {}).items() if name not in names}
    states = [
        f"config/{copy.name} is {_state(copy)}"
        for load in refusing
        for copy in (load.main, load.backup)
        if copy.name in names
    ]
    return Repair(
        f"copy config/ first; then put backups of {files} in place, and only where there is none move "
        f"{', '.join(f'config/{name}' for name in names)} out of the store, and keep them",
        "; ".join(states),
        "without a backup: " + "; ".join(dict.fromkeys(COSTS[load.file.rows] for load in refusing)),
        files=tuple(f"config/{name}" for name in names),
        store=dataclasses.replace(store, config=listed),
    )


def _names(load: ConfigLoad) -> tuple[str, ...]:
    """What load() refuses, in config/: a database has no .bak, and the JSON file beside it may be what is refused."""
    of_database = load.file.is_database and load.main.name == load.file.name
    return (load.main.name,) if of_database else (load.main.name, load.main.name + BACKUP)


def _state(copy: ConfigCopy) -> str:
    if copy.state is CopyState.READABLE:
        return "readable" if copy.rows else "readable and without a row"
    if copy.state is CopyState.EMPTY:
        return "0 bytes long"
    return f"{copy.state}: {copy.why}" if copy.why else str(copy.state)
