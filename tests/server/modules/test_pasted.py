"""Keys in blocks as documentation shows them: in an address, in a header among arguments, in the environment."""

import copy

import pytest

from agentcore.cli.clients.import_dialogue import without_secrets
from agentcore.secrets import MASK
from agentcore.server.modules import secrets_in

KEY = "tvly-0123456789abcdef"

BLOCKS = {
    "a key in the query": {"url": f"https://mcp.tavily.com/mcp/?tavilyApiKey={KEY}"},
    "a key among others": {"url": f"https://mcp.exa.ai/mcp?profile=web&apiKey={KEY}#top"},
    "an encoded name": {"url": f"https://example.com/mcp?api%5Fkey={KEY}"},
    "an address among arguments": {"command": "npx", "args": ["-y", "mcp-remote", f"https://x.test/mcp?token={KEY}"]},
    "a header as an argument": {"command": "npx", "args": ["mcp-remote", "--header", f"Authorization: Bearer {KEY}"]},
    "a header with its option": {"command": "npx", "args": [f"--header=X-Api-Key: {KEY}"]},
    "a header without a space": {"command": "npx", "args": ["-H", f"Authorization:{KEY}"]},
    "the environment": {"command": "npx", "env": {"TAVILY_API_KEY": KEY}},
    "a header in the environment": {"command": "npx", "env": {"AUTH_HEADER": f"Bearer {KEY}"}},
    "an address in the environment": {"command": "npx", "env": {"UPSTREAM": f"https://x.test/?key={KEY}"}},
    "an option": {"command": "npx", "args": [f"--api-key={KEY}"]},
    "a header": {"url": "https://x.test/mcp", "headers": {"Authorization": f"Bearer {KEY}"}},
}


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
def test_key_is_recognised_moved_and_masked(block):
    before = copy.deepcopy(block)
    (found,) = secrets_in("example", block, ())
    assert found.value == KEY
    assert KEY not in found.instead
    assert found.instead.endswith(("}", "}#top"))
    shown = without_secrets({"example": block})["example"]
    assert KEY not in str(shown)
    assert MASK in str(shown)
    assert block == before


def test_value_of_an_option_is_no_name_for_what_follows_it():
    (found,) = secrets_in("example", {"args": ["--password=MyDogRex2019", "server"]}, ())
    assert (found.value, found.name) == ("MyDogRex2019", "example_password")


def test_two_keys_of_one_address_are_both_moved():
    block = {"url": "https://x.test/mcp?apiKey=first-1234&profile=web&secret=second-1234"}
    first, second = secrets_in("x", block, ())
    assert (first.value, second.value) == ("first-1234", "second-1234")
    assert second.instead == "https://x.test/mcp?apiKey=${secret:x_apikey}&profile=web&secret=${secret:x_secret}"
    assert without_secrets({"x": block})["x"]["url"] == f"https://x.test/mcp?apiKey={MASK}&profile=web&secret={MASK}"


@pytest.mark.parametrize(
    "text",
    [
        "https://mcp.exa.ai/mcp?profile=web&tokens=12",
        "https://x.test/mcp?apiKey=${secret:x}",
        "Authorization: Bearer ${secret:x}",
        "Content-Type: application/json",
        "C:\\Users\\me",
        "bearer",
        "a token: see the manual at /usr/share",
    ],
)
def test_what_holds_no_key_stays_as_it_is(text):
    block = {"command": "npx", "args": [text]}
    assert secrets_in("x", block, ()) == []
    assert without_secrets({"x": block}) == {"x": block}
