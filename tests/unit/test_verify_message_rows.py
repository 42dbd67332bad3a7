"""rocksdbstore against the log: rows that a real broker left are silent, each changed one is named."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from rocksdict import Options, Rdict

from parsers.rocksdb.layout import HALF_FAMILY, HALF_VALUE, INDEX_FAMILY, INDEX_VALUE, NOTES, TIMER_FAMILY, TIMER_VALUE
from recovery.verify.findings.finding import Finding
from recovery.verify.verify import verify
from tests.golden.test_rocksdbstore_truth import VERSIONS, store
from tests.support.copies import copy_tree
from tests.support.opened import opened

VALUES = {INDEX_FAMILY: INDEX_VALUE, TIMER_FAMILY: TIMER_VALUE, HALF_FAMILY: HALF_VALUE}


def found_after(root: Path, family: str, change: str, seed: int) -> tuple[Finding, ...]:
    """The findings of a store of 5.5.0 after one row of this column family was changed, moved or deleted."""
    copy_tree(store("5.5.0"), root)
    folder, random = root / "rocksdbstore", Random(seed)
    families = {name: Options(raw_mode=True) for name in Rdict.list_cf(str(folder))}
    database = Rdict(str(folder), options=Options(raw_mode=True), column_families=families)
    rows = database.get_column_family(family)
    keys = [key for key in rows.keys() if (family, key) not in NOTES and len(rows[key]) == VALUES[family].size]  # noqa: SIM118
    key = random.choice(keys)
    value = rows[key]
    if change == "value":
        rows[key] = value[:-1] + bytes([value[-1] ^ 1 << random.randrange(8)])
    elif change == "key":
        at = random.randrange(6, len(key)) if family != INDEX_FAMILY else len(key) - 1 - random.randrange(2)
        del rows[key]
        rows[key[:at] + bytes([key[at] ^ 1]) + key[at + 1 :]] = value
    elif change == "cut":
        rows[key] = value[:-1]
    else:
        del rows[key]
    database.close()
    (folder / "rocksdict-config.json").unlink()
    return verify(*opened(root)).findings


@pytest.mark.parametrize("version", VERSIONS)
def test_rows_of_a_real_broker_are_silent(version: str) -> None:
    assert verify(*opened(store(version))).findings == ()


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("family", "change", "kinds"),
    [
        (INDEX_FAMILY, "value", {"message_row_wrong", "message_row_missing"}),
        (INDEX_FAMILY, "key", {"message_row_wrong", "message_row_missing"}),
        (INDEX_FAMILY, "cut", {"message_row_unreadable"}),
        (INDEX_FAMILY, "delete", {"message_row_missing"}),
        (TIMER_FAMILY, "value", {"message_row_wrong"}),
        (TIMER_FAMILY, "cut", {"message_row_unreadable"}),
        (HALF_FAMILY, "value", {"message_row_wrong"}),
        (HALF_FAMILY, "key", {"message_row_wrong"}),
    ],
)
def test_a_changed_row_is_named(tmp_path: Path, family: str, change: str, kinds: set[str], seed: int) -> None:
    found = found_after(tmp_path / "store", family, change, seed)
    assert {each.kind for each in found} <= kinds
    assert found
    assert {place.file for each in found for place in each.places} == {"rocksdbstore"}
