"""`python -m tests.lake_faults.plain_ingest CONFIG`: `rocketlens ingest` without Java, ended as it ends."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.lake_faults.processes import ended, ingest

if __name__ == "__main__":
    sys.exit(ended(ingest(Path(sys.argv[1]))))
