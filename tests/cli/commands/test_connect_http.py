"""`agentcore connect CLIENT --http`: the address and a key of the client's own, which goes with it."""

import json
import stat
import sys
import tomllib
import urllib.request

import pytest
from ruamel.yaml import YAML

ENTRIES = {
    "claude-code": (".claude.json", "mcpServers"),
    "cursor": (".cursor/mcp.json", "mcpServers"),
    "windsurf": (".codeium/windsurf/mcp_config.json", "mcpServers"),
    "vscode": ("home/.vscode/mcp.json", "servers"),
    "gemini": (".gemini/settings.json", "mcpServers"),
    "goose": (".config/goose/config.yaml", "extensions"),
    "zed": (".config/zed/settings.json", "context_servers"),
    "opencode": (".config/opencode/opencode.json", "mcp"),
}
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}


@pytest.fixture
def home(place, tmp_path):
    """A home folder without clients' own commands."""
    if sys.platform == "darwin":
        pytest.skip("the files of these tests are where Linux has them")
    place.environ["PATH"] = "/usr/bin:/bin"
    return tmp_path


def entry_of(home, client):
    """What a client's file says of agentcore."""
    name, parent = ENTRIES[client]
    text = (home / name).read_text()
    value = YAML(typ="safe").load(text) if name.endswith(".yaml") else json.loads(text)
    return value[parent].get("agentcore")


def status_of(entry):
    """What the server answers to a handshake as the entry says it."""
    url = next(entry[name] for name in ("url", "httpUrl", "serverUrl", "uri") if name in entry)
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **entry["headers"]}
    request = urllib.request.Request(url, json.dumps(HELLO).encode(), headers)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status
    except urllib.error.HTTPError as exc:
        return exc.code


def test_a_file_that_others_can_read_is_the_owner_s_alone_once_it_holds_a_key(place, home, running_server):
    file = home / ENTRIES["cursor"][0]
    file.parent.mkdir(parents=True)
    file.write_text("{}")
    file.chmod(0o644)
    for tools in ("clock_*", "*"):
        assert place.run("connect", "cursor", "--http", "--tools", tools, "--yes").code == 0
    kept = file.with_name(f"{file.name}.before-agentcore")
    assert "acap_" in kept.read_text()
    assert [stat.S_IMODE(each.stat().st_mode) for each in (file, kept)] == [0o600, 0o600]


def test_clients_reach_the_server_with_a_key_that_goes_with_them(place, home, running_server):
    for client in ENTRIES:
        done = place.run("connect", client, "--http", "--tools", "clock_*", "--yes")
        assert done.code == 0, done.err
        entry = entry_of(home, client)
        assert status_of(entry) == 200
        key = entry["headers"]["Authorization"].removeprefix("Bearer ")
        assert key not in done.out + done.err
        assert stat.S_IMODE((home / ENTRIES[client][0]).stat().st_mode) == 0o600
        assert "already" in place.run("connect", client, "--http", "--tools", "clock_*", "--yes").out
    for client in ("cursor", "goose"):
        entry = entry_of(home, client)
        gone = place.run("disconnect", client, "--yes")
        assert gone.code == 0, gone.err
        assert "revoked" in gone.err
        assert entry_of(home, client) is None
        assert status_of(entry) == 401
    assert status_of(entry_of(home, "zed")) == 200
    assert place.run("connect", "cursor", "--http", "--yes").code == 0
    assert status_of(entry_of(home, "cursor")) == 200


def test_codex_reads_its_key_from_a_variable(place, home, running_server):
    done = place.run("connect", "codex", "--http", "--yes")
    assert done.code == 0, done.err
    text = (home / ".codex/config.toml").read_text()
    entry = tomllib.loads(text)["mcp_servers"]["agentcore"]
    assert entry["bearer_token_env_var"] == "AGENTCORE_MCP_KEY"
    assert entry["url"].endswith("/mcp?wait=600")
    assert "acap_" not in text
    key = (place.state / "clients/codex").read_text().strip()
    headers = {"Authorization": f"Bearer {key}"}
    assert status_of({"url": entry["url"], "headers": headers}) == 200
    place.run("disconnect", "codex", "--yes")
    assert "agentcore" not in (home / ".codex/config.toml").read_text()
    assert status_of({"url": entry["url"], "headers": headers}) == 401


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("cursor", "--http", "--yes"), 3, "agentcore serve"),
        (("claude-desktop", "--http", "--yes"), 2, "takes no address"),
        (("cursor", "--http", "--print"), 2, "shows no keys"),
    ],
)
def test_what_cannot_be_is_said_and_changes_nothing(place, home, words, code, said):
    done = place.run("connect", *words)
    assert done.code == code
    assert said in done.err
    assert not (home / ".cursor").exists()
