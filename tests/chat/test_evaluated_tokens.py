"""What a real model server evaluates anew in each turn: the rest of the request it has from the turn before."""

import pytest
from agentcore_agent_tools.module import AgentTools
from agentcore_fs_tools.module import FsTools
from agentcore_shell_tools.module import ShellTools
from agentcore_web_tools.module import WebTools

pytestmark = [pytest.mark.more, pytest.mark.usefixtures("start_llama")]

MESSAGES = ("Hello.", "What can you do?", "Which day is it?", "Thanks.")
_ANSWER_S = 300
"""A model that runs on the processor of a busy machine takes its time."""
NEW_IN_A_TURN = 120
"""The most tokens that a turn adds by itself: an answer of 12, a short message, the date, and marks of the template."""


def page(number):
    return {
        "url": f"https://shop.example/{number}",
        "title": f"Page {number}",
        "elements": [{"id": f"e{number}_{each}", "desc": f"button: choice {each}"} for each in range(10)],
    }


async def evaluated(open_talk, address, pages):
    """The tokens that are sent and that are evaluated in each turn of a chat with the bundled tools."""
    turns = []
    # this model's chat template ignores tool definitions, so the prompt describes the tools
    model = {"base_url": f"{address}/v1", "timeout_s": 600, "tools": "prompted"}
    async with open_talk(AgentTools(), FsTools(), ShellTools(), WebTools(), model=model) as talk:
        for number, message in enumerate(MESSAGES):
            given = {"current_page_info": page(number)} if pages else {}
            events = await talk.post(message, limit_s=_ANSWER_S, **given)
            errors = {event["error"]["type"] for event in events if "error" in event}
            assert errors <= {"answer_cut"}  # the server ends each answer early
            usage = events[-1]["usage"]
            turns.append((usage["input_tokens"], usage["input_tokens"] - usage.get("cached_tokens", 0)))
    return turns


@pytest.mark.parametrize("context", [2048, 8192])
async def test_turn_evaluates_only_what_is_new(open_talk, start_llama, context):
    (first, *later) = await evaluated(open_talk, start_llama(context), pages=False)
    assert first[0] < context
    assert max(fresh for _, fresh in later) <= NEW_IN_A_TURN


async def test_another_page_of_the_client_is_all_that_a_turn_evaluates_besides(open_talk, start_llama):
    _, *later = await evaluated(open_talk, start_llama(8192), pages=True)
    assert max(fresh for _, fresh in later) < 500
