"""`agentcore connect` and `disconnect`: the files of clients in a home folder of the test's own."""

import json
import os
import re
import stat
import sys
import tomllib
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from agentcore.cli.clients.documents import find_member

FILES = {
    "claude-code": (".claude.json", ("mcpServers",)),
    "claude-desktop": (".config/Claude/claude_desktop_config.json", ("mcpServers",)),
    "cursor": (".cursor/mcp.json", ("mcpServers",)),
    "windsurf": (".codeium/windsurf/mcp_config.json", ("mcpServers",)),
    "vscode": ("home/.vscode/mcp.json", ("servers",)),
    "codex": (".codex/config.toml", ("mcp_servers",)),
    "gemini": (".gemini/settings.json", ("mcpServers",)),
    "goose": (".config/goose/config.yaml", ("extensions",)),
    "zed": (".config/zed/settings.json", ("context_servers",)),
    "opencode": (".config/opencode/opencode.json", ("mcp",)),
    "qwen": (".qwen/settings.json", ("mcpServers",)),
    "cline": (".cline/data/settings/cline_mcp_settings.json", ("mcpServers",)),
    "continue": (".continue/config.yaml", ("mcpServers",)),
    "kilo": (".config/kilo/kilo.json", ("mcp",)),
}

COMMENTED = """{
  // how it looks
  "theme": "dark", /* not light */
  "servers of others": {"url": "https://example.com//x"},
  "mcpServers": {
    "notes": {"command": "notes-server", "args": ["--fast"],}, // mine
  },
}
"""


@pytest.fixture
def home(place, tmp_path):
    """The home folder of the commands, where no client's own command is on PATH."""
    place.environ["PATH"] = "/usr/bin:/bin"
    if sys.platform == "darwin":
        pytest.skip("the files of these tests are where Linux has them")
    return tmp_path


def servers_in(home: Path, client: str) -> dict:
    """The servers that a client's file lists."""
    name, parent = FILES[client]
    text = (home / name).read_text()
    if name.endswith(".toml"):
        value = tomllib.loads(text)
    else:
        value = YAML(typ="safe").load(text) if name.endswith(".yaml") else json.loads(text)
    for key in parent:
        value = value.get(key, {})
    return {each["name"]: each for each in value} if isinstance(value, list) else value


def words_of(entry: dict) -> list[str]:
    """The command line of an entry."""
    command = entry.get("command") or entry["cmd"]
    return command if isinstance(command, list) else [command, *entry["args"]]


@pytest.mark.parametrize("client", FILES)
def test_each_client_gets_an_entry_and_loses_it_again(place, home, client):
    assert place.run("connect", client, "--yes").code == 0
    words = words_of(servers_in(home, client)["agentcore"])
    assert os.access(words[0], os.X_OK)
    assert words[1:6] == ["mcp", "--client", client, "--config", str(place.folder / "app.json")]
    again = place.run("connect", client, "--yes")
    assert "already" in again.out
    gone = place.run("disconnect", client, "--yes")
    assert gone.code == 0, gone.err
    assert "agentcore" not in servers_in(home, client)


@pytest.mark.parametrize(
    ("client", "key", "limit"),
    [
        ("codex", "tool_timeout_sec", 660),
        ("codex", "required", True),
        ("claude-code", "timeout", 660_000),
        ("gemini", "timeout", 660_000),
        ("qwen", "timeout", 660_000),
        ("opencode", "timeout", 660_000),
        ("kilo", "timeout", 660_000),
        ("goose", "timeout", 660),
        ("cline", "timeout", 660),
    ],
)
def test_clients_that_take_a_limit_get_one_that_a_waiting_call_fits_into(place, home, client, key, limit):
    place.run("connect", client, "--yes")
    entry = servers_in(home, client)["agentcore"]
    assert entry[key] == limit
    assert words_of(entry)[words_of(entry).index("--wait") + 1] == "600"


