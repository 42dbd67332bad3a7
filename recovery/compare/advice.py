"""Which replica to keep, as far as the bytes prove it, and what happens to the others when they follow it.

Nothing here advises to delete or to overwrite. Where no replica has everything, or where it is open which copy of a
record is right, the answer is that it is undecided.
Source: DefaultHAClient#dispatchReadRequest, DefaultHAConnection.ReadSocketService @4.2.0 … 5.3.3 (a slave compares
offsets, never bytes), HAConnection @4.9.3 … 4.9.8 (a slave that is ahead is turned away),
AutoSwitchHAClient#doTruncate @5.3.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recovery.compare.election import Election
from recovery.compare.logs.history import Relation
from recovery.compare.replica import Mode

if TYPE_CHECKING:
    from recovery.compare.comparison import Member, Pair

COPY_FIRST = "Copy every one of these store folders before any of the brokers is started."
LOOK_AT_COPIES = (
    "Messages that only another replica has do not come back by themselves: keep the copies until they were looked at "
    "(`rocketlens dump commitlog`)."
)


@dataclass(frozen=True, slots=True)
class Advice:
    """What to do.

    Attributes:
        keep: replicas that have every message which any of them has, and no byte that is proven wrong or open.
        decided: `keep` names at least one.
        conclusion: one sentence that says so.
        steps: what to do, in order; safe to follow whatever is unknown.
        warnings: what must not be done, or would happen by itself.
    """

    keep: tuple[str, ...]
    conclusion: str
    steps: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def decided(self) -> bool:
        return bool(self.keep)


def advise(mode: Mode, members: Sequence[Member], pairs: Sequence[Pair], election: Election) -> Advice:
    """The advice that the comparison of every pair gives."""
    strangers = [pair for pair in pairs if pair.history.relation is Relation.NOTHING_SHARED]
    full = [member.name for member in members if not strangers and _has_everything(member.name, pairs)]
    led = [name for name in _led(pairs, election) if not strangers] if mode is Mode.DLEDGER and not full else []
    level = all(pair.history.relation is Relation.LEVEL and not pair.history.altered for pair in pairs)
    warnings = tuple(dict.fromkeys([*_general(pairs), *([] if level else _by_mode(mode, pairs, election))]))
    steps = [] if level else [COPY_FIRST]
    if not level and not strangers and _gives_up(members, pairs, full):
        steps.append(LOOK_AT_COPIES)
    conclusion = _led_said(led, pairs, election) if led else _conclusion(members, pairs, strangers, full)
    return Advice(tuple(full or led), conclusion, tuple(steps), warnings)


def _led(pairs: Sequence[Pair], election: Election) -> Iterator[str]:
    """Nodes that can become leader of a whole group, where no entry that only others have can be committed."""
    if election.unknown:
        return
    for name, can_win in election.candidates.items():
        missing = [pair for pair in _of(name, pairs) if only_of(pair, pair.other(name).name)]
        minor = not any(_may_be_committed(pair, name, pairs, election.group_size or 0) for pair in missing)
        if can_win and minor and not any(_is_doubtful(name, pair) for pair in _of(name, pairs)):
            yield name


def _may_be_committed(pair: Pair, name: str, pairs: Sequence[Pair], group_size: int) -> bool:
    """An entry that the other node of a pair has and this one has not is on a majority, or was noted as committed."""
    other = pair.other(name)
    noted = other.committed_index is not None and other.committed_index >= _first_own(pair, other)
    return noted or 2 * len(_holders(pair, name, pairs)) > group_size


def _first_own(pair: Pair, node: Member) -> int:
    """Number of the first entry that one node of a pair has alone."""
    return node.terms[-1].last_index - pair.side(node.name).tail.records + 1 if node.terms else 0


def _holders(pair: Pair, name: str, pairs: Sequence[Pair]) -> set[str]:
    """The nodes that have the first entry which the other node of a pair has and this one has not."""
    other, until = pair.other(name).name, pair.history.agreed_until or 0
    sharing = (each for each in _of(other, pairs) if (each.history.agreed_until or 0) > until)
    return {other, *(each.other(other).name for each in sharing)}


def _led_said(led: Sequence[str], pairs: Sequence[Pair], election: Election) -> str:
    cut = sorted(
        {pair.other(name).name for name in led for pair in _of(name, pairs) if only_of(pair, pair.other(name).name)}
    )
    return (
        f"The election decides: {_joined(led)} can become leader. What only {_joined(cut)} has is on no majority of "
        f"the {election.group_size} nodes: it was never committed, unless a node lost what it had acknowledged (power "
        "loss)."
    )


def missing_records(name: str, pairs: Sequence[Pair]) -> dict[str, int]:
    """Records that the replica does not have, by the replica that has them."""
    return {other.name: only_of(pair, other.name) for pair in _of(name, pairs) for other in [pair.other(name)]}


def only_of(pair: Pair, name: str) -> int:
    """Records that one of a pair has and the other has not: before, within and after what both have."""
    return pair.side(name).head.records + _younger_of(pair, name)


def _younger_of(pair: Pair, name: str) -> int:
    """Those of them that do not lie before the other log's first byte."""
    side, one_each = pair.side(name), pair.history.relation is Relation.ALTERED_AT_END
    return side.inside.records + (0 if one_each else side.tail.records)


