"""Calling `rocketlens` in this process, with its three streams as bytes."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelines.cli.app import main


@dataclass(frozen=True)
class Called:
    """How a call ended."""

    code: int
    out: bytes
    err: str

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Standard output as JSON lines."""
        return [json.loads(line) for line in self.out.splitlines()]


def call(*arguments: object, stdin: bytes = b"") -> Called:
    """`rocketlens ARGUMENTS`, nothing a terminal."""
    streams = sys.stdin, sys.stdout, sys.stderr
    out, err = io.BytesIO(), io.BytesIO()
    try:
        sys.stdin = io.TextIOWrapper(io.BytesIO(stdin))
        sys.stdout = io.TextIOWrapper(out, write_through=True)
        sys.stderr = io.TextIOWrapper(err, write_through=True, errors="backslashreplace")
        code = main([str(argument) for argument in arguments])
        sys.stdout.flush()
        return Called(int(code), out.getvalue(), err.getvalue().decode())
    finally:
        sys.stdin, sys.stdout, sys.stderr = streams


def rows_of(*arguments: object, stdin: bytes = b"") -> list[dict[str, Any]]:
    """The rows of a call that must end well."""
    called = call(*arguments, stdin=stdin)
    assert called.code == 0, called.err
    return called.rows


def small_store(root: Path) -> Path:
    """The least a store can be: one queue of two units, and a log without files."""
    (root / "commitlog").mkdir(parents=True)
    queue = root / "consumequeue" / "Orders" / "0"
    queue.mkdir(parents=True)
    units = [(0, 200, 7), (200, 300, -7)]
    from parsers.consumequeue.layout import CQ_UNIT

    packed = b"".join(CQ_UNIT.pack(dict(zip(CQ_UNIT.offsets, unit, strict=True))) for unit in units)
    (queue / f"{0:020d}").write_bytes(packed + bytes(60))
    return root
