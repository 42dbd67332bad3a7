"""Where a store's log lies, by what is said of its broker; and which of several sayings wins."""

from __future__ import annotations

from pathlib import Path

import pytest

from parsers.checkpoints.epochs import Epoch, encode_epochs, load_epochs
from parsers.commitlog.record.layout import MAGIC_BLANK
from parsers.index.layout import build_key
from parsers.store.store import EPOCHS_MOVED, NotAStore
from parsers.values.java import index_key_hash
from pipelines.cli.frame.call.opening import said_of
from pipelines.cli.frame.errors import WrongUsage
from recovery.broker.store_folder import read_evidence
from recovery.knowledge.knowledge import Said, knowledge_of, open_known
from recovery.rules.store_paths import why_no_epochs
from recovery.rules.versions import BrokerVersion
from tests.support.build_store import SETTINGS, StoreBuilder, overwrite, shop, write_json
from tests.support.copies import copy_tree
from tests.support.stores import store_root


@pytest.fixture
def apart(tmp_path: Path) -> Path:
    """A root whose log lies beside it, in `disk2/log`."""
    root = shop(tmp_path / "store").finish()
    (tmp_path / "disk2").mkdir()
    (root / "commitlog").rename(tmp_path / "disk2" / "log")
    return root


def conf(folder: Path, **pairs: object) -> Path:
    path = folder / "broker.conf"
    path.write_text("".join(f"{name}={value}\n" for name, value in pairs.items()), "utf-8")
    return path


def test_a_root_without_its_log_names_the_setting_that_is_missing(apart: Path) -> None:
    with pytest.raises(NotAStore, match="storePathCommitLog"):
        open_known(apart)
    assert open_known(apart, needs_log=False).queues


def test_a_log_elsewhere_is_read_where_broker_conf_says(apart: Path) -> None:
    elsewhere = apart.parent / "disk2" / "log"
    said = Said.read(broker_conf=conf(apart.parent, storePathRootDir=apart, storePathCommitLog=elsewhere))
    store = open_known(apart, said)
    assert [file.path.parent for file in store.commitlog] == [elsewhere] * len(store.commitlog) != []
    assert {file.log_folder for file in store.commitlog} == {elsewhere.as_posix()}


def test_paths_inside_the_root_of_broker_conf_lie_inside_the_root_that_is_given(tmp_path: Path) -> None:
    root = shop(tmp_path / "copy").finish()
    said = Said.read(broker_conf=conf(tmp_path, storePathRootDir="/data/rmq", storePathCommitLog="/data/rmq/commitlog"))
    assert next(file.path.parent for file in open_known(root, said).commitlog) == root / "commitlog"


def test_a_named_folder_that_is_not_there_is_named_with_the_copy_beside(apart: Path) -> None:
    said = Said.read(broker_conf=conf(apart.parent, storePathRootDir="/m/store", storePathCommitLog="/m/disk2/log"))
    with pytest.raises(NotAStore, match="storePathCommitLog=/m/disk2/log") as refused:
        open_known(apart, said)
    assert f"--config storePathCommitLog={apart.parent / 'disk2' / 'log'}" in str(refused.value)
    over = Said.read(broker_conf=apart.parent / "broker.conf", config={"storePathCommitLog": "../disk2/log"})
    assert open_known(apart, over).commitlog


@pytest.mark.parametrize("splitter", [",", ":"])
def test_several_folders_are_one_log(tmp_path: Path, splitter: str) -> None:
    root = shop(tmp_path / "store").finish()
    files = sorted((root / "commitlog").iterdir())
    assert len(files) > 1
    (tmp_path / "b").mkdir()
    files[1].rename(tmp_path / "b" / files[1].name)
    config = {
        "storePathCommitLog": f"{root / 'commitlog'}{splitter}",
        "readOnlyCommitLogStorePaths": str(tmp_path / "b"),
        "rocketmq.broker.multiPathSplitter": splitter,
    }
    store = open_known(root, Said.read(config=config))
    assert [file.name for file in store.commitlog] == [file.name for file in files]
    one_path = config | {"storePathCommitLog": str(root / "commitlog")}
    assert len(open_known(root, Said.read(config=one_path)).commitlog) == len(files) - 1


def test_a_log_that_was_left_behind_is_not_read(tmp_path: Path) -> None:
    root = shop(tmp_path / "store").finish()
    (tmp_path / "new").mkdir()
    store = open_known(root, Said.read(config={"storePathCommitLog": str(tmp_path / "new")}))
    assert store.commitlog == []
    assert {file.why for file in store.not_understood} == {
        "a setting says that the log lies elsewhere, so the broker does not read it"
    }


def test_single_settings_win_over_broker_conf_and_that_over_the_files(tmp_path: Path) -> None:
    root = shop(tmp_path / "store").finish()
    store = open_known(root)
    shown = knowledge_of(store).settings
    assert shown.mapped_file_size_commit_log == SETTINGS.mapped_file_size_commit_log
    file = conf(tmp_path, mappedFileSizeConsumeQueue=100, maxIndexNum=7)
    told = knowledge_of(store, Said.read(broker_conf=file, config={"maxIndexNum": "9"})).settings
    assert (told.mapped_file_size_consume_queue, told.max_index_num) == (100, 9)
    assert told.mapped_file_size_commit_log == 1 << 30
    over_files = knowledge_of(store, Said.read(config={"maxIndexNum": "9"}))
    assert over_files.settings.mapped_file_size_commit_log == SETTINGS.mapped_file_size_commit_log
    assert "maxIndexNum" not in {fact.what for fact in over_files.facts}


