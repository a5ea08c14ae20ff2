"""Reads the MCP servers from other clients' files and converts them to the most common format."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from agentcore.cli.clients.client_catalog import CLIENTS, AgentClient
from agentcore.cli.clients.client_file_change import read_client_file
from agentcore.cli.clients.documents import Format, find_member, read_document
from agentcore.cli.clients.entry import is_own_entry
from agentcore.cli.terminal.exit_codes import CliError
from agentcore.late_dataclasses import dataclass

_PROJECT_FILES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "claude-code": (".mcp.json", ("mcpServers",)),
    "cursor": (".cursor/mcp.json", ("mcpServers",)),
    "codex": (".codex/config.toml", ("mcp_servers",)),
    "gemini": (".gemini/settings.json", ("mcpServers",)),
    "qwen": (".qwen/settings.json", ("mcpServers",)),
    "opencode": ("opencode.json", ("mcp",)),
    "kilo": (".kilocode/mcp.json", ("mcpServers",)),
    "zed": (".zed/settings.json", ("context_servers",)),
}
"""The file of each client in a project: its path there, and the path of the servers in it."""

_WITH_SSE_AT_URL = ("gemini", "qwen")
"""The clients in which `url` is the address of an SSE server, and `httpUrl` that of any other."""

_OFFERED_NAMES = ("enabled_tools", "includeTools", "available_tools", "tools", "allowedTools")
_HIDDEN_NAMES = ("disabled_tools", "excludeTools", "disabledTools")
_RUN_UNASKED = ("alwaysAllow", "autoApprove", "trust", "alwaysApprove")
"""Keys by which calls run without asking there."""

_SECONDS_FACTORS = {"gemini": 1000, "qwen": 1000, "claude-code": 1000, "opencode": 1000, "kilo": 1000}
"""Units of `timeout` in a second; one in all other clients."""

_UNDERSTOOD = frozenset(
    (
        *("command", "cmd", "args", "cwd", "type", "transport", "transportType", "name", "description", "enabled"),
        *(
            "disabled",
            "timeout",
            "tool_timeout_sec",
            "env_vars",
            "env_keys",
            "bearer_token_env_var",
            "env_http_headers",
        ),
        *(
            "startup_timeout_sec",
            "startup_timeout_ms",
            "required",
            "source",
            "bundled",
            "display_name",
            "icon",
            "gallery",
        ),
        *("version", "requestOptions", "envs", "env", "environment", "headers", "http_headers", "url", "serverUrl"),
        *("httpUrl", "uri", *_OFFERED_NAMES, *_HIDDEN_NAMES),
    )
)
"""Keys that are taken over, or that mean nothing here."""

_OF_ENVIRONMENT = re.compile(r"\$\{env:([A-Za-z_]\w*)\}|(?<!\$)\{env:([A-Za-z_]\w*)\}")
_OF_EDITOR = re.compile(r"\$\{(?:workspaceFolder|userHome|file|pathSeparator|command:)[^}]*\}")
"""References to what only an editor knows."""

_OF_INPUT = re.compile(r"\$\{input:([A-Za-z_][\w.-]*)\}")
_REMOTE_NAMES = ("url", "serverUrl", "httpUrl", "uri")
_ENVIRONMENT_NAMES = ("env", "environment", "envs")
_HEADER_NAMES = ("headers", "http_headers")
_LONGEST_SECONDS = 3600
_NO_SERVERS = ("builtin", "platform", "frontend", "inline_python")
"""Types of Goose extensions that are not servers."""


@dataclass(frozen=True, slots=True)
class ConfiguredServer:
    """A server entry in a client's file.

    Args:
        client: The client that the file belongs to.
        is_off: True if the server is disabled there.
        block: The server in the most common format.
        project: The folder for which alone the client has it; None: it has it everywhere.
        left_out: What is not taken over, a sentence each.
    """

    name: str
    client: AgentClient
    file: Path
    is_off: bool
    block: dict[str, Any] = field(repr=False)
    project: Path | None = None
    left_out: tuple[str, ...] = ()


def configured_servers_of(client: AgentClient) -> Iterator[ConfiguredServer]:
    """Yield a client's servers, without agentcore and entries that are not servers.

    Raises:
        CliError: One of the client's files cannot be read.
    """
    for path, parent, project in _find_files(client):
        text = read_client_file(path)
        if text is None:
            continue
        form: Format = "json" if path.suffix in (".json", ".jsonc") else client.format
        document = read_document(text, form, str(path)).value
        for found, owner, settings in _find_scopes(document, parent, project):
            off = _list_disabled(settings)
            for name, entry in _name_entries(found):
                block = None if is_own_entry(entry) else convert_entry(entry, client.name)
                if block is None:
                    continue
                is_off = _is_off(entry) or name in off
                left_out = tuple(_describe_left_out(entry, block))
                yield ConfiguredServer(name, client, path, is_off, block, owner, left_out)


def _find_scopes(
    document: Any, parent: tuple[str, ...], project: Path | None
) -> Iterator[tuple[Any, Path | None, Mapping[str, Any]]]:
    """Yield the servers of a file, the project that each group belongs to, and the settings beside them.

    Claude Code has those of each project in its own file; those that the project brings are in `.mcp.json` there.
    """
    yield find_member(document, parent), project, document
    projects = document.get("projects")
    for folder, settings in projects.items() if isinstance(projects, Mapping) else ():
        if not isinstance(settings, Mapping):
            continue
        yield settings.get("mcpServers"), Path(folder), settings
        path = Path(folder) / _PROJECT_FILES["claude-code"][0]
        if path.parent != Path.cwd() and (text := read_client_file(path)) is not None:
            yield find_member(read_document(text, "json", str(path)).value, parent), Path(folder), settings


def _name_entries(found: Any) -> Iterator[tuple[str, Any]]:
    """Yield entries by their names, also of a list in which each has its name as a member."""
    if isinstance(found, Mapping):
        yield from ((str(name), entry) for name, entry in found.items())
    elif isinstance(found, list):
        yield from ((str(each["name"]), each) for each in found if isinstance(each, Mapping) and "name" in each)


def _list_disabled(settings: Mapping[str, Any]) -> frozenset[str]:
    """Return the servers that the settings beside them turn off."""
    lists = [settings.get(name) for name in ("disabledMcpjsonServers", "disabledMcpServers")]
    lists.append(find_member(settings, ("mcp", "excluded")))
    return frozenset(str(name) for each in lists if isinstance(each, list) for name in each)


def _describe_left_out(entry: Mapping[str, Any], block: Mapping[str, Any]) -> Iterator[str]:
    unasked = [name for name in _RUN_UNASKED if entry.get(name)]
    if unasked:
        yield f"{' and '.join(unasked)} lets calls run without asking there; here your rules decide"
    others = [str(name) for name in entry if name not in _UNDERSTOOD and name not in _RUN_UNASKED]
    if others:
        yield f"{', '.join(others)} is not taken over"
    unresolved = sorted({found for text in _list_texts(block) for found in _OF_EDITOR.findall(text)})
    if unresolved:
        yield f"{', '.join(unresolved)} means nothing here: write the path in its place"
    if keys := entry.get("env_keys"):
        yield f"the values of {', '.join(map(str, keys))} are in its keyring: set them with agentcore secrets set"


def _list_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _list_texts(part)


def all_configured_servers(told: list[str]) -> Iterator[ConfiguredServer]:
    """Yield the servers of all clients.

    Args:
        told: Receives a sentence about each client whose files cannot be read; the others are still read.
    """
    for client in CLIENTS.values():
        try:
            yield from configured_servers_of(client)
        except CliError as exc:
            told.append(f"{client.title}: {exc.message}")


def convert_entry(entry: Any, client: str) -> dict[str, Any] | None:
    """Convert a client's entry to the most common format; return None if it is not a server.

    References to the environment are converted to agentcore's syntax, and inputs that a client asks for become secrets.

    Args:
        client: The name of the client whose format it is.
    """
    if not isinstance(entry, Mapping) or entry.get("type") in _NO_SERVERS:
        return None
    address = next((entry[name] for name in _REMOTE_NAMES if isinstance(entry.get(name), str)), None)
    block = _command_block(entry) if address is None else _remote_block(entry, address, client)
    if block is None:
        return None
    if ours := _read_options(entry, client):
        block["agentcore"] = ours
    written: dict[str, Any] = _rewrite_references(block)
    return written


def _find_files(client: AgentClient) -> Iterator[tuple[Path, tuple[str, ...], Path | None]]:
    """Yield the files of a client, the path of the servers in each, and the project that it belongs to."""
    places: list[tuple[Path, tuple[str, ...], Path | None]] = [(client.locate(), client.parent, None)]
    if client.command_locates is not None:
        places.append((client.command_locates(), client.parent, None))
    if client.name in _PROJECT_FILES:
        below, parent = _PROJECT_FILES[client.name]
        places.append((Path.cwd() / below, parent, Path.cwd()))
    seen: set[str] = set()
    for path, parent, project in places:
        real = os.path.realpath(path)
        if real not in seen:
            seen.add(real)
            yield Path(real), parent, project


def _is_off(entry: Mapping[str, Any]) -> bool:
    return entry.get("enabled") is False or entry.get("disabled") is True


def _command_block(entry: Mapping[str, Any]) -> dict[str, Any] | None:
    said = entry.get("command") or entry.get("cmd")
    inner = said if isinstance(said, Mapping) else entry  # older versions of Zed nest everything in `command`
    said = inner.get("path") if inner is said else said
    words = [str(word) for word in said] if isinstance(said, list) else [said]
    if not words or not isinstance(words[0], str) or not words[0]:
        return None
    given = inner.get("args")
    args = [*words[1:], *(str(word) for word in (given if isinstance(given, list) else ()))]
    block: dict[str, Any] = {"command": words[0], "args": args}
    if env := _read_environment(entry, inner):
        block["env"] = env
    if isinstance(entry.get("cwd"), str):
        block["cwd"] = entry["cwd"]
    return block


def _read_environment(entry: Mapping[str, Any], inner: Mapping[str, Any]) -> dict[str, str]:
    """Return the variables: written ones, names of the client's own environment, and names in the client's keyring."""
    passed = entry.get("env_vars")
    names = [each.get("name") if isinstance(each, Mapping) else each for each in passed or ()]
    kept = entry.get("env_keys")
    return {
        **{str(name): f"${{{name}}}" for name in names if name},
        **{str(name): f"${{secret:{name}}}" for name in (kept if isinstance(kept, list) else ())},
        **_read_texts(inner, _ENVIRONMENT_NAMES),
    }


def _read_options(entry: Mapping[str, Any], client: str) -> dict[str, Any]:
    """Return what belongs under agentcore's own key: the filter of tools, and the time limit of a call."""
    options: dict[str, Any] = {}
    offered = next((entry[name] for name in _OFFERED_NAMES if isinstance(entry.get(name), list)), None)
    hidden: list[Any] = next((entry[name] for name in _HIDDEN_NAMES if isinstance(entry.get(name), list)), [])
    if offered == []:
        options["tools"] = ["!*"]
    elif hidden or (offered and offered != ["*"]):
        options["tools"] = [*map(str, offered or ["*"]), *(f"!{name}" for name in hidden)]
    limit = entry.get("tool_timeout_sec")
    if limit is None and isinstance(given := entry.get("timeout"), int | float):
        limit = given / _SECONDS_FACTORS.get(client, 1)
    if isinstance(limit, int | float) and not isinstance(limit, bool) and 0 < limit <= _LONGEST_SECONDS:
        options["timeout_s"] = limit
    return options


