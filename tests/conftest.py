"""Profiles of the property tests. Without `HYPOTHESIS_PROFILE` every run draws the same examples, whoever runs it."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Verbosity, settings

QUIET = (HealthCheck.too_slow, HealthCheck.data_too_large)

settings.register_profile("explore", max_examples=500, deadline=None, suppress_health_check=QUIET)
settings.register_profile("same", max_examples=100, deadline=None, derandomize=True, suppress_health_check=QUIET)
settings.register_profile("debug", max_examples=1000, deadline=None, verbosity=Verbosity.verbose)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))
