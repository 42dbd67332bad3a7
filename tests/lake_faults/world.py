"""Two small stores of a real broker at two moments, and what a lake made from them holds."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from parsers.commitlog.record.message import decode_message
from pipelines.demo import BUNDLE
from pipelines.lake.lake import Lake
from pipelines.lake.tables.raw import TABLES
from tests.support.copies import copy_tree
from tests.support.fixtures import unpack_store

BROKERS = ("a", "b")
KEPT = ("commitlog", "index", "consumequeue/OrderTopic0", "consumequeue/OrderTopic1")
LAST = "commitlog/00000000000003145728"
WHEN_S = {"early": 1_790_000_000, "late": 1_790_000_600}
"""Modification time, epoch seconds, of the file that grows."""
NOT_CONTENT: Mapping[str, tuple[str, ...]] = {
    "ingested_files": ("inode", "read_at", "modified_ns"),
    "made_from": ("inputs", "made_at"),
    "watermarks": ("taken_at",),
}
"""Columns that say when and where an ingest read, not what."""
SUMS = "SELECT count(*) AS n, bit_xor(hash(told)) AS x, sum(hash(told)::HUGEINT) AS s FROM ({rows}) AS told"


@dataclass(frozen=True, slots=True)
class World:
    """A folder with stores, logs and any number of lakes, each with its own configuration."""

    folder: Path
    delete_when: str
    """An hour that is far from now: what is told of the cleaners is the same for every ingest of a run."""

    @classmethod
    def make(cls, folder: Path) -> World:
        """Unpack the stores; they are at the early moment."""
        world, demo = cls(folder, f"{(datetime.now().hour + 12) % 24:02}"), unpack_store(BUNDLE, folder / "demo")
        (folder / "lakes").mkdir()
        for broker in BROKERS:
            for name in KEPT:
                copy_tree(demo / name, world.store(broker) / name)
        shutil.copy2(demo / LAST, folder / "whole")
        logs = Path(__file__).resolve().parents[1] / "golden/rebalance/sessions/e-550-same-clientid/logs"
        copy_tree(logs, folder / "logs")
        shutil.rmtree(folder / "demo")
        world.move_to("early")
        return world

    def store(self, broker: str) -> Path:
        return self.folder / "stores" / broker

    def move_to(self, moment: str) -> None:
        """Let the last log file of every store be as it was at that moment, times included."""
        whole = (self.folder / "whole").read_bytes()
        for broker in BROKERS:
            path = self.store(broker) / LAST
            path.write_bytes(whole if moment == "late" else _first_half(whole))
            os.utime(path, (WHEN_S[moment], WHEN_S[moment]))

    def config(self, lake: Path, names: Sequence[str] = BROKERS, *, spark_master: str = "local[*]") -> Path:
        """A configuration of these brokers with that lake."""
        brokers = "".join(
            f'[[broker]]\nname = "{name}"\nstore = "{self.store(name)}"\nversion = "5.3.3"\n'
            f'settings = {{ deleteWhen = "{self.delete_when}" }}\n'
            for name in names
        )
        place = lake.with_name(f"{lake.name}.toml")
        lake_told = f'[lake]\npath = "{lake}"\nspark_master = "{spark_master}"\n'
        place.write_text(f'{lake_told}{brokers}[[client]]\nlogs = "{self.folder / "logs"}"\n')
        return place


def content(lake: Lake) -> dict[str, tuple[int, ...]]:
    """For each table its rows and two sums over their hashes, which no order and no doubling leaves equal."""
    found = {}
    with lake.asked_often():
        for name, table in TABLES.items():
            left_out = NOT_CONTENT.get(name, ())
            kept = ", ".join(f'"{column.name}"' for column in table.columns if column.name not in left_out)
            rows = f"SELECT {kept} FROM {name}"
            found[name] = tuple(lake.query(SUMS.format(rows=rows)).to_pylist()[0].values())
    return found


def _first_half(whole: bytes) -> bytes:
    """A log file up to the first record after its middle, unwritten from there on."""
    at = 0
    while at < 400_000:
        at += decode_message(whole, at).total_size
    return whole[:at] + bytes(len(whole) - at)
