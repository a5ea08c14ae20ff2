"""`Server`: one MCP server that stays connected; it is restarted with growing pauses when it ends."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

import mcp_types as types
import structlog
from mcp.client.client import Client
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from agentcore.api import Background, ToolError
from agentcore_mcp_servers.failures import call_failed, has_ended, has_no_session, server_unavailable
from agentcore_mcp_servers.http_transport import ServerLogin, watch_refusals
from agentcore_mcp_servers.link import Carrier, Link
from agentcore_mcp_servers.start_obstacles import wait_until_gone

log = structlog.get_logger(__name__)

T = TypeVar("T")

_PAGES = 100
_ENTRIES = 5_000
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 60.0
_STEADY_SECONDS = 60.0
_PATIENCE_SECONDS = 15.0
"""How long a call waits for a server that is being restarted."""


class Pauses:
    """Computes the pauses before restarts of a server: each is longer, until a run has lasted for 60 s."""

    def __init__(self) -> None:
        self._longest_s = _FIRST_PAUSE

    def next_pause_s(self, ran_s: float) -> float:
        """Return the next pause in seconds.

        Args:
            ran_s: How long the server ran; 0 if it could not be started.
        """
        self._longest_s = _FIRST_PAUSE if ran_s > _STEADY_SECONDS else min(self._longest_s * 2, _LONGEST_PAUSE)
        return self._longest_s * random.uniform(0.5, 1.0)  # noqa: S311 - so that not all come at once


class Server:
    """A server that is connected, or is being reconnected.

    Args:
        name: The module's name.
        dial: Creates the carrier of a connection.
        make_client: Creates the SDK's client for a carrier.
        on_again: Called after the server was restarted, or started after its first start had failed.
        have_opened: Asks the user to open the URLs that a refused call requires; returns True if the call should be
            sent again.
        on_away: Called when the server could not be started, with the reason, and with the pause before the next
            attempt in seconds; None: it waits for the user's log-in.
        path: The `PATH` on which its program is looked for.
        login: The server's login; None if it has none.
    """

    def __init__(
        self,
        name: str,
        dial: Callable[[], Carrier],
        make_client: Callable[[Carrier], Client],
        on_again: Callable[[], Awaitable[None]],
        have_opened: Callable[[MCPError], Awaitable[bool]],
        *,
        on_away: Callable[[ToolError, float | None], None],
        path: str | None,
        login: ServerLogin | None,
    ) -> None:
        self._name = name
        self._dial = dial
        self._make_client = make_client
        self._on_again = on_again
        self._on_away = on_away
        self._path = path
        self._have_opened = have_opened
        self._login = login
        self._background = Background(f"mcp_servers:{name}")
        self._link: Link | None = None
        self._has_news = asyncio.Event()
        self._reason = "it has not been started yet"
        self._next_start = 0.0
        self._pauses = Pauses()

    async def start(self) -> bool:
        """Connect for the first time, and go on trying and reconnect from then on; True if it is connected now.

        Raises:
            ToolError: It can never be connected as its block is.
        """
        failure = await self._try_to_connect()
        if failure is not None and not (failure.retryable or self._needs_login):
            raise failure
        pause_s = 0.0 if failure is None else self._schedule_attempt(failure, 0.0)
        self._background.start(self._stay_connected(failure, pause_s))
        return failure is None

    async def wait_until_connected(self) -> None:
        """Wait until the server is connected, at most until the next attempt has failed.

        Raises:
            ToolError: `server_unavailable`.
        """
        if self._client is not None:
            return
        self._has_news.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE_SECONDS):
                await self._has_news.wait()
        if self._client is None:
            raise server_unavailable(self._name, self._reason)

    async def close(self) -> None:
        """Disconnect and end the server; safe to call twice."""
        await self._background.stop()
        link = self._link
        self._link = None
        if link is not None:
            await link.close()

    @property
    def capabilities(self) -> types.ServerCapabilities:
        """The server's capabilities from the last handshake; empty while it is not connected."""
        client = self._client
        return types.ServerCapabilities() if client is None else client.server_capabilities

    @property
    def instructions(self) -> str:
        """The server's instructions from the last handshake; empty while it is not connected."""
        client = self._client
        return "" if client is None else client.instructions or ""

    def describe_identity(self) -> dict[str, str]:
        """Return the server's name and the protocol version; while it is not connected, the reason."""
        client = self._client
        if client is None:
            return {"server": f"not there now: {self._reason}"}
        info = client.server_info
        own = {} if info is None else {"server": f"{info.title or info.name} {info.version}".strip()}
        return {**own, "protocol": client.protocol_version}

    async def call(self, tool: str, arguments: dict[str, Any], on_progress: ProgressFnT) -> types.CallToolResult:
        """Call a tool.

        Raises:
            ToolError: See `send_request`; also `no_person` and `declined` if the server requires URLs to be opened.
        """

        async def call(client: Client) -> types.CallToolResult:
            try:
                return await client.call_tool(tool, arguments, progress_callback=on_progress)
            except MCPError as exc:
                if not await self._have_opened(exc):
                    raise
            return await client.call_tool(tool, arguments, progress_callback=on_progress)

        return await self.send_request(tool, call)

    async def send_request(self, what: str, request: Callable[[Client], Awaitable[T]]) -> T:
        """Send a request to the server.

        Args:
            what: The method or tool that is requested, for error messages.
            request: Sends it with the client.
        Raises:
            ToolError: `server_unavailable`, `server_ended`, `server_refused`, `invalid_result`, `login_needed`.
        """
        with watch_refusals() as refused:
            try:
                return await self._send_with_retry(request)
            except (MCPError, ValidationError, RuntimeError, ExceptionGroup) as exc:
                if self._login is not None and refused:
                    raise self._login.create_refusal_error(refused[-1]) from exc
                raise await self._request_failed(exc, what) from exc

    async def _send_with_retry(self, request: Callable[[Client], Awaitable[T]]) -> T:
        client = await self._wait_for_client()
        link = self._link
        try:
            return await request(client)
        except MCPError as exc:
            if link is None or link.over is None or not has_no_session(exc):
                raise
            await asyncio.wait((link.over,))
        return await request(await self._wait_for_client())

    async def list_tools(self) -> list[types.Tool]:
        """List all tools of the server.

        Raises:
            ToolError: See `send_request`.
        """

        async def page(client: Client, cursor: str | None) -> tuple[list[types.Tool], str | None]:
            listed = await client.list_tools(cursor=cursor, cache_mode="refresh")
            return listed.tools, listed.next_cursor

        return await self._list_all_pages("tools/list", page)

    async def list_prompts(self) -> list[types.Prompt]:
        """List all prompts of the server.

        Raises:
            ToolError: See `send_request`.
        """

        async def page(client: Client, cursor: str | None) -> tuple[list[types.Prompt], str | None]:
            listed = await client.list_prompts(cursor=cursor, cache_mode="refresh")
            return listed.prompts, listed.next_cursor

        return await self._list_all_pages("prompts/list", page)

    async def get_prompt(self, name: str, arguments: dict[str, str]) -> types.GetPromptResult:
        """Get a prompt with arguments filled in.

        Raises:
            ToolError: See `send_request`.
        """
        return await self.send_request(name, lambda client: client.get_prompt(name, arguments))

    async def complete(self, prompt: str, argument: str, begun: str, given: dict[str, str]) -> list[str]:
        """Return completions for an argument of a prompt.

        Raises:
            ToolError: See `send_request`.
        """
        ref = types.PromptReference(name=prompt)

        async def complete(client: Client) -> types.CompleteResult:
            return await client.complete(ref, {"name": argument, "value": begun}, given or None)

        return (await self.send_request("completion/complete", complete)).completion.values

    async def list_resources(self) -> list[types.Resource]:
        """List all resources of the server.

        Raises:
            ToolError: See `send_request`.
        """

        async def page(client: Client, cursor: str | None) -> tuple[list[types.Resource], str | None]:
            listed = await client.list_resources(cursor=cursor, cache_mode="refresh")
            return listed.resources, listed.next_cursor

        return await self._list_all_pages("resources/list", page)

    async def read_resource(self, uri: str) -> list[types.TextResourceContents | types.BlobResourceContents]:
        """Read the contents of a resource.

        Raises:
            ToolError: See `send_request`.
        """

        async def read(client: Client) -> types.ReadResourceResult:
            return await client.read_resource(uri, cache_mode="refresh")

        return list((await self.send_request("resources/read", read)).contents)

    async def list_templates(self) -> list[types.ResourceTemplate]:
        """List all resource templates of the server.

        Raises:
            ToolError: See `send_request`.
        """

        async def page(client: Client, cursor: str | None) -> tuple[list[types.ResourceTemplate], str | None]:
            listed = await client.list_resource_templates(cursor=cursor, cache_mode="refresh")
            return listed.resource_templates, listed.next_cursor

        return await self._list_all_pages("resources/templates/list", page)

    # -- staying connected -------------------------------------------------------------------------------------

    async def _request_failed(self, error: Exception, what: str) -> ToolError:
        """Create the error for a request that failed after it was sent."""
        link = self._link
        if link is None:
            return call_failed(error, self._name, what, "closed the connection")
        if has_ended(error):
            await link.wait_for_ending()
        return call_failed(error, self._name, what, link.ending)

    @property
    def _client(self) -> Client | None:
        return None if self._link is None else self._link.client

    async def _wait_for_client(self) -> Client:
        ready = self._client
        if ready is not None:
            return ready
        if self._login is not None and (refused := self._login.challenge) is not None:
            raise self._login.create_refusal_error(refused)
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                while (client := self._client) is None:
                    if self._next_start - asyncio.get_running_loop().time() > _PATIENCE_SECONDS:
                        raise server_unavailable(self._name, self._reason)  # the next attempt is too far away
                    self._has_news.clear()
                    await self._has_news.wait()
                return client
        except TimeoutError as exc:
            raise server_unavailable(self._name, self._reason) from exc

    async def _try_to_connect(self) -> ToolError | None:
        """Connect; return the reason if that fails."""
        try:
            link = Link(self._dial(), self._make_client)
            await link.open()
        except ToolError as exc:
            self._reason = exc.message
            log.warning("mcp_server_not_started", module=self._name, reason=exc.message)
            return exc
        self._link = link
        self._has_news.set()
        return None

    async def _stay_connected(self, failure: ToolError | None, pause_s: float) -> None:
        """Reconnect whenever the connection has ended, or could not be made.

        Args:
            failure: Why the first attempt failed; None: the server is connected.
            pause_s: The pause before the next attempt, if it failed.
        """
        loop = asyncio.get_running_loop()
        began = loop.time()
        while True:
            if failure is None:
                await self._wait_for_end()
                pause_s = self._schedule_attempt(None, loop.time() - began)
            await self._pause(pause_s, failure)
            failure = await self._try_to_connect()
            if failure is None:
                began = loop.time()
                await self._notify_restarted()
            else:
                pause_s = self._schedule_attempt(failure, 0.0)

    async def _wait_for_end(self) -> None:
        link = self._link
        if link is not None and link.over is not None:
            await asyncio.wait((link.over,))
            self._reason = link.ending
            log.warning("mcp_server_ended", module=self._name, reason=self._reason)
        self._link = None

    def _schedule_attempt(self, failure: ToolError | None, ran_s: float) -> float:
        """Return the pause before the next attempt in seconds, and report what it waits for after a failure."""
        pause_s = self._pauses.next_pause_s(ran_s)
        self._next_start = asyncio.get_running_loop().time() + pause_s
        self._has_news.set()
        if failure is not None:
            self._on_away(failure, None if self._needs_login else pause_s)
        return pause_s

    @property
    def _needs_login(self) -> bool:
        return self._login is not None and self._login.is_needed

    async def _pause(self, pause_s: float, failure: ToolError | None) -> None:
        """Wait before the next attempt: until the user has logged in, or at most until what was missing is there."""
        if failure is None:
            await asyncio.sleep(pause_s)
        elif self._login is not None and self._needs_login:
            await self._login.wait_until_possible()
        else:
            with suppress(TimeoutError):
                async with asyncio.timeout(pause_s):
                    await wait_until_gone(failure, self._path)

    async def _notify_restarted(self) -> None:
        try:
            await self._on_again()
        except ToolError as exc:
            log.warning("mcp_server_not_read", module=self._name, reason=exc.message)

    async def _list_all_pages(self, what: str, page: Callable[..., Awaitable[tuple[list[T], str | None]]]) -> list[T]:
        entries: list[T] = []
        cursor: str | None = None
        for _ in range(_PAGES):
            found, cursor = await self.send_request(what, partial(page, cursor=cursor))
            entries += found
            if cursor is None or len(entries) >= _ENTRIES:
                return entries[:_ENTRIES]
        return entries
