"""The modules `chrome` (browsers by id) and `browser` (the session's own page), over one engine."""

from agentcore_chrome.tools.browser import Browser
from agentcore_chrome.tools.chrome import Chrome

__all__ = ["Browser", "Chrome"]
