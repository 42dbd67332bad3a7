"""The lives of topics as states that need no repair, and queues that lost their files and started again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from recovery.lives.life import Ground, RestartedQueue, TopicLife, TopicLives
from recovery.verify.findings.finding import Explained, Finding, Judgement, Place, Span

NO_DELETION = "its other queues or topics.json show no deletion in between"
CLEANED = (
    "if nobody did, topics.json was lost, and cleanUnusedTopic dropped the queues that it did not name: `dump "
    "commitlog` still reads the messages"
)
OPEN = (
    "another queue of the topic holds messages from before, or may have held some: the queue lost its files, or the "
    "topic was deleted and a start gave the other queue its messages back; the store does not tell which"
)


def check_lives(lives: TopicLives) -> Judgement:
    """What the lives of topics explain, and what they show to be damaged."""
    findings = tuple(map(_restarted, lives.restarted.values()))
    former = (_former(life, lives.topics[life.topic]) for life in lives.former)
    return Judgement(findings, (*former, *map(_contradicted, lives.contradicted)))


def _contradicted(life: TopicLife) -> Explained:
    why = f"life {life.life} of {life.topic}: {life.evidence}"
    return Explained("broker.log contradicts the files", why, _span(life))


def _former(life: TopicLife, lives: Sequence[TopicLife]) -> Explained:
    what = "deleted topic" if life is lives[-1] else "former life of a topic"
    why = (
        f"{life.messages} messages of life {life.life} of {life.topic} are in the log and in no queue: "
        f"{life.ground.value}; {_what_is_lost(life)}"
    )
    return Explained(what, why, _span(life))


def _what_is_lost(life: TopicLife) -> str:
    if life.ground is Ground.NOT_CONFIGURED:
        return f"if somebody deleted it, nothing is lost; {CLEANED}"
    return "nothing is lost" if life.certain else "if somebody deleted it, nothing is lost"


def _span(life: TopicLife) -> Span:
    return Span(life.topic, physical_offset=life.first_physical_offset, end_physical_offset=life.end_physical_offset)


def _restarted(queue: RestartedQueue) -> Finding:
    former, place = queue.former, queue.first_physical_offset
    return Finding(
        "queue_numbers_restarted",
        Span(
            queue.topic,
            queue.queue_id,
            former.first_queue_offset,
            former.last_queue_offset + 1,
            former.first_physical_offset,
            place,
        ),
        (Place(f"consumequeue/{queue.topic}/{queue.queue_id}", 0, 0),),
        former.messages,
        (
            f"log: {former.messages} messages of queue offsets {former.first_queue_offset} to "
            f"{former.last_queue_offset} before {place}, where the queue starts again",
            f"{NO_DELETION if queue.lost_files else OPEN}; no unit points to these messages",
        ),
    )


def with_doubts(findings: Sequence[Finding], lives: TopicLives) -> Iterator[Finding]:
    """The findings, those of missing queues with what is open about their topics."""
    open_questions = {life.topic: life.evidence for life in lives.undecided}
    for finding in findings:
        why = open_questions.get(finding.span.topic or "") if finding.kind == "queue_missing" else None
        yield finding if why is None else replace(finding, evidence=(*finding.evidence, why))
