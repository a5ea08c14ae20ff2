"""The WebSocket of a live preview: frames and state out, user input in."""

import asyncio
import itertools
import json
from collections.abc import Callable
from typing import Any

import structlog
from pydantic import ValidationError

from agentcore.api import Request, ToolError, UrlPolicy
from agentcore_chrome.live.input import MESSAGE, ControlRequest, DialogReply, FrameShown, Message, Mouse, apply_input
from agentcore_chrome.live.screencast import Screencast, Viewer
from agentcore_chrome.tab.tab import Tab

log = structlog.get_logger(__name__)

_INPUT_SECONDS = 20.0
_NAVIGATION_SECONDS = 35.0
_WAITING_INPUT = 200
_MOVES = 2
_GONE = 4404
_NUMBERS = itertools.count(1)


class Preview:
    """One viewer's connection to one page."""

    def __init__(self, tab: Tab, screencast: Screencast, policy: UrlPolicy, socket: Any) -> None:
        self._tab = tab
        self._screencast = screencast
        self._policy = policy
        self._socket = socket
        self._viewer = Viewer(f"v{next(_NUMBERS)}")
        self._input: asyncio.Queue[Message] = asyncio.Queue(_WAITING_INPUT)
        self._size = (0, 0)

    async def run(self) -> None:
        """Show the page until the viewer disconnects or the page is gone."""
        tab = self._tab
        await self._screencast.add_viewer(self._viewer)
        try:
            async with asyncio.TaskGroup() as group:
                work = [
                    group.create_task(part)
                    for part in (self._send_frames(), self._receive_messages(), self._process_input())
                ]
                ends: list[asyncio.Future[Any]] = [*work, tab.gone]
                await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
                for part in work:
                    part.cancel()
        finally:
            await self._screencast.remove_viewer(self._viewer)
            await tab.control.release_control(self._viewer.viewer_id)
        if tab.gone.done():
            await self._socket.close(_GONE, tab.gone.result().type)

    async def _send_frames(self) -> None:
        while True:
            frame, has_changed = await self._viewer.wait_for_update()
            if has_changed:
                await self._send_json(self._describe_state())
            if frame is not None:
                if (frame.width, frame.height) != self._size:
                    self._size = (frame.width, frame.height)
                    await self._send_json({"type": "size", "width": frame.width, "height": frame.height})
                await self._socket.send(frame.data)

    async def _receive_messages(self) -> None:
        async for text in self._socket:
            try:
                message = MESSAGE.validate_json(text)
            except ValidationError as exc:
                error = ToolError("invalid_arguments", f"cannot read the message: {exc.errors()[0]['msg']}")
                await self._send_json({"type": "error", "error": error.to_json()})
                continue
            if isinstance(message, FrameShown):
                self._viewer.acknowledge_frame()
            elif isinstance(message, ControlRequest) and message.type == "giveBack":
                await self._input.put(message)  # after the input before it
            elif isinstance(message, ControlRequest):
                await self._take_control()
            else:
                self._queue_input(message)

    def _queue_input(self, message: Message) -> None:
        """Queue the input of the user who drives; if the page is slow, mouse moves are dropped first."""
        if self._tab.control.holder != self._viewer.viewer_id and not isinstance(message, DialogReply):
            return
        is_move = isinstance(message, Mouse) and message.type == "mouseMove"
        if self._input.full() or (is_move and self._input.qsize() > _MOVES):
            return
        self._input.put_nowait(message)

    async def _process_input(self) -> None:
        while True:
            message = await self._input.get()
            if isinstance(message, ControlRequest):
                await self._tab.control.release_control(self._viewer.viewer_id)
                continue
            if self._tab.control.holder != self._viewer.viewer_id and not isinstance(message, DialogReply):
                continue
            limit_s = (
                _NAVIGATION_SECONDS if message.type in {"navigate", "back", "forward", "reload"} else _INPUT_SECONDS
            )
            try:
                async with asyncio.timeout(limit_s):
                    await apply_input(self._tab, self._policy, message)
            except ToolError as exc:
                await self._send_json({"type": "error", "error": exc.to_json()})
            except TimeoutError:
                log.info("preview_input_late", tab_id=self._tab.tab_id, kind=message.type)

    async def _take_control(self) -> None:
        if not await self._tab.control.take_control(self._viewer.viewer_id):
            error = ToolError("page_is_driven", "somebody else drives this page now", retryable=True)
            await self._send_json({"type": "error", "error": error.to_json()})

    def _describe_state(self) -> dict[str, Any]:
        tab = self._tab
        holder = tab.control.holder
        dialog = tab.dialogs.open
        return {
            "type": "state",
            "tabId": tab.tab_id,
            "url": tab.page.url,
            "title": tab.title,
            "driver": None if holder is None else "you" if holder == self._viewer.viewer_id else "other",
            "dialog": dialog.to_json() if dialog is not None else None,
        }

    async def _send_json(self, message: dict[str, Any]) -> None:
        await self._socket.send(json.dumps(message, ensure_ascii=False))


async def serve_preview(
    request: Request, tab: Tab | None, screencast_of: Callable[[Tab], Screencast], policy: UrlPolicy
) -> None:
    """Serve a tab's preview over a WebSocket, or close it if the tab does not exist."""
    socket = request.socket
    assert socket is not None  # noqa: S101 - the route is a WebSocket's
    if tab is None or tab.gone.done():
        await socket.close(_GONE, "tab_not_found")
        return
    try:
        await Preview(tab, screencast_of(tab), policy, socket).run()
    except* ConnectionError:
        log.debug("preview_ended", tab_id=tab.tab_id)
