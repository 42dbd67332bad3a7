"""Captures that lose, repeat, reorder and cut packets: the records that can be had, and counts of what cannot."""

from __future__ import annotations

import io
import struct
import sys
from typing import Any

import dpkt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.damage.errors import NotThisFormat
from pipelines.recordings.pcap import CaptureCounts, records_from_pcap
from pipelines.recordings.tcp import TcpStream
from rebalance.facts import ChannelClosed, ClientUnregistered, HeartbeatReceived
from rebalance.readers.wire.facts import facts_from_wire
from rebalance.readers.wire.remoting import JSON_HEADER, ROCKETMQ_HEADER
from tests.support.pcap import BROKER, Wire, as_pcap, command_of, disturbed, packets_of
from tests.support.remoting_frames import encode_frame


def question(number: int, remote: str) -> list[dict[str, Any]]:
    """A member list request and its answer."""
    common = {"code": 38, "name": "GET_CONSUMER_LIST_BY_GROUP", "remote": remote, "opaque": number}
    ask = {"oneway": False, "clientVersion": 479, "language": "JAVA", "header": {"consumerGroup": "g"}, "body": None}
    answer = {"result": 0, "remark": None, "header": {}, "body": {"consumerIdList": [f"c{number}", "x" * 100]}}
    at_ms = 1_795_273_632_000 + 10 * number
    return [{"ts": at_ms, "dir": "request", **common, **ask}, {"ts": at_ms + 3, "dir": "response", **common, **answer}]


RECORDS = [record for number in range(40) for record in question(number, f"10.0.0.{1 + number % 3}:51234")]


def read(file: io.BytesIO) -> tuple[list[dict[str, Any]], CaptureCounts]:
    counts: list[CaptureCounts] = []
    records = list(records_from_pcap(file, broker_ports=[BROKER[1]], on_end=counts.append))
    return records, counts[0]


@pytest.mark.parametrize("form", [JSON_HEADER, ROCKETMQ_HEADER])
@pytest.mark.parametrize("size", [7, 100, 1448])
def test_records_come_back(form: int, size: int) -> None:
    records, counts = read(as_pcap(packets_of(RECORDS, header_form=form, size=size)))
    assert records == RECORDS
    assert (counts.holes, counts.frames.skipped_bytes, counts.bad_packets) == (0, 0, 0)
    assert counts.packets == counts.segments


@given(st.integers(0, 10_000))
@settings(max_examples=30)
def test_reordered_and_repeated_packets_change_nothing_but_instants(seed: int) -> None:
    records, counts = read(as_pcap(disturbed(packets_of(RECORDS, size=60), seed)))
    assert counts.holes == 0
    asked = {(r["remote"], r["opaque"]) for r in records if r["dir"] == "request"}
    assert asked == {(r["remote"], r["opaque"]) for r in RECORDS}
    untimed = [{**record, "ts": 0} for record in RECORDS]
    assert all({**record, "ts": 0} in untimed for record in records)


