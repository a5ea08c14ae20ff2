"""What holds for all tests of the repository."""

from hypothesis import HealthCheck, settings

# Examples are the same in each run, and none has to be made within a time: a run says something about the code, not
# about the machine or its luck. `--hypothesis-profile=default` looks for new ones.
settings.register_profile(
    "repeatable", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("repeatable")
