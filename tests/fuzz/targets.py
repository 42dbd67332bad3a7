"""Every reader of the product as something to give any bytes to, and the small files to start from."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

from tests.fuzz import (
    commitlog_harness,
    foreign_harness,
    make_commitlog_corpus,
    make_foreign_corpus,
    make_recordings_corpus,
    make_store_corpus,
    store_harness,
)
from tests.fuzz import recordings_harness as recordings
from tests.support.files import put

Target = Callable[[bytes, Path], None]
"""Reads the bytes as its kind, in a scratch folder; whatever it raises is a find."""

CORPUS = Path(__file__).parent / "corpus"
"""By target: what the fuzzer kept of what it made, because it reached code that nothing before it had."""


def _store_file(place: str) -> Target:
    return lambda content, folder: store_harness.read_anything(put(folder, place, content))


TARGETS: dict[str, Target] = {
    "commitlog": commitlog_harness.read_anything,
    "dledger": commitlog_harness.read_as_entries,
    **{kind: _store_file(place) for kind, place in store_harness.PLACES.items()},
    "tiered_log": foreign_harness.read_segment_of("COMMIT_LOG", make_foreign_corpus.segments()),
    "tiered_queue": foreign_harness.read_segment_of("CONSUME_QUEUE", make_foreign_corpus.segments()),
    "rocksdb_queues": foreign_harness.read_queue_rows,
    "rocksdb_tables": foreign_harness.read_table_rows,
    "broker-log": recordings.read_recording("broker.log"),
    "client-log": recordings.read_recording("rocketmq_client.log"),
    "wire": recordings.read_recording("wire-b.jsonl"),
    "frames": recordings.read_frames,
    "pcap": recordings.read_pcap,
    "polls": recordings.read_polls,
    "questions": recordings.ask,
    "configuration": recordings.read_configuration,
    "text": recordings.read_text,
    "body": recordings.read_body,
}


@cache
def made() -> dict[str, dict[str, bytes]]:
    """What the fuzzer starts from, by target and name."""
    return {
        "commitlog": dict(make_commitlog_corpus.corpus()),
        **make_store_corpus.corpus(),
        **make_foreign_corpus.corpus(),
        **make_recordings_corpus.corpus(),
    }


def kept(target: str) -> list[bytes]:
    """What the fuzzer kept for a target, in a fixed order."""
    return [path.read_bytes() for path in sorted((CORPUS / target).glob("*"))]
