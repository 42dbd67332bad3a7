"""Captures written from wire records: the requests and answers as RemotingCommand frames in TCP segments."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import dpkt

from rebalance.readers.wire.remoting import JSON_HEADER, RemotingCommand
from tests.support.remoting_frames import encode_frame

BROKER = ("10.0.0.9", 10911)
MSS = 1448


class Packet(NamedTuple):
    """One captured packet."""

    at_ms: int
    data: bytes


def command_of(record: Mapping[str, Any]) -> RemotingCommand:
    """The command a wire record was made of."""
    body = b"" if record["body"] is None else json.dumps(record["body"]).encode()
    if record["dir"] == "response":
        ext = {key: str(value) for key, value in record["header"].items()}
        return RemotingCommand(record["result"], "JAVA", 479, record["opaque"], 1, record["remark"], ext or None, body)
    flag = 2 if record["oneway"] else 0
    ext_fields = record["header"]
    return RemotingCommand(
        record["code"], record["language"], record["clientVersion"], record["opaque"], flag, None, ext_fields, body
    )


class Wire:
    """Connections of many clients to one broker; every byte goes through here in order."""

    def __init__(self) -> None:
        self.packets: list[Packet] = []
        self._next_seq: dict[tuple[str, bool], int] = {}

    def send(self, at_ms: int, remote: str, from_client: bool, payload: bytes, *, size: int = MSS) -> None:
        """The payload in segments of at most `size` bytes, after a handshake if it is the connection's first."""
        key = remote, from_client
        if key not in self._next_seq:
            self._next_seq[key] = 0xFFFF_FF00  # wraps soon
            self._packet(at_ms, key, b"", dpkt.tcp.TH_SYN)
            self._next_seq[key] += 1
        for at in range(0, len(payload), size):
            part = payload[at : at + size]
            self._packet(at_ms, key, part, dpkt.tcp.TH_ACK)
            self._next_seq[key] = (self._next_seq[key] + len(part)) % (1 << 32)

    def close(self, at_ms: int, remote: str, from_client: bool) -> None:
        """One side's FIN."""
        self.send(at_ms, remote, from_client, b"")
        self._packet(at_ms, (remote, from_client), b"", dpkt.tcp.TH_FIN | dpkt.tcp.TH_ACK)

    def _packet(self, at_ms: int, key: tuple[str, bool], payload: bytes, flags: int) -> None:
        remote, from_client = key
        host, _, port = remote.rpartition(":")
        ends = ((host, int(port)), BROKER) if from_client else (BROKER, (host, int(port)))
        tcp = dpkt.tcp.TCP(sport=ends[0][1], dport=ends[1][1], seq=self._next_seq[key], flags=flags, data=payload)
        source, target = (bytes(map(int, end[0].split("."))) for end in ends)
        ip = dpkt.ip.IP(src=source, dst=target, p=dpkt.ip.IP_PROTO_TCP, data=tcp)
        ip.len = len(ip)
        self.packets.append(Packet(at_ms, bytes(dpkt.ethernet.Ethernet(data=ip, type=dpkt.ethernet.ETH_TYPE_IP))))


def packets_of(
    records: Iterable[Mapping[str, Any]], *, header_form: int = JSON_HEADER, size: int = MSS
) -> list[Packet]:
    """The capture of these records."""
    wire = Wire()
    for record in records:
        frame = encode_frame(command_of(record), header_form)
        wire.send(record["ts"], record["remote"], record["dir"] == "request", frame, size=size)
    return wire.packets


def as_pcap(packets: Iterable[Packet]) -> io.BytesIO:
    """A pcap file in memory."""
    file = io.BytesIO()
    writer = dpkt.pcap.Writer(file)
    for at_ms, data in packets:
        writer.writepkt(data, ts=at_ms / 1000)
    file.seek(0)
    return file


def is_start(packet: Packet) -> bool:
    return bool(dpkt.ethernet.Ethernet(packet.data).data.data.flags & dpkt.tcp.TH_SYN)


def disturbed(packets: list[Packet], seed: int, *, span: int = 4) -> list[Packet]:
    """The same packets, some twice and most a little late, but none before its connection began."""
    chance = random.Random(seed)
    late = [0.0 if is_start(packet) else chance.random() * span for packet in packets]
    placed = [(number + late[number], packet) for number, packet in enumerate(packets)]
    placed += [(place + chance.random() * span, packet) for place, packet in placed if chance.random() < 0.1]
    return [packet for _, packet in sorted(placed, key=lambda one: one[0])]
