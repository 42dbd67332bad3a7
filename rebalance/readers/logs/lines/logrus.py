"""Lines of the Go client, which logrus writes: `time="…" level=info msg="…" key=value …`.

A value with other bytes than letters, digits and a few signs stands in quotes, as Go's %q writes it.
Source: rlog/log.go of apache/rocketmq-client-go v2.0.0 - v2.1.2; TextFormatter of sirupsen/logrus.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import NamedTuple

LOGRUS_START = b'time="'
_HEAD = re.compile(
    rb'time="(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d))" '
    rb'level=([a-z]{1,16}) msg=("(?:[^"\\]|\\.)*+"|[^"\s]*+)(?=[ \r\n]|$)'
)
_PAIR = re.compile(r' ([^\s="]{1,64}+)=("(?:[^"\\]|\\.)*+"|[^ "]*+)')
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_SIGNS = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_LAST_CHARACTER = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)


class LogrusLine(NamedTuple):
    """One line. `at_ms`: the second it was written in, epoch ms; `message`: its text, then ` key=value` without quotes,
    in the line's order, which is that of the keys.
    """

    at_ms: int
    level: str
    message: str


def logrus_line(line: bytes) -> LogrusLine | None:
    """The parts of a line; None if it is cut, or none of logrus's. Time grows with the line's length and no faster."""
    head = _HEAD.match(line)
    at_ms = None if head is None else _epoch_ms(head[1])
    if head is None or at_ms is None:
        return None
    rest = line[head.end() :].decode("utf-8", "replace").rstrip()
    parts, at = [_unquoted(head[3].decode("utf-8", "replace"))], 0
    while at < len(rest):
        pair = _PAIR.match(rest, at)
        if pair is None:
            return None
        parts.append(f"{pair[1]}={_unquoted(pair[2])}")
        at = pair.end()
    return LogrusLine(at_ms, head[2].decode().upper(), " ".join(parts))


def _epoch_ms(text: bytes) -> int | None:
    try:
        return int(datetime.fromisoformat(text.decode("ascii")).timestamp()) * 1000
    except (ValueError, OverflowError):
        return None


def _unquoted(text: str) -> str:
    return _ESCAPE.sub(_character, text[1:-1]) if text.startswith('"') else text


def _character(escape: re.Match[str]) -> str:
    code, sign = escape[1] or escape[2] or escape[3], escape[4]
    if code is None:
        return _SIGNS.get(sign, sign)
    number = int(code, 16)
    return chr(number) if number <= _LAST_CHARACTER and number not in _SURROGATES else escape[0]
