"""Other agents' clients: what each keeps of its MCP servers, and how our entry gets there."""

from agentcore.cli.clients.catalog import CLIENTS, AgentClient
from agentcore.cli.clients.change import BACKUP, FileChange, entry_in, plan, run_own, running_of
from agentcore.cli.clients.documents import member, read_document
from agentcore.cli.clients.entry import BEARER_VARIABLE, OverHttp, OverStdio, Reach, http_entry, is_ours, stdio_entry
from agentcore.cli.clients.foreign import ForeignServer, all_foreign_servers, foreign_servers
