"""Every entry of the nodes of real DLedger groups, against what DLedgerStore said: committed or not."""

from __future__ import annotations

import json
from hashlib import sha256

import pyarrow as pa
import pytest

from parsers.dledger.entries import ENTRY_SCHEMA, read_entries
from parsers.store.store import Store, open_store
from tests.support.stores import STORES, store_names, store_root, truth, truth_lines

nodes = pytest.mark.parametrize("name", store_names("dledger3", subject="queues"))


def entries_of(store: Store) -> list[dict[str, int]]:
    rows: list[dict[str, int]] = pa.Table.from_batches(read_entries(store.commitlog), ENTRY_SCHEMA).to_pylist()
    return rows


@nodes
def test_every_entry_equals_the_nodes(name: str) -> None:
    store, told = open_store(store_root(name)), truth(name, "dledger.json")
    entries = entries_of(store)
    header = [told["entryFields"].index(field) for field in ("index", "term", "pos", "size")]
    assert [[row[field] for field in ("entry_index", "term", "position", "entry_size")] for row in entries] == [
        [entry[place] for place in header] for entry in told["entries"]
    ]
    data = {file.base_offset: file.path.read_bytes() for file in store.commitlog}
    for row, entry in zip(entries, told["entries"], strict=True):
        base = max(offset for offset in data if offset <= row["physical_offset"])
        place = row["physical_offset"] - base
        body = data[base][place : place + row["msg_size"]]
        assert sha256(body).hexdigest() == entry[told["entryFields"].index("bodySha256")]


@nodes
def test_queues_point_to_messages_of_entries(name: str) -> None:
    entries = {row["physical_offset"]: row["msg_size"] for row in entries_of(open_store(store_root(name)))}
    queued = {line["physicalOffset"]: line["size"] for line in truth_lines(name, "messages.jsonl.gz")}
    assert queued.items() <= entries.items()


@pytest.mark.parametrize("group", sorted({name.partition("/")[0] for name in store_names("dledger3")}))
def test_the_halted_leader_parts_from_the_others_where_it_was_seen_to(group: str) -> None:
    pair = json.loads((STORES / group / "truth" / "pair.json").read_text("utf-8"))
    others = [name for name in store_names("dledger3") if name.startswith(f"{group}/")]
    others.remove(f"{group}/{pair['cutOff']}")
    cut_off = entries_of(open_store(store_root(f"{group}/{pair['cutOff']}")))
    for name in others:
        kept = entries_of(open_store(store_root(name)))
        terms = [(mine["term"], theirs["term"]) for mine, theirs in zip(cut_off, kept, strict=False)]
        assert [mine == theirs for mine, theirs in terms].index(False) == pair["firstDifferingIndex"]
