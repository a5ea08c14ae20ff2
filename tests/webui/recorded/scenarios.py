"""What is recorded: one function for each file of `answers/`."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from agentcore.core.core import Core
from agentcore.server.modules.host_views import HostView, HostViews
from agentcore.testing.hosting import HostPlan
from agentcore.testing.serving import ServerClient, running_server
from tests.hosts.pool_of_hosts import nats_running
from tests.hosts.two_machines import Place, Worker, dialling
from tests.support.waiting import wait_until
from tests.webui.recorded.recorder import Recorder

HOSTS = "/api/hosts"
DESK = '''
import asyncio
import os
import sys
from agentcore.api import Module, ResourceUse, ToolContext, tool

class Desk(Module):
    """Opens desks."""

    @tool(read_only=True, resource=ResourceUse("desk", create=True))
    async def desk_open(self, ctx: ToolContext) -> str:
        """Open a desk."""
        own = ctx.resource
        self.runtime.resources.adopt(own.resource_id, self._close)
        self.runtime.resources.update(own.resource_id, status="ready", title="a desk")
        return "open"

    async def _close(self, resource) -> None:
        pass

    @tool(read_only=True)
    async def desk_wait(self, ctx: ToolContext) -> None:
        """Wait until the call is cancelled."""
        ctx.progress(0.0, "waits")
        await asyncio.Event().wait()

    @tool(read_only=True)
    async def desk_break(self, ctx: ToolContext) -> None:
        """Exit the process."""
        print("out of paper", file=sys.stderr, flush=True)
        os._exit(7)
'''


@dataclass
class Served:
    """A server whose answers are recorded."""

    server: ServerClient
    recorder: Recorder

    @property
    def host(self) -> Core:
        return self.server.running.host

    def find_host(self, name: str) -> HostView | None:
        """A host as it is now, without a request, for waiting costs little then; None: there is none of this name."""
        views = HostViews(self.host.places, self.host.registry, self.host.resources)
        return next((each for each in views.list_hosts().hosts if each.name == name), None)

    async def wait_for_host(self, name: str, **fields: Any) -> None:
        """Wait until a host has these values."""

        def has_fields() -> bool:
            found = self.find_host(name)
            return found is not None and all(getattr(found, field) == value for field, value in fields.items())

        await wait_until(has_fields)

    async def wait_until_ready(self, name: str, **fields: Any) -> None:
        """Wait until a host runs, all its listed modules are loaded, and it was asked how fast it answers."""
        await self.wait_for_host(name, state="running", **fields)

        def is_ready() -> bool:
            found = self.find_host(name)
            assert found is not None
            states = {each.state for each in found.modules if each.is_listed}
            return states == {"ready"} and found.latency_ms is not None

        await wait_until(is_ready)

    async def call(self, tool: str, host: str = "") -> Any:
        """Call a tool in a session; gives the envelope of the answer."""
        request = {"arguments": {}, "session_id": "s0"} | ({"host": host} if host else {})
        async with self.server.post(f"/api/tools/{tool}/call", json=request) as response:
            return await response.json()


@asynccontextmanager
async def serve(folder: Path, config: Mapping[str, Any], modules: Mapping[str, str]) -> AsyncIterator[Served]:
    """A server with local modules, and a recorder that is logged in as its page is."""
    app = folder / "app"
    (app / "modules").mkdir(parents=True)
    for name, source in modules.items():
        (app / "modules" / f"{name}.py").write_text(source, encoding="utf-8")
    plan = HostPlan((), {"modules": list(modules), **config}, is_failure_expected=True)
    async with running_server(plan, app) as server:
        core = server.running.host
        session = await core.store.page_sessions.exchange_code(core.store.page_sessions.create_code())
        assert session is not None
        cookie = f"{core.state.cookie_name('page')}={session.cookie}"
        origin = str(server.make_url("/")).rstrip("/")
        headers = {"Cookie": cookie, "X-Agentcore-Session": session.header, "Origin": origin}
        async with aiohttp.ClientSession(origin, headers=headers) as client:
            yield Served(server, Recorder(client, {str(folder): "/home/ann"}))


async def record_processes(folder: Path) -> Recorder:
    """A host on this machine, `desk`: it runs, has something open, exits, cannot start."""
    broken = folder / "broken"
    broken.write_text("#!/bin/sh\necho 'no interpreter here' >&2\nexit 125\n")
    broken.chmod(0o755)
    hosts = {
        "desk": {"kind": "process", "modules": ["desk", "idle"], "memory_mb": 512},
        "shelf": {"kind": "process", "modules": ["shelf"], "python": str(broken)},
    }
    modules = {"desk": DESK, "shelf": DESK.replace("desk_", "shelf_")}
    async with serve(folder, {"hosts": hosts}, modules) as served:
        recorder = served.recorder
        await served.wait_until_ready("desk")
        await served.wait_for_host("shelf", state="failed")
        await recorder.record_state("running", HOSTS)
        await served.call("desk_break")
        await served.wait_until_ready("desk", ends_in_last_hour=1)
        await recorder.record_state("exited", HOSTS)
        await recorder.record_change("POST", f"{HOSTS}/desk/restart")
        await served.wait_until_ready("desk")
        await recorder.record_state("restarted", HOSTS)
        assert (await served.call("desk_open"))["ok"]
        waiting = asyncio.create_task(served.call("desk_wait"))
        await served.wait_until_ready("desk", calls_in_flight=1)
        await recorder.record_state("busy", HOSTS)
        waiting.cancel()  # the end of the server cancels the call
    return recorder


async def record_machines(folder: Path) -> Recorder:
    """A host on another machine, `laptop`, in each of its states; `nas` is one that was never added."""
    async with serve(folder, {"hosts": {"nas": {"kind": "remote"}}}, {}) as served:
        recorder = served.recorder
        await recorder.record_state("forgotten", HOSTS)
        laptop = Place(folder / "laptop", modules=["desk"], workspace={"roots": ["workspace"]})
        laptop.add_module("desk", DESK)
        async with _dial(served, laptop) as worker:
            pairing, _ = await served.host.host_pairings.find_by_code(await worker.code())
            await served.host.host_pairings.decide_pairing(pairing.pairing_id, "test", accepts=True)
            await _record_idle(served)
        await served.wait_for_host("laptop", state="away")
        await recorder.record_state("away", HOSTS)
        async with _dial(served, laptop):
            await served.wait_until_ready("laptop")
            await _record_busy(served)
    return recorder


def _dial(served: Served, place: Place) -> contextlib.AbstractAsyncContextManager[Worker]:
    return dialling(place, str(served.server.make_url("/")).rstrip("/"), "laptop")


async def _record_idle(served: Served) -> None:
    recorder = served.recorder
    await served.wait_until_ready("laptop")
    await recorder.record_state("running", HOSTS)
    await recorder.record_change("POST", f"{HOSTS}/laptop/drain", {"on": True})
    await recorder.record_state("drained", HOSTS)
    await recorder.record_change("POST", f"{HOSTS}/laptop/drain", {"on": False})
    await recorder.record_state("running", HOSTS)
    await recorder.record_change("POST", f"{HOSTS}/laptop/disconnect")
    await served.wait_for_host("laptop", state="disconnected")
    await recorder.record_state("disconnected", HOSTS)
    await recorder.record_change("POST", f"{HOSTS}/laptop/connect")
    await served.wait_until_ready("laptop")
    await recorder.record_state("running", HOSTS)


async def _record_busy(served: Served) -> None:
    recorder = served.recorder
    opened = await served.call("desk_open", "laptop")
    assert opened["ok"], opened
    waiting = asyncio.create_task(served.call("desk_wait", "laptop"))
    await served.wait_until_ready("laptop", calls_in_flight=1)
    await recorder.record_state("busy", HOSTS)
    await recorder.record_change("POST", f"{HOSTS}/laptop/drain", {"on": True})
    await recorder.record_state("draining", HOSTS)
    await recorder.record_change("POST", f"{HOSTS}/laptop/drain", {"on": False})
    await recorder.record_state("busy", HOSTS)
    await recorder.record_change("DELETE", f"{HOSTS}/laptop")
    await waiting
    await recorder.record_state("forgotten", HOSTS)
    await recorder.record_change("POST", f"{HOSTS}/laptop/drain", {"on": True})
    await recorder.record_state("forgotten", HOSTS)


async def record_pool(folder: Path) -> Recorder:
    """A pool, `farm`, without hosts, with two, and with one of them drained, then away. Needs NATS."""
    async with contextlib.AsyncExitStack() as stack:
        nats = await stack.enter_async_context(nats_running(folder / "nats"))
        farm = {"kind": "nats", "servers": [nats.address], "modules": ["desk"], "labels": ["gpu"]}
        # the server runs the module itself, so that nobody has to accept what hosts bring that it defines alike
        served = await stack.enter_async_context(serve(folder, {"hosts": {"farm": farm}}, {"desk": DESK}))
        recorder = served.recorder
        await served.wait_for_host("farm", state="away", reason="no host of it is there")  # connected to NATS
        await recorder.record_state("empty", HOSTS)
        workers = {}
        for name in ("box1", "box2"):
            place = Place(folder / name, modules=["desk"])
            place.add_module("desk", DESK)
            options = ("--pool", "farm", "--label", "gpu", "--capacity", "50")
            workers[name] = await stack.enter_async_context(dialling(place, nats.address, name, *options))
            await served.wait_until_ready(f"farm.{name}", used=0)
        await recorder.record_state("running", HOSTS)
        await recorder.record_change("POST", f"{HOSTS}/farm.box1/drain", {"on": True})
        await recorder.record_state("drained", HOSTS)
        await recorder.record_change("POST", f"{HOSTS}/farm.box1/drain", {"on": False})
        await recorder.record_state("running", HOSTS)
        await workers["box2"].kill()
        await served.wait_for_host("farm.box2", state="away")
        await recorder.record_state("away", HOSTS)
    return recorder


SCENARIOS: dict[str, Callable[[Path], Awaitable[Recorder]]] = {
    "machines": record_machines,
    "pool": record_pool,
    "processes": record_processes,
}
"""Each with the name of its file."""
