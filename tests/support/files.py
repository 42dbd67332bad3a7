"""Small store files made by hand, and the accounting of what a reader said about them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from parsers.damage.errors import Damage
from parsers.layouts.layout import Layout
from parsers.store.store_file import StoreFile, classify


def put(root: Path, place: str, content: bytes) -> StoreFile:
    """Write one file below a store root and list it."""
    path = root / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return classify(root, path)


def packed(layout: Layout, rows: Iterable[Sequence[int]]) -> bytes:
    """Rows of a layout, fields in its order."""
    return b"".join(layout.pack(dict(zip(layout.offsets, row, strict=True))) for row in rows)


class Seen:
    """A damage sink that remembers."""

    def __init__(self) -> None:
        self.rows: list[Damage] = []

    def __call__(self, damage: Damage) -> None:
        self.rows.append(damage)

    @property
    def places(self) -> list[tuple[int, int, str | None]]:
        return [(row.file_pos, row.length, row.field) for row in self.rows]
