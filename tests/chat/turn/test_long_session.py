"""Five hundred messages with results of 100 kB in 32,000 tokens; a server killed while a session is shortened."""

import asyncio
import json
import re

import pytest

from tests.chat.crashing import LIMIT_S, answered, post, served
from tests.chat.turn.shelf import ALLOW, Shelf, check_pairs, is_summing_up, size_of, told_in, within
from tests.support.provider import Reply

pytestmark = [pytest.mark.spec("K9"), pytest.mark.more]

LIMIT = 32_000
PAGES = 250
WANTED = 3


class Reader:
    """A model that decides only by what it is told: it reads every page, then looks again at what an early one said.

    It knows of a page what stands in front of it; of what was shortened, the call by which it is read. A summary of
    its own keeps these calls for the pages that the task names.
    """

    def __init__(self) -> None:
        self.summaries = 0

    def play(self, asked):
        check_pairs(asked)
        told = "\n".join(str(each) for each in told_in(asked))
        artifact = re.search(rf"page {WANTED} → (art_[0-9a-f]+)", told)
        if is_summing_up(asked):
            self.summaries += 1
            return Reply(self._summary(told, artifact))
        if secret := re.search(rf"the secret of page {WANTED} is (\d+)", told.rpartition("That was all.")[2]):
            return Reply(f"It is {secret[1]}.")
        sent = json.dumps(asked["messages"]).replace("\\", "")
        numbers = [int(number) for number in re.findall(r'"number": ?(\d+)', sent)]
        read = max([*numbers, *(int(number) for number in re.findall(r"read up to page (\d+)", told))], default=0)
        if read < PAGES:
            return Reply("", [(f"c{read}", "shelf_read", json.dumps({"number": read + 1}))])
        assert artifact is not None, "the page that is asked about is not known any more"
        return Reply("That was all.", [("find", "shelf_find", json.dumps({"id": artifact[1], "word": "secret"}))])

    def _summary(self, told, artifact):
        if artifact is None:
            after_call = re.split(rf'calls shelf_read {{"number": ?{WANTED}}}', told)[-1]
            artifact = re.search(r"(art_[0-9a-f]+)", after_call)
        read = max(int(number) for number in re.findall(r'"number": ?(\d+)|$', told) if number)
        return f"Pages were read up to page {read}. page {WANTED} → {artifact[1]}"


async def test_five_hundred_messages_stay_within_a_context_and_the_task_ends(open_talk, provider):
    reader = Reader()
    provider.script = within(LIMIT, reader.play)
    agents = {"default": {"max_steps": 1000, "max_tokens": 1_000_000_000}}
    async with open_talk(Shelf(100_000), model={"context_tokens": LIMIT}, agents=agents, **ALLOW) as talk:
        session_id = await talk.begin()
        task = f"Read pages 1 to {PAGES}, then tell me the secret of page {WANTED}."
        finished = asyncio.Event()
        talk.host.events.subscribe("session.finished", lambda event: finished.set())
        await talk.ask("POST", f"/api/sessions/{session_id}/messages", {"text": task}, status=202)
        async with asyncio.timeout(600):
            await finished.wait()
        told = await talk.host.store.chats.load_context_messages(session_id)
        rows = await talk.host.store.chats.load_history(session_id)
        (last,) = (await talk.ask("GET", f"/api/sessions/{session_id}/messages?limit=1"))["items"]
    assert last["text"] == f"It is {WANTED * 7919}."
    assert max(map(size_of, provider.requests)) <= LIMIT
    assert reader.summaries
    assert all(task in str(asked["messages"]) for asked in provider.requests if not is_summing_up(asked))
    # what was said is all there, and what the model is told has not grown
    assert sum(row.kind == "said" for row in rows) >= 2 * PAGES
    assert sum(len(each.message) for each in told) < 200_000


MODULE = '''
from agentcore.api import Module, ToolContext, tool

class Reader(Module):
    """Reads."""

    @tool(read_only=True, open_world=False)
    async def reader_page(self, ctx: ToolContext, number: int) -> str:
        """Read a page."""
        return f"page {number}" + " and a word" * 800
'''


async def test_server_that_is_killed_while_a_session_is_shortened_goes_on_with_it(tmp_path, provider):
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "reader.py").write_text(MODULE)
    model = {"provider": "openai", "base_url": f"{provider.url}/v1", "max_retries": 0, "context_tokens": 3500}
    document = {"modules": ["reader"], "models": {"m": model}, "approvals": {"mode": "allow", "api_token": True}}
    (tmp_path / "app.json").write_text(json.dumps(document))
    pages, gate, reached = iter(range(1, 18)), asyncio.Event(), asyncio.Event()

    def play(asked):
        check_pairs(asked)
        if is_summing_up(asked):
            reached.set()
            return Reply("Summed up.", gate=None if gate.is_set() else gate)
        number = next(pages, None)
        return Reply("Done.") if number is None else Reply("", [("c", "reader_page", json.dumps({"number": number}))])

    provider.script = play
    async with served(tmp_path) as (process, address):
        sent = asyncio.create_task(post(address, "Read all pages."))
        async with asyncio.timeout(LIMIT_S):
            await reached.wait()
        process.kill()
        await asyncio.wait({sent})
        sent.exception()
    gate.set()
    async with served(tmp_path) as (_, address):
        items = await answered(address, "Done.")
    assert items[0]["text"] == "Read all pages."
    assert any(item.get("compaction", {}).get("summary") == "Summed up." for item in items)
