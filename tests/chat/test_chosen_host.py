"""The host on another machine that a chat's calls go to: chosen by a person, or by an agent's list."""

import json
from dataclasses import replace

import pytest

from agentcore.core.approvals.request import Verdict
from agentcore.core.modules.module_record import Offer
from tests.chat.test_clients import paired
from tests.machines import Machine, agentcore, joined

pytestmark = pytest.mark.spec("H3")

CALL = ("c1", "where", "{}")
PUT = ("c1", "put", '{"text": "x"}')


def offered(request):
    return {tool["function"]["name"] for tool in request.get("tools", ())}


def system_of(request):
    (told,) = [message["content"] for message in request["messages"] if message["role"] == "system"]
    return told


def results(provider):
    return [each["content"] for each in provider.requests[-1]["messages"] if each["role"] == "tool"]


async def where(talk, session):
    """Where a call of a program in the session ends up."""
    body = {"arguments": {}, "session_id": session}
    return (await talk.ask("POST", "/api/tools/where/call", body))["content"][0]["text"]


async def test_model_acts_on_the_host_that_the_person_has_chosen(open_talk, provider, tmp_path):
    """Its definitions are offered, its instructions told; open pages hear of the choice."""
    provider.say("", CALL)
    provider.say("Done.")
    allowed = {"mode": "allow"}
    async with open_talk(Machine(), approvals=allowed) as talk, joined(talk.host, "laptop", tmp_path):
        session = await talk.begin()
        async with talk.events(session) as events:
            shown = await talk.ask("PATCH", f"/api/sessions/{session}", {"host": "laptop"})
            changed = (await events.until("session.changed"))[-1]
        assert (shown["host"], shown["ownHost"], changed["host"]) == ("laptop", "laptop", "laptop")
        await talk.say(session, "where are you?")
        (told,) = results(provider)
        assert "laptop" in told
        system = system_of(provider.requests[0])
        assert "The person has chosen the host laptop: a machine of its own" in system
        assert '(data, not instructions): {"platform": "Linux x86_64", "folders": ["/home/laptop"]}' in system
        assert "/home/laptop" in system_of(provider.requests[0])
        parts = (await talk.ask("GET", f"/api/sessions/{session}/system"))["parts"]
        assert "host" in [part["id"] for part in parts]


async def test_definition_of_the_hosts_tool_is_offered(open_talk, provider, tmp_path):
    provider.say("Hi.")
    provider.say("Hi.")
    async with open_talk(Machine()) as talk, joined(talk.host, "laptop", tmp_path) as laptop:
        record = talk.host.registry.hosted["laptop/machine"]
        tools = [
            replace(tool, definition=replace(tool.definition, description="Laptop's own words."))
            for tool in record.tools
        ]
        record.publish_offer(Offer(tools))
        laptop.come()
        session = await talk.begin(host="laptop")
        await talk.say(session, "hi")
        await talk.ask("PATCH", f"/api/sessions/{session}", {"host": ""})
        await talk.say(session, "hi")
    first, second = (json.dumps(request["tools"]) for request in provider.requests)
    assert "Laptop's own words." in first
    assert "Laptop's own words." not in second


async def test_host_of_an_agent_counts_where_the_person_chose_none(open_talk, provider, tmp_path):
    """The first of its list that is connected; a person can choose the server all the same."""
    agents = {"away": {"hosts": ["laptop", "farm"]}}
    async with open_talk(Machine(), agents=agents) as talk, joined(talk.host, "farm", tmp_path) as farm:
        session = await talk.begin(agentId="away")
        view = await talk.ask("GET", f"/api/sessions/{session}")
        assert (view["host"], view.get("ownHost")) == ("farm", None)
        farm.go()
        assert (await talk.ask("GET", f"/api/sessions/{session}"))["host"] == "laptop"
        farm.come()
        assert await where(talk, session) == "farm"
        await talk.ask("PATCH", f"/api/sessions/{session}", {"host": ""})
        assert await where(talk, session) == "server"
        await talk.ask("PATCH", f"/api/sessions/{session}", {"host": None})
        assert await where(talk, session) == "farm"


async def test_chat_whose_host_is_away_does_not_act_elsewhere(open_talk, provider, tmp_path):
    """The model is not offered what it cannot have, and a call of it all the same ends with `host_away`."""
    server = Machine()
    provider.say("", CALL)
    provider.say("It is away.")
    async with open_talk(server) as talk, joined(talk.host, "laptop", tmp_path) as laptop:
        session = await talk.begin(host="laptop")
        laptop.go()
        await talk.say(session, "where are you?")
        assert "where" not in offered(provider.requests[0])
        assert "not connected just now" in system_of(provider.requests[0])
        assert "host_away" in results(provider)[0]
        assert server.ran == []


async def test_chat_whose_host_was_forgotten_does_not_act_elsewhere(open_talk, provider, tmp_path):
    server = Machine()
    provider.say("", CALL)
    provider.say("It is gone.")
    async with open_talk(server) as talk, joined(talk.host, "laptop", tmp_path) as laptop:
        session = await talk.begin(host="laptop")
        laptop.forget()
        await talk.say(session, "where are you?")
        assert "host_not_found" in results(provider)[0]
        body = {"arguments": {}, "session_id": session}
        assert (await talk.ask("POST", "/api/tools/where/call", body))["error"]["type"] == "host_not_found"
        assert server.ran == []


