"""Names of log and queue files that no broker can take for a number, or that lie beyond Java's long."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from recovery.broker.store_folder import Entry
from recovery.forecast.forecast import forecast
from tests.support.copies import copy_tree
from tests.support.incidents import incident
from tests.support.opened import opened

NO_NUMBERS = ("99999999999999999999", "²", "00000000000000000000 ", "-", "")


@pytest.mark.parametrize("name", NO_NUMBERS)
def test_no_number_is_made_of_a_name_that_java_cannot_parse(name: str) -> None:
    assert Entry(name, Path(name), 0, False, 0).number is None
    assert Entry("00000000000000262144", Path("x"), 0, False, 0).number == 262144


@pytest.mark.parametrize("folder", ["commitlog", "consumequeue/Letters/0"])
@pytest.mark.parametrize("name", NO_NUMBERS[:2])
def test_a_file_of_such_a_name_stops_the_start_and_nothing_else(name: str, folder: str, tmp_path: Path) -> None:
    root = tmp_path / "store"
    copy_tree(incident("5.3.3-index-lost").root, root)
    place = root / folder
    shutil.copy(sorted(place.iterdir())[0], place / name)
    played = forecast(*opened(root, "5.3.3"))
    assert not played.outcome.starts
    assert any(advice.then is not None and advice.then.starts for advice in played.advice)
