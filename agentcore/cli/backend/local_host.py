"""A core in the command's own process, for use without a server: it loads app.json and locks the state folder."""

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
from agentcore.cli.own_stdout import store_module_output
from agentcore.cli.terminal.exit_codes import CliError, ExitCode
from agentcore.cli.terminal.output import print_notice, print_warning
from agentcore.cli.terminal.terminal import is_interactive
from agentcore.cli.terminal.terminal_approval import TerminalApprover
from agentcore.cli.terminal.verbose import set_up_log
from agentcore.config.workspace_roots import prepare_roots
from agentcore.core.calls.call import CallRequest
from agentcore.core.context_task import ContextTask
from agentcore.core.core import Core
from agentcore.core.discovery.families import load_config
from agentcore.core.module_code.process_exit import bounded_runner
from agentcore.core.process_privacy import hide_secrets
from agentcore.hosts.hosts import Hosts
from agentcore.store.state.state_dir import StateDir

if TYPE_CHECKING:
    from agentcore.chat.setup import ModelSetup
    from agentcore.server.modules.module_view import ModuleViews

T = TypeVar("T")

_PERSON = Principal("cli")


@contextmanager
def open_local_host(config_path: Path) -> Iterator["LocalHost"]:
    """Start a core for an app.json, and stop it when the context ends.

    Raises:
        ConfigError: app.json is invalid.
        StateLockedError: Another process has locked the state folder.
        StateDirError: The state folder cannot be used.
    """
    hide_secrets()
    set_up_log(is_verbose=is_verbose())
    config = load_config(config_path, os.environ)
    for notice in config.notices:
        print_notice(notice)
    with (
        StateDir.open(config.file, prepare_roots(config)) as state,
        store_module_output(state.path),
        bounded_runner() as runner,
    ):
        held = runner.run(ContextTask.open(Core.open(config, state, places=Hosts(config)), "host"))
        try:
            # without a terminal to ask at, calls that need approval fail with `approval_required`
            held.value.approvals.ask_at_terminal(TerminalApprover(held.value) if is_interactive() else None)
            yield LocalHost(runner, held.value)
        finally:
            runner.run(held.close())


class LocalHost:
    """Backend whose core runs in this process; its event loop runs only during a request."""

    def __init__(self, runner: asyncio.Runner, core: Core) -> None:
        self._runner = runner
        self._core = core

    def list_tools(self, form: str = "agentcore", host: str = "") -> list[dict[str, Any]]:
        """Return all tools in the requested form, as seen by `host` if one is given."""
        registry = self._core.registry
        if host and not registry.knows_host(host):
            raise CliError(registry.host_not_found(host).message, code=ExitCode.CALL_FAILED)
        tools: list[dict[str, Any]] = json.loads(registry.encode_tools(form, host))["tools"]  # type: ignore[arg-type]
        return tools

    def call_tool(self, call: ToolCall, notify: Notify) -> bytes:
        """Call a tool and return the result or error envelope as JSON."""
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
        """Explain the policy decision on a call."""
        return self._runner.run(explain_call(self._core, question))

    def try_rule(self, trial: dict[str, Any]) -> dict[str, Any]:
        """Return what a rule would change."""
        return self._runner.run(try_new_rule(self._core, trial))

    def list_grants(self) -> list[dict[str, Any]]:
        """Return the grants for later calls."""
        return [grant.to_json() for grant in self._core.policy.grants]

    def revoke_grant(self, grant_id: str) -> None:
        """Revoke a grant."""
        self._runner.run(self._core.policy.revoke_grant(grant_id))

    def get_chat_setup(self) -> dict[str, Any]:
        """Return the providers, models and agents of the chat."""
        return self._setup.describe_setup().model_dump(by_alias=True, mode="json")

    def list_models(self, provider: str) -> list[str]:
        """Request a provider's list of models."""
        return self._runner.run(self._setup.list_provider_models(provider))

    def find_local_servers(self) -> dict[str, Any]:
        """Search for model servers on this machine."""
        found = [
            {
                "kind": server.kind,
                "baseUrl": server.base_url,
                "models": server.models,
                "needsKey": server.needs_key,
                "provider": server.provider,
            }
            for server in self._runner.run(self._setup.find_local_servers())
        ]
        return {"found": found, "looked": [place.base_url for place in self._setup.places]}

    def list_skills(self) -> dict[str, Any]:
        """Find the skills."""
        from agentcore.chat.skill_list import describe_skills

        return self._runner.run(describe_skills(self._core, self._setup.settings)).to_json()

    @cached_property
    def _setup(self) -> "ModelSetup":
        from agentcore.chat.setup import ModelSetup

        return ModelSetup(self._core, os.environ)

    @cached_property
    def _module_views(self) -> "ModuleViews":
        from agentcore.server.modules.module_view import ModuleViews  # it imports the HTTP server

        return ModuleViews.of_core(self._core)

    def run(self, work: Callable[[Core], Coroutine[Any, Any, T]]) -> T:
        """Run a coroutine with the core in its event loop, and return the result."""
        return self._runner.run(work(self._core))

    def list_modules(self) -> list[dict[str, Any]]:
        """Return all modules that are listed or installed."""
        return [json.loads(module) for module in self._runner.run(self._module_views.list_modules(_PERSON))]

    def get_module(self, name: str) -> dict[str, Any]:
        """Return one module."""
        module: dict[str, Any] = json.loads(self._runner.run(self._module_views.show_module(name, _PERSON)))
        return module

    def measure_storage(self) -> dict[str, Any]:
        """Measure what the state folder holds."""
        return self._runner.run(self._core.measure_storage()).to_json()

    def list_hosts(self) -> list[dict[str, Any]]:
        """Return the hosts in which modules run."""
        from agentcore.server.modules.host_views import HostViews

        async def describe_hosts(core: Core) -> list[dict[str, Any]]:
            found = HostViews(core.places, core.registry, core.resources).list_hosts()
            return [view.model_dump(by_alias=True, mode="json") for view in found.hosts]

        return self.run(describe_hosts)

    def check_requirements(self) -> list[dict[str, Any]]:
        """Check the requirements of modules and return them."""
        from agentcore.server.modules.requirement_views import encode_requirement

        return [encode_requirement(view) for view in self._runner.run(self._core.requirements.check_all())]

    def install_requirement(self, requirement: Mapping[str, Any], show: Callable[[float | None, str], None]) -> str:
        """Install a requirement with this core; return why it failed, or an empty text."""
        from agentcore.cli.backend.installing import install_here

        return self._runner.run(install_here(self._core, requirement["name"], show))

    def warn_of_modules(self) -> None:
        """Warn on stderr of modules that failed or are missing, with the reasons."""
        for record in self._core.modules.records.values():
            if record.state in ("failed", "missing"):
                print_warning(f"module {record.name} is {record.state}: {record.reason}")
