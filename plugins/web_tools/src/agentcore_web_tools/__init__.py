"""The web for agents: the module `web_tools` of agentcore."""

from agentcore_web_tools.module import WebTools

__all__ = ["WebTools"]
