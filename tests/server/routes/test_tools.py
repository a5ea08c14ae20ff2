"""`/api/tools`: the list, calls, and calls whose progress is streamed."""

import asyncio
import json

import pytest

from agentcore.api import CallPreview, Module, Principal, ToolContext, ToolError, tool
from agentcore.core.approvals.approval_queue import Verdict


async def protected(module: Module, ctx: ToolContext, arguments: dict[str, str]) -> CallPreview:
    """Say that the call touches something protected."""
    return CallPreview(is_protected=True)


class Sample(Module):
    """Tools that end in every way."""

    name = "sample"

    def __init__(self) -> None:
        self.entered, self.released = asyncio.Event(), asyncio.Event()
        self.cancelled = False

    @tool(read_only=True)
    async def sample_say(self, ctx: ToolContext, text: str = "nothing") -> dict[str, str]:
        """Say something back.

        Args:
            text: What to say.
        """
        return {"said": text}

    @tool(read_only=True)
    async def sample_fail(self, ctx: ToolContext) -> str:
        """Fail as foreseen."""
        raise ToolError("not_today", "ask tomorrow", retryable=True, day="tomorrow")

    @tool(read_only=True)
    async def sample_break(self, ctx: ToolContext) -> str:
        """Fail by a defect."""
        raise ZeroDivisionError("secret detail")

    @tool(read_only=True)
    async def sample_work(self, ctx: ToolContext) -> str:
        """Tell how far it is, then wait."""
        ctx.progress(0.5, "half")
        self.entered.set()
        try:
            await self.released.wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        return "done"

    @tool(read_only=True)
    async def sample_keep_context(self, ctx: ToolContext) -> str:
        """Tell of two steps at once, and keep what tells of more."""
        self.context = ctx
        ctx.progress(0.5, "half")
        ctx.progress(1.0, "all")
        return "done"

    @tool(preview=protected)
    async def sample_write(self, ctx: ToolContext) -> str:
        """Do what a person has to allow."""
        return "written"


@pytest.fixture
def module():
    return Sample()


SERVER = {"modules": ["module"]}


async def events_of(response) -> list[tuple[str, dict]]:
    text = (await response.read()).decode()
    blocks = [dict(line.split(": ", 1) for line in block.splitlines()) for block in text.strip().split("\n\n")]
    return [(block["event"], json.loads(block["data"])) for block in blocks]


STREAMED = {"Accept": "text/event-stream"}


@pytest.mark.spec("M6")
async def test_success_is_an_envelope(bare_server):
    envelope = await bare_server.call("sample_say", {"text": "你好"})
    assert envelope.pop("callId").startswith("call_")
    assert envelope == {
        "ok": True,
        "content": [{"type": "text", "text": '{"said":"你好"}'}],
        "data": {"said": "你好"},
    }


@pytest.mark.spec("M6")
@pytest.mark.parametrize(
    ("name", "arguments", "error_type"),
    [
        ("sample_fail", {}, "not_today"),
        ("sample_break", {}, "internal_error"),
        ("sample_sya", {}, "unknown_tool"),
        ("sample_say", {"txt": 1}, "invalid_arguments"),
        ("%2e%2e%2fx", {}, "unknown_tool"),
    ],
)
async def test_failure_is_an_error_object_with_status_200(bare_server, name, arguments, error_type):
    envelope = await bare_server.call(name, arguments)
    assert (envelope["ok"], envelope["error"]["type"]) == (False, error_type)
    assert "secret detail" not in json.dumps(envelope)
    assert "Traceback" not in json.dumps(envelope)


@pytest.mark.spec("K8")
async def test_list_is_given_in_each_form(bare_server):
    forms = {}
    for form in ("agentcore", "openai", "anthropic", "mcp"):
        _, answer = await bare_server.get(f"/api/tools?format={form}")
        forms[form] = answer["tools"][0]
    assert forms["agentcore"]["module"] == "sample"
    assert forms["openai"]["function"]["name"] == forms["anthropic"]["name"] == forms["mcp"]["name"] == "sample_say"


async def test_list_is_sent_again_only_when_it_changed(bare_server):
    async with bare_server.client.get(f"{bare_server.url}/api/tools") as response:
        etag = response.headers["ETag"]
    async with bare_server.client.get(f"{bare_server.url}/api/tools", headers={"If-None-Match": etag}) as response:
        assert (response.status, await response.read()) == (304, b"")
    await bare_server.host.modules.disable("sample")
    async with bare_server.client.get(f"{bare_server.url}/api/tools", headers={"If-None-Match": etag}) as response:
        assert (response.status, await response.json()) == (200, {"tools": []})


async def test_progress_is_streamed_before_the_result(bare_server, module):
    module.released.set()
    async with bare_server.client.post(
        f"{bare_server.url}/api/tools/sample_work/call", json={}, headers=STREAMED
    ) as response:
        assert response.content_type == "text/event-stream"
        events = await events_of(response)
    assert [kind for kind, _ in events] == ["accepted", "progress", "result"]
    assert events[0][1]["callId"] == events[2][1]["callId"]
    assert events[1][1]["fraction"] == 0.5
    assert events[2][1]["content"] == [{"type": "text", "text": "done"}]


