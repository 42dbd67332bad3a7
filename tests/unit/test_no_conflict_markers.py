"""No text of the project holds what a merge leaves behind."""

from __future__ import annotations

import re

from tests.support.fixtures import CHECKOUT

MARKER = re.compile(rb"^(<{7} |>{7} |={7}$)", re.MULTILINE)
ENDINGS = {".py", ".md", ".toml", ".sql", ".yml", ".yaml", ".j2", ".js", ".java", ".sh"}
ELSEWHERE = {".git", ".venv", "node_modules"}


def test_no_file_holds_the_marks_of_a_merge() -> None:
    texts = [path for path in CHECKOUT.rglob("*") if path.suffix in ENDINGS and not ELSEWHERE & set(path.parts)]
    assert len(texts) > 500
    assert [str(path) for path in texts if MARKER.search(path.read_bytes())] == []
