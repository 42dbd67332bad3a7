"""Files of config/ that a broker cuts to nothing and writes anew, while they are read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CUT_WHILE_READ = """
import os, sys
from pathlib import Path
from parsers.evidence.mapped import map_file
path = Path(sys.argv[1])
content = map_file(path)
os.truncate(path, 0)
print(len(bytes(content)))
"""
PAGES = 1 << 16


@pytest.mark.parametrize("name", ["consumerOffset.json", "topics.json.bak", "consumerOffset.json.tmp.bak"])
def test_a_file_that_is_cut_to_nothing_keeps_what_was_opened(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"{" + b" " * (PAGES - 2) + b"}")
    ended = subprocess.run([sys.executable, "-c", CUT_WHILE_READ, path], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout.strip()) == (0, str(PAGES)), "minus the signal that ended it"
