"""Which files among kept copies of consumerOffset.json count."""

from __future__ import annotations

import os
from pathlib import Path

from pipelines.answers.offsets.saved import offsets_in


def test_a_bak_is_no_copy(tmp_path: Path) -> None:
    """A 4.x broker writes the older table into it after the newer one: it would be an offset that went back."""
    for name, offset, seconds in (("consumerOffset.json", 9, 100), ("consumerOffset.json.bak", 5, 101)):
        path = tmp_path / name
        path.write_text(f'{{"offsetTable":{{"T@G":{{0:{offset}}}}}}}', "utf-8")
        os.utime(path, (seconds, seconds))
    (copy,) = offsets_in(tmp_path, lambda sentence: None)
    assert copy.offsets["G", "T"] == {0: 9}
    (asked,) = offsets_in(tmp_path / "consumerOffset.json.bak", lambda sentence: None)
    assert asked.offsets["G", "T"] == {0: 5}
