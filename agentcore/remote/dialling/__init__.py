"""The program of a host on another machine: runs the modules of its own app.json, and dials in to its server."""

from agentcore.remote.dialling.agent import Told, run_agent
from agentcore.remote.dialling.connection import NotLetIn, Server
