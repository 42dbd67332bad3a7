"""Logs and captures in folders: found by what they hold, named by what they say, read whatever their packing."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from parsers.evidence.seen import TooManyFiles
from pipelines.recordings.lines import lines_of
from pipelines.recordings.recordings import Recording, facts_of, find_recordings
from rebalance.facts import ConnectionsSeen, GroupConfigSeen, LogBegins, RouteSeen, TopicQueues
from tests.support.fixtures import GOLDEN
from tests.support.pcap import Wire, as_pcap, packets_of

SESSION = GOLDEN / "rebalance" / "sessions" / "c-497-ordered-kill"


def problems(recording: Recording) -> tuple[int, list[str]]:
    said: list[str] = []
    return sum(1 for _ in facts_of(recording, said.append)), said


def test_a_session_is_found_whole() -> None:
    found = {(r.kind, r.source): [path.name for path in r.paths] for r in find_recordings([SESSION])}
    assert found["wire", "broker-0"] == ["wire.jsonl.gz"]
    assert found["log", "broker-0"]
    assert {source for kind, source in found if kind == "log"} >= {"logs/c1", "logs/c2"}
    truth = [r.kind for r in find_recordings([SESSION]) for path in r.paths if "truth" in str(path)]
    assert set(truth) <= {"polls"}


def test_a_broker_is_named_by_its_log(tmp_path: Path) -> None:
    logs = tmp_path / "rocketmqlogs"
    logs.mkdir()
    line = "2026-11-21 23:07:02 INFO main - The broker[broker-a, 127.0.0.1:10911] boot success. serializeType=JSON"
    (logs / "broker.log").write_text(f"{line}\n")
    (logs / "lock.log").write_text("2026-11-21 23:07:02 INFO main - x\n")
    assert {r.source for r in find_recordings([logs])} == {"broker-a"}
    (logs / "broker.log").write_text("2026-11-21 23:07:02 INFO main - nothing\n")
    assert {r.source for r in find_recordings([logs], broker="given")} == {"given"}


def test_rotated_parts_are_one_log_in_order_of_time(tmp_path: Path) -> None:
    (tmp_path / "broker.log").write_text("2026-11-21 23:09:00 INFO main - c\n")
    (tmp_path / "broker.1.log.gz").write_bytes(gzip.compress(b"2026-11-21 23:07:00 INFO main - a\n"))
    (tmp_path / "broker.log.2").write_text("2026-11-21 23:08:00 INFO main - b\n")
    [log] = find_recordings([tmp_path])
    assert [path.name for path in log.paths] == ["broker.1.log.gz", "broker.log.2", "broker.log"]


def test_packing_makes_no_difference(tmp_path: Path) -> None:
    packed = SESSION / "wire.jsonl.gz"
    plain = tmp_path / "wire-broker-0.jsonl"
    plain.write_bytes(gzip.decompress(packed.read_bytes()))
    [first], [second] = find_recordings([packed]), find_recordings([plain])
    assert first.source == second.source == "broker-0"
    assert problems(first) == problems(second)
    assert problems(first)[0] > 100


def test_a_cut_archive_gives_what_it_holds(tmp_path: Path) -> None:
    whole = (SESSION / "wire.jsonl.gz").read_bytes()
    cut = tmp_path / "wire-b.jsonl.gz"
    cut.write_bytes(whole[: len(whole) // 2])
    count, said = problems(find_recordings([cut])[0])
    assert count > 50
    assert len(said) == 1
    assert "breaks early" in said[0]


def test_a_missing_path_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        find_recordings([tmp_path / "nowhere"])


def test_a_log_of_any_name_is_taken_by_its_lines_where_it_is_named_itself(tmp_path: Path) -> None:
    """An application's own log, or a broker's that was renamed; in a folder among others names count."""
    renamed = {"app.out": "c1/rocketmq_client.log.gz", "night-1.txt": "broker-0/broker.log.gz"}
    for name, log in renamed.items():
        (tmp_path / name).write_bytes(gzip.decompress((SESSION / "logs" / log).read_bytes()))
    (tmp_path / "notes.txt").write_text("2026-11-21 15:07:22 nothing of RocketMQ\n", "utf-8")
    found = find_recordings(sorted(tmp_path.iterdir()))
    assert [(log.stem, log.source) for log in found] == [("app", "app"), ("broker", "broker-0")]
    assert all(any(isinstance(fact, LogBegins) for fact in facts_of(log, [].append)) for log in found)
    assert find_recordings([tmp_path]) == []


def test_logs_of_one_name_stay_apart(tmp_path: Path) -> None:
    for host in ("a", "b"):
        (tmp_path / host / "logs").mkdir(parents=True)
        (tmp_path / host / "logs" / "rocketmq_client.log").write_text("2026-11-21 23:09:00,000 INFO x - y\n")
    found = find_recordings([tmp_path])
    assert {recording.source for recording in found} == {"a/logs", "b/logs"}
    assert {recording.name for recording in found} == {f"{host}/logs/rocketmq_client.log" for host in ("a", "b")}
    [alone] = find_recordings([tmp_path / "a"])
    assert (alone.source, alone.name) == ("rocketmq_client", "rocketmq_client.log")


def test_a_capture_that_is_none_does_not_hide_the_others(tmp_path: Path) -> None:
    (tmp_path / "x.pcap").write_bytes(b"\xd4\xc3\xb2\xa1 and no more")
    (tmp_path / "wire-b.jsonl.gz").write_bytes((SESSION / "wire.jsonl.gz").read_bytes())
    said = {recording.kind: problems(recording) for recording in find_recordings([tmp_path])}
    assert said["pcap"] == (0, [f"{tmp_path / 'x.pcap'}: no capture file"])
    assert said["wire"][0] > 50


def test_two_brokers_in_one_capture_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client talks to all its brokers at equal ports, and nothing in a request names the one that is asked."""
    records = [
        {"ts": 1, "dir": "request", "code": 38, "name": "", "remote": "10.0.0.1:5", "opaque": 1, "header": {}},
        {"ts": 2, "dir": "request", "code": 38, "name": "", "remote": "10.0.0.1:6", "opaque": 2, "header": {}},
    ]
    whole = {"oneway": False, "clientVersion": 479, "language": "JAVA", "body": None}
    packets = []
    for record, host in zip(records, ("10.0.0.8", "10.0.0.9"), strict=True):
        monkeypatch.setattr("tests.support.pcap.BROKER", (host, 10911))
        packets += packets_of([record | whole])
    path = tmp_path / "x.pcap"
    path.write_bytes(as_pcap(packets).getvalue())
    named = f"{path}: hosts 10.0.0.8, 10.0.0.9 answer at the broker's port; all is taken for one broker's"
    assert problems(Recording("pcap", (path,), "b", "x.pcap"))[1] == [named]
    path.write_bytes(as_pcap(packets[:2]).getvalue())
    assert problems(Recording("pcap", (path,), "b", "x.pcap"))[1] == []


