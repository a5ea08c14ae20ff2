"""Calls of modules that run in a process of their own: they are what they are in the server."""

import asyncio
import os
import time
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator

from agentcore.api import (
    CallPreview,
    Image,
    Module,
    ResourceUse,
    Text,
    ToolContext,
    ToolError,
    ToolResult,
    tool,
)
from agentcore.api.tool_context import Principal

pytestmark = pytest.mark.spec("H1")

PICTURE = bytes(range(256)) * 2000


def _even(number: int) -> int:
    if number % 2:
        raise ValueError("the number must be even")
    return number


class Faraway(Module):
    """Does things somewhere else."""

    class Settings(Module.Settings):
        greeting: str = "hello"

    @tool(read_only=True)
    async def where(self) -> dict[str, int]:
        """Say in which process it is."""
        return {"pid": os.getpid()}

    @tool(read_only=True)
    async def greet(self, ctx: ToolContext, name: str) -> ToolResult[dict[str, Any]]:
        """Greet somebody, and say who asked."""
        data = {"principal": ctx.principal.name, "session": ctx.session_id, "call": ctx.call_id}
        return ToolResult(f"{self.settings.greeting}, {name}", data)

    @tool(read_only=True)
    def picture(self, size: int = len(PICTURE)) -> Image:
        """Give bytes, from a thread."""
        return Image(PICTURE[:size])

    @tool
    async def fail(self, how: str) -> str:
        """Fail in one of several ways."""
        if how == "tool":
            raise ToolError("no_such_thing", "there is none", retryable=True, thing=how)
        if how == "exit":
            raise SystemExit(3)
        raise RuntimeError("a defect")

    @tool(effects=("write",))
    async def even(self, number: Annotated[int, AfterValidator(_even)]) -> int:
        """Take an even number."""
        return number

    @tool(read_only=True)
    async def progress(self, ctx: ToolContext) -> str:
        """Say how far it is."""
        for step in range(5):
            ctx.progress(step / 5, f"step {step}")
        ctx.show_output("some words\n")
        return "done"

    @tool(read_only=True)
    async def wait(self, ctx: ToolContext) -> str:
        """Wait for ever; says in a file that it was cancelled."""
        place = self.runtime.data_dir / "cancelled"
        ctx.progress(0.0, "waits")
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            place.write_text("yes")
            raise
        return "never"

    @tool(read_only=True)
    async def keep(self, ctx: ToolContext, text: str) -> ToolResult:
        """Keep an artifact, and read it again."""
        link = await ctx.artifacts.save(text.encode(), mime="text/plain", name="kept.txt")
        assert await ctx.artifacts.load(link.artifact_id) == text.encode()
        found = await ctx.artifacts.lines(link.artifact_id, limit=1, chars=1000)
        with await ctx.artifacts.open(link.artifact_id) as file:
            size = file.size_bytes
        return ToolResult((Text(found.lines[0][1]), link), {"size": size})

    @tool(read_only=True)
    async def through(self, ctx: ToolContext, tool: str, name: str) -> ToolResult:
        """Call another tool."""
        return await ctx.call(tool, {"name": name})


class Echoing(Module):
    """In the server itself."""

    @tool(read_only=True)
    async def echo(self, name: str) -> ToolResult[dict[str, str]]:
        """Say the same."""
        return ToolResult(name, {"name": name})


HOST = {"modules": [Faraway], "isolation": "process"}


async def test_module_runs_in_a_process_of_its_own(shared_host):
    assert (await shared_host.call("where")).data["pid"] != os.getpid()


async def test_call_knows_who_asked_and_for_which_session(shared_host):
    outcome = await shared_host.outcome("greet", {"name": "Ada"}, principal=Principal("token"), session_id="s1")
    assert outcome.result.content[0].text == "hello, Ada"
    assert outcome.result.data == {"principal": "token", "session": "s1", "call": outcome.call_id}


@pytest.mark.more
async def test_settings_arrive_and_wrong_ones_are_told_with_their_place(agentcore_host):
    config = {"config": {"faraway": {"greeting": "good day"}}}
    host = await agentcore_host(modules=[Faraway()], isolation="process", config=config)
    assert (await host.call("greet", name="Bob")).content[0].text == "good day, Bob"
    wrong = {"config": {"faraway": {"greting": "x"}}}
    host = await agentcore_host(modules=[Faraway()], isolation="process", config=wrong, is_failure_expected=True)
    reason = host.host.modules.get_record("faraway").reason
    assert "did you mean 'greeting'" in reason, reason
    assert "app.json" in reason


