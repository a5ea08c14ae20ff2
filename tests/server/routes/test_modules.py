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


SERVER = {"files": {"greet": GREET, "broken": BROKEN}, "app": {"modules": ["greet"]}}


def listed(bare_server) -> list[str]:
    return json.loads(bare_server.host.config.file.read_text())["modules"]


@pytest.mark.spec("M1")
async def test_listed_and_installed_modules_are_shown(bare_server):
    _, answer = await bare_server.get("/api/modules")
    shown = {module["name"]: module for module in answer["modules"]}
    assert (shown["greet"]["state"], shown["greet"]["listed"], shown["greet"]["tools"]) == ("ready", True, ["greet"])
    assert (shown["broken"]["state"], shown["broken"]["listed"]) == ("stopped", False)
    assert shown["greet"]["file"].endswith("greet.py")


@pytest.mark.spec("M4")
async def test_module_is_disabled_and_enabled_in_app_json_too(bare_server):
    status, shown = await bare_server.post("/api/modules/greet/disable")
    assert (status, shown["state"], shown["listed"], listed(bare_server)) == (200, "stopped", False, [])
    assert (await bare_server.call("greet"))["ok"] is False
    status, shown = await bare_server.post("/api/modules/greet/enable")
    assert (status, shown["state"], shown["listed"]) == (200, "ready", True)
    assert (await bare_server.call("greet"))["ok"]
    assert json.loads(bare_server.host.config.file.read_text()) == {"server": {"port": 0}, "modules": ["greet"]}


@pytest.mark.spec("M4")
@pytest.mark.spec("M6")
async def test_module_that_cannot_start_is_listed_with_its_reason(bare_server):
    status, shown = await bare_server.post("/api/modules/broken/enable")
    assert (status, shown["state"]) == (200, "failed")
    assert "no such library" in shown["reason"]
    assert listed(bare_server) == ["greet", "broken"]


async def test_module_is_reloaded_with_its_code_of_now(bare_server):
    file = bare_server.host.config.modules_folder / "greet.py"
    file.write_text(GREET.replace('return "hello"', 'return "good evening"'))
    status, shown = await bare_server.post("/api/modules/greet/reload")
    assert (status, shown["state"]) == (200, "ready")
    assert (await bare_server.call("greet"))["content"][0]["text"] == "good evening"


@pytest.mark.parametrize("action", ["", "/enable", "/disable", "/reload"])
async def test_unknown_module_is_a_404_and_does_not_get_into_app_json(bare_server, action):
    path = f"/api/modules/nothing{action}"
    status, answer = await (bare_server.post(path) if action else bare_server.get(path))
    assert (status, answer["error"]["type"]) == (404, "module_not_found")
    assert listed(bare_server) == ["greet"]


async def test_app_json_that_cannot_be_written_changes_nothing(bare_server):
    bare_server.host.config.file.write_text("{ broken")
    status, answer = await bare_server.post("/api/modules/greet/disable")
    assert (status, answer["error"]["type"]) == (409, "config_not_written")
    assert bare_server.host.modules.get_record("greet").state == "ready"


@pytest.mark.spec("K5")
async def test_list_that_the_environment_gives_is_read_only(make_server):
    bare_server = await make_server(files={"greet": GREET}, environ={"AGENTCORE_MODULES": '["greet"]'})
    status, answer = await bare_server.post("/api/modules/greet/disable")
    assert (status, answer["error"]["type"]) == (409, "setting_read_only")
    assert "AGENTCORE_MODULES" in answer["error"]["message"]


async def test_changes_at_the_same_time_do_not_lose_each_other(bare_server):
    async with asyncio.TaskGroup() as group:
        group.create_task(bare_server.post("/api/modules/broken/enable"))
        group.create_task(bare_server.post("/api/modules/greet/disable"))
    assert listed(bare_server) == ["broken"]


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

    bare_server = await make_server(Given(), app={"modules": []})
    _, shown = await bare_server.get("/api/modules/given")
    [problem] = shown["problems"]
    assert problem.startswith("tool 'look': the optional argument '$filter' is not shown to the model: its name")
    assert (await bare_server.call("look", {"$filter": "x"}))["error"]["type"] != "invalid_arguments"


async def test_module_given_as_an_object_stays_out_of_app_json(make_server):
    class Given(Module):
        """Handed over."""

        name = "given"

    bare_server = await make_server(Given(), app={"modules": []})
    assert (await bare_server.get("/api/modules/given"))[1]["listed"]
    await bare_server.post("/api/modules/given/disable")
    status, shown = await bare_server.post("/api/modules/given/enable")
    assert (status, shown["state"], listed(bare_server)) == (200, "ready", [])
