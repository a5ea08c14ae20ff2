"""Worker threads are reused, and each job is attributed to the module that submitted it."""

from contextvars import Context

from agentcore.core.module_code.ownership import OWNER, current_owner, track_owners
from agentcore.core.module_code.threads import DaemonThreads


def owner_seen_by(threads: DaemonThreads, module: str) -> str:
    """Submit a job from a module's code (empty: from the core's); returns the module that it is attributed to."""

    def submit() -> str:
        OWNER.set(module)
        return threads.submit(current_owner).result(10)

    return Context().run(submit)


def test_job_is_attributed_to_the_module_that_submitted_it():
    track_owners()
    threads = DaemonThreads(1)
    try:
        assert [owner_seen_by(threads, module) for module in ("weather", "", "clock")] == ["weather", "", "clock"]
    finally:
        threads.shutdown()
