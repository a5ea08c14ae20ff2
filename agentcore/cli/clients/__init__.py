"""Configuration of other clients: reads their MCP servers, and adds or removes agentcore's entry."""

from agentcore.cli.clients.client_catalog import CLIENTS, AgentClient
from agentcore.cli.clients.client_file_change import (
    BACKUP,
    FileChange,
    find_entry,
    is_any_running,
    plan_change,
    run_client_command,
)
from agentcore.cli.clients.configured_servers import ConfiguredServer, all_configured_servers, configured_servers_of
from agentcore.cli.clients.documents import find_member, read_document
from agentcore.cli.clients.entry import (
    BEARER_VARIABLE,
    OverHttp,
    OverStdio,
    Reach,
    http_entry,
    is_own_entry,
    stdio_entry,
)
