"""Answers that are no rows: JSON documents, and text for a person."""

from __future__ import annotations

import json
import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, BinaryIO

from pipelines.cli.frame.visible import as_named

if TYPE_CHECKING:
    from rich.console import Console

WIDTH_IN_A_PIPE = 120
"""Columns of text that goes to no terminal."""
LABEL, MOST_LABEL = 15, 32
"""Cells of the column that says what a line is about: at least, and at most for the sake of a long label."""


def width_of(out: BinaryIO) -> int:
    """Columns of the terminal behind `out`, or COLUMNS, or a fixed width."""
    if out.isatty():
        return shutil.get_terminal_size().columns
    given = os.environ.get("COLUMNS", "")
    return int(given) if given.isdigit() and int(given) > 0 else WIDTH_IN_A_PIPE


def console_on(out: BinaryIO) -> Console:
    """rich on an output: colours on a terminal, plain text elsewhere."""
    from rich.console import Console

    if out is sys.stdout.buffer:
        return Console(width=width_of(out), highlight=False)
    return Console(file=TextIOWrapper(out, encoding="utf-8", write_through=True), width=width_of(out), highlight=False)


def write_documents(documents: Iterable[dict[str, Any]], out: BinaryIO, *, indented: bool) -> None:
    """JSON objects, one a line (or one indented), each flushed: a reader may be waiting for the answer."""
    for document in documents:
        try:
            line = _json(document, indented, ascii_only=False).encode()
        except UnicodeEncodeError:  # a lone surrogate, as Java's strings may hold: only an escape is UTF-8
            line = _json(document, indented, ascii_only=True).encode()
        out.write(line + b"\n")
        out.flush()


def _json(document: dict[str, Any], indented: bool, *, ascii_only: bool) -> str:
    indent, separators = (2, None) if indented else (None, (",", ":"))
    return as_named(json.dumps(document, ensure_ascii=ascii_only, indent=indent, separators=separators))


def sections(head: Iterable[tuple[str, str]], lists: Iterable[tuple[str, Sequence[str]]], width: int) -> Iterator[str]:
    """Lines of at most `width` cells, where words allow it.

    Args:
        head: label and text of each line.
        lists: title and entries of each list; one without entries is left out. An entry that begins with a space goes
            on with the entry before it.
    """
    told = [(f"{label}  ", text) for label, text in head]
    column = max(LABEL, *(min(len(label), MOST_LABEL) for label, _ in told), 0)
    for label, text in told:
        yield from _wrapped(f"{label:<{column}}", text, width)
    for title, entries in lists:
        if entries:
            yield ""
            yield title
            for entry in entries:
                yield from _wrapped("    " if entry.startswith(" ") else "  - ", entry.lstrip(), width)


def _wrapped(head: str, text: str, width: int) -> list[str]:
    room, indent = max(width, 40), " " * len(head)
    return textwrap.wrap(
        text, room, initial_indent=head, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
