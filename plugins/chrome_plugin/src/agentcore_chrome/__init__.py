"""The modules `chrome` (browsers by id) and `browser` (the session's own page), over one engine."""

from agentcore_chrome.tools.browser_module import Browser
from agentcore_chrome.tools.chrome_module import Chrome

__all__ = ["Browser", "Chrome"]