def test_settings_that_a_broker_does_not_have_are_ignored_and_named(tmp_path: Path) -> None:
    file = conf(tmp_path, storePathConsumeQueue="/q", storePathDLedgerCommitLog="/d", enableDLegerCommitLog="true")
    said = Said.read(BrokerVersion(4, 9, 1), file, {"noSuchSetting": "1"})
    assert [sentence.partition(": ")[2].partition("=")[0] for sentence in said.ignored[:2]] == [
        "storePathConsumeQueue",
        "storePathDLedgerCommitLog",
    ]
    assert "noSuchSetting" in said.ignored[2]
    assert said.settings is not None
    assert said.settings.store_path_dledger_commit_log == ""


def test_a_place_of_epochs_that_the_version_does_not_have_is_named(tmp_path: Path) -> None:
    said = Said.read(BrokerVersion(4, 9, 8), conf(tmp_path, storePathEpochFile="/e/epochs"))
    assert ["storePathEpochFile=/e/epochs: 4.9.8 does not have this setting" in each for each in said.ignored] == [True]
    assert said.settings is not None
    assert said.settings.store_path_epoch_file == ""


@pytest.mark.parametrize("place", ["../elsewhere/e.txt", "config/epochs", "masters/epochFileCheckpoint"])
def test_epochs_are_read_where_a_setting_says(tmp_path: Path, place: str) -> None:
    root = shop(tmp_path / "store").finish()
    of_root, named = root / "epochFileCheckpoint", root / place
    named.parent.mkdir(exist_ok=True)
    of_root.write_bytes(encode_epochs([Epoch(1, 0)]))
    epochs = (Epoch(1, 0, 100), Epoch(2, 100))
    named.with_name(f"{named.name}.bak").write_bytes(encode_epochs(epochs))
    said = Said.read(config={"storePathEpochFile": place})
    store = open_known(root, said)
    assert [file.path.samefile(f"{named}.bak") for file in store.epochs] == [True]
    assert [(file.path, file.why) for file in store.not_understood] == [(of_root, EPOCHS_MOVED)]
    assert store.listed_again().epochs == store.epochs
    assert load_epochs(store.epochs).epochs == epochs
    assert read_evidence(root, said.over(SETTINGS)).epochs.epochs == epochs


def test_a_named_file_of_epochs_that_is_not_there_is_named_with_the_copy_beside(tmp_path: Path) -> None:
    root = shop(tmp_path / "store").finish()
    (tmp_path / "epochs").write_bytes(encode_epochs([Epoch(1, 0)]))
    config = {"storePathRootDir": "/m/store", "storePathEpochFile": "/m/epochs"}
    settings = Said.read(config=config).over(SETTINGS)
    why = why_no_epochs(open_known(root, Said.read(config=config)), settings)
    assert why is not None
    assert f"--config storePathEpochFile={tmp_path / 'epochs'}" in why
    followed = Said.read(config=config | {"storePathEpochFile": str(tmp_path / "epochs")})
    assert why_no_epochs(open_known(root, followed), followed.over(SETTINGS)) is None


@pytest.mark.parametrize(
    ("version", "given", "size", "ignored"),
    [
        ("4.4.0", {"mapedFileSizeCommitLog": 512}, 512, []),
        ("4.4.0", {"mappedFileSizeCommitLog": 512}, 1 << 30, ["mappedFileSizeCommitLog=512: 4.4.0 calls"]),
        ("4.5.1", {"mapedFileSizeCommitLog": 512, "mappedFileSizeCommitLog": 9}, 512, ["mappedFileSizeCommitLog=9: "]),
        ("4.5.2", {"mapedFileSizeCommitLog": 512, "mappedFileSizeCommitLog": 9}, 9, ["mapedFileSizeCommitLog=512: "]),
        (None, {"mapedFileSizeCommitLog": 512}, 1 << 30, ["mapedFileSizeCommitLog=512: since 4.5.2 brokers ignore"]),
    ],
)
def test_file_sizes_have_the_name_that_the_version_gives_them(
    tmp_path: Path, version: str | None, given: dict[str, int], size: int, ignored: list[str]
) -> None:
    """MessageStoreConfig#setMapedFileSizeCommitLog @4.5.1 is #setMappedFileSizeCommitLog @4.5.2."""
    said = Said.read(None if version is None else BrokerVersion.parse(version), conf(tmp_path, **given))
    assert said.settings is not None
    assert said.settings.mapped_file_size_commit_log == size
    told = [sentence.partition(": ")[2] for sentence in said.ignored]
    assert len(told) == len(ignored)
    assert all(sentence.startswith(start) for sentence, start in zip(told, ignored, strict=True))


