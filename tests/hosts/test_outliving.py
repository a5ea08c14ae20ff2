"""Hosts that outlive their server: the next one finds modules, resources and calls as they were."""

import asyncio
import os
import signal
import time
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentcore.api import Module, ResourceUse, ToolContext, ToolError, ToolResult, tool
from agentcore.api.tool_context import Principal
from agentcore.config.workspace_roots import prepare_roots
from agentcore.core.calls.call import CallRequest
from agentcore.core.core import Core
from agentcore.hosts.hosts import Hosts
from agentcore.hosts.wire.socket_file import short_name
from agentcore.store.state.private_file import read_private_file
from agentcore.store.state.state_dir import StateDir
from agentcore.testing.hosting import HostPlan, running_host
from tests.hosts.test_killed_server import hosts_of

pytestmark = pytest.mark.spec("H2")

PERSON = Principal("cli")


class Lasting(Module):
    """Keeps things in memory."""

    class Settings(Module.Settings):
        greeting: str = "hello"

    @tool(read_only=True)
    async def where(self) -> dict[str, Any]:
        """Say in which process it is, and what it has counted."""
        return {"pid": os.getpid(), "count": vars(self).get("count", 0), "greeting": self.settings.greeting}

    @tool
    async def count(self) -> int:
        """Count one more."""
        vars(self)["count"] = vars(self).get("count", 0) + 1
        return vars(self)["count"]

    @tool(timeout_s=60)
    async def slow(self, ctx: ToolContext, go: str, log: str) -> ToolResult[dict[str, str]]:
        """Note that it began, and end once a file is there."""
        with open(log, "a") as file:
            file.write("began\n")
        while not os.path.exists(go):
            await asyncio.sleep(0.02)
        link = await ctx.artifacts.save(b"kept", mime="text/plain", name="kept.txt")
        return ToolResult((link,), {"said": "the end", "artifact": link.artifact_id})

    @tool(timeout_s=60)
    async def busy(self, ctx: ToolContext, go: str, log: str) -> str:
        """Tell something all the time, and call another tool once a file is there."""
        open(log, "a").close()
        while not os.path.exists(go):
            ctx.progress(0.5, f"at {time.monotonic()}")
            ctx.show_output("line\n")
            self.runtime.publish("beat", {})
            if vars(self).get("boxes"):
                [box] = vars(self)["boxes"]
                self.runtime.resources.update(box, title=f"at {time.monotonic()}")
            await asyncio.sleep(0.001)
        try:
            return str(await ctx.call("count", {}))
        except ToolError as exc:
            return exc.type

    @tool(resource=ResourceUse("box", create=True))
    async def fill(self, ctx: ToolContext, text: str) -> str:
        """Put something into a box."""
        assert ctx.resource is not None
        boxes = vars(self).setdefault("boxes", {})
        if ctx.resource.resource_id not in boxes:
            self.runtime.resources.adopt(ctx.resource.resource_id, self._end)
        boxes.setdefault(ctx.resource.resource_id, []).append(text)
        self.runtime.resources.update(ctx.resource.resource_id, status="ready", title=text)
        return ",".join(boxes[ctx.resource.resource_id])

    async def _end(self, resource: Any) -> None:
        vars(self)["boxes"].pop(resource.resource_id)


class Second(Module):
    """Runs beside it, and notes its end in a file."""

    class Settings(Module.Settings):
        note: str = ""

    @tool(read_only=True)
    async def second(self) -> int:
        """Say in which process it is."""
        return os.getpid()

    async def shutdown(self) -> None:
        """Note it."""
        Path(self.settings.note).write_text("ended")


