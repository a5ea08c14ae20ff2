"""The module `ui_page`: tools that read and change agentcore's own page."""

from agentcore_ui_page.module import UiPage

__all__ = ["UiPage"]
