"""Requests from a module of the server to the same module on a foreign machine, and which calls may make them."""

import asyncio
from typing import Any

from agentcore.core.calls.call import Call
from agentcore.core.declarations.hosted_names import host_title
from agentcore.core.declarations.module_messages import read_answer, read_message
from agentcore.core.module_code.value_reading import read_number, read_text
from agentcore.core.modules.host_protocols import ModuleHosts
from agentcore.core.modules.module_record import ModuleRecord
from agentcore.errors import ToolError
from agentcore.late_dataclasses import dataclass

_TIMEOUT_SECONDS_MAX = 3600.0


@dataclass(frozen=True, slots=True)
class HostQuestion:
    """One request, read strictly.

    Args:
        host: The host's name; empty: the module calls its own handler.
        timeout_s: How long to wait.
    """

    host: str
    request: dict[str, Any]
    data: bytes | None
    timeout_s: float

    @classmethod
    def from_arguments(cls, host: Any, request: Any, data: Any, timeout_s: Any) -> "HostQuestion":
        """Read the arguments of `ToolContext.ask_host`.

        Raises:
            ToolError: `message_too_large`.
            TypeError: An argument has the wrong type.
        """
        return cls(
            read_text(host, "host of ask_host"),
            *read_message(request, data, "ask_host"),
            read_number(timeout_s, "timeout_s of ask_host", low=0, high=_TIMEOUT_SECONDS_MAX),
        )


async def ask_host(call: Call, places: ModuleHosts, question: HostQuestion) -> tuple[dict[str, Any], bytes | None]:
    """Send a request on behalf of a call.

    Raises:
        ToolError: See `agentcore.api.ToolContext.ask_host`.
    """
    assert call.prepared is not None  # noqa: S101 - its tool was found before anything of it ran
    module = call.prepared.tool.module
    _refuse_elsewhere(call, module)
    try:
        async with asyncio.timeout(question.timeout_s) as limit:
            if not question.host:
                return await _ask_here(module, question)
            return await places.ask_machine(question.host, module.name, question.request, question.data)
    except TimeoutError:
        if not limit.expired():
            raise
        message = f"{host_title(question.host)} gave no answer within {question.timeout_s:g} s"
        raise ToolError("host_timeout", message, retryable=True, host=question.host) from None


def _refuse_elsewhere(call: Call, module: ModuleRecord) -> None:
    """Refuse requests of calls from other machines and from process hosts, so that none reaches another machine.

    Raises:
        ToolError: `hosts_not_reachable`.
    """
    if module.placed is not None:
        message = f"module {module.name!r} does not run in the server's own process, and can ask no hosts"
        raise ToolError("hosts_not_reachable", message, module=module.name)
    for each in call.ancestors():
        host = "" if each.prepared is None else each.prepared.tool.module.host
        if host:
            message = (
                f"this call was made by one that runs on {host_title(host)}, and no machine reaches another one: call "
                f"{call.request.tool} by itself"
            )
            raise ToolError("hosts_not_reachable", message, host=host)


async def _ask_here(module: ModuleRecord, question: HostQuestion) -> tuple[dict[str, Any], bytes | None]:
    handler = None if module.runtime is None else module.runtime.answers_hosts
    if handler is None:
        message = f"module {module.name!r} answers nothing that it is asked"
        raise ToolError("host_has_no_module", message, host="", module=module.name)
    return read_answer(await handler(question.request, question.data))
