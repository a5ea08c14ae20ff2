"""Keys in blocks as documentation shows them: in an address, in a header among arguments, in the environment."""

import copy
import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentcore.cli.clients.import_dialogue import mask_blocks
from agentcore.config.written_secrets import secrets_to_mask
from agentcore.secrets import MASK
from agentcore.server.modules.pasted import secrets_in
from tests.server.approving import page

pytestmark = [pytest.mark.spec("P3"), pytest.mark.spec("K10")]

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
    "an option and its value": {"command": "npx", "args": ["--api-key", KEY]},
    "a variable among arguments": {"command": "docker", "args": ["run", "-e", f"TAVILY_API_KEY={KEY}", "mcp/tavily"]},
    "a variable in an option": {"command": "docker", "args": ["run", f"--env=TAVILY_API_KEY={KEY}", "mcp/tavily"]},
    "an address in a variable": {"command": "docker", "args": ["-e", f"UPSTREAM=https://x.test/?apiKey={KEY}"]},
    "JSON as an argument": {"command": "npx", "args": ["--config", json.dumps({"exa": {"apiKey": KEY}, "port": 1})]},
    "JSON in an option": {"command": "npx", "args": ["--config=" + json.dumps({"apiKey": KEY, "user": KEY[:4]})]},
    "JSON in the environment": {"command": "npx", "env": {"HEADERS": json.dumps({"Authorization": f"Bearer {KEY}"})}},
    "JSON with escapes": {"command": "npx", "env": {"H": '{"\\u0061uthorization" : "Bearer ' + KEY + '"}'}},
    "JSON in JSON": {"command": "npx", "args": [json.dumps({"args": ["--token", KEY], "max_tokens": 12})]},
    "a key deep inside": {"command": "npx", "options": {"login": [{"password": KEY}]}},
}


@pytest.fixture
async def asker(site, agentcore_client):
    return await page(await agentcore_client(config={"bells": {}}))


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
def test_key_is_recognised_moved_and_masked(block):
    before = copy.deepcopy(block)
    (found,) = secrets_in("example", block, ())
    assert found.value == KEY
    assert KEY not in found.instead
    assert found.instead.endswith(("}", "}#top"))
    shown = mask_blocks({"example": block})["example"]
    assert KEY not in str(shown)
    assert MASK in str(shown)
    assert block == before


@pytest.mark.slow
@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
async def test_every_surface_recognises_the_key(asker, block):
    """The rule of pasted blocks is that of masks in a module's texts, and of settings that are shown."""
    assert any(KEY in keep for keep in secrets_to_mask(None, block))
    assert not any(keep in ("npx", "docker", "1", "12") for keep in secrets_to_mask(None, block))
    (pasted,) = (await asker.ask("POST", "/api/families/read", {"text": json.dumps({"bells": {"x": block}})}))[1][
        "blocks"
    ]
    assert [secret["value"] for secret in pasted["secrets"]] == [KEY]
    status, planned = await asker.ask("PUT", "/api/families/bells?preview=diff", {"blocks": {"x": block}})
    assert status == 200
    assert MASK in json.dumps(planned, ensure_ascii=False)
    assert KEY not in json.dumps(planned)


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
def test_moved_key_comes_back_to_where_it_was(block):
    moved = copy.deepcopy(block)
    (found,) = secrets_in("example", block, ())
    *way, last = found.path
    inner = moved
    for step in way:
        inner = inner[step]
    inner[last] = found.instead
    assert secrets_in("example", moved, ()) == []
    assert json.loads(json.dumps(moved).replace(f"${{secret:{found.name}}}", found.value)) == block


