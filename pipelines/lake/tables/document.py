"""docs/tables.md, printed from the declarations: `python -m pipelines.lake.tables.document`."""

from __future__ import annotations

from pathlib import Path

from pipelines.lake.tables.raw import TABLES

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "tables.md"
HEAD = """# Tables of the lake

Printed from the declarations in `pipelines/lake/tables/` by `python -m pipelines.lake.tables.document`; a test holds
the two in step.

Every column may be null, and null means unknown, never zero. Three offsets, never a bare one: `physical_offset` (byte
in the CommitLog), `queue_offset` (message number in a queue), `file_pos` (byte in a file). Times are UTC with µs.

The lake outlives the store: a file that a broker has deleted keeps its rows in the tables of store files
(`store_files.gone_at` says when it was first missed), and a configuration that it has overwritten keeps its snapshot.
`queues` and the tables derived from the stores say what the files say at the last run.
"""


def document() -> str:
    """The whole page."""
    return "\n\n".join([HEAD.strip(), *(table.markdown() for table in TABLES.values())]) + "\n"


if __name__ == "__main__":
    DOCUMENT.write_text(document(), "utf-8")
