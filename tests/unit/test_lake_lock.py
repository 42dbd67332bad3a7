"""One writer per lake, whatever the other one does; a dead one holds nobody up."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipelines.lake.delta.errors import LakeBusy
from pipelines.lake.lock import LOCK_NAME, writing

HOLDER = """
import sys, time
from pathlib import Path
from pipelines.lake.lock import writing
with writing(Path(sys.argv[1]), "ingest"):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that has the lock of the lake `tmp_path`."""
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_the_holder_is_named(tmp_path: Path, holder: subprocess.Popen[str]) -> None:
    told = rf"^{re.escape(str(tmp_path))}: process {holder.pid} on \S+ \(ingest, since \d{{4}}-\S+\+00:00\) writes to"
    with pytest.raises(LakeBusy, match=told), writing(tmp_path, "another ingest", wait_s=0.3):
        pass


def test_how_long_a_holder_has_it_is_unknown_where_it_does_not_say(
    tmp_path: Path, holder: subprocess.Popen[str]
) -> None:
    with pytest.raises(LakeBusy) as named, writing(tmp_path, "another ingest"):
        pass
    assert named.value.held_for is not None
    assert named.value.held_for.total_seconds() >= 0
    (tmp_path / LOCK_NAME).write_text("")
    with pytest.raises(LakeBusy, match="another process") as silent, writing(tmp_path, "another ingest"):
        pass
    assert silent.value.held_for is None


def test_a_dead_holder_holds_nobody_up(tmp_path: Path, holder: subprocess.Popen[str]) -> None:
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert '"ingest"' in (tmp_path / LOCK_NAME).read_text()
    with writing(tmp_path, "the next ingest"):
        assert '"the next ingest"' in (tmp_path / LOCK_NAME).read_text()
    assert (tmp_path / LOCK_NAME).read_text() == ""


def test_a_process_enters_its_own_lock_again(tmp_path: Path, holder: subprocess.Popen[str]) -> None:
    other = tmp_path / "other"
    with writing(other, "outer"):
        with writing(other, "inner"):
            pass
        assert '"outer"' in (other / LOCK_NAME).read_text()
    with pytest.raises(ValueError, match="stop"), writing(other, "failing"):
        raise ValueError("stop")
    with writing(other, "later"):
        pass
