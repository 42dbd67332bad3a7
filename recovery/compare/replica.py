"""One replica of a broker: its store, and the name by which answers call it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from parsers.checkpoints.epochs import Epoch, read_epochs
from parsers.damage.errors import DamageSink, unheard
from parsers.dledger.state import DLedgerState, read_state
from parsers.store.store import Store
from recovery.knowledge.inference import StoreKnowledge


class Mode(StrEnum):
    """How a master comes about among replicas."""

    CLASSIC = "classic"
    CONTROLLER = "controller"
    DLEDGER = "dledger"


@dataclass(frozen=True, slots=True)
class Replica:
    """A store, what is known of its broker, and what it notes of masters.

    `epochs`: None where the store has no readable epoch file. `state` is that of a DLedger node.
    """

    name: str
    store: Store
    known: StoreKnowledge
    epochs: tuple[Epoch, ...] | None
    state: DLedgerState

    @classmethod
    def of(cls, name: str, store: Store, known: StoreKnowledge, damage: DamageSink = unheard) -> Replica:
        """The replica that this store is. What cannot be read of it goes to `damage`."""
        read = read_epochs(store.epochs, damage=damage)
        state = read_state(store.dledger, damage=damage)
        return cls(name, store, known, None if read is None else read[1], state)


def mode_of(replicas: Sequence[Replica]) -> Mode:
    """DLedger where all logs are, controller mode where a setting or an epoch file says so, else classic."""
    if all(replica.store.log_is_dledgers for replica in replicas):
        return Mode.DLEDGER
    says_so = (replica.known.settings.enable_controller_mode or bool(replica.store.epochs) for replica in replicas)
    return Mode.CONTROLLER if any(says_so) else Mode.CLASSIC


def names_of(roots: Sequence[Path]) -> list[str]:
    """The shortest ends of the paths, of whole folder names, that tell the roots apart; `A`, `B`, … where none do."""
    parts = [root.absolute().parts for root in roots]
    for most in range(1, max(map(len, parts)) + 1):
        names = ["/".join(each[-most:]) for each in parts]
        if len(set(names)) == len(names):
            return names
    return [f"{'/'.join(each[-1:])}#{number}" for number, each in enumerate(parts, start=1)]
