"""docs/questions.md: every command on it runs on evidence of a real broker, and its answer has what the page names.

The words looked for are names of columns and values of an answer; that the values are true is judged elsewhere.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.golden.test_episodes import recorded
from tests.support.cli import call
from tests.support.copies import copy_tree
from tests.support.fixtures import CHECKOUT, GOLDEN, move_once, run_folder, unpacked
from tests.support.heartbeats import BODIES, proxied_store
from tests.support.incidents import incident
from tests.support.static_topics import static_store
from tests.support.stores import store_root

PAGE = CHECKOUT / "docs" / "questions.md"
SESSIONS = GOLDEN / "rebalance" / "sessions"
Words = Mapping[str, object]


@dataclass(frozen=True)
class Asked:
    """On what evidence a command is run: what its words in capitals stand for, and what the answer has."""

    evidence: Callable[[], Words]
    has: tuple[str, ...]
    words: Words = field(default_factory=dict)


def of_incident(name: str) -> Words:
    case = incident(name)
    return {"STORE": case.root, "LOGS": case.logs, "KEPT": case.truth / "offset_history"}


def of_episode(name: str) -> Words:
    place = recorded(name)
    return {"STORE": place / "store", "LOGS": place / "logs", "KEPT": place / "kept"}


def without_middle_log(name: str) -> Words:
    """A copy of an incident's store that lost the third file of its log."""
    folder = run_folder() / f"questions-{name}"
    if not folder.is_dir():
        with TemporaryDirectory(dir=run_folder()) as scratch:
            whole = Path(scratch) / "whole"
            copy_tree(incident(name).root, whole)
            sorted((whole / "commitlog").iterdir())[2].unlink()
            move_once(whole, folder)
    return {"STORE": folder}


def of_proxy() -> Words:
    folder = run_folder() / "questions-proxied"
    if not folder.is_dir():
        with TemporaryDirectory(dir=run_folder()) as scratch:
            move_once(proxied_store(Path(scratch) / "store", *BODIES), folder)
    return {"STORE": folder}


def of_session(name: str) -> Words:
    kept, archive = SESSIONS / name / "offsets" / "broker-0" / "consumerOffset", SESSIONS / name / "store.tar.gz"
    store = unpacked(archive) / "broker-0" / "store" if archive.exists() else None
    logs = SESSIONS / name / "logs"
    return {"STORE": store, "LOGS": logs, "GO_LOGS": logs, "KEPT": kept}


def of_store(name: str, slave: str | None = None) -> Words:
    return {"STORE": store_root(name), "SLAVE": None if slave is None else store_root(slave)}


def asked(evidence: Callable[[str], Words], name: str, *has: str, **words: object) -> Asked:
    return Asked(partial(evidence, name), has, words)


RESET, DLQ = partial(asked, of_incident, "5.3.3-offsets-reset"), partial(asked, of_incident, "5.3.3-retry-dlq")
AGAIN, POP = partial(asked, of_incident, "4.9.7-topic-recreated"), partial(asked, of_store, "5.3.3-pop")
MOVED, SLOW = partial(asked, of_episode, "moved-1"), partial(asked, of_episode, "slow-1")
SHRUNK, WIDE = partial(asked, of_incident, "5.3.3-queues-shrunk"), {"GROUP": "CG_Wide", "TOPIC": "Wide"}
LATE = partial(asked, of_incident, "5.3.3-delay-overdue")
ORDERED, JOINED = partial(asked, of_session, "c-497-ordered-kill"), partial(asked, of_session, "a-533-join-leave-kill")
AT = {"TIME": "2026-11-21T15:10:30Z"}
BY_KEY = {"TOPIC": "OrderTopic0", "KEY": "cAaAa"}
CLEAN = partial(asked, of_store, "5.3.3-clean")

