"""The channel as pages meet it: long poll, result, socket; and who is let in."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
import pytest

from agentcore.testing import ServerClient

LogIn = Callable[[], Awaitable[aiohttp.ClientSession]]

pytestmark = pytest.mark.spec("P1")

CLIENT = "client-00000001"
OTHER = "client-00000002"


def start(server: ServerClient, script: str = "1+1", **options: Any) -> asyncio.Task[Any]:
    arguments = {"script": script, **options}
    return asyncio.create_task(server.running.outcome("ui_page_eval_js", arguments))


async def poll(client: aiohttp.ClientSession, client_id: str = CLIENT, timeout_ms: int = 20_000) -> Any:
    async with client.get("/api/ui-commands/poll", params={"clientId": client_id, "timeoutMs": timeout_ms}) as answer:
        return answer.status, await answer.json()


async def post(client: aiohttp.ClientSession, **body: Any) -> Any:
    async with client.post("/api/ui-commands/result", json={"clientId": CLIENT, **body}) as answer:
        return answer.status, await answer.json()


async def test_long_poll_brings_a_command_and_takes_its_result(server: ServerClient, log_in: LogIn) -> None:
    client = await log_in()
    assert await poll(client, timeout_ms=0) == (200, {"command": None})
    call = start(server, timeoutMs=9000)
    _, answer = await poll(client)
    command = answer["command"]
    assert command == {
        "commandId": command["commandId"], "type": "eval_js", "args": {"script": "1+1"}, "timeoutMs": 9000,
    }  # fmt: skip
    result = {"commandId": command["commandId"], "ok": True, "result": {"value": 2, "isCut": False}}
    assert await post(client, **result) == (200, {"used": True})
    assert await post(client, **result) == (200, {"used": False})
    assert (await call).result.data == {"value": 2, "resourceId": "ui_page_0"}


async def test_what_a_page_threw_is_an_error_with_its_stack(server: ServerClient, log_in: LogIn) -> None:
    client = await log_in()
    await poll(client, timeout_ms=0)
    call = start(server)
    _, answer = await poll(client)
    stack = "\n".join(f"at line {number}" for number in range(50))
    error = {"message": "TypeError: no", "stack": stack}
    await post(client, commandId=answer["command"]["commandId"], ok=False, error=error)
    failed = (await call).error
    assert failed.type == "ui_execute_error"
    assert failed.untrusted
    assert "TypeError: no" in failed.message
    assert failed.context["stack"].count("\n") == 5


async def test_results_in_another_form_are_refused(server: ServerClient, log_in: LogIn) -> None:
    client = await log_in()
    for body in (
        {"ok": True},
        {"commandId": "cmd_1", "ok": False},
        {"commandId": "cmd_1", "ok": True, "error": {"message": "both"}},
        {"commandId": "cmd_1", "ok": True, "extra": 1},
    ):
        status, answer = await post(client, **body)
        assert (status, answer["error"]["type"]) == (400, "invalid_body")
    status, answer = await poll(client, "short")
    assert (status, answer["error"]["type"]) == (400, "invalid_query")


async def test_nobody_polls_or_answers_for_anothers_page(server: ServerClient, log_in: LogIn) -> None:
    alice, bob = await log_in(), await log_in()
    await poll(alice, timeout_ms=0)
    assert (await poll(bob, timeout_ms=0))[1]["error"]["type"] == "forbidden"
    call = start(server)
    _, answer = await poll(alice)
    command_id = answer["command"]["commandId"]
    stolen = {"commandId": command_id, "ok": True, "result": {"value": "stolen"}}
    assert (await post(bob, **stolen))[1]["error"]["type"] == "forbidden"
    assert (await post(bob, **{**stolen, "clientId": OTHER}))[1]["error"]["type"] == "forbidden"
    await post(alice, commandId=command_id, ok=True, result={"value": "own"})
    assert (await call).result.data["value"] == "own"
    async with server.get("/api/modules/ui_page/state") as shown:
        assert (await shown.json())["counts"] == {"foreign": 3}


async def test_token_is_no_page(server: ServerClient) -> None:
    async with server.get("/api/ui-commands/poll", params={"clientId": CLIENT, "timeoutMs": 0}) as answer:
        assert (await answer.json())["error"]["type"] == "forbidden"


async def test_socket_brings_commands_and_its_end_ends_them(server: ServerClient, log_in: LogIn) -> None:
    client = await log_in()
    socket = await connect(client)
    first = start(server)
    command = (await socket.receive_json())["command"]
    for malformed in ("{", '{"type":"dance"}', "[]"):
        await socket.send_str(malformed)
    await socket.send_json({"type": "ping"})
    await socket.send_json({"type": "result", "commandId": command["commandId"], "ok": True, "result": {"value": 1}})
    assert (await first).result.data["value"] == 1
    second = start(server)
    await socket.receive_json()
    await socket.close()
    assert (await second).error.type == "ui_client_not_connected"
    assert (await start(server)).error.type == "ui_client_not_connected"


async def test_copy_of_a_page_takes_its_place_and_the_older_one_is_told(server: ServerClient, log_in: LogIn) -> None:
    client = await log_in()
    older, newer = await connect(client), await connect(client)
    message = await older.receive()
    assert (message.type, older.close_code) == (aiohttp.WSMsgType.CLOSE, 4001)
    call = start(server)
    command = (await newer.receive_json())["command"]
    await newer.send_json({"type": "result", "commandId": command["commandId"], "ok": True, "result": {"value": 1}})
    assert (await call).result is not None


async def test_page_that_does_not_answer_is_a_timeout(server: ServerClient, log_in: LogIn) -> None:
    socket = await connect(await log_in())
    outcome = await start(server, timeoutMs=100)
    assert outcome.error.type == "ui_timeout"
    assert outcome.error.context["timeoutMs"] == 100
    await socket.close()


async def connect(client: aiohttp.ClientSession) -> aiohttp.ClientWebSocketResponse:
    offered = ("agentcore", f"agentcore.session.{client.headers['X-Agentcore-Session']}")
    socket = await client.ws_connect(f"/api/ui-commands/socket?clientId={CLIENT}", protocols=offered)
    await socket.send_json({"type": "ready"})
    return socket
