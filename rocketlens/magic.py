"""`%sql` in a notebook: a question to the lake that was opened last."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from rocketlens.rows import Rows

if TYPE_CHECKING:
    from rocketlens.lakes import Lake


def offer_sql(lake: Lake) -> None:
    """Inside IPython make `%sql SELECT …` show an answer and `%%sql name` keep it in a variable; elsewhere nothing."""
    if "IPython" not in sys.modules:
        return
    from IPython.core.getipython import get_ipython

    shell: Any = get_ipython()
    if shell is None:
        return

    def sql(line: str, cell: str | None = None) -> Rows | None:
        answer = lake.sql((cell if cell is not None else line).strip())
        if cell is not None and line.strip():
            shell.user_ns[line.strip()] = answer
            return None
        return answer

    shell.register_magic_function(sql, magic_kind="line_cell", magic_name="sql")
