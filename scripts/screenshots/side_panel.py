"""The document in the browser's side panel, which Playwright does not count among its pages."""

import asyncio
import json
from typing import Any

from playwright.async_api import CDPSession, Page

LIMIT_S = 60
_FIND = """(() => {
    const inside = ({shadowRoot}) => shadowRoot ? search(shadowRoot) : [];
    const search = (root) => [...root.querySelectorAll('*')].flatMap((one) => [one, ...inside(one)]);
    return search(document).find((one) => %s);
})()"""


class SidePanel:
    """The panel beside a page, by the browser's own protocol.

    Args:
        session: Of any page of the browser.
        attached: The session with the panel, as the browser names it.
    """

    def __init__(self, session: CDPSession, attached: str) -> None:
        self._session, self._attached = session, attached
        self._answers: dict[int, asyncio.Future[Any]] = {}
        session.on("Target.receivedMessageFromTarget", self._receive)

    @classmethod
    async def attach(cls, page: Page) -> "SidePanel":
        """The panel in the window of a page; one that opens is waited for."""
        session = await page.context.new_cdp_session(page)
        async with asyncio.timeout(LIMIT_S):
            while True:
                found = (await session.send("Target.getTargets"))["targetInfos"]
                for target in found:
                    if target["url"].endswith("/panel/panel.html"):
                        options = {"targetId": target["targetId"], "flatten": False}
                        attached = await session.send("Target.attachToTarget", options)
                        return cls(session, attached["sessionId"])
                await asyncio.sleep(0.1)

    async def wait_for(self, test: str) -> None:
        """Wait for an element, also inside of components.

        Args:
            test: JavaScript about an element `one`.
        """
        async with asyncio.timeout(LIMIT_S):
            while not await self._evaluate(f"Boolean({_FIND % test})"):  # noqa: ASYNC110 - a reload ends what waits there
                await asyncio.sleep(0.1)

    async def click(self, test: str) -> None:
        """Click in the middle of an element, once it is there."""
        await self.wait_for(test)
        middle = "(({x, y, width, height}) => [x + width / 2, y + height / 2])"
        x, y = await self._evaluate(f"{middle}({_FIND % test}.getBoundingClientRect())")
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            await self._send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    async def type(self, test: str, text: str) -> None:
        """Type into a field in the place of what stands there."""
        await self.wait_for(test)
        await self._evaluate(f"(({_FIND % test}).focus(), {_FIND % test}.select())")
        await self._send("Input.insertText", text=text)

    async def press_enter(self) -> None:
        """Press the key."""
        for kind in ("keyDown", "keyUp"):
            await self._send("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", text="\r")

    async def _evaluate(self, expression: str) -> Any:
        answer = await self._send("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    async def _send(self, method: str, **parameters: Any) -> Any:
        number = len(self._answers) + 1
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        message = json.dumps({"id": number, "method": method, "params": parameters})
        await self._session.send("Target.sendMessageToTarget", {"sessionId": self._attached, "message": message})
        async with asyncio.timeout(LIMIT_S):
            return await answer

    def _receive(self, event: Any) -> None:
        if event["sessionId"] == self._attached:
            message = json.loads(event["message"])
            if answer := self._answers.get(message.get("id", 0)):
                answer.set_result(message.get("result", message.get("error")))
