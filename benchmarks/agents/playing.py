"""Plays scenarios, each on both sides."""

import asyncio
import importlib
import tempfile
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.agents import ours, theirs
from benchmarks.agents.agent import Agent
from benchmarks.agents.programs import Programs

SCENARIOS = ("jupyterlab", "wagtail", "shoelace", "monaco", "grid", "django", "manuals")
_SIDES: dict[str, Callable[..., AbstractAsyncContextManager[Agent]]] = {
    "agentcore": ours.session,
    "MCP servers": theirs.session,
    "MCP servers, names known": partial(theirs.session, knows_names=True),
}
SIDES = tuple(_SIDES)


@dataclass(frozen=True, slots=True)
class Played:
    """One scenario, with one session of each side by its name."""

    title: str
    agents: dict[str, Agent]


async def play(programs: Programs, name: str, sides: Sequence[str] = SIDES, *, verbose: bool = False) -> Played:
    """Play one scenario: a world and a session of its own for each side."""
    scenario = importlib.import_module(f"benchmarks.agents.scenarios.{name}")
    agents: dict[str, Agent] = {}
    for side in sides:
        with tempfile.TemporaryDirectory(prefix="agentcore-bench-") as home:
            folder = await asyncio.to_thread(_workspace, Path(home))
            async with (
                scenario.world(programs, folder) as address,
                _SIDES[side](programs, folder, scenario.TASK, verbose=verbose) as agent,
            ):
                await scenario.play(agent, address)
                agents[side] = agent
    return Played(scenario.TITLE, agents)


def _workspace(home: Path) -> Path:
    folder = home.resolve() / "workspace"
    folder.mkdir()
    return folder
