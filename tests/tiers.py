"""How much a test tries. `HYPOTHESIS_PROFILE` is `quick` in `make test`, `thorough` in `make test-all`, where it is not
set as well, and `full` in `make attack`, which has minutes for what the others sample."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "thorough")
FULL = PROFILE == "full"
EXAMPLES = {"quick": 10, "thorough": 30, "full": 300}  # of a test that names no number of its own

for name, count in EXAMPLES.items():
    # Two cores shared with others make single examples slow now and then; that is no failure.
    settings.register_profile(
        name, deadline=None, max_examples=count, suppress_health_check=[HealthCheck.function_scoped_fixture]
    )
settings.load_profile(PROFILE)
