"""A bar of unknown length is not a bar of length zero."""

from __future__ import annotations

from pipelines.defs.metadata import bar_plot, ranked_bars


def test_the_unknown_stand_last_and_say_so() -> None:
    bars = ranked_bars(["none", "some", "nothing", "most"], [None, 3, 0, 9])
    assert bars == [("most", 9), ("some", 3), ("nothing", 0), ("none: unknown", 0)]


def test_a_plot_of_unknown_values_is_drawn() -> None:
    assert bar_plot("lag", ["a", "b"], [None, 2], "messages").value.startswith("![lag](data:image/png;base64,")
