"""What a person at a terminal sees: columns that answer, colours, wrapped notes, times from now, hints, completion."""

from __future__ import annotations

import io
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from pipelines.answers.instants import parse_instant, parse_relative
from pipelines.cli.frame.asked.options import Format, OutputOptions
from pipelines.cli.frame.call.progress import wanted
from pipelines.cli.frame.call.rows import with_counts
from pipelines.cli.frame.call.run import Run, last_rows
from pipelines.cli.frame.visible import wrapped
from pipelines.cli.frame.written.text_table import BYTES_SHOWN, TextTable
from tests.support.cli import call, rows_of, small_store
from tests.support.copies import copy_tree
from tests.support.fixtures import CHECKOUT, unpacked
from tests.support.stores import store_root

STORE = unpacked(CHECKOUT / "demo" / "5.3.3-clean" / "store.tar.gz") / "store"
LOGS = CHECKOUT / "demo" / "orders-cluster" / "logs"
NOON = parse_instant("2026-11-21T12:00Z")


class Terminal(io.BytesIO):
    """An output that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def table(rows: dict[str, list[object]], width: int, out: io.BytesIO | None = None) -> tuple[str, list[str]]:
    """The text of a table, and its notes."""
    out, notes = out or io.BytesIO(), list[str]()
    batch = pa.RecordBatch.from_pydict(rows)
    sink = TextTable(batch.schema, out, width, notes.append)
    sink.write(batch)
    sink.close()
    return out.getvalue().decode(), notes


def test_what_never_changes_gives_its_room_to_what_answers() -> None:
    rows = {"strategy": ["CONSISTENT_HASH"] * 2, "topic": ["orders-of-the-day", "returns"], "moved_queues": [4, 0]}
    text, notes = table(rows, 40)
    assert text.splitlines() == [
        "topic              moved_queues",
        "orders-of-the-day             4",
        "returns                       0",
    ]
    assert notes == ["in every row: strategy CONSISTENT_HASH"]
    text, notes = table(rows, 80)
    assert "strategy" in text.splitlines()[0]
    assert not notes


@pytest.mark.parametrize(
    ("command", "shown", "said"),
    [
        (("what-if", LOGS, "--strategy", "AVG_BY_CIRCLE"), ("moved_", "members"), "group cg_orders"),
        (("replay", LOGS), ("client_id", "begin_latest"), "group cg_orders, broker broker-0"),
    ],
    ids=["what-if", "replay"],
)
def test_at_80_columns_the_answer_is_there(
    command: tuple[object, ...], shown: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    called = call(*command, "--format", "table")
    heading = "\n".join(called.out.decode().splitlines()[:2])
    assert all(word in heading for word in shown), heading
    assert f"in every row: {said}" in called.err


@pytest.mark.parametrize("columns", ["80", "200"])
def test_a_counter_that_is_not_0_is_shown(columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The crashed store has no offsets, so that what became of its retries is unknown."""
    monkeypatch.setenv("COLUMNS", columns)
    crashed = unpacked(CHECKOUT / "demo" / "5.3.1-crashed" / "store.tar.gz") / "store"
    heading, *rows = call("retries", crashed, "--format", "table").out.decode().splitlines()
    assert heading.split()[-1] == "unknown"
    assert [row.split()[-1] for row in rows] == ["9", "146"]
    transactions = call("transactions", crashed, "--format", "table")
    assert "committed_twice" not in transactions.out.decode(), "0 in every row"


def test_counters_of_a_summary() -> None:
    sums = pa.table({"group": ["a", "b"], "acked": [1, 2], "passed": [0, 0], "unknown": [0, 3], "lost": [None, 0]})
    assert with_counts(("group", "acked"), sums, ["passed", "unknown", "lost"]) == ("group", "acked", "unknown")
    assert with_counts(("group",), sums.slice(0, 0), ["unknown"]) == ("group",)


def test_a_file_loses_its_zeros_before_anything_else_of_a_place() -> None:
    rows = {"place": ["consumequeue/Orders/0/00000000000000000000", "commitlog/00000000000000262144"], "n": [1, 2]}
    text, _ = table(rows, 32)
    assert "consumequeue/Orders/0/…0" in text
    assert "commitlog/…262144" in text


