"""A pcap or pcapng file of a broker's port -> wire records.

Captures may begin and end anywhere: a connection whose start is missing is joined at its next whole frame, lost
segments cost the frames they touch, and both are counted. TLS connections hold no readable frame and give nothing.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO, NamedTuple

import dpkt

from parsers.damage.errors import NotThisFormat
from pipelines.recordings.lines import CUT_GZIP
from pipelines.recordings.tcp import TcpStream
from rebalance.model import budget
from rebalance.readers.wire.recorder import RecordCounts, WireRecorder
from rebalance.readers.wire.remoting import FrameCounts, FrameSplitter, RemotingCommand

_MAX_DIRECTIONS = 65_536
_MOST_EMPTY = 1_000
"""Packets of no bytes one after another, which no network carries."""
_BAD_PACKET = (
    dpkt.Error, struct.error, ValueError, IndexError, KeyError, TypeError, AttributeError,
    RecursionError,  # tunnels in tunnels
)  # fmt: skip
_MOST_BROKERS = 3
_MOST_PACKET_BYTES = 1 << 24
_RAW_IP = (12, 14, 101, 228, 229)  # DLT_RAW of several systems, LINKTYPE_IPV4, LINKTYPE_IPV6


@dataclass(slots=True)
class CaptureCounts:
    """What a capture held. `packets` = `segments` + `other_packets` + `bad_packets`.

    `brokers`: addresses of the broker's end in records, the first few. Whether several are one broker's, nothing tells.
    """

    packets: int = 0
    segments: int = 0
    other_packets: int = 0
    bad_packets: int = 0
    holes: int = 0
    cut_short: bool = False
    brokers: set[str] = field(default_factory=set)
    frames: FrameCounts = field(default_factory=FrameCounts)
    records: RecordCounts = field(default_factory=RecordCounts)


class _Segment(NamedTuple):
    source: tuple[bytes, int]
    target: tuple[bytes, int]
    seq: int
    payload: bytes
    starts: bool
    ends: bool
    resets: bool


class _Direction(NamedTuple):
    first_seq: int
    stream: TcpStream
    splitter: FrameSplitter

    @property
    def waiting_bytes(self) -> int:
        """Bytes that wait for others."""
        return self.stream.waiting_bytes + self.splitter.waiting_bytes


def records_from_pcap(
    capture: BinaryIO, *, broker_ports: Collection[int], on_end: Callable[[CaptureCounts], None] | None = None
) -> Iterator[dict[str, Any]]:
    """Wire records in the order their last byte was captured.

    Args:
        broker_ports: the broker's listening port, and port - 2 if clients use the VIP channel.
        on_end: called with the counts when the capture is exhausted.
    Raises:
        NotThisFormat: neither pcap nor pcapng.
    """
    reader = _Reader(frozenset(broker_ports))
    for at_ms, packet, decode in _packets(capture, reader.counts):
        yield from reader.packet(at_ms, packet, decode)
    yield from reader.finish()
    if on_end is not None:
        on_end(reader.counts)


class _Bounded:
    """A capture in which a damaged length asks for no more than a packet may have."""

    def __init__(self, capture: BinaryIO) -> None:
        self._capture, self.seek, self.tell = capture, capture.seek, capture.tell

    def read(self, size: int) -> bytes:
        """Raises EOFError for more than _MOST_PACKET_BYTES, or less than none: a gzipped file may hold gigabytes."""
        if not 0 <= size <= _MOST_PACKET_BYTES:
            raise EOFError(f"a packet of {size} bytes")
        return self._capture.read(size)


def _packets(capture: BinaryIO, counts: CaptureCounts) -> Iterator[tuple[int, bytes, Callable[[bytes], Any]]]:
    try:
        packets = dpkt.pcap.UniversalReader(_Bounded(capture))
    except (*_BAD_PACKET, *CUT_GZIP) as bad:
        raise NotThisFormat("no capture file", field="magic", expected="pcap or pcapng", actual=str(bad)) from None
    decode = _link_decoder(packets.datalink())
    empty = 0
    try:
        for seconds, packet in packets:
            empty = 0 if packet else empty + 1
            if empty > _MOST_EMPTY:  # the unwritten rest of a file that was made larger than its capture
                counts.cut_short = True
                return
            yield round(float(seconds) * 1_000_000) // 1000, packet, decode
    except (*_BAD_PACKET, *CUT_GZIP):
        counts.cut_short = True  # a capture that was still being written, or is damaged from here on


def _link_decoder(link_type: int) -> Callable[[bytes], Any]:
    """From a captured packet to its IP layer."""
    if link_type in _RAW_IP:
        return _ip_of
    layers = {
        dpkt.pcap.DLT_EN10MB: dpkt.ethernet.Ethernet,
        dpkt.pcap.DLT_LINUX_SLL: dpkt.sll.SLL,
        dpkt.pcap.DLT_LINUX_SLL2: dpkt.sll2.SLL2,
        dpkt.pcap.DLT_NULL: dpkt.loopback.Loopback,
        dpkt.pcap.DLT_LOOP: dpkt.loopback.Loopback,
    }
    layer = layers.get(link_type, dpkt.ethernet.Ethernet)
    return lambda packet: layer(packet).data


def _ip_of(packet: bytes) -> Any:
    return dpkt.ip6.IP6(packet) if packet[:1] and packet[0] >> 4 == 6 else dpkt.ip.IP(packet)


class _Reader:
    """The connections of one broker, each direction with its own stream and splitter."""

    def __init__(self, ports: frozenset[int]) -> None:
        self.counts = CaptureCounts()
        self._ports = ports
        self._recorder = WireRecorder()
        self.counts.records = self._recorder.counts
        self._directions: dict[tuple[tuple[bytes, int], tuple[bytes, int]], _Direction] = {}
        self._open: set[str] = set()
        self._last_ms = 0
        self._waiting_bytes = 0

    def packet(self, at_ms: int, packet: bytes, decode: Callable[[bytes], Any]) -> Iterator[dict[str, Any]]:
        """Records that this packet completes."""
        self.counts.packets += 1
        self._last_ms = at_ms
        try:
            segment = _segment(decode(packet))
        except _BAD_PACKET:
            self.counts.bad_packets += 1
            return
        if segment is None or not (self._is_broker(segment.source) or self._is_broker(segment.target)):
            self.counts.other_packets += 1
            return
        self.counts.segments += 1
        yield from self._segment(at_ms, segment)

    def finish(self) -> Iterator[dict[str, Any]]:
        """Records after holes that nothing will fill any more."""
        for key in list(self._directions):
            yield from self._close(self._last_ms, key)

    def _is_broker(self, end: tuple[bytes, int]) -> bool:
        return end[1] in self._ports

    def _segment(self, at_ms: int, segment: _Segment) -> Iterator[dict[str, Any]]:
        key = segment.source, segment.target
        known = self._directions.get(key)
        if segment.starts and (known is None or known.first_seq != segment.seq):  # else the same start, seen twice
            yield from self._close(at_ms, key)
            self._directions[key] = self._direction(segment.seq, in_step=True)
        if segment.payload:
            direction = self._directions.get(key)
            if direction is None:
                direction = self._directions[key] = self._direction(segment.seq, in_step=False)
            first = segment.seq + segment.starts
            self._waiting_bytes -= direction.waiting_bytes
            yield from self._records(at_ms, key, direction, direction.stream.add(first, segment.payload))
            self._waiting_bytes += direction.waiting_bytes
            self._give_up_what_is_too_much()
        if segment.ends:
            direction = self._directions.get(key)
            if direction is None or segment.resets or direction.stream.reached(segment.seq + len(segment.payload)):
                yield from self._close(at_ms, key)
            remote = self._remote(key)
            if remote in self._open:  # either side may end it, mostly both do
                self._open.discard(remote)
                yield self._recorder.closed(at_ms, remote)

    def _direction(self, first_seq: int, *, in_step: bool) -> _Direction:
        if len(self._directions) >= _MAX_DIRECTIONS:
            self._give_up_oldest()
        stream = TcpStream((first_seq + in_step) % (1 << 32))  # a start takes one number
        return _Direction(first_seq, stream, FrameSplitter(self.counts.frames, in_step=in_step))

    def _give_up_what_is_too_much(self) -> None:
        """Frames that are not complete go, those of the connections that began first before the others."""
        while self._waiting_bytes > budget.UNFINISHED_FRAMES_BYTES and self._directions:
            self.counts.holes += 1
            self._give_up_oldest()

    def _give_up_oldest(self) -> None:
        direction = self._directions.pop(next(iter(self._directions)))
        self._waiting_bytes -= direction.waiting_bytes
        direction.splitter.lose_step()

    def _close(self, at_ms: int, key: tuple[tuple[bytes, int], tuple[bytes, int]]) -> Iterator[dict[str, Any]]:
        direction = self._directions.pop(key, None)
        if direction is not None:
            self._waiting_bytes -= direction.waiting_bytes
            yield from self._records(at_ms, key, direction, direction.stream.finish())

    def _records(
        self,
        at_ms: int,
        key: tuple[tuple[bytes, int], tuple[bytes, int]],
        direction: _Direction,
        runs: list[bytes | None],
    ) -> Iterator[dict[str, Any]]:
        from_client, remote = self._is_broker(key[1]), self._remote(key)
        for command in self._commands(direction, runs):
            record = self._recorder.record(at_ms, remote, from_client, command)
            if record is not None:
                self._open.add(remote)
                if len(self.counts.brokers) < _MOST_BROKERS:
                    self.counts.brokers.add(_host(key[from_client][0]))
                yield record

    def _remote(self, key: tuple[tuple[bytes, int], tuple[bytes, int]]) -> str:
        """The client's end."""
        source, target = key
        address, port = source if self._is_broker(target) else target
        return f"{_host(address)}:{port}"

    def _commands(self, direction: _Direction, runs: list[bytes | None]) -> Iterator[RemotingCommand]:
        for run in runs:
            if run is None:
                self.counts.holes += 1
                direction.splitter.lose_step()
            else:
                yield from direction.splitter.feed(run)


def _segment(ip: Any) -> _Segment | None:
    tcp = getattr(ip, "data", None)
    if not isinstance(tcp, dpkt.tcp.TCP):
        return None
    return _Segment(
        (bytes(ip.src), int(tcp.sport)),
        (bytes(ip.dst), int(tcp.dport)),
        int(tcp.seq),
        bytes(tcp.data),
        bool(tcp.flags & dpkt.tcp.TH_SYN),
        bool(tcp.flags & (dpkt.tcp.TH_FIN | dpkt.tcp.TH_RST)),
        bool(tcp.flags & dpkt.tcp.TH_RST),
    )


def _host(address: bytes) -> str:
    """An address as Java prints it: IPv6 in brackets, no group left out."""
    if len(address) == 4:
        return ".".join(map(str, address))
    return "[" + ":".join(f"{int.from_bytes(address[at : at + 2], 'big'):x}" for at in range(0, 16, 2)) + "]"
