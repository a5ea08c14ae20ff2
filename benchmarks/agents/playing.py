"""Plays scenarios, each on both sides."""

import asyncio
import importlib
import json
import tempfile
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.agents import ours, theirs
from benchmarks.agents.agent import Agent, Step
from benchmarks.agents.programs import Programs

SCENARIOS = ("jupyterlab", "wagtail", "shoelace", "monaco", "grid", "django", "manuals")
_SIDES: dict[str, Callable[..., AbstractAsyncContextManager[Agent]]] = {
    "agentcore": ours.session,
    "MCP servers": theirs.session,
    "MCP servers, names known": partial(theirs.session, knows_names=True),
}
SIDES = tuple(_SIDES)


@dataclass(frozen=True, slots=True)
class Session:
    """What one side's session came to; the fields are those of `Agent`."""

    steps: tuple[Step, ...] = ()
    definitions_chars: int = 0
    results_chars: int = 0
    calls: int = 0
    questions: int = 0

    @classmethod
    def of(cls, agent: Agent) -> "Session":
        """What an agent's session came to."""
        return cls(tuple(agent.steps), agent.definitions_chars, agent.results_chars, agent.calls, agent.questions)


@dataclass(frozen=True, slots=True)
class Played:
    """One scenario, with one session of each side by its name."""

    title: str
    agents: dict[str, Session]


def keep(played: Sequence[Played], file: Path) -> list[Played]:
    """Put scenarios into a file, in place of what it has of them; all that it has then, in the order of `SCENARIOS`."""
    known = json.loads(file.read_text()) if file.exists() else {}
    for scenario in played:
        sessions = {side: asdict(session) for side, session in scenario.agents.items()}
        known[scenario.title] = known.get(scenario.title, {}) | sessions
    file.write_text(json.dumps(known, indent=1))
    titles = [importlib.import_module(f"benchmarks.agents.scenarios.{name}").TITLE for name in SCENARIOS]
    return [
        Played(title, {side: _session(known[title][side]) for side in SIDES if side in known[title]})
        for title in titles
        if title in known
    ]


def _session(fields: dict[str, Any]) -> Session:
    steps = tuple(Step(**step) for step in fields.pop("steps"))
    return Session(steps, **fields)


async def play(programs: Programs, name: str, sides: Sequence[str] = SIDES, *, verbose: bool = False) -> Played:
    """Play one scenario: a world and a session of its own for each side."""
    scenario = importlib.import_module(f"benchmarks.agents.scenarios.{name}")
    agents: dict[str, Session] = {}
    for side in sides:
        with tempfile.TemporaryDirectory(prefix="agentcore-bench-") as home:
            folder = await asyncio.to_thread(_workspace, Path(home))
            async with (
                scenario.world(programs, folder) as address,
                _SIDES[side](programs, folder, scenario.TASK, verbose=verbose) as agent,
            ):
                await scenario.play(agent, address)
                agents[side] = Session.of(agent)
    return Played(scenario.TITLE, agents)


def _workspace(home: Path) -> Path:
    folder = home.resolve() / "workspace"
    folder.mkdir()
    return folder
