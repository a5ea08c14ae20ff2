"""A login that a module of a host offers, reported to the server whenever its state changes."""

import asyncio
from collections.abc import Callable
from typing import Any

from agentcore.api.login import Login
from agentcore.core.declarations.module_login import ModuleLogin
from agentcore.errors import ToolError

_LOOK_SECONDS = 1.0


class OfferedLogin:
    """Watches one login.

    Args:
        tell: Reports its state to the server.
    """

    def __init__(self, login: Login, name: str, tell: Callable[[dict[str, str]], None]) -> None:
        self._login = ModuleLogin(login, name)
        self._tell_server = tell
        self._told: dict[str, str] = {}
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None

    def send_status(self) -> None:
        """Report its state, if it has changed, and check again later."""
        self.close()
        try:
            status = self._login.status()
            now = {"state": status.state, "said": status.said, "address": status.address}
        except ToolError as exc:
            now = {"state": "needed", "said": exc.message, "address": ""}
        if now != self._told:
            self._told = now
            self._tell_server(now)
        self._timer = self._loop.call_later(_LOOK_SECONDS, self.send_status)

    def resend_status(self) -> None:
        """Report its state, whether or not it was reported before."""
        self._told = {}
        self.send_status()

    def close(self) -> None:
        """Look no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    async def run_step(self, message: dict[str, Any]) -> str:
        """Carry out a step that the user requested.

        Raises:
            ToolError: Raised by the module.
        """
        step = message["step"]
        address = ""
        if step == "begin":
            address = await self._login.begin()
        elif step == "finish":
            await self._login.finish(message["address"])
        else:
            await self._login.log_out()
        self.send_status()
        return address