@pytest.mark.parametrize(
    ("port", "why"), [(10911, "holds a request or an answer that can be read (TLS cannot)"), (20911, "is TCP")]
)
def test_a_capture_without_a_request_says_so(
    port: int, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.support.pcap.BROKER", ("10.0.0.9", port))
    wire, path = Wire(), tmp_path / "x.pcap"
    wire.send(1, "10.0.0.1:5", from_client=True, payload=b"\x16\x03\x01\x02\x00" + bytes(range(256)))
    path.write_bytes(as_pcap(wire.packets).getvalue())
    told = [f"{path}: none of {len(wire.packets)} packets {why} at the broker's port 10909 or 10911"]
    assert problems(Recording("pcap", (path,), "b", "x.pcap")) == (0, told)


def test_a_gzipped_capture_is_read_up_to_where_it_is_cut(tmp_path: Path) -> None:
    ask = {"code": 38, "name": "", "header": {}, "oneway": False, "clientVersion": 479, "language": "JAVA"}
    asked = [{"ts": n, "dir": "request", "remote": "10.0.0.1:5", "opaque": n, "body": None, **ask} for n in range(900)]
    packed, path = gzip.compress(as_pcap(packets_of(asked)).getvalue()), tmp_path / "x.pcap.gz"
    for content, is_cut in ((packed, False), (packed[: len(packed) // 2], True)):
        path.write_bytes(content)
        [found] = find_recordings([path])
        facts, said = problems(found)
        assert (found.kind, facts > 50) == ("pcap", True)
        assert ["cut short" in sentence for sentence in said] == [True] * is_cut


def test_a_packet_longer_than_any_is_not_waited_for(tmp_path: Path) -> None:
    """Gigabytes of zeros, gzipped, are a file of some megabytes."""
    head = as_pcap([]).getvalue() + b"\0" * 8 + (1 << 31).to_bytes(4, "little") * 2
    path = tmp_path / "x.pcap.gz"
    path.write_bytes(gzip.compress(head + bytes(1 << 25)))
    facts, (said,) = problems(Recording("pcap", (path,), "b", "x.pcap"))
    assert (facts, "cut short" in said) == (0, True)


def test_a_capture_that_went_away_is_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "x.pcap"
    assert problems(Recording("pcap", (path,), "b", "x.pcap")) == (0, [f"{path}: No such file or directory"])


def test_a_line_without_end_is_none_of_a_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gigabyte of zeros, gzipped, is a file of a megabyte and one line."""
    monkeypatch.setattr("pipelines.recordings.lines.LONGEST_LINE", 16)
    path = tmp_path / "broker.log.gz"
    path.write_bytes(gzip.compress(b"short\n" + bytes(40) + b"\nshort\n"))
    said: list[str] = []
    assert list(lines_of(path, said.append)) == [b"short\n"]
    assert said == [f"{path}: a line of 16 bytes and more is none of a log; those before it were read"]


def test_a_pipe_among_the_logs_holds_nobody_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "broker.log")
    assert find_recordings([tmp_path]) == find_recordings([tmp_path / "broker.log"]) == []


def test_a_folder_of_more_files_than_are_looked_at_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parsers.evidence.seen.MOST_FILES", 3)
    for name in ("a/broker.log", "a/x", "b/y"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    assert len(find_recordings([tmp_path])) == 1
    (tmp_path / "b/z").write_text("")
    with pytest.raises(TooManyFiles, match="more than 3 files; name the folder"):
        find_recordings([tmp_path])
    assert len(find_recordings([tmp_path / "a"])) == 1


STATES = {
    "topicConfigTable": {
        "broker-a": {"perm": 7, "readQueueNums": 1, "writeQueueNums": 1},
        "cluster": {"perm": 7, "readQueueNums": 16, "writeQueueNums": 16},
        "T": {"perm": 6, "readQueueNums": 4, "writeQueueNums": 4},
    },
}
GROUPS = {"subscriptionGroupTable": {"g": {"consumeEnable": True, "retryQueueNums": 1}}}


def test_copies_of_topics_and_groups_are_known_by_what_they_hold(tmp_path: Path) -> None:
    for folder, content in (("topics", STATES), ("subscriptionGroup", GROUPS)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "1795273625806.json").write_text(json.dumps(content))
        (tmp_path / folder / "1795273630000.json.gz").write_bytes(gzip.compress(json.dumps(content).encode()))
        (tmp_path / folder / "topics.json.bak").write_text(json.dumps(content))
    (tmp_path / "other.json").write_text("{}")
    found = {recording.kind: recording for recording in find_recordings([tmp_path])}
    assert {kind: (found[kind].source, len(found[kind].paths)) for kind in found} == {
        "topics": ("broker-a", 2),
        "groups": ("broker-a", 2),
    }
    facts = list(facts_of(found["topics"], lambda sentence: None))
    assert [(fact.at_ms, fact.queues) for fact in facts if isinstance(fact, RouteSeen) and fact.topic == "T"] == [
        (1_795_273_625_806, (TopicQueues("T", "broker-a", 4),))
    ]
    assert [type(fact) for fact in facts_of(found["groups"], lambda sentence: None)] == [GroupConfigSeen]


def test_polls_are_known_by_what_they_hold(tmp_path: Path) -> None:
    member = {"clientId": "c", "clientAddr": "10.0.0.1:5", "version": 479}
    answer = {"ts": 9_000, "kind": "consumerConnection", "group": "g", "body": {"connectionSet": [member]}}
    (tmp_path / "any name.jsonl").write_text(json.dumps(answer) + "\n")
    [polls] = find_recordings([tmp_path], broker="b")
    assert (polls.kind, polls.source) == ("polls", "b")
    [fact] = facts_of(polls, lambda sentence: None)
    assert isinstance(fact, ConnectionsSeen)


def test_a_closed_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = PermissionError(13, "Permission denied", str(tmp_path / "inner"))

    def walk(place: Path, onerror: Callable[[OSError], None]) -> Iterator[object]:
        onerror(closed)
        return iter(())

    monkeypatch.setattr("os.walk", walk)
    said: list[str] = []
    assert find_recordings([tmp_path], problem=said.append) == []
    assert said == [f"{tmp_path / 'inner'}: Permission denied: nothing in it was read"]


def test_a_name_that_no_encoding_can_hold_is_read_as_java_writes_it(tmp_path: Path) -> None:
    path = tmp_path / "wire-b.jsonl"
    header = '{"consumerGroup":"\\ud800g","topic":"T","queueId":"0","commitOffset":"5"}'
    path.write_text(f'{{"ts":7,"dir":"request","code":15,"remote":"a:1","opaque":1,"header":{header}}}\n')
    (fact,) = facts_of(find_recordings([path])[0], print)
    assert fact.group == "?g"  # type: ignore[attr-defined]
