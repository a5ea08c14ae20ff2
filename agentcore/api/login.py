"""A log-in at somebody else's service, which a person does in their browser."""

from dataclasses import dataclass
from typing import Literal, Protocol

LoginState = Literal["needed", "waiting", "logged_in", "unneeded"]
"""Whether a person has to log in, is at it, has done it, or need not."""


@dataclass(frozen=True, slots=True)
class LoginStatus:
    """How a log-in stands.

    Args:
        state: How it stands.
        said: What there is to say of that, in a sentence: why the last try gave nothing, or what is wanted besides.
            Of one that is logged in, where.
        address: While a person is at it, what they open in their browser.
    """

    state: LoginState
    said: str = ""
    address: str = ""


class Login(Protocol):
    """A log-in that a module offers with `runtime.offer_login`."""

    def status(self) -> LoginStatus:
        """How it stands just now; asked again and again while somebody looks."""
        ...

    async def begin(self) -> str:
        """Begin, or go on with what has begun.

        Returns:
            What the person opens in their browser; begins with `http://` or `https://`.
        Raises:
            ToolError: It cannot be done, and what would help.
        """
        ...

    async def finish(self, address: str) -> None:
        """End what has begun by the address at which the person's browser ended, where that could not reach us.

        Raises:
            ToolError: Nothing has begun, or the address is not the one.
        """
        ...

    async def log_out(self) -> None:
        """Forget what the log-in gave."""
        ...
