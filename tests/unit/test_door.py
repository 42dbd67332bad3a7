"""`import rocketlens as rl`: its examples, what it costs to import, and what it shows."""

from __future__ import annotations

import doctest
import importlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import rocketlens as rl
import rocketlens.lakes as rl_lake
from pipelines.installed.shipped import DEMO
from pipelines.lake.catalog import publish
from pipelines.lake.lake import Lake
from rocketlens.docs import ANSWERS, DOORS, page, questions
from tests.support.cli import call, rows_of
from tests.support.copies import copy_tree
from tests.support.fixtures import CHECKOUT, unpack_store
from tests.support.incidents import incident
from tests.support.light import run_light
from tests.support.small_log import SmallLog

STORE = "lake/demo/5.3.3-clean/store"
SUBJECTS = ("files", "groups", "stories", "care")
MODULES = (
    "rocketlens",
    *(f"rocketlens.stores.{name}" for name in SUBJECTS),
    "rocketlens.history",
    "rocketlens.lakes",
)


@pytest.fixture(scope="module", autouse=True)
def beside_the_demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The current folder of a user who has unpacked the demo's store and published an empty lake."""
    folder = tmp_path_factory.mktemp("door")
    unpack_store(DEMO / "5.3.3-clean" / "store.tar.gz", folder / "lake" / "demo" / "5.3.3-clean")
    publish(Lake(folder / "lake"))
    (folder / "rocketlens.toml").write_text('[lake]\npath = "lake"\n')
    before = Path.cwd()
    os.chdir(folder)
    yield folder
    os.chdir(before)


def _examples() -> list[doctest.DocTest]:
    known = {
        "rl": rl,
        "store": rl.store(STORE, version="5.3.3"),
        "history": rl.replay(rl.bundle("orders-cluster")),
    }
    finder = doctest.DocTestFinder(exclude_empty=True)
    return [
        test for name in MODULES for test in finder.find(importlib.import_module(name), globs=known) if test.examples
    ]


def test_the_examples_are_true() -> None:
    runner, told = doctest.DocTestRunner(), list[str]()
    for test in _examples():
        if ".Lake." in test.name:
            test.globs["lake"] = rl.lake()
        runner.run(test, out=told.append)
    assert not told, "".join(told)
    assert runner.summarize(verbose=False).attempted >= 20


def test_importing_it_loads_nothing_heavy_and_everything_is_there() -> None:
    heavy = ("numpy", "pyarrow", "numba", "duckdb", "pandas", "pyspark", "dagster", "matplotlib", "typer")
    code = f"import sys, rocketlens; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=CHECKOUT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert [name for name in rl.__all__ if not hasattr(rl, name)] == []
    with pytest.raises(AttributeError, match="no attribute 'stoer'"):
        _ = rl.stoer
    assert (CHECKOUT / "rocketlens" / "py.typed").is_file()


def test_it_works_without_the_extra() -> None:
    code = (
        f"import rocketlens as rl; store = rl.store({STORE!r})\n"
        "print(len(store.messages(columns=['topic'])), len(store.verify()), store.forecast()['load']['ok'])\n"
        "print('<table' in store._repr_html_(), '<svg' in rl.replay(rl.bundle('orders-cluster'))._repr_html_())\n"
        "print(rl.lake().sql('SELECT 1 AS one')['one'])\n"
    )
    done = run_light(code, cwd=Path.cwd())
    assert done.stdout.splitlines() == ["6114 0 True", "True True", "[1]"], done.stderr


def test_its_rows_are_those_of_the_command() -> None:
    store = rl.store(STORE, version="5.3.3")
    assert store.queues().to_pylist() == rows_of("queues", STORE)
    told = rows_of("lag", STORE, "--group", "CG_partial")
    assert store.lag(group="CG_partial")["messages_behind"] == [row["messages_behind"] for row in told]


def test_arrow_takes_the_rows_as_they_are() -> None:
    rows = rl.store(STORE).queues(topic="OrderTopic2")
    assert pa.table(rows).num_rows == len(rows) == len(list(rows)) == 2
    assert "2 rows" in rows._repr_html_()
    assert repr(rows).startswith("<Rows: 2 × topic, queue_id")
    assert list(rows.to_pandas()["queue_id"]) == [0, 1]


def test_what_is_opened_tells_of_itself() -> None:
    store = rl.store(STORE, version="5.3.3")._repr_html_()
    for part in ("RocketMQ 5.3.3; 4 CommitLog files, 4.0 MiB", "stopped in order", ">OrderTopic2</td>", ".forecast()"):
        assert part in store
    assert ">unknown<" not in store
    assert "1 broker: none to look at, 1 not known" in _lake_of_one_broker()._repr_html_()
    assert "whichever is the master" in rl.compare([STORE, STORE])._repr_html_()


def _lake_of_one_broker() -> rl_lake.Lake:
    Path("one.toml").write_text(f'[lake]\npath = "lake"\n[[broker]]\nname = "broker-a"\nstore = "{STORE}"\n')
    return rl.lake("one.toml")


