"""The table [spark] of rocketlens.toml, and where the driver listens."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from pipelines.lake.configuration.sources import SourcesError, read_sources
from pipelines.lake.delta.errors import WorkFailed
from pipelines.spark.session import listening


def config(folder: Path, text: str) -> Path:
    path = folder / "rocketlens.toml"
    path.write_text(f'[lake]\npath = "lake"\nspark_master = "spark://host:7077"\n{text}')
    return path


def test_properties_have_the_names_that_spark_gives_them(tmp_path: Path) -> None:
    said = '[spark]\ndriver.host = "10.0.0.5"\ndriver.port = 7001\nui.enabled = true\n"speculation.quantile" = 0.5\n'
    sources = read_sources(config(tmp_path, said))
    assert sources.spark_properties == {
        "spark.driver.host": "10.0.0.5",
        "spark.driver.port": "7001",
        "spark.ui.enabled": "true",
        "spark.speculation.quantile": "0.5",
    }
    assert read_sources(config(tmp_path, "")).spark_properties == {}


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ('master = "local[1]"', "the master is said as spark_master of [lake]"),
        ('sql.session.timeZone = "CET"', "spark.sql.session.timeZone stays UTC"),
        ("driver.host = [1]", "spark.driver.host must be text, a number, true or false"),
        ('driver.host = "a\\nb"', "spark.driver.host may not hold control characters"),
    ],
)
def test_what_cannot_be_set_is_refused(tmp_path: Path, said: str, sentence: str) -> None:
    with pytest.raises(SourcesError) as refused:
        read_sources(config(tmp_path, f"[spark]\n{said}\n"))
    assert sentence in str(refused.value)
    assert str(refused.value).startswith(f"{tmp_path / 'rocketlens.toml'}: [spark]: ")


def test_the_driver_listens_towards_its_workers() -> None:
    assert listening("local[2]", {})["spark.driver.bindAddress"] == "127.0.0.1"
    assert listening("yarn", {}) == {}
    assert listening("local[2]", {"spark.driver.host": "10.0.0.5"}) == {}
    with socket.socket() as master:
        master.bind(("127.0.0.2", 0))
        master.listen()
        port = master.getsockname()[1]
        found = listening(f"spark://127.0.0.1:1,127.0.0.2:{port}", {})  # the first of two masters is down
        assert found["spark.driver.host"] == found["spark.driver.bindAddress"]
        assert found["spark.driver.host"].startswith("127.")
    with pytest.raises(WorkFailed, match=rf"no Spark master answers at spark://127.0.0.2:{port}: "):
        listening(f"spark://127.0.0.2:{port}", {})
