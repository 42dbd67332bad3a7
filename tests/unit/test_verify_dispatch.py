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


def test_a_wrong_unit_does_not_tell_that_dispatch_came_to_where_it_leads(tmp_path: Path) -> None:
    """The broker was killed before it dispatched the last messages; the last unit of a queue leads to one of those."""
    builder = shop(tmp_path / "store")
    root, last = builder.finish(), builder.records[-1]
    undispatched(root, builder.records[-BEHIND].physical_offset)
    (root / "abort").touch()
    assert not findings(root)
    unit = {"physical_offset": last.physical_offset, "msg_size": last.total_size, "tags_code": 0}
    path = queue_file(root, "Orders", 1, SECOND)
    number = (len(path.read_bytes().rstrip(b"\0")) - 1) // CQ_UNIT.size
    overwrite(path, number * CQ_UNIT.size, CQ_UNIT.pack(unit))
    (wrong,) = findings(root)
    at = int(path.name) // CQ_UNIT.size + number
    assert (wrong.span.topic, wrong.span.queue_id, wrong.span.queue_offset) == ("Orders", 1, at)
