"""What the card of a call says: why it failed, what a command writes while it runs, what it means rather than JSON."""

import asyncio
import json
import os

import pytest
from playwright.async_api import expect

from agentcore.api import CallPreview, Module, ToolContext, ToolError, tool
from tests.webui.approval.pressing import press

pytestmark = pytest.mark.spec("W3")

ALLOW = {"approvals": {"mode": "allow"}}
LONG = "".join(f"line {number}\n" for number in range(1, 121))


async def test_reason_of_a_failure_stands_in_the_first_line_of_its_card(open_chat, tmp_path):
    chat = await open_chat("fs_tools", config=ALLOW, roots=[tmp_path])
    chat.provider.say("", ("a", "read_file", '{"path": "nowhere.txt"}'))
    chat.provider.say("It is not there.")
    await chat.say("read")
    await expect(chat.shown.get_by_text("It is not there.")).to_be_visible()
    head = chat.card.get_by_role("button", name="read_file")
    await expect(head.locator(".reason")).to_contain_text("nowhere.txt")
    await expect(head).to_contain_text("failed")


class Picky(Module):
    """Fails with a long explanation."""

    name = "picky"

    @tool(read_only=True)
    async def pick(self) -> str:
        """Fail, and say at the end what helps."""
        reason = "The thing that you asked for is not of the kind that can be picked here. " * 4
        raise ToolError("not_picked", f"{reason}\nWash it first.")


@pytest.mark.more
async def test_sentence_that_helps_is_not_cut_off_a_long_error(open_chat):
    chat = await open_chat(Picky(), config=ALLOW)
    chat.provider.say("", ("a", "pick", "{}"))
    chat.provider.say("Not now.")
    await chat.say("pick")
    await expect(chat.shown.get_by_text("Not now.")).to_be_visible()
    reason = chat.card.locator(".reason")
    await expect(reason).to_contain_text("Wash it first.")
    cut = await reason.evaluate(
        "(line) => [line.scrollWidth - line.clientWidth, line.scrollHeight - line.clientHeight]"
    )
    assert max(cut) <= 1


@pytest.mark.more
async def test_command_shows_what_it_writes_as_it_writes_it_and_its_exit_code(open_chat, tmp_path):
    """Two lines while it runs, also after a reload in the middle; the rest and the code once it is let go."""
    os.mkfifo(tmp_path / "gate")
    chat = await open_chat("shell_tools", config=ALLOW, roots=[tmp_path])
    command = "echo first; echo second; read line < gate; echo third; exit 3"
    chat.provider.say("", ("a", "bash", json.dumps({"command": command})))
    chat.provider.say("It ended.")
    await chat.say("run")
    await expect(chat.card.locator("ac-output pre")).to_be_visible()
    await expect(chat.card.locator("ac-output pre")).to_contain_text("first\nsecond")
    await expect(chat.card.get_by_role("button", name="bash")).to_contain_text("echo first")
    await chat.page.reload()
    await expect(chat.card.locator("ac-output pre")).to_contain_text("second")
    (tmp_path / "gate").write_text("go\n")
    await expect(chat.shown.get_by_text("It ended.")).to_be_visible()
    await expect(chat.card.locator("ac-output pre")).to_contain_text("third")
    head = chat.card.get_by_role("button", name="bash")
    await expect(head).to_contain_text("exit code 3")
    await head.click()
    await expect(chat.card.get_by_role("region", name="Command")).to_contain_text("read line < gate")
    await expect(chat.card.locator("ac-json-tree")).to_have_count(0)
    await chat.card.get_by_text("As JSON").click()
    await expect(chat.card.locator("ac-json-tree").first).to_contain_text("exit_code")


