"""One task in the real chat: the model behind the provider's address is whoever answers its requests.

What a model answered is kept as text in which what differs from run to run has a name: addresses, the workspace and
ids, and references of elements. So the same answers fit another run.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentcore.testing.hosting import HostPlan
from agentcore.testing.serving import running_server
from tests.support.provider import Reply, Talk, serve_provider
from tests.tasks.worlds import Task

MODULES = tuple(json.loads((Path(__file__).parents[2] / "app.json").read_text())["modules"])
CONTEXT_TOKENS = 200_000
TURN_S = 3600
_IDS = re.compile(r"art_[0-9a-f]{32}|s_[0-9a-f]{24}")
_ELEMENT = re.compile(r'([a-z]+(?: "(?:[^"\\\n]|\\.)*")?)[^"\n]*?\[ref=(e\d+)\]')
_RUN = re.compile(r"\[ref=e(\d+)\] to .*\(were e(\d+) to e(\d+)\)")
_NAMED_ELEMENT = re.compile(r"\{element (\d+): (.*)\}", re.DOTALL)
_OF_LONG_CHATS = {"Sum up the conversation below": "summary", "What the person said there": "after the summary"}
"""Names of conversations whose first messages tell of other ones, by a sign of them."""

Messages = list[dict[str, Any]]
Answer = dict[str, Any]
"""What a model answers: `text`, and `calls` with `name` and `arguments` each."""

Model = Callable[[str, Messages, list[dict[str, Any]], "Names"], Awaitable[Answer]]
"""Answers a request; gets the conversation's name, the messages, the definitions of the tools, and what it may name."""


@dataclass
class Names:
    """Names for what differs from run to run, which stand in recorded answers.

    Attributes:
        known: Addresses and folders by their names.
        ids: Artifacts and sessions that a model was told of, in their order.
        elements: Roles and names of elements by their references, which depend on what else a page shows.
    """

    known: dict[str, str]
    ids: list[str] = field(default_factory=list)
    elements: dict[str, str] = field(default_factory=dict)

    def learn(self, text: str) -> None:
        """Learn what a text for the model speaks of."""
        for found in _IDS.findall(text):
            if found not in self.ids:
                self.ids.append(found)
        for label, ref in _ELEMENT.findall(text):
            self.elements[ref] = label
        for first, before, last in _RUN.findall(text):
            # neighbours of one kind that were made anew: each has the place of the one before
            for number, old in enumerate(range(int(before), int(last) + 1)):
                if (label := self.elements.get(f"e{old}")) is not None:
                    self.elements[f"e{int(first) + number}"] = label

    def name_values(self, value: Any) -> Any:
        """Put the names in place of what they stand for."""
        return _map_texts(value, self._name_in_text)

    def restore_values(self, value: Any) -> Any:
        """Put what they stand for in place of the names."""
        return _map_texts(value, self._restore_in_text)

    def know_all(self, value: Any) -> bool:
        """True if a model was told of all elements that are named."""
        try:
            self.restore_values(value)
        except IndexError:
            return False
        return True

    def _all(self) -> dict[str, str]:
        # a workspace below another folder that has a name comes first
        known = dict(sorted(self.known.items(), key=lambda each: -len(each[1])))
        return known | {f"{{id {number}}}": each for number, each in enumerate(self.ids)}

    def _refs_of(self, label: str) -> list[str]:
        """The references of elements with a role and name, the newest first."""
        return sorted((ref for ref, each in self.elements.items() if each == label), key=lambda ref: -int(ref[1:]))

    def _name_in_text(self, text: str) -> str:
        if (label := self.elements.get(text)) is not None:
            return f"{{element {self._refs_of(label).index(text)}: {label}}}"
        for name, value in self._all().items():
            text = text.replace(value, name)
        return text

    def _restore_in_text(self, text: str) -> str:
        if (found := _NAMED_ELEMENT.fullmatch(text)) is not None:
            return self._refs_of(found[2])[int(found[1])]
        for name, value in self._all().items():
            text = text.replace(name, value)
        return text


