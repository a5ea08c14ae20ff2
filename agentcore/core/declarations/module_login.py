"""Runs a module's login when the user requests it."""

import re
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, get_args
from urllib.parse import urlsplit

from agentcore.api.login import Login, LoginState, LoginStatus
from agentcore.core.module_code.containment import run_contained, without_exit
from agentcore.core.module_code.module_error import reason_of
from agentcore.core.module_code.tool_errors import plain_error
from agentcore.core.module_code.value_reading import WrongValueError, read_text
from agentcore.errors import ToolError
from agentcore.secrets import mask_known_secrets

T = TypeVar("T")

LOGIN_SECONDS = 60.0
"""How long a step of a login without user input may take."""

_ADDRESS = re.compile(r"https?://\S{1,16000}")
_SAID_CHARS = 2_000


class ModuleLogin:
    """A module's `offer_login` object; its results are read strictly.

    Args:
        login: The module's object.
        name: The module's name.
    """

    def __init__(self, login: Login, name: str) -> None:
        self._login = login
        self._name = name

    def status(self) -> LoginStatus:
        """Return the current state of the login.

        Raises:
            ToolError: `login_failed`: the module cannot tell.
        """
        try:
            return self._read_status(without_exit(self._login.status))
        except Exception as exc:  # the border between core and module
            raise self._login_error(exc) from exc

    async def begin(self) -> str:
        """Start the login; return the address that the user opens.

        Raises:
            ToolError: Raised by the module; `login_failed`.
        """
        address = await self._run_step(self._login.begin)
        try:
            return self._read_address(address)
        except WrongValueError as exc:
            raise self._login_error(exc) from exc

    async def finish(self, address: str) -> None:
        """Finish the login with the address at which the user's browser ended.

        Raises:
            ToolError: Raised by the module; `login_failed`.
        """
        await self._run_step(lambda: self._login.finish(address))

    async def log_out(self) -> None:
        """Delete the login.

        Raises:
            ToolError: Raised by the module; `login_failed`.
        """
        await self._run_step(self._login.log_out)

    async def _run_step(self, step: Callable[[], Awaitable[T]]) -> T:
        async def work() -> T:
            return await step()

        try:
            return await run_contained(work(), LOGIN_SECONDS, f"login:{self._name}", self._name)
        except ToolError as exc:
            raise plain_error(exc) from exc
        except Exception as exc:  # the border between core and module
            raise self._login_error(exc) from exc

    def _read_status(self, given: Any) -> LoginStatus:
        of = f"of the log-in of module {self._name!r}"
        if not isinstance(given, LoginStatus):
            raise WrongValueError(f"the status {of}", "a LoginStatus", given)
        state = given.state
        if state not in get_args(LoginState):
            raise WrongValueError(f"state {of}", f"one of {', '.join(get_args(LoginState))}", state)
        said = mask_known_secrets(read_text(given.said, f"said {of}"))[:_SAID_CHARS]
        return LoginStatus(state, said, self._read_address(given.address) if given.address else "")

    def _read_address(self, given: Any) -> str:
        where = f"the address of the log-in of module {self._name!r}"
        address = read_text(given, where, "a whole address of the web", pattern=_ADDRESS)
        if not urlsplit(address).hostname:
            raise WrongValueError(where, "a whole address of the web", address)
        return address

    def _login_error(self, exc: Exception) -> ToolError:
        message = f"the log-in of module {self._name!r} went wrong: {mask_known_secrets(reason_of(exc))}"
        return ToolError("login_failed", message, module=self._name)
