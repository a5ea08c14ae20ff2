"""The key by which a client is known over HTTP: the same that `agentcore mcp` would use, kept in the state folder."""

from pathlib import Path
from typing import Any

from agentcore.cli.backend.opening import required_server, running_server
from agentcore.cli.backend.server_client import ServerClient, path_of
from agentcore.cli.relay.server_link import kept_or_made_key, key_path


def http_reach(config: Path, client: str) -> tuple[str, str]:
    """The address for clients of MCP, and the client's key, which is made where there is none.

    Raises:
        CliError: No server runs, which would make it.
    """
    told: dict[str, Any] = ServerClient.of(*required_server(config)).get("/api/clients")
    if client not in {known["name"] for known in told["clients"]}:
        key_path(config, client).unlink(missing_ok=True)  # that one was revoked
    return str(told["address"]), kept_or_made_key(config, client)


def revoke_key(config: Path, client: str) -> bool:
    """End a client's key; whether a server was there to do it."""
    server = running_server(config)
    if server is None:
        return False
    known = {each["name"] for each in ServerClient.of(*server).get("/api/clients")["clients"]}
    if client in known:
        ServerClient.of(*server).send("DELETE", path_of("api", "approvers", client))
    key_path(config, client).unlink(missing_ok=True)
    return True