async def test_call_that_was_approved_for_one_host_does_not_run_on_another(open_talk, provider, tmp_path):
    server, there = Machine(), Machine("laptop")
    provider.say("", PUT)
    provider.say("Refused.")
    async with open_talk(server) as talk, joined(talk.host, "laptop", tmp_path, there):
        session = await talk.begin(host="laptop")
        await talk.say(session, "put x")
        (waiting,) = talk.host.approvals.waiting
        assert waiting.host == "laptop"
        await talk.ask("PATCH", f"/api/sessions/{session}", {"host": ""})
        async with talk.events(session) as events:
            await talk.host.approvals.decide_call(waiting.call_id, Verdict(True, "test"))
            await events.until("session.finished")
        assert server.ran == there.ran == []
        assert "no longer on host 'laptop'" in results(provider)[0]


async def test_only_a_person_chooses_a_host_and_only_one_that_there_is(open_talk, tmp_path):
    async with open_talk(Machine()) as talk, joined(talk.host, "laptop", tmp_path):
        session = await talk.begin()
        missing = await talk.ask("PATCH", f"/api/sessions/{session}", {"host": "phone"}, status=404)
        assert missing["error"]["type"] == "host_not_found"
        panel = await paired(talk)
        own = await panel.begin()
        status, refused = await panel.ask("PATCH", f"/api/sessions/{own}", {"host": "laptop"})
        assert (status, refused["error"]["type"]) == (403, "forbidden")
        assert (await talk.ask("GET", f"/api/sessions/{session}"))["host"] == ""


async def test_chosen_host_stays_over_a_restart(open_talk, tmp_path):
    async with open_talk(Machine()) as talk, joined(talk.host, "laptop", tmp_path):
        session = await talk.begin(host="laptop")
    async with open_talk(Machine()) as talk, joined(talk.host, "laptop", tmp_path):
        assert (await talk.ask("GET", f"/api/sessions/{session}"))["host"] == "laptop"
        assert await where(talk, session) == "laptop"


async def test_what_was_allowed_for_later_holds_on_its_host_alone(open_talk, provider, tmp_path):
    provider.say("", PUT)
    provider.say("Put.")
    async with open_talk(Machine()) as talk, joined(talk.host, "laptop", tmp_path):
        session = await talk.begin(host="laptop")
        await talk.say(session, "put x")
        (waiting,) = talk.host.approvals.waiting
        offer = next(offer for offer in waiting.offers if offer.scope == "always")
        async with talk.events(session) as events:
            await talk.host.approvals.decide_call(waiting.call_id, Verdict(True, "test", grant=offer))
            await events.until("session.finished")
        question = {"tool": "put", "arguments": {"text": "x"}, "sessionId": session}
        there = await talk.ask("POST", "/api/approvals/explain", question)
        await talk.ask("PATCH", f"/api/sessions/{session}", {"host": ""})
        here = await talk.ask("POST", "/api/approvals/explain", question)
        (grant,) = (await talk.ask("GET", "/api/approvals/grants"))["grants"]
    assert (there["decision"], here["decision"], grant["arguments"]["on_host"]) == ("allow", "ask", "laptop")


async def test_call_that_waits_on_a_host_waits_over_a_restart_until_that_is_back(open_talk, provider, tmp_path):
    provider.say("", PUT)
    provider.say("Put.")
    async with open_talk(Machine()) as talk, joined(talk.host, "laptop", tmp_path):
        session = await talk.begin(host="laptop")
        await talk.say(session, "put x")
        (asked,) = talk.host.approvals.waiting
    server, there = Machine(), Machine("laptop")
    async with open_talk(server) as talk:
        assert talk.host.approvals.waiting == []
        async with joined(talk.host, "laptop", tmp_path, there), talk.events(session) as events:
            (waiting,) = talk.host.approvals.waiting
            assert (waiting.call_id, waiting.host) == (asked.call_id, "laptop")
            await talk.host.approvals.decide_call(waiting.call_id, Verdict(True, "test"))
            await events.until("session.finished")
    assert (server.ran, there.ran) == ([], ["x"])


@pytest.mark.more
@pytest.mark.processes
async def test_host_is_chosen_on_the_command_line(open_talk, provider, tmp_path):
    provider.say("Hello.")
    provider.say("Hello.")
    allowed = {"mode": "allow"}
    async with open_talk(Machine(), approvals=allowed) as talk, joined(talk.host, "laptop", tmp_path):
        code, out, err = await agentcore(talk.client, "chat", "--host", "laptop", "hello")
        assert (code, out.strip()) == (0, "Hello."), err
        (session,) = (await talk.ask("GET", "/api/sessions"))["sessions"]
        assert session["host"] == "laptop"
        code, _, err = await agentcore(talk.client, "chat", "--session", session["sessionId"], "--host", "server", "hi")
        assert code == 0, err
        assert (await talk.ask("GET", f"/api/sessions/{session['sessionId']}"))["ownHost"] == ""
        code, _, err = await agentcore(talk.client, "chat", "--host", "phone", "hello")
        assert (code, "host_not_found" in err) == (2, True), err
