"""Each plugin does its work in a process of its own. Tests of theirs run there, too, with `make test-isolated`."""

from typing import Any, NamedTuple

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from agentcore.api import ToolError


class Smoke(NamedTuple):
    """One call of a module, and words of its result; SITE is the address of a page."""

    modules: list[str]
    tool: str
    arguments: dict[str, Any]
    words: str


SMOKES = {
    "fs_tools": Smoke(["fs_tools"], "write_file", {"path": "a.txt", "content": "hello\n"}, "Created a.txt"),
    "agent_tools": Smoke(["agent_tools"], "memory", {"action": "save", "key": "a", "content": "hello"}, "a"),
    "shell_tools": Smoke(["shell_tools"], "bash", {"command": "echo hello"}, "hello"),
    "web_tools": Smoke(["web_tools"], "web_fetch", {"url": "SITE"}, "hello"),
    "chrome": Smoke(["chrome"], "chrome_list", {}, "browsers"),
    "browser": Smoke(["chrome", "browser"], "browser_navigate", {"url": "SITE"}, "Far away"),
}
SETTINGS = {
    "shell_tools": {"sandbox": "off"},
    "web_tools": {"allow_private": True},
    "chrome": {"allow_private": True},
}


@pytest.fixture
async def site():
    """The address of a page."""

    async def page(request):
        return web.Response(text="<title>Far away</title><p>hello", content_type="text/html")

    app = web.Application()
    app.router.add_get("/", page)
    async with TestServer(app, host="127.0.0.1") as server:
        yield str(server.make_url("/"))


@pytest.mark.parametrize(
    "name", [name if name == "fs_tools" else pytest.param(name, marks=pytest.mark.more) for name in SMOKES]
)
async def test_plugin_works_in_a_process_of_its_own(agentcore_host, site, name, request):
    smoke = SMOKES[name]
    if name == "browser":
        request.getfixturevalue("chromium")
    host = await agentcore_host(smoke.modules, config={"config": SETTINGS}, isolation="process")
    assert {record.placed.host_name for record in host.host.modules.records.values()} == {"isolated"}
    arguments = {key: site if value == "SITE" else value for key, value in smoke.arguments.items()}
    assert smoke.words in repr(await host.call(smoke.tool, **arguments))


@pytest.mark.more
@pytest.mark.parametrize(
    ("module", "tool", "arguments", "error"),
    [
        pytest.param(
            *("system_tools", "open_in_folder", {"path": "gone.txt"}, "path_not_found"), marks=pytest.mark.more
        ),
        ("user_tabs", "get_selected_text", {"resourceId": "user_tab_x_0"}, "user_tab_not_shared"),
    ],
)
async def test_plugin_says_there_what_it_cannot_do(agentcore_host, module, tool, arguments, error):
    host = await agentcore_host([module], isolation="process")
    with pytest.raises(ToolError) as caught:
        await host.call(tool, **arguments)
    assert caught.value.type == error


@pytest.mark.more
async def test_module_that_runs_scripts_in_the_page_stays_in_the_server(agentcore_host):
    host = await agentcore_host(["ui_page"], isolation="process", is_failure_expected=True)
    record = host.host.modules.records["ui_page"]
    assert record.state == "failed"
    assert "runs in the server only" in record.reason
