"""Client of a running server's approval view, for a user who logs in to it at a terminal."""

import json
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from http import HTTPStatus
from typing import Self

from agentcore.cli.backend.server_client import ANSWER_SECONDS, ServerClient
from agentcore.cli.terminal.exit_codes import CliError

_ADDRESS = re.compile(r"^.*#code=|&.*$")
_CODE = re.compile(r"[\w.~-]{1,200}")


def code_in(text: str) -> str:
    """Return the one-time code in a text: a code, or the address that holds one; empty: there is none."""
    code = _ADDRESS.sub("", text.strip())
    return code if _CODE.fullmatch(code) else ""


class ApproverClient(ServerClient):
    """Sends requests to the approval view's origin, which does not accept the API token."""

    @classmethod
    @contextmanager
    def logged_in(cls, address: str, code: str) -> Iterator[Self]:
        """A client that is logged in until the end.

        Args:
            address: The approval view's base URL.
            code: A one-time code, or the address that holds one.
        Raises:
            CliError: The server cannot be reached; the code is not valid (any more).
        """
        client = cls(address, "")
        client._log_in(code_in(code))
        try:
            yield client
        finally:
            with suppress(CliError):  # the server is gone, and the log-in with it
                client.send("DELETE", "/api/session")

    def _log_in(self, code: str) -> None:
        with closing(self._connect(ANSWER_SECONDS)) as connection:
            response = self._send_request(connection, "POST", "/api/session", {"code": code}, "application/json")
            content = self._read_body(response)
            if response.status != HTTPStatus.OK:
                raise CliError(
                    "this log-in code is not valid (any more): each works once, for ten minutes",
                    hint="type `code` in the terminal of the server for a new one",
                )
            cookie = response.headers.get("Set-Cookie", "").partition(";")[0]
        self._credentials = {"Cookie": cookie, "X-Agentcore-Session": json.loads(content)["session"]}