ASKED: dict[str, Asked] = {
    "lag STORE --group GROUP": RESET("messages_behind", "seconds_behind", GROUP="CG_on"),
    "lag STORE --at TIME --offsets KEPT": MOVED("messages_behind", TIME="2026-11-22T21:16:20Z"),
    "lag STORE --offsets CLIENT_OFFSETS": CLEAN(
        "CG_broadcast@127.0.0.1@DEFAULT", CLIENT_OFFSETS=GOLDEN / "stores" / "5.3.3-clean" / "truth" / "client_offsets"
    ),
    "episodes STORE --offsets KEPT --logs LOGS": SLOW("slow_client"),
    "episodes STORE --offsets KEPT --logs LOGS --status": SLOW("OK"),
    "backlog STORE --group GROUP --topic TOPIC --tags TagA": SHRUNK("matching", **WIDE),
    "backlog STORE --logs LOGS --offsets KEPT": ORDERED("head_queue_offset", "owners", "stands_since"),
    "offsets STORE": AGAIN("next_pull"),
    "offsets STORE --logs LOGS --offsets KEPT": MOVED("reset", "127.0.0.1"),
    "offsets STORE --logs LOGS": RESET("corrected", "skipped"),
    "start-at STORE --topic TOPIC --memory BYTES": AGAIN("never_delivered", TOPIC="Orders", BYTES=1 << 34),
    "offset-at STORE --topic TOPIC --group GROUP --at TIME": AGAIN(
        "queue_offset", "skipped", TOPIC="Orders", GROUP="CG_x-online", TIME="2026-11-22T08:43:50Z"
    ),
    "ledger STORE --group GROUP --logs LOGS --offsets KEPT": RESET("expired_unread", "consumed", GROUP="CG_old"),
    "pop STORE": POP("in_flight", "revived"),
    "pop STORE --messages --open": POP("in_flight", "invisible_until"),
    "pop STORE --revive": POP("revive"),
    "dump config STORE --table offset_snapshots": asked(of_store, "5.3.3-rocksdbv2", "consumer_offset"),
    "dump config STORE --table queue_mappings": Asked(
        lambda: {"STORE": static_store("5.3.1")}, ("logic_start_offset", "is_led_here")
    ),
    "replay LOGS --at TIME": ORDERED("owners", "certain", **AT),
    "replay LOGS --show anomalies": JOINED("cause", "kind"),
    "replay CLIENT_LOGS --show anomalies": Asked(
        lambda: {"CLIENT_LOGS": GOLDEN / "rebalance" / "late-locks"}, ("lock_late",)
    ),
    "replay GO_LOGS --show anomalies": asked(of_session, "k-533-go-join-leave-kill", "kind"),
    "what-if LOGS --strategy CONSISTENT_HASH --more-clients 1": JOINED("largest_share", "moved_queues"),
    "what-if LOGS --strategy AVG_BY_CIRCLE --backlog STORE": JOINED("largest_backlog"),
    "who STORE --message-id MESSAGE --logs LOGS": DLQ("given_up", "retried"),
    "find STORE --topic TOPIC --key KEY --scan": CLEAN("scan", **BY_KEY),
    "find STORE --topic TOPIC --key KEY --hash-only": CLEAN("found_by", **BY_KEY),
    "dump commitlog STORE --body-contains a --limit 5": DLQ("unique_id"),
    "dump commitlog STORE --unread-by GROUP --sendable": SHRUNK("body", GROUP="CG_Wide"),
    "dump commitlog STORE --decode": POP("pop"),
    "traces STORE": POP("trace_type"),
    "retries STORE --messages --dead": DLQ("dead_letter", "queue_offset"),
    "retries STORE --messages": DLQ("consumed", "failures"),
    "delays STORE --messages": LATE("due_at", "pending"),
    "delays STORE": LATE("overdue", "late_p99_ms"),
    "transactions STORE": DLQ("committed_twice", "given_up"),
    "topics STORE": AGAIN("bytes"),
    "topics STORE --logs LOGS": AGAIN("recreated"),
    "lives STORE --logs LOGS": AGAIN("created_again"),
    "groups STORE --logs LOGS": AGAIN("loses_nothing"),
    "groups STORE": Asked(of_proxy, ("unordered_topics", '"Fifo"')),
    "dump commitlog STORE --decode --topic DefaultHeartBeatSyncerTopic": Asked(
        of_proxy, ("proxy_heartbeat", "REGISTER")
    ),
    "verify STORE --config enableLmq=false": asked(of_store, "5.3.3-lmq", "light_queues_off"),
    "verify STORE": SHRUNK("queue_beyond_read_queues"),
    "compaction STORE": asked(of_store, "5.3.3-compaction-after", "next_pass_drops"),
    "replay LOGS --show store": asked(of_incident, "5.3.3-kill9", "unclean_exit"),
    "replay LOGS --show counted": Asked(lambda: {"LOGS": GOLDEN / "rebalance" / "proxied"}, ("SNDBCK_PUT_NUMS",)),
    "forecast STORE --version 5.3.3": asked(
        lambda name: {"STORE": incident(name).killed_root}, "5.3.3-kill9", "lost_counts"
    ),
    "upgrade STORE --version 4.9.8 --to 5.3.3": AGAIN("way_back"),
    "ledger STORE": asked(without_middle_log, "5.3.3-disk-full-reject", "damaged", "has no file", "CG_slow"),
    "verify STORE --logs LOGS": AGAIN("consumer_offset_of_former_life"),
    "retention STORE --disk-percent 100": asked(of_incident, "5.3.3-disk-full-reject", "unread_at_risk"),
    "compare STORE SLAVE": Asked(partial(of_store, "5.3.3-ha-behind/master", "5.3.3-ha-behind/slave"), ("replicas",)),
    "dump dledger STORE --state": asked(of_store, "4.9.7-dledger3/n0", "committed_index", "end_index", "term"),
    "dump epochs STORE": asked(of_store, "5.3.3-autoswitch/1", "epoch"),
    "rebuild STORE --to NEW": CLEAN("units"),
}


def commands() -> list[str]:
    """The second cell of every row of the page's tables, without its backticks."""
    rows = [line.split("|") for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ")]
    cells = [row[2].strip() for row in rows if "`rocketlens " in row[2]]
    return [cell.strip("`").removeprefix("rocketlens ") for cell in cells]


def test_every_command_of_the_page_is_run() -> None:
    found = commands()
    assert len(found) == len(set(found))
    assert set(found) == set(ASKED)


@pytest.mark.parametrize("command", ASKED)
def test_it_answers(command: str, tmp_path: Path) -> None:
    case = ASKED[command]
    words = {"NEW": tmp_path / "new", **case.evidence(), **case.words}
    if "MESSAGE" in command:
        (words["MESSAGE"], *_) = dead_letters(words["STORE"])
    arguments = [str(words.get(word, word)) for word in shlex.split(command)]
    told = call(*arguments, "--format", "json")
    assert told.code in (0, 1), told.err
    text = told.out.decode()
    assert json.loads(text), told.err
    for word in case.has:
        assert word in text, (word, text[:2000])


def dead_letters(store: object) -> list[str]:
    rows = call("retries", store, "--messages", "--dead", "--format", "jsonl").rows
    return [row["unique_id"] for row in rows]
