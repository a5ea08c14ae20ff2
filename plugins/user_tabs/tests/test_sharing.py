"""Tabs that browsers share, the calls that go to them, and what browsers get wrong, over the real socket."""

import asyncio
from collections.abc import Callable
from typing import Any

import aiohttp
import pytest

from agentcore.testing import ServerClient

pytestmark = pytest.mark.spec("C4", "K11")

LIMIT_S = 30
SHOP = "https://shop.example/phones"
FILL = {"actions": [{"action": "fill", "target": {"elementId": "e_1_a"}, "params": {"value": "iPhone 16"}}]}
FILLED = {
    "success": True,
    "results": [{"success": True, "message": "Filled: input:Search"}],
    "summary": "Ran 1 actions, 1 succeeded, 0 failed",
}


def start(server: ServerClient, tool: str = "page_action", arguments: Any = None, session_id: str = "chat-1") -> Any:
    """Begin with a call of the person's own."""
    given = FILL if arguments is None and tool == "page_action" else arguments or {}
    return asyncio.create_task(server.running.outcome(tool, given, session_id=session_id))


async def resources(server: ServerClient) -> list[Any]:
    async with server.get("/api/resources?resourceType=user_tab") as answer:
        return list((await answer.json())["resources"])


async def test_shared_tab_is_acted_in_and_says_what_it_shows(
    server: ServerClient, new_key: Any, connected: Any
) -> None:
    async with connected(server, await new_key(server)) as browser:
        await browser.hello()
        resource_id = await browser.share()
        [shown] = await resources(server)
        assert (shown["resourceId"], shown["title"], shown["lastUrl"]) == (resource_id, "Shop", SHOP)
        assert (shown["chatSessionId"], shown["status"]) == ("chat-1", "ready")
        call = start(server)
        asked = await browser.next("call")
        assert (asked["tool"], asked["arguments"], asked["shareId"]) == ("page_action", FILL, "s1")
        await browser.answer(asked, FILLED)
        result = (await call).result
        assert result.data == {**FILLED, "resourceId": resource_id}
        assert result.untrusted
        await browser.send(type="update", shareId="s1", title="Phones", state="paused", url="https://other.example/")
        await browser.send(type="ping")
        await browser.next("pong")
        assert (await start(server)).error.type == "user_tab_paused"
        [shown] = await resources(server)
        assert (shown["title"], shown["lastUrl"], shown["status"]) == ("Phones", "https://other.example/", "starting")


async def test_elements_selection_and_marks_are_read_as_what_they_are(
    server: ServerClient, new_key: Any, connected: Any
) -> None:
    async with connected(server, await new_key(server)) as browser:
        await browser.hello()
        await browser.share()
        look = start(server, "request_more_elements", {"elementType": "input", "keyword": "search"})
        asked = await browser.next("call")
        assert asked["arguments"] == {"elementType": "input", "keyword": "search"}
        elements = [{"id": "e_1_a", "desc": "input:Search(placeholder:Products)"}]
        await browser.answer(asked, {"success": True, "elements": elements})
        found = (await look).result
        assert (found.data["elements"], found.data["url"], found.data["title"]) == (elements, SHOP, "Shop")
        assert "e_1_a input:Search(placeholder:Products)" in found.content[0].text
        selection = start(server, "get_selected_text")
        await browser.answer(await browser.next("call"), {"success": True, "text": "chosen words"})
        assert (await selection).result.data["text"] == "chosen words"
        cleared = start(server, "clear_ai_styles")
        await browser.answer(await browser.next("call"), {"success": True, "message": "Cleared"})
        assert (await cleared).result.data["success"] is True


async def test_without_a_shared_tab_calls_say_how_a_person_shares_one(server: ServerClient) -> None:
    for tool in ("page_action", "request_more_elements", "get_selected_text", "clear_ai_styles"):
        error = (await start(server, tool)).error
        assert error.type == "user_tab_not_shared"
        assert "side panel" in error.message
    error = (await start(server, "get_selected_text", {"resourceId": "user_tab_chat-1_7"})).error
    assert error.type == "user_tab_not_shared"


@pytest.mark.slow
async def test_tab_of_one_session_is_nothing_to_another_and_two_browsers_answer_for_their_own(
    server: ServerClient,
    new_key: Any,
    connected: Any,
) -> None:
    home, work = await new_key(server, "home"), await new_key(server, "work")
    async with connected(server, home) as one, connected(server, work) as other:
        await one.hello("home-1")
        await other.hello("work-1")
        await one.share("s1", "chat-1")
        await other.share("s1", "chat-2", "https://mail.example/", "Mail")
        assert (await start(server, session_id="chat-3")).error.type == "user_tab_not_shared"
        first, second = start(server, session_id="chat-1"), start(server, session_id="chat-2")
        asked_one, asked_other = await one.next("call"), await other.next("call")
        await one.answer(asked_other, {**FILLED, "summary": "stolen"})  # no call of its own: dropped
        await other.answer(asked_other, {**FILLED, "summary": "of work"})
        await one.answer(asked_one, {**FILLED, "summary": "of home"})
        assert (await first).result.data["summary"] == "of home"
        assert (await second).result.data["summary"] == "of work"
        async with server.get("/api/modules/user_tabs/state") as answer:
            assert (await answer.json())["counts"] == {"late_or_unknown_results": 1}


