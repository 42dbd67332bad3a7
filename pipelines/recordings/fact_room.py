"""Room for the facts of recordings that one command holds at a time."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rebalance.facts import Fact

VARIABLE = "ROCKETLENS_MEMORY_MIB"


class NoRoom(Exception):
    """Recordings hold more than one command may hold: one sentence."""


class FactRoom:
    """Counts facts and the groups they are about; the budget is `rebalance.model.budget`'s, or the user's."""

    def __init__(self) -> None:
        from rebalance.model import budget

        given = os.environ.get(VARIABLE, "")
        self._most = int(given) << 20 if given.isascii() and given.isdigit() else budget.BUDGET_BYTES
        self._fact, self._group = budget.FACT_BYTES, budget.GROUP_BYTES
        self._taken = self._facts = 0
        self._groups: set[str] = set()

    def take(self, fact: Fact) -> None:
        """Room for one more. Raises NoRoom where there is none."""
        self._facts += 1
        self._taken += self._fact
        group = getattr(fact, "group", None)
        if group is not None and group not in self._groups:
            self._groups.add(group)
            self._taken += self._group
        if self._taken > self._most:
            raise NoRoom(
                f"the recordings hold more than {self._facts - 1:,} facts of {len(self._groups):,} groups, which take "
                f"{self._most >> 20} MiB: name fewer of them, let `rocketlens ingest` replay them group by group, or "
                f"allow more with {VARIABLE}"
            )
