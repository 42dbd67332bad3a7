"""What a file is, by its name and its first lines: a log, a wire capture, polls, packets."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from contextlib import suppress
from itertools import islice
from os.path import abspath
from pathlib import Path
from typing import Literal

from parsers.evidence.seen import files_below
from pipelines.recordings.lines import CUT_GZIP, ignored, lines_of, plain
from pipelines.recordings.states import is_polled
from rebalance.model.json_text import parse_json
from rebalance.readers.logs.lines.boost import boost_line

LOG_NAME = re.compile(r"^(?P<stem>.+?)(?:[._-]\d[\dT._-]*)?\.log(?:[.-]\d[\d.-]*)?(?:\.gz)?$")
"""`broker.log`, `broker.1.log.gz`, `rocketmq_client_log-2026-11-21-3.log`, `broker.log.2`: one log, one stem."""
DATED = re.compile(rb'^(?:time=")?(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d.{0,4})')
BROKER_STEMS = {"broker", "broker_default", "lock", "filter", "pop", "remoting"}
CLIENT_STEMS = {"rocketmq_client", "rocketmq_client_log", "rocketmq-client", "tools", "tools_default"}
NO_NAME_FOR_A_BROKER = {"logs", "log", "rocketmqlogs", "otherdays", "other_days", ""}
LINES_SNIFFED = 50
PCAP_MAGIC = (b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\xc3\xd4", b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d", b"\x0a\x0d\x0d\x0a")


def is_pcap(path: Path) -> bool:
    """Packets, as tcpdump and Wireshark write them, gzipped or not."""
    with suppress(OSError, *CUT_GZIP), plain(path) as file:
        return file.read(len(PCAP_MAGIC[0])) in PCAP_MAGIC
    return False


def kind_of_lines(path: Path) -> Literal["wire", "polls"] | None:
    """What JSON lines are, by the first of them: a request, a response or a broker's life; or a poll's answer."""
    if ".jsonl" not in path.name and ".json" not in path.suffixes:
        return None
    for line in islice(lines_of(path, ignored), LINES_SNIFFED):
        try:
            record = parse_json(line)
        except (ValueError, RecursionError):
            continue
        if is_polled(record):
            return "polls"
        known = isinstance(record, dict) and record.get("dir") in ("request", "response", "lifecycle")
        return "wire" if known and "ts" in record else None
    return None


def name_stem(path: Path) -> str | None:
    """The name of the log that a file is a part of by its own name; None for a file that is named as no log is."""
    named = LOG_NAME.match(path.name)
    return named["stem"] if named else None


def logs_among(given: Iterable[Path], stems: Collection[str], *, or_named: bool = False) -> list[Path]:
    """The files of these logs among files and folders, each once, by their whole paths.

    Args:
        or_named: a file that is given itself is one by whatever name.
    Raises:
        FileNotFoundError: a path that is not there.
    """
    found: dict[Path, None] = {}
    for place in given:
        place.stat()
        for path in files_below(place):
            if name_stem(path) in stems or (or_named and path == place):
                found[Path(abspath(path))] = None
    return list(found)


def log_stem(path: Path) -> str | None:
    """The name of the log this file is a part of; None for logs that tell nothing about ownership."""
    stem = name_stem(path)
    if stem in BROKER_STEMS | CLIENT_STEMS:
        return stem
    if stem is None or path.parent.name in NO_NAME_FOR_A_BROKER:
        return None
    return stem if _looks_like_a_log(path) and stem.startswith(("rocketmq", "broker")) else None


def _looks_like_a_log(path: Path) -> bool:
    return any(DATED.match(line) for line in islice(lines_of(path, ignored), LINES_SNIFFED))


def first_stamp(path: Path) -> bytes:
    """The time of a log's first entry, as it is written there; b"" without one."""
    for line in islice(lines_of(path, ignored), LINES_SNIFFED):
        if dated := DATED.match(boost_line(line) or line):
            return dated[1]
    return b""