def test_no_damaged_record_of_an_upgraded_store_turns_the_version(tmp_path: Path) -> None:
    """Its older records, as many as the newer ones, lack the last separator: 4.9.1 to 5.1.4 wrote them."""
    built = StoreBuilder(tmp_path / "store", version=BrokerVersion(5, 5, 1), trailing_separator=False)
    for number in range(28):
        built.trailing_separator = number >= 14
        built.put()
    root = built.finish()
    orders = {"topicName": "Orders", "perm": 6, "attributes": {}}
    write_json(root / "config" / "topics.json", {"topicConfigTable": {"Orders": orders}})
    store = open_known(root)
    assert len(store.commitlog) > 1
    assert knowledge_of(store).version == BrokerVersion(5, 5, 1)
    for record in built.records:
        at = record.physical_offset % built.file_size
        path = root / "commitlog" / f"{record.physical_offset - at:020d}"
        whole = path.read_bytes()
        overwrite(path, at + 4, MAGIC_BLANK.to_bytes(4, "big", signed=True))
        known = knowledge_of(open_known(root))
        assert (record.queue_offset, known.version) == (record.queue_offset, BrokerVersion(5, 5, 1))
        path.write_bytes(whole)


def test_one_damaged_file_does_not_outweigh_what_the_others_tell(tmp_path: Path) -> None:
    built = StoreBuilder(tmp_path / "store", version=BrokerVersion(4, 9, 8), trailing_separator=False)
    for _ in range(12):
        built.put()
    root = built.finish()
    assert knowledge_of(open_known(root)).version == BrokerVersion(4, 9, 8)
    overwrite(root / "checkpoint", 40, b"\x01" * 8)
    known = knowledge_of(open_known(root))
    assert known.version == BrokerVersion(4, 9, 8)
    assert "outweighed: the checkpoint has logicsPhysicalOffset" in known.facts[0].why


def test_one_damaged_entry_of_the_only_tag_does_not_turn_the_version(tmp_path: Path) -> None:
    built = StoreBuilder(tmp_path / "store", version=BrokerVersion(5, 5, 1))
    for number in range(30):
        built.put(properties=(("UNIQ_KEY", f"{number:032X}"), *((("TAGS", "A"),) if number == 2 else ())))
    root = built.finish()
    write_json(root / "config" / "topics.json", {"topicConfigTable": {}})
    overwrite(root / "checkpoint", 40, b"\x01" * 8)
    assert knowledge_of(open_known(root)).version == BrokerVersion(5, 5, 1)
    path = next((root / "index").iterdir())
    entry = index_key_hash(build_key("Orders", "T#A")).to_bytes(4, "big")
    entry += built.records[2].physical_offset.to_bytes(8, "big")
    assert path.read_bytes().count(entry) == 1
    overwrite(path, path.read_bytes().index(entry), bytes(4))
    assert knowledge_of(open_known(root)).version == BrokerVersion(5, 5, 1)


def test_one_record_whose_flags_say_half_message_makes_no_broker_older(tmp_path: Path) -> None:
    built = StoreBuilder(tmp_path / "store", version=BrokerVersion(4, 5, 2))
    for _ in range(12):
        built.put()
    root = built.finish()
    before = knowledge_of(open_known(root))
    assert BrokerVersion(4, 5, 2) in before.may_be
    overwrite(root / "commitlog" / f"{0:020d}", built.records[3].physical_offset + 36, b"\0\0\0\4")
    after = knowledge_of(open_known(root))
    assert (after.version, after.may_be) == (before.version, before.may_be)


def test_a_dledger_node_without_data_files_is_told_as_one(tmp_path: Path) -> None:
    root = copy_tree(store_root("4.9.7-dledger"), tmp_path / "store")
    for file in (root / "dledger-n0" / "data").iterdir():
        file.unlink()
    with pytest.raises(NotAStore, match="dledger-n0/data/ has no file"):
        open_known(root)


@pytest.mark.parametrize(
    ("version", "text", "said"),
    [
        (None, "#\nmaxIndexNum=3\nbrokerId=0\nmaxIndexNum=x\n", "4: maxIndexNum is a whole number, not 'x'"),
        ("4.4.0", "\nmapedFileSizeCommitLog=0\n", "2: mappedFileSizeCommitLog=0: at least 1 is needed"),
    ],
)
def test_a_refused_value_is_named_by_the_line_of_broker_conf_that_decides_it(
    tmp_path: Path, version: str | None, text: str, said: str
) -> None:
    (tmp_path / "broker.conf").write_text(text)
    with pytest.raises(WrongUsage) as refused:
        said_of(None if version is None else BrokerVersion.parse(version), tmp_path / "broker.conf", {})
    assert str(refused.value) == f"{tmp_path / 'broker.conf'}:{said}"


def test_a_refused_value_of_an_option_is_named_by_the_option(tmp_path: Path) -> None:
    (tmp_path / "broker.conf").write_text("maxIndexNum=3\n")
    with pytest.raises(WrongUsage, match=r"^--config maxIndexNum=1: at least 2"):
        said_of(None, tmp_path / "broker.conf", {"maxIndexNum": "1"})