@pytest.mark.parametrize(
    ("args", "exposed"),
    [
        (["-y", "srv", "--api-key", KEY], [3]),
        (["--api-key=${secret:x}", "--header", "Authorization: Bearer ${secret:y}"], [0, 2]),
        (["${secret:x}"], [0]),
        (["--token", "${TOKEN}", "-e", "API_KEY=${KEY:-none}"], [1, 3]),
        (["-y", "mcp-remote", "https://x.test/mcp", "--port", "${PORT}", "--max-tokens", "12"], []),
    ],
)
async def test_secrets_that_other_users_of_the_machine_see_in_arguments_are_named(asker, args, exposed):
    block = {"command": "npx", "args": args, "env": {"TOKEN": "${secret:x}"}}
    text = json.dumps({"bells": {"x": block}})
    (pasted,) = (await asker.ask("POST", "/api/families/read", {"text": text}))[1]["blocks"]
    assert pasted["exposed"] == [f"/args/{at}" for at in exposed]


_PIECES = st.sampled_from(
    ["https://", "a.test", "?", "&", "token=", "apiKey=", "a:", "b@", "/", "#", ";", KEY, "${secret:x}", "=", " ", ":",
     "--key=", "Authorization: ", "Bearer ", '{"password": "', '"}', "[", "]", '"', "\\", "\n", "KEY=", "0",
     "localhost", "ghp_" + "a1" * 12]
)  # fmt: skip
_TEXTS = st.lists(_PIECES, max_size=9).map("".join)


@example(["https://x.test?token=a:b@c.test"], {"TOKEN": "a"})
@given(st.lists(_TEXTS, max_size=3), st.dictionaries(st.sampled_from(["A", "TOKEN", "Authorization"]), _TEXTS))
def test_moved_secrets_of_any_text_come_back_to_where_they_were(args, env):
    block = {"args": args, "env": env}
    found = secrets_in("x", block, ())
    moved = copy.deepcopy(block)
    for secret in found:
        moved[secret.path[0]][secret.path[1]] = secret.instead
    text = json.dumps(moved)
    for secret in found:
        assert text.count(f"${{secret:{secret.name}}}") == 1
        text = text.replace(f"${{secret:{secret.name}}}", json.dumps(secret.value)[1:-1])
    assert json.loads(text) == block


@pytest.mark.parametrize("depth", [100, 900, 100_000])
def test_json_that_is_nested_too_deep_is_a_text_like_any_other(depth):
    (found,) = secrets_in("x", {"args": ["[" * depth + "]" * depth, "--token", KEY]}, ())
    assert found.value == KEY


def test_key_is_recognised_by_its_form_and_no_part_of_a_name_is():
    (found,) = secrets_in("x", {"args": ["srv", "ghp_0123456789abcdefghijABCDEFGHIJ"]}, ())
    assert (found.value, found.name) == ("ghp_0123456789abcdefghijABCDEFGHIJ", "x_secret")
    (found,) = secrets_in("x", {"url": "https://x.test/sk-0123456789abcdefghij/mcp"}, ())
    assert found.instead == "https://x.test/${secret:x_url}/mcp"
    assert secrets_in("x", {"args": ["-y", "task-management-mcp-server", "@acme/desk-01234567890123456"]}, ()) == []


def test_digits_that_somebody_keeps_to_themselves_are_moved_and_counts_are_not():
    (found,) = secrets_in("x", {"pin": 4711, "port": 8080, "max_tokens": 100}, ())
    assert (found.path, found.value, found.instead) == (("pin",), "4711", "${secret:x_pin}")


def test_value_of_an_option_is_no_name_for_what_follows_it():
    (found,) = secrets_in("example", {"args": ["--password=MyDogRex2019", "server"]}, ())
    assert (found.value, found.name) == ("MyDogRex2019", "example_password")


def test_two_keys_of_one_address_are_both_moved():
    block = {"url": "https://x.test/mcp?apiKey=first-1234&profile=web&secret=second-1234"}
    first, second = secrets_in("x", block, ())
    assert (first.value, second.value) == ("first-1234", "second-1234")
    assert second.instead == "https://x.test/mcp?apiKey=${secret:x_apikey}&profile=web&secret=${secret:x_secret}"
    assert mask_blocks({"x": block})["x"]["url"] == f"https://x.test/mcp?apiKey={MASK}&profile=web&secret={MASK}"


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
    assert mask_blocks({"x": block}) == {"x": block}
