"""A log-in that a module of a host offers, told to the server whenever it stands otherwise."""

import asyncio
from collections.abc import Callable
from typing import Any

from agentcore.api.login import Login
from agentcore.core.containment.login import ModuleLogin
from agentcore.errors import ToolError

_LOOK_SECONDS = 1.0


class OfferedLogin:
    """Looks after one log-in.

    Args:
        tell: Tells the server how it stands.
    """

    def __init__(self, login: Login, name: str, tell: Callable[[dict[str, str]], None]) -> None:
        self._login, self._tell_server = ModuleLogin(login, name), tell
        self._told: dict[str, str] = {}
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None

    def send_status(self) -> None:
        """Tell how it stands, if that is not known, and look again in a while."""
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
        """Tell how it stands, whether or not that was told."""
        self._told = {}
        self.send_status()

    def close(self) -> None:
        """Look no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    async def run_step(self, message: dict[str, Any]) -> str:
        """Do what the person asked for.

        Raises:
            ToolError: What the module says.
        """
        step, address = message["step"], ""
        if step == "begin":
            address = await self._login.begin()
        elif step == "finish":
            await self._login.finish(message["address"])
        else:
            await self._login.log_out()
        self.send_status()
        return address
