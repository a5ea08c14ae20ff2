"""Which host a call goes to, over HTTP: modules of other machines are real ones in a host of their own."""

import asyncio

import pytest

from agentcore.api import Module, tool
from agentcore.api.tool_context import Principal
from agentcore.cli.terminal.call_dialogue import CallDialogue
from agentcore.core.approvals.request import Verdict
from agentcore.core.calls.call import CallRequest
from agentcore.core.modules.module_record import ModuleRecord, Offer
from agentcore.server.page.approval_view import waiting_call as as_shown
from agentcore.testing.hosting import PERSON
from tests.machines import Machine, agentcore, joined, text_of

HOST = {"modules": ["lab"]}

pytestmark = pytest.mark.spec("H3")


class Plain(Module):
    """What only the server has."""

    name = "plain"

    @tool(read_only=True)
    async def only_here(self) -> str:
        """Say hello."""
        return "hello"


async def call(client, tool, arguments=None, **body):
    async with client.post(f"/api/tools/{tool}/call", json={"arguments": arguments or {}, **body}) as response:
        assert response.status == 200, await response.text()
        return await response.json()


async def said(client, tool, arguments=None, **body):
    envelope = await call(client, tool, arguments, **body)
    assert envelope["ok"], envelope
    return envelope["content"][0]["text"]


async def error(client, tool, arguments=None, **body):
    return (await call(client, tool, arguments, **body))["error"]


async def last_call(client):
    async with client.get("/api/calls?limit=1") as response:
        return (await response.json())["calls"][0]


async def test_call_goes_to_the_host_that_is_chosen_and_else_to_the_server(agentcore_client, tmp_path):
    client = await agentcore_client([Machine(), Plain()])
    async with joined(client.running.host, "laptop", tmp_path), joined(client.running.host, "farm", tmp_path):
        assert await said(client, "where") == "server"
        assert await said(client, "where", host="laptop") == "laptop"
        assert (await last_call(client))["module"] == "laptop/machine"
        assert await said(client, "where", host="farm") == "farm"
        elsewhere = await error(client, "only_here", host="laptop")
        assert (elsewhere["type"], elsewhere["context"]["on"]) == ("tool_not_on_host", ["server"])
        assert (await error(client, "where", host="phone"))["type"] == "host_not_found"


async def test_tool_that_the_server_has_not_is_that_of_the_first_host_by_name(agentcore_client, tmp_path):
    client = await agentcore_client([Plain()])
    async with joined(client.running.host, "laptop", tmp_path), joined(client.running.host, "farm", tmp_path) as farm:
        assert await said(client, "where") == "farm"
        farm.go()
        assert await said(client, "where") == "laptop"


async def test_list_of_tools_is_as_it_is_seen_from_a_host(agentcore_client, tmp_path):
    client = await agentcore_client([Machine(), Plain()])

    async def modules_of(query=""):
        async with client.get(f"/api/tools{query}") as response:
            assert response.status == 200, await response.text()
            return {tool["name"]: (tool["module"], tool.get("host")) for tool in (await response.json())["tools"]}

    async with joined(client.running.host, "laptop", tmp_path) as laptop:
        assert (await modules_of())["where"] == ("machine", None)
        seen = await modules_of("?host=laptop")
        assert (seen["where"], seen["only_here"]) == (("laptop/machine", "laptop"), ("plain", None))
        laptop.go()
        assert "where" not in await modules_of("?host=laptop")
    async with client.get("/api/tools?host=phone") as response:
        assert (await response.json())["error"]["type"] == "host_not_found"


async def test_what_a_host_has_runs_nowhere_else_while_it_is_away(agentcore_client, tmp_path):
    """Not even where the server has a tool of the same name."""
    server = Machine()
    client = await agentcore_client([server, Plain()])
    async with joined(client.running.host, "laptop", tmp_path) as laptop:
        laptop.go()
        away = await error(client, "where", host="laptop")
        assert (away["type"], away["retryable"]) == ("host_away", True)
        assert server.ran == []
        assert (await error(client, "only_here", host="laptop"))["type"] == "tool_not_on_host"
        client.running.host.registry.absent["laptop"] = frozenset()
        client.running.host.registry.rebuild()
        # of a host of which nothing is known, nothing is done on another machine
        assert (await error(client, "only_here", host="laptop"))["type"] == "host_away"


