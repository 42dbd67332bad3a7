"""Text from outside made safe to show: names of files and lines of logs may hold what a terminal obeys."""

from __future__ import annotations

import os
import sys
import textwrap

_shown: dict[str, str] = {}
"""What is shown in place of the folder that stands for a store elsewhere."""


def show_as(folder: str, address: str) -> None:
    """From now on let a store be named by its address, wherever the folder that stands for it is named."""
    _shown[folder] = address


def as_named(text: str) -> str:
    """The text, with each store named as the user named it."""
    for folder, address in _shown.items():
        text = text.replace(folder, address)
    return text


def visible(text: str) -> str:
    """The text with everything that does not print, control characters and turns of direction, as an escape."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def say(sentence: str) -> None:
    """One line on stderr; on a terminal as many as it needs, broken between words."""
    line = f"rocketlens: {visible(as_named(sentence))}"
    print(
        wrapped(line, max(os.get_terminal_size(sys.stderr.fileno()).columns, 40)) if sys.stderr.isatty() else line,
        file=sys.stderr,
    )


def wrapped(line: str, width: int, indent: str = "  ") -> str:
    """Lines of at most `width` characters where words allow it; a word that is longer, a path say, stays whole."""
    lines = textwrap.wrap(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines)
