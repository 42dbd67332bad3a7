"""Sizes with which no broker could write a file are refused where settings are made."""

from __future__ import annotations

import pytest

from recovery.rules.settings import StoreSettings


@pytest.mark.parametrize("pair", [("maxIndexNum", "-5"), ("maxIndexNum", "1"), ("mappedFileSizeConsumeQueue", "0")])
def test_a_size_without_room_is_refused(pair: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match=f"{pair[0]}=.*at least"):
        StoreSettings.from_config([pair])
