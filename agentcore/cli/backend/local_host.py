"""A host in the command line's own process, for when no server runs: it loads app.json and holds the state folder."""

import asyncio
import json
import os
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from agentcore.api import Principal
from agentcore.cli.backend.backend import Notify, ToolCall
from agentcore.cli.backend.local_policy import explain_call, try_new_rule
from agentcore.cli.options import is_verbose
from agentcore.cli.terminal.exits import CliError, ExitCode
from agentcore.cli.terminal.output import print_notice, print_warning
from agentcore.cli.terminal.terminal import is_interactive
from agentcore.cli.terminal.terminal_approval import TerminalApprover
from agentcore.cli.terminal.verbose import set_up_log
from agentcore.config import prepare_roots
from agentcore.core import load_config
from agentcore.core.calls import CallRequest
from agentcore.core.containment import bounded_runner
from agentcore.core.context_task import ContextTask
from agentcore.core.core import Core
from agentcore.core.process_privacy import hide_secrets
from agentcore.hosts import make_hosts
from agentcore.store.state import StateDir

if TYPE_CHECKING:
    from agentcore.chat import ModelSetup

T = TypeVar("T")

_PERSON = Principal("cli")


@contextmanager
def open_local_host(config_path: Path) -> Iterator["LocalHost"]:
    """Start a host for an app.json, and stop it at the end.

    Raises:
        ConfigError: app.json is wrong.
        StateLockedError: Another process holds the state folder.
        StateDirError: The state folder cannot be used.
    """
    hide_secrets()
    set_up_log(is_verbose=is_verbose())
    config = load_config(config_path, os.environ)
    for notice in config.notices:
        print_notice(notice)
    with StateDir.open(config.file, prepare_roots(config)) as state, bounded_runner() as runner:
        held = runner.run(ContextTask.open(Core.open(config, state, places=make_hosts(config)), "host"))
        try:
            # without somebody who can be asked, calls end with `approval_required`
            held.value.approvals.ask_at_terminal(TerminalApprover(held.value) if is_interactive() else None)
            yield LocalHost(runner, held.value)
        finally:
            runner.run(held.close())


class LocalHost:
    """A backend whose host runs in this process; the event loop runs only while something is asked of it."""

    def __init__(self, runner: asyncio.Runner, core: Core) -> None:
        self._runner = runner
        self._core = core

    def list_tools(self, form: str = "agentcore", host: str = "") -> list[dict[str, Any]]:
        """See `agentcore.cli.backend.backend.Backend.tools`."""
        registry = self._core.registry
        if host and not registry.knows_host(host):
            raise CliError(registry.host_not_found(host).message, code=ExitCode.CALL_FAILED)
        tools: list[dict[str, Any]] = json.loads(registry.encode_tools(form, host))["tools"]  # type: ignore[arg-type]
        return tools

    def call_tool(self, call: ToolCall, notify: Notify) -> bytes:
        """See `agentcore.cli.backend.backend.Backend.call`."""
        request = CallRequest(
            call.tool,
            call.arguments,
            _PERSON,
            session_id=call.session_id,
            timeout_ms=call.timeout_ms,
            host=call.host,
        )
        return self._runner.run(self._core.run_call(request, notify)).encode_envelope()

    def explain_call(self, question: dict[str, Any]) -> dict[str, Any]:
        """See `agentcore.cli.backend.backend.Backend.explain`."""
        return self._runner.run(explain_call(self._core, question))

    def try_rule(self, trial: dict[str, Any]) -> dict[str, Any]:
        """See `agentcore.cli.backend.backend.Backend.try_rule`."""
        return self._runner.run(try_new_rule(self._core, trial))

    def list_grants(self) -> list[dict[str, Any]]:
        """See `agentcore.cli.backend.backend.Backend.grants`."""
        return [grant.to_json() for grant in self._core.policy.grants]

    def revoke_grant(self, grant_id: str) -> None:
        """See `agentcore.cli.backend.backend.Backend.revoke_grant`."""
        self._runner.run(self._core.policy.revoke_grant(grant_id))

    def get_chat_setup(self) -> dict[str, Any]:
        """See `agentcore.cli.backend.backend.Backend.chat`."""
        return self._setup.describe_setup().model_dump(by_alias=True, mode="json")

    def list_models(self, provider: str) -> list[str]:
        """See `agentcore.cli.backend.backend.Backend.models_of`."""
        return self._runner.run(self._setup.models_of(provider))  # type: ignore[arg-type]  # one that `chat` named

    def find_local_servers(self) -> dict[str, Any]:
        """See `agentcore.cli.backend.backend.Backend.local_servers`."""
        found = [
            {"kind": server.kind, "baseUrl": server.base_url, "models": server.models}
            for server in self._runner.run(self._setup.find_local_servers())
        ]
        return {"found": found, "looked": [place.base_url for place in self._setup.places]}

    @cached_property
    def _setup(self) -> "ModelSetup":
        from agentcore.chat import ModelSetup

        return ModelSetup(self._core, os.environ)

    def run(self, work: Callable[[Core], Coroutine[Any, Any, T]]) -> T:
        """Do something with the host itself, in its event loop."""
        return self._runner.run(work(self._core))

    def list_modules(self) -> list[dict[str, Any]]:
        """See `agentcore.cli.backend.backend.Backend.modules`."""
        from agentcore.server.modules import list_modules  # it brings the HTTP server along

        return [json.loads(module) for module in self._runner.run(list_modules(self._core, _PERSON))]

    def get_module(self, name: str) -> dict[str, Any]:
        """See `agentcore.cli.backend.backend.Backend.module`."""
        from agentcore.server.modules import show_module

        module: dict[str, Any] = json.loads(self._runner.run(show_module(self._core, name, _PERSON)))
        return module

    def list_hosts(self) -> list[dict[str, Any]]:
        """See `agentcore.cli.backend.backend.Backend.hosts`."""
        from agentcore.server.modules import list_hosts

        async def describe_hosts(core: Core) -> list[dict[str, Any]]:
            return [view.model_dump(by_alias=True, mode="json") for view in list_hosts(core).hosts]

        return self.run(describe_hosts)

    def check_requirements(self) -> list[dict[str, Any]]:
        """See `agentcore.cli.backend.backend.Backend.requirements`."""
        from agentcore.server.modules import encode_requirement

        return [encode_requirement(view) for view in self._runner.run(self._core.requirements.check_all())]

    def install_requirement(self, requirement: Mapping[str, Any], show: Callable[[float | None, str], None]) -> str:
        """See `agentcore.cli.backend.backend.Backend.install_requirement`."""
        from agentcore.cli.backend.installing import install_here

        return self._runner.run(install_here(self._core, requirement["name"], show))

    def warn_of_modules(self) -> None:
        """Say on stderr which modules do not run, and why."""
        for record in self._core.modules.records.values():
            if record.state in ("failed", "missing"):
                print_warning(f"module {record.name} is {record.state}: {record.reason}")
