"""A call as others make it: what is copied does the same, through a real shell."""

import asyncio
import json

import pytest

from agentcore.api import Module, tool
from agentcore.cli.arguments import parse_arguments

NASTY = {
    "text": 'it\'s $HOME `id` "x" \\ ü 😀\nsecond line; rm -rf *',
    "at": "@/etc/passwd",
    "empty": "",
    "number": 12.5,
    "whole": -3,
    "yes": True,
    "nothing": None,
    "either": "5",
    "many": ["a b", "@c", 1],
    "inner": {"key = value": ["x'y"]},
}
SCHEMA = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "at": {"type": "string"},
        "empty": {"type": "string"},
        "number": {"type": "number"},
        "whole": {"type": "integer"},
        "yes": {"type": "boolean"},
        "nothing": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "either": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        "many": {"type": "array", "items": {}},
        "inner": {"type": "object"},
    },
}


class Echo(Module):
    """Says what it was told."""

    @tool(read_only=True)
    async def echo_say(self, text: str, many: list[str] | None = None) -> dict[str, object]:
        """Say something back."""
        return {"text": text, "many": many}


@pytest.fixture
def command(bare_page):
    async def make(name, *arguments):
        page = await bare_page()
        return await page.evaluate(
            f"async (given) => (await import('/static/tools/commands.js')).{name}(...given)", list(arguments)
        )

    return make


async def words_of(text):
    """What a shell makes of a command: its words."""
    script = f'{text.split(" ", 1)[0]}() {{ printf "%s\\0" "$@"; }}; {text}'
    process = await asyncio.create_subprocess_exec("bash", "-c", script, stdout=asyncio.subprocess.PIPE)
    out, _ = await process.communicate()
    return out.decode().split("\0")[:-1]


async def test_command_line_gives_the_same_arguments(command):
    text = await command("asCli", {"tool": "lab", "args": NASTY}, SCHEMA)
    call, name, *words = await words_of(text)
    assert (call, name) == ("call", "lab")
    assert parse_arguments(SCHEMA, None, words) == NASTY


async def test_plain_values_stay_readable_on_the_command_line(command):
    args = {"text": "src/a.py", "whole": 20, "yes": False}
    assert (
        await command("asCli", {"tool": "lab", "args": args}, SCHEMA)
        == "agentcore call lab text=src/a.py whole=20 yes=false"
    )


async def test_names_that_are_no_words_and_options_reach_the_command_line(command):
    wish = {"tool": "-odd", "args": {"a=b": 1}, "sessionId": "s 1", "timeoutMs": 2500}
    words = await words_of(await command("asCli", wish, {}))
    assert words == ["call", "--session", "s 1", "--timeout", "2.5", "--json-arguments", '{"a=b":1}', "--", "-odd"]


async def test_curl_does_the_same_call_with_the_token_from_the_environment(start_webui, command):
    ui = await start_webui([Echo])
    wish = {"tool": "echo_say", "args": {"text": NASTY["text"], "many": ["x'y"]}, "sessionId": "s1", "timeoutMs": 9000}
    text = await command("asCurl", wish, ui.address)
    token = ui.host.state.token.get_secret_value()
    assert token not in text
    process = await asyncio.create_subprocess_exec(
        "bash", "-c", text, env={"AGENTCORE_TOKEN": token, "PATH": "/usr/bin:/bin"}, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()
    assert json.loads(out)["data"] == {"text": NASTY["text"], "many": ["x'y"]}