@pytest.mark.parametrize(
    ("said", "error_type"),
    [
        ("interrupted", "interrupted"),
        ("permission_needed", "user_tab_forbidden"),
        ("page_gone", "user_tab_moved"),
        ("of_its_own", "user_tab_failed"),
    ],
)
async def test_what_went_wrong_in_the_browser_is_said(
    server: ServerClient, new_key: Any, connected: Any, said: str, error_type: str
) -> None:
    async with connected(server, await new_key(server)) as browser:
        await browser.hello()
        await browser.share()
        call = start(server)
        await browser.fail(await browser.next("call"), said, "the page says no")
        assert (await call).error.type == error_type


async def test_failed_tool_and_answers_in_another_form_are_errors(
    server: ServerClient, new_key: Any, connected: Any
) -> None:
    async with connected(server, await new_key(server)) as browser:
        await browser.hello()
        await browser.share()
        for given in (
            {"success": False, "error": "No such page."},
            {"success": True},
            {"success": "yes", "results": 1},
        ):
            call = start(server)
            await browser.answer(await browser.next("call"), given)
            assert (await call).error.type == "user_tab_failed"


async def test_call_that_takes_too_long_or_is_cancelled_is_taken_back(
    server: ServerClient, new_key: Any, connected: Any
) -> None:
    async with connected(server, await new_key(server)) as browser:
        await browser.hello()
        await browser.share()
        late = start(server, arguments={**FILL, "timeoutMs": 100})
        asked = await browser.next("call")
        assert (await late).error.type == "user_tab_timeout"
        assert (await browser.next("cancel"))["callId"] == asked["callId"]
        await browser.answer(asked, FILLED)  # late: dropped
        ended = start(server)
        asked = await browser.next("call")
        async with server.post(f"/api/calls/{asked['callId']}/cancel") as answer:
            assert answer.status == 200
        assert (await ended).error.type == "cancelled"
        assert (await browser.next("cancel"))["callId"] == asked["callId"]


@pytest.mark.more
async def test_call_waits_for_a_browser_that_comes_back_and_is_given_to_it_again(
    server: ServerClient, new_key: Any, connected: Any
) -> None:
    key = await new_key(server)
    async with connected(server, key) as before:
        await before.hello()
        resource_id = await before.share()
        call = start(server)
        asked = await before.next("call")
    await _until(lambda: server.running.host.resources.get(resource_id).status == "starting")
    async with connected(server, key) as after:
        await after.hello(shares=[{"shareId": "s1", "sessionId": "chat-1", "url": SHOP, "title": "Shop"}])
        assert (await after.next("shared"))["resourceId"] == resource_id
        assert (await after.next("call"))["callId"] == asked["callId"]
        await after.answer(asked, FILLED)
        assert (await call).result.data["success"] is True


async def test_result_of_before_a_break_comes_with_hello(server: ServerClient, new_key: Any, connected: Any) -> None:
    key = await new_key(server)
    async with connected(server, key) as before:
        await before.hello()
        await before.share()
        call = start(server)
        asked = await before.next("call")
    async with connected(server, key) as after:
        result = {"callId": asked["callId"], "ok": True, "result": FILLED}
        offer = {"shareId": "s1", "sessionId": "chat-1", "url": SHOP}
        await after.hello(shares=[offer], results=[result])
        assert (await call).result.data["success"] is True
        await after.send(type="ping")
        await after.next("pong")
        assert not [message for message in after.seen if message["type"] == "call"]


async def test_tab_ends_by_click_by_the_page_by_the_chat_and_by_the_key(
    server: ServerClient, new_key: Any, connected: Any
) -> None:
    async with connected(server, await new_key(server)) as browser:
        await browser.hello()
        ids = [await browser.share(f"s{number}", f"chat-{number}") for number in range(4)]
        waits = start(server, session_id="chat-0")
        await browser.next("call")
        await browser.send(type="unshare", shareId="s0")
        assert (await waits).error.type == "user_tab_not_shared"
        error = (await start(server, arguments={**FILL, "resourceId": ids[0]}, session_id="chat-0")).error
        assert "the person has ended it" in error.message
        async with server.delete(f"/api/resources/{ids[1]}") as answer:
            assert answer.status == 200
        assert (await browser.next("ended"))["shareId"] == "s1"
        server.running.host.events.publish("session.deleted", {}, session_id="chat-2")
        assert (await browser.next("ended"))["shareId"] == "s2"
        async with server.delete("/api/approvers/laptop") as answer:
            assert answer.status == 200
        await _until(lambda: not server.running.host.resources.list(resource_type="user_tab"))
        assert (await start(server, session_id="chat-3")).error.type == "user_tab_not_shared"


