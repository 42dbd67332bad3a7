"""Bodies that are one JSON object: its members by name, each with the bytes it stands in."""

from __future__ import annotations

import re
from collections.abc import Iterator

from parsers.damage.errors import CorruptRecord
from parsers.layouts.fastjson import Json, parse
from parsers.messages.declared import BodyKind, Named, Piece, json_value

TOKEN = re.compile(rb'"(?P<text>(?:[^"\\]++|\\.)*+)"?|(?P<mark>[{}\[\],:])', re.DOTALL)
NOT_DECLARED = "a member that no version is known to write"
MOST_DEPTH = 2
"""Objects inside the outer one that are taken apart; what is deeper is one value."""
Spans = list[tuple[tuple[str, ...], int, int]]


class JsonKind(BodyKind):
    """One JSON object, as fastjson writes it. `Named.stored` is the member's name, `outer.inner` for one inside."""

    def __init__(self, name: str, title: str, source: str, *fields: Named) -> None:
        self.name, self.title, self.source, self.fields = name, title, source, fields
        self._by_stored = {stored: field for field in fields for stored in (field.stored, field.older_stored) if stored}

    def pieces(self, body: bytes) -> Iterator[Piece]:
        """A piece a member; one that is an object has a piece for each of its members."""
        told = parse(body)
        if not isinstance(told, dict):
            raise CorruptRecord("not a JSON object", field="body", length=len(body))
        members = list(_leaves(told, ()))
        spans = _spans(body)
        if [path for path, _, _ in spans] != [path for path, _ in members]:  # spaces, comments, a name twice
            spans = [(path, 0, len(body)) for path, _ in members]
        at = 0
        for (path, start, end), (_, value) in zip(spans, members, strict=True):
            field = self._by_stored.get(".".join(path))
            if field is None:
                field, value = Named(path[-1], ".".join(path), "text", NOT_DECLARED), str(value)
            yield Piece(max(start, at), max(end, at), 0, field, json_value(field, value))
            at = max(end, at)
        if at < len(body):
            yield Piece(at, len(body), 0, None, None)


def _leaves(told: dict[str, Json], above: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Json]]:
    for name, value in told.items():
        if isinstance(value, dict) and value and len(above) < MOST_DEPTH:
            yield from _leaves(value, (*above, name))
        else:
            yield (*above, name), value


def _spans(body: bytes) -> Spans:
    """The leaves of a strict JSON object: path, and the bytes from the end of the one before to its own end. What is
    deeper than `_leaves` goes belongs to the leaf above it."""
    spans: Spans = []
    path: list[str] = []
    name, depth_of_lists, too_deep, start = "", 0, 0, 0
    before = b""
    for token in TOKEN.finditer(body):
        mark = token["mark"]
        if mark is None:
            before = token["text"]
        elif mark in (b"[", b"]"):
            depth_of_lists += 1 if mark == b"[" else -1
        elif depth_of_lists:
            continue
        elif too_deep or (mark == b"{" and len(path) == MOST_DEPTH):
            too_deep += {b"{": 1, b"}": -1}.get(mark, 0)
        elif mark == b":":
            name = before.decode("utf-8", "replace")
        elif mark == b"{":
            path, name = ([*path, name] if name else path), ""
        else:
            if name:
                spans.append(((*path, name), start, token.end()))
                start, name = token.end(), ""
            if mark == b"}":
                path = path[:-1]
    if spans:
        last = spans[-1]
        spans[-1] = (last[0], last[1], len(body))
    return spans
