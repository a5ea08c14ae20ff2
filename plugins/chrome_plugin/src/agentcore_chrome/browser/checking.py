"""Checking a browser by opening a page in it: whether it starts, its sandbox, its fonts."""

import asyncio
import re
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from agentcore.api import ToolError, is_root

_LAUNCH_MS = 60_000
_LIBRARY = re.compile(r"error while loading shared libraries: (\S+?):")
_SCRIPTS = {"Latin": "A", "Chinese": "中", "emoji": "😀"}
# A text without a font is drawn as the same box as a character that no font has, or not at all.
_MISSING_FONTS = """(scripts) => {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 64;
  const context = canvas.getContext('2d', {willReadFrequently: true});
  const draw = (text) => {
    context.clearRect(0, 0, 64, 64);
    context.font = '40px sans-serif';
    context.fillText(text, 4, 48);
    return context.getImageData(0, 0, 64, 64).data.join();
  };
  const blank = draw(' ');
  const box = draw('\\u{10FFFD}');
  return Object.entries(scripts).filter(([, text]) => [blank, box].includes(draw(text))).map(([name]) => name);
}"""


@dataclass(frozen=True, slots=True)
class CheckedBrowser:
    """A browser in which a page was opened.

    Args:
        path: Its program.
        version: Its version.
        is_sandboxed: True if it ran in its own sandbox.
        missing_fonts: Scripts that it cannot show: `Latin`, `Chinese`, `emoji`.
    """

    path: Path
    version: str
    is_sandboxed: bool
    missing_fonts: tuple[str, ...]


async def check_browser(path: Path, *, sandbox: bool = True) -> CheckedBrowser:
    """Start a browser and open a page in it.

    Args:
        path: Its program.
        sandbox: Whether to use its own sandbox; as root it has none.
    Raises:
        ToolError: `browser_libraries_missing`, with the name of a system library; `browser_sandbox_unavailable`: it
            starts only without its sandbox; `browser_launch_failed`.
    """
    is_sandboxed = sandbox and not is_root()
    try:
        return await _open_page(path, is_sandboxed=is_sandboxed)
    except ToolError:
        if not is_sandboxed:
            raise
        try:
            await _open_page(path, is_sandboxed=False)
        except ToolError:
            pass
        else:
            message = (
                f"{path} starts only without its own sandbox: this system does not allow it (unprivileged user "
                "namespaces). Allow them, use the distribution's browser, or set `sandbox: false` in config.chrome"
            )
            raise ToolError("browser_sandbox_unavailable", message, executable=str(path)) from None
        raise


async def _open_page(path: Path, *, is_sandboxed: bool) -> CheckedBrowser:
    # in a thread: it takes half a second, which would block the event loop
    library = await asyncio.to_thread(import_module, "playwright.async_api")

    try:
        async with library.async_playwright() as playwright:
            browser = await playwright.chromium.launch(
                executable_path=path, chromium_sandbox=is_sandboxed, timeout=_LAUNCH_MS
            )
            page = await browser.new_page()
            await page.set_content("<!doctype html><title>agentcore</title><p>agentcore</p>")
            missing = await page.evaluate(_MISSING_FONTS, _SCRIPTS)
            version = browser.version
            await browser.close()
    except library.Error as exc:
        if (missing_library := _LIBRARY.search(str(exc))) is not None:
            message = f"{path} does not start: the system library {missing_library[1]} is missing"
            raise ToolError("browser_libraries_missing", message, library=missing_library[1]) from exc
        headline = str(exc).strip().partition("\n")[0][:300]
        raise ToolError("browser_launch_failed", f"{path} does not start: {headline}", executable=str(path)) from exc
    return CheckedBrowser(path, version, is_sandboxed, tuple(missing))