@pytest.mark.parametrize(
    "message",
    [
        "{",
        "[]",
        '{"type":"dance"}',
        '{"type":"share","shareId":"s1","sessionId":"chat-1","url":"file:///etc/passwd"}',
        '{"type":"share","shareId":"s 1","sessionId":"chat-1","url":"https://a.example"}',
        '{"type":"share","shareId":"s1","sessionId":"chat-1","url":"https://a.example","more":1}',
        '{"type":"update","shareId":"nobodys"}',
        '{"type":"result","callId":"c1","ok":true,"error":{"type":"x","message":"y"}}',
    ],
)
async def test_message_that_is_wrong_is_refused_and_the_next_one_is_taken(
    server: ServerClient, new_key: Any, connected: Any, message: str
) -> None:
    async with connected(server, await new_key(server)) as browser:
        await browser.hello()
        await browser.socket.send_str(message)
        refused = await browser.next("refused")
        assert refused["error"]["type"] in {"invalid_message", "share_not_found"}
        await browser.share()


async def test_conversation_begins_with_hello_in_a_version_that_both_speak(
    server: ServerClient, new_key: Any, connected: Any
) -> None:
    key = await new_key(server)
    async with connected(server, key) as browser:
        await browser.send(type="ping")
        assert (await browser.next("refused"))["error"]["type"] == "invalid_message"
        assert (await browser.socket.receive()).type is aiohttp.WSMsgType.CLOSE
    async with connected(server, key) as browser:
        await browser.send(type="hello", version=2, instance="laptop-1")
        assert (await browser.next("refused"))["error"]["type"] == "unsupported_version"
        assert (await browser.socket.receive()).type is aiohttp.WSMsgType.CLOSE


async def test_one_browser_shares_few_tabs_and_has_one_connection(
    server: ServerClient, new_key: Any, connected: Any
) -> None:
    key = await new_key(server)
    async with connected(server, key) as older:
        await older.hello()
        for number in range(8):
            await older.share(f"s{number}")
        await older.send(type="share", shareId="s8", sessionId="chat-1", url=SHOP)
        assert (await older.next("refused"))["error"]["type"] == "too_many_shares"
        await older.send(type="share", shareId="s1", sessionId="chat-2", url=SHOP)
        assert (await older.next("refused"))["error"]["type"] == "share_exists"
        async with connected(server, key) as newer:
            await newer.hello(shares=[{"shareId": "s3", "sessionId": "chat-1", "url": SHOP}])
            closed = await older.socket.receive()
            assert (closed.type, older.socket.close_code) == (aiohttp.WSMsgType.CLOSE, 4001)
            assert [shown["resourceId"] for shown in await resources(server)] == ["user_tab_chat-1_3"]


async def test_only_a_key_for_tabs_opens_the_socket(server: ServerClient, new_key: Any, connected: Any) -> None:
    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        async with connected(server, await new_key(server, "chatter", "chat")):
            pass
    assert refused.value.status == 403
    async with server.ws_connect("/api/user-tabs/socket", protocols=("agentcore",)) as socket:  # the API token
        closed = await socket.receive()
        assert (closed.type, socket.close_code) == (aiohttp.WSMsgType.CLOSE, 1008)


async def test_picture_of_a_tab_is_taken_when_it_is_asked_for(
    server: ServerClient, new_key: Any, connected: Any
) -> None:
    async with connected(server, await new_key(server)) as browser:
        await browser.hello()
        resource_id = await browser.share()

        async def take(given: dict[str, Any]) -> tuple[int, Any]:
            async with asyncio.TaskGroup() as group:
                asking = group.create_task(_get(server, f"/api/modules/user_tabs/tabs/{resource_id}/picture"))
                asked = await browser.next("call")
                assert asked["tool"] == "screenshot"
                await browser.answer(asked, given)
            return asking.result()

        picture = {"mime": "image/png", "takenAt": 1_700_000_000_000, "base64": "iVBORw0KGgo="}
        assert await take(picture) == (200, picture)
        assert (await take({"mime": "text/html", "base64": "x"}))[1]["error"]["type"] == "user_tab_failed"


async def _get(server: ServerClient, path: str) -> tuple[int, Any]:
    async with server.get(path) as answer:
        return answer.status, await answer.json()


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(LIMIT_S):
        while not condition():
            await asyncio.sleep(0.01)
