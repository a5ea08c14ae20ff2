"""Worker threads are used for one module after the other: whose work they do is said anew for each job."""

from contextvars import Context

from agentcore.host.containment.ownership import OWNER, current_owner, note_beginnings
from agentcore.host.containment.threads import DaemonThreads


def owner_seen_by(threads: DaemonThreads, module: str) -> str:
    """The module that a job belongs to whose caller runs a module's code; empty: the host's own."""

    def submit() -> str:
        OWNER.set(module)
        return threads.submit(current_owner).result(10)

    return Context().run(submit)


def test_job_belongs_to_the_module_that_gave_it_and_not_to_the_one_that_the_thread_was_started_for():
    note_beginnings()
    threads = DaemonThreads(1)
    try:
        assert [owner_seen_by(threads, module) for module in ("weather", "", "clock")] == ["weather", "", "clock"]
    finally:
        threads.shutdown()
