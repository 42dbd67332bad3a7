"""A stream over a store plans no batch that lacks messages, and says what became of the log as it is."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from parsers.store.store import Store
from pipelines.spark.sources.commitlog import CommitLogReader
from pipelines.spark.sources.commitlog_stream import AT, CommitLogStream
from tests.support.build_store import StoreBuilder, shop


@pytest.fixture
def store(tmp_path: Path) -> StoreBuilder:
    """A log of several files."""
    built = shop(tmp_path / "store")
    built.finish()
    return built


def log_files(store: StoreBuilder) -> list[Path]:
    return sorted((store.root / "commitlog").iterdir())


def stream_of(store: StoreBuilder, reader: type[CommitLogReader] = CommitLogReader) -> CommitLogStream:
    return CommitLogStream(reader, {"store": str(store.root)}, ["topic"], "commitlog_messages")


def reached(stream: CommitLogStream) -> dict[str, int]:
    return stream.latestOffset(stream.initialOffset(), stream.getDefaultReadLimit())


def test_a_file_that_expires_while_a_batch_is_planned_is_said(store: StoreBuilder) -> None:
    """The plan lacked its messages, and the stream went on behind them."""
    end, first = reached(stream_of(store)), log_files(store)[0]
    looks: list[int] = []

    class Meanwhile(CommitLogReader):
        def store(self) -> Store:
            looks.append(1)
            if len(looks) == 2:
                first.unlink()
            return super().store()

    with pytest.raises(ValueError, match="the broker has deleted"):
        stream_of(store, Meanwhile).partitions({AT: 0}, end)


def test_a_batch_of_files_that_are_gone_is_not_read_in_part(store: StoreBuilder) -> None:
    """A batch that is read again after a restart is planned without a look at how far the store has come."""
    end = reached(stream_of(store))
    log_files(store)[-1].unlink()
    with pytest.raises(ValueError, match=r"its end was cut.*a new checkpoint and a new table"):
        stream_of(store).partitions({AT: 0}, end)


def test_a_log_that_is_not_there_is_not_called_cut(store: StoreBuilder) -> None:
    stream = stream_of(store)
    end = reached(stream)
    shutil.rmtree(store.root / "commitlog")
    for look in (stream.initialOffset, lambda: stream.latestOffset(end, stream.getDefaultReadLimit())):
        with pytest.raises(ValueError, match="log") as told:
            look()
        assert "was cut" not in str(told.value)
