"""How often `verify` opens a file: a broker has queues by the hundred thousand, and each opening costs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from parsers.evidence import mapped
from recovery.verify.verify import verify
from tests.support.build_store import SETTINGS, VERSION, shop
from tests.support.opened import opened

MOST = 5
"""Where its units end (two), its units beside the log's, the place of its first unit, the end of its last one."""


def test_a_queue_in_its_place_is_opened_few_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, known = opened(shop(tmp_path / "store").finish(), VERSION, SETTINGS)
    opens, really = Counter[str](), mapped.open_descriptor

    def counted(path: Path | str) -> int:
        opens[str(path)] += 1
        return really(path)

    monkeypatch.setattr(mapped, "open_descriptor", counted)
    assert not verify(store, known).findings
    lasts = [str(files[-1].path) for files in store.queues.values()]
    assert lasts
    assert max(opens[path] for path in lasts) <= MOST
