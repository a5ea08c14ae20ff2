"""agentcore's own page, read and changed by tools."""

from agentcore_ui_page.module import UiPage

__all__ = ["UiPage"]
