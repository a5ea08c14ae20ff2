"""A tab that is shared with a session, and calls in it as a program makes them over HTTP."""

import asyncio
from dataclasses import dataclass

from tests.extension.driving import Extension
from tests.extension.serving import LIMIT_S, Server

SHOP = """<!doctype html><title>Shop</title>
<label>Search <input id="search"></label> <button id="count">0</button>
<script>
const load = (path) => { const request = new XMLHttpRequest(); request.open("GET", path, false); request.send(); };
</script>"""
LOAD = """() => {
    document.querySelector('#count').onclick = (event) => { event.target.textContent += 'x'; load('/slow'); };
}"""
SHARE = """async ([tabId, sessionId]) => {
    const {share} = await import('/worker/api.js');
    return share(tabId, sessionId, 'Shopping').catch(({type, message, origin}) => ({type, message, origin}));
}"""
RESUME = """async (shareId) => {
    const {resumeShare} = await import('/worker/api.js');
    return resumeShare(shareId).catch(({type, message, origin}) => ({type, message, origin}));
}"""
END = "(shareId) => import('/worker/api.js').then(({endShare}) => endShare(shareId))"
SHARES = "() => import('/worker/api.js').then(({listShares}) => listShares())"
CLICK = {"actions": [{"action": "click", "target": {"selector": "#count"}}]}


def fill(value):
    return {"actions": [{"action": "fill", "target": {"selector": "#search"}, "params": {"value": value}}]}


@dataclass
class Shared:
    """A tab that is shared with a session."""

    extension: Extension
    server: Server
    page: object
    session_id: str
    tab_id: int
    share: dict

    async def call(self, arguments, tool="page_action"):
        """Call a tool as a program does over HTTP; the envelope."""
        body = {"arguments": arguments, "session_id": self.session_id}
        status, answer = await self.server.ask("POST", f"/api/tools/{tool}/call", body)
        assert status == 200, answer
        return answer

    async def beside(self, page):
        """Share another tab with a session of its own."""
        return await share_with_new_session(self.extension, self.server, page)

    async def mark(self):
        """What stands on the extension's icon for this tab."""
        return await self.extension.run("(tabId) => chrome.action.getBadgeText({tabId})", self.tab_id)

    async def reconnected(self):
        """Wait until a server that was restarted has the tab again."""
        async with asyncio.timeout(LIMIT_S):
            while not self.server.host.resources.list():
                await asyncio.sleep(0.02)

    async def shares(self):
        return await self.extension.run(SHARES)

    async def until(self, is_wanted):
        """Wait until the shares are as wanted; gives them."""
        async with asyncio.timeout(LIMIT_S):
            while not is_wanted(shares := await self.shares()):
                await asyncio.sleep(0.02)
        return shares


async def share_with_new_session(extension, server, page):
    """Share the tab of a page, as the person does in the panel."""
    tab_id = await extension.tab_id(page)
    session_id = (await server.ask("POST", "/api/sessions", {}))[1]["sessionId"]
    share = await extension.run(SHARE, [tab_id, session_id])
    assert share.get("state") == "ready", share
    return Shared(extension, server, page, session_id, tab_id, share)
