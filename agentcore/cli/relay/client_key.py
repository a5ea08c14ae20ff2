"""The key by which a client is known, over HTTP and to `agentcore mcp`: kept in the state folder."""

import os
from pathlib import Path
from typing import Any

from agentcore.cli.backend.opening import required_server, running_server
from agentcore.cli.backend.server_client import ServerClient, path_of
from agentcore.cli.relay.server_link import ensure_client_key, key_path


def http_reach(config: Path, client: str) -> tuple[str, str]:
    """The address for clients of MCP, and the client's key, which is made where there is none.

    Raises:
        CliError: No server runs, which would make it.
    """
    told: dict[str, Any] = ServerClient.from_state_dir(*required_server(config)).get("/api/clients")
    if client not in _client_names(told):
        delete_key(config, client)  # that one was revoked
    return str(told["address"]), ensure_client_key(config, client)


def is_revoked(config: Path, client: str) -> bool:
    """Whether a client has a key that opens nothing any more: it stays out with that until the key is forgotten."""
    if not key_path(config, client).exists():
        return False
    server = running_server(config)
    known = (
        _load_client_names(config)
        if server is None
        else _client_names(ServerClient.from_state_dir(*server).get("/api/clients"))
    )
    return client not in known


def delete_key(config: Path, client: str) -> None:
    """Have a client get another key when it starts the next time."""
    key_path(config, client).unlink(missing_ok=True)


def revoke_key(config: Path, client: str) -> bool:
    """End a client's key; whether a server was there to do it."""
    server = running_server(config)
    if server is None:
        return False
    if client in _client_names(ServerClient.from_state_dir(*server).get("/api/clients")):
        ServerClient.from_state_dir(*server).send("DELETE", path_of("api", "approvers", client))
    delete_key(config, client)
    return True


def _client_names(told: dict[str, Any]) -> set[str]:
    return {known["name"] for known in told["clients"]}


def _load_client_names(config_path: Path) -> set[str]:
    """The names of the clients that a server would know, as whoever holds the state folder."""
    import asyncio

    from agentcore.config import prepare_roots
    from agentcore.core import load_config
    from agentcore.store.state import StateDir
    from agentcore.store.store import Store

    async def names(state: StateDir) -> set[str]:
        async with Store.open(state) as store:
            return {known.name for known in store.client_keys.list_clients()}

    config = load_config(config_path, os.environ)
    with StateDir.open(config.file, prepare_roots(config)) as state:
        return asyncio.run(names(state))
