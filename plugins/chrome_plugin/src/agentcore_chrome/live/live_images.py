"""Live images of a page for views in MCP clients, which can only request one after another."""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import structlog

from agentcore_chrome.failures import is_driver_error
from agentcore_chrome.live.screencast import Frame, Screencast, Viewer
from agentcore_chrome.tab.tab import Tab

log = structlog.get_logger(__name__)

LIVE_VIEW = Path(__file__).with_name("live_view.html").read_text("utf-8")
"""A self-contained document; it requests images by messages of MCP Apps, revision 2026-01-26."""

HOLD_S = 20.0
"""How long a view waits at most for an update: an idle page costs three calls a minute."""
LINGER_S = 5.0
"""How long frames are still captured for a view that no longer asks."""
FASTEST_S = 0.4
SLOWEST_S = 2.0
"""`FASTEST_S`, `SLOWEST_S`: interval of images of a page that changes at times, and of one that always does."""
BYTES_PER_S = 250_000
_SLOWER = 1.3
_CALM_S = 2.0
_REMEMBERED = 256


@dataclass(frozen=True, slots=True)
class ViewState:
    """The content of a view.

    Args:
        state: `open`, `driven` by a user, `closed`, or `elsewhere`: another view shows this page now.
        frame: The image; None: there is none that the view does not have.
    """

    state: Literal["open", "driven", "closed", "elsewhere"]
    frame: Frame | None = None


@dataclass(slots=True, eq=False)
class _ActiveView:
    """A view that shows a page."""

    view_id: str
    tab: Tab
    viewer: Viewer
    ended: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    newest: Frame | None = None
    has_looked: bool = False
    ready_at: float = 0.0
    interval_s: float = FASTEST_S
    asking: int = 0
    lingering: asyncio.TimerHandle | None = None


class LiveViews:
    """The views of all pages: each page has one, the latest. Frames are captured while it keeps asking.

    Args:
        screencast_of: Returns the screencast of a page.
        run: Runs work in the background.
    """

    def __init__(
        self,
        screencast_of: Callable[[Tab], Screencast],
        run: Callable[[Coroutine[Any, Any, Any]], asyncio.Task[Any]],
    ) -> None:
        self._screencast_of = screencast_of
        self._run = run
        self._looking: dict[str, _ActiveView] = {}
        self._replaced: deque[tuple[str, str]] = deque(maxlen=_REMEMBERED)

    async def wait_for_update(self, tab: Tab, view_id: str) -> ViewState:
        """Wait for an update that a view does not have yet, at most `HOLD_S`.

        While a user drives the page, a view gets no image: no agent may see what the user types.
        """
        looking = await self._join_view(tab, view_id)
        if looking is None:
            return ViewState("elsewhere")
        began = asyncio.get_running_loop().time()
        try:
            async with asyncio.TaskGroup() as group:
                waiting = group.create_task(_wait_for_frame(looking))
                ends: list[asyncio.Future[Any]] = [waiting, tab.gone, looking.ended]
                await asyncio.wait(ends, timeout=HOLD_S, return_when=asyncio.FIRST_COMPLETED)
                waiting.cancel()
        finally:
            self._leave_view(looking)
        if tab.gone.done():
            return ViewState("closed")
        if looking.ended.done():
            return ViewState("elsewhere")
        frame = None if waiting.cancelled() else waiting.result()
        _schedule_next_frame(looking, frame, began)
        return ViewState("driven") if tab.control.holder is not None else ViewState("open", frame)

    def close(self) -> None:
        """End all views."""
        for looking in list(self._looking.values()):
            self._end_view(looking)

    async def _join_view(self, tab: Tab, view_id: str) -> _ActiveView | None:
        if (tab.tab_id, view_id) in self._replaced:
            return None
        looking = self._looking.get(tab.tab_id)
        if looking is not None and looking.view_id != view_id:
            self._replaced.append((tab.tab_id, looking.view_id))
            self._end_view(looking)
            looking = None
        is_new = looking is None
        if looking is None:
            looking = self._looking[tab.tab_id] = _ActiveView(view_id, tab, Viewer(f"view:{view_id}", is_small=True))
        looking.asking += 1
        if looking.lingering is not None:
            looking.lingering.cancel()
        if is_new:
            try:
                await self._screencast_of(tab).add_viewer(looking.viewer)
            except BaseException:
                self._leave_view(looking)
                raise
        return looking

    def _leave_view(self, looking: _ActiveView) -> None:
        looking.asking -= 1
        if not looking.asking and not looking.ended.done():
            looking.lingering = asyncio.get_running_loop().call_later(LINGER_S, self._end_view, looking)

    def _end_view(self, looking: _ActiveView) -> None:
        if looking.lingering is not None:
            looking.lingering.cancel()
        if looking.ended.done():
            return
        looking.ended.set_result(None)
        if self._looking.get(looking.tab.tab_id) is looking:
            del self._looking[looking.tab.tab_id]
        if not looking.tab.gone.done():
            self._run(_remove_viewer(self._screencast_of(looking.tab), looking.viewer))


async def _remove_viewer(screencast: Screencast, viewer: Viewer) -> None:
    try:
        await screencast.remove_viewer(viewer)
    except Exception as exc:
        if not is_driver_error(exc):
            raise
        log.debug("page_went_meanwhile", viewer_id=viewer.viewer_id)


async def _wait_for_frame(looking: _ActiveView) -> Frame | None:
    """Return the view's next image once it is due; None: something else changed."""
    viewer = looking.viewer
    control = looking.tab.control
    await asyncio.sleep(looking.ready_at - asyncio.get_running_loop().time())
    while True:
        frame, has_changed = await viewer.wait_for_update()
        if frame is not None:
            viewer.acknowledge_frame()
            looking.newest = frame
        if looking.newest is not None and control.holder is None:
            frame = looking.newest
            looking.newest = None
            return frame
        has_news = looking.has_looked or control.holder is not None or looking.tab.dialogs.open is not None
        if has_changed and has_news:
            return None


def _schedule_next_frame(looking: _ActiveView, frame: Frame | None, began: float) -> None:
    """Set the time of the view's next image: later the longer the page keeps changing, and the larger it is."""
    now = asyncio.get_running_loop().time()
    looking.has_looked = True
    if now - max(began, looking.ready_at) > _CALM_S:
        looking.interval_s = FASTEST_S
    size = 0 if frame is None else len(frame.data)
    looking.ready_at = now + max(looking.interval_s, size / BYTES_PER_S)
    if frame is not None:
        looking.interval_s = min(looking.interval_s * _SLOWER, SLOWEST_S)
