"""The module `user_tabs`: tabs of the user's own browser, shared with a chat one by one through the extension."""

from agentcore_user_tabs.module import UserTabs

__all__ = ["UserTabs"]
