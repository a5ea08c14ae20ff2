"""The sandbox for commands: setup, probing, and mounts."""

from agentcore.supervision.sandbox.caches import Caches
from agentcore.supervision.sandbox.own_home import CREDENTIALS, OwnHome
from agentcore.supervision.sandbox.sandbox import Confinement, HeldPaths, Sandbox, SandboxMode
