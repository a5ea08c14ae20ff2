"""A real Chromium with the extension in it: its worker, its panel, and what a person would click there."""

import asyncio
import base64
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from playwright.async_api import BrowserContext, CDPSession, Page, Worker

from tests.extension.serving import SCOPES, Server

ID = "nknedgckhghbjmpccimgigjfcgccdocj"
"""What browsers make of the manifest's key."""
LIMIT_S = 60
_PAIR = """async ([origin, code]) => {
    const {pair} = await import('/worker/servers.js');
    return pair({origin, code, name: 'Test browser'});
}"""
_TAKE_BACK = "(id) => chrome.developerPrivate.updateExtensionConfiguration({extensionId: id, hostAccess: 'ON_CLICK'})"
_FORGET = """async () => {
    await Promise.all([chrome.alarms.clearAll(), chrome.storage.local.clear(), chrome.storage.session.clear()]);
}"""
_ACTIVE = "chrome.tabs.query({active: true, lastFocusedWindow: true}).then(([tab]) => tab.id)"


@dataclass
class Extension:
    """The extension in a browser of its own.

    Attributes:
        context: The browser, whose pages are its tabs.
        folder: The extension that it loaded.
        is_changed: Whether a test took from the extension what it is installed with, so that `reset` is not enough.
    """

    context: BrowserContext
    folder: Path
    is_changed: bool = False
    _own: Page | None = None

    @property
    def origin(self) -> str:
        return f"chrome-extension://{ID}"

    async def worker(self) -> Worker:
        """The service worker that runs now; one that begins is waited for."""
        async with asyncio.timeout(LIMIT_S):
            while not (running := [each for each in self.context.service_workers if each.url.startswith(self.origin)]):
                await self.context.wait_for_event("serviceworker")
        return running[-1]

    async def stop_worker(self) -> None:
        """Stop the service worker, as the browser does to one that is idle, and wait until it has stopped."""
        session = await self._devtools()
        stopped = asyncio.Event()

        def look(event: Any) -> None:
            if all(version["runningStatus"] == "stopped" for version in event["versions"]):
                stopped.set()

        await session.send("ServiceWorker.enable")
        session.on("ServiceWorker.workerVersionUpdated", look)
        await session.send("ServiceWorker.stopAllWorkers")
        async with asyncio.timeout(LIMIT_S):
            await stopped.wait()
        await session.detach()

    async def wake_worker(self) -> None:
        """Let the browser start the service worker, as any event does that it listens to."""
        await self.run("() => chrome.runtime.sendMessage({type: 'wake'}).catch(() => null)")

    async def own_page(self) -> Page:
        """A document of the extension without anything in it, where a test runs scripts as the extension."""
        if self._own is None:
            self._own = await self.context.new_page()
            await self._own.goto(f"{self.origin}/_locales/en/messages.json")
        return self._own

    async def close_own_page(self) -> None:
        """Close that document; another one is opened when a test needs it."""
        if self._own is not None:
            own, self._own = self._own, None
            await own.close()

    async def run(self, script: str, argument: Any = None) -> Any:
        """The result of a script that runs in the extension, outside of its worker."""
        return await (await self.own_page()).evaluate(script, argument)

    async def stored(self, area: str = "session") -> Any:
        """All that lies in `chrome.storage.local` or `chrome.storage.session`."""
        return await self.run(f"() => chrome.storage.{area}.get(null)")

    async def tab_id(self, page: Page) -> int:
        """The browser's number of a tab."""
        own = await self.own_page()
        await page.bring_to_front()
        return int(await own.evaluate(_ACTIVE))

    async def open_panel(self, page: Page | None = None, **query: Any) -> Page:
        """The panel as a tab of its own, which looks at the tab of a page as if it stood beside it."""
        if page is not None:
            query = {"tab": await self.tab_id(page), **query}
        panel = await self.context.new_page()
        await panel.goto(f"{self.origin}/panel/panel.html?{urlencode(query)}")
        return panel

    async def open_side_panel(self, page: Page) -> "SidePanel":
        """The panel as people have it, beside the tab of a page."""
        tab = await self.tab_id(page)
        session = await self.context.new_cdp_session(await self.own_page())
        before = {each["targetId"] for each in await _targets(session)}
        expression = f"chrome.tabs.get({tab}).then((tab) => 0); chrome.sidePanel.open({{tabId: {tab}}})"
        await session.send("Runtime.evaluate", {"expression": expression, "awaitPromise": True, "userGesture": True})
        async with asyncio.timeout(LIMIT_S):
            while True:
                for target in await _targets(session):
                    if target["targetId"] not in before and "/panel/panel.html" in target["url"]:
                        return await SidePanel.attach(session, target["targetId"])
                await asyncio.sleep(0)

    async def pair(self, server: Server, scopes: tuple[str, ...] = SCOPES) -> Any:
        """Pair the extension with a server, and use that one: a code, and the person's word at the approval view."""
        pairing = asyncio.create_task(self.run(_PAIR, [server.address, await server.code()]))
        asked = asyncio.create_task(server.asked_pairing())
        await asyncio.wait((pairing, asked), return_when=asyncio.FIRST_COMPLETED)
        if pairing.done():
            asked.cancel()
            raise AssertionError(f"not paired: {pairing.result()}")
        await server.decide_pairing(scopes=scopes)
        return await pairing

    async def reset(self) -> None:
        """Leave the extension as newly installed, in a browser with one empty tab.

        Raises:
            Error: If the browser has ended.
        """
        empty = await self.context.new_page()
        self._own = None
        for page in self.context.pages:
            if page is not empty:
                await page.close()
        await self.context.unroute_all(behavior="ignoreErrors")
        await self.context.clear_cookies()
        await self._close_side_panels()
        await self.run(_FORGET)
        await self.stop_worker()
        # a script in a worker that was stopped never ends, and Playwright may keep listing it
        await self.wake_worker()
        await self.close_own_page()

    async def take_sites_back(self) -> None:
        """Allow the extension no site any more, as a person does at `chrome://extensions`."""
        self.is_changed = True
        settings = await self.context.new_page()
        await settings.goto("chrome://extensions")
        await settings.evaluate(_TAKE_BACK, ID)
        await settings.close()

    async def _close_side_panels(self) -> None:
        """Close the panels beside tabs, which take what the context menu sends to the next test."""
        session = await self._devtools()
        for target in await _targets(session):
            if target["url"].startswith(f"{self.origin}/panel/"):
                await session.send("Target.closeTarget", {"targetId": target["targetId"]})
        await session.detach()

    async def _devtools(self) -> CDPSession:
        return await self.context.new_cdp_session(await self.own_page())


