"""Places of an object store, asked of a server: ranges, writes on condition, and what a server refuses."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("obstore", reason="the extra `objects` is not installed")

from pipelines.installed.extras import missing_extra
from pipelines.lake.configuration.sources import SourcesError, read_sources
from pipelines.objects.both import below, connected, remove_all, size_of
from pipelines.objects.listing import StoreView, held
from pipelines.objects.place import Changed, ObjectPlace, StoreRefused
from pipelines.objects.storage import Storage
from tests.support.s3_server import WELL, Environ, S3Server, s3_server

ONCE = Storage.read({"max_retries": 0})


@pytest.fixture(scope="module")
def s3() -> Iterator[S3Server]:
    with s3_server() as server:
        server.bucket("box")
        yield server


@pytest.fixture
def folder(s3: S3Server, request: pytest.FixtureRequest) -> Iterator[ObjectPlace]:
    yield ObjectPlace.of(f"s3://box/{request.node.originalname}", ONCE)
    s3.fault = lambda environ: WELL


def test_a_read_asks_for_its_bytes_and_no_others(s3: S3Server, folder: ObjectPlace) -> None:
    place = folder / "part"
    place.write_bytes(bytes(range(256)) * 4096)
    s3.asked.clear()
    with place.looked_at().open_to_read() as file:
        file.seek(-3, 2)
        assert file.read() == b"\xfd\xfe\xff"
        file.seek(256)
        assert file.read(2) == b"\x00\x01"
    assert [(method, wanted) for method, _, wanted in s3.asked] == [
        ("HEAD", None),
        ("GET", "bytes=1048573-1048575"),
        ("GET", "bytes=256-257"),
    ]


def test_a_store_is_laid_out_elsewhere_only_as_it_was_listed(folder: ObjectPlace, tmp_path: Path) -> None:
    (folder / "store" / "commitlog" / "0").write_bytes(b"1")
    view = StoreView(folder / "store", tmp_path / "rocketlens-store-x")
    with held(view) as objects:
        assert list(objects) == ["commitlog/0"]
        assert (view.folder / "commitlog" / "0").stat().st_size == 1
    assert list(tmp_path.iterdir()) == [], "who holds it last removes it"
    with pytest.raises(StoreRefused, match="was written to meanwhile"), held(replace(view, listing="another")):
        pass
    assert list(tmp_path.iterdir()) == []


def test_of_two_who_write_where_nothing_is_one_does(folder: ObjectPlace) -> None:
    place = folder / "lease"
    first = place.write_if(b"first", None)
    with pytest.raises(Changed):
        place.write_if(b"second", None)
    second = place.write_if(b"second", first)
    with pytest.raises(Changed):
        place.write_if(b"third", first)
    assert place.read_with_tag()[0] == b"second"
    assert place.stat().e_tag == second


def test_an_object_is_there_when_it_is_closed(s3: S3Server, folder: ObjectPlace) -> None:
    for size in (1, 12 << 20):  # in one request, and in several
        whole, left = folder / f"whole-{size}", folder / f"left-{size}"
        sink = whole.open_to_write()
        sink.write(bytes(size))
        assert not whole.exists()
        sink.close()
        assert whole.stat().st_size == size
        other = left.open_to_write()
        other.write(bytes(size))
        other.discard()
        assert not left.exists()


def test_names_below_a_place(folder: ObjectPlace) -> None:
    for name in ("a/one.json", "a/b/two.parquet", "three"):
        (folder / name).write_bytes(b"12")
    assert [place.name for place in folder.iterdir()] == ["a", "three"]
    assert [below(place, folder) for place in sorted(folder.rglob("t*"))] == ["a/b/two.parquet", "three"]
    assert [str(place) for place in (folder / "a").glob("*.json")] == [f"{folder}/a/one.json"]
    assert (folder / "a").is_dir()
    assert not (folder / "thre").is_dir()
    assert size_of(folder) == 6
    remove_all(folder / "a")
    assert [place.name for place in folder.iterdir()] == ["three"]


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("500 Internal Server Error", "answers 500 Internal Server Error"),
        ("403 Forbidden", "answers 403 Forbidden"),
        ("drop before", "does not answer"),
    ],
)
def test_what_a_server_refuses_is_one_sentence(s3: S3Server, folder: ObjectPlace, fault: str, told: str) -> None:
    place = folder / "refused"
    place.write_bytes(b"12")
    s3.fault = lambda environ: fault
    asked = (
        place.read_bytes,
        place.stat,
        lambda: list(folder.iterdir()),
        lambda: list(folder.rglob("*")),
        lambda: place.write_bytes(b"3"),
        lambda: place.write_if(b"3", None),
        place.unlink,
    )
    for ask in asked:
        with pytest.raises(StoreRefused) as refused:
            ask()
        assert refused.value.strerror == f"the server at {s3.url} {told}"
        assert refused.value.filename in (str(place), str(folder))


def test_a_request_that_failed_once_is_made_again(s3: S3Server, request: pytest.FixtureRequest) -> None:
    place, faults = ObjectPlace.of("s3://box/again", Storage()), ["503 Service Unavailable", "drop before"]
    s3.fault = lambda environ: faults.pop() if faults else WELL
    place.write_bytes(b"12")
    assert place.read_bytes() == b"12"


def test_questions_that_are_asked_meanwhile_share_an_instance(s3: S3Server, folder: ObjectPlace) -> None:
    with connected(folder) as one, connected(folder) as other, connected(folder / "another") as apart:
        one.execute("CREATE TABLE shared AS SELECT 1 AS n")
        assert other.sql("SELECT n FROM shared").fetchall() == [(1,)]
        assert apart.sql("SHOW TABLES").fetchall() == []
    with connected(folder) as later:
        assert later.sql("SHOW TABLES").fetchall() == []


def test_duckdb_tells_what_the_server_refused(s3: S3Server, folder: ObjectPlace) -> None:
    (folder / "x.parquet").write_bytes(b"PAR1 and no more than that PAR1")

    def refused(environ: Environ) -> str | None:
        return "500 Internal Server Error" if "HTTP_RANGE" in environ else WELL

    s3.fault = refused
    with pytest.raises(StoreRefused, match="answers 500") as told, connected(folder) as connection:
        connection.sql(f"SELECT * FROM read_parquet(['{folder}/x.parquet'])").fetchall()
    assert "\n" not in str(told.value)
    with pytest.raises(StoreRefused, match="is not there"), connected(folder) as connection:
        connection.sql(f"SELECT * FROM read_parquet(['{folder}/gone.parquet'])").fetchall()


def test_a_bucket_that_is_not_there_is_named(s3: S3Server) -> None:
    place = ObjectPlace.of("s3://no-such-box/lake", ONCE)
    for ask in (lambda: list(place.iterdir()), lambda: list(place.rglob("*")), lambda: place.write_if(b"", None)):
        with pytest.raises(StoreRefused, match="there is no bucket no-such-box"):
            ask()


def test_the_configuration_names_a_server_and_shows_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tmp_path / "rocketlens.toml"
    storage = 'endpoint = "http://[::1]:1"\nsecret_access_key = "hidden"\n'
    config.write_text(f'[lake]\npath = "s3://box/a//lake/"\n[lake.storage]\n{storage}')
    lake = read_sources(config).lake
    assert str(lake) == "s3://box/a/lake"
    assert "hidden" not in repr(lake) + repr(read_sources(config))
    assert isinstance(lake, ObjectPlace)
    assert pickle.loads(pickle.dumps(lake)).storage == lake.storage
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://elsewhere:2")
    assert lake.storage.for_delta()["aws_endpoint"] == "http://[::1]:1"
    for wrong, told in (
        ('[lake]\npath = "gs://box/lake"', "'gs://box/lake': a lake is in a folder of this machine, or at s3://bucket"),
        ('[lake]\npath = "az://Box/lake"', "an address is written az://container/folder or abfss://"),
        ('[lake]\npath = "abfss://box/lake"', "or abfss://container@account.dfs.core.windows.net/folder"),
        ('[lake]\npath = "az://box"\n[lake.storage]\nregion = "x"', "unknown key 'region' for az://"),
        ('[lake]\npath = "s3:///lake"', "an address is written s3://bucket/folder"),
        ('[lake]\npath = "s3://box/../lake"', "an address is written s3://bucket/folder"),
        ('[lake.storage]\nregion = "x"', "[lake.storage] is about a lake, or stores, at s3://bucket/folder"),
        ('[lake]\npath = "s3://box"\n[lake.storage]\nsecret = "hidden"', "unknown key 'secret'"),
        ('[lake]\npath = "s3://box"\n[lake.storage]\nregion = 3', "region must be text in quotes"),
        ('[lake]\npath = "s3://box"\n[lake.storage]\nmax_retries = "3"', "max_retries must be a whole number from 0"),
    ):
        config.write_text(wrong)
        with pytest.raises(SourcesError) as refused:
            read_sources(config)
        assert told in str(refused.value)
        assert "hidden" not in str(refused.value)


def test_who_lacks_the_extra_is_told_its_name() -> None:
    told = missing_extra(ModuleNotFoundError(name="obstore.store"))
    assert told is not None
    assert "pip install 'rocketlens[objects]'" in told