async def test_progress_ends_with_its_call_and_never_stands_in_front_of_the_next_answer(bare_server, module):
    published = []
    bare_server.host.events.subscribe("call.*", lambda event: published.append(event.type))
    reader, writer = await asyncio.open_connection("127.0.0.1", bare_server.port)
    head = f"Host: 127.0.0.1:{bare_server.port}\r\nAuthorization: {bare_server.client.headers['Authorization']}\r\n"
    call = "Accept: text/event-stream\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
    async with asyncio.timeout(60):
        writer.write(f"POST /api/tools/sample_keep_context/call HTTP/1.1\r\n{head}{call}".encode())
        answer = (await reader.readuntil(b"\r\n0\r\n\r\n")).decode()
        module.context.progress(1.0, "late")
        writer.write(f"GET /api/health HTTP/1.1\r\n{head}\r\n".encode())
        status = await reader.readline()
    writer.close()
    kinds = [line.removeprefix("event: ") for line in answer.splitlines() if line.startswith("event: ")]
    assert kinds == ["accepted", "progress", "progress", "result"]
    assert '"message":"all"' in answer
    assert status == b"HTTP/1.1 200 OK\r\n"
    assert published[-1] == "call.finished"


async def test_call_whose_caller_leaves_goes_on_and_is_recorded(bare_server, module):
    request = bare_server.client.post(f"{bare_server.url}/api/tools/sample_work/call", json={}, headers=STREAMED)
    response = await request
    async with asyncio.timeout(30):
        await module.entered.wait()
        response.close()
        call = next(iter(bare_server.host.calls.in_flight.values()))
        module.released.set()
        await call.work.task
    assert not module.cancelled
    _, page = await bare_server.get("/api/calls?tool=sample_work")
    assert [row["outcome"] for row in page["calls"]] == ["ok"]


@pytest.mark.spec("M5")
async def test_call_is_cancelled_by_its_id(bare_server, module):
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        running = group.create_task(bare_server.call("sample_work"))
        await module.entered.wait()
        (call_id,) = bare_server.host.calls.in_flight
        status, _ = await bare_server.post(f"/api/calls/{call_id}/cancel")
    assert status == 200
    assert running.result()["error"]["type"] == "cancelled"
    assert module.cancelled


async def test_cancelling_an_unknown_call_is_a_404(bare_server):
    status, answer = await bare_server.post("/api/calls/call_x/cancel")
    assert (status, answer["error"]["type"]) == (404, "call_not_found")


@pytest.mark.spec("K2")
async def test_call_that_needs_a_person_is_sent_again_after_approval(bare_server):
    envelope = await bare_server.call("sample_write")
    assert envelope["error"]["type"] == "approval_required"
    call_id = envelope["error"]["context"]["callId"]
    await bare_server.host.approvals.decide_call(call_id, Verdict(approved=True, by="test"))
    assert (await bare_server.call("sample_write", call_id=call_id))["ok"]
    assert (await bare_server.call("sample_write", call_id=call_id))["error"]["type"] == "approval_not_found"


@pytest.mark.spec("K2")
async def test_stream_stays_open_while_a_person_decides(bare_server):
    url = f"{bare_server.url}/api/tools/sample_write/call"
    async with bare_server.client.post(url, json={}, headers=STREAMED) as response:
        async with asyncio.timeout(30):
            accepted = await response.content.readuntil(b"\n\n")
            head = await response.content.readuntil(b"\n\n")
        call_id = json.loads(head.decode().splitlines()[1].removeprefix("data: "))["callId"]
        await bare_server.host.approvals.decide_call(call_id, Verdict(approved=True, by="test"))
        events = await events_of(response)
    assert accepted.startswith(b"event: accepted\n")
    assert head.startswith(b"event: approval\n")
    assert events[0][0] == "result"
    assert events[0][1]["ok"]


async def test_time_limit_of_the_caller_ends_a_call(bare_server):
    envelope = await bare_server.call("sample_work", timeout_ms=20)
    assert envelope["error"]["type"] == "timeout"


class Atlas(Module):
    """Completes what it is asked."""

    name = "atlas"

    def towns(self, tool: str, argument: str, begun: str, given: dict[str, str]) -> list[str]:
        """Towns."""
        return [town for town in ("Rome", "Rimini") if town.startswith(begun)]

    @tool(complete=towns)
    async def atlas_go(self, town: str, by_night: bool = False) -> str:
        """Go."""
        return town


async def test_argument_is_completed_without_a_call(make_server):
    bare_server = await make_server(Atlas())
    told = []
    bare_server.host.events.subscribe("call.*", told.append)

    async def values(tool="atlas_go", **body):
        status, answer = await bare_server.post(f"/api/tools/{tool}/complete", body)
        assert status == 200
        return answer["values"]

    assert await values(argument="town", value="R") == ["Rome", "Rimini"]
    assert await values(argument="by_night", value="t") == ["true"]
    assert await values(argument="country", value="") == []
    assert await values("nowhere", argument="town", value="") == []
    assert told == []
    (listed,) = [each for each in (await bare_server.get("/api/tools"))[1]["tools"] if each["name"] == "atlas_go"]
    assert listed["completes"] is True
    await bare_server.host.emergency_stop(Principal("page", "me"))
    assert await values(argument="town", value="R") == []
    for wrong in (
        {"argument": "town", "value": "x" * 1001},
        {"value": ""},
        {"argument": "town", "arguments": {"a": 1}},
    ):
        status, answer = await bare_server.post("/api/tools/atlas_go/complete", wrong)
        assert (status, answer["error"]["type"]) == (400, "invalid_body")
