"""Which replica would become master by the rules of its mode, as far as their files tell.

Source: DefaultElectPolicy#elect, ReplicasInfoManager#electMaster @5.3.3 (controller mode);
dledger DLedgerLeaderElector#handleVote @0.2.3, 0.3.1.2 (DLedger). Classic replicas hold no election.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from recovery.compare.replica import Mode


class Standing(NamedTuple):
    """What an election compares: the last epoch or term, then the log's end in bytes or the last entry's number."""

    epoch: int
    end: int


NOTHING_NOTED = -1
"""EpochFileCache#lastEpoch of a broker without entries; the term and number of a node without an entry."""
RULES = {
    Mode.CLASSIC: (
        "no election: the broker that is started as the master (brokerId=0) is it, whatever its log holds, and the "
        "others copy from their own ends on without comparing bytes"
    ),
    Mode.CONTROLLER: (
        "of the brokers of the SyncStateSet that are alive the old master stays; else the one with the highest epoch, "
        "then the longest log, then the smallest brokerElectionPriority. Brokers outside of the set only with "
        "enableElectUncleanMaster=true"
    ),
    Mode.DLEDGER: (
        "a node becomes leader when a majority of the group votes for it; a node votes for none whose last entry has "
        "an older term, or the same term and a smaller number, than its own"
    ),
}
CONTROLLERS_OWN = "the SyncStateSet and who is alive are known to the controller alone, no store holds them"
SIZE_UNKNOWN = "how many nodes the group has is in its dLegerPeers, in no store: say it with --group-size"
OTHER_NODES = "nodes whose stores are not given vote, too"


@dataclass(frozen=True, slots=True)
class Election:
    """The outcome of an election.

    Attributes:
        candidates: who can win; None as a value: the files do not tell.
        standings: what is compared. `best`: whose is the highest; empty in classic mode, which compares nothing.
        group_size: nodes of a DLedger group, where it was said.
        unknown: what the answer depends on that no file holds; empty where it depends on nothing else.
    """

    mode: Mode
    rule: str
    candidates: Mapping[str, bool | None]
    standings: Mapping[str, Standing]
    best: tuple[str, ...]
    group_size: int | None
    unknown: str


def elect(mode: Mode, standings: Mapping[str, Standing], group_size: int | None = None) -> Election:
    """Who can win. `group_size`: nodes of the DLedger group, those not given among them; at least those given."""
    size = max(group_size, len(standings)) if mode is Mode.DLEDGER and group_size is not None else None
    highest = max(standings.values())
    best = () if mode is Mode.CLASSIC else tuple(name for name, each in standings.items() if each == highest)
    candidates: dict[str, bool | None] = dict.fromkeys(standings)
    if size is not None:
        candidates = {name: _gets_majority(standing, standings, size) for name, standing in standings.items()}
    return Election(mode, RULES[mode], candidates, standings, best, size, _unknown(mode, standings, size))


def _unknown(mode: Mode, standings: Mapping[str, Standing], size: int | None) -> str:
    if mode is Mode.CLASSIC:
        return ""
    if mode is Mode.CONTROLLER:
        return CONTROLLERS_OWN
    if size is None:
        return SIZE_UNKNOWN
    return OTHER_NODES if size > len(standings) else ""


def _gets_majority(standing: Standing, standings: Mapping[str, Standing], size: int) -> bool | None:
    """None where it depends on nodes that are not given."""
    needed = size // 2 + 1
    votes = sum(other <= standing for other in standings.values())
    if votes >= needed:
        return True
    return None if votes + size - len(standings) >= needed else False
