"""The tokens of an SQL92 filter, one at a time: the parser looks at one token ahead and at nothing after it.

That matters: RocketMQ's parser does not ask for the end of the text, so that `a = 1 whatever` is the filter `a = 1`,
and only a first token after it that is none makes the filter invalid.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from recovery.filter.errors import InvalidFilter

KEYWORDS = frozenset({"NOT", "AND", "OR", "BETWEEN", "IN", "TRUE", "FALSE", "NULL", "IS"})
TEXT_KEYWORDS = frozenset({"CONTAINS", "STARTSWITH", "ENDSWITH"})
END = ""
"""The kind of the token after the last."""

_SKIPPED = re.compile(r"(?:[ \t\n\r\f]|--[^\n\r]*(?:\r\n|\n|\r)|/\*[^*]*\*(?:\*|[^*/][^*]*\*)*/)*")
_TOKEN = re.compile(
    r"(?P<double>\d+\.\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?|\d+e[+-]?\d+)"
    r"|(?P<whole>0|[1-9]\d*l?)"
    r"|(?P<text>'(?:''|[^'])*')"
    r"|(?P<word>[a-z_$][a-z0-9_$]*)"
    r"|(?P<sign><>|>=|<=|[=><(),+-])",
    re.ASCII | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Token:
    """One token. `kind`: a keyword or sign, or `double`, `whole`, `text`, `name`; `image`: as it is written."""

    kind: str
    image: str


class Tokens:
    """The tokens of a filter in order.

    Source: SelectorParser.jj @4.1.0; the keywords for parts of texts @5.1.3.
    """

    def __init__(self, text: str, keywords: frozenset[str]) -> None:
        self._text, self._keywords, self._at = text, keywords, 0
        self.next = self._read()

    def take(self) -> Token:
        """The next token; the one after it becomes the next."""
        taken, self.next = self.next, self._read()
        return taken

    def take_kind(self, kind: str) -> Token:
        """The next token, which has to be of this kind.

        Raises:
            InvalidFilter: it is of another.
        """
        if self.next.kind != kind:
            found = f"'{self.next.image}'" if self.next.kind else "the end"
            raise InvalidFilter(f"{kind} expected where {found} is")
        return self.take()

    def take_if(self, kind: str) -> bool:
        """Take the next token if it is of this kind."""
        if self.next.kind != kind:
            return False
        self.take()
        return True

    def _read(self) -> Token:
        skipped = _SKIPPED.match(self._text, self._at)
        at = self._at if skipped is None else skipped.end()
        if at == len(self._text):
            self._at = at
            return Token(END, "")
        found = _TOKEN.match(self._text, at)
        if found is None:
            raise InvalidFilter(f"no token begins at character {at + 1}: '{self._text[at : at + 20]}'")
        self._at, image, kind = found.end(), found.group(), str(found.lastgroup)
        if kind == "word":
            kind = image.upper() if image.upper() in self._keywords else "name"
        return Token(image if kind == "sign" else kind, image)
