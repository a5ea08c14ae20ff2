"""Records what a model answers to a task: `python -m tests.tasks.record TASK FOLDER`.

Each request of the chat becomes a file in the folder, `N.request.json`, with the conversation's name, the messages that
are new in it, and, in its first request, the definitions of the tools. Whoever is the model writes `N.answer.json`:
`{"text": "…", "calls": [{"name": "…", "arguments": {…}}]}`. At the end the recording is written, and what is not as it
has to be is printed.
"""

import asyncio
import json
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from tests.tasks import playing
from tests.tasks.playing import Answer, Messages, Names
from tests.tasks.recordings import save_recording
from tests.tasks.worlds import TASKS

_PAUSE_S = 0.1


class Desk:
    """Where a model's requests and answers lie."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._number = 0
        self._seen: dict[str, int] = defaultdict(int)
        self.answers: dict[str, list[Answer]] = defaultdict(list)

    async def answer(self, name: str, messages: Messages, tools: list[dict[str, Any]]) -> Answer:
        """Show a request, and wait for the answer."""
        self._number += 1
        number = self._number
        seen = self._seen[name]
        request: dict[str, Any] = {"conversation": name, "messages": messages[seen:]}
        if not seen:
            request["tools"] = [each["function"] for each in tools]
        self._seen[name] = len(messages) + 1  # and the answer, which the next request repeats
        unfinished = self._folder / f"{number}.unfinished"
        unfinished.write_text(json.dumps(request, ensure_ascii=False, indent=1))
        unfinished.rename(self._folder / f"{number}.request.json")
        file = self._folder / f"{number}.answer.json"
        while not file.exists():
            await asyncio.sleep(_PAUSE_S)
        given: Answer = json.loads(file.read_text())
        return given


async def record_task(name: str, folder: Path) -> list[str]:
    """Do a task with the model at the desk, and write the recording; return what is not as it has to be."""
    folder.mkdir(parents=True, exist_ok=True)
    desk = Desk(folder)
    recorded: dict[str, list[Answer]] = defaultdict(list)
    task = TASKS[name]

    async def model(conversation: str, messages: Messages, tools: list[dict[str, Any]], names: Names) -> Answer:
        given = await desk.answer(conversation, messages, tools)
        recorded[conversation].append(names.name_values(given))
        return given

    with tempfile.TemporaryDirectory(prefix="agentcore-task-") as home:
        played = await playing.play(task, Path(home).resolve(), model)
        problems = task.check(played.workspace, played.text)
    save_recording(name, recorded)
    print(f"{played.calls} calls, {len(played.errors)} errors")
    return problems


if __name__ == "__main__":
    print("\n".join(asyncio.run(record_task(sys.argv[1], Path(sys.argv[2])))) or "all is as it has to be")
