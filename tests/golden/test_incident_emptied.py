"""Configuration that was emptied on a real broker's store: no command takes that for a broker without groups."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from parsers.values.utc import utc
from recovery.forecast.forecast import forecast
from recovery.verify.verify import verify
from tests.support.cli import call
from tests.support.copies import copy_tree
from tests.support.incidents import incident, incident_names
from tests.support.opened import opened

CASE = "5.3.3-topic-recreated"
TABLES = ("topics.json", "subscriptionGroup.json", "consumerOffset.json")
GROUPS = ("CG_keep", "CG_x-away", "CG_x-online", "CG_y-back", "CG_z")
NO_ROW = b'{"dataVersion":{"counter":1,"stateVersion":0,"timestamp":1795337016372},"offsetTable":{}}'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    copy_tree(incident(CASE).root, tmp_path / "store")
    return tmp_path / "store"


def put(root: Path, content: bytes, *names: str) -> None:
    """The files and their .bak with this content, and with the times that they had."""
    for name in names:
        for path in (root / "config" / name, root / "config" / f"{name}.bak"):
            seen = path.stat()
            path.write_bytes(content)
            os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns))


def test_a_file_of_0_bytes_is_a_finding_where_no_other_file_tells_of_it(root: Path) -> None:
    put(root, b"", *TABLES)
    named = {(finding.kind, finding.places[0].file) for finding in verify(*opened(root, "5.3.3")).findings}
    assert named == {("config_emptied", f"config/{name}") for name in TABLES}
    unknown = {each.what for each in forecast(*opened(root, "5.3.3"), with_advice=False).unknown}
    assert unknown >= {f"all that config/{name} held" for name in TABLES}


@pytest.mark.parametrize("command", ["lag", "backlog", "groups", "retention"])
def test_offsets_of_0_bytes_are_named_as_not_read(root: Path, command: str) -> None:
    put(root, b"", "consumerOffset.json")
    called = call(command, root)
    assert called.code == 4
    assert "consumerOffset.json bytes from 0: what the file held is not known" in called.err


@pytest.mark.parametrize("command", ["lag", "backlog", "retention"])
def test_an_empty_table_of_offsets_is_named(root: Path, command: str) -> None:
    put(root, NO_ROW, "consumerOffset.json")
    assert "its consumerOffset.json holds no offset" in call(command, root).err


@pytest.mark.parametrize("content", [b"", NO_ROW])
def test_no_group_can_go_where_the_offsets_were_emptied(root: Path, content: bytes) -> None:
    """The log shows that nobody is connected: only the offsets could say that nothing waits."""
    put(root, content, "consumerOffset.json")
    rows = call("groups", root, "--logs", incident(CASE).logs, "--no-proxy").rows
    of_users = [row for row in rows if row["group"] in GROUPS]
    assert [row["group"] for row in of_users] == list(GROUPS)
    assert [row["loses_nothing"] for row in of_users] == [None] * len(GROUPS)


def test_an_empty_table_beside_retry_topics_is_explained(root: Path) -> None:
    put(root, NO_ROW, "consumerOffset.json")
    found = verify(*opened(root, "5.3.3"))
    assert found.findings == ()
    (why,) = [each.why for each in found.explained if each.what == "no offset of any group"]
    assert f"({', '.join(GROUPS)})" in why


def test_a_reason_names_an_instant_in_utc(root: Path) -> None:
    os.utime(root / "config" / "consumerOffset.json", (2_000_000_000, 2_000_000_000))
    rows = call("groups", root, "--logs", incident(CASE).logs, "--no-proxy").rows
    reasons = {row["reason"] for row in rows if row["group"] in GROUPS}
    at = utc(2_000_000_000_000)
    assert reasons == {f"the log of the broker ends before the store was last written to ({at:%F %T}Z)"}


def test_delay_offsets_that_were_emptied_are_said_to_deliver_again(tmp_path: Path) -> None:
    copy_tree(incident("5.3.3-delay-overdue").root, tmp_path / "store")
    assert "delivers them again" not in call("delays", tmp_path / "store").err
    put(tmp_path / "store", b"{}", "delayOffset.json")
    called = call("delays", tmp_path / "store")
    delivered = sum(row["delivered"] for row in called.rows)
    assert f"{delivered} delivered messages are not behind the stored offset of their level" in called.err


def test_offsets_that_cannot_be_read_are_not_called_empty(root: Path) -> None:
    put(root, b'{"offsetTable":{', "consumerOffset.json")
    called = call("lag", root)
    assert called.code == 4
    assert "holds no offset" not in called.err


@pytest.mark.parametrize("name", incident_names("delay-overdue"))
def test_retention_counts_the_delayed_messages_that_wait(name: str, tmp_path: Path) -> None:
    copy_tree(incident(name).root, tmp_path / "store")
    pending: Counter[int] = Counter()
    stored: Counter[int] = Counter()
    for row in call("delays", tmp_path / "store").rows:
        pending[row["level"]] += row["pending"]
        stored[row["level"]] += row["messages"]
    assert pending.total() > 0
    rows = delayed_at_risk(tmp_path / "store")
    assert {row["level"]: row["pending_messages"] for row in rows} == pending
    assert {row["level"] for row in rows if row["status"] == "zero"} == {n for n, count in pending.items() if not count}
    put(tmp_path / "store", b"{}", "delayOffset.json")
    rows = delayed_at_risk(tmp_path / "store")
    assert {row["level"]: row["pending_messages"] for row in rows} == stored
    assert all(row["reason"].startswith("no offset is stored for this level") for row in rows)


def delayed_at_risk(root: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(call("retention", root).out)["delayed_at_risk"]
    return rows


def test_what_cannot_be_told_of_a_copy_has_its_reason(tmp_path: Path) -> None:
    shutil.copytree(incident(CASE).root, tmp_path / "store", copy_function=shutil.copyfile)
    document = json.loads(call("retention", tmp_path / "store").out)
    assert (document["bytes_per_s"], document["rate_reason"]) == (None, document["why_not"])
