"""One writer per lake on an object store: who has the lease, who is dead, and who lost it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from io import BytesIO

import pytest

pytest.importorskip("obstore", reason="the extra `objects` is not installed")

from pipelines.lake import vacuum
from pipelines.lake.delta import commit as commits
from pipelines.lake.delta import lease as leases
from pipelines.lake.delta.errors import LakeBusy, LakeError, LakeMoved
from pipelines.lake.delta.lease import LEASE_NAME, require_lease
from pipelines.lake.delta.parts import Part
from pipelines.lake.lake import Lake
from pipelines.lake.lock import writing
from pipelines.objects.place import ObjectPlace
from pipelines.objects.storage import Storage
from tests.support.s3_server import WELL, Environ, S3Server, s3_server
from tests.support.small_lake import put

HOLDER = """
import sys, time
from pipelines.lake.lock import writing
from pipelines.objects.place import ObjectPlace
from pipelines.objects.storage import Storage
with writing(ObjectPlace.of(sys.argv[1], Storage()), "ingest"):
    print("held", flush=True)
    time.sleep(60)
"""
ELSEWHERE = {"pid": 7, "host": "other", "doing": "ingest", "since": "2026-01-01T00:00:00+00:00", "token": "t"}


@pytest.fixture(scope="module")
def s3() -> Iterator[S3Server]:
    with s3_server() as server:
        server.bucket("box")
        yield server


@pytest.fixture
def lake(s3: S3Server, request: pytest.FixtureRequest) -> Iterator[ObjectPlace]:
    yield ObjectPlace.of(f"s3://box/{request.node.originalname}", Storage.read({"max_retries": 0}))
    s3.fault = lambda environ: WELL


def held(lake: ObjectPlace) -> dict[str, object]:
    found = json.loads((lake / LEASE_NAME).read_bytes())
    assert isinstance(found, dict)
    return found


def test_a_holder_is_named_and_a_dead_one_holds_nobody_up(lake: ObjectPlace) -> None:
    command = [sys.executable, "-c", HOLDER, str(lake)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        told = rf"^{lake}: process {process.pid} on \S+ \(ingest, since \S+\+00:00\) writes to this lake: wait until it"
        with pytest.raises(LakeBusy, match=told) as busy, writing(lake, "another"):
            pass
        assert busy.value.held_for is not None
        process.send_signal(signal.SIGKILL)
    with writing(lake, "the next"):
        assert held(lake)["doing"] == "the next"
        with writing(lake, "inner"):
            assert held(lake)["doing"] == "the next"
    assert held(lake) == {}


def test_one_elsewhere_is_dead_when_it_was_not_heard_of_for_long(
    lake: ObjectPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    (lake / LEASE_NAME).write_bytes(json.dumps(ELSEWHERE).encode())
    told = r"process 7 on other .* if it was killed, the lake is free in 1\d\d s"
    with pytest.raises(LakeBusy, match=told), writing(lake, "another"):
        pass
    monkeypatch.setattr(leases, "LEASE_S", 1.0)
    with writing(lake, "another", wait_s=10):
        assert held(lake)["doing"] == "another"


def test_a_holder_that_renews_is_waited_for(lake: ObjectPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "LEASE_S", 3.0)
    monkeypatch.setattr(leases, "RENEW_S", 0.3)
    monkeypatch.setattr(leases, "_has_died", lambda holder: False)
    with writing(lake, "ingest"):
        found = leases._read(lake / LEASE_NAME)
        time.sleep(4)
        now = leases._read(lake / LEASE_NAME)
        assert found is not None
        assert now is not None
        assert now.token == found.token
        assert leases._server_clock(lake / "clock") - now.written_s < leases.LEASE_S


def test_who_lost_the_lease_commits_nothing_more(lake: ObjectPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "SURE_S", 0.0)
    tables = Lake(lake)
    with writing(lake, "ingest"):
        put(tables, "watermarks", {"broker": "a", "physical_offset": 1})
        (lake / LEASE_NAME).write_bytes(json.dumps(ELSEWHERE).encode())
        with pytest.raises(LakeError, match="another one writes to the lake by now"):
            put(tables, "watermarks", {"broker": "a", "physical_offset": 2})
    assert tables.query("SELECT physical_offset FROM watermarks").to_pylist() == [{"physical_offset": 1}]
    assert len(list(tables.table_root("watermarks").rglob("part-*"))) == 1
    assert held(lake) == ELSEWHERE, "who lost it does not let it go"


def test_a_lease_that_is_lost_behind_the_look_at_the_parts_commits_nothing(
    lake: ObjectPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next holder's `vacuum` removes the parts that no version names yet, and writes no version itself."""
    tables, look = Lake(lake), commits._require_parts
    put(tables, "watermarks", {"broker": "a", "physical_offset": 1})

    def stalled(root: ObjectPlace, parts: list[Part]) -> None:
        look(root, parts)
        (lake / LEASE_NAME).write_bytes(json.dumps(ELSEWHERE).encode())
        for part in parts:
            (root / part.path).unlink()

    with writing(lake, "ingest"), monkeypatch.context() as patched:
        patched.setattr(leases, "SURE_S", 0.0)
        patched.setattr(commits, "_require_parts", stalled)
        with pytest.raises(LakeError, match="another one writes to the lake by now"):
            put(tables, "watermarks", {"broker": "a", "physical_offset": 2})
    assert tables.query("SELECT physical_offset FROM watermarks").to_pylist() == [{"physical_offset": 1}]


