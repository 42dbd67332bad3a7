"""What a row of a comparison is about, and what it means: the names alone."""

from __future__ import annotations

from typing import Literal

What = Literal[
    "log",
    "head",
    "tail",
    "tail_queue",
    "missing_in_other",
    "hole",
    "first_difference",
    "altered_record",
    "record_field",
    "epoch_cut",
    "term",
    "standing",
    "queue",
    "offset",
    "delay_offset",
    "topic_config",
    "group_config",
    "cost",
]
Nature = Literal["same", "benign", "difference", "diverged", "altered", "open"]
"""`benign`: one replica is only further than the other, or began later. `open`: the files do not tell what it is."""
