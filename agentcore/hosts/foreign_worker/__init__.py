"""The program of a host on another machine: runs the modules of its own app.json, and dials in to its server."""

from agentcore.hosts.foreign_worker.dial_in import HostNotPaired, Server
from agentcore.hosts.foreign_worker.host_program import run_host_for_server, run_host_program
from agentcore.hosts.foreign_worker.user_messages import HostCallbacks
