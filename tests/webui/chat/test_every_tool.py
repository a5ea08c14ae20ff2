"""One chat in the page uses every tool of the desktop set once, with all modules on."""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from playwright.async_api import expect

pytestmark = [pytest.mark.spec("P3"), pytest.mark.more]

MODULES = ("agent_tools", "browser", "fs_tools", "shell_tools", "system_tools", "web_tools")
DESKTOP = ("screenshot", "open_in_folder")
"""What needs a desktop: without one these say so."""

SITE = """<!doctype html><title>Garden</title><main><h1>Garden</h1>
<p>Tomatoes want sun, water and a stick to climb. Plant them in May, when the nights are mild, and tie them up twice a
week. Pick the first ones in July. Do not water the leaves.</p>
<form><label>Name <input id="name"></label><button type="button" onclick="document.title = 'Sown'">Sow</button></form>
<a href="/other">Other</a><div style="height: 3000px"></div></main>"""
FOUND = {"results": [{"title": "Tomatoes", "url": "https://example.org/", "content": "Sun."}]}


class Script:
    """What the model does, step by step; a step may look at what was told to it last.

    Stands in the place of the provider's list of replies.
    """

    def __init__(self, provider: Any, reply: Callable[..., Any], calls: Iterator[tuple[str, Any]]) -> None:
        self._provider, self._reply, self._calls, self.called = provider, reply, calls, list[str]()

    def pop(self, _: int) -> Any:
        request = self._provider.requests[-1]
        if "report back" in json.dumps(request["messages"][-1]):
            return self._reply("The sub-agent has looked.")
        call = next(self._calls, None)
        if call is None:
            return self._reply("All tools were used.")
        tool, arguments = call
        self.called.append(tool)
        given = arguments(request["messages"]) if callable(arguments) else arguments
        return self._reply("", ((f"id_{len(self.called)}", tool, json.dumps(given)),), split=4096)


def steps(site: str) -> Iterator[tuple[str, Any]]:
    """Every tool once, in an order in which each has something to work on."""
    yield "todo_write", {"todos": [{"id": "1", "content": "use every tool", "status": "in_progress"}]}
    yield "write_file", {"path": "notes.txt", "content": "Buy milk\n"}
    yield "read_file", {"path": "notes.txt"}
    yield "edit", {"path": "notes.txt", "edits": [{"old": "milk", "new": "bread"}]}
    yield "glob", {"pattern": "*.txt"}
    yield "grep", {"pattern": "bread"}
    yield "list_dir", {}
    yield "file_stat", {"path": "notes.txt"}
    yield "file_copy", {"source": "notes.txt", "destination": "copy.txt"}
    yield "file_move", {"source": "copy.txt", "destination": "moved.txt"}
    yield "file_delete", {"path": "moved.txt"}
    yield "bash", {"command": "echo started; sleep 60", "background": True}
    yield "bash_output", process_id
    yield "list_running", {}
    yield "bash_kill", process_id
    yield "web_fetch", {"url": f"{site}/"}
    yield "web_search", {"query": "tomatoes"}
    yield "screenshot", {}
    yield "open_in_folder", {"path": "notes.txt"}
    yield "memory", {"action": "save", "key": "garden", "content": "Tomatoes want sun"}
    yield "ask_user", {"question": "Which bed?", "options": ["left", "right"]}
    yield "task", {"prompt": "Look around, then report back.", "tools": ["list_dir"]}
    yield "browser_get_state", {}
    yield "browser_launch", {"headless": True}
    yield "browser_navigate", {"url": f"{site}/"}
    yield "browser_type", {"selector": "#name", "text": "Ann"}
    yield "browser_press_key", {"key": "Tab"}
    yield "browser_hover", {"selector": "button"}
    yield "browser_click", {"selector": "button"}
    yield "browser_wait_for", {"condition": "document.title === 'Sown'"}
    yield "browser_scroll", {"direction": "down"}
    yield "browser_get_dom", {"selector": "form"}
    yield "browser_evaluate", {"script": "document.querySelector('#name').value"}
    yield "browser_screenshot", {}
    yield "artifact", save_picture
    yield "browser_reload", {}
    yield "browser_go_back", {}
    yield "browser_go_forward", {}
    yield "compact", {"summary": "Every tool was used."}


def process_id(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """The process that was started, out of what the model was told."""
    (found,) = set(re.findall(r"terminal_\d+", json.dumps(messages)))
    return {"process_id": found}


def save_picture(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """The picture that was just taken, to be saved in the workspace."""
    return {"id": re.findall(r"art_[0-9a-f]{32}", json.dumps(messages))[-1], "action": "save", "path": "garden.png"}


async def serve_site() -> TestServer:
    async def page(_: web.Request) -> web.Response:
        return web.Response(text=SITE, content_type="text/html")

    async def search(_: web.Request) -> web.Response:
        return web.json_response(FOUND)

    app = web.Application()
    app.router.add_get("/", page)
    app.router.add_get("/search", search)
    server = TestServer(app, host="127.0.0.1")
    await server.start_server()
    return server


async def test_every_tool_is_used_once_in_one_chat(
    open_chat: Any, provider: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("dbus-daemon") is None:
        monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    site_server = await serve_site()
    site = str(site_server.make_url("")).rstrip("/")
    names = [name for name, _ in steps(site)]
    config = {
        "modules": ["agent_tools", "browser", "fs_tools", "shell_tools", "system_tools", "web_tools"],
        "agents": {"default": {"tools": names, "max_steps": 100}},
        "approvals": {"mode": "allow"},
        "config": {
            "chrome": {"allow_private": True, "extra_tools": False},
            "web_tools": {"allow_private": True, "search_provider": "searxng", "search_url": site},
        },
    }
    chat = await open_chat(*MODULES, config=config)
    registered = chat.ui.host.registry.tools
    for_models = {name for name, tool in registered.items() if tool.definition.served_as is None}
    assert for_models - {"pantry_add", "pantry_list"} == set(names)
    assert len(names) == 39
    script = Script(provider, type_of_reply(provider), steps(site))
    provider.replies = script
    await chat.say("Use every tool once.")
    question = chat.page.get_by_role("button", name="left", exact=True)
    await question.click(timeout=600_000)
    await expect(chat.shown).to_contain_text("All tools were used.", timeout=600_000)
    await site_server.close()
    assert script.called == names
    ended = await outcomes(chat)
    failed = {name: error for name, error in ended.items() if error is not None and name not in DESKTOP}
    assert failed == {}
    assert {ended[name] for name in DESKTOP} <= {None, "no_display", "open_failed"}
    assert set(ended) == set(names)


def type_of_reply(provider: Any) -> Callable[..., Any]:
    provider.say("")
    return type(provider.replies.pop())


async def outcomes(chat: Any) -> dict[str, str | None]:
    """Each tool that the model of the chat called, with the type of its error."""
    async with chat.ui.server.get("/api/calls?kind=call&limit=200") as answer:
        calls = (await answer.json())["calls"]
    return {
        call["tool"]: None if call["outcome"] == "ok" else call["outcome"]
        for call in reversed(calls)
        if call["principal_kind"] == "chat"
    }
