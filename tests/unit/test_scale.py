"""docs/scale.md is what benchmarks/scale.py prints."""

from __future__ import annotations

from benchmarks.scale import page
from pipelines.spark.sources.slices import DEFAULT_SPLIT_BYTES
from tests.support.fixtures import CHECKOUT


def test_the_page_is_printed_from_the_rates() -> None:
    """Otherwise: python -m benchmarks.scale > docs/scale.md"""
    assert (CHECKOUT / "docs" / "scale.md").read_text("utf-8") == page()
    assert "4,096 of each" in page(4, 1024)
    assert 4 * DEFAULT_SPLIT_BYTES == 1 << 30
