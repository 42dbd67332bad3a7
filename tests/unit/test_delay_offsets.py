"""Which delayOffset.json stops a broker up to 4.9.8: what fastjson takes is taken, whatever stands in its texts."""

from __future__ import annotations

import pytest

from recovery.delay_offsets import delay_offsets_load


@pytest.mark.parametrize(
    ("main", "backup", "loads"),
    [
        (b'{"offsetTable":{1:5,12:0}}', None, True),
        (b'{"offsetTable":{},"note":"a {1: b, 2: c"}', b"{", True),
        (b"{offsetTable:{'1':5,},}", b"{", True),
        (b'{"note":"\xff"}', b"{", True),
        (b"null", b"{", True),
        (b"{", b'{"offsetTable":{1:5}}', True),
        (b"{", b"[1]", False),
        (b"{{{", b"{{{", False),
        (b"{", b"", True),
        (None, None, True),
        (b"[" * 100_000, b"{", False),
    ],
)
def test_which_files_load(main: bytes | None, backup: bytes | None, loads: bool) -> None:
    assert delay_offsets_load((main, backup)) is loads
