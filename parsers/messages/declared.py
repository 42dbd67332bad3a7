"""What a kind of message is declared with: its fields, and how its bytes or properties become records."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal, TypeAlias

from parsers.damage.errors import CorruptRecord
from parsers.layouts.fastjson import Json, whole_number
from parsers.values.java import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN, parse_whole

Form = Literal["int32", "int64", "time_ms", "flag", "text", "int64_list", "json"]
"""What a value is. `time_ms` is an int64 that counts milliseconds since 1970 in UTC; `json` a list or an object, as the
JSON text of it."""
Value: TypeAlias = "int | bool | str | list[int] | None"
MOST_DECODED_BYTES = 8 << 20
"""No broker takes a message larger than that unless set to (`maxMessageSize`, 4 MiB); larger ones are not decoded."""
MOST_PIECES = 1 << 17
"""Values that are read of one body. An op message has 4096 bytes, a trace message 128 000, unless set otherwise."""
WHOLE: dict[Form, tuple[int, int]] = {
    "int32": (INT_MIN, INT_MAX),
    "int64": (LONG_MIN, LONG_MAX),
    "time_ms": (LONG_MIN, LONG_MAX),
}


@dataclass(frozen=True, slots=True)
class Named:
    """One value of a record: our name, the name it is stored under (empty where its place tells), and its form.

    `older_stored` is the name that older versions stored it under.
    """

    name: str
    stored: str
    form: Form
    meaning: str
    older_stored: str = ""


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes `start` to `end` of a body, and the value that stands there; `named` is None where none does."""

    start: int
    end: int
    record_no: int
    named: Named | None
    value: Value


@dataclass(frozen=True, slots=True)
class Record:
    """One record that a message states. `kind` is the kind's name; `values` has every declared field, or null."""

    kind: str
    record_no: int
    values: dict[str, Value]


class BodyKind(ABC):
    """A kind of body.

    Attributes:
        name, title, source: its name in rows, what it is, and the Java class#method that writes it.
        fields: every field that a record of it may have.
    """

    name: str
    title: str
    source: str
    fields: tuple[Named, ...]

    @abstractmethod
    def pieces(self, body: bytes) -> Iterator[Piece]:
        """The pieces of a decompressed body, end to end. Raises CorruptRecord where it is no such body."""

    def fields_of(self, record: Sequence[Piece]) -> Sequence[Named]:
        """The declared fields of the record that these pieces make."""
        return self.fields

    def markdown(self) -> str:
        """The table printed into docs/formats."""
        return markdown(self.name, self.title, self.source, self.fields)

    def whole(self, body: bytes) -> list[Piece]:
        """All pieces. Raises CorruptRecord as `pieces` does, and where a body says more than any has."""
        if len(body) > MOST_DECODED_BYTES:
            raise CorruptRecord("too long to be decoded", field="body", expected=MOST_DECODED_BYTES, actual=len(body))
        pieces = list(islice(self.pieces(body), MOST_PIECES + 1))
        if len(pieces) > MOST_PIECES:
            raise CorruptRecord("more values than a body has", field="body", expected=MOST_PIECES)
        return pieces

    def records(self, body: bytes) -> list[Record]:
        """What the body says. Raises CorruptRecord as `whole` does."""
        grouped: dict[int, list[Piece]] = {}
        for piece in self.whole(body):
            if piece.named is not None:
                grouped.setdefault(piece.record_no, []).append(piece)
        return [Record(self.name, number, self._values(pieces)) for number, pieces in grouped.items()]

    def _values(self, pieces: Sequence[Piece]) -> dict[str, Value]:
        values: dict[str, Value] = {field.name: None for field in self.fields_of(pieces)}
        return values | {piece.named.name: piece.value for piece in pieces if piece.named}


def markdown(name: str, title: str, source: str, fields: Sequence[Named]) -> str:
    """The table printed into docs/formats."""
    stored = (f"`{each.stored}`" if each.stored else "" for each in fields)
    rows = [
        f"| `{each.name}` | {under} | {each.form} | {each.meaning} |"
        for each, under in zip(fields, stored, strict=True)
    ]
    head = ["| field | stored as | form | meaning |", "|---|---|---|---|"]
    return "\n".join([f"### `{name}`: {title}", "", f"Source: `{source}`", "", *head, *rows])


def text_value(field: Named, text: str) -> Value:
    """A value that is stored as text. Raises CorruptRecord where it has not the field's form."""
    if field.form == "text":
        return text
    if field.form == "flag":
        return text.lower() == "true"  # Boolean.parseBoolean
    return _bounded(field, parse_whole(text), text)


def json_value(field: Named, value: Json) -> Value:
    """A value of a JSON body; null stays null. Raises CorruptRecord where it has not the field's form."""
    if value is None:
        return None
    if field.form == "text" and isinstance(value, str):
        return value
    if field.form == "flag" and isinstance(value, bool):
        return value
    if field.form == "int64_list" and isinstance(value, list):
        numbers = replace(field, form="int64")
        return [_bounded(numbers, whole_number(each), str(each)) for each in value]
    if field.form == "json" and isinstance(value, list | dict):
        return _json_text(field, value)
    return _bounded(field, whole_number(value), str(value))


def _json_text(field: Named, value: Json) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:  # the encoder's depth may be less than the reader's
        raise _wrong(field, "lists in lists") from None


def _bounded(field: Named, number: int | None, stored: str) -> int:
    low, high = WHOLE.get(field.form, (1, 0))
    if number is None or not low <= number <= high:
        raise _wrong(field, stored)
    return number


def _wrong(field: Named, stored: str) -> CorruptRecord:
    return CorruptRecord("a value of another form", field=field.name, expected=field.form, actual=stored[:100])
