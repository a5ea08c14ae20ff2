"""What modules say of how they are just now."""

import asyncio

import pytest

from agentcore.api import Module, Report, ToolError
from agentcore.core.declarations.module_report import read_report
from agentcore.testing import HostFactory


class Weather(Module):
    """A module that reports."""

    name = "weather"

    def __init__(self, given=None):
        super().__init__()
        self.given = given

    async def init(self, runtime):
        """Give it."""

        async def read():
            return self.given

        runtime.give_report(read)


async def report_of(agentcore_host: HostFactory, given):
    host = await agentcore_host([Weather(given)])
    return await read_report(host.host.modules.get_record("weather").report, "weather")


async def test_a_report_is_read(agentcore_host):
    given = Report({"protocol": "7"}, "sunny\n", {"weather_now": "now"})
    assert await report_of(agentcore_host, given) == given


@pytest.mark.parametrize("given", [None, {"log": "x"}, Report(log=3), Report({"a": 3}), Report(log="x" * 70_000)])
async def test_what_is_no_report_is_refused_by_name(agentcore_host, given):
    with pytest.raises(ToolError) as caught:
        await report_of(agentcore_host, given)
    assert caught.value.type == "report_failed"
    assert "weather" in caught.value.message


async def test_a_module_that_stopped_reports_nothing(agentcore_host):
    host = await agentcore_host([Weather(Report(log="sunny"))])
    record = host.host.modules.get_record("weather")
    await host.host.modules.stop()
    assert await asyncio.wait_for(read_report(record.report, "weather"), 5) == Report()
