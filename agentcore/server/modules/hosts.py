"""Hosts, in which modules run that do not run in the server, as the API shows them."""

from collections import Counter
from typing import Annotated

from pydantic import Field

from agentcore.host.host import Host
from agentcore.host.modules import Place, title_of
from agentcore.server.wire import WireModel


class HostedModuleView(WireModel):
    """A module that a host claims; it runs only where app.json lists it, too."""

    name: str
    title: str
    state: str
    is_listed: bool


class HeldResourcesView(WireModel):
    """Resources of one type that live in a host."""

    type: str
    count: int


class HostView(WireModel):
    """A host; times in milliseconds since 1970."""

    name: str
    kind: str
    state: Annotated[str, Field(description="`stopped`, `starting`, `running`, `failed`.")]
    reason: Annotated[str, Field(description="Why it has failed, or why it ended the last time.")]
    last_words: Annotated[str, Field(description="The end of what it wrote before that.")]
    since: Annotated[int, Field(description="Since when it is in this state.")]
    pid: int | None
    python: Annotated[str, Field(description="The program that runs it.")]
    version: Annotated[str, Field(description="The version of agentcore-runtime in it; empty: it does not run.")]
    memory_bytes: Annotated[int | None, Field(description="What it holds by itself; null: it is not known.")]
    memory_max_bytes: Annotated[int | None, Field(description="What it may hold; null: it has no bound.")]
    latency_ms: Annotated[float | None, Field(description="How long its last answer took.")]
    ends_in_last_hour: Annotated[int, Field(description="How often it ended by itself.")]
    calls_in_flight: int
    resources: list[HeldResourcesView]
    modules: list[HostedModuleView]


class HostList(WireModel):
    """All hosts that app.json names, in its order."""

    hosts: list[HostView]


def list_hosts(host: Host) -> HostList:
    """All of them."""
    return HostList(hosts=[_view(place, host) for place in host.places.all()])


def show_host(host: Host, name: str) -> HostView:
    """One of them.

    Raises:
        ToolError: `host_not_found`.
    """
    return _view(host.place(name), host)


def host_of(host: Host, module: str) -> str:
    """The name of the host in which a module runs; empty: it runs in the server."""
    place = host.places.of(module)
    return "" if place is None else place.name


def _view(place: Place, host: Host) -> HostView:
    told = place.report()
    records = [record for name in told.modules if (record := host.modules.records.get(name)) is not None]
    held = Counter(each.resource_type for record in records for each in host.resources.list(owner=record.name))
    return HostView(
        name=told.name,
        kind=told.kind,
        state=told.state,
        reason=told.reason,
        last_words=told.last_words,
        since=told.since_ms,
        pid=told.pid,
        python=told.python,
        version=told.version,
        memory_bytes=told.memory_bytes,
        memory_max_bytes=told.memory_max_bytes,
        latency_ms=told.latency_ms,
        ends_in_last_hour=told.ends_in_last_hour,
        calls_in_flight=sum(len(record.calls) for record in records),
        resources=[HeldResourcesView(type=each, count=count) for each, count in sorted(held.items())],
        modules=[_module(name, host) for name in told.modules],
    )


def _module(name: str, host: Host) -> HostedModuleView:
    record = host.modules.records.get(name)
    if record is None:
        return HostedModuleView(name=name, title=title_of(name, None), state="stopped", is_listed=False)
    title = record.manifest.title or title_of(name, record.found)
    return HostedModuleView(name=name, title=title, state=record.state, is_listed=True)
