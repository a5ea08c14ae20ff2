"""Icons of tools: clients get them, models do not, and one that is none costs its tool alone."""

from base64 import b64encode
from typing import ClassVar

import pytest

from agentcore.api import Module, ToolDefinition, ToolIcon, tool

SVG = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="7" fill="%s"/></svg>'


def data_of(file: bytes, mime: str = "image/svg+xml") -> str:
    """A file as the address of itself."""
    return f"data:{mime};base64,{b64encode(file).decode()}"


LIGHT, DARK = data_of(SVG % b"black"), data_of(SVG % b"white")


class Coins(Module):
    """Tosses coins."""

    tool_icons: ClassVar = (ToolIcon(LIGHT, ("any",), "light"), ToolIcon(DARK, ("any",), "dark"))

    @tool(effects=["session"])
    async def coins_toss(self) -> str:
        """Toss a coin."""
        return "heads"


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_client_gets_the_icons_of_a_tool(start_mcp, mode):
    mcp = await start_mcp([Coins()])
    async with mcp.client(await mcp.key(), mode=mode) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert listed["shop_look"].icons is None
    assert [(icon.src, icon.mime_type, icon.sizes, icon.theme) for icon in listed["coins_toss"].icons] == [
        (LIGHT, "image/svg+xml", ["any"], "light"),
        (DARK, "image/svg+xml", ["any"], "dark"),
    ]


async def test_models_are_told_nothing_of_icons(agentcore_client):
    server = await agentcore_client([Coins()])
    for form in ("openai", "openai_strict", "openai_compatible", "anthropic", "gemini"):
        async with server.get("/api/tools", params={"format": form}) as answer:
            text = await answer.text()
        assert "coins_toss" in text
        assert "data:image" not in text


SRC = {"src": LIGHT}
WRONG = {
    "an address": [{"src": "https://example.com/icon.png"}],
    "a page": [{"src": data_of(b"<p>", "text/html")}],
    "no base64": [{"src": "data:image/png;base64,A"}],
    "empty": [{"src": "data:image/png;base64,"}],
    "too large": [{"src": data_of(b"x" * (16 * 1024 + 1), "image/png")}],
    "too many": [SRC] * 5,
    "no list": SRC,
    "no icon": [7],
    "a number": [{"src": 7}],
    "a theme that there is not": [{**SRC, "theme": "sepia"}],
    "a size that is none": [{**SRC, "sizes": ["large"]}],
    "something else": [{**SRC, "onload": "alert(1)"}],
}


async def test_an_icon_that_is_none_is_said_to_be_and_costs_its_tool_alone(agentcore_host):
    named = {f"odd_{way.replace(' ', '_')}": icons for way, icons in WRONG.items()}

    class Odd(Module):
        """Offers many tools."""

        def get_tool_definitions(self):
            wrong = [{"name": name, "description": "Be wrong.", "icons": icons} for name, icons in named.items()]
            fine = ToolDefinition("odd_fine", "Be fine.", {"type": "object"}, icons=(ToolIcon(LIGHT),))
            return [*wrong, fine]

        async def execute_tool_call(self, ctx, tool_name, args):
            return "fine"

    running = await agentcore_host([Odd], is_failure_expected=True)
    assert list(running.host.registry.tools) == ["odd_fine"]
    problems = running.host.modules.records["odd"].tool_errors
    for name, problem in zip(named, problems, strict=True):
        assert f"icons of tool '{name}'" in problem
