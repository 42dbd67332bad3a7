"""Every key query of real brokers' stores, and every entry of their index files, against what their classes said."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pyarrow as pa
import pytest

from parsers.index.find import IndexQuery
from parsers.index.geometry import Geometry
from parsers.index.open import open_index
from parsers.index.read import index_files, read_index
from parsers.index.schema import INDEX_ENTRY_SCHEMA
from parsers.store.store import open_store
from parsers.values.java import index_key_hash, string_hash_code
from tests.support.index_slots import wrong_slots
from tests.support.stores import since, store_names, store_root, truth, truth_lines

stores = pytest.mark.parametrize("name", store_names(subject="queues"))


@stores
def test_every_key_query_finds_what_the_broker_found(name: str) -> None:
    query = IndexQuery(open_store(store_root(name)).index)
    answered, alike = 0, defaultdict[tuple[Any, ...], dict[str, list[int]]](dict)
    for line in truth_lines(name, "query_by_key.jsonl.gz"):
        topic, key = line["topic"], line["key"]
        assert string_hash_code(f"{topic}#{key}") == line["keyHash"]
        hits = query.find(topic, key, max_num=line["maxNum"], begin_ms=line["begin"], end_ms=line["end"])
        assert [hit.physical_offset for hit in hits] == line["phyOffsets"]
        alike[topic, line["maxNum"], line["begin"], line["end"]][key] = line["phyOffsets"]
        answered += 1
    assert answered >= 100
    for (topic, most, begin, end), keys in alike.items():
        (found,) = query.find_all(topic, list(keys), max_num=most, begin_ms=begin, end_ms=end)
        assert [found.physical_offset[found.key == row].tolist() for row in range(len(keys))] == list(keys.values())


@stores
def test_every_entry_is_a_row_and_every_slot_is_sound(name: str) -> None:
    files = open_store(store_root(name)).index
    settings = truth(name, "store_state.json")["settings"]
    geometry = Geometry(int(settings["maxHashSlotNum"]), int(settings["maxIndexNum"]))
    rows = index_files(files).to_pylist()
    table = pa.Table.from_batches(read_index(files), INDEX_ENTRY_SCHEMA)
    assert {(row["hash_slots"], row["max_entries"]) for row in rows} == {tuple(geometry)}
    assert len(table) == sum(row["index_count"] - 1 for row in rows)
    for opened in open_index(files):
        assert wrong_slots(opened) == []


@pytest.mark.parametrize("name", since(4, store_names(subject="index of unique ids")))  # clients of 3.x made none
def test_index_holds_the_unique_id_of_every_indexed_message(name: str) -> None:
    table = pa.Table.from_batches(read_index(open_store(store_root(name)).index), INDEX_ENTRY_SCHEMA)
    entries = set(zip(table["physical_offset"].to_pylist(), table["key_hash"].to_pylist(), strict=True))
    messages = [line for line in truth_lines(name, "messages.jsonl.gz") if line.get("uniqKey")]
    rollback = 0xC
    assert messages
    for line in messages:
        if line["sysFlag"] & rollback != rollback:
            assert (line["physicalOffset"], index_key_hash(f"{line['topic']}#{line['uniqKey']}")) in entries
