"""Reads the MCP servers from other clients' files and converts them to the most common format."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentcore.cli.clients.catalog import CLIENTS, AgentClient
from agentcore.cli.clients.change import read_client_file
from agentcore.cli.clients.documents import find_member, read_document
from agentcore.cli.clients.entry import is_own_entry
from agentcore.cli.terminal.exits import CliError

_PROJECT_FILES: Mapping[str, str] = {"claude-code": ".mcp.json"}
"""Additional files in the current folder that a client reads."""

_WITH_SSE_AT_URL = "gemini"
"""The client in which `url` is the address of an SSE server, and `httpUrl` that of any other."""

_OF_ENVIRONMENT = re.compile(r"\$\{env:([A-Za-z_]\w*)\}|(?<!\$)\{env:([A-Za-z_]\w*)\}")
_OF_INPUT = re.compile(r"\$\{input:([A-Za-z_][\w.-]*)\}")
_REMOTE_NAMES = ("url", "serverUrl", "httpUrl", "uri")
_ENVIRONMENT_NAMES = ("env", "environment", "envs")
_HEADER_NAMES = ("headers", "http_headers")
_NO_SERVERS = ("builtin", "platform", "frontend", "inline_python")
"""Types of Goose extensions that are not servers."""


@dataclass(frozen=True, slots=True)
class ForeignServer:
    """A server entry in a client's file.

    Args:
        client: The client that the file belongs to.
        is_off: True if the server is disabled there.
        block: The server in the most common format.
    """

    name: str
    client: AgentClient
    file: Path
    is_off: bool
    block: dict[str, Any] = field(repr=False)


def foreign_servers(client: AgentClient) -> Iterator[ForeignServer]:
    """Yield a client's servers, without agentcore and entries that are not servers.

    Raises:
        CliError: One of the client's files cannot be read.
    """
    for path in _find_files(client):
        text = read_client_file(path)
        if text is None:
            continue
        listed = find_member(read_document(text, client.format, str(path)).value, client.parent)
        for name, entry in listed.items() if isinstance(listed, Mapping) else ():
            block = None if is_own_entry(entry) else convert_entry(entry, client.name)
            if block is not None:
                yield ForeignServer(str(name), client, path, _is_off(entry), block)


def all_foreign_servers(told: list[str]) -> Iterator[ForeignServer]:
    """Yield the servers of all clients.

    Args:
        told: Receives a sentence about each client whose files cannot be read; the others are still read.
    """
    for client in CLIENTS.values():
        try:
            yield from foreign_servers(client)
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
    written: dict[str, Any] = _rewrite_references(block)
    return written


def _find_files(client: AgentClient) -> Iterator[Path]:
    places = [client.locate()]
    if client.command_locates is not None:
        places.append(client.command_locates())
    if client.name in _PROJECT_FILES:
        places.append(Path.cwd() / _PROJECT_FILES[client.name])
    yield from dict.fromkeys(Path(os.path.realpath(path)) for path in places)


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
    if env := _read_texts(inner, _ENVIRONMENT_NAMES):
        block["env"] = env
    if isinstance(entry.get("cwd"), str):
        block["cwd"] = entry["cwd"]
    return block


def _remote_block(entry: Mapping[str, Any], address: str, client: str) -> dict[str, Any]:
    headers = _read_texts(entry, _HEADER_NAMES)
    headers |= {name: f"${{{variable}}}" for name, variable in _read_texts(entry, ("env_http_headers",)).items()}
    if isinstance(entry.get("bearer_token_env_var"), str):
        headers["Authorization"] = f"Bearer ${{{entry['bearer_token_env_var']}}}"
    block: dict[str, Any] = {"url": address}
    if entry.get("type") == "sse" or (client == _WITH_SSE_AT_URL and "httpUrl" not in entry and "type" not in entry):
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
