"""What a module throws, gives or says is read inside of what contains it: the others, and the server, go on."""

import asyncio
import json

import aiohttp
import pytest

EVIL = """
import time
from agentcore.api import *

class EvilError(Exception):
    def __str__(self):
        raise SystemExit("from __str__")
    __repr__ = __str__

class Worse(BaseException):
    def __str__(self):
        return "x" * 50_000_000

class EvilText(str):
    def __str__(self):
        raise SystemExit("from __str__")

class EvilJson:
    def __iter__(self):
        raise SystemExit("from __iter__")
    __str__ = __repr__ = model_dump = __iter__

def circle():
    one, other = ValueError("one"), EvilError()
    one.__cause__, other.__cause__ = other, one
    return one

def group():
    return BaseExceptionGroup("several", [EvilError(), Worse(), KeyError(EvilText("k"))])
"""

MODULE = (
    EVIL
    + '''
class M(Module):
    """A module."""

    @tool
    async def NAME_tool(self) -> str:
        """Work."""
        return "done"

'''
)

THROWN = {"evil": "EvilError('x')", "worse": "Worse()", "circle": "circle()", "group": "group()"}

PLACES = {
    "at_import": f"{EVIL}raise THROWN",
    "in_init": f"{MODULE}    async def init(self, runtime): raise THROWN",
    "in_sync_init": f"{MODULE}    def init(self, runtime): raise THROWN",
    "in_definitions": f"{MODULE}    def get_tool_definitions(self): raise THROWN",
    "in_component": f"{MODULE}    async def get_web_component(self): raise THROWN",
    "in_shutdown": f"{MODULE}    def init(self, runtime): raise ValueError\n    async def shutdown(self): raise THROWN",
    "in_name": f"{MODULE}    @property\n    def name(self): raise THROWN",
    "in_new": f"{MODULE}    def __init__(self): raise THROWN",
}

GOOD = '''
from agentcore.api import Module, tool

class Good(Module):
    """Works."""

    @tool(read_only=True)
    async def good(self) -> str:
        """Work."""
        return "good"
'''


@pytest.mark.more
@pytest.mark.spec("M4", "S4")
@pytest.mark.parametrize("thrown", THROWN.values(), ids=THROWN)
@pytest.mark.slow
async def test_what_a_module_throws_fails_it_alone(make_server, thrown):
    files = {name: source.replace("THROWN", thrown).replace("NAME", name) for name, source in PLACES.items()}
    async with asyncio.timeout(120):
        server = await make_server(files={**files, "good": GOOD}, app={"modules": [*files, "good"]})
    status, body = await server.get("/api/modules")
    assert status == 200
    modules = {module["name"]: module for module in body["modules"] if module["listed"]}
    assert {name: module["state"] for name, module in modules.items()} == dict.fromkeys(files, "failed") | {
        "good": "ready"
    }
    for name in files:
        assert modules[name]["reason"]
        assert len(modules[name]["reason"]) < 10_000
        assert len(modules[name]["traceback"]) < 100_000
    assert (await server.call("good"))["ok"]
    assert (await server.post("/api/modules/at_import/reload"))[0] == 200
    assert (await server.post("/api/modules/at_import/disable"))[0] == 200


CALLS = (
    MODULE.replace("NAME", "m")
    + '''
    @tool
    async def m_raise(self, what: str) -> str:
        """Raise."""
        raise eval(what)

    @tool
    def m_raise_sync(self, what: str) -> str:
        """Raise in a thread."""
        raise eval(what)

    @tool
    async def m_give(self, what: str):
        """Give."""
        return eval(what)

    @tool
    def m_give_sync(self, what: str):
        """Give from a thread."""
        return eval(what)

    def _preview(self, ctx, arguments):
        return eval(arguments["what"])

    @tool(preview=_preview)
    async def m_preview(self, what: str) -> str:
        """Preview."""
        return "done"

    @tool
    async def m_progress(self, ctx: ToolContext, fraction: str, message: str) -> str:
        """Tell."""
        ctx.progress(eval(fraction), eval(message))
        return "told"

    @tool
    async def m_publish(self, data: str) -> str:
        """Publish."""
        self.runtime.publish("said", eval(data))
        return "published"

    async def init(self, runtime):
        runtime.add_route("GET", "give", self._give)
        runtime.add_route("GET", "stream", self._give, kind="stream")
        runtime.subscribe("call.*", self._hear)

    async def _give(self, request):
        return eval(request.query["what"])

    def _hear(self, event):
        raise EvilError()
'''
)

RAISED = [
    *THROWN.values(),
    "StopIteration(3)",
    "StopAsyncIteration()",
    "SystemExit(EvilText('x'))",
    "KeyboardInterrupt()",
    "GeneratorExit()",
    "__import__('asyncio').CancelledError()",
    "ToolError(3, 'no word')",
    "ToolError('Two Words', 'no word')",
    "ToolError('', EvilText('x'))",
]


