"""The whole way: a wish of a person becomes files on the disk, over the page's routes and as the document shows it."""

import asyncio
import json
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
_CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def roots(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir(exist_ok=True)
    return {"workspace": {"roots": [str(folder)]}}


async def approve(talk, session_id):
    """Let the person approve what waits, and the turn go on until something waits or it ends."""
    async with talk.events(session_id) as events:
        session = await talk.ask("GET", f"/api/sessions/{session_id}")
        (tool_id,) = session["waiting"]
        answer = {
            "role": "function",
            "session_id": session_id,
            "message": json.dumps({"toolId": tool_id, "approved": True}),
        }
        key = await talk.host.store.client_keys.create_key(f"panel-{tool_id}", ["approve"])
        headers = {"Authorization": f"Bearer {key}"}
        async with talk.client.post("/api/v1/agent/chat", json=answer, headers=headers) as response:
            await response.read()
        await events.until("session.finished")


@pytest.mark.spec("C2")
async def test_every_todo_of_a_folder_is_written_into_a_file_with_approvals_and_a_restart_on_the_way(
    open_talk, provider, tmp_path
):
    config = roots(tmp_path)
    work = tmp_path / "work"
    (work / "a.py").write_text("x = 1  # TODO: name it\n")
    (work / "b.py").write_text("# TODO: write b\n")
    found = "a.py: name it\nb.py: write b\n"
    provider.say("I look. ", ("a", "glob", '{"pattern": "**/*.py"}'))
    provider.say("", ("b", "grep", '{"pattern": "TODO"}'))
    provider.say("", ("c", "read_file", '{"path": "a.py"}'))
    provider.say("", ("d", "write_file", json.dumps({"path": "TODO.md", "content": found})))
    provider.say("Done: two of them.")
    async with open_talk("fs_tools", **config) as talk:
        session_id = await talk.begin()
        await talk.say(session_id, "find every TODO in this folder and write them into TODO.md")
        await approve(talk, session_id)
        await approve(talk, session_id)
    async with open_talk("fs_tools", **config) as talk:
        await approve(talk, session_id)
        assert not (work / "TODO.md").exists()
        await approve(talk, session_id)
        items = await talk.items(session_id)
    assert (work / "TODO.md").read_text() == found
    calls = [call for item in items for call in item.get("calls", ())]
    assert [(call["toolName"], call["state"]) for call in calls] == [
        (name, "done") for name in ("glob", "grep", "read_file", "write_file")
    ]
    assert items[-1]["text"] == "Done: two of them."
    assert "name it" in json.dumps(provider.requests[2]["messages"])


@pytest.mark.spec("C2")
async def test_requests_of_the_chat_page_work_as_they_stand(open_talk, provider, tmp_path):
    """Each command is typed as it is shown; the first brings a client tool, the last approves with a paired key."""
    provider.say("Let me see. ", ("a", "page_title", "{}"))
    provider.say("I write it. ", ("b", "write_file", '{"path": "title.txt", "content": "Ducks"}'))
    provider.say("Written.")
    first, result, approval = commands(DOCS / "chat.md")
    async with open_talk("fs_tools", **roots(tmp_path)) as talk:
        environ = {
            "AGENTCORE_TOKEN": talk.host.state.token.get_secret_value(),
            "APPROVER_KEY": await talk.host.store.client_keys.create_key("curl", ["approve"]),
        }
        address = str(talk.client.make_url("/")).rstrip("/")
        asked = await typed(first, address, environ)
        written = await typed(result, address, environ)
        assert not (tmp_path / "work" / "title.txt").exists()
        end = await typed(approval, address, environ | {"TOOL_ID": written[-1]["waiting"][0]})
    assert [event["tool_call"]["kind"] for event in asked if "tool_call" in event] == ["client"]
    assert "Ducks" in json.dumps(provider.requests[1]["messages"])
    assert [event["tool_result"]["ok"] for event in end if "tool_result" in event] == [True]
    assert end[-1]["usage"]["requests"] == 1
    assert (tmp_path / "work" / "title.txt").read_text() == "Ducks"


def commands(page):
    consoles = "\n".join(_CONSOLE.findall(page.read_text())).replace("\\\n", " ")
    return [line.removeprefix("$ ") for line in consoles.splitlines() if line.startswith("$ curl ")]


async def typed(command, address, environ):
    """The events that answer a command."""
    process = await asyncio.create_subprocess_exec(
        *("bash", "-c", command.replace("http://127.0.0.1:8765", address)),
        env={"PATH": "/usr/bin:/bin", **environ},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    async with asyncio.timeout(60):
        said, _ = await process.communicate()
    return [json.loads(line[6:]) for line in said.decode().splitlines() if line.startswith("data: ")]
