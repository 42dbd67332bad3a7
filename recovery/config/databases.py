"""The tables of topics, groups and offsets that a broker loads from RocksDB: which database, and what JSON adds to it.

Source: BrokerController#<init> @5.1.4, 5.2.0, 5.3.1, 5.3.3; RocksDBTopicConfigManager, RocksDBSubscriptionGroupManager,
RocksDBConsumerOffsetManager #load, #merge @5.3.0, 5.3.1, 5.3.2, #migrateFromSeparateRocksDBs @5.4.0, 5.5.0;
TopicConfigManagerV2, SubscriptionGroupManagerV2, ConsumerOffsetManagerV2 #load @5.3.3; ConfigRocksDBStorage#postLoad
@5.3.0, 5.3.1.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from parsers.damage.errors import Damage
from parsers.layouts.fastjson import as_map, parse, whole_number
from parsers.rocksdb.tables import KEPT, SECOND_FORM, SINGLE_FORM, Content, more_families, read_table
from recovery.broker.store_folder import Entry
from recovery.config.files import GROUPS, LMQ_OFFSETS, OFFSETS, TOPICS, ConfigFile, Rows, Stage
from recovery.config.load import ConfigCopy, ConfigLoad, Copies, CopyState, Table, load_config, text_of
from recovery.config.losses import offsets_of
from recovery.config.values import BLANKS
from recovery.rules.settings import StoreSettings
from recovery.rules.versions import BrokerVersion

CURRENT = "CURRENT"
MANAGERS = {TOPICS: "RocksDBTopicConfigManager", GROUPS: "RocksDBSubscriptionGroupManager"}
SECOND_MANAGERS = {TOPICS: "TopicConfigManagerV2", GROUPS: "SubscriptionGroupManagerV2"}
TABLES = (TOPICS, GROUPS, OFFSETS, LMQ_OFFSETS)


class TableDatabase(NamedTuple):
    """Where a table is: its folder below config/, and the manager that loads it. `merges_json`: see `_merged`.

    `opens_one_family`: it is refused where it has more than the default column family.
    `former`: the folder of the table's own database, out of which it is taken over: see `_taken_over`.
    """

    folder: str
    manager: str
    merges_json: bool
    opens_one_family: bool = False
    former: str | None = None


def table_database(file: ConfigFile, version: BrokerVersion, settings: StoreSettings) -> TableDatabase | None:
    """The database from which this table is loaded instead of its file; None where the file is."""
    if file not in TABLES:
        return None
    if settings.keeps_tables_in_one_database and version.keeps_tables_in_one_database:
        return TableDatabase(SECOND_FORM, SECOND_MANAGERS.get(file, "ConsumerOffsetManagerV2"), False)
    if settings.uses_rocksdb_queues and version.keeps_tables_in_rocksdb:
        own = KEPT[_table_of(file).name].folder
        manager = MANAGERS.get(file, "RocksDBConsumerOffsetManager")
        if settings.use_single_rocksdb_for_all_configs and version.may_keep_tables_in_metadata:
            return TableDatabase(SINGLE_FORM, manager, merges_json=True, former=own)
        merges = version.merges_json_into_databases or (version.merges_json_if_told and _is_told(file, settings))
        return TableDatabase(own, manager, merges, version.opens_one_family_of_tables)
    return None


def transfer_setting(file: ConfigFile) -> str:
    """The setting with which 5.3.1 loads the JSON file of this table over its database."""
    return "transferOffsetJsonToRocksdb" if file.rows is Rows.OFFSETS else "transferMetadataJsonToRocksdb"


def _is_told(file: ConfigFile, settings: StoreSettings) -> bool:
    return bool(settings.as_config()[transfer_setting(file)])


def load_table(
    copies: Copies, file: ConfigFile, stage: Stage, version: BrokerVersion, database: TableDatabase
) -> ConfigLoad:
    """One load() of a manager that keeps its table in a database. A database that is not there is made, empty."""
    named = replace(file, name=database.folder, manager=database.manager, is_database=True)
    json_file = _table_of(file)
    missing = ConfigCopy(json_file.name, CopyState.MISSING)
    main, counter = _read(copies.get(database.folder), file, database.opens_one_family)
    if main.state is CopyState.UNREADABLE:
        return ConfigLoad(named, stage, main, missing, missing, None, returns=False)
    load = ConfigLoad(named, stage, main, missing, missing, main, returns=True)
    if database.merges_json and {json_file.name, f"{json_file.name}.bak"} & copies.keys():
        load, counter = _merged(load, copies, json_file, version, counter)
    if database.former is not None and load.returns:
        load = _taken_over(load, *_read(copies.get(database.former), file, False), counter)
    return load


def _merged(
    load: ConfigLoad, copies: Copies, file: ConfigFile, version: BrokerVersion, counter: int
) -> tuple[ConfigLoad, int]:
    """A JSON file of the same table is loaded over the database where its data version counts further: its rows beside
    those of the database, its offsets in their place. Then the table counts one further than the file. #merge.

    load() is false where the file, or then its .bak, cannot be read.
    """
    in_json = load_config(copies, file, load.stage, version)
    if in_json.main.state is CopyState.UNREADABLE:
        unreadable = replace(in_json.main, why=f"config/{file.name} beside it: {in_json.main.why}")
        return replace(load, main=unreadable, used=None, returns=False), counter
    json_counter = _json_counter(copies.get(file.name))
    if json_counter <= counter:
        return load, counter
    if in_json.refuses:
        return replace(load, main=in_json.main, backup=in_json.backup, used=None, returns=False), counter
    rows = load.main.rows
    if file.rows is Rows.OFFSETS:
        is_more = offsets_of(rows).keys() - offsets_of(in_json.rows).keys()
        load, rows = replace(load, left=rows if is_more else {}), {}
    return _joined(load, file.name, {**rows, **in_json.rows}), json_counter + 1


def _taken_over(load: ConfigLoad, former: ConfigCopy, former_counter: int, counter: int) -> ConfigLoad:
    """The rows of the table's own database, which useSingleRocksDBForAllConfigs leaves behind, beside those that there
    are, where it counts further. One that never counted is left, which offsets do until 500 commits; so is one that
    RocksDB does not open. #migrateFromSeparateRocksDBs."""
    if former.state is CopyState.READABLE and former_counter > counter:
        return _joined(load, former.name, {**load.rows, **former.rows})
    return load if load.rows or counter else replace(load, left=former.rows or former.beginning)


