"""The program of a host on another machine: runs the modules of its own app.json, and dials in to its server."""

from agentcore.hosts.dialling.agent import run_agent, run_member
from agentcore.hosts.dialling.connection import HostNotPaired, Server
from agentcore.hosts.dialling.pool_agent import Membership
from agentcore.hosts.dialling.telling import HostCallbacks
from agentcore.hosts.pool.connection import NatsServers