def test_a_call_of_a_client_that_waits_without_progress_stays_open_as_long(place, home):
    place.run("connect", "cline", "--yes")
    assert words_of(servers_in(home, "cline")["agentcore"])[-3:] == ["--wait", "600", "--wait-silently"]
    place.run("connect", "claude-code", "--yes")
    assert "--wait-silently" not in words_of(servers_in(home, "claude-code")["agentcore"])


def test_comments_and_all_else_stay_and_the_file_as_it_was_is_kept(place, home):
    file = home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text(COMMENTED)
    file.chmod(0o600)
    done = place.run("connect", "cursor", "--yes")
    assert done.code == 0, done.err
    changed = file.read_text()
    for kept in ("// how it looks", "/* not light */", "https://example.com//x", '"args": ["--fast"],}', "// mine"):
        assert kept in changed
    assert '"agentcore"' in done.out
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert (home / ".cursor" / "mcp.json.before-agentcore").read_text() == COMMENTED
    place.run("disconnect", "cursor", "--yes")
    assert [line for line in file.read_text().splitlines() if line.strip()] == COMMENTED.splitlines()


@pytest.mark.parametrize(
    ("client", "text"),
    [
        ("codex", '# mine\nmodel = "o9"\n\n[mcp_servers.notes] # fast\ncommand = "notes-server"\n'),
        ("goose", "# mine\nGOOSE_MODEL: o9 # best\nextensions:\n  notes:\n    enabled: true\n    cmd: 'notes'\n"),
    ],
)
def test_comments_of_other_formats_stay(place, home, client, text):
    file = home / FILES[client][0]
    file.parent.mkdir(parents=True)
    file.write_text(text)
    assert place.run("connect", client, "--yes").code == 0
    assert all(line in file.read_text() for line in text.splitlines())
    assert place.run("disconnect", client, "--yes").code == 0
    assert file.read_text().rstrip() == text.rstrip()


def test_a_file_that_is_a_link_stays_one(place, home):
    (home / "dotfiles").mkdir()
    (home / "dotfiles" / "gemini.json").write_text('{"theme": "dark"}')
    (home / ".gemini").mkdir()
    (home / ".gemini" / "settings.json").symlink_to(home / "dotfiles" / "gemini.json")
    place.run("connect", "gemini", "--yes")
    assert (home / ".gemini" / "settings.json").is_symlink()
    assert "agentcore" in servers_in(home, "gemini")


@pytest.mark.parametrize(
    "text", ['{"mcpServers": {', '{"mcpServers": []}', "[1, 2]", '{"mcpServers": {}}\x00', '{"a": 1, "a": 2}']
)
def test_a_file_that_is_broken_is_left_as_it_is(place, home, text):
    (home / ".cursor").mkdir()
    (home / ".cursor" / "mcp.json").write_text(text)
    done = place.run("connect", "cursor", "--yes")
    assert done.code == 2, done.err
    assert "mend it first" in done.err
    assert (home / ".cursor" / "mcp.json").read_text() == text
    assert os.listdir(home / ".cursor") == ["mcp.json"]


def test_another_server_of_the_same_name_is_not_replaced(place, home):
    (home / ".cursor").mkdir()
    text = '{"mcpServers": {"agentcore": {"command": "something-else"}}}'
    (home / ".cursor" / "mcp.json").write_text(text)
    done = place.run("connect", "cursor", "--yes")
    assert done.code == 2
    assert "--name" in done.err
    assert (home / ".cursor" / "mcp.json").read_text() == text
    assert place.run("connect", "cursor", "--yes", "--name", "tools").code == 0
    assert set(servers_in(home, "cursor")) == {"agentcore", "tools"}


def test_nothing_is_written_without_a_word(place, home):
    done = place.run("connect", "cursor")
    assert done.code == 2
    assert "--yes" in done.err
    assert not (home / ".cursor").exists()


