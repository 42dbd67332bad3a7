"""`rocketlens init`: a draft from stores and what lies beside them; nothing answers from the demo."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.lake.configuration.sources import read_sources
from tests.support.cli import call, rows_of
from tests.support.fixtures import CHECKOUT, unpack_store

ARCHIVE = CHECKOUT / "demo" / "5.3.3-clean" / "store.tar.gz"
CONF = "brokerClusterName = Lab\nbrokerName=orders-1\nbrokerId=2\nfileReservedTime=48\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A broker's folder: its store, its broker.conf, its logs."""
    unpack_store(ARCHIVE, tmp_path / "orders")
    (tmp_path / "orders" / "conf").mkdir()
    (tmp_path / "orders" / "conf" / "broker.conf").write_text(CONF)
    logs = tmp_path / "orders" / "logs" / "rocketmqlogs"
    logs.mkdir(parents=True)
    (logs / "broker.log").write_text("2026-11-21 15:13:50 INFO main - boot\n")
    (tmp_path / "orders" / "logs" / "rocketmq_client.log").write_text("2026-11-21 15:13:50 INFO main - started\n")
    return tmp_path / "orders"


@pytest.mark.parametrize("command", ["sql lag_by_group", "tables", "ingest", "ui", "lab", "report --out r.html"])
def test_without_a_configuration_nothing_answers_from_the_demo(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ROCKETLENS_CONFIG", raising=False)
    called = call(*command.split())
    assert called.code == 2
    assert called.out == b""
    assert "rocketlens init STORE" in called.err
    assert called.err.count("\n") == 1


def test_the_draft_names_what_lies_beside_the_store(home: Path, tmp_path: Path) -> None:
    to = tmp_path / "rocketlens.toml"
    (row,) = rows_of("init", home / "store", "--to", to)
    sources = read_sources(to)
    (broker,) = sources.brokers
    assert (broker.name, broker.cluster, broker.broker_id) == ("orders-1", "Lab", 2)
    assert (broker.store, broker.broker_conf) == (home / "store", home / "conf" / "broker.conf")
    assert broker.logs == home / "logs" / "rocketmqlogs"
    assert sources.client_logs == (str(home / "logs"),)
    assert sources.lake == tmp_path / "lake"
    assert broker.version is None, "a version that no file proves is a remark"
    assert row["likely_version"] in to.read_text()


def test_settings_that_the_files_show_stand_there_as_remarks(home: Path, tmp_path: Path) -> None:
    (home / "conf" / "broker.conf").unlink()
    rows_of("init", home / "store", "--to", tmp_path / "r.toml")
    text = (tmp_path / "r.toml").read_text()
    assert "#   mappedFileSizeCommitLog = 1048576" in text
    (broker,) = read_sources(tmp_path / "r.toml").brokers
    assert broker.settings == {}
    assert broker.name == "orders"


def test_what_may_be_of_another_store_is_not_taken(home: Path, tmp_path: Path) -> None:
    unpack_store(ARCHIVE, tmp_path / "more")
    other = home / "other"
    (tmp_path / "more" / "store").rename(other)
    rows_of("init", home / "store", other, "--to", tmp_path / "r.toml")
    first, second = read_sources(tmp_path / "r.toml").brokers
    assert (first.name, second.name) == ("orders", "other")
    assert first.broker_conf is second.broker_conf is first.logs is None
    (home / "conf" / "broker.conf").write_text(f"{CONF}storePathRootDir={other}\n")
    rows_of("init", home / "store", other, "--to", tmp_path / "s.toml")
    first, second = read_sources(tmp_path / "s.toml").brokers
    assert (first.broker_conf, second.broker_conf) == (None, home / "conf" / "broker.conf")


def test_two_brokers_get_two_names(home: Path, tmp_path: Path) -> None:
    unpack_store(ARCHIVE, tmp_path / "twin" / "orders")
    (home / "conf" / "broker.conf").unlink()
    rows_of("init", home / "store", tmp_path / "twin" / "orders" / "store", "--to", tmp_path / "r.toml")
    assert [broker.name for broker in read_sources(tmp_path / "r.toml").brokers] == ["orders", "orders-2"]


def test_any_name_comes_back_as_it_is(tmp_path: Path) -> None:
    odd = tmp_path / 'a "quoted" [*]\\ name\x7f\t标签'
    unpack_store(ARCHIVE, odd)
    (odd / "logs").mkdir()
    (odd / "logs" / "rocketmq_client.log").write_text("2026-11-21 15:13:50 INFO main - started\n")
    rows_of("init", odd / "store", "--to", tmp_path / "r.toml")
    sources = read_sources(tmp_path / "r.toml")
    assert sources.brokers[0].store == odd / "store"
    assert odd / "logs" in sources.evidence()


def test_nothing_is_overwritten_and_nothing_goes_into_evidence(home: Path, tmp_path: Path) -> None:
    to = tmp_path / "rocketlens.toml"
    to.write_text("mine")
    assert call("init", home / "store", "--to", to).code == 2
    assert to.read_text() == "mine"
    assert call("init", home / "store", "--to", home / "store" / "r.toml").code == 2
    assert not (home / "store" / "r.toml").exists()
    assert call("init", home, "--to", tmp_path / "r.toml").code == 3
    assert not (tmp_path / "r.toml").exists()
