"""The program of a host on another machine: runs the modules of its own app.json, and dials in to its server."""

from agentcore.remote.dialling.agent import run_agent, run_member
from agentcore.remote.dialling.connection import NotLetIn, Server
from agentcore.remote.dialling.pool_agent import Membership
from agentcore.remote.dialling.telling import Told
from agentcore.remote.pool.connection import NatsServers