def test_a_client_that_writes_its_file_when_it_ends_is_to_be_quit_first(place, home):
    programs = home / "bin"
    programs.mkdir()
    (programs / "pgrep").write_text('#!/bin/sh\n[ "$2" = claude-desktop ]\n')
    (programs / "pgrep").chmod(0o755)
    place.environ["PATH"] = f"{programs}:/usr/bin:/bin"
    done = place.run("connect", "claude-desktop", "--yes")
    assert done.code == 2
    assert "quit it first" in done.err


def test_the_own_command_of_a_client_is_used_where_it_has_one(place, home):
    programs = home / "bin"
    programs.mkdir()
    (programs / "codex").write_text(
        f"#!{sys.executable}\nimport json, pathlib, sys\n"
        "place = sys.argv.index('--')\nname, command, *args = [sys.argv[3], *sys.argv[place + 1 :]]\n"
        "file = pathlib.Path.home() / '.codex' / 'config.toml'\nfile.parent.mkdir(exist_ok=True)\n"
        "file.write_text(f'# by codex\\n[mcp_servers.{name}]\\ncommand = {json.dumps(command)}\\n"
        "args = {json.dumps(args)}\\n')\n"
    )
    (programs / "codex").chmod(0o755)
    place.environ["PATH"] = f"{programs}:/usr/bin:/bin"
    done = place.run("connect", "codex", "--yes")
    assert done.code == 0, done.err
    assert (home / ".codex" / "config.toml").read_text().startswith("# by codex")
    assert servers_in(home, "codex")["agentcore"]["tool_timeout_sec"] == 660
    assert servers_in(home, "codex")["agentcore"]["env"] == {"AGENTCORE_STATE_DIR": str(place.state)}


def test_what_the_own_command_of_a_client_says_is_the_reason(place, home):
    programs = home / "bin"
    programs.mkdir()
    (programs / "claude").write_text("#!/bin/sh\necho 'no account here' >&2\nexit 1\n")
    (programs / "claude").chmod(0o755)
    place.environ["PATH"] = f"{programs}:/usr/bin:/bin"
    done = place.run("connect", "claude-code", "--yes")
    assert done.code == 1
    assert "no account here" in done.err


def test_a_block_for_any_other_client_is_printed(place, home):
    block = place.run("connect", "--print", "any").json
    assert words_of(block["mcpServers"]["agentcore"])[1:4] == ["mcp", "--client", "any"]
    done = place.run("connect", "--print", "claude-code", "--tools", "browser_*,read_file")
    assert "browser_*,read_file" in words_of(done.json["mcpServers"]["agentcore"])
    assert tomllib.loads(place.run("connect", "--print", "codex").out)["mcp_servers"]["agentcore"]
    assert not (home / ".claude.json").exists()


def test_a_block_is_printed_under_the_name_of_the_client_it_is_for(place, home):
    done = place.run("connect", "--print", "my-agent")
    assert words_of(done.json["mcpServers"]["agentcore"])[1:4] == ["mcp", "--client", "my-agent"]
    assert "claude-code" in place.run("connect", "--print", "claude-cod").err


def test_servers_in_a_list_are_changed_in_their_place(place, home):
    file = home / ".continue" / "config.yaml"
    file.parent.mkdir()
    mine = "name: mine # yes\nversion: 1.0.0\nmcpServers:\n- name: notes\n  command: notes-server # fast\n"
    file.write_text(mine)
    assert place.run("connect", "continue", "--yes").code == 0
    assert set(servers_in(home, "continue")) == {"notes", "agentcore"}
    assert "already" in place.run("connect", "continue", "--yes").out
    assert place.run("connect", "continue", "--yes", "--name", "tools").code == 0
    assert place.run("disconnect", "continue", "--yes", "--name", "tools").code == 0
    assert place.run("disconnect", "continue", "--yes").code == 0
    assert file.read_text() == mine


