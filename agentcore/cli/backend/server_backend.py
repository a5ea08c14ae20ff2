"""What commands ask, answered by a running server."""

import json
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, Self
from urllib.parse import urlencode

from agentcore.cli.backend.backend import Notify, ToolCall
from agentcore.cli.backend.server_client import ServerClient, path_of
from agentcore.cli.terminal.exits import CliError, ExitCode
from agentcore.store.state import ServerInfo


class ServerBackend:
    """A backend over HTTP, for a server that was found by its state folder.

    Raises:
        CliError: It cannot be spoken to.
    """

    def __init__(self, folder: Path, info: ServerInfo) -> None:
        self._client = ServerClient.from_state_dir(folder, info)
        self._config_path = Path(info.config)

    def list_tools(self, form: str = "agentcore", host: str = "") -> list[dict[str, Any]]:
        """See `agentcore.cli.backend.backend.Backend.tools`."""
        wanted = {"host": host} if host else {}
        query = urlencode(wanted if form == "agentcore" else {"format": form, **wanted})
        tools: list[dict[str, Any]] = self._client.get(f"/api/tools?{query}" if query else "/api/tools")["tools"]
        return tools

    def list_modules(self) -> list[dict[str, Any]]:
        """See `agentcore.cli.backend.backend.Backend.modules`."""
        modules: list[dict[str, Any]] = self._client.get("/api/modules")["modules"]
        return modules

    def get_module(self, name: str) -> dict[str, Any]:
        """See `agentcore.cli.backend.backend.Backend.module`."""
        module: dict[str, Any] = self._client.get(path_of("api", "modules", name))
        return module

    def change_module(self, name: str, change: Literal["enable", "disable", "reload"]) -> dict[str, Any]:
        """Enable, disable or reload a module; gives the module as it is then.

        Raises:
            CliError: There is no such module, or the server refuses.
        """
        module: dict[str, Any] = self._client.post(path_of("api", "modules", name, change))
        return module

    def check_requirements(self) -> list[dict[str, Any]]:
        """See `agentcore.cli.backend.backend.Backend.requirements`."""
        found: list[dict[str, Any]] = self._client.post("/api/requirements/check")["requirements"]
        return found

    def install_requirement(self, requirement: Mapping[str, Any], show: Callable[[float | None, str], None]) -> str:
        """See `agentcore.cli.backend.backend.Backend.install_requirement`."""
        from agentcore.cli.backend.installing import install_beside_server

        return install_beside_server(self._config_path, requirement["modules"], requirement["name"], show)

    def list_hosts(self) -> list[dict[str, Any]]:
        """See `agentcore.cli.backend.backend.Backend.hosts`."""
        hosts: list[dict[str, Any]] = self._client.get("/api/hosts")["hosts"]
        return hosts

    def restart_host(self, name: str) -> dict[str, Any]:
        """End a host and start its modules again; gives the host as it is then.

        Raises:
            CliError: There is no such host.
        """
        host: dict[str, Any] = self._client.post(path_of("api", "hosts", name, "restart"))
        return host

    def allow_chats(self, name: str, *, is_on: bool) -> dict[str, Any]:
        """Let a host on another machine use chats, which the user confirms, or no longer; gives the host as it is then.

        Raises:
            CliError: There is no such host; or the user is asked first.
        """
        host: dict[str, Any] = self._client.post(path_of("api", "hosts", name, "chats"), {"on": is_on})
        return host

    def change_host(self, name: str, change: Literal["drain", "undrain", "disconnect", "connect"]) -> dict[str, Any]:
        """Change what a host on another machine may do; gives the host as it is then.

        Raises:
            CliError: There is no such host.
        """
        is_drain = change.endswith("drain")
        path = path_of("api", "hosts", name, "drain" if is_drain else change)
        host: dict[str, Any] = self._client.post(path, {"on": change == "drain"} if is_drain else None)
        return host

    def delete_host(self, name: str) -> None:
        """Make the key of a host on another machine void.

        Raises:
            CliError: There is no such host.
        """
        self._client.send("DELETE", path_of("api", "hosts", name))

    def choose_source(self, name: str, source: str) -> dict[str, Any]:
        """Choose what stands behind a module's name.

        Raises:
            CliError: A person has to confirm it; or there is nothing of that name.
        """
        module: dict[str, Any] = self._client.post(path_of("api", "modules", name, "choose"), {"source": source})
        return module

    def explain_call(self, question: dict[str, Any]) -> dict[str, Any]:
        """See `agentcore.cli.backend.backend.Backend.explain`."""
        found: dict[str, Any] = self._client.post("/api/approvals/explain", question)
        return found

    def try_rule(self, trial: dict[str, Any]) -> dict[str, Any]:
        """See `agentcore.cli.backend.backend.Backend.try_rule`."""
        found: dict[str, Any] = self._client.post("/api/approvals/try", trial)
        return found

    def list_grants(self) -> list[dict[str, Any]]:
        """See `agentcore.cli.backend.backend.Backend.grants`."""
        found: list[dict[str, Any]] = self._client.get("/api/approvals/grants")["grants"]
        return found

    def revoke_grant(self, grant_id: str) -> None:
        """See `agentcore.cli.backend.backend.Backend.revoke_grant`."""
        self._client.send("DELETE", path_of("api", "approvals", "grants", grant_id))

    def get_chat_setup(self) -> dict[str, Any]:
        """See `agentcore.cli.backend.backend.Backend.chat`."""
        found: dict[str, Any] = self._client.get("/api/chat")
        return found

    def list_models(self, provider: str) -> list[str]:
        """See `agentcore.cli.backend.backend.Backend.models_of`."""
        models: list[str] = self._client.post(path_of("api", "chat", "providers", provider, "models"))["models"]
        return models

    def find_local_servers(self) -> dict[str, Any]:
        """See `agentcore.cli.backend.backend.Backend.local_servers`."""
        found: dict[str, Any] = self._client.post("/api/chat/local-servers")
        return found

    def call_tool(self, call: ToolCall, notify: Notify) -> bytes:
        """See `agentcore.cli.backend.backend.Backend.call`. An interrupted call is cancelled."""
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
                    with suppress(CliError):  # it ended by itself, or the server is gone: the interrupt is what counts
                        self._client.post(path_of("api", "calls", interruption.call_id, "cancel"))
                raise
        raise CliError(
            f"the server at {self._client.address} ended the call's stream without a result",
            hint="it may have been stopped; the record of calls tells what became of the call",
            code=ExitCode.UNREACHABLE,
        )


class _Interruption:
    """Holds the first Ctrl-C back until the server has named the call, for what has no name cannot be cancelled.

    Attributes:
        call_id: The call's id, once it was told.
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
        """Keep the id that was told first: later events may be about calls inside of this one.

        Raises:
            KeyboardInterrupt: Somebody pressed Ctrl-C before.
        """
        self.call_id = self.call_id or call_id
        if self._is_asked:
            raise KeyboardInterrupt

    def _interrupt(self, *_: object) -> None:
        if self.call_id is not None or self._is_asked:
            raise KeyboardInterrupt
        self._is_asked = True