@pytest.mark.parametrize(("no_color", "coloured"), [("", True), ("1", False)])
def test_severities_have_colours_on_a_terminal(no_color: str, coloured: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", no_color)
    rows = {"severity": ["critical", "warning", "info"], "kind": ["a", "b", "c"]}
    text, _ = table(rows, 80, Terminal())
    assert ("\x1b[1;31mcritical\x1b[0m" in text) == coloured
    assert ("\x1b[33mwarning" in text) == coloured
    assert "\x1b[" not in table(rows, 80)[0]


def test_a_table_without_rows_shows_nothing_on_a_terminal() -> None:
    shown = Terminal()
    sink = TextTable(pa.schema([(f"column_{number}", pa.string()) for number in range(20)]), shown, 40, pytest.fail)
    sink.close()
    assert shown.getvalue() == b""


def test_payloads_are_text_or_hexadecimal_digits() -> None:
    long = "é".encode() * BYTES_SHOWN
    text, _ = table({"n": [1, 2, 3], "body": ["für dich".encode(), b"\xff\x00", b"a" + long]}, 20_000)
    shown = [line[3:] for line in text.splitlines()[1:]]
    assert shown[:2] == ["für dich", "0xff00"]
    assert shown[2] == "a" + "é" * ((BYTES_SHOWN - 1) // 2)
    called = call("dump", "commitlog", STORE, "--bodies", "--limit", 2, "--format", "table", "--topic", "OrderTopic1")
    assert "body_decompressed" in called.out.decode()


def test_a_note_breaks_between_words_and_keeps_a_path_whole() -> None:
    path = "/data/" + "x" * 60
    lines = wrapped(f"rocketlens: not read: {path} bytes 0..40: the record ends behind the file", 50).splitlines()
    assert " ".join(line.strip() for line in lines).count(path) == 1
    assert all(len(line) <= 50 or path in line for line in lines)
    assert len(lines) > 2


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("now", NOON),
        ("-1h", NOON - 3_600_000),
        ("-90s", NOON - 90_000),
        ("-2d", NOON - 2 * 86_400_000),
        ("03:12", parse_instant("2026-11-21T03:12Z")),
        ("12:00:00", NOON),
        ("23:59", parse_instant("2026-11-20T23:59Z")),
        ("2026-11-21", None),
        ("-1", None),
        ("24:00", None),
    ],
)
def test_times_that_count_from_now(text: str, instant: int | None) -> None:
    assert parse_relative(text, NOON) == instant


def test_epoch_seconds_are_no_time() -> None:
    """They were taken for milliseconds: an instant in January 1970, before everything."""
    with pytest.raises(ValueError, match="epoch milliseconds are asked for: 1795273643000"):
        parse_instant("1795273643")
    assert parse_instant("0") == 0


def test_options_take_times_from_now() -> None:
    everything = rows_of("dump", "commitlog", STORE, "--until", "now", "--columns", "physical_offset")
    assert everything == rows_of("dump", "commitlog", STORE, "--columns", "physical_offset")
    told = call("dump", "commitlog", STORE, "--since", "-3x")
    assert told.code == 2
    assert "`now`, `-1h` and `03:12` are times" in told.err


def test_the_last_rows_are_those_at_the_end() -> None:
    whole = rows_of("dump", "commitlog", STORE, "--columns", "physical_offset")
    assert rows_of("dump", "commitlog", STORE, "--columns", "physical_offset", "--tail", 7) == whole[-7:]
    assert rows_of("--tail", 0, "dump", "commitlog", STORE) == []
    assert rows_of("dump", "commitlog", STORE, "--columns", "physical_offset", "--tail", 10**6) == whole
    assert call("dump", "commitlog", STORE, "--tail", 1, "--limit", 1).code == 2


def test_of_the_rows_before_the_last_ones_no_batch_is_held() -> None:
    batches = [pa.record_batch({"n": [2 * n, 2 * n + 1]}) for n in range(50)]
    kept = last_rows(iter(batches), 3)
    assert [n for batch in kept for n in batch.column("n").to_pylist()] == [97, 98, 99]
    assert len(kept) == 2


@pytest.mark.parametrize("format_", Format)
def test_no_progress_bar_into_a_terminal_that_shows_the_answer(
    format_: Format, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(Terminal()))
    monkeypatch.setattr("sys.stderr", io.TextIOWrapper(Terminal()))
    assert not wanted(Run(OutputOptions(format_)))
    assert wanted(Run(OutputOptions(format_, tmp_path / "answer")))


def test_the_folder_around_a_store_is_told_from_one_without_any(tmp_path: Path) -> None:
    store = small_store(tmp_path / "broker" / "store")
    for around in (tmp_path, tmp_path / "broker"):
        for command in (("queues", around), ("init", around, "--to", tmp_path / "rocketlens.toml")):
            called = call(*command)
            assert called.code == 3
            assert f"a store is below it: {store}" in called.err
    (tmp_path / "empty" / "logs").mkdir(parents=True)
    assert "below it" not in call("queues", tmp_path / "empty").err


@pytest.mark.parametrize("command", ["queues", "dump commitlog", "dump consumequeue", "lag"])
def test_an_unknown_topic_names_those_that_come_near(command: str) -> None:
    called = call(*command.split(), STORE, "--topic", "OrdrTopic0")
    assert "no queue of a topic 'OrdrTopic0' in this store; the nearest names are OrderTopic0" in called.err
    assert called.code == 2
    known = call(*command.split(), STORE, "--topic", "OrderTopic0")
    assert "no queue of a topic" not in known.err
    assert known.code == 0


def test_a_wrong_topic_is_told_where_queues_are_in_a_database() -> None:
    wrong = call("find", store_root("5.5.0-rocksdb"), "--topic", "Smal", "--key", "k")
    assert wrong.code == 2
    assert "no queue of a topic 'Smal' in this store; the nearest names are Small, SmallB" in wrong.err


