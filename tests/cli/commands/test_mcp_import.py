"""`agentcore mcp import`: servers out of the files of other clients, which stay as they are."""

import json
import sys
from pathlib import Path

import pytest

KEY = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
LOCAL = {
    "command": "npx",
    "args": ["-y", "github-mcp"],
    "env": {"GITHUB_TOKEN": "${secret:github_token}", "LEVEL": "1"},
}

CLAUDE = {
    "theme": "dark",
    "mcpServers": {
        "github": {"type": "stdio", **LOCAL, "env": {"GITHUB_TOKEN": KEY, "LEVEL": "1"}},
        "agentcore": {"command": "/usr/bin/agentcore", "args": ["mcp", "--client", "claude-code"]},
        "home": {"type": "http", "url": "https://home.example.com/mcp", "headers": {"Authorization": f"Bearer {KEY}"}},
    },
}
CODE = {"type": "stdio", "command": "code-mcp", "env": {"K": "${input:code-key}"}}
GEMINI = {"old": {"url": "https://old.example.com/sse"}, "new": {"httpUrl": "https://new.example.com"}}
OPENCODE = {"type": "local", "command": ["bun", "x", "open"], "environment": {"D": "{env:DOOR}"}}
CODEX = """[mcp_servers.codex]
url = "https://codex.example.com/mcp"
bearer_token_env_var = "CODEX_KEY"

[mcp_servers.codex.http_headers]
X-Team = "7"
"""
GOOSE = """extensions:
  developer: {type: builtin, enabled: true}
  geese:
    type: stdio
    enabled: true
    cmd: uvx
    args: [geese]
    envs: {POND: big}
"""

FILES = {
    ".claude.json": json.dumps(CLAUDE),
    ".cursor/mcp.json": '{"mcpServers": {"notes": {"command": "notes", "env": {"A": "${env:NOTES}"},}, /* mine */ }}',
    ".codeium/windsurf/mcp_config.json": json.dumps(
        {"mcpServers": {"surf": {"serverUrl": "https://surf.example.com/mcp", "disabled": True}}}
    ),
    "home/.vscode/mcp.json": json.dumps({"servers": {"code": CODE}}),
    ".codex/config.toml": CODEX,
    ".gemini/settings.json": json.dumps({"mcpServers": GEMINI}),
    ".config/goose/config.yaml": GOOSE,
    ".config/zed/settings.json": json.dumps(
        {"context_servers": {"zed": {"command": {"path": "zed-mcp", "args": ["-v"], "env": None}}}}
    ),
    ".config/opencode/opencode.json": json.dumps({"mcp": {"open": OPENCODE}}),
}

TAKEN = {
    "github": LOCAL,
    "home": {
        "url": "https://home.example.com/mcp",
        "headers": {"Authorization": "Bearer ${secret:home_authorization}"},
    },
    "notes": {"command": "notes", "args": [], "env": {"A": "${NOTES}"}},
    "surf": {"url": "https://surf.example.com/mcp"},
    "code": {"command": "code-mcp", "args": [], "env": {"K": "${secret:code-key}"}},
    "codex": {
        "url": "https://codex.example.com/mcp",
        "headers": {"X-Team": "7", "Authorization": "Bearer ${CODEX_KEY}"},
    },
    "old": {"url": "https://old.example.com/sse", "type": "sse"},
    "new": {"url": "https://new.example.com"},
    "geese": {"command": "uvx", "args": ["geese"], "env": {"POND": "big"}},
    "zed": {"command": "zed-mcp", "args": ["-v"]},
    "open": {"command": "bun", "args": ["x", "open"], "env": {"D": "${DOOR}"}},
}


@pytest.fixture
def home(place, tmp_path):
    """A home folder with a server or two in each client."""
    pytest.importorskip("agentcore_mcp_servers")
    if sys.platform == "darwin":
        pytest.skip("the files of these tests are where Linux has them")
    place.environ["PATH"] = "/usr/bin:/bin"
    for name, text in FILES.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path


def servers(place):
    """What app.json has."""
    return json.loads((place.folder / "app.json").read_text()).get("mcpServers", {})


