"""The clients to which agentcore can be added, with the location and format of their server entries."""

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from agentcore.cli.clients.documents import Format
from agentcore.cli.clients.entry import BEARER_VARIABLE, CALL_SECONDS, START_SECONDS, OverHttp, OverStdio, Reach, Waits
from agentcore.late_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AgentClient:
    """A client that can start or connect to MCP servers.

    Args:
        name: Its name on the command line.
        title: Its product name.
        locate: Returns the path of its configuration file.
        parent: Path of the servers within the file.
        stdio: Makes an entry with a command.
        http: Makes an entry with an address. None: the client accepts no addresses.
        format: Format of the file.
        waits: Whether a call in this client may take longer than a minute.
        adds: Returns the client's own command that adds an entry, from the entry's name and content. None: it has none.
        removes: Returns the client's own command that removes an entry, from its name. None: it has none.
        command_locates: Returns the path of the file that its own command writes. None: the same file.
        is_running: Names of processes; while one is running, the file must not be changed.
        project_files: Files that it reads in a project: settings, servers that it starts, instructions. Paths relative
            to the project's folder; agentcore protects them from tools.
    """

    name: str
    title: str
    locate: Callable[[], Path]
    parent: tuple[str, ...]
    stdio: Callable[[OverStdio], dict[str, Any]]
    http: Callable[[OverHttp], dict[str, Any]] | None = None
    format: Format = "json"
    waits: Waits = "no"
    adds: Callable[[str, OverStdio], Sequence[str]] | None = None
    removes: Callable[[str], Sequence[str]] | None = None
    command_locates: Callable[[], Path] | None = None
    is_running: tuple[str, ...] = ()
    project_files: tuple[str, ...] = ()

    def make_entry(self, reach: Reach, name: str) -> dict[str, Any]:
        """Return agentcore's entry in the client's format; some repeat the name in it."""
        if isinstance(reach, OverStdio):
            entry = self.stdio(reach)
        else:
            assert self.http is not None  # noqa: S101 - the command has looked
            entry = self.http(reach)
        return entry | {"name": name} if "name" in entry else entry


def _in_home(*parts: str) -> Callable[[], Path]:
    return lambda: Path.home().joinpath(*parts)


def _in_settings_folder(*parts: str) -> Callable[[], Path]:
    """Locate a file below XDG_CONFIG_HOME, or else `~/.config`."""
    return lambda: Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config").joinpath(*parts)


def _in_application_folder(linux: Sequence[str], macos: Sequence[str]) -> Callable[[], Path]:
    if sys.platform == "darwin":
        return _in_home("Library", "Application Support", *macos)
    return _in_settings_folder(*linux)


def _command_entry(reach: OverStdio) -> dict[str, Any]:
    return {"command": reach.command, "args": list(reach.args), **_environment(reach, "env")}


def _environment(reach: OverStdio, key: str) -> dict[str, Any]:
    return {key: dict(reach.env)} if reach.env else {}


def _environment_options(reach: OverStdio) -> list[str]:
    return [word for name, value in reach.env.items() for word in ("--env", f"{name}={value}")]


def _bearer_headers(reach: OverHttp) -> dict[str, str]:
    return {"Authorization": f"Bearer {reach.key}"}


# `required`: otherwise its first request to the model may be sent before the tools are there
_CODEX_LIMITS: Mapping[str, Any] = {
    "required": True,
    "startup_timeout_sec": START_SECONDS,
    "tool_timeout_sec": CALL_SECONDS,
}


def _in_home_of_codex() -> Path:
    return Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex") / "config.toml"


def _opencode_stdio(reach: OverStdio) -> dict[str, Any]:
    return {
        "type": "local",
        "command": [reach.command, *reach.args],
        "enabled": True,
        "environment": dict(reach.env),
        "timeout": CALL_SECONDS * 1000,
    }


def _opencode_http(reach: OverHttp) -> dict[str, Any]:
    return {
        "type": "remote",
        "url": reach.url,
        "enabled": True,
        "headers": _bearer_headers(reach),
        "timeout": CALL_SECONDS * 1000,
    }


