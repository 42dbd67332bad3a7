"""The clients' own tables as judge of replayed ownership."""

from __future__ import annotations

import random
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from rebalance.model.message_queue import MessageQueue
from rebalance.ownership.owners import QueueOwners
from rebalance.replay import Replay
from tests.support.rebalance_sessions import TruthRun, json_lines, scenario, truth_runs

SAMPLED_MS = 120  # tables are sampled every 100 ms: a change shows up to this much late
NOBODY = QueueOwners("", "", "", 0, (), True, ())

GroupQueue = tuple[str, MessageQueue]


class Owners(NamedTuple):
    """Clients that had the queue in every sample around an instant, and those that had it in any."""

    surely: frozenset[str]
    maybe: frozenset[str]


@dataclass
class Verdict:
    """Answers counted per (instant, queue)."""

    asked: int = 0
    certain: int = 0
    wrong: list[str] = field(default_factory=list)

    @property
    def certain_share(self) -> float:
        return self.certain / self.asked

    def __str__(self) -> str:
        return f"{self.asked:6d} asked  {100 * self.certain_share:6.2f} % certain  {len(self.wrong)} wrong"


def instants(session: Path, count: int, seed: int) -> list[int]:
    """Random instants from the first start of a consumer to the end of a session."""
    first = min(run.started_ms for run in truth_runs(session))
    last = max(event["ts"] for event in scenario(session))
    chance = random.Random(seed)
    return sorted(chance.randrange(first, last) for _ in range(count))


def judge(session: Path, replay: Replay, at: Iterable[int], within: tuple[int, int] | None = None) -> Verdict:
    """Compares answers with the tables, at instants of which something is on record: of others nothing is certain.

    Outside `within` (what the record speaks for) only certain answers can be wrong.
    """
    runs = truth_runs(session)
    queues = sorted({(run.group, queue) for run in runs for _, table, _ in run.tables for queue in table})
    verdict = Verdict()
    for at_ms in at:
        if replay.silent_at(at_ms) is not None:
            assert not any(answer.certain for answer in replay.ownership_at(at_ms)), at_ms
            continue
        said = {(o.group, MessageQueue(o.topic, o.broker, o.queue_id)): o for o in replay.ownership_at(at_ms)}
        inside = within is None or within[0] <= at_ms <= within[1]
        for group, queue in queues:
            answer = said.get((group, queue), NOBODY if inside else None)
            if answer is not None:
                _weigh(
                    verdict, answer, _truth(session, (group, queue), at_ms), f"{at_ms} {group} {queue}", inside=inside
                )
    return verdict


def judge_named(session: Path, replay: Replay, at: Iterable[int]) -> Verdict:
    """As `judge`, of a damaged record: the queues it names, and inside only where each group's record speaks."""
    index_of = {group.history.group: group.index for group in replay.groups}
    verdict = Verdict()
    for at_ms in at:
        for answer in replay.ownership_at(at_ms):
            queue = MessageQueue(answer.topic, answer.broker, answer.queue_id)
            truth = _truth(session, (answer.group, queue), at_ms)
            inside = index_of[answer.group].speaks_for(at_ms)
            _weigh(verdict, answer, truth, f"{at_ms} {answer.group} {queue}", inside=inside)
    return verdict


def _weigh(verdict: Verdict, answer: QueueOwners, truth: Owners, what: str, *, inside: bool) -> None:
    owners, possible = set(answer.owners), set(answer.possible)
    verdict.asked += 1
    verdict.certain += answer.certain
    if answer.certain:
        right = truth.surely <= owners <= truth.maybe
    else:
        right = not inside or (truth.surely <= possible and owners <= truth.maybe)
    if not right:
        verdict.wrong.append(f"{what}: {answer} but the tables say {truth}")


@lru_cache(maxsize=1 << 16)
def _truth(session: Path, asked: GroupQueue, at_ms: int) -> Owners:
    surely, maybe = set(), set()
    for run in truth_runs(session):
        if run.group != asked[0]:
            continue
        samples = [asked[1] in table for table in _tables_around(run, at_ms)]
        if any(samples):
            maybe.add(run.client_id)
            if all(samples):
                surely.add(run.client_id)
    return Owners(frozenset(surely), frozenset(maybe))


def _tables_around(run: TruthRun, at_ms: int) -> list[frozenset[MessageQueue]]:
    """The table shown at an instant, and what the next samples tell of it."""
    if at_ms < run.started_ms or (run.ended_ms is not None and at_ms >= run.ended_ms):
        return []
    index = bisect_right(run.tables, at_ms, key=lambda sample: sample[0]) - 1
    shown = run.tables[index][1] if index >= 0 else frozenset[MessageQueue]()
    return [shown, *(table for ts, table, _ in run.tables[index + 1 :] if ts <= at_ms + SAMPLED_MS)]


# ---- duplicates in the consumers' own records

Message = tuple[str, str, str, int, int]


def duplicates(session: Path) -> set[Message]:
    """(group, topic, broker, queue id, queue offset) of messages whose listener began more than once in a clustering
    group. A message sent back for a retry names its first topic with its place in the retry topic: it is left out.
    """
    begun: Counter[Message] = Counter()
    for path in sorted((session / "truth").glob("c*.jsonl.gz")):
        group = mode = ""
        for record in json_lines(path):
            if record["ev"] == "start_begin":
                group, mode = record["group"], record["mode"]
            elif record["ev"] == "begin" and mode != "broadcast" and not record["reconsumeTimes"]:
                begun[group, record["topic"], record["broker"], record["queueId"], record["queueOffset"]] += 1
    return {message for message, times in begun.items() if times > 1}


def exposed(session: Path, replay: Replay) -> set[Message]:
    """Messages that were sent and that lie inside a reported exposure."""
    sent: Counter[tuple[str, str, int]] = Counter()
    for record in json_lines(session / "truth" / "producer.jsonl.gz"):
        if "queueOffset" in record:
            key = record["topic"], record["broker"], record["queueId"]
            sent[key] = max(sent[key], record["queueOffset"] + 1)
    return set(_exposed(replay, sent))


def _exposed(replay: Replay, sent: Counter[tuple[str, str, int]]) -> Iterator[Message]:
    for row in replay.exposures:
        top = sent[row.topic, row.broker, row.queue_id]
        until = top if row.to_queue_offset is None else min(top, row.to_queue_offset)
        for queue_offset in range(row.from_queue_offset or 0, until):
            yield row.group, row.topic, row.broker, row.queue_id, queue_offset
