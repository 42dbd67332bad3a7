"""The lake reads a broker's log where its broker.conf says that it lies."""

from __future__ import annotations

from pathlib import Path

from parsers.store.store import open_store
from pipelines.defs.partitions import keys_of
from pipelines.lake.configuration.sources import BrokerSource
from pipelines.spark.transfer import slices_of
from tests.support.build_store import shop


def test_every_message_comes_from_the_folder_that_broker_conf_names(tmp_path: Path) -> None:
    builder = shop(tmp_path / "store")
    root = builder.finish()
    log = tmp_path / "disk2" / "log"
    log.parent.mkdir()
    (root / "commitlog").rename(log)
    conf = tmp_path / "broker.conf"
    conf.write_text(f"storePathRootDir={root}\nstorePathCommitLog={log}\n", "utf-8")
    broker = BrokerSource("broker-a", root, broker_conf=conf)
    rows = [row for work in slices_of(broker, "commitlog_messages") for batch in work() for row in batch.to_pylist()]
    assert [row["physical_offset"] for row in rows] == [message.physical_offset for message in builder.records]
    assert {Path(row["file"]).parent for row in rows} == {log}
    files = keys_of(broker, open_store(root, commitlog_folders=[log]))["commitlog_file"]
    assert {key.partition("/")[2] for key in files} == {row["file"] for row in rows}