@pytest.mark.more
@pytest.mark.spec("M6", "S4")
@pytest.mark.parametrize("tool", ["m_raise", "m_raise_sync"])
async def test_what_a_tool_raises_is_an_error_of_its_call(make_server, tool):
    server = await make_server(files={"m": CALLS, "good": GOOD}, app={"modules": ["m", "good"]})
    for what in RAISED:
        async with asyncio.timeout(60):
            envelope = await server.call(tool, {"what": what})
        assert envelope["error"]["type"] == "internal_error", what
        assert (await server.call("good"))["ok"]


@pytest.mark.spec("M6", "S4")
async def test_errors_of_modules_keep_what_is_json_and_lose_the_rest(make_server):
    server = await make_server(files={"m": CALLS}, app={"modules": ["m"]})
    for what, message, context in (
        ("ToolError('gone', EvilText('why'), a=EvilText('b'), n=3)", "why", {"a": "b", "n": 3}),
        ("ToolError('gone', 3, path=EvilJson())", "3", {"path": "[EvilJson]"}),
        ("ToolError('gone', ValueError('inner'), x=float('nan'))", "inner", {"x": None}),
        ("ToolError('gone', EvilError(), deep={'a': [{1: 2}]})", None, {"deep": {"a": [{"[int]": 2}]}}),
        ("ToolError('gone', 'half \\ud83d')", "half \\ud83d", {}),
    ):
        error = (await server.call("m_raise", {"what": what}))["error"]
        assert error["type"] == "gone", what
        assert message is None or error["message"] == message
        assert error["context"] == context
    flood = (await server.call("m_raise", {"what": "ToolError('gone', 'x' * 9_000_000, y='y' * 9_000_000)"}))["error"]
    assert len(json.dumps(flood)) < 300_000


@pytest.mark.spec("M6", "S4")
@pytest.mark.parametrize("tool", ["m_give", "m_give_sync"])
async def test_results_that_are_none_are_errors_of_their_call(make_server, tool):
    server = await make_server(files={"m": CALLS, "good": GOOD}, app={"modules": ["m", "good"]})
    for what in (
        "EvilJson()",
        "{'a': EvilJson()}",
        "[EvilJson()]",
        "ToolResult(3)",
        "ToolResult([EvilJson()])",
        "ToolResult((Text(3),))",
        "ToolResult((Image('x'),))",
        "ToolResult((Image(b'x', 3),))",
        "ToolResult((ArtifactLink(1, 2, 3, 4),))",
        "ToolResult(data=EvilJson())",
        "ToolResult(content=EvilJson())",
        "(lambda l: (l.append(l), l)[1])([])",
    ):
        envelope = await server.call(tool, {"what": what})
        assert not envelope["ok"], what
        assert envelope["error"]["type"] == "internal_error", what
    for what in ("EvilText('said')", "Text(EvilText('said'))", "ToolResult(EvilText('said'))"):
        assert (await server.call(tool, {"what": what}))["content"] == [{"type": "text", "text": "said"}]
    assert (await server.call("good"))["ok"]


@pytest.mark.spec("K2", "S4")
async def test_preview_that_is_none_means_asking_a_person(make_server):
    server = await make_server(files={"m": CALLS}, app={"modules": ["m"]})
    for what in (
        "3",
        "CallPreview(effects=3)",
        "CallPreview(effects={'magic'})",
        "CallPreview(effects=frozenset())",
        "CallPreview(paths='a')",
        "CallPreview(paths=(3,))",
        "CallPreview(urls=[EvilJson()])",
        "CallPreview(diff=3)",
        "CallPreview(words=['a'])",
        "CallPreview(cwd=b'x')",
        "CallPreview(is_protected='yes')",
    ):
        assert (await server.call("m_preview", {"what": what}))["error"]["type"] == "approval_required", what
    assert (await server.call("m_preview", {"what": "CallPreview(paths=[EvilText('a')])"}))["ok"]


@pytest.mark.spec("M5", "M8", "S4")
async def test_progress_and_events_are_plain_or_refused_where_they_are_made(make_server):
    server = await make_server(files={"m": CALLS}, app={"modules": ["m"]})
    wrong = [("3", "3"), ("'x'", "'x'"), ("EvilJson()", "'x'"), ("None", "EvilJson()"), ("None", "None")]
    for fraction, message in wrong:
        envelope = await server.call("m_progress", {"fraction": fraction, "message": message})
        assert envelope["error"]["type"] == "internal_error", (fraction, message)
    for fraction, message in (("float('nan')", "EvilText('x')"), ("1e999", "'x' * 9_000_000"), ("True", "'\\ud83d'")):
        assert (await server.call("m_progress", {"fraction": fraction, "message": message}))["ok"]
    for data in ("3", "{'a': EvilJson()}", "{3: 4}", "{'a': float('inf')}", "{'x': 'x' * 9_000_000}"):
        assert (await server.call("m_publish", {"data": data}))["error"]["type"] == "internal_error", data
    assert (await server.call("m_publish", {"data": "{'a': EvilText('b')}"}))["ok"]
    for event in server.host.events.events_since(server.host.events.last_id.split("-")[0] + "-0"):
        assert json.loads(event.encode())


