"""Stopping the script that runs in a page, such as an endless one."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import structlog

from agentcore.api import Background
from agentcore_chrome.call_limit import work_s

if TYPE_CHECKING:
    from playwright.async_api import CDPSession

log = structlog.get_logger(__name__)

_AGAIN_SECONDS = 0.2
_STOP_SECONDS = 10.0


class ScriptStop:
    """Stops the scripts of one page, one attempt at a time.

    Args:
        tab_id: The tab of the page.
        session: Returns the page's CDP session.
        background: The tab's background tasks, which end with the page.
    """

    def __init__(self, tab_id: str, session: "Callable[[], Awaitable[CDPSession]]", background: Background) -> None:
        self._tab_id = tab_id
        self._open_session = session
        self._background = background
        self._stopping: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Stop the script in the background, after a call has timed out."""
        if self._stopping is None or self._stopping.done():
            self._stopping = self._background.start(self.stop_script())

    async def wait_until_done(self) -> None:
        """Wait until a started attempt is done, within the call's limit."""
        if self._stopping is not None and not self._stopping.done():
            await asyncio.wait((self._stopping,), timeout=work_s(_STOP_SECONDS))

    async def stop_script(self) -> None:
        """Stop the script that runs in the page, or that was sent to the page and has not started yet."""
        try:
            async with asyncio.timeout(_STOP_SECONDS):
                await self._terminate_script(await self._open_session())
        except Exception as exc:  # noqa: BLE001 - the page is gone, or does not answer
            log.debug("script_not_stopped", tab_id=self._tab_id, reason=str(exc))

    async def _terminate_script(self, session: "CDPSession") -> None:
        # The request overtakes queued scripts and terminates whichever runs next. An empty script behind them shows
        # when all have ended, and absorbs the request if there was nothing else to terminate.
        async def send(method: str, **parameters: Any) -> None:
            with suppress(Exception):  # a page that is gone has no script
                await session.send(method, parameters)

        async with asyncio.TaskGroup() as group:
            requested = group.create_task(send("Runtime.terminateExecution"))
            probed = group.create_task(send("Runtime.evaluate", expression="0"))
            while (await asyncio.wait((requested, probed), timeout=_AGAIN_SECONDS))[1]:
                if requested.done():
                    requested = group.create_task(send("Runtime.terminateExecution"))
                elif probed.done():
                    probed = group.create_task(send("Runtime.evaluate", expression="0"))