def texts(home: Path):
    """The files of all clients."""
    return {name: (home / name).read_text() for name in FILES}


def test_all_servers_are_taken_over_and_secrets_kept_as_such(place, home):
    done = place.run("mcp", "import", "--all", "--yes")
    assert done.code == 0, done.err
    assert servers(place) == TAKEN
    kept = place.run("secrets", "list", "--json").json
    assert [each["name"] for each in kept["secrets"]] == ["github_token", "home_authorization"]
    assert kept["missing"] == {"code-key": ["mcp_code"]}
    assert KEY not in done.out + done.err
    assert KEY in (place.state / "secrets.json").read_text()
    assert texts(home) == FILES
    again = place.run("mcp", "import", "--all", "--yes")
    assert again.out == "No other servers were found.\n"


@pytest.mark.more
def test_secrets_that_other_users_of_the_machine_see_are_named_where_servers_are_shown(place, home):
    block = {"command": "npx", "args": ["srv", "--api-key", KEY], "env": {"TOKEN": KEY}}
    (home / ".cursor/mcp.json").write_text(json.dumps({"mcpServers": {"seen": block}}))
    warning = "seen: args[2] holds a secret, which other users of this machine can see while the command runs"
    imported = place.run("mcp", "import", "--only", "seen", "--yes")
    assert servers(place)["seen"]["args"][2] == "${secret:seen_api_key}"
    place.write_app(modules=[], mcpServers=servers(place))
    added = place.run("mcp", "add", "other", "--yes", "--", "npx", "srv", "--api-key", KEY)
    listed, checked = place.run("mcp", "list"), place.run("doctor")
    assert [warning in done.out + done.err for done in (imported, listed, checked)] == [True] * 3
    assert "mcpServers.other.args[2] looks like a secret" in checked.out
    assert warning.replace("seen", "other", 1) in added.err
    assert KEY not in "".join(done.out + done.err for done in (imported, added, listed, checked))


