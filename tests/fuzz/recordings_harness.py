"""What is done with any bytes as a log, a capture, a poll, a question or a configuration.

Facts, counted problems or the one error that each reader names; nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from parsers.commitlog.record.body import decompress
from parsers.commitlog.record.host import decode_message_id
from parsers.commitlog.record.tags import DelayLevels
from parsers.damage.errors import NotThisFormat, StoreFormatError
from pipelines.answers.instants import parse_broker_instant, parse_instant
from pipelines.lake.configuration.sources import SourcesError, read_sources
from pipelines.recordings.pcap import CaptureCounts, records_from_pcap
from pipelines.recordings.recordings import facts_of, find_recordings
from rebalance.facts import Fact
from rebalance.readers.polled_states import facts_from_groups, facts_from_polls, facts_from_topics
from rebalance.readers.wire.remoting import FrameCounts, FrameSplitter
from rebalance.replay import replay
from rebalance.strategies.question import answer
from recovery.rules.versions import BrokerVersion
from tests.support.broker_conf import settings_of_conf
from tests.support.remoting_frames import encode_frame

BODY_CAP = 1 << 16


def read_recording(name: str) -> Callable[[bytes, Path], None]:
    """The bytes as a recording of that name, found, read and replayed."""

    def read(content: bytes, folder: Path) -> None:
        path = folder / name
        path.write_bytes(content)
        problems: list[str] = []
        replayed([fact for found in find_recordings([folder]) for fact in facts_of(found, problems.append)])

    return read


def replayed(facts: list[Fact]) -> None:
    """Any facts have a history; the same ones have the same."""
    assert replay(facts).metrics() == replay(facts).metrics()


def read_frames(content: bytes, folder: Path) -> None:
    """The bytes as one direction of a connection, fed whole and in pieces: the same commands, every byte counted."""
    for in_step in (True, False):
        whole, pieces = FrameCounts(), FrameCounts()
        commands = FrameSplitter(whole, in_step=in_step).feed(content)
        splitter = FrameSplitter(pieces, in_step=in_step)
        assert [command for at in range(0, len(content), 7) for command in splitter.feed(content[at : at + 7])] == (
            commands
        )
        assert whole.skipped_bytes == pieces.skipped_bytes <= len(content)
        for command in commands:
            encode_frame(command)


def read_pcap(content: bytes, folder: Path) -> None:
    """The bytes as a capture file."""
    path = folder / "x.pcap"
    path.write_bytes(content)
    counts: list[CaptureCounts] = []
    with path.open("rb") as capture, suppress(NotThisFormat):
        list(records_from_pcap(capture, broker_ports=[10911], on_end=counts.append))
        assert counts
    read_recording(path.name)(content, folder)


def documents(content: bytes) -> Iterator[Any]:
    """The lines of a file that are JSON."""
    for line in content.splitlines():
        with suppress(ValueError, RecursionError):
            yield json.loads(line)


def read_polls(content: bytes, folder: Path) -> None:
    """JSON lines as polls and as histories of a broker's configuration."""
    found = list(documents(content))
    stamped = list(enumerate(found))
    facts = [*facts_from_polls(found, source="b"), *facts_from_topics(stamped, source="b")]
    replayed([*facts, *facts_from_groups(stamped, source="b")])


def ask(content: bytes, folder: Path) -> None:
    """JSON lines as questions to the strategies."""
    for line in documents(content):
        if isinstance(line, dict):
            with suppress(ValueError):
                assert answer(line).keys() <= {"result", "error"}


def read_configuration(content: bytes, folder: Path) -> None:
    """The bytes as rocketlens.toml, and as a broker.conf."""
    path = folder / "rocketlens.toml"
    path.write_bytes(content)
    with suppress(SourcesError):
        read_sources(path)
    with suppress(ValueError):
        settings_of_conf(path)


def read_text(content: bytes, folder: Path) -> None:
    """The bytes as each small text that a user or a message can bring."""
    text = content.decode("utf-8", "replace")
    for decode in (decode_message_id, parse_instant, parse_broker_instant, BrokerVersion.parse, DelayLevels.parse):
        with suppress(ValueError):
            decode(text)


def read_body(content: bytes, folder: Path) -> None:
    """The bytes as a compressed body of each kind."""
    for sys_flag in (0x1, 0x101, 0x201, 0x301, 0x701):
        with suppress(StoreFormatError):
            assert len(decompress(content, sys_flag, cap=BODY_CAP)) <= max(BODY_CAP, len(content))