def _joined(load: ConfigLoad, name: str, rows: Table) -> ConfigLoad:
    both = replace(load.main, name=f"{load.main.name} and {name}", rows=rows, state=CopyState.READABLE, has_table=True)
    return replace(load, main=both, used=both)


def _read(entry: Entry | None, file: ConfigFile, opens_one_family: bool) -> tuple[ConfigCopy, int]:
    """The table as load() takes it, and the counter of its data version, 0 without one."""
    name = _table_of(file).name
    if entry is None or not (entry.path / CURRENT).is_file():
        return ConfigCopy(file.name if entry is None else entry.name, CopyState.MISSING), 0
    if opens_one_family and (more := more_families(entry.path)):
        why = f"it has column families that this version does not open: {', '.join(more)}"
        return ConfigCopy(entry.name, CopyState.UNREADABLE, why=why), 0
    damage: list[Damage] = []
    content = read_table(entry.path, name, damage=damage.append)
    rows = _rows(content, file)
    if damage:
        return ConfigCopy(entry.name, CopyState.UNREADABLE, beginning=rows, why=damage[0].reason), 0
    counter = whole_number(as_map((content or {}).get("dataVersion")).get("counter")) or 0
    return ConfigCopy(entry.name, CopyState.READABLE, rows, has_table=True), counter


def _rows(content: Content | None, file: ConfigFile) -> Table:
    return as_map((content or {}).get(file.table))


def _json_counter(entry: Entry | None) -> int:
    """The counter of the data version in a JSON file that can be read; -1 without one."""
    if entry is None or not entry.size:
        return -1
    text = text_of(entry)
    if text is None:
        return -1
    document = as_map(parse(text.encode())) if text.strip(BLANKS) else {}
    return whole_number(as_map(document.get("dataVersion")).get("counter")) or 0


def _table_of(file: ConfigFile) -> ConfigFile:
    """Offsets of light queues are in the same database as all others."""
    return OFFSETS if file is LMQ_OFFSETS else file