def test_servers_of_all_scopes_are_found(place, home):
    project = home / "project"
    project.mkdir()
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": {"shared": {"command": "shared"}}}))
    settings = {"mcpServers": {"local": {"command": "local"}}, "disabledMcpjsonServers": ["shared"]}
    (home / ".claude.json").write_text(json.dumps({"projects": {str(project): settings}}))
    for name in (".cursor/mcp.json", ".gemini/settings.json"):
        (place.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (place.folder / name).write_text(json.dumps({"mcpServers": {f"here-{name[1:4]}": {"command": "here"}}}))
    (home / ".continue").mkdir()
    (home / ".continue/config.yaml").write_text("mcpServers:\n- {name: goes-on, command: go}\n")
    done = place.run("mcp", "import", "--all", "--yes")
    assert done.code == 0, done.err
    assert {"shared", "local", "here-cur", "here-gem", "goes-on"} <= set(servers(place))
    assert f"Claude Code in {project} (off there)" in done.out


FILTERED = {
    ".codex/config.toml": """[mcp_servers.one]
command = "one"
env_vars = ["HUB", {name = "LAB", source = "local"}]
enabled_tools = ["read", "list"]
disabled_tools = ["list"]
tool_timeout_sec = 30
""",
    ".gemini/settings.json": json.dumps(
        {
            "mcpServers": {
                "two": {
                    "command": "two",
                    "excludeTools": ["drop"],
                    "timeout": 5000,
                    "trust": True,
                    "oauth": {"enabled": 1},
                }
            }
        }
    ),
    ".config/goose/config.yaml": """extensions:
  three: {type: stdio, enabled: true, cmd: three, args: [], env_keys: [POND_KEY], available_tools: [swim]}
""",
    ".cursor/mcp.json": json.dumps(
        {
            "mcpServers": {
                "four": {"command": "four", "args": ["${workspaceFolder}/x"], "envFile": ".env"},
                "five": {"type": "streamableHttp", "url": f"https://five.example.com/mcp?api_key={KEY}"},
                "six": {
                    "command": "npx",
                    "args": ["mcp-remote", "https://six.example.com", "--header", f"X-Api-Key:{KEY}"],
                },
            }
        }
    ),
}


def test_filters_and_limits_are_kept_and_what_is_left_out_is_said(place, home):
    for name, text in FILTERED.items():
        (home / name).write_text(text)
    done = place.run("mcp", "import", "--all", "--yes")
    assert done.code == 0, done.err
    found = servers(place)
    assert found["one"] == {
        "command": "one",
        "args": [],
        "env": {"HUB": "${HUB}", "LAB": "${LAB}"},
        "agentcore": {"tools": ["read", "list", "!list"], "timeout_s": 30},
    }
    assert found["two"]["agentcore"] == {"tools": ["*", "!drop"], "timeout_s": 5}
    assert found["three"]["env"] == {"POND_KEY": "${secret:POND_KEY}"}
    assert found["three"]["agentcore"] == {"tools": ["swim"]}
    assert found["five"]["url"] == "https://five.example.com/mcp?api_key=${secret:five_api_key}"
    assert found["six"]["args"][3].startswith("X-Api-Key:${secret:")
    assert KEY not in json.dumps(found)
    for said in (
        "two of Gemini CLI: trust lets calls run without asking there; here your rules decide",
        "two of Gemini CLI: oauth is not taken over",
        "three of Goose: the values of POND_KEY are in its keyring",
        "four of Cursor: envFile is not taken over",
        "four of Cursor: ${workspaceFolder} means nothing here",
    ):
        assert said in done.err


def test_one_client_or_one_server_is_taken(place, home):
    assert place.run("mcp", "import", "--from", "gemini", "--yes").code == 0
    assert set(servers(place)) == {"old", "new"}
    assert place.run("mcp", "import", "--only", "zed", "--only", "notes", "--yes").code == 0
    assert set(servers(place)) == {"old", "new", "zed", "notes"}


def test_secrets_stay_where_they_are_if_that_is_meant_and_are_not_shown(place, home):
    done = place.run("mcp", "import", "--only", "github", "--leave-secrets", "--yes")
    assert servers(place)["github"]["env"]["GITHUB_TOKEN"] == KEY
    assert KEY not in done.out + done.err


def test_a_person_picks_at_a_terminal(place, home, on_terminal):
    terminal = on_terminal("mcp", "import")
    terminal.expect("Which?")
    terminal.type("1 zed\n")
    terminal.expect("github_token. Keep them")
    terminal.type("\n")
    terminal.expect("Do that?")
    terminal.type("y\n")
    code, shown = terminal.end()
    assert code == 0, shown
    assert servers(place) == {"github": LOCAL, "zed": TAKEN["zed"]}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "--all, --only NAME or --from CLIENT"),
        (("--only", "githb"), "did you mean 'github'"),
        (("--from", "cursr"), "did you mean 'cursor'"),
        (("--all",), "--yes"),
    ],
)
def test_what_is_not_clear_is_refused_and_changes_nothing(place, home, words, said):
    before = (place.folder / "app.json").read_text()
    done = place.run("mcp", "import", *words)
    assert done.code == 2
    assert said in done.err
    assert (place.folder / "app.json").read_text() == before


def test_a_file_that_is_broken_is_named_and_the_others_are_read(place, home):
    (home / ".cursor/mcp.json").write_text("{")
    done = place.run("mcp", "import", "--all", "--yes")
    assert done.code == 0
    assert "Cursor: " in done.err
    assert set(servers(place)) == set(TAKEN) - {"notes"}


def test_two_of_one_name_are_told_apart(place, home):
    (home / ".cursor/mcp.json").write_text('{"mcpServers": {"zed": {"command": "other"}}}')
    done = place.run("mcp", "import", "--only", "zed", "--yes")
    assert "take it with --from" in done.err
    assert servers(place)["zed"]["command"] == "other"


def test_with_a_server_all_of_it_waits_for_a_person(place, home, running_server):
    done = place.run("mcp", "import", "--only", "github", "--only", "home", "--yes")
    assert done.code == 1, done.err
    assert "approval view" in done.err
    assert servers(place) == {}
    refused = place.run("mcp", "import", "--all", "--yes")
    assert "/mcpServers/notes/env/A: ${NOTES}" in refused.err
