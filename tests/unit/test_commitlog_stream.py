"""A stream over a store plans no batch that lacks messages, and says what became of the log as it is."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from parsers.store.store import Store
from pipelines.spark.sources.commitlog import CommitLogReader
from pipelines.spark.sources.commitlog_stream import AT, BEFORE, CommitLogStream
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
    return CommitLogStream(reader, options(store), ["topic"], "commitlog_messages")


def options(store: StoreBuilder) -> dict[str, str]:
    return {"store": str(store.root)}


def reached(stream: CommitLogStream) -> dict[str, int]:
    return stream.latestOffset(stream.initialOffset(), stream.getDefaultReadLimit())


def test_a_file_that_expires_while_a_batch_is_planned_is_said(store: StoreBuilder) -> None:
    """The plan lacked its messages, and the stream went on after them."""
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


def rewritten(store: StoreBuilder, kept: int, more: int) -> None:
    """The log after a start that cut it after its first `kept` messages, and a broker that went on."""
    for name in ("commitlog", "consumequeue", "index"):
        shutil.rmtree(store.root / name, ignore_errors=True)
    again = StoreBuilder(store.root)
    for number in range(kept + more):
        again.put(body=b"the same" if number < kept else b"another one")
    again.finish()


@pytest.fixture
def log(tmp_path: Path) -> StoreBuilder:
    """A log of forty messages of one topic."""
    built = StoreBuilder(tmp_path / "store")
    rewritten(built, 40, 0)
    return built


@pytest.mark.parametrize("kept", [39, 2])
def test_a_log_that_was_cut_and_has_grown_past_its_place_is_said(log: StoreBuilder, kept: int) -> None:
    """Its messages since the cut were left out up to the place, and what was in the table was in no log."""
    first = reached(stream_of(log))
    rewritten(log, kept, 50)
    stream = stream_of(log)
    with pytest.raises(ValueError, match=rf"before physical offset {first[AT]} is not .* was cut.*a new checkpoint"):
        stream.latestOffset(first, stream.getDefaultReadLimit())
    for start, end in (({AT: 0}, first), (first, reached(stream))):
        with pytest.raises(ValueError, match=rf"physical offset {first[AT]} is not what was there"):
            stream.partitions(start, end)


def test_a_log_that_grew_by_what_was_there_or_lost_its_beginning_goes_on(log: StoreBuilder) -> None:
    first = reached(stream_of(log))
    rewritten(log, 40, 10)
    after = reached(stream_of(log))
    assert after[AT] > first[AT]
    assert stream_of(log).partitions(first, after)
    assert stream_of(log).partitions({AT: first[AT]}, after), "an offset of an earlier version says nothing of it"
    files = log_files(log)
    behind = {AT: int(files[-1].name)}
    noted = reached(
        CommitLogStream(
            CommitLogReader, {**options(log), "max_physical_offset": files[-1].name}, ["topic"], "commitlog_messages"
        )
    )
    assert noted == {**behind, BEFORE: noted[BEFORE]}
    for path in files[:-1]:
        path.unlink()
    assert stream_of(log).latestOffset(noted, stream_of(log).getDefaultReadLimit())[AT] == after[AT]