def test_what_is_not_read_comes_with_the_rows(tmp_path: Path) -> None:
    log = SmallLog()
    log.put(3)
    log.write(log.places[1], b"no record")
    log.save(tmp_path)
    rows = rl.store(tmp_path).messages()
    assert rows["keys"] == ["k0", "k2"]
    assert f"bytes {log.places[1]}..{log.places[2]}" in "".join(rows.unread)
    assert "not read: " in rows._repr_html_()


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda: rl.store("nowhere").queues(), "nowhere: no such folder"),
        (lambda: rl.store(STORE, version="five").find(topic="T", key="k"), "five"),
        (lambda: rl.store(STORE).find(topic="T"), "give one of --key, --unique-id and --message-id"),
        (lambda: rl.store(STORE).messages(columns=["topc"]), "no column topc here"),
        (lambda: rl.replay("rocketlens.toml"), "no broker log"),
        (lambda: rl.lake("none.toml"), "no such file"),
        (lambda: rl.lake().sql("SELECT 1 FRM lag"), r'DuckDB: .* near "lag"$'),
        (lambda: rl.lake().sql("lag_by_grup"), "Table with name lag_by_grup does not exist"),
        (lambda: rl.replay(rl.bundle("orders-cluster")).at("noon"), "noon"),
    ],
)
def test_an_error_is_one_sentence(ask: object, sentence: str) -> None:
    with pytest.raises(rl.RocketlensError, match=sentence) as refused:
        ask()  # type: ignore[operator]
    assert "\n" not in str(refused.value)


def test_what_is_said_of_the_broker_reaches_every_question(tmp_path: Path) -> None:
    conf = tmp_path / "broker.conf"
    conf.write_text("abortFile=/elsewhere\nmappedFileSizeCommitLog=1048576\n")
    told = rl.store(STORE, "5.3.3", config={"cleanFileForciblyEnable": False, "noSuchSetting": 1}, broker_conf=conf)
    assert told.forecast()["version"] == "5.3.3"
    for notes in (told.forecast().notes, told.queues().notes):
        assert {name for name in ("noSuchSetting", "abortFile") if any(name in note for note in notes)} == {
            "noSuchSetting",
            "abortFile",
        }
    kept = [rl.store(STORE, "5.3.3", config={"fileReservedTime": hours}) for hours in (48, 72)]
    due = [store.retention(now="2026-11-22").files["due_at"][0] for store in kept]
    assert due[0] < due[1]


def test_a_forecast_and_an_outlook_are_documents_and_pages() -> None:
    crashed = rl.store(rl.bundled_store("5.3.1-crashed"), version="5.3.1")
    told = crashed.forecast()
    assert told["commitlog"]["max_physical_offset"] == dict(told)["commitlog"]["max_physical_offset"]
    assert "starts" in repr(told)
    for piece in (told.section(), told.losses(), told.bytes_at_break(), told.ways(), told.lost_by_queue()):
        assert piece._repr_html_()
    assert told.ways().rows[0]["do"] == "start as it is"
    ahead = rl.store(STORE, version="5.3.3").retention(now="2026-11-22T00:00:00Z")
    assert ahead.section()._repr_html_() == ahead._repr_html_()
    assert ahead.plot()._repr_png_().startswith(b"\x89PNG")


def test_the_page_is_printed_from_the_classes() -> None:
    """Otherwise: python -m rocketlens.docs docs/python.md"""
    assert (CHECKOUT / "docs" / "python.md").read_text("utf-8") == page()


def test_every_question_has_a_sentence() -> None:
    doors = [asked for _, asked in DOORS]
    assert [name for asked in (*doors, *ANSWERS) for name, member in questions(asked) if not member.__doc__] == []


def test_the_logs_of_the_broker_reach_every_question(tmp_path: Path) -> None:
    case = incident("4.9.7-topic-deleted")
    root = tmp_path / "store"
    copy_tree(case.root, root)
    for file in (root / "config").glob("topics.json*"):
        file.unlink()
    alone, told = rl.store(root, "4.9.7"), rl.store(root, "4.9.7", logs=[case.logs])
    answers = [
        [row["kind"] for row in store.verify() if row["kind"] == "queue_missing"]
        + [row["topic"] for row in store.rebuild(tmp_path / f"new-{number}")["undecided"]]
        + [row["topic"] for row in store.topics() if not row["certain"]]
        for number, store in enumerate((alone, told))
    ]
    assert len(answers[1]) < len(answers[0])
    rows = call("topics", root, "--logs", case.logs, "--quiet").rows
    assert [(row["topic"], row["state"]) for row in told.topics()] == [(row["topic"], row["state"]) for row in rows]
    unknown = [[row["what"] for row in store.forecast()["unknown"]] for store in (alone, told)]
    assert len(unknown[1]) < len(unknown[0])
    assert told.lag().to_pylist() != alone.lag().to_pylist()
    assert told.lag_history(root / "config").to_pylist() != alone.lag_history(root / "config").to_pylist()


def test_logs_that_are_not_there_are_one_sentence() -> None:
    with pytest.raises(rl.RocketlensError, match="nowhere"):
        rl.store(STORE, logs=["nowhere"]).forecast()
