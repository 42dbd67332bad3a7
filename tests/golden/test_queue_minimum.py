"""The offsets that `queues` gives, against those of started brokers whose log lost its first files, those that
ConsumeQueue finds in queues whose units are out of order, and BatchConsumeQueue in damaged queues."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import pytest

from parsers.store.store import open_store
from pipelines.answers.derived.queue_figures import queue_figures
from recovery.rules.versions import BrokerVersion
from tests.support.fixtures import GOLDEN
from tests.support.recovery_cases import golden_cases

CASES = golden_cases()
DAMAGES = ("file.missing_first", "file.missing_heads")
HEADLESS = [name for name in CASES.names() if CASES.case(name)["damageClass"].startswith(DAMAGES)]
OUT_OF_ORDER = [name for name in CASES.names() if "queuesFound" in CASES.case(name)]


@pytest.mark.parametrize("name", HEADLESS)
def test_a_queue_begins_where_the_started_broker_says(name: str) -> None:
    case = CASES.case(name)
    started = case["truth"].get("afterLoad", {}).get("queues", {})
    with CASES.built(case) as root:
        rows = queue_figures(open_store(root), BrokerVersion.parse(case["version"]), lambda damage: None)
        ours = {f"{row['topic']}/{row['queue_id']}": row["min_queue_offset"] for row in rows if row["units"]}
    assert ours == {queue: told["min"] for queue, told in started.items() if queue in ours}


@pytest.mark.parametrize("name", OUT_OF_ORDER)
def test_a_queue_out_of_order_begins_where_the_version_s_search_ends(name: str) -> None:
    case = CASES.case(name)
    with CASES.built(case) as root:
        rows = list(queue_figures(open_store(root), BrokerVersion.parse(case["version"]), lambda damage: None))
        ours = {f"{row['topic']}/{row['queue_id']}": (row["min_queue_offset"], row["max_queue_offset"]) for row in rows}
    assert all(row["messages"] <= row["max_queue_offset"] - row["min_queue_offset"] for row in rows)
    assert ours == {queue: (told["min"], told["max"]) for queue, told in case["queuesFound"].items()}


def test_a_damaged_queue_of_batches_has_the_ends_that_its_class_gives(tmp_path: Path) -> None:
    with lzma.open(GOLDEN / "recovery" / "batch_queues.jsonl.xz", "rt") as lines:
        rows = [json.loads(line) for line in lines]
    differs = {}
    for number, row in enumerate(rows):
        if row["files"]:
            told = row["told"]
            (found,) = batch_figures(tmp_path / str(number), row["log"], row["files"], row["version"])
            if found != (told["min"], told["max"]):
                differs[number] = found, told
    assert differs == {}


def batch_figures(root: Path, log: str, files: dict[str, str], version: str) -> list[tuple[int, int]]:
    queue = root / "batchconsumequeue" / "Batches" / "0"
    for folder in (queue, root / "commitlog"):
        folder.mkdir(parents=True)
    (root / "commitlog" / log).write_bytes(bytes(32_768))
    for name, content in files.items():
        (queue / name).write_bytes(bytes.fromhex(content))
    rows = queue_figures(open_store(root), BrokerVersion.parse(version), lambda damage: None)
    return [(row["min_queue_offset"], row["max_queue_offset"]) for row in rows]