def test_a_vacuum_that_lost_the_lease_removes_nothing_of_the_next_holder(
    lake: ObjectPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stands still between what the log names and what lies there, and takes new parts for left ones."""
    tables, look = Lake(lake), vacuum.named_parts
    put(tables, "watermarks", {"broker": "a", "physical_offset": 1})

    def stalled(root: ObjectPlace, since_s: float) -> tuple[set[str], set[str]]:
        named = look(root, since_s)
        (lake / LEASE_NAME).write_bytes(json.dumps(ELSEWHERE).encode())
        with monkeypatch.context() as patched:
            patched.setattr(leases, "_held", {})
            put(tables, "watermarks", {"broker": "a", "physical_offset": 2})
        return named

    with writing(lake, "vacuum"), monkeypatch.context() as patched:
        patched.setattr(leases, "SURE_S", 0.0)
        patched.setattr(vacuum, "named_parts", stalled)
        found = list(vacuum.leftovers(tables, keep_days=0))
        assert found
        with pytest.raises(LakeError, match="another one writes to the lake by now"):
            vacuum.remove(found[0])
    assert tables.query("SELECT physical_offset FROM watermarks").to_pylist() == [{"physical_offset": 2}]


def test_an_answer_that_was_lost_is_no_loss_of_the_lease(s3: S3Server, lake: ObjectPlace) -> None:
    retried = ObjectPlace(lake.bucket, lake.key, Storage())
    lost = ["lease"]

    def fault(environ: Environ) -> str | None:
        of_lease = environ["REQUEST_METHOD"] == "PUT" and environ["PATH_INFO"].endswith(LEASE_NAME)
        return "drop after" if of_lease and lost and lost.pop() else WELL

    s3.fault = fault
    with writing(retried, "ingest"):
        assert held(lake)["pid"] == os.getpid()
        lost.append("renewal")
        (lease,) = leases._held.values()
        lease.renew()
        require_lease(retried)
    assert lost == []


@pytest.mark.parametrize("retries", [0, 3])
def test_a_commit_whose_answer_was_lost_is_made_once(s3: S3Server, lake: ObjectPlace, retries: int) -> None:
    tables = Lake(ObjectPlace.of(f"{lake}/{retries}", Storage.read({"max_retries": retries})))
    put(tables, "watermarks", {"broker": "a", "physical_offset": 1})
    before, lost = tables.version("watermarks"), ["commit"]
    assert before is not None

    def fault(environ: Environ) -> str | None:
        is_commit = environ["REQUEST_METHOD"] == "PUT" and environ["PATH_INFO"].endswith(f"{before + 1:020d}.json")
        return "drop after" if is_commit and lost and lost.pop() else WELL

    s3.fault = fault
    put(tables, "watermarks", {"broker": "a", "physical_offset": 2})
    assert lost == []
    assert tables.version("watermarks") == before + 1
    assert tables.query("SELECT physical_offset FROM watermarks").to_pylist() == [{"physical_offset": 2}]


def test_a_commit_to_a_version_that_another_one_wrote_is_refused(s3: S3Server, lake: ObjectPlace) -> None:
    tables = Lake(lake)
    put(tables, "watermarks", {"broker": "a", "physical_offset": 1})
    before = tables.version("watermarks")
    assert before is not None
    others = [f"{before + 1:020d}.json"]

    def fault(environ: Environ) -> str | None:
        if others and environ["REQUEST_METHOD"] == "PUT" and environ["PATH_INFO"].endswith(others[0]):
            others.clear()
            s3.answer({**environ, "wsgi.input": BytesIO(b"{}"), "CONTENT_LENGTH": "2"})  # the other one is faster
        return WELL

    s3.fault = fault
    with pytest.raises(LakeMoved, match=f"another process wrote version {before + 1} meanwhile"):
        put(tables, "watermarks", {"broker": "a", "physical_offset": 2})
    assert len(list(tables.table_root("watermarks").rglob("part-*"))) == 1


def test_a_server_without_conditions_gets_no_lake(s3: S3Server, lake: ObjectPlace) -> None:
    def without_conditions(environ: Environ) -> str | None:
        environ.pop("HTTP_IF_NONE_MATCH", None)
        environ.pop("HTTP_IF_MATCH", None)
        return WELL

    s3.fault = without_conditions
    with pytest.raises(LakeError, match="writes over what is there although it was told not to"), writing(lake, "x"):
        pass
    assert not (lake / LEASE_NAME).exists()
