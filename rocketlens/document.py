"""What the documents of the commands have in common: they are read by field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


class Document(Mapping[str, Any]):
    """One JSON document, `document`, by its fields."""

    document: Mapping[str, Any]

    def __getitem__(self, field: str) -> Any:
        return self.document[field]

    def __iter__(self) -> Iterator[str]:
        return iter(self.document)

    def __len__(self) -> int:
        return len(self.document)