@pytest.mark.parametrize("size", [0, 1, 65_536, len(PICTURE)])
async def test_bytes_come_whole(shared_host, size):
    assert (await shared_host.call("picture", size=size)).blocks()[0].data == PICTURE[:size]


async def test_errors_are_what_the_module_raised(shared_host):
    outcome = await shared_host.outcome("fail", {"how": "tool"})
    assert (outcome.error.type, outcome.error.context, outcome.error.retryable) == (
        "no_such_thing",
        {"thing": "tool"},
        True,
    )
    outcome = await shared_host.outcome("fail", {"how": "defect"})
    assert outcome.error.type == "internal_error"
    assert "RuntimeError" in outcome.error.message


async def test_module_that_wants_to_exit_ends_its_call_alone(shared_host):
    before = (await shared_host.call("where")).data
    assert (await shared_host.outcome("fail", {"how": "exit"})).error.type == "internal_error"
    assert (await shared_host.call("where")).data == before


async def test_call_that_cannot_run_is_never_asked_about(shared_host):
    """What a schema cannot say, the module's own check says before a person is asked."""
    shared_host.answer_approvals(approve=True)
    chat = Principal("chat", "default")
    outcome = await shared_host.outcome("even", {"number": 3}, principal=chat, session_id="s1")
    assert outcome.error.type == "invalid_arguments"
    assert shared_host.asked == []
    outcome = await shared_host.outcome("even", {"number": 4}, principal=chat, session_id="s1")
    assert outcome.result.data == 4
    assert [each.definition.name for each in shared_host.asked] == ["even"]


async def test_progress_and_output_are_told(shared_host):
    await shared_host.call("progress")
    assert shared_host.events.of("call.progress")[-1]["message"] == "step 4"
    assert shared_host.events.of("call.output")[-1]["text"] == "some words\n"


async def test_cancelled_call_is_cancelled_in_its_process(shared_host):
    call = asyncio.create_task(shared_host.outcome("wait"))
    told = await shared_host.events.wait_for("call.progress", message="waits")
    await shared_host.host.calls.cancel_call(told["callId"], Principal("cli"))
    assert (await call).error.type == "cancelled"
    assert (shared_host.host.state.data_dir("faraway") / "cancelled").read_text() == "yes"


async def test_call_that_takes_too_long_is_cut(shared_host):
    outcome = await shared_host.outcome("wait", timeout_ms=200)
    assert outcome.error.type == "timeout"


async def test_artifacts_are_kept_by_the_server(shared_host):
    result = await shared_host.call("keep", text="first\nsecond")
    assert result.data == {"size": len("first\nsecond")}
    assert await shared_host.host.store.artifacts.load(result.content[1].artifact_id) == b"first\nsecond"


@pytest.mark.more
async def test_tools_call_one_another_over_the_border(agentcore_host):
    config = {"hosts": {"far": {"kind": "process", "modules": ["faraway"]}}}
    host = await agentcore_host(modules=[Faraway(), Echoing()], isolation="process", config=config)
    assert (await host.call("through", tool="echo", name="Ada")).data == {"name": "Ada"}
    assert (await host.outcome("through", {"tool": "nothing", "name": "x"})).error.type == "unknown_tool"


class Boxes(Module):
    """Makes resources."""

    @tool(resource=ResourceUse("box", create=True))
    async def fill(self, ctx: ToolContext, text: str, resourceId: str | None = None) -> ToolResult:  # noqa: N803
        """Put something into a box."""
        assert ctx.resource is not None
        held = vars(self).setdefault("held", {})
        if ctx.resource.resource_id not in held:
            self.runtime.resources.adopt(ctx.resource.resource_id, self._end)
            held[ctx.resource.resource_id] = []
        held[ctx.resource.resource_id].append(text)
        self.runtime.resources.update(ctx.resource.resource_id, status="ready", title=text)
        return ToolResult(",".join(held[ctx.resource.resource_id]))

    @tool
    async def another(self, ctx: ToolContext) -> ToolResult:
        """Make a further box."""
        made = self.runtime.resources.create("box", ctx.session_id, adapter_type="wood", on_release=self._end)
        vars(self).setdefault("held", {})[made.resource_id] = []
        self.runtime.resources.update(made.resource_id, status="ready")
        self.runtime.resources.emit(made.resource_id, "log", {"text": "made"})
        return ToolResult(made.resource_id, resource_id=made.resource_id)

    @tool(read_only=True)
    async def ended(self) -> list[str]:
        """The boxes that have ended."""
        return list(vars(self).get("over", []))

    async def _end(self, resource: Any) -> None:
        vars(self).setdefault("over", []).append(resource.resource_id)