def test_a_topic_that_may_be_there_is_no_wrong_name(tmp_path: Path) -> None:
    store = tmp_path / "store"
    copy_tree(STORE, store, ignore=shutil.ignore_patterns("consumequeue", "timer*"))
    copy_tree(STORE / "consumequeue" / "OrderTopic1", store / "consumequeue" / "OrderTopic1")
    asked = ("dump", "consumequeue", store, "--quiet", "--topic")
    listed = call(*asked, "OrderTopic0")
    assert (listed.code, listed.err) == (0, ""), "topics.json has it"
    wrong = call(*asked, "OrdrTopic0")
    assert (wrong.code, wrong.err.count("no queue of a topic 'OrdrTopic0'")) == (2, 1)
    for kept in (store / "config").glob("topics.json*"):
        kept.unlink()
    assert call(*asked, "OrdrTopic0").code == 0, "the log may have it"


@pytest.mark.parametrize(
    "command", ["lag", "groups", "lives", "offsets", "backlog", "ledger", "retries", "pop", "episodes --offsets {kept}"]
)
def test_an_unknown_group_names_those_that_come_near(command: str) -> None:
    words = command.format(kept=STORE / "config" / "consumerOffset.json").split()
    called = call(*words[:1], STORE, *words[1:], "--group", "CG_uptodat")
    assert "no file of this store tells of a group 'CG_uptodat'; the nearest names are CG_uptodate" in called.err
    assert called.code == 2
    assert "tells of a group" not in call(*words[:1], STORE, *words[1:], "--group", "CG_uptodate").err


def test_an_id_and_a_level_that_name_nothing_are_told() -> None:
    assert "no trace record names a message '7F00'" in call("traces", STORE, "--message-id", "7F00").err
    called = call("delays", STORE, "--level", 99)
    assert "no message of the log waited at delay level 99 (0: timer); those of it waited at: 0, 1" in called.err
    assert "delay level" not in call("delays", STORE, "--level", 1, "--pending").err


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (["pop", "--revive", "--topic", "T"], "do not go with it"),
        (["pop", "--revive", "--now", "now"], "--now counts for `overdue`"),
        (["pop", "--messages", "--now", "now"], "--now counts for `overdue`"),
        (["episodes", "--offsets", "x", "--status", "--least", "9"], "leave --least out"),
        (["compaction", "--from", "4"], "--from says where pulls of --messages begin"),
        (["start-at", "--topic", "T", "--timestamp", "now"], "--timestamp counts with --from timestamp only"),
    ],
)
def test_an_option_that_would_do_nothing_is_refused(asked: list[str], told: str) -> None:
    called = call(asked[0], STORE, *asked[1:])
    assert (called.code, told in called.err) == (2, True)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_a_script(shell: str) -> None:
    called = call("completion", shell)
    assert called.code == 0
    assert b"_ROCKETLENS_COMPLETE=complete_" + shell.encode() in called.out


def test_a_shell_that_asks_gets_commands() -> None:
    asked = {"COMP_WORDS": "rocketlens ver", "COMP_CWORD": "1", "_ROCKETLENS_COMPLETE": "complete_bash"}
    program = "import sys; from pipelines.cli.app import main; sys.argv = ['rocketlens']; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, **asked}, capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["verify"]


def test_a_busy_port_is_told_before_anything_starts(tmp_path: Path) -> None:
    (tmp_path / "rocketlens.toml").write_text("")
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = busy.getsockname()[1]
        called = call("ui", "--config-file", tmp_path / "rocketlens.toml", "--port", port)
    assert called.code == 2
    assert f"--port {port}: " in called.err
    assert not (tmp_path / "lake").exists()


def test_root_is_told_what_jupyter_wants(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    (tmp_path / "rocketlens.toml").write_text("")
    called = call("lab", "--config-file", tmp_path / "rocketlens.toml")
    assert called.code == 2
    assert "--allow-root" in called.err


@pytest.mark.parametrize(
    ("command", "option"),
    [
        (("report", "store", "--out", "page.html"), ("--format", "csv")),
        (("completion", "bash"), ("--limit", "3")),
        (("ui",), ("--out", "x")),
        (("forecast", "store"), ("--columns", "lost")),
        (("rebuild", "store", "--to", "new"), ("--tail", "1")),
        (("allocate",), ("--limit", "0")),
    ],
    ids=lambda words: words[0],
)
def test_an_option_that_would_do_nothing_is_refused_and_not_in_the_help(
    command: tuple[str, ...], option: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`report --format csv` wrote HTML, and `forecast --columns lost` everything."""
    monkeypatch.chdir(tmp_path)
    small_store(tmp_path / "store")
    before = sorted(tmp_path.iterdir())
    for words in ((*command, *option), (*option, *command)):
        told = call(*words)
        assert (told.code, told.out) == (2, b"")
        assert told.err.startswith(f"rocketlens: {option[0]}: not for `{command[0]}`, which ")
    assert sorted(tmp_path.iterdir()) == before
    assert option[0] not in call(command[0], "--help").out.decode()
