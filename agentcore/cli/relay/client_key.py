"""Stores the key that identifies a client over HTTP and in `agentcore mcp` in the state folder."""

import os
from pathlib import Path
from typing import Any

from agentcore.cli.backend.opening import required_server, running_server
from agentcore.cli.backend.server_client import ServerClient, path_of
from agentcore.cli.relay.server_link import ensure_client_key, key_path


def http_reach(config: Path, client: str) -> tuple[str, str]:
    """Return the address for MCP clients and the client's key, which is created if there is none.

    Raises:
        CliError: No server is running.
    """
    told: dict[str, Any] = ServerClient.from_state_dir(*required_server(config)).get("/api/clients")
    if client not in _client_names(told):
        delete_key(config, client)  # the stored key was revoked
    return str(told["address"]), ensure_client_key(config, client)


def is_revoked(config: Path, client: str) -> bool:
    """True if the client's stored key was revoked; the client is refused until that key is deleted."""
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
    """Delete a client's stored key, so that it gets a new one at its next start."""
    key_path(config, client).unlink(missing_ok=True)


def revoke_key(config: Path, client: str) -> bool:
    """Revoke a client's key; return False if no server is running to do it."""
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
    """Load the names of the clients that a server would know, while holding the lock of the state folder."""
    import asyncio

    from agentcore.config.workspace_roots import prepare_roots
    from agentcore.core.discovery.families import load_config
    from agentcore.store.state.state_dir import StateDir
    from agentcore.store.store import Store

    async def names(state: StateDir) -> set[str]:
        async with Store.open(state) as store:
            return {known.name for known in store.client_keys.list_clients()}

    config = load_config(config_path, os.environ)
    with StateDir.open(config.file, prepare_roots(config)) as state:
        return asyncio.run(names(state))