class Servers:
    """Servers over one folder, one after another."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def plan(self, *, keep_minutes: float = 1, outlives: bool = True, second: Any = None, **settings: Any) -> HostPlan:
        """What a server is started with; `second`: the settings of a second module, which runs first."""
        modules = [Lasting()] if second is None else [Second(), Lasting()]
        names = ["lasting", "second"]
        host = {"kind": "process", "modules": names, "survives_restart": outlives, "keep_minutes": keep_minutes}
        config = {"hosts": {"lasting": host}, "config": {"lasting": settings, "second": second or {}}}
        return HostPlan(modules, config, isolation="process")

    @asynccontextmanager
    async def server(self, *, is_failure_expected: bool = False, **options: Any):
        """A server whose modules have started."""
        plan = replace(self.plan(**options), is_failure_expected=is_failure_expected)
        async with running_host(plan, self._folder) as running:
            yield running

    @asynccontextmanager
    async def starting(self):
        """A server that takes calls, and whose modules have yet to be started."""
        config, environ = self.plan().write_config(self._folder)
        with StateDir.open(config.file, prepare_roots(config), environ=environ) as state:
            async with Core.open(config, state, start=False, places=Hosts(config)) as core:
                yield core


@pytest.fixture
async def servers(tmp_path):
    # longer than the address of a Unix socket may be
    folder = tmp_path / ("the_project_of_a_customer_" * 5)
    folder.mkdir()
    made = Servers(folder)
    yield made
    async with made.server() as last:
        await last.host.emergency_stop(PERSON)
        await last.events.wait_for("module.stateChanged", module="lasting", state="failed")


async def test_module_goes_on_as_it_was(servers):
    async with servers.server() as first:
        await first.call("count")
        await first.call("count")
        before = (await first.call("where")).data
    async with servers.server() as second:
        assert (await second.call("where")).data == before
        assert (await second.call("count")).data == 3


@pytest.mark.more
async def test_other_settings_start_it_anew_in_the_same_process(servers):
    async with servers.server() as first:
        await first.call("count")
        pid = (await first.call("where")).data["pid"]
    async with servers.server(greeting="good day") as second:
        assert (await second.call("where")).data["greeting"] == "good day"
        assert (await second.call("where")).data["pid"] == pid


async def test_resources_come_back_with_their_tabs(servers):
    async with servers.server() as first:
        await first.outcome("fill", {"text": "a"}, session_id="s1")
        tab = first.host.tabs.list_tabs()[0].tab_id
    async with servers.server() as second:
        outcome = await second.outcome("fill", {"text": "b"}, session_id="s1")
        assert outcome.result.content[0].text == "a,b"
        assert [(each.tab_id, each.is_closed) for each in second.host.tabs.list_tabs()] == [(tab, False)]
        assert second.host.resources.get("box_s1_0").title == "b"


async def test_call_on_its_way_ends_for_the_next_server_and_once(servers, tmp_path):
    go, log = tmp_path / "go", tmp_path / "log"
    arguments = {"go": str(go), "log": str(log)}
    async with servers.server() as first:
        call = asyncio.create_task(first.outcome("slow", arguments))
        started = await first.events.wait_for("call.started", tool="slow")
        while not log.exists():
            await asyncio.sleep(0.01)
    outcome = await call
    assert outcome.error.type == "interrupted"
    assert outcome.error.context == {"call_id": started["callId"]}
    go.touch()
    async with servers.server() as second:
        again = CallRequest("slow", dict(arguments), PERSON, call_id=started["callId"])
        outcome = await second.host.run_call(again)
        assert outcome.ok, outcome.error
        assert outcome.result.data["said"] == "the end"
        assert await second.host.store.artifacts.load(outcome.result.data["artifact"]) == b"kept"
        rows = [row for row in await second.host.store.record.read_page() if row.row.call_id == started["callId"]]
        assert [row.row.outcome for row in rows] == ["ok"]
        assert (await second.host.run_call(again)).error.type == "approval_not_found"
    assert log.read_text() == "began\n"


@pytest.mark.more
async def test_call_that_the_host_knows_nothing_of_is_interrupted(servers, tmp_path):
    go, log = tmp_path / "go", tmp_path / "log"
    async with servers.server() as first:
        call = asyncio.create_task(first.outcome("slow", {"go": str(go), "log": str(log)}))
        started = await first.events.wait_for("call.started", tool="slow")
        pid = (await first.call("where")).data["pid"]
    await call
    os.kill(pid, 9)
    async with servers.server() as second:
        rows = [row for row in await second.host.store.record.read_page() if row.row.call_id == started["callId"]]
        assert [row.row.outcome for row in rows] == ["interrupted"]
        assert (await second.call("where")).data["pid"] != pid


def _is_running(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


async def has_ended(pid: int) -> None:
    """Wait until a process has ended."""
    async with asyncio.timeout(60):
        while _is_running(pid):
            await asyncio.sleep(0.05)


@pytest.mark.more
async def test_host_that_no_server_comes_back_for_ends_itself(servers):
    async with servers.server(keep_minutes=0.005) as first:
        pid = (await first.call("where")).data["pid"]
    await has_ended(pid)


@pytest.mark.more
async def test_host_that_is_to_outlive_nobody_any_more_is_ended(servers):
    async with servers.server() as first:
        pid = (await first.call("where")).data["pid"]
    async with servers.server(outlives=False) as second:
        assert (await second.call("where")).data["pid"] != pid
        await has_ended(pid)


async def test_code_that_differs_is_shown_and_replaced_on_reload(tmp_path):
    """What runs goes on with its code until a person reloads it."""
    folder = tmp_path / "app"
    (folder / "modules").mkdir(parents=True)
    file = folder / "modules" / "changing.py"
    source = (
        "import os\nfrom agentcore.api import Module, tool\n\n\nclass Changing(Module):\n"
        '    """Changes."""\n\n    @tool(read_only=True)\n    async def version(self) -> list:\n'
        '        """Say it."""\n        return [%d, os.getpid()]\n'
    )
    file.write_text(source % 1)
    config = {"hosts": {"h": {"kind": "process", "modules": ["changing"], "survives_restart": True}}}
    plan = HostPlan(["changing"], config)
    async with running_host(plan, folder) as first:
        before = (await first.call("version")).data
    file.write_text(source % 2)
    async with running_host(plan, folder) as second:
        modules = second.host.modules
        assert (await second.call("version")).data == before
        assert await modules.has_changed(modules.get_record("changing"))
        await modules.reload("changing")
        assert (await second.call("version")).data == [2, before[1]]
        assert not await modules.has_changed(modules.get_record("changing"))
        await second.host.modules.disable("changing")
        await has_ended(before[1])


async def test_socket_opens_for_nobody_without_the_key(servers):
    async with servers.server() as first:
        pid = (await first.call("where")).data["pid"]
        folder = first.host.state.path / "hosts" / "lasting"
        assert folder.stat().st_mode & 0o077 == 0
        assert (folder / "key").stat().st_mode & 0o077 == 0
        for said in (b"\0\0\0\x1f\x01" + b'{"type":"end","key":"' + b"x" * 8 + b'"}', b"GET / HTTP/1.1\r\n\r\n", b""):
            with short_name(folder / "socket") as name:
                reader, writer = await asyncio.open_unix_connection(name)
            writer.write(said)
            writer.write_eof()
            async with asyncio.timeout(30):
                assert await reader.read() == b""
            writer.close()
        assert (await first.call("where")).data["pid"] == pid


@pytest.mark.more
async def test_what_it_says_before_it_is_taken_up_does_not_end_it(servers, tmp_path):
    go, log = tmp_path / "go", tmp_path / "log"
    arguments = {"go": str(go), "log": str(log)}
    async with servers.server() as first:
        await first.outcome("fill", {"text": "a"}, session_id="s1")
        pid = (await first.call("where")).data["pid"]
        call = asyncio.create_task(first.outcome("busy", arguments))
        started = await first.events.wait_for("call.started", tool="busy")
        while not log.exists():
            await asyncio.sleep(0.01)
    assert (await call).error.type == "interrupted"
    async with servers.server() as second:
        assert (await second.call("where")).data["pid"] == pid
        before = second.host.resources.get("box_s1_0").title
        assert before.startswith("at ")
        async with asyncio.timeout(20):
            while second.host.resources.get("box_s1_0").title == before:
                await asyncio.sleep(0.01)
        go.touch()
        request = CallRequest("busy", arguments, PERSON, session_id="cli", call_id=started["callId"])
        outcome = await second.host.run_call(request)
        # what the chat or the agent of that call allows went with the first server
        assert outcome.result.content[0].text == "interrupted"
        assert (await second.call("where")).data["count"] == 0


@pytest.mark.more
async def test_one_that_hangs_when_it_is_found_is_replaced(servers):
    async with servers.server() as first:
        pid = (await first.call("where")).data["pid"]
    os.kill(pid, signal.SIGSTOP)
    async with servers.server() as second:
        assert (await second.call("where")).data["pid"] != pid
        assert second.host.modules.records["lasting"].state == "ready"


@pytest.mark.more
async def test_call_that_is_sent_again_while_the_server_starts_waits_for_its_end(servers, tmp_path):
    go, log = tmp_path / "go", tmp_path / "log"
    arguments = {"go": str(go), "log": str(log)}
    async with servers.server() as first:
        call = asyncio.create_task(first.outcome("slow", arguments))
        started = await first.events.wait_for("call.started", tool="slow")
        while not log.exists():
            await asyncio.sleep(0.01)
    assert (await call).error.type == "interrupted"
    go.touch()
    request = CallRequest("slow", arguments, PERSON, session_id="cli", call_id=started["callId"])
    async with servers.starting() as second:
        again = asyncio.create_task(second.run_call(request))
        once_more = asyncio.create_task(second.run_call(replace(request, arguments=dict(arguments))))
        await second.start()
        assert (await again).result.data["said"] == "the end"
        assert (await once_more).result.data["said"] == "the end"
    assert log.read_text() == "began\n"


@pytest.mark.more
@pytest.mark.parametrize("read_s", [0, 1], ids=["before it has greeted", "while it is looked for"])
async def test_start_that_is_broken_off_leaves_it_to_the_next_server(servers, read_s, monkeypatch):
    def read_slowly(path: Path, limit: int) -> bytes | None:
        time.sleep(read_s)
        return read_private_file(path, limit)

    async with servers.server() as first:
        await first.call("count")
        before = (await first.call("where")).data
    os.kill(before["pid"], signal.SIGSTOP)
    async with servers.starting() as second:
        with monkeypatch.context() as slow:
            slow.setattr("agentcore.hosts.server_side.child_process.read_private_file", read_slowly)
            start = asyncio.create_task(second.start())
            async with asyncio.timeout(20):
                while second.find_host("lasting").describe_host().state != "starting":
                    await asyncio.sleep(0.01)
            await asyncio.sleep(0.1)
            start.cancel()
            with suppress(asyncio.CancelledError):
                await start
    os.kill(before["pid"], signal.SIGCONT)
    async with servers.server() as third:
        assert (await third.call("where")).data == before


@pytest.mark.more
async def test_start_that_is_broken_off_while_the_process_is_made_leaves_none(servers):
    async with servers.starting() as first:
        folder = first.state.path / "hosts" / "lasting"
        start = asyncio.create_task(first.start())
        async with asyncio.timeout(20):
            while not (folder / "key").exists():  # a thread starts it now
                await asyncio.sleep(0)
        start.cancel()
        with suppress(asyncio.CancelledError):
            await start
    async with asyncio.timeout(20):
        while any(_is_running(pid) for pid in hosts_of(folder)):
            await asyncio.sleep(0.05)


@pytest.mark.more
async def test_module_that_fails_early_does_not_end_it(servers, tmp_path):
    note = tmp_path / "note"
    async with servers.server(second={"note": str(note)}) as first:
        await first.call("count")
        before = (await first.call("where")).data
        assert (await first.call("second")).data == before["pid"]
    async with servers.server(second={"note": 7}, is_failure_expected=True) as second:
        assert second.host.modules.records["second"].state == "failed"
        assert (await second.call("where")).data == before


@pytest.mark.more
async def test_module_that_is_listed_no_more_is_stopped_in_it(servers, tmp_path):
    note = tmp_path / "note"
    async with servers.server(second={"note": str(note)}) as first:
        before = (await first.call("where")).data
    async with servers.server() as second:
        assert note.read_text() == "ended"
        assert (await second.call("where")).data == before
