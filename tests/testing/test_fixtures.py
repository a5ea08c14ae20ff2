"""The fixtures that authors of modules use, used as they would."""

from typing import TypedDict

import pytest

from agentcore.api import CallPreview, Module, SecretStr, ToolContext, ToolError, ToolResult, tool
from agentcore.api.tool_context import Principal
from agentcore.testing import ModuleNotReadyError


class Weather(Module):
    """Weather look-ups."""

    class Settings(Module.Settings):
        unit: str = "C"
        api_key: SecretStr = SecretStr("none")

    @tool(read_only=True)
    async def weather_now(self, ctx: ToolContext, city: str) -> dict[str, str]:
        """Current weather in a city."""
        if city == "Atlantis":
            raise ToolError("city_not_found", f"no city named {city!r}", city=city)
        ctx.progress(0.5, "asking")
        return {"city": city, "unit": self.settings.unit}

    def look(self, ctx: ToolContext, arguments: dict) -> CallPreview:
        return CallPreview(paths=("station.json",), is_protected=True)

    @tool(effects=["write"], preview=look)
    def weather_station(self, name: str) -> str:
        """Name the station."""
        return f"named {name}"


class Count(TypedDict):
    count: int


class Unchecked(Module):
    """Runs its tools by itself, and so without the check of what they give."""

    @tool
    def count(self) -> ToolResult[Count]:
        """Count."""

    async def execute_tool_call(self, ctx, tool_name, args):
        return ToolResult("Counted.", {"count": "many"})


class Broken(Module):
    """It never gets ready."""

    def init(self, runtime):
        raise RuntimeError("no network")


@pytest.mark.spec("M2")
async def test_tool_of_a_module_class_is_called_through_the_host(agentcore_host):
    host = await agentcore_host(modules=[Weather])
    result = await host.call("weather_now", city="Bonn")
    assert result.data == {"city": "Bonn", "unit": "C"}
    assert host.host.modules.get_record("weather").state == "ready"


@pytest.mark.spec("M5")
async def test_data_that_are_not_as_the_output_schema_says_fail_the_test(agentcore_host):
    host = await agentcore_host(modules=[Unchecked])
    with pytest.raises(AssertionError, match=r"data of count are not as its output schema says.*'path': 'count'"):
        await host.call("count")


@pytest.mark.spec("M3")
async def test_settings_come_from_the_config_of_the_test(agentcore_host):
    host = await agentcore_host(modules=[Weather()], config={"config": {"weather": {"unit": "F"}}})
    assert (await host.call("weather_now", city="Bonn")).data["unit"] == "F"


async def test_settings_come_from_the_environment_of_the_test(agentcore_host):
    host = await agentcore_host(modules=[Weather()], environ={"AGENTCORE_CONFIG__WEATHER__UNIT": "K"})
    assert (await host.call("weather_now", city="Bonn")).data["unit"] == "K"


@pytest.mark.spec("M6")
async def test_error_of_a_tool_is_raised(agentcore_host):
    host = await agentcore_host(modules=[Weather()])
    with pytest.raises(ToolError, match="Atlantis") as caught:
        await host.call("weather_now", city="Atlantis")
    assert caught.value.type == "city_not_found"


async def test_roots_are_those_of_the_test(agentcore_host, tmp_path):
    host = await agentcore_host(roots=[tmp_path])
    assert host.workspace == tmp_path.resolve()


async def test_two_hosts_of_one_test_have_each_their_own_state(agentcore_host):
    one, other = await agentcore_host(modules=[Weather()]), await agentcore_host(modules=[Weather()])
    assert one.host.state.path != other.host.state.path


async def test_events_are_recorded(agentcore_host):
    host = await agentcore_host(modules=[Weather()])
    outcome = await host.outcome("weather_now", {"city": "Bonn"})
    finished = await host.events.wait_for("call.finished", callId=outcome.call_id)
    assert finished["outcome"] == "ok"
    assert host.events.of("call.progress")[0]["message"] == "asking"
    assert host.events.types.index("call.started") < host.events.types.index("call.finished")


async def test_waiting_for_an_event_that_never_comes_ends(agentcore_host):
    host = await agentcore_host()
    with pytest.raises(TimeoutError):
        await host.events.wait_for("call.finished", timeout_s=0.01)


@pytest.mark.spec("S2")
@pytest.mark.parametrize("approve", [True, False])
async def test_approval_is_answered_as_the_test_wants(agentcore_host, approve):
    host = await agentcore_host(modules=[Weather()])
    host.answer_approvals(approve=approve)
    outcome = await host.outcome("weather_station", {"name": "north"})
    assert outcome.ok is approve
    assert [request.arguments for request in host.asked] == [{"name": "north"}]


@pytest.mark.spec("K3")
async def test_calls_of_a_model_need_approval(agentcore_host):
    host = await agentcore_host(modules=[Weather()])
    outcome = await host.outcome("weather_now", {"city": "Bonn"}, principal=Principal("chat", "1"))
    assert outcome.error is not None
    assert outcome.error.type == "approval_required"


async def test_module_that_does_not_start_fails_the_test_with_its_traceback(agentcore_host):
    with pytest.raises(ModuleNotReadyError, match="no network"):
        await agentcore_host(modules=[Broken()])


async def test_failure_that_is_expected_can_be_looked_at(agentcore_host):
    host = await agentcore_host(modules=[Broken()], is_failure_expected=True)
    assert host.host.modules.get_record("broken").state == "failed"
    assert "no network" in host.problems()[0]


@pytest.mark.spec("M5")
async def test_same_call_goes_over_http(agentcore_client):
    client = await agentcore_client(modules=[Weather()])
    response = await client.post("/api/tools/weather_now/call", json={"arguments": {"city": "Bonn"}})
    assert response.status == 200
    assert (await response.json())["data"] == {"city": "Bonn", "unit": "C"}
    assert client.running.events.of("call.finished")[0]["tool"] == "weather_now"


@pytest.mark.spec("S1")
async def test_request_without_the_token_is_refused(agentcore_client):
    client = await agentcore_client()
    response = await client.get("/api/tools", headers={"Authorization": "Bearer wrong"})
    assert response.status == 401
