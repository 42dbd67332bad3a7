"""Dispatching again after load: where it starts, how far it comes, whether start() ever returns.

Source: DefaultMessageStore#start, #doRecheckReputOffsetFromCq, ReputMessageService#doReput
@4.9.8, 5.3.1, 5.3.3, 5.5.1.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from parsers.commitlog.record.layout import RECORD_START
from parsers.evidence.mapped import release_pages
from recovery.broker.consume_queue import Hang
from recovery.broker.index_service import IndexFileNotMade
from recovery.broker.memory import BrokerMemory
from recovery.broker.message_check import Checked, MessageCheck
from recovery.start.offset_table import recover_offset_table


@dataclass(slots=True)
class Redispatch:
    """The re-dispatch service: `position` is the log offset it reads next; `starts` are those it was given."""

    memory: BrokerMemory
    check: MessageCheck
    position: int = 0
    starts: list[int] = field(default_factory=list)

    @property
    def behind_bytes(self) -> int:
        """`dispatchBehindBytes`: negative when dispatch stands beyond the log."""
        return self.memory.behind_bytes(self.position)

    @property
    def _end(self) -> int:
        """`getReputEndOffset`; before 5.0.0 the log's end."""
        memory = self.memory
        if not memory.version.dispatches_confirmed_only or memory.settings.read_un_committed:
            return memory.commitlog.max_offset
        return memory.confirmed_offset()

    def start(self) -> None:
        """Give the service its first position(s) and let it run until nothing moves.

        Raises:
            Hang: start() waits for dispatch to reach the end, and it never does.
        """
        memory = self.memory
        memory.dispatched.load_ends()
        if memory.version.starts_dispatch_at_queue_maximum:
            self._start_at(self._queue_maximum())
            self._wait_and_correct()
            return
        at_end = memory.version.starts_dispatch_at_log_end and not memory.settings.duplication_enable
        of_node = memory.evidence.log_is_dledgers
        confirmed = memory.committed_offset if of_node else memory.confirmed_offset()
        self._start_at(memory.commitlog.max_offset if at_end else confirmed)
        if of_node:  # it becomes the leader: DLedgerRoleChangeHandler#handle (recoverTopicQueueTable)
            recover_offset_table(memory)
        if memory.version.may_recheck_dispatch_start and memory.settings.recheck_reput_offset_from_cq:
            self._start_at(self._queue_maximum())
            self._wait_and_correct()

    def _queue_maximum(self) -> int:
        """#doRecheckReputOffsetFromCq asks the queues in memory: none of a database is there when a broker starts."""
        queued = self.memory.max_queued_offset() if self.memory.database is None else 0
        return max(self.memory.commitlog.min_offset, queued, 0)

    def _wait_and_correct(self) -> None:
        if self.behind_bytes > 0:
            raise Hang(
                f"start() waits for dispatch to reach the log's end: it stays at {self.position}, "
                f"{self.behind_bytes} bytes before it"
            )
        recover_offset_table(self.memory)

    def _start_at(self, position: int) -> None:
        self.position = position
        self.starts.append(position)
        self.memory.because(
            f"dispatch after loading begins at {position}",
            "DefaultMessageStore#start",
            f"the log ends at {self.memory.commitlog.max_offset}",
        )
        try:
            before = None
            while before != self.position:
                before = self.position
                self._run_once()
        except IndexFileNotMade as thrown:  # the service logs it and comes back to the same message, for ever
            self.memory.because(
                "no index file can be made: dispatch goes on trying the same message",
                "IndexService#getAndCreateLastIndexFile (IllegalMonitorStateException), ReputMessageService#run",
                f"{thrown}; log offset {self.position}",
            )

    def _run_once(self) -> None:
        """`doReput`: from the position on, file by file."""
        if self.memory.version.moves_dispatch_to_log_start:
            self.position = max(self.position, self.memory.commitlog.min_offset)
        going_on = True
        while going_on and self.position < self._end:
            if self._waits_for_confirmation():
                return
            file = self.memory.find_log_file(self.position)
            start = self.position % self.memory.commitlog.file_size
            if file is None or start >= file.wrote_position:
                return
            self.position = file.base_offset + start
            stored = file.stored[: file.wrote_position]
            if start < len(stored):
                going_on = self._read_file(stored, start)
            else:
                going_on = self._read_zeros(file.wrote_position - start)

    def _waits_for_confirmation(self) -> bool:
        """Before 5.0.0 duplicationEnable stops dispatch at the confirmed offset."""
        memory = self.memory
        by_confirmation = not memory.version.dispatches_confirmed_only and memory.settings.duplication_enable
        return by_confirmation and self.position >= memory.confirm_offset

    def _read_file(self, readable: memoryview, at: int) -> bool:
        """Read the rest of one file. False when dispatch gives up for this round.

        `at` is where Java's buffer stands: after a record whose sizes do not add up it is not where `position` says.
        """
        readable_bytes, read_bytes = len(readable) - at, 0
        while read_bytes < readable_bytes and self._inside_end():
            if taken := self._take_run(readable, at, self.position - at):
                at, read_bytes = at + taken, read_bytes + taken
                continue
            checked = self.check.at(readable, at, crc=False, read_body=False)
            at = checked.read_to
            if self._beyond_end(checked):
                return False
            if checked.success and checked.request is None:
                self.position += self.memory.commitlog.file_size - self.position % self.memory.commitlog.file_size
                return True
            size = checked.size + self.memory.runs.before
            if checked.request is not None:
                self.memory.dispatch(checked.request, self.position)
                self.position += size
                read_bytes += size
            elif checked.size > 0:
                self.position += size
            else:
                self._give_up(readable_bytes - read_bytes, checked)
                return False
        return True

    def _read_zeros(self, readable_bytes: int) -> bool:
        """What a file has after its stored bytes, where a repair lengthens it: no record begins there."""
        zeros = memoryview(bytes(min(readable_bytes, RECORD_START.size)))
        self._give_up(readable_bytes, self.check.at(zeros, 0, crc=False, read_body=False))
        return False

    def _take_run(self, readable: memoryview, at: int, base_offset: int) -> int:
        """Dispatch valid records at once as far as dispatch may go; returns their bytes."""
        most = min(len(readable), self._end - base_offset)
        run = self.memory.runs.take(readable[:most], at, crc=False)
        if run is None:
            return 0
        everything = np.ones(run.rows, np.bool_)
        self.memory.dispatch_batch(run, self.memory.runs.scanner, everything, base_offset)
        taken = int(run.records.file_pos[-1]) + int(run.records.total_size[-1]) - at
        self.position += taken
        release_pages(np.frombuffer(readable, np.uint8), 0, at + taken)
        return taken

    def _inside_end(self) -> bool:
        return not self.memory.version.dispatches_confirmed_only or self.position < self._end

    def _beyond_end(self, checked: Checked) -> bool:
        size = checked.size + (self.memory.runs.before if checked.size > 0 else 0)
        return self.memory.version.dispatches_confirmed_only and self.position + size > self._end

    def _give_up(self, bytes_left: int, checked: Checked) -> None:
        """A master goes on after the readable part of this file, a slave stays here for ever."""
        settings = self.memory.settings
        skips = settings.enable_dleger_commit_log or settings.broker_id == 0
        self.memory.because(
            "dispatch meets a record that is not valid and "
            + ("leaves out the rest of the file" if skips else "stays there")
            + f": {checked.reason}",
            "ReputMessageService#doReput",
            f"log offset {self.position}",
        )
        if skips:
            self.position += bytes_left
