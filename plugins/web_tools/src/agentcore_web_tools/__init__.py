"""The module `web_tools`: web pages and web search for agents."""

from agentcore_web_tools.module import WebTools

__all__ = ["WebTools"]
