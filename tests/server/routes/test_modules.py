"""`/api/modules`: their state, and turning them on and off, in app.json as well as in the host."""

import asyncio
import json

import pytest

from agentcore.api import Module

GREET = '''
from agentcore.api import Module, ToolContext, tool

class Greet(Module):
    """Says hello."""

    @tool(read_only=True)
    async def greet(self, ctx: ToolContext) -> str:
        """Say hello."""
        return "hello"
'''
BROKEN = 'raise RuntimeError("no such library")'


@pytest.fixture
async def server(make_server):
    return await make_server(files={"greet": GREET, "broken": BROKEN}, app={"modules": ["greet"]})


def listed(server) -> list[str]:
    return json.loads(server.host.config.file.read_text())["modules"]


@pytest.mark.spec("M1")
async def test_listed_and_installed_modules_are_shown(server):
    _, answer = await server.get("/api/modules")
    shown = {module["name"]: module for module in answer["modules"]}
    assert (shown["greet"]["state"], shown["greet"]["listed"], shown["greet"]["tools"]) == ("ready", True, ["greet"])
    assert (shown["broken"]["state"], shown["broken"]["listed"]) == ("stopped", False)
    assert shown["greet"]["file"].endswith("greet.py")


@pytest.mark.spec("M4")
async def test_module_is_disabled_and_enabled_in_app_json_too(server):
    status, shown = await server.post("/api/modules/greet/disable")
    assert (status, shown["state"], shown["listed"], listed(server)) == (200, "stopped", False, [])
    assert (await server.call("greet"))["ok"] is False
    status, shown = await server.post("/api/modules/greet/enable")
    assert (status, shown["state"], shown["listed"]) == (200, "ready", True)
    assert (await server.call("greet"))["ok"]
    assert json.loads(server.host.config.file.read_text()) == {"server": {"port": 0}, "modules": ["greet"]}


@pytest.mark.spec("M4")
@pytest.mark.spec("M6")
async def test_module_that_cannot_start_is_listed_with_its_reason(server):
    status, shown = await server.post("/api/modules/broken/enable")
    assert (status, shown["state"]) == (200, "failed")
    assert "no such library" in shown["reason"]
    assert listed(server) == ["greet", "broken"]


async def test_module_is_reloaded_with_its_code_of_now(server):
    file = server.host.config.modules_folder / "greet.py"
    file.write_text(GREET.replace('return "hello"', 'return "good evening"'))
    status, shown = await server.post("/api/modules/greet/reload")
    assert (status, shown["state"]) == (200, "ready")
    assert (await server.call("greet"))["content"][0]["text"] == "good evening"


@pytest.mark.parametrize("action", ["", "/enable", "/disable", "/reload"])
async def test_unknown_module_is_a_404_and_does_not_get_into_app_json(server, action):
    path = f"/api/modules/nothing{action}"
    status, answer = await (server.post(path) if action else server.get(path))
    assert (status, answer["error"]["type"]) == (404, "module_not_found")
    assert listed(server) == ["greet"]


async def test_app_json_that_cannot_be_written_changes_nothing(server):
    server.host.config.file.write_text("{ broken")
    status, answer = await server.post("/api/modules/greet/disable")
    assert (status, answer["error"]["type"]) == (409, "config_not_written")
    assert server.host.modules.get("greet").state == "ready"


@pytest.mark.spec("K5")
async def test_list_that_the_environment_gives_is_read_only(make_server):
    server = await make_server(files={"greet": GREET}, environ={"AGENTCORE_MODULES": '["greet"]'})
    status, answer = await server.post("/api/modules/greet/disable")
    assert (status, answer["error"]["type"]) == (409, "setting_read_only")
    assert "AGENTCORE_MODULES" in answer["error"]["message"]


async def test_changes_at_the_same_time_do_not_lose_each_other(server):
    async with asyncio.TaskGroup() as group:
        group.create_task(server.post("/api/modules/broken/enable"))
        group.create_task(server.post("/api/modules/greet/disable"))
    assert listed(server) == ["broken"]


@pytest.mark.spec("K9")
async def test_argument_that_no_model_is_shown_is_among_the_problems(make_server):
    class Given(Module):
        """Has a plain definition with a name that providers refuse."""

        name = "given"

        def get_tool_definitions(self):
            properties = {"$filter": {"type": "string"}, "top": {"type": "integer"}}
            return [
                {"name": "look", "description": "Look.", "parameters": {"type": "object", "properties": properties}}
            ]

    server = await make_server(Given(), app={"modules": []})
    _, shown = await server.get("/api/modules/given")
    [problem] = shown["problems"]
    assert problem.startswith("tool 'look': the optional argument '$filter' is not shown to the model: its name")
    assert (await server.call("look", {"$filter": "x"}))["error"]["type"] != "invalid_arguments"


async def test_module_given_as_an_object_stays_out_of_app_json(make_server):
    class Given(Module):
        """Handed over."""

        name = "given"

    server = await make_server(Given(), app={"modules": []})
    assert (await server.get("/api/modules/given"))[1]["listed"]
    await server.post("/api/modules/given/disable")
    status, shown = await server.post("/api/modules/given/enable")
    assert (status, shown["state"], listed(server)) == (200, "ready", [])
