"""Where the log of a store begins and ends by what its queues and index point to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parsers.kernels.arrays import Longs
from recovery.scan.log_runs import LogGap
from recovery.verify.checks.checkpoint import LostEnds
from recovery.verify.checks.log.shape import LogShape
from recovery.verify.findings.finding import Judgement
from recovery.verify.first_pass import Left
from recovery.verify.settle.index_entries import read_places
from recovery.verify.settle.log_columns import LogColumns
from recovery.verify.settle.outline import Files

HEAD_LOST = ("log_begins_late", "log_head_missing")


@dataclass(frozen=True, slots=True)
class LogEnds:
    """The head and the tail of a log beside what the first pass left of its queues and index.

    `ends`: findings about files of the log that are missing at the two.
    """

    log: LogColumns
    shape: LogShape
    left: Left
    files: Files

    def places_behind(self) -> tuple[Longs, Longs]:
        """Starts and ends of the messages that units and entries name behind the log's end; entries know no ends."""
        starts, ends = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for queue in self.left.queues.values():
            behind = (queue.units.physical_offset >= self.log.end) & ~queue.units.is_hole
            starts.append(queue.units.physical_offset[behind])
            ends.append(starts[-1] + queue.units.msg_size[behind])
        for entries in self.files.index:
            places = read_places(entries.file, self.left.index[entries.name].numbers)
            starts.append(places[places >= self.log.end])
            ends.append(starts[-1] + 1)
        return np.concatenate(starts), np.concatenate(ends)

    def lowest_known(self) -> int | None:
        """The lowest physical offset that a queue or the index begins with."""
        firsts = [self.left.lowest_place] if self.left.lowest_place is not None else []
        firsts += [file.header["begin_physical_offset"] for file in self.files.opened[:1] if file.entries]
        return min((first for first in firsts if first >= 0), default=None)

    def reached(self, ends: Judgement) -> int:
        """The end of the log as far as queues and index know more of it, and of the damaged bytes behind its end."""
        behind = [gap for gap in self.log.gaps if self._is_at_an_end(gap) and gap.physical_offset >= self.log.end]
        damaged = (gap.physical_offset + gap.length for gap in behind)
        return max(self.log.end, *(found.span.end_physical_offset or 0 for found in ends.findings), *damaged, 0)

    def lost(self, ends: Judgement, times_are_doubtful: bool) -> LostEnds:
        """Which messages of the log are lost that the checkpoint may rightly speak of."""
        kinds = {finding.kind for finding in ends.findings}
        behind = [gap.physical_offset >= self.log.end for gap in self.log.gaps if self._is_at_an_end(gap)]
        either = times_are_doubtful or any(size < self.shape.file_size for size in self.shape.sizes)
        head = either or not kinds.isdisjoint(HEAD_LOST) or False in behind
        tail = either or "log_tail_missing" in kinds or True in behind
        return LostEnds(head, tail) if self.log.records else LostEnds(head or tail, head or tail)

    def _is_at_an_end(self, gap: LogGap) -> bool:
        """No record is left where the log starts, or damage stands after the last one."""
        behind = gap.physical_offset >= self.log.end
        return gap.kind == "damage" if behind else gap.physical_offset == self.log.start
