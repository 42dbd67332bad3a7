"""One notebook run from top to bottom in its own kernel, and what it said and drew."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
CELL_SECONDS = 300


@dataclass(frozen=True)
class Told:
    """Outputs in the order of the cells."""

    outputs: list[dict[str, Any]]

    @property
    def printed(self) -> str:
        return "".join(str(output.get("text", "")) for output in self.outputs)

    @property
    def pages(self) -> list[str]:
        """The HTML of each cell that shows some."""
        return [page for output in self.outputs if (page := output.get("data", {}).get("text/html"))]

    @property
    def pictures(self) -> int:
        return sum("image/png" in output.get("data", {}) for output in self.outputs)

    def page_with(self, text: str) -> str:
        """The only output that says `text`."""
        found = [page for page in self.pages if text in page]
        assert len(found) == 1, f"{len(found)} outputs with {text!r}"
        return found[0]


def run_notebook(name: str) -> Told:
    """Run `notebooks/NAME.py` in this process's environment. Raises CellExecutionError with the cell's own error."""
    import jupytext  # here, since it takes a second, and every worker of a test run collects every test
    from nbclient import NotebookClient

    notebook = jupytext.read(NOTEBOOKS / f"{name}.py")
    NotebookClient(notebook, timeout=CELL_SECONDS, kernel_name="python3").execute()
    return Told([output for cell in notebook.cells for output in cell.get("outputs", [])])
