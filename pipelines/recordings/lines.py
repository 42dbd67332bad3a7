"""The lines and records of a log or a capture, of whatever form: plain, gzipped, JSON lines, packets."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, cast

from parsers.damage.errors import NotThisFormat, why_unreadable
from pipelines.recordings.kept_copy import GZIP_MAGIC
from rebalance.model.json_text import parse_json

Problem = Callable[[str], None]

LONGEST_LINE = 1 << 24
CUT_GZIP = (EOFError, zlib.error, gzip.BadGzipFile)
"""What reading a gzipped file raises where it is cut or damaged."""


def lines_of(path: Path, problem: Problem) -> Iterator[bytes]:
    """Lines of a plain or gzipped file, up to where it can be read, or to one of LONGEST_LINE bytes."""
    try:
        with plain(path) as lines:
            for line in iter(partial(lines.readline, LONGEST_LINE), b""):
                if len(line) == LONGEST_LINE:
                    problem(
                        f"{path}: a line of {LONGEST_LINE} bytes and more is none of a log; those before it were read"
                    )
                    return
                yield line
    except CUT_GZIP as cut:
        problem(f"{path}: {why_unreadable(cut)}; the lines before it were read")
    except OSError as refused:
        problem(f"{path}: {refused.strerror or refused}")


def records_of(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """JSON objects; a line that is none becomes a record without fields, which the reader of facts reports."""
    for line in lines:
        try:
            record = parse_json(line)
        except (ValueError, RecursionError):
            record = None
        yield record if isinstance(record, dict) else {}


def records_of_packets(path: Path, broker_ports: Collection[int], problem: Problem) -> Iterator[dict[str, Any]]:
    """The wire records of a pcap or pcapng file."""
    from pipelines.recordings.pcap import CaptureCounts, records_from_pcap

    def tell(counts: CaptureCounts) -> None:
        if counts.bad_packets or counts.holes or counts.cut_short:
            cut = ", and the file is cut short" if counts.cut_short else ""
            problem(f"{path}: {counts.bad_packets} broken packets, {counts.holes} holes in connections{cut}")
        if len(counts.brokers) > 1:
            named = ", ".join(sorted(counts.brokers))
            problem(f"{path}: hosts {named} answer at the broker's port; all is taken for one broker's")
        if not counts.frames.frames and counts.packets:
            ports = " or ".join(map(str, sorted(broker_ports)))
            what = "is TCP" if not counts.segments else "holds a request or an answer that can be read (TLS cannot)"
            problem(f"{path}: none of {counts.packets} packets {what} at the broker's port {ports}")

    try:
        with plain(path) as capture:
            yield from records_from_pcap(capture, broker_ports=broker_ports, on_end=tell)
    except NotThisFormat as other:
        problem(f"{path}: {other.problem}")
    except OSError as refused:
        problem(f"{path}: {refused.strerror or refused}")


def plain(path: Path) -> BinaryIO:
    """The file, or of a gzipped one what was packed."""
    with path.open("rb") as file:
        is_packed = file.read(len(GZIP_MAGIC)) == GZIP_MAGIC
    return cast("BinaryIO", gzip.open(path, "rb")) if is_packed else path.open("rb")


def ignored(sentence: str) -> None:
    """While a file is only being recognised; it is named when it is read."""
