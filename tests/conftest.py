"""Profiles of the property tests, the folder that the workers of one run unpack the golden stores to, and the hour.

Without `HYPOTHESIS_PROFILE` every run draws the same examples, whoever runs it.
"""

from __future__ import annotations

import gc
import os
from datetime import UTC, datetime
from pathlib import Path
from tempfile import mkdtemp

import pytest
from hypothesis import HealthCheck, Verbosity, settings
from xdist.remote import Producer

from pipelines.answers import instants
from tests.support.fixtures import RUN_FOLDER, remove_run_folder
from tests.support.shares import FilesAndSpark

gc.set_threshold(50_000, 20, 50)  # what is collected, a million objects, is not to be gone through at every turn
QUIET = (HealthCheck.too_slow, HealthCheck.data_too_large)

settings.register_profile("explore", max_examples=500, deadline=None, suppress_health_check=QUIET)
settings.register_profile("same", max_examples=100, deadline=None, derandomize=True, suppress_health_check=QUIET)
settings.register_profile("debug", max_examples=1000, deadline=None, verbosity=Verbosity.verbose)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

BEGAN = datetime.now(UTC)
full_hour_of = instants.hour_of


def hour_of_this_run(at: datetime) -> datetime:
    """No hour begins while tests run: an ingest of nothing new makes some tables again in another hour."""
    return full_hour_of(min(at, BEGAN))


instants.hour_of = hour_of_this_run


def pytest_configure(config: pytest.Config) -> None:
    """Make the folder of this run, gone at its end; workers are given that of the process that started them."""
    if RUN_FOLDER not in os.environ:
        os.environ[RUN_FOLDER] = folder = mkdtemp(prefix="rocketlens-tests-")
        config.add_cleanup(lambda: remove_run_folder(Path(folder)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> FilesAndSpark:
    """How the tests are shared among the processes of one run."""
    return FilesAndSpark(config, log)


def pytest_collection_finish() -> None:
    """Keep all tests out of the garbage collector's way: they live as long as the run."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """Give everything back to the collector: libraries count what is left of them at the end."""
    gc.unfreeze()