async def test_tool_of_a_module_that_is_down_is_not_had_of_the_server(agentcore_client, tmp_path):
    client = await agentcore_client([Machine()])
    registry = client.running.host.registry
    async with joined(client.running.host, "laptop", tmp_path):
        registry.hosted["laptop/machine"].fail("it ended")
        registry.rebuild()
        assert (await error(client, "where", host="laptop"))["type"] == "module_failed"
        registry.hosted["laptop/machine"] = ModuleRecord("laptop/machine", "laptop")
        registry.rebuild()
        assert (await error(client, "where", host="laptop"))["type"] == "module_stopping"


async def test_tool_that_waits_for_a_person_is_not_had_of_the_server(agentcore_client, tmp_path):
    client = await agentcore_client([Machine()])
    registry = client.running.host.registry
    async with joined(client.running.host, "laptop", tmp_path):
        record = registry.hosted["laptop/machine"]
        record.publish_offer(Offer(withheld=record.tools))
        registry.rebuild()
        assert (await error(client, "where", host="laptop"))["type"] == "definition_waits"
        assert await said(client, "where") == "server"


async def test_calls_from_inside_go_to_the_host_of_the_module_that_makes_them(agentcore_client, tmp_path):
    client = await agentcore_client([Machine()])
    async with joined(client.running.host, "laptop", tmp_path):
        assert await said(client, "ask_on", host="laptop") == "laptop"
        assert await said(client, "ask_on") == "server"


async def test_calls_from_inside_of_a_server_tool_go_to_the_server_and_it_runs_on_no_host(agentcore_client, tmp_path):
    class Asking(Module):
        """Asks on."""

        name = "asking"

        @tool(read_only=True)
        async def ask_around(self, ctx) -> str:
            """Ask where `where` is."""
            return text_of(await ctx.call("where", {}))

    client = await agentcore_client([Machine(), Asking()])
    async with joined(client.running.host, "laptop", tmp_path):
        assert await said(client, "ask_around") == "server"
        assert (await error(client, "ask_around", host="laptop"))["type"] == "tool_not_on_host"


async def test_resource_decides_before_everything_else(agentcore_client, tmp_path):
    """One that a call makes is made on its host; a call that names one goes there, and to no other host beside it."""
    client = await agentcore_client([Machine()])
    async with joined(client.running.host, "laptop", tmp_path):
        there = await call(client, "thing_use", session_id="s1", host="laptop")
        here = await call(client, "thing_use", session_id="s1")
        assert [each["content"][0]["text"] for each in (there, here)] == [
            "thing_s1_0 on laptop",
            "thing_s1_1 on server",
        ]
        assert await said(client, "thing_use", {"resourceId": "thing_s1_0"}, session_id="s1") == "thing_s1_0 on laptop"
        assert await said(client, "thing_use", session_id="s1", resource_id="thing_s1_0") == "thing_s1_0 on laptop"
        named = {"resourceId": "thing_s1_1"}
        assert await said(client, "thing_use", named, session_id="s1") == "thing_s1_1 on server"
        both = await error(client, "thing_use", named, session_id="s1", host="laptop")
        assert both["type"] == "invalid_arguments"
        assert "is on the server, and the call names host 'laptop'" in both["message"]
        # the session's first one is that of the host
        assert await said(client, "thing_use", session_id="s1") == "thing_s1_1 on server"
        assert await said(client, "thing_use", session_id="s1", host="laptop") == "thing_s1_0 on laptop"


async def test_resource_on_a_host_without_the_tool_says_so(agentcore_client, tmp_path):
    client = await agentcore_client([Machine()])
    host = client.running.host
    async with joined(host, "laptop", tmp_path), joined(host, "farm", tmp_path, Plain()):
        host.resources.create("farm/plain", "thing", "s1")
        told = await error(client, "thing_use", session_id="s1", resource_id="thing_s1_0")
    assert (told["type"], told["context"]["on"]) == ("tool_not_on_host", ["server", "laptop"])
    assert "'farm', which has no tool 'thing_use'" in told["message"]


async def test_resource_of_a_host_that_is_away_is_used_nowhere_else(agentcore_client, tmp_path):
    server = Machine()
    client = await agentcore_client([server])
    async with joined(client.running.host, "laptop", tmp_path) as laptop:
        await call(client, "thing_use", session_id="s1", host="laptop")
        laptop.go()
        assert (await error(client, "thing_use", session_id="s1", resource_id="thing_s1_0"))["type"] == "host_away"
        assert server.ran == []


