"""Every bit flipped in records of real brokers is found, but for the fields that docs/damage.md names."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from parsers.commitlog.record.properties import NAME
from parsers.store.store import open_store
from tests.support.bit_flips import field_of_each_byte, first_records, unnoticed_flips
from tests.support.fixtures import CHECKOUT
from tests.support.small_log import SmallLog
from tests.support.stores import store_root

PAGE = CHECKOUT / "docs" / "damage.md"
IPV6_BITS = 2


def documented(table: int) -> list[str]:
    """The fields in the first column of a table of the page's last part."""
    tables = PAGE.read_text("utf-8").partition("## What no check covers")[2].split("\n\n")
    rows = [block for block in tables if block.startswith("| field |")][table].splitlines()[2:]
    return [row.split("`")[1] for row in rows]


def flipped(name: str, folder: Path) -> tuple[Counter[str], Counter[str]]:
    """Flips of each field in the first record of a store, and how many of them nothing noticed."""
    file = first_records(open_store(store_root(name)).commitlog[0], 1, folder)
    sizes = Counter(field_of_each_byte(file))
    return Counter({field: 8 * size for field, size in sizes.items()}), unnoticed_flips(file, body_bits=range(1))


@pytest.mark.parametrize("name", ["4.9.7-ipv6", "5.3.3-ipv6"])
def test_a_plain_record(name: str, tmp_path: Path) -> None:
    flips, unnoticed = flipped(name, tmp_path)
    partly = {"sys_flag": flips["sys_flag"] - IPV6_BITS}
    assert unnoticed == {field: partly.get(field, flips[field]) for field in documented(0)}


def test_a_record_with_its_own_crc(tmp_path: Path) -> None:
    _, unnoticed = flipped("5.3.3-propcrc", tmp_path)
    assert documented(1) == ["properties"]
    assert unnoticed == {"properties": 8 * (len(NAME) + len(b"\x02"))}


def test_a_record_without_body(tmp_path: Path) -> None:
    log = SmallLog(size=256)
    log.put(1, body=b"")
    log.end()
    unnoticed = unnoticed_flips(log.save(tmp_path))
    assert unnoticed["body_size"] == 1
    assert unnoticed["body_crc"] == 0