@pytest.mark.more
async def test_resources_live_there_and_are_known_here(agentcore_host):
    host = await agentcore_host(modules=[Boxes()], isolation="process")
    await host.outcome("fill", {"text": "a"}, session_id="s1")
    outcome = await host.outcome("fill", {"text": "b"}, session_id="s1")
    assert outcome.result.content[0].text == "a,b"
    assert outcome.resource_id == "box_s1_0"
    made = await host.outcome("another", session_id="s1")
    assert made.result.content[0].text == "box_s1_1"
    told = {each.resource_id: each for each in host.host.resources.list(session_id="s1")}
    assert (told["box_s1_0"].title, told["box_s1_0"].status) == ("b", "ready")
    assert told["box_s1_1"].adapter_type == "wood"
    assert host.events.of("resource.log")[-1]["resourceId"] == "box_s1_1"
    await host.host.resources.release("box_s1_0")
    assert (await host.call("ended")).data == ["box_s1_0"]


@pytest.mark.more
async def test_bare_hooks_work_there_as_well(agentcore_host, tmp_path):
    folder = tmp_path / "modules"
    folder.mkdir()
    (folder / "bare.py").write_text(
        "from agentcore.api import hookimpl\nname = 'bare'\n"
        "@hookimpl\ndef get_tool_definitions():\n"
        "    return [{'name': 'bare_double', 'description': 'Doubles.', 'input_schema': "
        "{'type': 'object', 'properties': {'x': {'type': 'integer'}}, 'required': ['x']}},"
        " {'name': 'bad name!', 'description': 'x'}]\n"
        "@hookimpl\ndef execute_tool_call(ctx, tool_name, args):\n    return args['x'] * 2\n"
    )
    config = {"modules_dir": str(folder)}
    host = await agentcore_host(["bare"], isolation="process", config=config, is_failure_expected=True)
    assert (await host.call("bare_double", x=21)).data == 42
    assert (await host.outcome("bare_double", {})).error.type == "invalid_arguments"
    [problem] = host.host.modules.get_record("bare").tool_errors
    assert "bad name!" in problem


class Previewing(Module):
    """Says beforehand what it would do."""

    async def _preview(self, ctx: ToolContext, arguments: dict[str, Any]) -> CallPreview:
        return CallPreview(frozenset(("write",)), paths=(arguments["path"],), words=f"Write {arguments['path']}")

    @tool(effects=("write", "execute"), preview=_preview)
    async def put(self, path: str) -> str:
        """Write something."""
        return path

    def _preview_endlessly(self, ctx: ToolContext, arguments: dict[str, Any]) -> CallPreview:
        folder = self.runtime.data_dir
        (folder / "began").write_text(str(ctx.is_cancelled))
        while not ctx.is_cancelled:
            time.sleep(0.01)
        (folder / "stopped").write_text("yes")
        return CallPreview()

    @tool(preview=_preview_endlessly)
    async def ponder(self) -> str:
        """Do what takes too long to foresee."""
        return "done"


@pytest.mark.more
async def test_preview_of_the_host_is_what_a_person_sees(agentcore_host):
    host = await agentcore_host(modules=[Previewing()], isolation="process")
    host.answer_approvals(approve=True)
    outcome = await host.outcome("put", {"path": "a.txt"}, principal=Principal("chat", "default"), session_id="s1")
    assert outcome.ok, outcome.error
    [asked] = host.asked
    assert asked.preview.paths == ("a.txt",)
    assert asked.preview.words == "Write a.txt"


@pytest.mark.more
async def test_thread_of_a_preview_stops_in_its_process_when_its_time_is_over(agentcore_host):
    host = await agentcore_host(modules=[Previewing()], isolation="process")
    outcome = await host.outcome("ponder", principal=Principal("chat", "default"), session_id="s1")
    assert outcome.error.type == "approval_required"
    assert host.host.approvals.waiting[0].rule == "preview:timed_out"
    folder = host.host.state.data_dir("previewing")
    assert (folder / "began").read_text() == "False"
    async with asyncio.timeout(10):
        while not (folder / "stopped").exists():
            await asyncio.sleep(0.01)
