"""`Module` as an author subclasses it."""

import subprocess
import sys
from pathlib import Path

import pytest

from agentcore.api import Field, Module, ToolContext, hookimpl, tool
from agentcore.testing.hosting import ModuleNotReadyError

TYPED = """
from agentcore.api import CallPreview, Module, ToolContext, tool


class DiceSettings(Module.Settings):
    most: int = 3


class Dice(Module[DiceSettings]):
    def _preview(self, ctx: ToolContext, arguments: dict[str, object]) -> CallPreview:
        return CallPreview()

    def _wrong(self, ctx: ToolContext) -> None: ...

    @tool(preview=_preview)
    def roll(self) -> int:
        most: int = self.settings.most
        return most

    @tool(preview=_wrong)
    def wrong(self) -> None:
        self.settings.least
"""


class DiceSettings(Module.Settings):
    """Settings of the dice."""

    most: int = Field(3, ge=1)


class Dice(Module[DiceSettings]):
    """Dice."""

    @tool(read_only=True)
    def most(self, ctx: ToolContext) -> str:
        """Tell the setting."""
        return str(self.settings.most)


class LoadedDice(Dice):
    """Inherits the settings."""


@pytest.mark.parametrize("module", [Dice, LoadedDice])
async def test_settings_of_the_class_in_brackets_are_read_and_checked(agentcore_host, module):
    name = "dice" if module is Dice else "loaded_dice"
    running = await agentcore_host([module], config={"config": {name: {"most": 5}}})
    assert (await running.call("most")).blocks()[0].text == "5"
    with pytest.raises(ModuleNotReadyError, match="most: expected greater than or equal to 1"):
        await agentcore_host([module], config={"config": {name: {"most": 0}}})


@pytest.mark.more
def test_type_checker_knows_the_settings_and_what_a_preview_is(tmp_path: Path):
    """mypy sees the two mistakes at the end, and no other."""
    pytest.importorskip("mypy")
    (tmp_path / "dice.py").write_text(TYPED)
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", tmp_path / "cache"]
    done = subprocess.run([*command, "dice.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    wrong, least = done.stdout.splitlines()
    assert 'Argument "preview" to "tool" has incompatible type' in wrong
    assert '"DiceSettings" has no attribute "least"' in least


@pytest.mark.parametrize("option", ["tryfirst", "trylast", "wrapper", "hookwrapper"])
async def test_hook_that_asks_for_an_order_or_wraps_is_refused_by_name(agentcore_host, option):
    class Raw:
        name = "raw"

        @hookimpl(**{option: True})
        def get_tool_definitions(self):
            if "wrapper" in option:
                return (yield)
            return []

    with pytest.raises(
        ModuleNotReadyError, match=f"its get_tool_definitions asks for {option}.* use a plain @hookimpl"
    ):
        await agentcore_host([Raw()])
