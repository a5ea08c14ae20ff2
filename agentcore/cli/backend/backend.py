"""What commands ask of a host, be it a running server or one in this process."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

Notify = Callable[[str, Mapping[str, Any]], None]
"""Told of `progress` and `approval` while a call goes on."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as the command line was asked for it."""

    tool: str
    arguments: dict[str, Any]
    session_id: str | None = None
    timeout_ms: int | None = None
    host: str = ""


class Backend(Protocol):
    """The host that commands act on."""

    def list_tools(self, form: str = "agentcore", host: str = "") -> list[dict[str, Any]]:
        """All tools, in agentcore's form or one of `agentcore.tool_forms.FORMS`; with a host, as it sees them."""
        ...

    def call_tool(self, call: ToolCall, notify: Notify) -> bytes:
        """Call a tool; the result envelope, or the one with the error, as JSON text."""
        ...

    def list_modules(self) -> list[dict[str, Any]]:
        """All modules that are listed or installed, as `GET /api/modules` gives them."""
        ...

    def get_module(self, name: str) -> dict[str, Any]:
        """One module, as `GET /api/modules/NAME` gives it."""
        ...

    def list_hosts(self) -> list[dict[str, Any]]:
        """The hosts in which modules run, as `GET /api/hosts` gives them."""
        ...

    def check_requirements(self) -> list[dict[str, Any]]:
        """What modules need on the machine, as `GET /api/requirements` gives it, checked now."""
        ...

    def install_requirement(self, requirement: Mapping[str, Any], show: Callable[[float | None, str], None]) -> str:
        """Install a requirement of this machine; gives why it failed, or nothing.

        Args:
            requirement: One of `requirements()`.
            show: Called with the completed part, and the current step.
        """
        ...

    def explain_call(self, question: dict[str, Any]) -> dict[str, Any]:
        """What would become of a call, as `POST /api/approvals/explain` gives it."""
        ...

    def try_rule(self, trial: dict[str, Any]) -> dict[str, Any]:
        """What a rule would change, as `POST /api/approvals/try` gives it."""
        ...

    def list_grants(self) -> list[dict[str, Any]]:
        """What was allowed for later calls."""
        ...

    def revoke_grant(self, grant_id: str) -> None:
        """Take back what was allowed for later."""
        ...

    def get_chat_setup(self) -> dict[str, Any]:
        """Providers, models and agents of the chat, as `GET /api/chat` gives them."""
        ...

    def list_models(self, provider: str) -> list[str]:
        """The models that a provider says it has, asked with its key."""
        ...

    def find_local_servers(self) -> dict[str, Any]:
        """Model servers on this machine, as `POST /api/chat/local-servers` gives them."""
        ...