@pytest.mark.more
async def test_files_and_things_to_do_are_shown_as_what_they_mean(open_chat, tmp_path):
    """A write as added lines with numbers, an edit as a difference, what is read with its lines, todos as a list."""
    (tmp_path / "notes.txt").write_text(LONG)
    chat = await open_chat("fs_tools", "agent_tools", config=ALLOW, roots=[tmp_path])
    todos = [{"id": "1", "content": "look", "status": "completed"}, {"id": "2", "content": "mend", "status": "pending"}]
    steps = (
        ("write_file", {"path": "new.py", "content": "def one():\n    return 1\n"}),
        ("edit", {"path": "notes.txt", "edits": [{"old": "line 2\n", "new": "second\n"}]}),
        ("read_file", {"path": "notes.txt", "offset": 3, "limit": 40}),
        ("todo_write", {"todos": todos}),
    )
    for number, (name, arguments) in enumerate(steps):
        chat.provider.say("", (f"call-{number}", name, json.dumps(arguments)))
    chat.provider.say("All done.")
    await chat.say("work")
    await expect(chat.shown.get_by_text("All done.")).to_be_visible()
    cards = chat.page.locator("ac-call-card")
    for number, (name, _) in enumerate(steps):
        head = cards.nth(number).get_by_role("button", name=name)
        if await head.get_attribute("aria-expanded") == "false":
            await head.click()
    write, edit, read, plan = (cards.nth(number) for number in range(4))
    await expect(write.locator("tr.added .text")).to_have_text(["def one():", "    return 1"])
    await expect(write.locator("tr.added .n").nth(1)).to_have_text("1")
    await expect(edit.locator("tr.removed .text")).to_have_text("line 2")
    await expect(edit.locator("tr.added .text")).to_have_text("second")
    await expect(edit.locator("ac-diff")).to_have_count(1)
    await expect(read.get_by_role("button", name="read_file")).to_contain_text("notes.txt · lines 3–42")
    await expect(plan.get_by_role("button", name="todo_write")).to_contain_text("1 of 2 done")
    await expect(plan.get_by_role("listitem")).to_have_text(["look – done", "mend – to do"])
    await expect(chat.page.locator("ac-call-card ac-json-tree")).to_have_count(0)


@pytest.mark.more
async def test_long_code_folds_and_copy_takes_all_of_it(open_chat, tmp_path):
    (tmp_path / "notes.txt").write_text(LONG)
    chat = await open_chat("fs_tools", config=ALLOW, roots=[tmp_path])
    await chat.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    chat.provider.say("", ("a", "read_file", '{"path": "notes.txt"}'))
    chat.provider.say(f"This is it:\n\n```text\n{LONG}```")
    await chat.say("read")
    await chat.until_idle()
    answer = chat.messages.last
    await expect(answer.get_by_role("button", name="Show all 120 lines")).to_be_visible()
    await expect(answer.get_by_text("line 1\n")).to_be_visible()
    await answer.get_by_role("button", name="Copy code").click()
    assert await chat.page.evaluate("navigator.clipboard.readText()") == LONG.rstrip("\n")
    code = answer.locator("pre").first
    folded = await code.evaluate("(code) => code.clientHeight")
    await answer.get_by_role("button", name="Show all 120 lines").click()
    assert await code.evaluate("(code) => code.clientHeight") > folded
    await chat.card.get_by_role("button", name="read_file").click()
    await expect(chat.card.get_by_text("line 30", exact=False).first).to_be_visible()
    await expect(chat.card.get_by_text("line 120")).to_have_count(0)
    await chat.card.get_by_role("button", name="Show all 120 lines").click()
    await expect(chat.card.get_by_text("line 120")).to_have_count(1)


NODES = """(card) => {
    const count = (root) => [...root.querySelectorAll('*')].reduce((sum, one) => sum + 1 + (one.shadowRoot ? count(one.shadowRoot) : 0), 0);
    return count(card.shadowRoot);
}"""  # noqa: E501
CHARACTERS = "(texts) => texts.reduce((sum, {textContent}) => sum + textContent.length, 0)"


