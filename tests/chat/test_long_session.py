"""A long chat: two hundred turns, compactions, a restart, and a provider that fails in eight ways. All work is done."""

import json
import re

import pytest

from agentcore.api import Module, ToolContext, tool
from tests.support.provider import Reply

pytestmark = [pytest.mark.more, pytest.mark.spec("C5")]

TURNS = 200
WINDOW = 8192
REFUSED = {
    "error": {"message": "This model's maximum context length is 8192 tokens.", "code": "context_length_exceeded"}
}
FAILURES = {
    10: Reply(status=429, error={"error": {"message": "slow down"}}, headers={"Retry-After": "0"}),
    30: Reply(status=503, error={"error": {"message": "Loading model", "type": "unavailable_error", "code": 503}}),
    50: Reply("It begins, and", breaks=True),
    70: Reply("It begins, and", ends_early=True),
    90: Reply("It begins, and", error={"error": {"message": "overloaded", "type": "server_error"}}),
    110: Reply(status=502, html="<title>Bad gateway</title>"),
    130: Reply(status=400, error=REFUSED),
    150: Reply(""),
}
"""What the provider answers once, by the turn."""


class Ledger(Module):
    """Keeps entries."""

    name = "ledger"

    def __init__(self) -> None:
        self.entries: list[int] = []

    @tool(effects=["write"])
    async def ledger_add(self, ctx: ToolContext, entry: int) -> str:
        """Write an entry.

        Args:
            entry: Its number.
        """
        self.entries.append(entry)
        return f"Entry {entry} is written. " + "The page is ruled, dated and signed. " * 10


class Model:
    """Does what the last message of the user says, from what it is sent alone."""

    def __init__(self) -> None:
        self.failures = dict(FAILURES)
        self.summaries = 0
        self.largest = 0

    def answer(self, request):
        text = json.dumps(request["messages"])
        tokens = len(text) // 4
        self.largest = max(self.largest, tokens)
        if "Sum up the conversation below" in text:
            self.summaries += 1
            return Reply("The user has entries written, one in each message.", sent=tokens)
        said = [each for each in request["messages"] if each["role"] == "user"]
        entry = int(re.findall(r"Write entry (\d+)\.", json.dumps(said[-1]))[-1])
        if failure := self.failures.pop(entry, None):
            return failure
        is_done = any(each["role"] == "tool" for each in request["messages"][request["messages"].index(said[-1]) :])
        if is_done:
            return Reply(f"Entry {entry} is in the ledger.", sent=tokens)
        return Reply("", [(f"call_{entry}", "ledger_add", json.dumps({"entry": entry}))], sent=tokens)


async def write_entry(talk, session, entry, ledger):
    """One turn. Where it ended without its work, the answer is requested again, as the page offers it."""
    await talk.say(session, f"Write entry {entry}. " + "Use the good pen, and leave a margin. " * 5)
    if entry in ledger.entries:
        return True
    async with talk.events(session) as following:
        await talk.ask("POST", f"/api/sessions/{session}/retry", {}, status=202)
        await following.until("session.finished")
    return False


async def test_long_session_ends_with_all_its_work_done(open_talk, provider):
    ledger, model = Ledger(), Model()
    provider.script = model.answer
    options = {"model": {"context_tokens": WINDOW, "max_retries": 2}, "approvals": {"mode": "allow"}}
    session, again = "", []
    for entries in (range(1, TURNS // 2 + 1), range(TURNS // 2 + 1, TURNS + 1)):  # and a restart between them
        async with open_talk(ledger, **options) as talk:
            session = session or await talk.begin()
            again += [entry for entry in entries if not await write_entry(talk, session, entry, ledger)]
            items = await talk.items(session)
    assert ledger.entries == list(range(1, TURNS + 1))
    assert model.failures == {}
    assert again == [50, 70, 90, 150]  # the others are repeated by themselves: nothing had been shown yet
    assert model.summaries >= 3
    assert model.largest < WINDOW
    assert "Entry 200 is in the ledger." in json.dumps(items[-1])
