"""PDFs in the browser's viewer: their bytes, as the page has them."""

from base64 import b64decode
from typing import Any

from agentcore.api import ToolError
from agentcore_chrome.failures import extract_headline, is_driver_error, is_driver_timeout
from agentcore_chrome.tab.tab import Tab

PDF = "application/pdf"
PDF_BYTES = 32 << 20
"""Larger ones are not read."""

# As a rule from the browser's cache, and with the cookies of the page: it may be behind a log-in.
_FETCH = f"""fetch(location.href, {{cache: 'force-cache'}}).then(async response => {{
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (!response.ok) throw new Error(`the server answered ${{response.status}}`);
  if (bytes.length > {PDF_BYTES}) throw new Error('it has more than {PDF_BYTES >> 20} MiB');
  let text = '';
  for (let at = 0; at < bytes.length; at += 32768) text += String.fromCharCode(...bytes.subarray(at, at + 32768));
  return btoa(text);
}})"""


async def is_pdf(tab: Tab) -> bool:
    """Return True if the tab shows a PDF."""

    async def read_type() -> Any:
        session = await tab.get_session()
        reply = await session.send("Runtime.evaluate", {"expression": "document.contentType", "returnByValue": True})
        return reply["result"].get("value")

    return await tab.run_or_default(read_type, "") == PDF


async def fetch_pdf(tab: Tab, timeout_ms: int) -> bytes:
    """Return the PDF that the tab shows.

    Raises:
        ToolError: `action_failed`, with the reason.
    """
    try:
        reply = await tab.run_action(lambda: _evaluate(tab), timeout_ms)
    except Exception as exc:
        if not is_driver_error(exc) and not is_driver_timeout(exc):
            raise
        reason = f"not within {timeout_ms} ms" if is_driver_timeout(exc) else extract_headline(exc)
        raise _failed(tab, reason) from exc
    if "exceptionDetails" in reply:
        raise _failed(tab, str(reply["result"].get("description", "")).partition("\n")[0].removeprefix("Error: "))
    return b64decode(reply["result"]["value"])


async def _evaluate(tab: Tab) -> dict[str, Any]:
    session = await tab.get_session()
    frame = (await session.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
    world = await session.send("Page.createIsolatedWorld", {"frameId": frame, "worldName": "agentcore"})
    work = {"contextId": world["executionContextId"], "awaitPromise": True, "returnByValue": True}
    reply: dict[str, Any] = await session.send("Runtime.evaluate", {"expression": _FETCH, **work})
    return reply


def _failed(tab: Tab, reason: str) -> ToolError:
    return ToolError("action_failed", f"the PDF could not be read: {reason}", retryable=True, url=tab.page.url)
