"""The one exception of this door."""

from __future__ import annotations


class RocketlensError(Exception):
    """What was asked cannot be answered: one sentence with the file, the position, what was expected, what to try."""

    def _render_traceback_(self) -> list[str]:
        """What IPython shows instead of the way through the code: the sentence."""
        return [f"{type(self).__name__}: {self}"]
