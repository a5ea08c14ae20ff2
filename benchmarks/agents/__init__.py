"""Scripted agents that do a person's tasks with our tools, and beside that with MCP servers for single purposes."""

import asyncio

from benchmarks.agents import playing
from benchmarks.agents.programs import installed
from benchmarks.agents.report import rows
from benchmarks.measure import Row


def run() -> list[Row]:
    """Play all scenarios on both sides, and give the rows."""
    programs = installed()
    return rows([asyncio.run(playing.play(programs, name)) for name in playing.SCENARIOS])