class Flood(Module):
    """Writes more than anybody reads."""

    name = "flood"

    def __init__(self) -> None:
        self.release = asyncio.Event()

    @tool(effects=["read"])
    async def flood_out(self, ctx: ToolContext) -> str:
        """Write 100,000 lines, and give them all."""
        lines = [f"{number} green bottles\n" for number in range(100_000)]
        for at in range(0, len(lines), 10_000):
            ctx.show_output("".join(lines[at : at + 10_000]))
        await self.release.wait()
        return "".join(lines)


@pytest.mark.more
async def test_hundred_thousand_lines_are_few_nodes_and_little_text_in_the_document(open_chat):
    """While they come, the last 200; of the result, which is kept as an artifact, its beginning."""
    flood = Flood()
    chat = await open_chat(flood, config=ALLOW)
    chat.provider.say("", ("a", "flood_out", "{}"))
    chat.provider.say("That was it.")
    await chat.say("go")
    written = chat.card.locator("ac-output pre")
    await expect(written).to_contain_text("99999 green bottles")
    assert await written.evaluate("(pre) => pre.textContent.split('\\n').length") <= 201
    flood.release.set()
    await expect(chat.shown.get_by_text("That was it.")).to_be_visible()
    await chat.card.locator(".head").click()
    await expect(chat.card.locator("ac-artifact")).to_be_visible()
    assert await chat.card.evaluate(NODES) < 400
    assert await chat.card.locator("pre").evaluate_all(CHARACTERS) < 50_000


class Garden(Module):
    """Plants."""

    name = "garden"

    def _words(self, ctx: ToolContext, arguments):
        return CallPreview(words="\n".join(f"Water the {step['plant']}" for step in arguments["steps"]))

    @tool(preview=_words)
    async def garden_work(self, steps: list[dict[str, str]]) -> str:
        """Work in the garden."""
        return "done"

    @tool
    async def garden_plan(self, steps: list[dict[str, str]]) -> str:
        """Plan the work."""
        return "planned"


STEPS = [{"do": "water", "plant": plant} for plant in ("rose", "fern", "oak", "moss", "lily", "mint")]


@pytest.mark.more
async def test_call_is_told_in_the_words_of_its_tool_and_its_json_is_folded_away(open_chat):
    """Where it is decided, in its card when it has ended, and after a reload."""
    chat = await open_chat(Garden)
    await chat.log_in_to_approve()
    chat.provider.say("", ("a", "garden_work", json.dumps({"steps": STEPS})))
    chat.provider.say("All are watered.")
    await chat.say("water them")
    asked = chat.decision.get_by_role("article", name="garden_work")
    await expect(asked.get_by_role("listitem")).to_have_text([f"Water the {step['plant']}" for step in STEPS])
    await expect(asked.get_by_text('"rose"')).to_be_hidden()
    head = chat.card.get_by_role("button", name="garden_work")
    await expect(head.get_by_text("Water the rose")).to_have_count(0)  # it stands below, whole
    await press(chat.decision.get_by_role("button", name="Approve: garden_work"))
    await expect(chat.shown.get_by_text("All are watered.")).to_be_visible()
    for _ in range(2):  # and after a reload
        await expect(head.locator(".brief > span")).to_have_text(
            ["Water the rose", "Water the fern", "Water the oak", "Water the moss", "… and 2 more steps"]
        )
        await head.click()
        await expect(chat.card.get_by_role("listitem")).to_have_text([f"Water the {step['plant']}" for step in STEPS])
        await expect(chat.card.locator("ac-json-tree")).to_have_count(0)
        await chat.page.reload()


@pytest.mark.more
async def test_steps_of_a_tool_without_words_are_shown_without_the_signs_of_json(open_chat):
    chat = await open_chat(Garden, config=ALLOW)
    chat.provider.say("", ("a", "garden_plan", json.dumps({"steps": STEPS[:2]})))
    chat.provider.say("It is planned.")
    await chat.say("plan it")
    await expect(chat.shown.get_by_text("It is planned.")).to_be_visible()
    head = chat.card.get_by_role("button", name="garden_plan")
    await expect(head.locator(".brief > span")).to_have_text(["water · rose", "water · fern"])
