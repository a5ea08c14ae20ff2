"""The modules `chrome` (browsers by id) and `browser` (the session's own page), over one engine."""

from agentcore_chrome.tools.browser_tools import Browser
from agentcore_chrome.tools.chrome_tools import Chrome

__all__ = ["Browser", "Chrome"]
