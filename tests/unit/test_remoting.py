"""RemotingCommand frames: both header forms, and streams that start or break anywhere."""

from __future__ import annotations

import struct
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance.readers.wire.remoting import (
    JSON_HEADER,
    ROCKETMQ_HEADER,
    FrameCounts,
    FrameSplitter,
    RemotingCommand,
    RemotingDamage,
    decode_frame,
)
from tests.support.remoting_frames import encode_frame

HEARTBEAT = RemotingCommand(34, "JAVA", 479, 7, 0, None, None, b'{"clientID":"c"}')
COMMIT = RemotingCommand(15, "GO", 407, -8, 2, None, {"topic": "订单", "queueId": "3"}, b"")
REFUSAL = RemotingCommand(22, "JAVA", 513, 9, 1, "Not found", None, b"")
ALL = [HEARTBEAT, COMMIT, REFUSAL]
FORMS = [JSON_HEADER, ROCKETMQ_HEADER]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("command", ALL)
def test_encode_and_decode_are_twins(command: RemotingCommand, form: int) -> None:
    frame = encode_frame(command, form)
    assert struct.unpack(">i", frame[:4]) == (len(frame) - 4,)
    assert decode_frame(frame[4:]) == command


def test_a_frame_as_java_writes_it() -> None:
    header = b'{"code":34,"extFields":{},"flag":0,"language":"JAVA","opaque":71,'
    header += b'"serializeTypeCurrentRPC":"JSON","version":479}'
    command = decode_frame(struct.pack(">i", len(header)) + header + b"{}")
    assert command == RemotingCommand(34, "JAVA", 479, 71, 0, None, {}, b"{}")
    fixed = bytes.fromhex("0022 00 01df 00000047 00000000 00000000 00000007 0001 61 00000001 62 00".replace(" ", ""))
    with pytest.raises(RemotingDamage):  # one byte too many for extFields
        decode_frame(struct.pack(">i", 1 << 24 | len(fixed)) + fixed)


@pytest.mark.parametrize("form", FORMS)
@given(st.lists(st.integers(1, 40), max_size=30), st.integers(0, 60))
def test_any_chunking_gives_the_same_commands(form: int, chunks: list[int], cut: int) -> None:
    stream = b"".join(encode_frame(command, form) for command in ALL * 3)
    whole, later = FrameCounts(), FrameCounts()
    for counts, data, in_step in ((whole, stream, True), (later, stream[cut:], False)):
        splitter, got, at = FrameSplitter(counts, in_step=in_step), [], 0
        for size in [*chunks, len(stream)]:
            got += splitter.feed(data[at : at + size])
            at += size
        expected = ALL * 3
        assert got == expected[len(expected) - len(got) :]
        assert counts.frames == len(got)
    assert (whole.frames, whole.skipped_bytes) == (9, 0)
    assert later.frames >= (9 if cut == 0 else 7)


@pytest.mark.parametrize("form", FORMS)
def test_a_hole_costs_the_frames_it_touches(form: int) -> None:
    frames = [encode_frame(command, form) for command in ALL]
    counts = FrameCounts()
    splitter = FrameSplitter(counts, in_step=True)
    got = splitter.feed(frames[0] + frames[1][:9])
    splitter.lose_step()
    got += splitter.feed(frames[1][20:] + frames[2] + frames[0])
    assert got == [HEARTBEAT, REFUSAL, HEARTBEAT]
    assert counts.lost_step == 1
    assert counts.skipped_bytes == 9 + len(frames[1]) - 20


@given(st.lists(st.binary(max_size=64)), st.booleans())
def test_any_bytes_are_skipped_or_kept(chunks: list[bytes], in_step: bool) -> None:
    counts = FrameCounts()
    splitter = FrameSplitter(counts, in_step=in_step)
    for chunk in chunks:
        splitter.feed(chunk)
    assert counts.skipped_bytes <= sum(map(len, chunks))


@given(st.binary(max_size=80))
def test_any_frame_decodes_or_is_damage(frame: bytes) -> None:
    for mark in (struct.pack(">i", len(frame)), struct.pack(">i", 1 << 24 | len(frame)), b""):
        with suppress(RemotingDamage):
            decode_frame(mark + frame)


def test_deep_json_is_damage() -> None:
    header = b'{"code":' + b"[" * 50_000
    with pytest.raises(RemotingDamage):
        decode_frame(struct.pack(">i", len(header)) + header)


@pytest.mark.parametrize("code", [b"1e999", b"NaN", b"[]"])
def test_a_code_that_is_no_number_is_damage(code: bytes) -> None:
    header = b'{"code":' + code + b',"opaque":1}'
    with pytest.raises(RemotingDamage):
        decode_frame(struct.pack(">i", len(header)) + header)


@pytest.mark.parametrize(
    ("stored", "read"), [(b"\\ud83d\\ude00", "\U0001f600"), (b"a\\uD800b", "a?b"), (b"\\udcff", "?")]
)
def test_half_of_a_surrogate_pair_is_a_question_mark(stored: bytes, read: str) -> None:
    header = b'{"code":15,"opaque":1,"extFields":{"topic":"' + stored + b'"}}'
    command = decode_frame(struct.pack(">i", len(header)) + header)
    assert command.ext_fields == {"topic": read}
    assert encode_frame(command)
