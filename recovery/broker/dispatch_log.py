"""Which messages a start handed to its dispatchers, in order, in few bytes each."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from parsers.kernels.arrays import Longs

Phase = Literal["load", "start"]


def _longs() -> array[int]:
    return array("q")


@dataclass(slots=True)
class DispatchLog:
    """One row per message.

    Attributes:
        physical_offset, msg_size: the record's own fields.
        position: where it really stands in the log.
        in_load: rows that load() dispatched; those after them came after start().
    """

    physical_offset: array[int] = field(default_factory=_longs)
    msg_size: array[int] = field(default_factory=_longs)
    position: array[int] = field(default_factory=_longs)
    in_load: int | None = None

    def __len__(self) -> int:
        return len(self.position)

    def add(self, physical_offset: int, msg_size: int, position: int) -> None:
        self.physical_offset.append(physical_offset)
        self.msg_size.append(msg_size)
        self.position.append(position)

    def add_many(self, physical_offset: Longs, msg_size: Longs, position: Longs) -> None:
        self.physical_offset.frombytes(physical_offset.astype(np.int64).tobytes())
        self.msg_size.frombytes(msg_size.astype(np.int64).tobytes())
        self.position.frombytes(position.astype(np.int64).tobytes())

    def load_ends(self) -> None:
        self.in_load = len(self)

    def rows(self, phase: Phase) -> slice:
        """The rows of one phase."""
        border = len(self) if self.in_load is None else self.in_load
        return slice(0, border) if phase == "load" else slice(border, len(self))
