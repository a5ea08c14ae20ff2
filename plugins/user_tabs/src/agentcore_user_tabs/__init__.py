"""Tabs of the person's own browser, shared with a chat one by one through the browser extension."""

from agentcore_user_tabs.module import UserTabs

__all__ = ["UserTabs"]
