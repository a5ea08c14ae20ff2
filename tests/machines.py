"""Hosts on other machines, for tests of what the server does with their tools: real modules in a host of their own."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from agentcore.api import CallPreview, Module, ResourceUse, Text, ToolContext, ToolResult, tool
from agentcore.core.core import Core
from agentcore.core.modules.host_protocols import HostReport, ModuleHost
from agentcore.core.modules.module_record import ModuleRecord, Offer
from agentcore.core.modules.tool_registry import HostFacts, compile_tool
from agentcore.store.state.state_dir import STATE_DIR_VARIABLE
from agentcore.testing.hosting import HostPlan, running_host
from agentcore.testing.serving import ServerClient


def text_of(result: ToolResult) -> str:
    """What a result says."""
    return "".join(block.text for block in result.blocks() if isinstance(block, Text))


class Machine(Module):
    """Tools that say on which machine they are.

    Args:
        machine: The machine.
    """

    name = "machine"

    def __init__(self, machine: str = "server") -> None:
        self.machine = machine
        self.ran: list[str] = []

    @tool(read_only=True)
    async def where(self, ctx: ToolContext) -> str:
        """Say on which machine this is."""
        self.ran.append("where")
        return self.machine

    async def _look(self, ctx: ToolContext, arguments: dict[str, str]) -> CallPreview:
        return CallPreview(paths=(f"/{self.machine}/{arguments['text']}",))

    @tool(effects=["write"], preview=_look)
    async def put(self, ctx: ToolContext, text: str) -> str:
        """Put a text somewhere."""
        self.ran.append(text)
        return f"{text} on {self.machine}"

    @tool(read_only=True)
    async def ask_on(self, ctx: ToolContext) -> str:
        """Ask from inside where `where` is."""
        return text_of(await ctx.call("where", {}))

    @tool(resource=ResourceUse("thing", create=True))
    async def thing_use(self, ctx: ToolContext, resourceId: str | None = None) -> str:  # noqa: N803
        """Use a thing."""
        assert ctx.resource is not None
        return f"{ctx.resource.resource_id} on {self.machine}"


class Joined:
    """A host that has joined a server.

    Attributes:
        name: Its name.
    """

    def __init__(self, core: Core, name: str, records: Sequence[ModuleRecord]) -> None:
        self._host = core
        self.name = name
        self._records = records

    def come(self) -> None:
        """It is connected."""
        registry = self._host.registry
        registry.absent.pop(self.name, None)
        registry.hosted |= {record.name: record for record in self._records}
        self._tell("running")

    def go(self) -> None:
        """It is not connected any more."""
        registry = self._host.registry
        for record in self._records:
            registry.hosted.pop(record.name, None)
        names = [tool.definition.name for record in self._records for tool in record.tools]
        registry.absent[self.name] = frozenset(names)
        self._tell("away")

    def forget(self) -> None:
        """It is none of the server's any more."""
        self.go()
        del self._host.registry.absent[self.name]
        self._tell("forgotten")

    def _tell(self, state: str) -> None:
        self._host.registry.rebuild()
        self._host.events.publish("host.stateChanged", {"host": self.name, "state": state, "reason": ""})
        self._host.events.publish("tools.changed", {"tools": len(self._host.registry.tools)})


@asynccontextmanager
async def joined(core: Core, name: str, folder: Path, *modules: Module) -> AsyncIterator[Joined]:
    """Have modules run as those of a host on another machine."""
    place = folder / f"machine-{name}"
    place.mkdir(exist_ok=True)
    async with running_host(HostPlan(modules or (Machine(name),)), place) as other:
        records = [_as_hosted(record, name) for record in other.host.modules.records.values()]
        machine = Joined(core, name, records)
        core.registry.facts[name] = HostFacts("Linux x86_64", (f"/home/{name}",))
        machine.come()
        yield machine


def _as_hosted(theirs: ModuleRecord, host: str) -> ModuleRecord:
    """What stands at the server for a module of a host."""
    record = ModuleRecord(f"{host}/{theirs.name}", host)
    record.adopt_plugin(theirs.plugin)
    record.declare(theirs.manifest)
    record.begin_init(theirs.runtime)
    record.publish_offer(Offer([compile_tool(each.definition, record) for each in theirs.tools]))
    record.mark_ready(order=0, started_ms=1.0, at_ms=1)
    return record


async def agentcore(client: ServerClient, *arguments: str) -> tuple[int, str, str]:
    """Run a command against a server of a test: exit code, stdout, stderr."""
    state = client.running.host.state
    state.write_server_info({"page": str(client.make_url("")).rstrip("/")})
    command = (sys.executable, "-m", "agentcore", *arguments)
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=state.config_path.parent,
        env={**os.environ, STATE_DIR_VARIABLE: str(state.path), "NO_COLOR": "1"},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(120):
        out, err = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


class Machines:
    """Places of a host that are other machines, as far as the list of hosts needs them."""

    def __init__(self, core: Core) -> None:
        self._host = core

    def find_module_host(self, name: str) -> None:
        """Where one of the server's own modules runs: in the server."""

    def list_hosts(self) -> list[ModuleHost]:
        """Those in which the server's own modules run."""
        return []

    def describe_hosts(self) -> list[HostReport]:
        """What is known of all of them."""
        registry = self._host.registry
        names = {record.host for record in registry.hosted.values()} | set(registry.absent)
        return [
            HostReport(name, "remote", (), "running" if registry.is_connected(name) else "away")
            for name in sorted(names)
        ]

    async def release_module_host(self, name: str) -> None:
        """Nothing."""