async def test_models_cannot_reach_another_session_by_its_resource(agentcore_host, tmp_path):
    """Where a resource is that a model may not see, it is not told either."""
    running = await agentcore_host([Machine()])
    async with joined(running.host, "farm", tmp_path, Plain()):
        running.host.resources.create("farm/plain", "thing", "other")
        outcome = await running.outcome(
            "thing_use", {"resourceId": "thing_other_0"}, principal=Principal("chat", "s1"), session_id="s1"
        )
    assert outcome.error is not None
    assert outcome.error.type == "resource_not_found"
    assert "farm" not in outcome.error.message


WAITS = {"approvals": {"mode": "ask", "rules": [{"decision": "ask", "tool": "put"}]}}


async def waiting_call(client):
    """The first call that waits, as the approval view has it."""
    host = client.running.host
    async with asyncio.timeout(10):
        while not host.approvals.waiting:
            await asyncio.sleep(0.01)
    return as_shown(host.approvals.waiting[0], host.registry, host.places, {})


async def test_approval_names_the_host_and_counts_for_no_other(agentcore_client, tmp_path):
    server, there = Machine(), Machine("laptop")
    client = await agentcore_client([server], config=WAITS)
    host = client.running.host
    async with joined(host, "laptop", tmp_path, there):
        asked = await error(client, "put", {"text": "x"}, host="laptop")
        assert asked["type"] == "approval_required"
        shown = await waiting_call(client)
        assert (shown.host, shown.module, shown.preview.paths) == ("laptop", "laptop/machine", ["/laptop/x"])
        call_id = asked["context"]["callId"]
        await host.approvals.decide_call(call_id, Verdict(True, "test"))
        refused = await error(client, "put", {"text": "x"}, call_id=call_id)
        assert refused["type"] == "approval_denied"
        assert "on the server now, and no longer on host 'laptop'" in refused["message"]
        assert server.ran == there.ran == []
        assert await said(client, "put", {"text": "x"}, call_id=call_id, host="laptop") == "x on laptop"


async def test_edited_call_stays_on_its_host(agentcore_client, tmp_path):
    there = Machine("laptop")
    client = await agentcore_client([Machine()], config=WAITS)
    host = client.running.host
    async with joined(host, "laptop", tmp_path, there):
        asked = await error(client, "put", {"text": "x"}, host="laptop")
        call_id = asked["context"]["callId"]
        edited = await host.call_review.edit_call(call_id, {"text": "y"})
        assert (edited.host, edited.preview.paths) == ("laptop", ("/laptop/y",))
        await host.approvals.decide_call(call_id, Verdict(True, "test", edited.digest))
        assert await said(client, "put", {"text": "x"}, call_id=call_id, host="laptop") == "y on laptop"


@pytest.mark.more
@pytest.mark.processes
async def test_commands_take_a_host_and_the_record_names_it(agentcore_client, tmp_path):
    client = await agentcore_client([Machine(), Plain()])
    async with joined(client.running.host, "laptop", tmp_path) as laptop:
        code, out, err = await agentcore(client, "call", "where", "--host", "laptop")
        assert (code, out.strip()) == (0, "laptop"), err
        code, out, _ = await agentcore(client, "tools", "--host", "laptop")
        assert (code, "laptop/machine" in out, "only_here" in out) == (0, True, True)
        call_id = (await last_call(client))["call_id"]
        code, out, _ = await agentcore(client, "audit", "show", call_id)
        assert (code, "host      laptop" in out) == (0, True), out
        laptop.go()
        code, _, err = await agentcore(client, "call", "where", "--host", "laptop")
        assert (code, "host_away" in err) == (1, True), err
        code, _, err = await agentcore(client, "tools", "--host", "phone")
        assert (code != 0, "no host 'phone'" in err) == (True, True)


async def test_terminal_says_on_which_machine_a_call_would_run(agentcore_host, tmp_path, capsys):
    running = await agentcore_host([Machine()], config=WAITS)
    running.answer_approvals(approve=False)
    async with joined(running.host, "laptop", tmp_path):
        await running.host.run_call(CallRequest("put", {"text": "x"}, PERSON, host="laptop"))
        (await CallDialogue.open(running.host, running.asked[0])).show()
    assert "runs on    host laptop, another machine" in capsys.readouterr().err
