"""What a broker loads of topics, groups and offsets where databases and JSON files hold them, recorded from its own
managers of 5.4.0 and 5.5.0."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recovery.broker.store_folder import read_evidence
from recovery.config.files import Rows
from recovery.config.load import ConfigLoad
from recovery.config.losses import offsets_of
from recovery.config.start import ConfigStart, config_start_of
from recovery.forecast.config_repairs import config_repairs
from recovery.rules.settings import StoreSettings
from recovery.rules.versions import BrokerVersion
from tests.support.table_loads import CASES, RECORDED, make_config, settings_of

LOADS = {(told["version"], told["case"]): told for told in map(json.loads, RECORDED.read_text().splitlines())}
TABLES = {"topics": Rows.TOPICS, "groups": Rows.GROUPS, "offsets": Rows.OFFSETS}
MADE = "nothing"
"""The case with what every start makes."""


def start_of(root: Path, version: str, name: str) -> ConfigStart:
    make_config(root, version, CASES[name])
    settings = StoreSettings.from_config(settings_of(CASES[name]))
    return config_start_of(read_evidence(root, settings), BrokerVersion.parse(version), settings)


def rows_of(load: ConfigLoad) -> set[str]:
    """Names, and offsets with their queues as Java prints a map."""
    if load.file.rows is not Rows.OFFSETS:
        return set(load.rows)
    queues: dict[str, list[str]] = {}
    for (group, topic, queue_id), offset in sorted(offsets_of(load.rows).items()):
        queues.setdefault(f"{topic}@{group}", []).append(f"{queue_id}={offset}")
    return {f"{name} {{{', '.join(pairs)}}}" for name, pairs in queues.items()}


@pytest.mark.parametrize(("version", "name"), LOADS)
def test_tables_are_loaded_as_their_managers_load_them(tmp_path: Path, version: str, name: str) -> None:
    start, told = start_of(tmp_path, version, name), LOADS[version, name]
    for table, rows in TABLES.items():
        load = next(load for load in start.loads if load.file.rows is rows)
        assert load.returns is told[table]["load"], table
        if load.returns and name != MADE:
            made = LOADS[version, MADE][table]["rows"]
            assert rows_of(load).difference(made) == set(told[table]["rows"]), table


@pytest.mark.parametrize("name", ["their own", "in one, json counts further"])
def test_offsets_that_stay_behind_in_a_database_are_lost(tmp_path: Path, name: str) -> None:
    start = start_of(tmp_path, "5.5.0", name)
    groups = {group for group, _, _ in start.losses.offsets}
    assert groups >= ({"SG"} if name == "their own" else {"MG", "MG-2"})


def test_the_setting_is_left_out_until_offsets_are_taken_over(tmp_path: Path) -> None:
    start = start_of(tmp_path, "5.5.0", "their own")
    ways = list(config_repairs(start, read_evidence(tmp_path, StoreSettings.from_config(settings_of({})))))
    assert [way.config for way in ways] == [{"useSingleRocksDBForAllConfigs": "false"}]
    off = StoreSettings.from_config(settings_of({"single": False}))
    played = config_start_of(read_evidence(tmp_path, off), BrokerVersion.parse("5.5.0"), off)
    assert not played.losses.offsets
