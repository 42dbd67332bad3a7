"""A document for a person: labelled lines first, then lists under titles."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

LABEL, MOST_LABEL = 15, 32
"""Cells of the column that says what a line is about: at least, and at most for the sake of a long label."""


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
