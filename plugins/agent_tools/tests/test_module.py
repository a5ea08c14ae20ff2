"""The tools in a chat: what the model calls, what the session keeps, what the person sees and answers."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from agentcore.api.tool_context import Principal
from agentcore.testing import HostFactory

pytestmark = pytest.mark.spec("P2")

Start = Callable[..., Awaitable[Any]]
LIST = [
    {"id": "1", "content": "look", "status": "completed"},
    {"id": "2", "content": "write", "status": "in_progress"},
]


async def test_list_of_things_to_do_is_kept_and_shown(start: Start, provider: Any) -> None:
    talk = await start()
    provider.answers += [("todo_write", {"todos": LIST}), "Planned."]
    (result,) = await talk.say("plan")
    assert result["data"] == {"todos": LIST, "completed": 1, "total": 2}
    assert (await talk.until("session.todos"))["todos"] == LIST
    async with talk.server.get(f"/api/sessions/{talk.session_id}") as answer:
        assert (await answer.json())["todos"] == LIST


async def test_list_needs_no_ids(start: Start, provider: Any) -> None:
    talk = await start()
    without = [{name: value for name, value in todo.items() if name != "id"} for todo in LIST]
    provider.answers += [("todo_write", {"todos": without}), "Planned."]
    (result,) = await talk.say("plan")
    assert result["data"]["todos"] == LIST


async def test_id_that_stands_twice_is_refused(start: Start, provider: Any) -> None:
    talk = await start()
    provider.answers += [("todo_write", {"todos": [LIST[0], LIST[0]]}), "Sorry."]
    (result,) = await talk.say("plan")
    assert result["error"]["type"] == "invalid_arguments"


@pytest.mark.spec("K2")
async def test_question_is_asked_of_the_person_without_an_approval_and_answered(start: Start, provider: Any) -> None:
    talk = await start({"mode": "ask", "rules": [{"decision": "ask"}]})
    provider.answers += [("ask_user", {"question": "Which?", "options": ["red", "blue"]}), "Red it is."]
    saying = asyncio.create_task(talk.say("paint"))
    question = (await talk.until("session.question"))["question"]
    assert (question["text"], question["options"]) == ("Which?", ["red", "blue"])
    body = {"questionId": question["questionId"], "text": "red"}
    async with talk.server.post(f"/api/sessions/{talk.session_id}/answer", json=body) as answer:
        assert answer.status == 202
    (result,) = await saying
    assert result["data"] == {"answer": "red", "isOption": True}


@pytest.mark.spec("K2")
@pytest.mark.parametrize("approvals", [{"mode": "deny"}, {"rules": [{"decision": "deny", "tool": "todo_write"}]}])
async def test_list_is_refused_where_nothing_may_run_and_by_a_rule_for_it(
    start: Start, provider: Any, approvals: dict[str, Any]
) -> None:
    talk = await start(approvals)
    provider.answers += [("todo_write", {"todos": LIST}), "Well."]
    (result,) = await talk.say("plan")
    assert result["error"]["type"] == "approval_denied"
    assert provider.requests[-1]["messages"][-1]["content"].startswith("Error approval_denied: the policy refuses")


async def test_question_that_nobody_answers_ends(start: Start, provider: Any) -> None:
    talk = await start()
    provider.answers += [("ask_user", {"question": "Which?", "timeoutMs": 1000}), "Nobody is there."]
    (result,) = await talk.say("paint")
    assert result["error"]["type"] == "no_person"


async def test_sub_agent_works_with_a_context_of_its_own_and_reports(start: Start, provider: Any) -> None:
    talk = await start()
    provider.answers += [
        ("task", {"prompt": "Remember tea", "tools": ["memory"]}),
        ("memory", {"action": "save", "key": "drink", "content": "tea"}),
        "It is saved.",
        "All done.",
    ]
    results = await talk.say("a secret of the session")
    task = next(result for result in results if result["tool_name"] == "task")
    assert task["data"] == {"report": "It is saved."}
    inner = provider.requests[1]
    assert "a secret of the session" not in json.dumps(inner)
    assert [tool["function"]["name"] for tool in inner["tools"]] == ["memory"]
    nested = [event for event in talk.events if event.get("thread")]
    assert nested


async def test_sub_agent_that_goes_on_too_long_reports_what_it_found(start: Start, provider: Any) -> None:
    talk = await start(task_steps=2)
    look = ("memory", {"action": "list"})
    provider.answers += [("task", {"prompt": "Look for ever"}), look, look, "It did not end.", "It is unfinished."]
    results = await talk.say("look")
    task = next(result for result in results if result["tool_name"] == "task")
    assert task["data"]["report"].startswith("[Unfinished: ")
    assert task["data"]["report"].endswith("It did not end.")


async def test_summary_takes_the_place_of_the_history(start: Start, provider: Any) -> None:
    talk = await start()
    provider.answers += ["One.", "Two."]
    await talk.say("first words")
    await talk.say("second words")
    provider.answers += [("compact", {"summary": "They said things.", "keep_turns": 1}), "Shorter now."]
    (result,) = await talk.say("make it short")
    assert result["data"]["replacedMessages"] == 4
    sent = json.dumps(provider.requests[-1])
    assert "They said things." in sent
    assert "One." not in sent
    assert "> first words" in sent
    assert "make it short" in sent


async def test_summary_is_written_from_the_history_when_none_is_given(start: Start, provider: Any) -> None:
    talk = await start()
    provider.answers += ["One."]
    await talk.say("first words")
    provider.answers += [("compact", {"keep_turns": 1}), "A written summary.", "Shorter now."]
    (result,) = [result for result in await talk.say("make it short") if result["tool_name"] == "compact"]
    assert result["data"]["summary"] == "A written summary."
    assert "One." in json.dumps(provider.requests[2])
    assert not provider.requests[2].get("tools")
    assert "One." not in json.dumps(provider.requests[-1])


@pytest.mark.more
@pytest.mark.in_server("the server lists what belongs to a session")
async def test_what_belongs_to_the_session_is_listed_also_after_its_history_is_gone(
    start: Start, provider: Any
) -> None:
    talk = await start(modules=["shell_tools"], others={"shell_tools": {"sandbox": "off"}})
    waits = {"command": "read line", "background": True}
    provider.answers += [("bash", waits), ("bash", {"command": "yes | head -n 20000"}), "Started."]
    await talk.say("start")
    provider.answers += [("compact", {"summary": "Nothing.", "keep_turns": 0}), "Short."]
    await talk.say("forget")
    provider.answers += [("list_running", {}), "That runs."]
    (result,) = [each for each in await talk.say("what runs?") if each["tool_name"] == "list_running"]
    (process,) = result["data"]["resources"]
    assert process == {
        "resourceId": f"terminal_{talk.session_id}_0",
        "shortId": "terminal_0",
        "resourceType": "terminal",
        "status": "busy",
        "title": "read line",
    }
    (artifact,) = result["data"]["artifacts"]
    assert artifact["artifactId"].startswith("art_")
    shown = provider.requests[-1]["messages"][-1]["content"]
    assert "terminal_0: busy, read line" in shown
    assert talk.session_id not in shown
    provider.answers += [("bash_kill", {"process_id": "terminal_0"}), "Ended."]
    (ended,) = await talk.say("end it")
    assert ended["data"]["was_running"]


@pytest.mark.in_server("the server lists what belongs to a session")
async def test_sub_agent_that_runs_is_listed(start: Start, provider: Any) -> None:
    talk = await start()
    provider.answers += [("task", {"prompt": "Look around"}), ("list_running", {}), "I run.", "Done."]
    results = await talk.say("delegate")
    (listed,) = [each for each in results if each["tool_name"] == "list_running"]
    assert [(each["depth"], each["prompt"]) for each in listed["data"]["subAgents"]] == [(1, "Look around")]
    provider.answers += [("list_running", {}), "Nothing."]
    (nothing,) = await talk.say("and now?")
    assert nothing["data"] == {"resources": [], "subAgents": [], "artifacts": []}


async def test_without_a_chat_the_tools_say_so(agentcore_host: HostFactory) -> None:
    host = await agentcore_host(modules=["agent_tools"])
    for tool, arguments, error_type in (
        ("todo_write", {"todos": []}, "no_session"),
        ("ask_user", {"question": "?"}, "no_person"),
        ("task", {"prompt": "x"}, "no_session"),
        ("compact", {}, "no_session"),
    ):
        outcome = await host.outcome(tool, arguments)
        assert outcome.error is not None
        assert outcome.error.type in {error_type, "no_session"}, tool


@pytest.mark.spec("K2")
async def test_nobody_is_asked_about_a_task_that_has_no_chat(agentcore_host: HostFactory) -> None:
    host = await agentcore_host(modules=["agent_tools"])
    host.answer_approvals(approve=True)
    outcome = await host.outcome("task", {"prompt": "x"}, principal=Principal("mcp", "a"), session_id="s")
    assert outcome.error is not None
    assert outcome.error.type == "no_session"
    assert host.asked == []