@pytest.mark.parametrize(
    "lists",
    [
        "models:\n  - name: a\n    roles:\n      - chat\nmcpServers:\n  - name: notes\n    env:\n      KEY: value\n",
        "models:\n    - name: a\n      roles:\n          - chat\nmcpServers:\n    - name: notes\n",
        "models:\n- name: a\n  roles: [chat]\n  limits:\n    size: 1\nmcpServers:\n- name: notes\n",
    ],
)
def test_indentation_of_lists_stays_as_it_is(place, home, lists):
    file = home / ".continue" / "config.yaml"
    file.parent.mkdir()
    mine = f"name: mine\nversion: 1.0.0\n{lists}"
    file.write_text(mine)
    assert place.run("connect", "continue", "--yes").code == 0
    assert file.read_text().startswith(mine)
    assert set(servers_in(home, "continue")) == {"notes", "agentcore"}
    assert place.run("disconnect", "continue", "--yes").code == 0
    assert file.read_text() == mine


def test_the_state_folder_is_written_where_the_client_would_look_elsewhere(place, home):
    state = place.environ["AGENTCORE_STATE_DIR"]
    for client, key in {"cursor": "env", "opencode": "environment", "goose": "envs", "codex": "env"}.items():
        assert place.run("connect", client, "--yes").code == 0
        assert servers_in(home, client)["agentcore"][key] == {"AGENTCORE_STATE_DIR": state}
    del place.environ["AGENTCORE_STATE_DIR"]
    place.run("connect", "cursor", "--yes")
    assert "env" not in servers_in(home, "cursor")["agentcore"]


def test_a_client_that_nobody_knows_is_told_apart(place, home):
    done = place.run("connect", "claude-cod")
    assert done.code == 2
    assert "claude-code" in done.err


def test_without_an_app_json_nothing_is_connected(empty_place):
    done = empty_place.run("connect", "cursor", "--yes")
    assert done.code == 2
    assert "agentcore init" in done.err


def test_the_page_of_docs_lists_each_client_with_what_it_gets(place, home):
    page = (Path(__file__).parents[3] / "docs" / "mcp.md").read_text("utf-8")
    listed = dict(re.findall(r"^\| [^|]+ \| `([a-z-]+)` \| [^|]+ \| ([^|]+) \|$", page, re.MULTILINE))
    assert set(listed) == set(FILES)
    for client, waits in listed.items():
        place.run("connect", client, "--yes")
        assert ("--wait" in words_of(servers_in(home, client)["agentcore"])) == (waits == "10 minutes")


def test_the_page_of_docs_gives_each_client_the_block_that_it_gets(place, home):
    page = (Path(__file__).parents[3] / "docs" / "mcp.md").read_text("utf-8")
    shown = re.findall(
        r"^```(json|toml|yaml)\n(.*?\n)```$", page.split("## What each client gets")[1], re.MULTILINE | re.DOTALL
    )
    read = {"json": json.loads, "toml": tomllib.loads, "yaml": YAML(typ="safe").load}
    blocks = [read[kind](text) for kind, text in shown]
    app = str(place.folder / "app.json")
    del place.environ["AGENTCORE_STATE_DIR"]  # which is written where it is not the default
    for client, (_, parent) in FILES.items():
        place.run("connect", client, "--yes")
        written = servers_in(home, client)["agentcore"]
        command = written.get("command", written.get("cmd"))
        program = command[0] if isinstance(command, list) else command
        expected = json.loads(
            json.dumps(written)
            .replace(program, "/opt/agentcore/bin/agentcore")
            .replace(app, "/home/me/assistant/app.json")
        )
        (name,) = parent
        named = json.dumps([find_member(block, (name, "agentcore")) for block in blocks])
        for shown, same in (("claude-desktop", ("cursor", "windsurf")), ("gemini", ("qwen",)), ("opencode", ("kilo",))):
            if client in same:
                named = named.replace(f'"{shown}"', f'"{client}"')
        assert expected in json.loads(named), client
