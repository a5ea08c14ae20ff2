"""`Server`: one MCP server, kept connected: started again with growing pauses when it ends."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeVar

import mcp_types as types
import structlog
from mcp.client.client import Client
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from agentcore.api import Background, ToolError
from agentcore_mcp_servers.address import ServerLogin, watch_refusals
from agentcore_mcp_servers.failures import call_failed, has_ended, has_no_session, server_unavailable
from agentcore_mcp_servers.link import Carrier, Link

log = structlog.get_logger(__name__)

T = TypeVar("T")

_PAGES = 100
_ENTRIES = 5_000
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 60.0
_STEADY_SECONDS = 60.0
_PATIENCE_SECONDS = 15.0
"""How long a call waits for a server that is being started again."""


class Pauses:
    """How long a server that ended is left alone before it is started again: each time longer, until one run lasted."""

    def __init__(self) -> None:
        self._longest_s = _FIRST_PAUSE

    def next_pause_s(self, ran_s: float) -> float:
        """The next pause, in seconds.

        Args:
            ran_s: How long it ran; 0: it could not be started.
        """
        self._longest_s = _FIRST_PAUSE if ran_s > _STEADY_SECONDS else min(self._longest_s * 2, _LONGEST_PAUSE)
        return self._longest_s * random.uniform(0.5, 1.0)  # noqa: S311 - so that not all come at once


class Server:
    """A server that is there, or will be again.

    Args:
        name: The module's name.
        dial: Makes what carries a connection.
        make_client: Makes the SDK's client of that.
        on_again: Is called after the server was started again.
        have_opened: Has the person open what a refused call wants opened; whether the call is to be sent again.
        on_away: Is told why the server could not be started again.
        login: What it may want a person to log in with; None: nothing.
    """

    def __init__(
        self,
        name: str,
        dial: Callable[[], Carrier],
        make_client: Callable[[Carrier], Client],
        on_again: Callable[[], Awaitable[None]],
        have_opened: Callable[[MCPError], Awaitable[bool]],
        *,
        on_away: Callable[[str], None],
        login: ServerLogin | None,
    ) -> None:
        self._name = name
        self._dial = dial
        self._make_client = make_client
        self._on_again = on_again
        self._on_away = on_away
        self._have_opened = have_opened
        self._login = login
        self._background = Background(f"mcp_servers:{name}")
        self._link: Link | None = None
        self._has_news = asyncio.Event()
        self._reason = "it has not been started yet"
        self._next_start = 0.0
        self.is_started = False
        """Whether it was there once, and is kept connected since."""

    async def start(self) -> None:
        """Connect for the first time, and stay so.

        Raises:
            ToolError: `server_not_started`.
        """
        await self._connect()
        self.is_started = True
        self._background.start(self._stay_connected())

    async def close(self) -> None:
        """End it; safe to call twice."""
        await self._background.stop()
        link = self._link
        self._link = None
        if link is not None:
            await link.close()

    @property
    def capabilities(self) -> types.ServerCapabilities:
        """What it can do, as it said at the last handshake."""
        client = self._client
        return types.ServerCapabilities() if client is None else client.server_capabilities

    @property
    def instructions(self) -> str:
        """What it said at the last handshake of how its tools are used."""
        client = self._client
        return "" if client is None else client.instructions or ""

    def describe_identity(self) -> dict[str, str]:
        """Who it says it is, and which revision of the protocol was agreed on; as long as it is not there, why."""
        client = self._client
        if client is None:
            return {"server": f"not there now: {self._reason}"}
        info = client.server_info
        own = {} if info is None else {"server": f"{info.title or info.name} {info.version}".strip()}
        return {**own, "protocol": client.protocol_version}

    async def call(self, tool: str, arguments: dict[str, Any], on_progress: ProgressFnT) -> types.CallToolResult:
        """Call a tool.

        Raises:
            ToolError: `server_unavailable`, `server_ended`, `server_refused`, `invalid_result`.
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
        """Ask it something else.

        Args:
            what: What is asked, for the error.
            request: Asks it.
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
        """All tools that it lists.

        Raises:
            ToolError: As `ask`.
        """

        async def page(client: Client, cursor: str | None) -> tuple[list[types.Tool], str | None]:
            listed = await client.list_tools(cursor=cursor, cache_mode="refresh")
            return listed.tools, listed.next_cursor

        return await self._list_all_pages("tools/list", page)

    async def list_prompts(self) -> list[types.Prompt]:
        """All prompts that it lists.

        Raises:
            ToolError: As `ask`.
        """

        async def page(client: Client, cursor: str | None) -> tuple[list[types.Prompt], str | None]:
            listed = await client.list_prompts(cursor=cursor, cache_mode="refresh")
            return listed.prompts, listed.next_cursor

        return await self._list_all_pages("prompts/list", page)

    async def get_prompt(self, name: str, arguments: dict[str, str]) -> types.GetPromptResult:
        """A prompt, made with arguments.

        Raises:
            ToolError: As `ask`.
        """
        return await self.send_request(name, lambda client: client.get_prompt(name, arguments))

    async def complete(self, prompt: str, argument: str, begun: str, given: dict[str, str]) -> list[str]:
        """What an argument of a prompt can be.

        Raises:
            ToolError: As `ask`.
        """
        ref = types.PromptReference(name=prompt)

        async def complete(client: Client) -> types.CompleteResult:
            return await client.complete(ref, {"name": argument, "value": begun}, given or None)

        return (await self.send_request("completion/complete", complete)).completion.values

    async def list_resources(self) -> list[types.Resource]:
        """All resources that it lists.

        Raises:
            ToolError: As `ask`.
        """

        async def page(client: Client, cursor: str | None) -> tuple[list[types.Resource], str | None]:
            listed = await client.list_resources(cursor=cursor, cache_mode="refresh")
            return listed.resources, listed.next_cursor

        return await self._list_all_pages("resources/list", page)

    async def read_resource(self, uri: str) -> list[types.TextResourceContents | types.BlobResourceContents]:
        """What a resource holds.

        Raises:
            ToolError: As `ask`.
        """

        async def read(client: Client) -> types.ReadResourceResult:
            return await client.read_resource(uri, cache_mode="refresh")

        return list((await self.send_request("resources/read", read)).contents)

    async def list_templates(self) -> list[types.ResourceTemplate]:
        """The templates of resources that it lists.

        Raises:
            ToolError: As `ask`.
        """

        async def page(client: Client, cursor: str | None) -> tuple[list[types.ResourceTemplate], str | None]:
            listed = await client.list_resource_templates(cursor=cursor, cache_mode="refresh")
            return listed.resource_templates, listed.next_cursor

        return await self._list_all_pages("resources/templates/list", page)

    # -- staying connected -------------------------------------------------------------------------------------

    async def _request_failed(self, error: Exception, what: str) -> ToolError:
        """Why a request that was on its way gave nothing."""
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
                        raise server_unavailable(self._name, self._reason)  # who waits for that would wait in vain
                    self._has_news.clear()
                    await self._has_news.wait()
                return client
        except TimeoutError as exc:
            raise server_unavailable(self._name, self._reason) from exc

    async def _connect(self) -> None:
        link = Link(self._dial(), self._make_client)
        await link.open()
        self._link = link
        self._has_news.set()

    async def _stay_connected(self) -> None:
        loop = asyncio.get_running_loop()
        pauses = Pauses()
        began = loop.time()
        while True:
            ran_s = 0.0
            link = self._link
            if link is not None and link.over is not None:
                await asyncio.wait((link.over,))
                ran_s = loop.time() - began
                self._reason = link.ending
                log.warning("mcp_server_ended", module=self._name, reason=self._reason)
            self._link = None
            pause_s = pauses.next_pause_s(ran_s)
            self._next_start = loop.time() + pause_s
            self._has_news.set()
            await asyncio.sleep(pause_s)
            try:
                await self._connect()
            except ToolError as exc:
                self._reason = exc.message
                log.warning("mcp_server_not_started", module=self._name, reason=exc.message)
                self._on_away(exc.message)
                if self._login is not None:
                    await self._login.wait_until_possible()
                continue
            began = loop.time()
            await self._notify_restarted()

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
