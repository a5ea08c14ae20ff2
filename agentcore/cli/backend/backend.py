"""Interface of the backends that carry out commands: a running server, or a core in this process."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from agentcore.late_dataclasses import dataclass

Notify = Callable[[str, Mapping[str, Any]], None]
"""Receives `progress` and `approval` notifications while a call is running."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as requested on the command line."""

    tool: str
    arguments: dict[str, Any]
    session_id: str | None = None
    timeout_ms: int | None = None
    host: str = ""


class Backend(Protocol):
    """Carries out the requests of commands."""

    def list_tools(self, form: str = "agentcore", host: str = "") -> list[dict[str, Any]]:
        """Return all tools in agentcore's form or one of `agentcore.tool_formats.FORMS`, as seen by `host` if given."""
        ...

    def call_tool(self, call: ToolCall, notify: Notify) -> bytes:
        """Call a tool and return the result or error envelope as JSON text."""
        ...

    def list_modules(self) -> list[dict[str, Any]]:
        """Return all modules that are listed or installed, as in `GET /api/modules`."""
        ...

    def get_module(self, name: str) -> dict[str, Any]:
        """Return one module, as in `GET /api/modules/NAME`."""
        ...

    def measure_storage(self) -> dict[str, Any]:
        """Measure what the state folder holds, as in `GET /api/storage`."""
        ...

    def list_hosts(self) -> list[dict[str, Any]]:
        """Return the hosts in which modules run, as in `GET /api/hosts`."""
        ...

    def check_requirements(self) -> list[dict[str, Any]]:
        """Check what modules require on the machine, and return it as in `GET /api/requirements`."""
        ...

    def install_requirement(self, requirement: Mapping[str, Any], show: Callable[[float | None, str], None]) -> str:
        """Install a requirement on this machine; return why it failed, or an empty text.

        Args:
            requirement: One of `check_requirements()`.
            show: Called with the completed part and the current step.
        """
        ...

    def explain_call(self, question: dict[str, Any]) -> dict[str, Any]:
        """Explain the policy decision on a call, as in `POST /api/approvals/explain`."""
        ...

    def try_rule(self, trial: dict[str, Any]) -> dict[str, Any]:
        """Return what a rule would change, as in `POST /api/approvals/try`."""
        ...

    def list_grants(self) -> list[dict[str, Any]]:
        """Return the grants for later calls."""
        ...

    def revoke_grant(self, grant_id: str) -> None:
        """Revoke a grant."""
        ...

    def get_chat_setup(self) -> dict[str, Any]:
        """Return the providers, models and agents of the chat, as in `GET /api/chat`."""
        ...

    def list_models(self, provider: str) -> list[str]:
        """Request a provider's list of models with its key."""
        ...

    def list_skills(self) -> dict[str, Any]:
        """Find the skills, as in `GET /api/skills`."""
        ...

    def find_local_servers(self) -> dict[str, Any]:
        """Search for model servers on this machine, as in `POST /api/chat/local-servers`."""
        ...