async def _targets(session: CDPSession) -> list[Any]:
    return list((await session.send("Target.getTargets"))["targetInfos"])


class SidePanel:
    """The document in the side panel, which Playwright does not count among its pages."""

    def __init__(self, session: CDPSession, target: str, attached: str) -> None:
        self._session, self.target, self._attached = session, target, attached
        self._answers: dict[int, asyncio.Future[Any]] = {}
        session.on("Target.receivedMessageFromTarget", self._receive)

    @classmethod
    async def attach(cls, session: CDPSession, target: str) -> "SidePanel":
        attached = await session.send("Target.attachToTarget", {"targetId": target, "flatten": False})
        return cls(session, target, attached["sessionId"])

    async def send(self, method: str, **parameters: Any) -> Any:
        """A command of the DevTools protocol."""
        number = len(self._answers) + 1
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        message = json.dumps({"id": number, "method": method, "params": parameters})
        await self._session.send("Target.sendMessageToTarget", {"sessionId": self._attached, "message": message})
        async with asyncio.timeout(LIMIT_S):
            return await answer

    async def evaluate(self, expression: str) -> Any:
        """The value of an expression there; a promise is waited for."""
        options = {"awaitPromise": True, "returnByValue": True, "userGesture": True}
        answer = await self.send("Runtime.evaluate", expression=expression, **options)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    async def screenshot(self) -> bytes:
        """What it shows, as PNG."""
        async with asyncio.timeout(LIMIT_S):
            while "data" not in (picture := await self.send("Page.captureScreenshot")):
                # it has been opened, and not been painted
                await self.evaluate("new Promise((resolve) => requestAnimationFrame(resolve)).then(() => 0)")
        return base64.b64decode(picture["data"])

    async def close(self) -> None:
        await self._session.send("Target.closeTarget", {"targetId": self.target})

    def _receive(self, event: Any) -> None:
        if event["sessionId"] == self._attached:
            message = json.loads(event["message"])
            if answer := self._answers.get(message.get("id", 0)):
                answer.set_result(message.get("result", message.get("error")))
