"""Messages of a host that are almost right: each is taken, refused, or ends the link, and touches nobody else."""

import asyncio
import copy
import json
import os
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentcore.api import Module, ResourceUse, ToolContext, tool
from agentcore.encoding import to_json
from agentcore.hosts.server_side.host_link import HostLink
from agentcore.hosts.server_side.linked_module import LinkedModule
from agentcore.hosts.wire.frames import PROTOCOL, encode_chunk

RESOURCE = {
    "resource_id": "far_s1_0",
    "resource_type": "far",
    "session_id": "s1",
    "index": 0,
    "adapter_type": "x",
    "status": "ready",
    "last_url": "http://a.example/",
    "keep_running": False,
    "created_at_ms": 1,
    "last_used_at_ms": 2,
    "title": "t",
    "keys": {"tabId": "1"},
}
OF_CALL = {"n": 1, "id": 7}
MESSAGES: list[dict[str, Any]] = [
    {"type": "hello", "protocol": PROTOCOL, "name": "far", "pid": 5, "highest": 0, "members": [], "resources": []},
    {"type": "pong", "n": 1},
    {"type": "goodbye", "reason": "x"},
    {"type": "reply", "id": 1, "ok": True, "result": {"preview": None}},
    {"type": "reply", "id": 1, "ok": False, "error": {"type": "a_word", "message": "m", "context": {}}},
    {"type": "request.cancel", "id": 7},
    {"type": "blob.drop", "blob": 1},
    {
        "type": "tool.result",
        "id": "call",
        "n": 1,
        "ok": True,
        "result": {
            "content": [{"type": "text", "text": "x"}, {"type": "image", "mime": "image/png", "blob": 1}],
            "data": {"a": 1},
            "truncated": False,
            "resourceId": None,
        },
    },
    {
        "type": "tool.result",
        "id": "call",
        "n": 1,
        "ok": False,
        "error": {"defect": "KeyError", "message": "m", "traceback": "t"},
    },
    {"type": "tool.progress", "n": 1, "kind": "progress", "fraction": 0.5, "message": "m"},
    {"type": "tool.progress", "n": 1, "kind": "log", "level": "info", "message": "m"},
    {"type": "tool.progress", "n": 1, "kind": "output", "text": "m"},
    {
        **OF_CALL,
        "type": "tool.ask",
        "question": "q",
        "options": ["a"],
        "schema": None,
        "url": None,
        "timeoutS": 1,
        "isSecret": False,
    },
    {**OF_CALL, "type": "tool.sample", "prompt": "p", "system": "", "maxTokens": 5, "isShownFirst": False},
    {**OF_CALL, "type": "tool.roots"},
    {**OF_CALL, "type": "call.sources"},
    {**OF_CALL, "type": "call.nested", "tool": "near_pid", "arguments": {"a": 1}},
    {**OF_CALL, "type": "agent.run", "prompt": "p", "tools": ["x"], "model": None, "budget": {"steps": 1}},
    {**OF_CALL, "type": "session.history"},
    {**OF_CALL, "type": "session.summary", "summary": "s", "keepTurns": 1},
    {**OF_CALL, "type": "session.todos", "todos": [{"text": "x"}]},
    {**OF_CALL, "type": "artifact.save", "blob": 1, "mime": "text/plain", "name": "x"},
    {**OF_CALL, "type": "artifact.load", "artifactId": "a"},
    {**OF_CALL, "type": "artifact.lines", "artifactId": "a", "first": 1, "limit": 2, "chars": 3},
    {"type": "resource.create", "owner": "far", "resource": RESOURCE},
    {"type": "resource.adopt", "resource": RESOURCE},
    {
        "type": "resource.update",
        "resource": RESOURCE,
        "icon": {"mime": "image/png", "base64": "AAAA"},
        "reopening": {"tool": "x", "arguments": {}},
    },
    {"type": "resource.event", "resourceId": "far_s1_0", "event": "log", "data": {"a": 1}},
    {"type": "resource.release", "resourceId": "far_s1_0", "reason": "r"},
    {"type": "event.publish", "module": 1, "event": "e", "data": {"a": 1}, "sessionId": None},
    {"type": "event.subscribe", "module": 1, "subscription": 1, "pattern": "x.*"},
    {"type": "event.unsubscribe", "module": 1, "subscription": 1},
    {"type": "note", "module": 1, "subject": "s", "said": "x", "advice": ""},
    {"type": "record", "module": 1, "outcome": "noted", "details": {}, "call": "", "sessionId": ""},
    {"type": "instruct", "module": 1, "text": "t"},
    {"type": "chats.tell", "module": 1, "tool": "near_pid", "text": "t", "untrusted": ""},
    {"type": "served.changed", "module": 1, "address": "ui://x/y"},
    {"type": "definitions", "module": 1},
    {"type": "module.reports", "module": 1},
    {"type": "login.status", "module": 1, "status": {"state": "needed", "said": "", "address": ""}},
    {
        "type": "requirement.declare",
        "module": 1,
        "info": {
            "name": "printing_press",
            "title": {"en": "Printing press", "zh": "印刷机"},
            "purpose": "Printing needs one.",
            "command": "agentcore press install",
            "installs": "",
            "download_bytes": 5,
            "is_required": True,
            "is_installable": True,
        },
    },
    {"type": "requirement.progress", "module": 1, "name": "printing_press", "text": "Downloading", "fraction": 0.5},
    {
        "type": "route.add",
        "module": 1,
        "route": 1,
        "method": "GET",
        "path": "x",
        "kind": "json",
        "scope": None,
        "body": {"type": "object", "properties": {"a": {"type": "string"}}},
        "query": None,
        "watching": None,
    },
    {"type": "route.remove", "module": 1, "route": 1},
    {"type": "route.out", "channel": 1, "text": "x"},
    {"type": "route.out", "channel": 1, "blob": 1},
    {"type": "route.taken", "channel": 1, "size": 5},
    {"type": "route.close", "channel": 1, "reason": ""},
]
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([-1, 0, 1, 2, 2**31, 2**63, 10**300, 0.5, -0.0, 1e308]),
    st.sampled_from(["", "near", "box_s1_0", "call", "\0", "a" * 70_000, "ready", "../x", "closed", "KeyError"]),
    st.sampled_from([[], {}, [[]], [1], {"a": 1}, {"blob": 1}, [{"type": "text"}], {"content": [None]}]),
    st.recursive(
        st.none() | st.integers() | st.text(max_size=5),
        lambda each: st.lists(each, max_size=3) | st.dictionaries(st.text(max_size=5), each, max_size=3),
        max_leaves=8,
    ),
)


