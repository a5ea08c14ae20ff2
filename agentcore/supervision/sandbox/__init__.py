"""The sandbox of commands: how it is made and tried, and what is seen in it."""

from agentcore.supervision.sandbox.caches import Caches
from agentcore.supervision.sandbox.sandbox import Confinement, HeldPaths, Sandbox, SandboxMode
