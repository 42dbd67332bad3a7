"""A store's report with everything that was recorded beside it: logs, kept offsets, and messages to follow."""

from __future__ import annotations

import gzip
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.support.cli import call, rows_of
from tests.support.incidents import incident

CASE = "4.9.7-offsets-reset"
BROKERS_ZONE = timedelta(hours=8)
SECTION = re.compile(r'<section id="([a-z0-9-]+)"[^>]*>(.*?)</section>', re.DOTALL)
DELETED = re.compile(rb"^(\S+ \S+) \S+ .*delete file\[REF:")


def test_the_page_has_episodes_the_brokers_words_and_the_way_of_a_message(tmp_path: Path) -> None:
    case, page = incident(CASE), tmp_path / "report.html"
    message = next(case.lines("messages.jsonl.gz"))["properties"]["UNIQ_KEY"]
    asked = ["--message-id", message, "--message-id", "7F000001" + "0" * 24]
    kept = ["--offsets", case.truth / "offset_history"]
    called = call("report", case.root, "--logs", case.logs, *kept, *asked, "--out", page)
    assert called.code == 0, called.err
    sections = dict(SECTION.findall(page.read_text()))
    assert "file_deleted" in sections["store-log"]
    assert "CG_old" in sections["episodes"]
    assert "file_deleted" in sections["episodes"]
    assert "<svg" in sections["journey-0"]
    assert "has no message with this id" in sections["journey-1"]


def test_without_recordings_the_page_has_no_such_sections(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    assert call("report", incident(CASE).root, "--out", page).code == 0
    assert 'id="store-log"' not in page.read_text()
    assert 'id="journey-0"' not in page.read_text()


def test_store_log_alone_is_told(tmp_path: Path) -> None:
    case, page = incident(CASE), tmp_path / "report.html"
    called = call("report", case.root, "--logs", case.logs / "store.log.gz", "--out", page)
    assert called.code == 0, called.err
    assert "file_deleted" in dict(SECTION.findall(page.read_text()))["store-log"]


@pytest.mark.parametrize("option", ["--logs", "--offsets"])
def test_what_belongs_to_a_store_is_refused_for_a_lake(option: str, tmp_path: Path) -> None:
    called = call("report", option, incident(CASE).truth, "--out", tmp_path / "report.html")
    assert called.code == 2
    assert "belong to a STORE" in called.err


def test_an_episode_counts_the_lines_of_store_log_of_its_time() -> None:
    case = incident(CASE)
    given = ["--offsets", case.truth / "offset_history", "--least", "10"]
    rows = rows_of("episodes", case.root, "--logs", case.logs, *given)
    deletions = [told for log in ("store.log.gz", "storeerror.log.gz") for told in deleted_at(case.logs / log)]
    assert deletions
    copies = sorted(int(path.name.partition(".")[0]) for path in (case.truth / "offset_history").iterdir())
    counted = 0
    for row in rows:
        begin = instant(row["begin"]) if row["begin"] else copies[0]
        end = instant(row["end"]) if row["end"] else copies[-1]
        within = sum(begin <= at <= end for at in deletions)
        assert dict(part.rsplit(" ", 1) for part in (row["store_log"] or "").split(", ") if part).get(
            "file_deleted", "0"
        ) == str(within)
        counted += within
    assert counted
    bare = rows_of("episodes", case.root, *given)
    assert {row["store_log"] for row in bare} == {None}


def deleted_at(log: Path) -> list[int]:
    with gzip.open(log) as lines:
        return [instant(found[1].decode(), BROKERS_ZONE) for line in lines if (found := DELETED.match(line))]


def instant(text: str, zone: timedelta = timedelta()) -> int:
    told = datetime.fromisoformat(text)
    return int((told.replace(tzinfo=told.tzinfo or UTC) - zone).timestamp() * 1000)


@pytest.mark.parametrize("command", ["groups", "offsets", "report", "who"])
def test_a_place_without_a_copy_of_the_offsets_is_named(command: str, tmp_path: Path) -> None:
    case, empty = incident(CASE), tmp_path / "kept"
    empty.mkdir()
    more: dict[str, list[str | Path]] = {
        "report": ["--out", tmp_path / "report.html"],
        "who": ["--message-id", next(case.lines("messages.jsonl.gz"))["properties"]["UNIQ_KEY"]],
    }
    called = call(command, case.root, "--offsets", empty, *more.get(command, []))
    assert (called.code, f"not read: {empty}: no copy of consumerOffset.json there" in called.err) == (4, True)
