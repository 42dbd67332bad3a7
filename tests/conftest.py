"""Profiles of the property tests: `dev` unless `HYPOTHESIS_PROFILE` or the build server says otherwise."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Verbosity, settings

QUIET = (HealthCheck.too_slow, HealthCheck.data_too_large)

settings.register_profile("dev", max_examples=50, deadline=None, suppress_health_check=QUIET)
settings.register_profile("ci", max_examples=100, deadline=None, derandomize=True, suppress_health_check=QUIET)
settings.register_profile("debug", max_examples=1000, deadline=None, verbosity=Verbosity.verbose)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "dev"))
