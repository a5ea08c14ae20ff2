"""What the benchmarks of browsers share: pages to visit, a host that drives a browser, and a way to call its tools."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import web

from agentcore.api.tool_context import Principal
from agentcore.core.calls.call import CallRequest
from benchmarks.own_host import open_host

Call = Callable[..., Awaitable[Any]]

_CELLS = "".join(f"<tr><td>Name {i}</td><td>{i}</td><td><a href=/?{i}>open</a></td></tr>" for i in range(100))
_MANY_CELLS = "".join(f"<tr><td>Name {i}</td><td>{i * 7}</td><td>Place {i % 31}</td></tr>" for i in range(2000))
_DRAWING = """const context = canvas.getContext('2d');
let turn = 0;
const draw = () => {
  context.fillStyle = `hsl(${turn++ % 360} 80% 50%)`;
  context.fillRect(turn % 600, turn % 400, 60, 60);
  requestAnimationFrame(draw);
};
draw();"""

PAGES = {
    "/": f"""<title>Bench</title><button onclick="this.dataset.n = 1">Go</button><input name=name>
<table>{_CELLS}</table>""",
    "/many": f"<title>Many</title><table>{_MANY_CELLS}</table>",
    "/moving": f"<title>Moving</title><canvas id=canvas width=640 height=480></canvas><script>{_DRAWING}</script>",
}


def find_browser() -> str | None:
    """The browser that both sides drive: the one that the browser tools use."""
    from agentcore_chrome.browser.executable import find_browser as find
    from agentcore_chrome.settings import EngineSettings

    from agentcore.api import ToolError

    try:
        return str(find(EngineSettings.model_validate({})).path)
    except ToolError:
        return None


def settings(program: str) -> dict[str, Any]:
    """`config` of app.json for it."""
    return {"chrome": {"allow_private": True, "executable": program, "max_tabs": 100}}


@asynccontextmanager
async def serve_pages(pages: Mapping[str, str] = PAGES) -> AsyncIterator[str]:
    """Serve pages on loopback, and give the address without a slash at its end; what is not there is empty."""

    async def page(request: web.Request) -> web.Response:
        text = pages.get(request.path)
        status = 404 if text is None else 200
        return web.Response(text=f"<!doctype html>{text or ''}", content_type="text/html", status=status)

    app = web.Application()
    app.router.add_get("/{path:.*}", page)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def driving_host(folder: Path, program: str) -> AsyncIterator[Call]:
    """A host with both modules; gives a way to call tools: `await call("browser_click", "session", selector="a")`."""
    (folder / "workspace").mkdir(parents=True, exist_ok=True)
    app = {"modules": ["browser", "chrome"], "workspace": {"roots": ["workspace"]}, "config": settings(program)}
    async with open_host(folder, app=app) as core:

        async def call(tool: str, session_id: str = "bench", **arguments: Any) -> Any:
            outcome = await core.run_call(CallRequest(tool, arguments, Principal("cli"), session_id=session_id))
            assert outcome.ok, outcome.error
            return outcome.result

        yield call