def _commented_or_plain(folder: str, name: str) -> Callable[[], Path]:
    """Locate a file that may have the suffix `.jsonc` instead, which then has the user's settings."""

    def locate() -> Path:
        plain = _in_settings_folder(folder, name)()
        commented = plain.with_suffix(".jsonc")
        return commented if commented.exists() and not plain.exists() else plain

    return locate


def _cline_path() -> Path:
    chosen = os.environ.get("CLINE_MCP_SETTINGS_PATH")
    return Path(chosen or Path.home() / ".cline" / "data" / "settings" / "cline_mcp_settings.json")


def _vscode_path() -> Path:
    return Path.cwd() / ".vscode" / "mcp.json"


_CLIENTS = (
    AgentClient(
        "claude-code",
        "Claude Code",
        _in_home(".claude.json"),
        ("mcpServers",),
        # its limit in ms, which progress does not extend; without it, calls over HTTP end after 60 s
        lambda reach: {"type": "stdio", "env": {}, **_command_entry(reach), "timeout": CALL_SECONDS * 1000},
        lambda reach: {
            "type": "http",
            "url": reach.url,
            "headers": _bearer_headers(reach),
            "timeout": CALL_SECONDS * 1000,
        },
        waits="with_progress",
        adds=lambda name, reach: (
            *("claude", "mcp", "add", "--scope", "user", name),
            *_environment_options(reach),
            *("--", reach.command, *reach.args),
        ),
        removes=lambda name: ("claude", "mcp", "remove", "--scope", "user", name),
        project_files=(
            ".mcp.json",
            ".claude/settings.json",
            ".claude/settings.local.json",
            ".claude/skills/x/SKILL.md",
            "CLAUDE.md",
            "CLAUDE.local.md",
        ),
    ),
    AgentClient(
        "claude-desktop",
        "Claude Desktop",
        _in_application_folder(("Claude", "claude_desktop_config.json"), ("Claude", "claude_desktop_config.json")),
        ("mcpServers",),
        _command_entry,
        is_running=("Claude", "claude-desktop"),
    ),
    AgentClient(
        "cursor",
        "Cursor",
        _in_home(".cursor", "mcp.json"),
        ("mcpServers",),
        _command_entry,
        lambda reach: {"url": reach.url, "headers": _bearer_headers(reach)},
        project_files=(".cursor/mcp.json", ".cursor/rules/x.mdc", ".cursorrules", "AGENTS.md"),
    ),
    AgentClient(
        "windsurf",
        "Windsurf",
        _in_home(".codeium", "windsurf", "mcp_config.json"),
        ("mcpServers",),
        _command_entry,
        lambda reach: {"serverUrl": reach.url, "headers": _bearer_headers(reach)},
        project_files=(".windsurf/rules/x.md", ".windsurfrules", "AGENTS.md"),
    ),
    AgentClient(
        "vscode",
        "VS Code",
        _vscode_path,
        ("servers",),
        lambda reach: {"type": "stdio", **_command_entry(reach)},
        lambda reach: {"type": "http", "url": reach.url, "headers": _bearer_headers(reach)},
        adds=lambda name, reach: (
            "code",
            "--add-mcp",
            json.dumps({"name": name, "type": "stdio", **_command_entry(reach)}),
        ),
        command_locates=_in_application_folder(("Code", "User", "mcp.json"), ("Code", "User", "mcp.json")),
        project_files=(
            ".vscode/mcp.json",
            ".vscode/tasks.json",
            ".vscode/settings.json",
            "x.code-workspace",
            ".github/copilot-instructions.md",
            ".github/instructions/x.instructions.md",
            ".github/prompts/x.prompt.md",
            ".github/chatmodes/x.chatmode.md",
            "AGENTS.md",
        ),
    ),
    AgentClient(
        "codex",
        "Codex",
        _in_home_of_codex,
        ("mcp_servers",),
        lambda reach: {**_command_entry(reach), **_CODEX_LIMITS},
        lambda reach: {"url": reach.url, "bearer_token_env_var": BEARER_VARIABLE, **_CODEX_LIMITS},
        format="toml",
        waits="with_progress",
        adds=lambda name, reach: (
            *("codex", "mcp", "add", name),
            *_environment_options(reach),
            *("--", reach.command, *reach.args),
        ),
        removes=lambda name: ("codex", "mcp", "remove", name),
        project_files=(".codex/config.toml", ".agents/skills/x/SKILL.md", "AGENTS.md", "AGENTS.override.md"),
    ),
    AgentClient(
        "gemini",
        "Gemini CLI",
        _in_home(".gemini", "settings.json"),
        ("mcpServers",),
        lambda reach: {**_command_entry(reach), "timeout": CALL_SECONDS * 1000},
        lambda reach: {"httpUrl": reach.url, "headers": _bearer_headers(reach), "timeout": CALL_SECONDS * 1000},
        waits="with_progress",
        project_files=(".gemini/settings.json", ".gemini/commands/x.toml", "GEMINI.md"),
    ),
    AgentClient(
        "qwen",
        "Qwen Code",
        _in_home(".qwen", "settings.json"),
        ("mcpServers",),
        lambda reach: {**_command_entry(reach), "timeout": CALL_SECONDS * 1000},
        lambda reach: {"httpUrl": reach.url, "headers": _bearer_headers(reach), "timeout": CALL_SECONDS * 1000},
        waits="with_progress",
        project_files=(".qwen/settings.json", "QWEN.md"),
    ),
    AgentClient(
        "cline",
        "Cline",
        _cline_path,
        ("mcpServers",),
        # it requests no progress, and ends itself at the fifth equal call, so that a call has to stay open instead
        lambda reach: {"type": "stdio", **_command_entry(reach), "timeout": CALL_SECONDS},
        lambda reach: {
            "type": "streamableHttp",
            "url": reach.url,
            "headers": _bearer_headers(reach),
            "timeout": CALL_SECONDS,
        },
        waits="silently",
        project_files=(".clinerules", "AGENTS.md"),
    ),
    AgentClient(
        "continue",
        "Continue",
        _in_home(".continue", "config.yaml"),
        ("mcpServers",),
        lambda reach: {"name": "agentcore", **_command_entry(reach)},
        lambda reach: {
            "name": "agentcore",
            "type": "streamable-http",
            "url": reach.url,
            "requestOptions": {"headers": _bearer_headers(reach)},
        },
        format="yaml_list",
        project_files=(".continue/mcpServers/x.yaml", ".continue/rules/x.md"),
    ),
    AgentClient(
        "goose",
        "Goose",
        _in_settings_folder("goose", "config.yaml"),
        ("extensions",),
        lambda reach: {
            "enabled": True,
            "type": "stdio",
            "name": "agentcore",
            "cmd": reach.command,
            "args": list(reach.args),
            **_environment(reach, "envs"),
            "timeout": CALL_SECONDS,
        },
        lambda reach: {
            "enabled": True,
            "type": "streamable_http",
            "name": "agentcore",
            "uri": reach.url,
            "headers": _bearer_headers(reach),
            "timeout": CALL_SECONDS,
        },
        format="yaml",
        waits="with_progress",
        project_files=(".goosehints", ".goose/memory/x.txt", ".config/goose/config.yaml", "AGENTS.md"),
    ),
    AgentClient(
        "zed",
        "Zed",
        _in_settings_folder("zed", "settings.json"),
        ("context_servers",),
        lambda reach: {"env": {}, **_command_entry(reach)},
        lambda reach: {"url": reach.url, "headers": _bearer_headers(reach)},
        project_files=(".zed/settings.json", ".zed/tasks.json", ".zed/debug.json", ".rules", "AGENTS.md"),
    ),
    AgentClient(
        "opencode",
        "opencode",
        _commented_or_plain("opencode", "opencode.json"),
        ("mcp",),
        _opencode_stdio,
        _opencode_http,
        waits="with_progress",
        project_files=("opencode.json", "opencode.jsonc", ".opencode/plugin/x.ts", ".opencode/agent/x.md", "AGENTS.md"),
    ),
    AgentClient(
        "kilo",
        "Kilo Code",
        _commented_or_plain("kilo", "kilo.json"),
        ("mcp",),
        _opencode_stdio,
        _opencode_http,
        waits="with_progress",
        project_files=("kilo.json", "kilo.jsonc", ".kilo/kilo.json", ".kilocode/mcp.json", "AGENTS.md"),
    ),
)

CLIENTS: Mapping[str, AgentClient] = {client.name: client for client in _CLIENTS}
