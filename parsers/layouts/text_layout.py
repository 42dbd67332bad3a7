"""Files of lines of text, declared once: read, explained and documented from one declaration."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LineField:
    """What one line holds: `name` says its form, `meaning` what it counts."""

    name: str
    meaning: str


class TextLayout:
    """Lines in file order; every line from the last declared one on is of its form.

    Attributes:
        title, source: what the file is, and the Java class#method that writes it.
    """

    def __init__(self, title: str, source: str, *lines: LineField) -> None:
        self.title, self.source, self.lines = title, source, lines

    def line(self, number: int) -> LineField:
        """What line `number` of a file, from 0, holds."""
        return self.lines[min(number, len(self.lines) - 1)]

    def markdown(self) -> str:
        """The table printed into docs/formats."""
        last = len(self.lines)
        numbers = (f"{n}{' and on' if n == last else ''}" for n in range(1, last + 1))
        rows = [
            f"| {number} | `{line.name}` | {line.meaning} |" for number, line in zip(numbers, self.lines, strict=True)
        ]
        head = ["| line | form | meaning |", "|---|---|---|"]
        return "\n".join([f"### {self.title} (lines of text)", "", f"Source: `{self.source}`", "", *head, *rows])
