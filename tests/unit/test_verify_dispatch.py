"""How far dispatch had come when a broker was killed, told from units of which one is wrong."""

from __future__ import annotations

from pathlib import Path

from parsers.consumequeue.layout import CQ_UNIT
from recovery.verify.findings.finding import Finding
from recovery.verify.verify import verify
from tests.support.build_store import SETTINGS, VERSION, overwrite, queue_file, shop, undispatched
from tests.support.opened import opened

BEHIND = 5
SECOND = 1


def findings(root: Path) -> tuple[Finding, ...]:
    return verify(*opened(root, VERSION, SETTINGS)).findings


def change_last_unit(root: Path, **fields: int) -> int:
    """Change the last unit of a queue; returns its queue offset."""
    path = queue_file(root, "Orders", 1, SECOND)
    number = (len(path.read_bytes().rstrip(b"\0")) - 1) // CQ_UNIT.size
    unit = CQ_UNIT.unpack(path.read_bytes(), number * CQ_UNIT.size)
    overwrite(path, number * CQ_UNIT.size, CQ_UNIT.pack(unit | fields))
    return int(path.name) // CQ_UNIT.size + number


def test_a_unit_of_a_size_beyond_the_log_does_not_tell_that_dispatch_came_so_far(tmp_path: Path) -> None:
    builder = shop(tmp_path / "store")
    root = builder.finish()
    undispatched(root, builder.records[-BEHIND].physical_offset)
    (root / "abort").touch()
    change_last_unit(root, msg_size=2**30)
    assert {found.kind for found in findings(root)} & {"not_dispatched", "index_keys_missing"} == set()


def test_a_wrong_unit_does_not_tell_that_dispatch_came_to_where_it_leads(tmp_path: Path) -> None:
    """The broker was killed before it dispatched the last messages; the last unit of a queue leads to one of those."""
    builder = shop(tmp_path / "store")
    root, last = builder.finish(), builder.records[-1]
    undispatched(root, builder.records[-BEHIND].physical_offset)
    (root / "abort").touch()
    assert not findings(root)
    at = change_last_unit(root, physical_offset=last.physical_offset, msg_size=last.total_size, tags_code=0)
    (wrong,) = findings(root)
    assert (wrong.span.topic, wrong.span.queue_id, wrong.span.queue_offset) == ("Orders", 1, at)