@pytest.mark.parametrize("form", [JSON_HEADER, ROCKETMQ_HEADER])
@pytest.mark.parametrize("start", [1, 5, 50, 111])
def test_a_capture_that_starts_in_the_middle_joins_at_the_next_frame(form: int, start: int) -> None:
    records, counts = read(as_pcap(packets_of(RECORDS, header_form=form, size=50)[start:]))
    assert records == [record for record in RECORDS if record in records]
    assert len(records) >= len(RECORDS) - 2 * (start // 4 + 4)
    assert counts.records.answers_without_request <= 3


def test_a_lost_segment_costs_its_frames_only() -> None:
    packets = packets_of(RECORDS, size=80)
    lost = len(packets) // 2
    records, counts = read(as_pcap(packets[:lost] + packets[lost + 1 :]))
    assert counts.holes == 1
    assert len(RECORDS) - 2 <= len(records) < len(RECORDS)
    assert all({**record, "ts": 0} in [{**r, "ts": 0} for r in RECORDS] for record in records)


def test_a_cut_file_gives_what_is_whole() -> None:
    whole = as_pcap(packets_of(RECORDS)).getvalue()
    records, counts = read(io.BytesIO(whole[: len(whole) * 2 // 3]))
    assert records == RECORDS[: len(records)]
    assert len(records) > len(RECORDS) // 2
    assert counts.packets > 0


@pytest.mark.parametrize("content", [b"", b"GET / HTTP/1.1\r\n\r\n", bytes(100)])
def test_no_capture_is_not_this_format(content: bytes) -> None:
    with pytest.raises(NotThisFormat):
        read(io.BytesIO(content))


@given(st.lists(st.tuples(st.integers(24, 5_000), st.integers(0, 255)), max_size=30))
@settings(max_examples=60)
def test_flipped_bytes_never_raise(flips: list[tuple[int, int]]) -> None:
    damaged = bytearray(as_pcap(packets_of(RECORDS)).getvalue())
    for at, value in flips:
        damaged[at % len(damaged)] = value
    damaged[:24] = as_pcap([]).getvalue()
    _, counts = read(io.BytesIO(bytes(damaged)))
    assert counts.packets == counts.segments + counts.other_packets + counts.bad_packets


def test_overlapping_segments_are_trimmed() -> None:
    stream = TcpStream(0xFFFF_FFFE)
    assert stream.add(0, b"cdef") == []
    assert stream.add(0, b"cd") == []
    assert stream.add(0xFFFF_FFFE, b"abc") == [b"abc", b"def"]
    assert stream.add(0xFFFF_FFFE, b"abcdef") == []
    assert stream.add(3, b"fgh") == [b"gh"]
    assert stream.add(9, b"late") == []
    assert stream.finish() == [None, b"late"]


REMOTE_6 = "[0:0:0:0:0:0:0:1]:51234"


def ipv6_packets() -> list[bytes]:
    """One request and its answer between IPv6 hosts, without a link layer."""
    ask, answer = (encode_frame(command_of(record)) for record in question(1, REMOTE_6))
    client, broker = bytes(15) + b"\x01", bytes(15) + b"\x09"
    segments = [(client, 51234, broker, BROKER[1], ask), (broker, BROKER[1], client, 51234, answer)]
    packets = []
    for source, sport, target, dport, payload in segments:
        tcp = dpkt.tcp.TCP(sport=sport, dport=dport, seq=7, flags=dpkt.tcp.TH_ACK, data=payload)
        ip = dpkt.ip6.IP6(src=source, dst=target, nxt=dpkt.ip.IP_PROTO_TCP, plen=len(tcp), data=tcp)
        ip.extension_hdrs, ip.all_extension_headers = {}, []
        packets.append(bytes(ip))
    return packets


def written(writer_of: Any, packets: list[bytes]) -> io.BytesIO:
    file = io.BytesIO()
    writer = writer_of(file)
    for packet in packets:
        writer.writepkt(packet, ts=1_795_273_632.01)
    file.seek(0)
    return file


@pytest.mark.parametrize(
    ("link_type", "head"),
    [
        (dpkt.pcap.DLT_RAW, b""),
        (dpkt.pcap.DLT_NULL, b"\x18\x00\x00\x00"),
        (dpkt.pcap.DLT_LINUX_SLL, b"\x00\x00\x03\x04\x00\x06" + bytes(8) + b"\x86\xdd"),
        (dpkt.pcap.DLT_EN10MB, bytes(12) + b"\x86\xdd"),
    ],
)
def test_other_links_and_ipv6(link_type: int, head: bytes) -> None:
    packets = [head + packet for packet in ipv6_packets()]
    records, _ = read(written(lambda file: dpkt.pcap.Writer(file, linktype=link_type), packets))
    assert [(record["dir"], record["remote"]) for record in records] == [
        ("request", REMOTE_6),
        ("response", REMOTE_6),
    ]


def test_pcapng_is_read_as_well() -> None:
    packets = [packet.data for packet in packets_of(RECORDS)]
    records, _ = read(written(dpkt.pcapng.Writer, packets))
    assert [{**record, "ts": 0} for record in records] == [{**record, "ts": 0} for record in RECORDS]


def test_the_end_of_a_connection_closes_its_memberships() -> None:
    groups: list[Any] = [{"groupName": group, "subscriptionDataSet": []} for group in ("g", "h")]
    body = {"clientID": "c", "consumerDataSet": groups}
    heartbeat = {**question(1, "10.0.0.1:51234")[0], "code": 34, "body": body}
    leave = {**question(2, "10.0.0.1:51234")[0], "code": 35, "header": {"clientID": "c", "consumerGroup": "h"}}
    wire = Wire()
    for record in (heartbeat, leave):
        wire.send(record["ts"], record["remote"], True, encode_frame(command_of(record)))
    wire.close(1_795_273_700_000, "10.0.0.1:51234", False)
    wire.close(1_795_273_700_005, "10.0.0.1:51234", True)
    records, _ = read(as_pcap(wire.packets))
    assert [record["name"] for record in records] == ["HEART_BEAT", "UNREGISTER_CLIENT", "connection_closed"]
    facts = list(facts_from_wire(records, broker="b"))
    assert [type(fact) for fact in facts] == [HeartbeatReceived, HeartbeatReceived, ClientUnregistered, ChannelClosed]
    closed = facts[-1]
    assert isinstance(closed, ChannelClosed)
    assert (closed.at_ms, closed.remote) == (1_795_273_700_000, "10.0.0.1:51234")
    assert (closed.group, closed.client_id) == ("g", "c")


def test_an_end_that_comes_before_the_last_bytes_waits_for_them() -> None:
    wire = Wire()
    for record in question(1, "10.0.0.1:51234"):
        wire.send(record["ts"], record["remote"], record["dir"] == "request", encode_frame(command_of(record)), size=50)
    wire.close(1_795_273_700_000, "10.0.0.1:51234", False)
    *packets, last, end = wire.packets
    records, _ = read(as_pcap([*packets, end, last]))
    assert [record["dir"] for record in records] == ["request", "lifecycle", "response"]


def test_tunnels_in_tunnels_are_a_bad_packet(request: pytest.FixtureRequest) -> None:
    limit = sys.getrecursionlimit()
    request.addfinalizer(lambda: sys.setrecursionlimit(limit))
    sys.setrecursionlimit(1_000)  # another test may have raised it, and then the packet is read
    packet = b""
    for _ in range(3_000):
        total = len(packet) + 20 if len(packet) + 20 < 1 << 16 else 0
        packet = struct.pack(">BBHHHBBH4s4s", 0x45, 0, total, 0, 0, 64, 4, 0, bytes(4), bytes(4)) + packet
    file = io.BytesIO()
    dpkt.pcap.Writer(file, snaplen=1 << 18).writepkt(bytes(12) + b"\x08\0" + packet, ts=1)
    file.seek(0)
    records, counts = read(file)
    assert (records, counts.packets, counts.bad_packets) == ([], 1, 1)


def test_a_capture_in_a_file_that_is_too_large_ends_where_it_does() -> None:
    file = as_pcap(packets_of(RECORDS))
    size = file.seek(0, 2)
    file.write(bytes(1 << 20))
    file.seek(0)
    records, counts = read(file)
    assert records == RECORDS
    assert counts.cut_short
    assert counts.packets < 1 << 14 < size
