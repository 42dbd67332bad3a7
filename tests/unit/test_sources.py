"""rocketlens.toml: what is read from it, and one sentence for each thing wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from parsers.store.store import NotAStore
from pipelines.lake.configuration.broker_stores import store_of
from pipelines.lake.configuration.sources import DEMO_CONFIG, SourcesError, find_config, read_sources


def written(folder: Path, text: str) -> Path:
    path = folder / "rocketlens.toml"
    path.write_text(text)
    return path


def test_paths_count_from_the_file_and_settings_are_spelled_as_properties(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        '[lake]\npath = "out"\n[[broker]]\nname = "b"\nstore = "../store"\nversion = "5.3.3"\n'
        "[broker.settings]\nmappedFileSizeCommitLog = 1048576\ntimerWheelEnable = true\n"
        '[[client]]\nlogs = "c/*.log"\n',
    )
    sources = read_sources(path)
    assert sources.lake == tmp_path / "out"
    broker = sources.broker("b")
    assert broker.store.resolve() == (tmp_path / ".." / "store").resolve()
    assert broker.settings == {"mappedFileSizeCommitLog": "1048576", "timerWheelEnable": "true"}
    assert sources.client_logs == (str(tmp_path / "c/*.log"),)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[lake", "not valid TOML"),
        ('[lake]\npath = "~nobody-at-all/lake"', "there is no user of that name"),
        ("lake = " + "[" * 100_000, "not valid TOML"),
        ("lake = " + "9" * 10_000, "not valid TOML"),
        ("#" * ((1 << 22) + 1), "more than 4194304 bytes"),
        ('[[broker]]\nstore = "s"', "[[broker]] number 1: name is missing"),
        ('[[broker]]\nname = "b"', "[[broker]] number 1: store is missing"),
        ('[[broker]]\nname = "b"\nstore = 3', "store must be text in quotes, not 3"),
        ('[[broker]]\nname = "b"\nstore = "s"\nid = true', "id must be a whole number"),
        ('[[broker]]\nname = "a/b"\nstore = "s"', "may hold neither '/'"),
        ('[[broker]]\nname = "b"\nstore = "s"\nstroe = "t"', "unknown key 'stroe'"),
        ('[[broker]]\nname = "b"\nstore = "s"\n[[broker]]\nname = "b"\nstore = "t"', "two [[broker]] entries"),
        ("broker = 1", "broker must be a list of tables"),
        ("lake = 1", "lake must be a table"),
        (
            '[lake]\npath = "gs://bucket/lake"',
            "[lake] path 'gs://bucket/lake': a lake is in a folder of this machine, or at s3://bucket",
        ),
        ('[[broker]]\nname = "b"\nstore = "gs://box/s"', "'gs://box/s': only folders and files"),
        (
            '[[broker]]\nname = "b"\nstore = "s3://box/../s"',
            "'s3://box/../s': an address is written s3://bucket/folder",
        ),
        ('[lake.storage]\nregion = "r"', "[lake.storage] is about a lake, or stores, at s3://bucket/folder"),
        ('[lake]\nspark_master = "sc://host"', "spark_master 'sc://host': Spark Connect is not spoken"),
        ('[lake]\nbodies = "no"', "bodies must be true or false"),
    ],
)
def test_each_mistake_is_one_sentence_that_names_the_file(tmp_path: Path, text: str, sentence: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(SourcesError) as told:
        read_sources(path)
    assert sentence in str(told.value)
    assert str(path) in str(told.value)
    assert "\n" not in str(told.value)


def test_a_store_at_an_address_is_reached_as_the_lake_is(tmp_path: Path) -> None:
    text = '[lake.storage]\nendpoint = "http://there"\n[[broker]]\nname = "b"\nstore = "s3://box/store"'
    sources = read_sources(written(tmp_path, text))
    (broker,) = sources.brokers
    assert broker.place == "s3://box/store"
    assert broker.address is not None
    assert dict(broker.address.storage.settings) == {"endpoint": "http://there"}
    assert sources.evidence() == [], "no folder is read before it is listed"
    with pytest.raises(NotAStore, match="s3://box/store: was not listed"):
        store_of(broker)


def test_a_missing_file_and_an_unknown_broker_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(SourcesError, match="no such file"):
        read_sources(tmp_path / "rocketlens.toml")
    with pytest.raises(SourcesError, match=r"known: none"):
        read_sources(written(tmp_path, "")).broker("b")


def test_the_nearest_configuration_above_is_found(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    path = written(tmp_path, "")
    assert find_config(tmp_path / "a" / "b") == path.resolve()


def test_the_example_is_valid() -> None:
    sources = read_sources(DEMO_CONFIG)
    assert [broker.name for broker in sources.brokers] == ["broker-a"]


def test_the_example_of_the_page_about_the_lake_is_one(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "lake.md").read_text("utf-8")
    config = tmp_path / "rocketlens.toml"
    config.write_text(page.split("```toml\n")[1].split("```")[0])
    assert [broker.name for broker in read_sources(config).brokers] == ["broker-a", "broker-b"]