@pytest.mark.spec("K6", "S4")
@pytest.mark.parametrize("path", ["give", "stream"])
async def test_answers_of_a_route_that_are_none_are_errors_of_that_request(make_server, path):
    server = await make_server(files={"m": CALLS}, app={"modules": ["m"]})
    for what in (
        "3",
        "None",
        "Response(EvilJson())",
        "Response({'a': EvilJson()})",
        "Response({}, status='x')",
        "Response({}, status=99)",
        "Response({}, headers={'x': 3})",
        "Response({}, headers={3: 'x'})",
        "Response({}, headers={'x': 'a\\nb'})",
        "Response({}, headers=3)",
        "Response(b'x', mime=3)",
        "Response(b'x', mime='a\\nb')",
        "(_ for _ in ()).throw(EvilError())",
        "(_ for _ in ()).throw(Worse())",
        "(_ for _ in ()).throw(ToolError(EvilJson(), 3))",
    ):
        status, body = await server.get(f"/api/modules/m/{path}", params={"what": what})
        assert (status, body["error"]["type"]) == (424, "internal_error"), what
    good = "Response({'a': EvilText('b')})"
    assert await server.get(f"/api/modules/m/{path}", params={"what": good}) == (200, {"a": "b"})
    refused = "(_ for _ in ()).throw(ToolError('gone', EvilError(), x=EvilJson()))"
    status, body = await server.get(f"/api/modules/m/{path}", params={"what": refused})
    assert (status, body["error"]["type"], body["error"]["context"]) == (400, "gone", {"x": "[EvilJson]"})


async def test_socket_of_a_module_that_throws_is_closed_with_the_reason(make_server):
    source = (
        MODULE.replace("NAME", "m")
        + """
    async def init(self, runtime):
        runtime.add_route("GET", "talk", self._talk, kind="websocket")

    async def _talk(self, request):
        raise eval(request.query["what"])
"""
    )
    server = await make_server(files={"m": source}, app={"modules": ["m"]})
    for what, code in (("EvilError()", 1011), ("Worse()", 1011), ("ToolError(EvilJson(), 'x')", 1011)):
        async with server.client.ws_connect(server.url + "/api/modules/m/talk", params={"what": what}) as socket:
            message = await socket.receive(timeout=60)
            assert message.type is aiohttp.WSMsgType.CLOSE
            assert message.data == code


SETTINGS = """
import asyncio
from typing import Annotated
from agentcore.api import Field, Module, tool
from pydantic import field_validator

def throw(schema):
    raise SystemExit("from the schema")

class Lamp(Module):
    class Settings(Module.Settings):
        level: Annotated[int, Field(json_schema_extra={"x-harmless": True})] = 1
        MORE

        @field_validator("level")
        @classmethod
        def check(cls, value):
            raised = {2: SystemExit(3), 3: KeyboardInterrupt(), 4: GeneratorExit(), 5: asyncio.CancelledError()}
            if value in raised:
                raise raised[value]
            return value

    @tool
    async def lamp_level(self) -> int:
        \"\"\"Give the level.\"\"\"
        return self.settings.level
"""


async def _with_lamp(agentcore_client, more=""):
    server = await agentcore_client()
    folder = server.running.host.config.file.parent / "modules"
    folder.mkdir()
    (folder / "lamp.py").write_text(SETTINGS.replace("MORE", more))
    answer = await server.post("/api/modules/lamp/enable", json={})
    assert (await answer.json())["state"] == "ready"
    return server, "/api/settings/modules/lamp"


@pytest.mark.spec("S4")
@pytest.mark.parametrize("value", [2, 3, 4, 5], ids=["exit", "interrupt", "generator", "cancelled"])
async def test_settings_whose_check_would_end_the_process_are_refused(agentcore_client, value):
    server, path = await _with_lamp(agentcore_client)
    digest = (await (await server.get(path)).json())["digest"]
    body = {"expected": digest, "changes": [{"path": "/level", "value": value}]}
    answer = await server.put(path, json=body)
    assert (answer.status, (await answer.json())["error"]["type"]) == (400, "invalid_settings")
    (server.running.host.config.file.parent / "modules" / "lamp.json").write_text(json.dumps({"level": value}))
    shown = await (await server.get(path)).json()
    assert (len(shown["problems"]), shown["waitsForReload"]) == (1, True)
    assert (await server.get("/api/health")).status == 200


@pytest.mark.spec("S4")
@pytest.mark.parametrize(
    "more",
    [
        "odd: Annotated[int, Field(json_schema_extra=throw)] = 1",
        'odd: Annotated[int, Field(json_schema_extra={"x-odd": object()})] = 1',
    ],
    ids=["exit", "no JSON"],
)
async def test_settings_are_shown_whatever_their_schema_does(agentcore_client, more):
    server, path = await _with_lamp(agentcore_client, more)
    answer = await server.get(path)
    assert (answer.status, (await answer.json())["schema"]) == (200, None)
    assert (await server.get("/api/health")).status == 200
