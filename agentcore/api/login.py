"""A login at an external service, which the user completes in their browser."""

from typing import Literal, Protocol

from agentcore.late_dataclasses import dataclass

LoginState = Literal["needed", "waiting", "logged_in", "unneeded"]
"""The state of a login: required, in progress, done, or not required."""


@dataclass(frozen=True, slots=True)
class LoginStatus:
    """The status of a login.

    Args:
        state: Its state.
        said: An explanation, in a sentence: why the last attempt failed, or what else is required.
            For one that is logged in, the service.
        address: During the login, the address that the user opens in their browser.
    """

    state: LoginState
    said: str = ""
    address: str = ""


class Login(Protocol):
    """A log-in that a module offers with `runtime.offer_login`."""

    def status(self) -> LoginStatus:
        """Return the current status; called repeatedly while the user watches."""
        ...

    async def begin(self) -> str:
        """Start the login, or continue a started one.

        Returns:
            The address that the user opens in their browser; begins with `http://` or `https://`.
        Raises:
            ToolError: It failed, with advice.
        """
        ...

    async def finish(self, address: str) -> None:
        """Finish the login with the address at which the user's browser ended, if that could not reach the server.

        Raises:
            ToolError: None was started, or the address is a different one.
        """
        ...

    async def log_out(self) -> None:
        """Delete the credentials of the login."""
        ...
