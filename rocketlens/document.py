"""What the documents of the commands have in common: they are read by field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


class Document(Mapping[str, Any]):
    """One JSON document, `document`, by its fields.

    Attributes:
        unread: what should have been read and could not, a sentence each. Empty: the answer is complete.
        notes: remarks for a person, such as a version that was assumed.
    """

    def __init__(self, document: Mapping[str, Any], unread: tuple[str, ...] = (), notes: tuple[str, ...] = ()) -> None:
        self.document, self.unread, self.notes = document, unread, notes

    def __getitem__(self, field: str) -> Any:
        return self.document[field]

    def __iter__(self) -> Iterator[str]:
        return iter(self.document)

    def __len__(self) -> int:
        return len(self.document)
