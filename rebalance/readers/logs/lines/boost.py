"""Lines of the C++ client, which Boost.Log writes: `[2020-Mar-28 08:42:42.124297](info):text[function:line]`.

The instant is local time, without its zone. The function and its line stand there since v1.2.2.
Source: src/log/Logging.cpp, src/log/Logging.h of apache/rocketmq-client-cpp v1.2.0 - v2.2.0.
"""

from __future__ import annotations

import re

BOOST_START = b"["
_MONTHS = b"Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
_MONTH = {name: b"%02d" % number for number, name in enumerate(_MONTHS, start=1)}
_HEAD = re.compile(rb"\[(\d{4})-([A-Z][a-z]{2})-(\d\d) (\d\d:\d\d:\d\d)\.(\d{3})\d{0,6}\]\(([a-z]{1,16})\):")
_WHERE = re.compile(rb"\[[A-Za-z_~]\w{0,127}:\d{1,6}\]\s*\Z")
_WHERE_SIZE = 160
"""Bytes that the function and its line take at most."""


def boost_line(line: bytes) -> bytes | None:
    """The line as a Java client of 4.3.0 - 5.0.0 lays it out, whose stamps are local time too; None if it is none of
    Boost's."""
    head = _HEAD.match(line)
    month = None if head is None else _MONTH.get(head[2])
    if head is None or month is None:
        return None
    message = line[head.end() :]
    where = _WHERE.search(message, max(len(message) - _WHERE_SIZE, 0))
    text = message if where is None else message[: where.start()]
    return b"%b-%b-%b %b,%b %b cpp - %b" % (head[1], month, head[3], head[4], head[5], head[6].upper(), text)