def _map_texts(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: _map_texts(each, change) for key, each in value.items()}
    return [_map_texts(each, change) for each in value] if isinstance(value, list) else value


@dataclass
class Played:
    """What came of a task: its workspace, the errors that the model was told, and the last answer."""

    workspace: Path
    names: Names
    errors: list[str]
    calls: int
    text: str


def name_of(messages: Messages) -> str:
    """The name of a conversation: its first message, which no other one has."""
    text = _text_of(next(each for each in messages if each["role"] == "user"))
    return next((name for sign, name in _OF_LONG_CHATS.items() if sign in text), text)


def _text_of(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(part.get("text", "") for part in content)
    return content or ""


@asynccontextmanager
async def _serving_model(
    model: Callable[[str, Messages, list[dict[str, Any]]], Awaitable[Answer]], played: Played
) -> AsyncIterator[Any]:
    told: set[str] = set()

    async def answer(request: dict[str, Any]) -> Reply:
        messages = request["messages"]
        for message in messages:
            text = _text_of(message)
            played.names.learn(text)
            call_id = str(message.get("tool_call_id", ""))
            if message["role"] == "tool" and call_id not in told:
                told.add(call_id)
                if text.startswith("Error "):
                    played.errors.append(text[:500])
        given = await model(name_of(messages), messages, request.get("tools", []))
        played.calls += len(given.get("calls", ()))
        played.text = given.get("text", "") or played.text
        first = played.calls - len(given.get("calls", ()))
        calls = [
            (f"call_{first + number}", each["name"], json.dumps(each["arguments"], ensure_ascii=False))
            for number, each in enumerate(given.get("calls", ()))
        ]
        return Reply(given.get("text", ""), calls, sent=len(json.dumps(request)) // 4)

    async with serve_provider() as provider:
        provider.script = answer
        yield provider


async def play(task: Task, folder: Path, model: Model) -> Played:
    """Do a task.

    Args:
        task: The task.
        folder: Gets the workspace, the state and the worlds of the task.
        model: Answers what the chat asks the model.
    """
    workspace = folder / "workspace"
    workspace.mkdir(parents=True)
    async with task.world(workspace) as places:
        names = Names({"{workspace}": str(workspace), **{f"{{{name}}}": place for name, place in places.items()}})
        played = Played(workspace, names, [], 0, "")

        async def by_name(name: str, messages: Messages, tools: list[dict[str, Any]]) -> Answer:
            return dict(names.restore_values(await model(names.name_values(name), messages, tools, names)))

        async with _serving_model(by_name, played) as provider:
            config = {
                "models": {
                    "m": {"provider": "openai", "base_url": f"{provider.url}/v1", "context_tokens": task.context_tokens}
                },
                "config": {"chrome": {"allow_private": True}, "web_tools": {"allow_private": True}},
                "approvals": {"mode": "ask_writes"},
            }
            plan = HostPlan(MODULES, config, roots=(workspace,))
            async with running_server(plan, folder) as client:
                client.running.answer_approvals(approve=True)
                talk = Talk(client, provider)
                await _hold_conversation(talk, task, names)
        return played


async def _hold_conversation(talk: Talk, task: Task, names: Names) -> None:
    session = ""
    for message in task.messages:
        if not session or message.startswith("/new "):
            session = await talk.begin()
        text = names.restore_values(message.removeprefix("/new "))
        async with talk.client.get(f"/api/events?types=session.*&session_id={session}") as response:
            await response.content.readline()
            await talk.ask("POST", f"/api/sessions/{session}/messages", {"text": text}, status=202)
            async with asyncio.timeout(TURN_S):
                async for line in response.content:
                    if line.startswith(b"data: ") and json.loads(line[6:])["type"] == "session.finished":
                        break
