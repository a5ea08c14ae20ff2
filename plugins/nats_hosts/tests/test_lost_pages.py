"""A page that is lost with its host is made anew on another host of the pool, with the log-ins of its session."""

import asyncio
import contextlib
import shutil
import time

import pytest
from aiohttp import web

from tests.hosts.pool_of_hosts import member, members_running, nats_running, pool_place, why_not
from tests.hosts.two_machines import WAIT_S, Place, serving

WHY_NOT = why_not() or ("" if shutil.which("chromium") else "no chromium on PATH")
pytestmark = [pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT), pytest.mark.more]

PAGE = """<!doctype html><title>Account</title><p id=who></p><button onclick="who.append('!')">Go</button><script>
if (location.pathname === '/login') { localStorage.setItem('theme', 'dark'); document.cookie = 'own=1; max-age=600'; }
fetch('/who').then(got => got.text()).then(text => { who.textContent = text + ' ' + localStorage.getItem('theme'); });
</script>"""


@contextlib.asynccontextmanager
async def site():
    """A site with a log-in: a cookie that scripts cannot read, and a setting that the page keeps."""

    async def page(request):
        response = web.Response(text=PAGE, content_type="text/html")
        if request.path == "/login":
            response.set_cookie("session", "ada", max_age=600, httponly=True)
        return response

    async def who(request):
        return web.Response(text=f"user {request.cookies.get('session', 'nobody')}")

    app = web.Application()
    app.add_routes([web.get("/who", who), web.get("/{page}", page)])
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def browser_place(folder):
    settings = {"allow_private": True, "keep_state": True, "sandbox": False}
    return Place(folder, modules=["browser"], config={"chrome": settings})


def text_of(told):
    return "\n".join(block.get("text", "") for block in told.get("content", []))


async def logged_in(server, session_id, url):
    """Log a session in, and wait until its page says so."""
    assert (await server.call("browser_navigate", session_id=session_id, url=f"{url}/login"))["ok"]
    found = await server.call("browser_wait_for", session_id=session_id, text="user ada dark")
    assert found["ok"], found
    await asyncio.sleep(4)  # what happened in a page is kept within a moment


async def test_page_lost_with_its_host_is_made_anew_elsewhere_and_is_still_logged_in(tmp_path):
    """One session looks, another acts and a third goes elsewhere: each is told what became of its page."""
    async with contextlib.AsyncExitStack() as held:
        nats = await held.enter_async_context(nats_running(tmp_path / "nats"))
        url = await held.enter_async_context(site())
        one = await held.enter_async_context(member(browser_place(tmp_path / "one"), nats, "one"))
        server = await held.enter_async_context(serving(pool_place(tmp_path / "near", nats, "browser")))
        await members_running(server, "one")
        sessions = ("looks", "acts", "goes")
        for session_id in sessions:
            await logged_in(server, session_id, url)
        await held.enter_async_context(member(browser_place(tmp_path / "two"), nats, "two"))
        await members_running(server, "two")
        hanging = asyncio.create_task(server.call("browser_wait_for", session_id="looks", text="never", timeout=60_000))
        await asyncio.sleep(1)
        killed_at = time.monotonic()
        await one.kill()
        ended = await hanging
        assert ended["error"]["type"] == "interrupted", ended
        assert time.monotonic() - killed_at < WAIT_S
        # the page that is named is lost, and that is said
        named = await server.call("browser_snapshot", session_id="looks", resourceId="browser_looks_0")
        assert named["error"]["type"] == "resource_not_found", named
        assert "'farm.one'" in named["error"]["message"]
        assert "name none, for a new one" in named["error"]["message"]
        # the one that looks goes on, where it was
        seen = await server.call("browser_wait_for", session_id="looks", text="user ada dark")
        assert seen["ok"], seen
        assert "Its host 'farm.one' was lost; the page was opened again at" in text_of(seen), text_of(seen)
        assert "the log-ins were kept" in text_of(seen)
        # the one that acts is not done, and says why, once
        refused = await server.call("browser_click", session_id="acts", selector="button")
        assert refused["error"]["type"] == "browser_crashed", refused
        assert "its host 'farm.one' was lost" in refused["error"]["message"]
        assert "the log-ins were kept" in refused["error"]["message"]
        assert (await server.call("browser_click", session_id="acts", selector="button"))["ok"]
        # the one that goes somewhere goes there
        gone = await server.call("browser_navigate", session_id="goes", url=f"{url}/account")
        assert "Its host 'farm.one' was lost; this page is a new one; the log-ins were kept." in text_of(gone), gone
        again = await server.call("browser_wait_for", session_id="goes", text="user ada dark")
        assert again["ok"], again
        assert "was lost" not in text_of(again)
        hosts = {each["host"] for each in (await server.get("/api/resources"))["resources"]}
        assert hosts == {"farm.two"}
        # the pages that were made anew have the tabs of those that were lost
        tabs = (await server.get("/api/tabs"))["tabs"]
        assert sorted(tab["resourceId"] for tab in tabs) == [f"browser_{session}_1" for session in sorted(sessions)]
        assert [tab["closed"] for tab in tabs] == [None] * 3