def _of(name: str, pairs: Sequence[Pair]) -> Iterator[Pair]:
    return (pair for pair in pairs if name in (pair.left.name, pair.right.name))


def _has_everything(name: str, pairs: Sequence[Pair]) -> bool:
    if any(missing_records(name, pairs).values()):
        return False
    return not any(_is_doubtful(name, pair) for pair in _of(name, pairs))


def _is_doubtful(name: str, pair: Pair) -> bool:
    """Its bytes are proven wrong somewhere, or it is open whether they are."""
    history = pair.history
    if history.relation is Relation.NOTHING_SHARED or pair.untold or not history.told_apart:
        return True
    return any(name in record.wrong or record.decided_by is None for record in pair.altered)


def _gives_up(members: Sequence[Member], pairs: Sequence[Pair], keep: Sequence[str]) -> bool:
    names = keep or [member.name for member in members]
    return any(any(missing_records(name, pairs).values()) for name in names)


def _conclusion(
    members: Sequence[Member], pairs: Sequence[Pair], strangers: Sequence[Pair], keep: Sequence[str]
) -> str:
    if strangers:
        pair = strangers[0]
        return (
            f"Undecided: the logs of {pair.left.name} and {pair.right.name} share no record. They are not replicas of "
            "one broker, or one of them was emptied or begins behind the other's end."
        )
    if len(keep) == len(members):
        return "Every replica has the same messages: whichever is the master, none is lost."
    if keep:
        return f"{_joined(keep)} {'has' if len(keep) == 1 else 'have'} every message that any of these replicas has."
    for member in members:
        own = list(_of(member.name, pairs))
        younger = any(_younger_of(pair, pair.other(member.name).name) for pair in own)
        if not younger and not any(_is_doubtful(member.name, pair) for pair in own):
            older = max(pair.side(pair.other(member.name).name).head.records for pair in own)
            return (
                f"Undecided for what is older: {member.name} has every message from byte {member.log_begin} on, where "
                f"it begins; {older} records before that are only in a log that begins earlier."
            )
    return "Undecided: no replica is proven to have every message of all the others."


