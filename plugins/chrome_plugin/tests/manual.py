"""A small manual of many pages with a search, as documentation has one, and a form."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web

CHAPTERS = {
    "index": ("Manual", "What the parts are, and how they are put together."),
    "pumps": ("Pumps", "A pump moves water. It has a valve and a pressure gauge."),
    "valves": ("Valves", "A valve lets water pass or not. Never force a valve."),
    "gauges": ("Gauges", "A gauge shows the pressure."),
}
_SEARCH = """<h1>Search</h1><ul id=found></ul><script>
  fetch('/words').then(answer => answer.json()).then(chapters => {
    const wanted = new URLSearchParams(location.search).get('q').toLowerCase();
    for (const [name, [title, text]] of Object.entries(chapters))
      if (text.toLowerCase().includes(wanted)) {
        const link = Object.assign(document.createElement('a'), {href: `/${name}.html`, textContent: title});
        found.appendChild(document.createElement('li')).append(link);
      }
    document.title = `Found ${found.children.length}`;
  });
</script>"""
_ORDER = """<h1>Order</h1><form action=/ordered.html>
  <label>Part <select name=part><option>Pump<option>Valve</select></label>
  <label>Name <input name=name></label><label><input type=checkbox name=soon> Soon</label><button>Send</button>
  </form>"""


def page_of(title: str, body: str) -> web.Response:
    links = " ".join(f"<a href=/{name}.html>{name}</a>" for name in (*CHAPTERS, "order"))
    search = "<form action=/search.html><input name=q aria-label=Find></form>"
    end = "<p style='height: 3000px'></p><p>End</p>"
    text = f"<!doctype html><title>{title}</title><nav>{links}{search}</nav>{body}{end}"
    return web.Response(text=text, content_type="text/html")


async def _answer(request: web.Request) -> web.Response:
    name = request.path.strip("/").removesuffix(".html") or "index"
    if name == "words":
        return web.json_response(CHAPTERS)
    if name == "ordered":
        return page_of("Ordered", f"<h1>Ordered</h1><output>{request.query_string}</output>")
    bodies = {"search": ("Search", _SEARCH), "order": ("Order", _ORDER)}
    bodies |= {key: (title, f"<h1>{title}</h1><p>{text}</p>") for key, (title, text) in CHAPTERS.items()}
    if name not in bodies:
        raise web.HTTPNotFound
    return page_of(*bodies[name])


@asynccontextmanager
async def running_manual() -> AsyncIterator[str]:
    """Serve the manual on loopback, and give its address, with a slash at the end."""
    app = web.Application()
    app.router.add_get("/{path:.*}", _answer)
    runner = web.AppRunner(app, shutdown_timeout=1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/"
    finally:
        await runner.cleanup()
