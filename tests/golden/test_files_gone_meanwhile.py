"""Log files that a broker deletes once they were read change nothing of what is told of their messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pipelines.answers.derived.store_rows import STREAMS
from pipelines.lake.configuration.sources import BrokerSource
from recovery.fates import held
from recovery.scan.log_runs import LogRun, log_runs
from tests.support.copies import copy_tree
from tests.support.stores import store_root

OF_FILES = {"expires_at": None, "expires_first": None}
"""What is told of the files themselves."""


@pytest.mark.parametrize("table", ["delayed_messages", "retry_chains", "transactions", "popped_messages"])
def test_what_is_told_of_messages_needs_no_file_after_the_scan(
    table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = copy_tree(store_root("5.3.3-pop" if table == "popped_messages" else "5.3.3-clean"), tmp_path / "store")

    def told() -> list[dict[str, Any]]:
        return [row | OF_FILES for batch in STREAMS[table](BrokerSource("a", root)) for row in batch.to_pylist()]

    as_it_was = told()
    assert as_it_was
    monkeypatch.setattr(held, "log_runs", gone_afterwards(root / "commitlog", tmp_path / "away"))
    assert told() == as_it_was


def gone_afterwards(folder: Path, away: Path) -> Callable[..., Iterator[LogRun]]:
    """Scans of a log whose files are there while one goes on."""

    def scan(*given: Any, **named: Any) -> Iterator[LogRun]:
        if away.exists():
            away.rename(folder)
        yield from log_runs(*given, **named)
        folder.rename(away)

    return scan