def _general(pairs: Sequence[Pair]) -> Iterator[str]:
    for pair in pairs:
        for record in pair.altered:
            if record.decided_by is None:
                yield (
                    f"The record at byte {record.begin} differs between {pair.left.name} and {pair.right.name}, and no "
                    "check tells which copy is right."
                )
            elif record.decided_by == "dispatch":
                yield (
                    f"At byte {record.begin} the log of {_joined(record.wrong)} was altered after its broker had "
                    "dispatched the message: its queues and index hold what the other copy says. Do not build them "
                    "anew from this log."
                )
            elif record.decided_by == "majority":
                yield (
                    f"At byte {record.begin} {_joined(record.wrong)} is alone with what it holds. Replicas that copied "
                    "from one another repeat each other's bytes: look at who copied from whom."
                )
        if pair.altered:
            yield "No replication repairs bytes that were altered in one copy: a slave copies what follows its own end."


def _by_mode(mode: Mode, pairs: Sequence[Pair], election: Election) -> Iterator[str]:
    for pair in pairs:
        for slave in (pair.left, pair.right):
            master = pair.other(slave.name)
            if mode is Mode.CLASSIC:
                yield from _classic(pair, slave, master)
            elif mode is Mode.CONTROLLER:
                yield from _controller(pair, slave, master)
            else:
                yield from _dledger(pair, slave, master, election)
    if mode is Mode.CLASSIC:
        yield (
            "A slave whose log is empty is sent its master's last file only: to have every message, it needs a copy of "
            "the master's store, made while that broker is stopped."
        )


def _classic(pair: Pair, slave: Member, master: Member) -> Iterator[str]:
    relation = pair.history.relation
    if relation is Relation.DIVERGED:
        yield (
            f"{slave.name} must not be started on these files as a slave of {master.name}: it would write that one's "
            "bytes behind messages that only it has."
        )
    elif pair.side(slave.name).tail.records and not pair.side(master.name).tail.records:
        yield (
            f"{slave.name} must not be started on these files as a slave of {master.name}, whose log is shorter: once "
            "that one has grown beyond it, it would go on in the middle of a record (masters of 4.9.3 to 4.9.8 end its "
            "connection again and again instead)."
        )


def _controller(pair: Pair, slave: Member, master: Member) -> Iterator[str]:
    for cut in pair.cuts:
        if cut.slave == slave.name:
            yield from _cut_said(pair, slave, master, cut.consistent_point, cut.messages, cut.is_aligned)
    if not slave.replica.epochs and slave.log_end:
        yield (
            f"{slave.name} has no epochs: as a slave of {master.name} it takes itself for a new replica, cuts nothing "
            "and goes on behind its own end."
        )


def _cut_said(
    pair: Pair, slave: Member, master: Member, point: int | None, messages: int, is_aligned: bool
) -> Iterator[str]:
    who = f"{slave.name} as a slave of {master.name}"
    agreed = pair.history.agreed_until or 0
    own = pair.side(slave.name).tail.messages
    if point is None:
        yield f"{who} copies nothing: they have no epoch in common."
        return
    if not is_aligned:
        yield f"{who} refuses to cut at byte {point}, where no record begins, and copies nothing."
    elif messages:
        yield f"{who} cuts its log at byte {point}: {messages} messages, of which {own} are in no log of {master.name}."
    if own and pair.history.relation is Relation.DIVERGED and point > agreed:
        yield (
            f"{who} keeps bytes that {master.name} does not have: the epochs agree up to {point}, the logs only up to "
            f"{agreed}."
        )


def _dledger(pair: Pair, follower: Member, leader: Member, election: Election) -> Iterator[str]:
    own = pair.side(follower.name).tail
    if not own.records or election.candidates.get(leader.name) is False:
        return
    yield (
        f"If {leader.name} becomes leader, {follower.name} cuts its log at byte {pair.history.agreed_until}: "
        f"{own.records} entries that {leader.name} does not have."
    )
    first_cut = _first_own(pair, follower)
    committed = follower.committed_index
    if committed is not None and committed >= first_cut:
        yield (
            f"{follower.name} knew entries up to {committed} as committed: a group that loses those from {first_cut} "
            "on loses acknowledged messages."
        )


def _joined(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
