"""Backend of commands that sends their requests to a running server."""

import json
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, Self
from urllib.parse import urlencode

from agentcore.cli.backend.backend import Notify, ToolCall
from agentcore.cli.backend.server_client import ServerClient, path_of
from agentcore.cli.terminal.exit_codes import CliError, ExitCode
from agentcore.store.state.server_info import ServerInfo


class ServerBackend:
    """Backend over HTTP for a server that was found by its state folder.

    Raises:
        CliError: The server has no address yet, or there is no token.
    """

    def __init__(self, folder: Path, info: ServerInfo) -> None:
        self._client = ServerClient.from_state_dir(folder, info)
        self._config_path = Path(info.config)

    def list_tools(self, form: str = "agentcore", host: str = "") -> list[dict[str, Any]]:
        """Return all tools in the requested form, as seen by `host` if one is given."""
        requested = {"host": host} if host else {}
        query = urlencode(requested if form == "agentcore" else {"format": form, **requested})
        tools: list[dict[str, Any]] = self._client.get(f"/api/tools?{query}" if query else "/api/tools")["tools"]
        return tools

    def list_modules(self) -> list[dict[str, Any]]:
        """Return all modules that are listed or installed."""
        modules: list[dict[str, Any]] = self._client.get("/api/modules")["modules"]
        return modules

    def measure_storage(self) -> dict[str, Any]:
        """Measure what the state folder holds."""
        storage: dict[str, Any] = self._client.get("/api/storage")
        return storage

    def get_module(self, name: str) -> dict[str, Any]:
        """Return one module."""
        module: dict[str, Any] = self._client.get(path_of("api", "modules", name))
        return module

    def change_module(self, name: str, change: Literal["enable", "disable", "reload"]) -> dict[str, Any]:
        """Enable, disable or reload a module and return the updated module.

        Raises:
            CliError: There is no such module, or the server rejects the change.
        """
        module: dict[str, Any] = self._client.post(path_of("api", "modules", name, change))
        return module

    def check_requirements(self) -> list[dict[str, Any]]:
        """Check the requirements of modules and return them."""
        found: list[dict[str, Any]] = self._client.post("/api/requirements/check")["requirements"]
        return found

    def install_requirement(self, requirement: Mapping[str, Any], show: Callable[[float | None, str], None]) -> str:
        """Install a requirement in this process, beside the server; return why it failed, or an empty text."""
        from agentcore.cli.backend.installing import install_beside_server

        return install_beside_server(self._config_path, requirement["modules"], requirement["name"], show)

    def list_hosts(self) -> list[dict[str, Any]]:
        """Return the hosts in which modules run."""
        hosts: list[dict[str, Any]] = self._client.get("/api/hosts")["hosts"]
        return hosts

    def restart_host(self, name: str) -> dict[str, Any]:
        """Restart a host with its modules and return the updated host.

        Raises:
            CliError: There is no such host.
        """
        host: dict[str, Any] = self._client.post(path_of("api", "hosts", name, "restart"))
        return host

    def allow_chats(self, name: str, *, is_on: bool) -> dict[str, Any]:
        """Allow or forbid a host on another machine to use chats, and return the updated host.

        Raises:
            CliError: There is no such host, or the user has to confirm the permission first.
        """
        host: dict[str, Any] = self._client.post(path_of("api", "hosts", name, "chats"), {"on": is_on})
        return host

    def change_host(self, name: str, change: Literal["drain", "undrain", "disconnect", "connect"]) -> dict[str, Any]:
        """Drain, undrain, disconnect or connect a host on another machine, and return the updated host.

        Raises:
            CliError: There is no such host.
        """
        is_drain = change.endswith("drain")
        path = path_of("api", "hosts", name, "drain" if is_drain else change)
        host: dict[str, Any] = self._client.post(path, {"on": change == "drain"} if is_drain else None)
        return host

    def delete_host(self, name: str) -> None:
        """Revoke the key of a host on another machine.

        Raises:
            CliError: There is no such host.
        """
        self._client.send("DELETE", path_of("api", "hosts", name))

    def choose_source(self, name: str, source: str) -> dict[str, Any]:
        """Choose the source from which a module is loaded, and return the updated module.

        Raises:
            CliError: The user has to confirm it, or there is no such module or source.
        """
        module: dict[str, Any] = self._client.post(path_of("api", "modules", name, "choose"), {"source": source})
        return module

    def explain_call(self, question: dict[str, Any]) -> dict[str, Any]:
        """Explain the policy decision on a call."""
        found: dict[str, Any] = self._client.post("/api/approvals/explain", question)
        return found

    def try_rule(self, trial: dict[str, Any]) -> dict[str, Any]:
        """Return what a rule would change."""
        found: dict[str, Any] = self._client.post("/api/approvals/try", trial)
        return found

    def list_grants(self) -> list[dict[str, Any]]:
        """Return the grants for later calls."""
        found: list[dict[str, Any]] = self._client.get("/api/approvals/grants")["grants"]
        return found

    def revoke_grant(self, grant_id: str) -> None:
        """Revoke a grant."""
        self._client.send("DELETE", path_of("api", "approvals", "grants", grant_id))

    def get_chat_setup(self) -> dict[str, Any]:
        """Return the providers, models and agents of the chat."""
        found: dict[str, Any] = self._client.get("/api/chat")
        return found

    def list_models(self, provider: str) -> list[str]:
        """Request a provider's list of models."""
        models: list[str] = self._client.post(path_of("api", "chat", "providers", provider, "models"))["models"]
        return models

    def list_skills(self) -> dict[str, Any]:
        """Find the skills."""
        found: dict[str, Any] = self._client.get("/api/skills")
        return found

    def find_local_servers(self) -> dict[str, Any]:
        """Search for model servers on the server's machine."""
        found: dict[str, Any] = self._client.post("/api/chat/local-servers")
        return found

    def call_tool(self, call: ToolCall, notify: Notify) -> bytes:
        """Call a tool and return the result or error envelope as JSON; Ctrl-C cancels the call."""
        body: dict[str, Any] = {"arguments": call.arguments}
        if call.session_id is not None:
            body["session_id"] = call.session_id
        if call.timeout_ms is not None:
            body["timeout_ms"] = call.timeout_ms
        if call.host:
            body["host"] = call.host
        with _Interruption() as interruption:
            try:
                for event in self._client.stream("POST", path_of("api", "tools", call.tool, "call"), body):
                    if event.name == "result":
                        return event.data
                    told = json.loads(event.data)
                    interruption.name_call(str(told["callId"]))
                    notify(event.name, told)
            except KeyboardInterrupt:
                if interruption.call_id is not None:
                    with suppress(CliError):  # the call has ended, or the server is gone; the interrupt still counts
                        self._client.post(path_of("api", "calls", interruption.call_id, "cancel"))
                raise
        raise CliError(
            f"the server at {self._client.address} ended the call's stream without a result",
            hint="it may have been stopped; the record of calls tells what became of the call",
            code=ExitCode.UNREACHABLE,
        )


class _Interruption:
    """Defers the first Ctrl-C until the server has sent the call's id, without which it cannot be cancelled.

    Attributes:
        call_id: The call's id, once the server has sent it.
    """

    def __init__(self) -> None:
        self.call_id: str | None = None
        self._is_asked = False
        self._before: Any = None

    def __enter__(self) -> Self:
        self._before = signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._before)

    def name_call(self, call_id: str) -> None:
        """Store the first id that the server sends; later events may be about nested calls.

        Raises:
            KeyboardInterrupt: Ctrl-C was pressed before.
        """
        self.call_id = self.call_id or call_id
        if self._is_asked:
            raise KeyboardInterrupt

    def _interrupt(self, *_: object) -> None:
        if self.call_id is not None or self._is_asked:
            raise KeyboardInterrupt
        self._is_asked = True
