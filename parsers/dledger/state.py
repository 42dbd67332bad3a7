"""What a DLedger node remembers besides its log: its term and vote (currterm), and how far it came (checkpoint).

Source: MemberState#persistTerm, DLedgerMmapFileStore#persistCheckPoint, IOUtils#properties2String @0.3.1.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from parsers.damage.errors import CorruptRecord, DamageSink, StoreFormatError, TruncatedRecord, report
from parsers.evidence.mapped import map_file
from parsers.store.store_file import StoreFile
from parsers.values.java import decode_utf8, parse_whole

MOST_BYTES = 1 << 16
NUMBERS = {"currTerm": "current_term", "endIndex": "end_index", "committedIndex": "committed_index"}
BACKUP = ".bak"


@dataclass(frozen=True, slots=True)
class DLedgerState:
    """The node's own numbers; None where no file says them.

    `end_index`, `committed_index`: numbers of the last entry and of the last one that a majority of replicas has, when
    the checkpoint was written.
    """

    current_term: int | None = None
    vote_leader: str | None = None
    end_index: int | None = None
    committed_index: int | None = None


def decode_state(content: bytes) -> dict[str, int | str]:
    """The pairs of a file of lines `name=value`, those of `NUMBERS` as longs.

    Raises CorruptRecord, TruncatedRecord: a line without `=`, a value that is no long.
    """
    found: dict[str, int | str] = {}
    at = 0
    for line in content.split(b"\n"):
        name, separator, value = decode_utf8(line).strip().partition("=")
        if name and not name.startswith("#"):
            if not separator:
                raise TruncatedRecord("a line without a value", at=at, field=name)
            found[name] = _long(name, value.strip(), at) if name in NUMBERS else value.strip()
        at += len(line) + 1
    return found


def read_state(files: Sequence[StoreFile], *, damage: DamageSink | None = None) -> DLedgerState:
    """What currterm and checkpoint say; other files, and backups beside their newer form, are passed over.

    Raises, or reports: CorruptRecord, TruncatedRecord, UnreadableFile.
    """
    said: dict[str, int | str] = {}
    for file in files:
        if file.kind == "dledger_state" and not file.name.endswith(BACKUP):
            try:
                said |= decode_state(bytes(map_file(file.path)[:MOST_BYTES]))
            except StoreFormatError as error:
                report(error.in_file(file.path), damage)
    numbers = {ours: value for name, ours in NUMBERS.items() if isinstance(value := said.get(name), int)}
    leader = said.get("voteLeader")
    return DLedgerState(vote_leader=str(leader) if leader else None, **numbers)


def _long(name: str, value: str, at: int) -> int:
    number = parse_whole(value)
    if number is None:
        raise CorruptRecord("not a number", at=at, field=name, actual=value[:64])
    return number
