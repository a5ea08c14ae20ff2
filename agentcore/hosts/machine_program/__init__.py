"""The program of a host on another machine: runs the modules of its own app.json, and dials in to its server."""

from agentcore.hosts.machine_program.dial_in import HostNotPaired, Server
from agentcore.hosts.machine_program.host_program import run_host_for_server, run_host_program
from agentcore.hosts.machine_program.user_messages import HostCallbacks
