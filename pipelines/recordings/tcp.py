"""One direction of a TCP connection, put back in order."""

from __future__ import annotations

_WRAP = 1 << 32
_MAX_PENDING_BYTES = 4 * 1024 * 1024
_MAX_PENDING_SEGMENTS = 1024


class TcpStream:
    """Takes segments as captured: late, twice, overlapping, or never; gives the bytes in order.

    A hole that stays open while more than 4 MiB (or 1024 segments) arrive after it was not captured: it is given up.
    """

    def __init__(self, next_seq: int) -> None:
        self._next_seq = next_seq
        self._pending: dict[int, bytes] = {}
        self._pending_bytes = 0

    def add(self, seq: int, payload: bytes) -> list[bytes | None]:
        """Runs of bytes this segment completes, in order; None stands for a hole that was given up."""
        if self._ahead(seq) > 0:
            self._keep(seq, payload)
            full = self._pending_bytes > _MAX_PENDING_BYTES or len(self._pending) > _MAX_PENDING_SEGMENTS
            return self._give_up_hole() if full else []
        return self._deliver(seq, payload)

    @property
    def waiting_bytes(self) -> int:
        """Bytes after holes."""
        return self._pending_bytes

    def reached(self, seq: int) -> bool:
        """Every byte before `seq` has been given."""
        return self._ahead(seq) <= 0

    def finish(self) -> list[bytes | None]:
        """What still waits after holes, at the end of the connection or the capture."""
        runs: list[bytes | None] = []
        while self._pending:
            runs += self._give_up_hole()
        return runs

    def _ahead(self, seq: int) -> int:
        """How far `seq` is ahead of the next byte expected (negative: behind), across the wrap of sequence numbers."""
        return (seq - self._next_seq + _WRAP // 2) % _WRAP - _WRAP // 2

    def _keep(self, seq: int, payload: bytes) -> None:
        known = self._pending.get(seq, b"")
        if len(payload) > len(known):
            self._pending[seq] = payload
            self._pending_bytes += len(payload) - len(known)

    def _give_up_hole(self) -> list[bytes | None]:
        self._next_seq = min(self._pending, key=self._ahead)
        return [None, *self._deliver(self._next_seq, b"")]

    def _deliver(self, seq: int, payload: bytes) -> list[bytes | None]:
        runs: list[bytes | None] = []
        while True:
            fresh = payload[-self._ahead(seq) :] if self._ahead(seq) < 0 else payload
            if fresh:
                runs.append(fresh)
                self._next_seq = (self._next_seq + len(fresh)) % _WRAP
            due = [waiting for waiting in self._pending if self._ahead(waiting) <= 0]
            if not due:
                return runs
            seq = min(due, key=self._ahead)
            payload = self._pending.pop(seq)
            self._pending_bytes -= len(payload)
