"""A distribution with a family of modules, laid out as an installer does it."""

from collections.abc import Mapping
from pathlib import Path

from tests.core.installing import Site

GROUPS = {
    "agentcore.module_families": {"bell": "acme_bells:family"},
    "agentcore.module_family_keys": {"bells": "acme_bells:family"},
}

SOURCE = '''
"""Bells: one module for each."""

import asyncio

from agentcore.api import BaseModel, Field, Module, SecretStr


class Bell(BaseModel, extra="forbid"):
    """One bell of app.json."""

    sound: str
    times: int = Field(default=1, ge=1, le=3)
    env: dict[str, SecretStr] = {}
    token: SecretStr = SecretStr("")


class Ringing(Module):
    """A bell that rings."""

    class Settings(Module.Settings):
        loud: bool = False

    def __init__(self, name: str, block: Bell) -> None:
        self.name, self._block = name, block
        self.title = f"Bell {block.sound}"

    async def init(self, runtime):
        if self._block.sound != "in chorus":
            return
        _waiting.append(self.name)
        async with asyncio.timeout(20):
            while len(_waiting) < 2:
                await asyncio.sleep(0.01)

    def get_tool_definitions(self):
        parameters = {"type": "object", "properties": {}, "additionalProperties": False}
        return [{"name": f"{self.name}_ring", "description": "Ring.", "parameters": parameters, "effects": ["write"]}]

    def execute_tool_call(self, ctx, tool_name, args):
        if self._block.sound == "broken":
            raise RuntimeError("it is broken")
        sound = self._block.sound.upper() if self.settings.loud else self._block.sound
        return " ".join([sound] * self._block.times) + MARK


MARK = ""
_waiting = []


def family(name: str, block: Bell) -> Module:
    """The module of one bell."""
    if block.sound == "silence":
        raise ValueError("silence is no sound")
    return Ringing(name, block)
'''


def install(
    site: Site, source: str = SOURCE, *, version: str = "1.0", groups: Mapping[str, Mapping[str, str]] = GROUPS
) -> Path:
    """Install it."""
    return site.install("acme-bells", {}, {"acme_bells.py": source}, groups=groups, version=version)
