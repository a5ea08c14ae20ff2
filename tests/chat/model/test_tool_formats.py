"""Forms of definitions, as the HTTP API gives them and as a chat sends them: the same, with what the provider takes."""

import dataclasses
import json
from typing import Annotated

import pytest

from agentcore.api import BaseModel, Field, Module, tool
from agentcore.chat.model.providers import PROVIDERS
from tests.chat.notes import TOKEN


class Stop(BaseModel):
    """A place on the way."""

    city: Annotated[str, Field(min_length=1, max_length=4000, pattern=r"^\S+$")]


class TripModule(Module):
    """A tool with all that some provider refuses."""

    name = "trip"

    @tool(read_only=True)
    def trip_plan(
        self, stops: Annotated[list[Stop], Field(max_length=5000)], note: str | None = None, days: int = 3
    ) -> dict:
        """Plan a trip.

        Args:
            stops: Where to.
            days: How long.
        """
        return {"stops": len(stops), "note": note, "days": days}


@pytest.mark.spec("K9", "C3")
@pytest.mark.parametrize(
    ("name", "model", "is_own_address"),
    [
        ("openai", {}, True),
        ("openai_strict", {"tools": "strict"}, True),
        ("openai_compatible", {}, False),
        ("anthropic", {"provider": "anthropic"}, True),
    ],
)
async def test_chat_sends_what_the_form_of_the_api_says(
    open_talk,
    provider,
    monkeypatch,
    name,
    model,
    is_own_address,
):
    if is_own_address:
        record = PROVIDERS[model.get("provider", "openai")]
        base_url = provider.url if "provider" in model else f"{provider.url}/v1"
        monkeypatch.setitem(PROVIDERS, record.name, dataclasses.replace(record, base_url=base_url))
    async with open_talk(TripModule, model=model) as talk:
        provider.say("Hello.")
        await talk.post()
        listed = (await talk.ask("GET", f"/api/tools?format={name}"))["tools"]
    sent = provider.requests[-1]["tools"]
    for each in sent:  # what the adapters add by themselves
        each.pop("strict", None) if "function" not in each else None
        each.pop("cache_control", None)
        if name in ("openai", "openai_compatible"):
            assert each["function"].pop("strict", False) is False
    assert sent == listed


@pytest.mark.spec("K9")
async def test_tool_keeps_what_it_checks_whatever_a_provider_was_told(open_talk):
    async with open_talk(TripModule) as talk:
        for form, key in (("gemini", "parameters"), ("mcp", "inputSchema")):
            [listed] = (await talk.ask("GET", f"/api/tools?format={form}"))["tools"]
            properties = listed[key]["properties"]
            assert properties["stops"]["items"]["properties"]["city"] == {"type": "string"}
            assert properties["note"] == {"type": "string"}
        for wrong in ({"city": "a b"}, {"city": "x" * 4001}):
            envelope = await talk.ask("POST", "/api/tools/trip_plan/call", {"arguments": {"stops": [wrong]}})
            assert envelope["error"]["type"] == "invalid_arguments"


@pytest.mark.spec("K9")
async def test_arguments_that_a_model_sent_in_another_shape_are_shown_approved_and_run_as_they_are_meant(
    open_talk, provider, calls_of
):
    """For a tool of the server and for one that the client runs."""
    pick = {"type": "object", "properties": {"ids": {"type": "array"}, "all": {"type": "boolean"}}}
    client_tools = [{"name": "pick", "description": "Pick.", "parameters": pick}]
    async with open_talk(TripModule, **TOKEN) as talk:
        provider.say(
            "",
            ("c1", "trip_plan", json.dumps({"stops": '[{"city": "Rome"}]', "days": None})),
            ("c2", "pick", json.dumps({"ids": "[1]", "all": None})),
        )
        events = await talk.post(browser_tools=client_tools)
        calls = calls_of(events)
        assert [json.loads(call["arguments"]) for call in calls] == [{"stops": [{"city": "Rome"}]}, {"ids": [1]}]
        await talk.post({"toolId": calls[1]["toolId"], "approved": False}, role="function")
        provider.say("Done.")
        events = await talk.approve(calls[0]["toolId"])
        [result] = [event["tool_result"] for event in events if "tool_result" in event]
        assert result["ok"]
        assert result["data"] == {"stops": 1, "note": None, "days": 3}