class Near(Module):
    """Runs in the server."""

    @tool(resource=ResourceUse("box", create=True))
    async def fill(self, ctx: ToolContext, resourceId: str | None = None) -> str:  # noqa: N803
        """Make a box."""
        assert ctx.resource is not None
        self.runtime.resources.adopt(ctx.resource.resource_id, self._end)
        self.runtime.resources.update(ctx.resource.resource_id, status="ready", title="mine")
        return ctx.resource.resource_id

    async def _end(self, resource: Any) -> None:
        pass

    @tool(read_only=True)
    async def near_pid(self) -> int:
        """Say in which process it is."""
        return os.getpid()


class Far(Module):
    """Stands in the server for one that would run elsewhere."""

    @tool(read_only=True)
    async def pass_on(self, ctx: ToolContext) -> str:
        """Have the call carried out elsewhere."""
        return str(await vars(self)["link"](ctx))


class _Nowhere:
    """A transport that carries nothing."""

    def send_text(self, data: bytes) -> None:
        json.loads(data)

    async def send_binary(self, data: bytes) -> None:
        pass

    def close(self) -> None:
        pass


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """All places in a JSON value."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, part in parts for place in _places(part, (*path, key)))]


@st.composite
def mutated(draw: st.DrawFn) -> dict[str, Any]:
    """A message in which up to two values are others, or are missing."""
    message: dict[str, Any] = json.loads(json.dumps(draw(st.sampled_from(MESSAGES))))
    for _ in range(draw(st.integers(0, 2))):
        places = [place for place in _places(message) if place and place != ("type",)]
        if not places:
            break
        *way, last = draw(st.sampled_from(places))
        holder: Any = message
        for step in way:
            holder = holder[step]
        if draw(st.booleans()) and isinstance(holder, dict):
            del holder[last]
        else:
            holder[last] = copy.deepcopy(draw(ODD))  # what is drawn is everybody's
    return message


HOST = {"modules": [Near, Far], "isolation": "server"}
SENT = st.lists(mutated(), min_size=1, max_size=6)
CHECKS = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


@settings(max_examples=100, suppress_health_check=CHECKS)
@given(sent=SENT)
async def test_mutated_messages_never_break_anything(host, sent):
    await _hear(host, sent)


@pytest.mark.more
@settings(max_examples=500, suppress_health_check=CHECKS)
@given(sent=SENT)
async def test_many_mutated_messages_never_break_anything(host, sent):
    await _hear(host, sent)


async def _hear(host, sent: list[dict[str, Any]]) -> None:
    """While a call waits for its host, that host says things; then it is gone, and with it what it has made."""
    if not host.host.resources.list(owner="near"):
        await host.outcome("fill", session_id="s1")
    record = host.host.modules.get_record("far")
    ended: list[str] = []
    link = HostLink(
        *("away", _Nowhere(), host.host.resources),
        outlives=False,
        on_hello=lambda told: None,
        on_blocked=lambda holder, seconds: None,
        on_control_files=lambda report, host: None,
        on_end=ended.append,
    )
    linked = LinkedModule("far", 1, record.runtime)
    link.add_module(linked)

    async def pass_on(ctx: ToolContext) -> Any:
        return await link.call_tool(linked, ctx, "pass_on", {})  # type: ignore[arg-type]  # it is one of this server

    vars(record.plugin)["link"] = pass_on
    call = asyncio.create_task(host.outcome("pass_on", session_id="s1"))
    while not link.calls._sent:
        await asyncio.sleep(0)
    [waiting] = link.calls._sent.values()
    link.peer.receive_binary(encode_chunk(1, b"a picture", is_last=True))
    for message in sent:
        for each in ("id", "call"):
            if message.get(each) == "call":
                message[each] = waiting.context.call_id
        link.peer.receive_text(to_json(message))
        await asyncio.sleep(0)
    link.peer.close("over")
    link.fail_all_calls("over")
    outcome = await call
    assert outcome.ok or outcome.error.type != "timeout"
    if not outcome.ok:
        assert "Traceback" not in json.dumps(outcome.error.to_json())
    assert len(ended) == 1
    [box] = host.host.resources.list(owner="near")
    assert (box.title, box.status) == ("mine", "ready")
    await host.host.resources.release_owned("far", lost_by="it ended")
    assert (await host.call("near_pid")).data == os.getpid()
