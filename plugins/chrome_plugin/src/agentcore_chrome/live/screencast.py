"""The screencast of a page: frames as the browser paints them, encoded once, with the newest one for each viewer.

In a browser without screencasts, such as some attached programs, screenshots are taken one after another.
"""

import asyncio
from base64 import b64decode
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import structlog

from agentcore.api import Background
from agentcore_chrome.failures import is_closed, is_driver_error
from agentcore_chrome.tab.tab import Tab

if TYPE_CHECKING:
    from playwright.async_api import CDPSession

log = structlog.get_logger(__name__)

_LARGE = {"format": "jpeg", "quality": 70, "maxWidth": 1920, "maxHeight": 1200}
_SMALL = {"format": "jpeg", "quality": 60, "maxWidth": 800, "maxHeight": 800}
"""Used if small frames suffice for all viewers."""
_LOOK_AGAIN_SECONDS = 0.5
_SHOT_SECONDS = 0.5
"""Pause between two screenshots if there is no screencast."""
_SHOT_MS = 5000
_WINDOW = "() => [innerWidth, innerHeight]"
_AHEAD = 2
"""Maximum of frames in transit to one viewer, which acknowledges each one that it has shown."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One image of a page (JPEG), and the size of the page's window in CSS pixels."""

    data: bytes
    width: int
    height: int


class Viewer:
    """A viewer of a page. A slow one gets the newest frame when it is ready for one, never a backlog.

    Attributes:
        viewer_id: Unique among the page's viewers.
        is_small: True if small frames suffice.
    """

    def __init__(self, viewer_id: str, *, is_small: bool = False) -> None:
        self.viewer_id = viewer_id
        self.is_small = is_small
        self._newest: Frame | None = None
        self._credit = _AHEAD
        self._wake = asyncio.Event()
        self._changed = True

    def offer_frame(self, frame: Frame) -> None:
        """Offer a newer frame."""
        self._newest = frame
        self._wake.set()

    def acknowledge_frame(self) -> None:
        """Allow another frame, because the viewer has shown one."""
        self._credit = min(self._credit + 1, _AHEAD)
        self._wake.set()

    def notify_changed(self) -> None:
        """Notify the viewer that the page's state changed."""
        self._changed = True
        self._wake.set()

    async def wait_for_update(self) -> tuple[Frame | None, bool]:
        """Wait for the newest frame, if the viewer is ready for one, or a change of the state; return both."""
        while True:
            frame = self._newest if self._credit > 0 else None
            if frame is not None or self._changed:
                if frame is not None:
                    self._newest = None
                    self._credit -= 1
                changed = self._changed
                self._changed = False
                return frame, changed
            self._wake.clear()
            await self._wake.wait()


class Screencast:
    """The frames of one page, which are captured while it has viewers."""

    def __init__(self, tab: Tab) -> None:
        self._tab = tab
        self._viewers: dict[str, Viewer] = {}
        self._last: Frame | None = None
        self._flowing: dict[str, Any] | None = None
        self._switching = asyncio.Lock()
        self._acknowledging = Background(f"screencast:{tab.tab_id}")
        self._shooting: asyncio.Task[None] | None = None

    async def add_viewer(self, viewer: Viewer) -> None:
        """Show the page to another viewer."""
        self._viewers[viewer.viewer_id] = viewer
        if self._last is not None:
            viewer.offer_frame(self._last)
        await self._start_or_stop()

    async def remove_viewer(self, viewer: Viewer) -> None:
        """Remove a viewer; the last one stops the frames."""
        self._viewers.pop(viewer.viewer_id, None)
        await self._start_or_stop()

    @property
    def width(self) -> int | None:
        """Maximum width of the frames in pixels; None: none are captured."""
        return None if self._flowing is None else int(self._flowing["maxWidth"])

    def notify_viewers(self) -> None:
        """Notify viewers that the page's state changed."""
        for viewer in self._viewers.values():
            viewer.notify_changed()

    def close(self) -> None:
        """Notify viewers that the page is gone, and stop."""
        self.notify_viewers()
        self._acknowledging.cancel()

    async def _start_or_stop(self) -> None:
        """Start or stop the frames, or change their size, as the viewers require."""
        async with self._switching:
            requested = self._choose_format()
            if requested == self._flowing or self._tab.gone.done():
                return
            session = await self._tab.get_session()
            if self._flowing is not None:
                await self._stop_screencast(session)
            if requested is not None:
                await self._start_screencast(session, requested)

    async def _start_screencast(self, session: "CDPSession", wanted: dict[str, Any]) -> None:
        session.on("Page.screencastFrame", self._on_frame)
        self._flowing = wanted
        try:
            await session.send("Page.startScreencast", wanted)
        except Exception as exc:
            if not is_driver_error(exc) or is_closed(exc):
                raise
            log.info("screencast_missing", tab_id=self._tab.tab_id)
            self._shooting = self._acknowledging.start(self._take_screenshots(wanted["quality"]))

    async def _stop_screencast(self, session: "CDPSession") -> None:
        session.remove_listener("Page.screencastFrame", self._on_frame)
        self._last = self._flowing = None
        shooting = self._shooting
        self._shooting = None
        if shooting is None:
            await session.send("Page.stopScreencast")
        else:
            shooting.cancel()

    async def _take_screenshots(self, quality: int) -> None:
        """Take one screenshot after another, and offer those that differ from the last frame."""
        page = self._tab.page
        while not self._tab.gone.done():
            try:
                data = await page.screenshot(type="jpeg", quality=quality, scale="css", timeout=_SHOT_MS)
                width, height = await page.evaluate(_WINDOW)
            except Exception as exc:
                if not is_driver_error(exc):
                    raise
                log.debug("screenshot_missing", tab_id=self._tab.tab_id)  # a dialog or a script blocks it
            else:
                if self._last is None or data != self._last.data:
                    self._offer_frame(Frame(data, width, height))
            await asyncio.sleep(_SHOT_SECONDS)

    def _choose_format(self) -> dict[str, Any] | None:
        if not self._viewers:
            return None
        return _SMALL if all(viewer.is_small for viewer in self._viewers.values()) else _LARGE

    def _on_frame(self, event: dict[str, Any]) -> None:
        self._acknowledging.start(self._acknowledge_frame(event["sessionId"]))
        size = event["metadata"]
        frame = Frame(b64decode(event["data"]), round(size["deviceWidth"]), round(size["deviceHeight"]))
        self._offer_frame(frame)

    def _offer_frame(self, frame: Frame) -> None:
        self._last = frame
        self._tab.process.schedule_title_refresh(
            self._tab, _LOOK_AGAIN_SECONDS
        )  # the painted page may have another title
        for viewer in self._viewers.values():
            viewer.offer_frame(frame)

    async def _acknowledge_frame(self, number: int) -> None:
        try:
            await (await self._tab.get_session()).send("Page.screencastFrameAck", {"sessionId": number})
        except Exception as exc:
            if not is_driver_error(exc):
                raise
            log.debug("frame_not_acknowledged", tab_id=self._tab.tab_id)
