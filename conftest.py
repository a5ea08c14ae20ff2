"""What holds for all tests of the repository."""

from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from agentcore.testing import ClientFactory, EventLog, HostFactory

# Examples are the same in each run, and none has to be made within a time: a run says something about the code, not
# about the machine or its luck. `--hypothesis-profile=default` looks for new ones.
settings.register_profile(
    "repeatable", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("repeatable")


def _checked(start: Callable[..., Awaitable[Any]], logs: list["EventLog"]) -> Callable[..., Awaitable[Any]]:
    async def make(*wanted: Any, **options: Any) -> Any:
        made = await start(*wanted, **options)
        logs.append(getattr(made, "running", made).events)
        return made

    return make


@pytest.fixture
def declared_events() -> Iterator[list["EventLog"]]:
    """Logs of hosts, whose own events have to be as the core declares them."""
    from tests.declared_events import undeclared  # noqa: PLC0415 - only where a host is made

    logs: list[EventLog] = []
    yield logs
    if found := [each for log in logs for each in undeclared(log)]:
        pytest.fail(f"not as agentcore.host.event_types has it: {found}")


@pytest.fixture
def agentcore_host(agentcore_host: "HostFactory", declared_events: list["EventLog"]) -> Any:
    """The fixture of the core, with its events looked at."""
    return _checked(agentcore_host, declared_events)


@pytest.fixture
def agentcore_client(agentcore_client: "ClientFactory", declared_events: list["EventLog"]) -> Any:
    """The fixture of the core, with its events looked at."""
    return _checked(agentcore_client, declared_events)
