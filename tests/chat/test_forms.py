"""Forms and texts that tools ask for in a chat: the person fills in field by field, the session's model writes."""

from agentcore.api import Module, ToolContext, tool

ALLOW = {"approvals": {"mode": "allow"}}
PARTY = {
    "type": "object",
    "properties": {
        "guests": {"type": "integer", "title": "How many guests", "minimum": 1},
        "drink": {"type": "string", "enum": ["tea", "coffee"]},
        "outside": {"type": "boolean", "description": "weather permitting"},
    },
    "required": ["guests"],
}


def of_type(events, event_type):
    return [event for event in events if event["type"] == event_type]


class Planner(Module):
    """Plans a party."""

    @tool(effects=["session"])
    async def planner_plan(self, ctx: ToolContext) -> dict:
        """Ask what it should be like."""
        return await ctx.ask("The party?", schema=PARTY)

    @tool(effects=["session"])
    async def planner_invite(self, ctx: ToolContext) -> str:
        """Have an invitation written."""
        return await ctx.sample("Invite Ann.", system="Be short.")


async def test_form_is_asked_for_field_by_field_and_a_wrong_answer_again(open_talk, provider):
    provider.say("", ("a", "planner_plan", "{}"))
    provider.say("Planned.")
    answers = iter(["many", "0", "12", "tea", "yes"])
    asked = []
    async with open_talk(Planner(), **ALLOW) as talk:
        session_id = await talk.begin()
        async with talk.events(session_id) as events:
            await talk.ask("POST", f"/api/sessions/{session_id}/messages", {"text": "plan"}, status=202)
            for answer in answers:
                question = None
                while question is None:
                    question = (await events.until("session.question"))[-1]["question"]
                asked.append((question["text"], question.get("options")))
                body = {"questionId": question["questionId"], "text": answer}
                await talk.ask("POST", f"/api/sessions/{session_id}/answer", body, status=202)
            rest = await events.until("session.finished")
    assert of_type(rest, "session.toolResult")[0]["tool_result"]["data"] == {
        "guests": 12,
        "drink": "tea",
        "outside": True,
    }
    assert [options for _, options in asked[-2:]] == [["tea", "coffee"], ["yes", "no"]]
    assert asked[0][0] == "The party?\n\nHow many guests"
    assert asked[1][0].endswith("must be a whole number, not 'many'")
    assert asked[2][0].endswith("must be at least 1")
    assert asked[-1][0].endswith("outside – weather permitting")


async def test_text_is_written_by_the_session_s_model_without_tools(open_talk, provider):
    provider.say("", ("a", "planner_invite", "{}"))
    provider.say("Dear Ann, come!")
    provider.say("Sent.")
    async with open_talk(Planner(), **ALLOW) as talk:
        events = await talk.say(await talk.begin(), "invite")
    assert of_type(events, "session.toolResult")[0]["tool_result"]["content"][0]["text"] == "Dear Ann, come!"
    _, written, _ = provider.requests
    assert "tools" not in written
    assert "Invite Ann." in str(written["messages"])


async def test_call_without_a_chat_has_no_model(open_talk):
    async with open_talk(Planner()) as talk:
        envelope = await talk.ask("POST", "/api/tools/planner_invite/call", {"arguments": {}})
    assert envelope["error"]["type"] == "no_model"
