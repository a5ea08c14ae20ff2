"""The modules `chrome` (browsers by id) and `browser` (the session's own page), over one engine."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentcore_chrome.tools.browser_module import Browser
    from agentcore_chrome.tools.chrome_module import Chrome

__all__ = ["Browser", "Chrome"]

_HOMES = {"Browser": "agentcore_chrome.tools.browser_module", "Chrome": "agentcore_chrome.tools.chrome_module"}


def __getattr__(name: str) -> object:
    # Import them on first use: the commands of this distribution need neither module.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
