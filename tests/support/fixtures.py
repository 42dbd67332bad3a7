"""Where the big fixture sets are: stores, damaged stores and recorded clusters of real brokers.

They lie beside the checkout (`../shared/fixtures`) or where `ROCKETLENS_FIXTURES` says. A test that needs them
carries the marker `fixtures` and is skipped, with this reason shown, where they are absent.
"""

from __future__ import annotations

import os
import tarfile
from pathlib import Path

import pytest

from pipelines.bundles import extract_all

CHECKOUT = Path(__file__).resolve().parents[2]
GOLDEN = CHECKOUT / "tests" / "golden"
FIXTURES = Path(os.environ.get("ROCKETLENS_FIXTURES", CHECKOUT.parent / "shared" / "fixtures"))

needs_fixtures = pytest.mark.skipif(
    not FIXTURES.is_dir(), reason=f"the fixture sets are not at {FIXTURES} (set ROCKETLENS_FIXTURES to their folder)"
)


def unpack_store(archive: Path, into: Path) -> Path:
    """Unpack one `store.tar.gz` (sparse files inside) and return the store root."""
    with tarfile.open(archive) as tar:
        extract_all(tar, into)
    return into / "store"
