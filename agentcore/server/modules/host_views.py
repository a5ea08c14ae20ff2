"""Hosts, which run modules outside the server process, as the API shows them."""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from agentcore.core.declarations.hosted_names import host_in, pool_of
from agentcore.core.discovery.source_search import title_of
from agentcore.core.modules.host_protocols import HostReport, ModuleHosts
from agentcore.core.modules.module_record import ModuleRecord
from agentcore.core.modules.tool_registry import ToolRegistry
from agentcore.core.resources.registry import ResourceRegistry
from agentcore.errors import ToolError
from agentcore.hosts.hosts import Hosts
from agentcore.server.body_models import WireModel


class HostedModuleView(WireModel):
    """A module that a host claims; it runs only where app.json lists it, too."""

    name: str
    title: str
    state: str
    is_listed: bool
    reason: Annotated[str, Field(description="Why it does not run; empty: it does.")] = ""
    tools: Annotated[int, Field(description="How many tools it offers.")] = 0
    waiting: Annotated[
        int, Field(description="How many more wait for a person, who has not seen them as they are.")
    ] = 0
    problems: list[str] = Field(
        default_factory=list,
        description="What is wrong with it although it runs, such as definitions that are left out, a sentence each.",
    )


class HostResourcesView(WireModel):
    """Resources of one type that live in a host."""

    type: str
    count: int


class HostView(WireModel):
    """A host; times in milliseconds since 1970."""

    name: str
    kind: Annotated[
        str,
        Field(
            description="`process`: on this machine; `remote`: another machine; `member`: one of the hosts of a "
            "pool, as `farm.box7`; `nats` and all others: a pool."
        ),
    ]
    state: Annotated[
        str,
        Field(
            description="`stopped`, `starting`, `running`, `failed`; of one on another machine `waiting` (to be let "
            "in), `running`, `away`, `draining`, `drained`, `disconnected`; of a pool `running`, `away` (none of its "
            "hosts is there, or they cannot be found), `failed`."
        ),
    ]
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
    address: Annotated[
        str,
        Field(description="Of one on another machine: where it dialled in from; of a pool: where its hosts are found."),
    ]
    platform: Annotated[str, Field(description="The system of that machine, as it says.")]
    workspace: Annotated[list[str], Field(description="The folders there that its tools may touch.")]
    paired_at: Annotated[int | None, Field(description="When a person let it in.")]
    last_seen: Annotated[int | None, Field(description="When it was connected last.")]
    capacity: Annotated[
        int | None, Field(description="Of a host of a pool: how many resources may live in it, of all servers.")
    ]
    used: Annotated[int | None, Field(description="How many do; null: it is not known just now.")]
    labels: Annotated[
        list[str], Field(description="Of a host of a pool: its labels; of a pool: those that its hosts need here.")
    ]
    may_use_chats: Annotated[
        bool,
        Field(
            description="Of one on another machine: whether the user allowed it to use chats: to read the "
            "conversation, replace summary and to-do list, have the chat's model write, and run sub-agents."
        ),
    ]
    calls_in_flight: int
    resources: list[HostResourcesView]
    modules: Annotated[
        list[HostedModuleView],
        Field(description="Of a pool: those that app.json lists, each as on the host where it is best."),
    ]


class HostList(WireModel):
    """All hosts: those on this machine, those on others, and pools, each with its hosts after it."""

    hosts: list[HostView]


def hosts_of(places: ModuleHosts) -> Hosts:
    """Return the hosts of a server.

    Raises:
        ToolError: `host_not_found`: it has none.
    """
    if not isinstance(places, Hosts):
        raise ToolError("host_not_found", "this server has no hosts", hosts=[])
    return places


def host_of(places: ModuleHosts, module: str) -> str:
    """Return the name of the host in which a module runs; empty: it runs in the server."""
    place = places.find_module_host(module)
    return "" if place is None else place.name


class HostViews:
    """Describes hosts, with their modules and resources.

    Args:
        places: The hosts.
        registry: Has the records of their modules.
        resources: Has their resources.
    """

    def __init__(self, places: ModuleHosts, registry: ToolRegistry, resources: ResourceRegistry) -> None:
        self._places = places
        self._registry = registry
        self._resources = resources

    def list_hosts(self) -> HostList:
        """Return all hosts."""
        return HostList(hosts=[self._describe_host(report) for report in self._places.describe_hosts()])

    def show_host(self, name: str) -> HostView:
        """Return one host.

        Raises:
            ToolError: `host_not_found`.
        """
        reports = {report.name: report for report in self._places.describe_hosts()}
        if name not in reports:
            raise ToolError(
                "host_not_found", f"there is no host {name!r}; there are {sorted(reports)}", hosts=sorted(reports)
            )
        return self._describe_host(reports[name])

    def _describe_host(self, told: HostReport) -> HostView:
        if told.is_pool:
            modules = [self._describe_pooled_module(told.name, name) for name in told.modules]
            return self._build_view(told, [], modules)
        known = self._registry.hosted if told.kind in ("remote", "member") else self._registry.records
        records = [record for name in told.modules if (record := known.get(name)) is not None]
        failed = [
            HostedModuleView(name=name, title=title_of(name, None), state="failed", is_listed=True, reason=reason)
            for name, reason in told.failed.items()
        ]
        return self._build_view(
            told, records, [*(_describe_module(name, known.get(name)) for name in told.modules), *failed]
        )

    def _build_view(
        self, told: HostReport, records: Sequence[ModuleRecord], modules: list[HostedModuleView]
    ) -> HostView:
        held = Counter(each.resource_type for record in records for each in self._resources.list(owner=record.name))
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
            address=told.address,
            platform=told.platform,
            workspace=list(told.workspace),
            paired_at=told.paired_at_ms,
            last_seen=told.last_seen_ms,
            capacity=told.capacity,
            used=told.used,
            labels=list(told.labels),
            may_use_chats=told.may_use_chats,
            calls_in_flight=sum(len(record.calls) for record in records),
            resources=[HostResourcesView(type=each, count=count) for each, count in sorted(held.items())],
            modules=modules,
        )

    def _describe_pooled_module(self, pool: str, name: str) -> HostedModuleView:
        """Return a module as on the host of a pool that offers most of it; `stopped`: no host has it now."""
        known = self._registry.hosted.items()
        found = [record for each, record in known if pool_of(host_in(each)) == pool and each.rpartition("/")[2] == name]
        if not found:
            return HostedModuleView(name=name, title=title_of(name, None), state="stopped", is_listed=True)
        best = max(found, key=lambda record: (record.state == "ready", len(record.tools)))
        waiting = max(len(record.withheld) for record in found)
        return _describe_module(name, best).model_copy(update={"waiting": waiting})


def _describe_module(name: str, record: ModuleRecord | None) -> HostedModuleView:
    own_name = name.rpartition("/")[2]
    if record is None:
        return HostedModuleView(name=own_name, title=title_of(own_name, None), state="stopped", is_listed=False)
    return HostedModuleView(
        name=own_name,
        title=record.manifest.title or title_of(own_name, record.found),
        state=record.state,
        is_listed=True,
        reason=record.reason,
        tools=len(record.tools),
        waiting=len(record.withheld),
        problems=[*record.list_problems(), *record.problems_of_models()],
    )