def _remote_block(entry: Mapping[str, Any], address: str, client: str) -> dict[str, Any]:
    headers = _read_texts(entry, _HEADER_NAMES)
    if isinstance(requests := entry.get("requestOptions"), Mapping):
        headers |= _read_texts(requests, _HEADER_NAMES)
    headers |= {name: f"${{{variable}}}" for name, variable in _read_texts(entry, ("env_http_headers",)).items()}
    if isinstance(entry.get("bearer_token_env_var"), str):
        headers["Authorization"] = f"Bearer ${{{entry['bearer_token_env_var']}}}"
    block: dict[str, Any] = {"url": address}
    spoken = next((entry[name] for name in ("type", "transport", "transportType") if name in entry), None)
    is_sse_there = client in _WITH_SSE_AT_URL and "httpUrl" not in entry and spoken is None
    if is_sse_there or str(spoken).lower() == "sse":
        block["type"] = "sse"
    return block | ({"headers": headers} if headers else {})


def _read_texts(entry: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, str]:
    found: Mapping[Any, Any] = next((entry[name] for name in names if isinstance(entry.get(name), Mapping)), {})
    return {str(name): str(value) for name, value in found.items() if isinstance(value, str | int | float)}


def _rewrite_references(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _rewrite_references(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_rewrite_references(part) for part in value]
    if not isinstance(value, str):
        return value
    text = _OF_ENVIRONMENT.sub(lambda found: f"${{{found[1] or found[2]}}}", str(value))
    return _OF_INPUT.sub(lambda found: f"${{secret:{found[1]}}}", text)
