"""Why each round of a process came out as it did.

In a round the member list of each topic is asked for and answered. What changed since the process's list before names
the cause; the incident that explains it is looked up among those of the group.
Source: RebalanceImpl#doRebalance, RebalanceService#run; §5.5 of the evidence ladder.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

from rebalance.diagnosis.cause import (
    BEFORE_THE_RECORD,
    BROKERS_DIFFER,
    GONE,
    HELD_AT_THE_END,
    JOINED,
    LIST_FAILED,
    LOCK_GRANTED,
    NOT_IN_LIST,
    PERIODIC,
    ROUTE_CHANGED,
    START,
    UNKNOWN,
    Cause,
    Causes,
)
from rebalance.diagnosis.incidents import (
    CLIENT_EXPIRED,
    CLIENT_LEFT,
    CLIENT_RESUMED,
    CLIENT_SILENT,
    CLIENT_STARTED,
    CLIENT_VANISHED,
    KIND_OF_END,
    QUEUES_ADDED,
    Incident,
)
from rebalance.model.timing import INCIDENT_LATE_MS, INCIDENT_TOLD_MS, ONE_ROUND_MS, RELISTED_MS, ROUND_LATE_MS
from rebalance.ownership.history import GroupHistory
from rebalance.processes.broker_runs import BROKER_STARTED, BROKER_STOPPED, BROKER_VANISHED
from rebalance.processes.connection import ListAnswer
from rebalance.processes.life import Life
from rebalance.tenures.queue_table import Tenure

_JOINING = (CLIENT_RESUMED, CLIENT_STARTED)
_LEAVING = (CLIENT_LEFT, CLIENT_VANISHED, CLIENT_EXPIRED, CLIENT_SILENT)


class RoundCauses:
    """Looks up why a round, a tenure's begin or its end happened."""

    def __init__(self, history: GroupHistory, incidents: Sequence[Incident]) -> None:
        self._history = history
        self._incidents = incidents
        self._latest = [incident.latest_ms for incident in incidents]
        self._crashes = [incident for incident in incidents if incident.kind == BROKER_VANISHED]
        self._before: dict[ListAnswer, ListAnswer | None] = {}
        self._news_of: dict[ListAnswer, Causes] = {}
        for life in history.lives:
            lists = life.process.lists
            self._before.update(zip(lists, [None, *lists], strict=False))

    def of_list(self, life: Life, answer: ListAnswer) -> list[Cause]:
        """What is new in a member list since the round before, each with the client it is about."""
        if answer.client_ids is None:
            return [Cause(LIST_FAILED if answer.failed else UNKNOWN)]
        own = [] if life.client_id in answer.client_ids else [Cause(NOT_IN_LIST)]
        turn: ListAnswer | None = answer
        while turn is not None and answer.at_ms - turn.at_ms < ONE_ROUND_MS:
            before = self._before[turn]
            if before is None:
                return own or [Cause(START)]
            causes = self._difference(before, turn)
            if causes:
                return list(dict.fromkeys(own + causes)) if own or len(causes) > 1 else causes
            turn = before
        return own or [Cause(PERIODIC)]

    def _difference(self, before: ListAnswer, answer: ListAnswer) -> list[Cause]:
        if before.client_ids is None or answer.client_ids is None:
            return []
        if before.client_ids == answer.client_ids:
            return []
        joined, left = _joined_and_left(before.client_ids, answer.client_ids)
        causes = [self._member_cause(_JOINING, client_id, before, answer) for client_id in joined]
        return causes + [self._member_cause(_LEAVING, client_id, before, answer) for client_id in left]

    def _member_cause(self, kinds: tuple[str, ...], client_id: str, before: ListAnswer, answer: ListAnswer) -> Cause:
        """The latest incident of one of these kinds about a client that can have come between two lists."""
        for incident in self._before_instant(answer.at_ms + INCIDENT_TOLD_MS):
            fresh = incident.kind == CLIENT_SILENT or incident.latest_ms >= before.at_ms - INCIDENT_TOLD_MS
            if incident.subject == client_id and incident.kind in kinds and fresh:
                return Cause(CLIENT_EXPIRED if incident.kind == CLIENT_SILENT else incident.kind, (client_id,))
        restarted = [at for at in self._history.starts.get(answer.broker, ()) if 0 <= answer.at_ms - at <= RELISTED_MS]
        if restarted:
            return Cause(BROKER_STARTED, (answer.broker,))
        if answer.broker != before.broker:
            return Cause(BROKERS_DIFFER, (before.broker, answer.broker))
        return Cause(JOINED if kinds is _JOINING else GONE, (client_id,))

    # ---- causes of intervals

    def _news_in(self, life: Life, answer: ListAnswer) -> Causes:
        """What was new to the process in a member list; empty where nothing was."""
        news = self._news_of.get(answer)
        if news is None:
            told = self.of_list(life, answer)
            news = self._news_of[answer] = tuple([cause for cause in told if cause.kind not in (PERIODIC, START)])
        return news

    def of_begin(self, tenure: Tenure) -> Causes:
        """Why a process took a queue."""
        life, begin_list = tenure.life, tenure.begin_list
        if tenure.begin_earliest is None:
            return (Cause(BEFORE_THE_RECORD),)
        if begin_list is not None:
            news = self._news_in(life, begin_list)
            if news:
                return news
            if life.seen_from_start and Cause(START) in self.of_list(life, begin_list):
                return (Cause(CLIENT_STARTED, (life.client_id,)),)
        return self._nearest(tenure.begin_earliest, tenure, gained=True, periodic=begin_list is not None)

    def of_end(self, tenure: Tenure) -> Causes:
        """Why a process lost a queue."""
        life, end = tenure.life, tenure.life.end
        if tenure.end_list is not None:
            news = self._news_in(life, tenure.end_list)
            return news or self._nearest(tenure.end_earliest, tenure, gained=False, periodic=True)
        if tenure.end_latest is None or tenure.end_latest == end.latest_ms:
            if end.cause is None:
                return (Cause(HELD_AT_THE_END),)
            return (Cause(KIND_OF_END[end.cause], (life.client_id,)),)
        return self._nearest(tenure.end_earliest, tenure, gained=False)

    def _nearest(self, at_ms: int, tenure: Tenure, *, gained: bool, periodic: bool = False) -> Causes:
        """The latest incident that can have led to a change at `at_ms`: its own round may be a period later."""
        settings = self._history.settings
        reach_ms = settings.rebalance_wait_interval_ms + ROUND_LATE_MS
        route_ms = reach_ms + settings.poll_name_server_interval_ms
        lock_ms = reach_ms + settings.broker_lock_max_live_time_ms
        refused = gained and self._refused_before(tenure, at_ms)
        for incident in self._before_instant(at_ms + INCIDENT_LATE_MS):
            age_ms = at_ms - incident.latest_ms
            if incident.kind in (QUEUES_ADDED, BROKER_STARTED, BROKER_STOPPED):
                near = age_ms <= route_ms and self._concerns(incident, tenure)
            elif refused:
                near = age_ms <= lock_ms and incident.kind in _LEAVING
            else:
                near = age_ms <= reach_ms and incident.kind != CLIENT_SILENT
            if near:
                found = Cause(incident.kind, (incident.subject,))
                return (Cause(LOCK_GRANTED), found) if refused else (found,)
        late = (crash for crash in self._crashes if crash.earliest_ms <= at_ms + INCIDENT_LATE_MS)
        crash = next((crash for crash in late if at_ms <= crash.latest_ms), None)
        if crash is not None and self._concerns(crash, tenure):
            return (Cause(crash.kind, (crash.subject,)),)
        return (Cause(ROUTE_CHANGED if periodic else UNKNOWN),)

    def _before_instant(self, at_ms: int) -> Iterator[Incident]:
        """Incidents from the latest before an instant backwards."""
        for index in range(bisect_left(self._latest, at_ms) - 1, -1, -1):
            yield self._incidents[index]

    def _concerns(self, incident: Incident, tenure: Tenure) -> bool:
        if incident.kind == QUEUES_ADDED:
            return incident.subject == tenure.queue.topic
        return incident.subject in {queue.broker_name for queue in self._history.by_queue}

    def _refused_before(self, tenure: Tenure, at_ms: int) -> bool:
        refusals = self._history.locks.refusals
        index = bisect_left(refusals, at_ms, key=lambda refusal: refusal.at_ms)
        return any(r.client_id == tenure.life.client_id and r.queue == tenure.queue for r in refusals[:index])


@lru_cache(maxsize=1_024)
def _joined_and_left(before: tuple[str, ...], now: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Ids that came and ids that went, sorted; an id that is there twice and then once went."""
    old, new = Counter(before), Counter(now)
    return sorted((new - old).keys()), sorted((old - new).keys())
