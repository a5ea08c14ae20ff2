"""The title of the page that a navigation leads to, requested while it still loads."""

import asyncio
from types import TracebackType
from typing import TYPE_CHECKING, Self

from agentcore.api import Background
from agentcore_chrome.failures import is_driver_error
from agentcore_chrome.tab.tab import Tab

if TYPE_CHECKING:
    from playwright.async_api import Frame

_LATE_SECONDS = 0.1
"""How long after the driver has reported the load to wait for the answer, before the page is asked again."""

# In a task of its own, after the page's own load handlers; a message, because timers may be throttled.
_AT_LOAD = """new Promise(done => {
  const tell = () => {
    const {port1, port2} = new MessageChannel();
    port1.onmessage = () => done([document.title, document.readyState]);
    port2.postMessage(null);
  };
  document.readyState === 'complete' ? tell() : addEventListener('load', tell, {once: true});
})"""


class TitleAtLoad:
    """Requests the title after loading from each document that a tab navigates to, as soon as the document exists.

    A request after loading would cost another round trip to the browser.
    """

    def __init__(self, tab: Tab) -> None:
        self._tab = tab
        self._background = Background(f"title:{tab.tab_id}")
        self._asking: asyncio.Task[tuple[str, str] | None] | None = None

    async def __aenter__(self) -> Self:
        self._tab.page.on("framenavigated", self._on_navigated)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._tab.page.remove_listener("framenavigated", self._on_navigated)
        self._cancel_query()

    async def wait_for_answer(self) -> tuple[str, str] | None:
        """Return title and load state of the document, or None if it did not answer.

        Also None if the navigation stayed in the document, or continued to another one meanwhile.
        """
        asking = self._asking
        if asking is None:
            return None
        await asyncio.wait((asking,), timeout=_LATE_SECONDS)
        return await asking if asking.done() else None

    def _on_navigated(self, frame: "Frame") -> None:
        if frame == self._tab.page.main_frame:
            self._cancel_query()
            self._asking = self._background.start(self._query_title())

    def _cancel_query(self) -> None:
        self._background.cancel()
        self._asking = None

    async def _query_title(self) -> tuple[str, str] | None:
        session = await self._tab.get_session()
        question = {"expression": _AT_LOAD, "awaitPromise": True, "returnByValue": True}
        try:
            reply = await session.send("Runtime.evaluate", question)
        except Exception as exc:
            if not is_driver_error(exc):
                raise
            return None  # the document was left, or the page is gone
        value = reply["result"].get("value")
        return (str(value[0]), str(value[1])) if value else None
