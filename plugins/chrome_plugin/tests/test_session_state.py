"""Log-ins of a chat session are kept for its next page: after a crash, a restart, and when its pages were closed."""

import asyncio
import os
import signal

import pytest

STARTS_HOSTS = True
pytestmark = pytest.mark.spec("B2")

LOG_IN = """(async () => {
    document.cookie = 'who=ada; max-age=600; path=/';
    localStorage.setItem('theme', 'dark');
    await new Promise((done, failed) => {
        const opening = indexedDB.open('notes', 1);
        opening.onupgradeneeded = () => opening.result.createObjectStore('all').put('hello', 'first');
        opening.onsuccess = () => { opening.result.close(); done(); };
        opening.onerror = failed;
    });
})()"""
LOOK = """(async () => {
    const held = (await indexedDB.databases()).map(one => one.name).join();
    return [document.cookie, localStorage.getItem('theme'), held].join(' ');
})()"""
LOGGED_IN = "who=ada dark notes"


async def act(host, tool, session="chat", **arguments):
    return (await host.outcome(tool, arguments, session_id=session)).unwrap()


async def look(host, site, session="chat"):
    await act(host, "browser_navigate", session, url=site.url("/second"))
    return str((await act(host, "browser_evaluate", session, script=LOOK)).data["value"]).strip()


async def log_in(host, site, session="chat"):
    await act(host, "browser_navigate", session, url=site.url("/second"))
    await act(host, "browser_evaluate", session, script=LOG_IN)


def stored(host):
    folder = host.host.state.data_dir("browser") / ".storage"
    return sorted(file.name for file in folder.iterdir()) if folder.exists() else []


async def test_next_page_has_the_log_ins_of_its_session_alone_after_a_restart(hosting, tmp_path, site):
    async with hosting(tmp_path / "host", keep_state=True) as host:
        await log_in(host, site)
        await act(host, "browser_tabs", action="close")
        assert await look(host, site) == LOGGED_IN
        assert await look(host, site, "other") == ""
    async with hosting(tmp_path / "host", keep_state=True) as host:
        assert await look(host, site) == LOGGED_IN
        assert await look(host, site, "other") == ""


@pytest.mark.more
@pytest.mark.in_server("ends a process of the module's")
async def test_page_has_them_after_the_browser_has_crashed(hosting, tmp_path, site):
    async with hosting(tmp_path / "host", keep_state=True) as host:
        await log_in(host, site)
        async with asyncio.timeout(60):
            while not stored(host) or b"notes" not in read_all(host):
                await asyncio.sleep(0.1)
        (browser,) = (await host.call("chrome_list")).data["browsers"]
        os.kill(browser["pid"], signal.SIGKILL)
        await host.events.wait_for("browser.browserCrashed")
        assert await look(host, site) == LOGGED_IN


@pytest.mark.more
async def test_what_was_kept_of_a_deleted_session_is_deleted(hosting, tmp_path, site):
    async with hosting(tmp_path / "host", keep_state=True) as host:
        await log_in(host, site)
        async with asyncio.timeout(60):
            while not stored(host):
                await asyncio.sleep(0.1)
        host.host.events.publish("session.deleted", {}, session_id="chat")
        async with asyncio.timeout(60):
            while stored(host):
                await asyncio.sleep(0.1)
        await act(host, "browser_tabs", action="close")
        assert await look(host, site) == ""


FILL = """(async () => {
    const opening = indexedDB.open('notes', 1);
    await new Promise((done, failed) => { opening.onsuccess = done; opening.onerror = failed; });
    const writing = opening.result.transaction('all', 'readwrite');
    writing.objectStore('all').put('x'.repeat(17 << 20), 'large');
    await new Promise((done, failed) => { writing.oncomplete = done; writing.onerror = failed; });
    opening.result.close();
})()"""


@pytest.mark.more
@pytest.mark.in_server("looks at the module's notes")
async def test_log_ins_beyond_the_bound_are_noted_and_stay_as_they_were(hosting, tmp_path, site):
    async with hosting(tmp_path / "host", keep_state=True) as host:
        await log_in(host, site)
        async with asyncio.timeout(60):
            while b"notes" not in read_all(host):
                await asyncio.sleep(0.1)
        await act(host, "browser_evaluate", script=FILL)
        record = host.host.modules.records["browser"]
        async with asyncio.timeout(60):
            while "log-ins of chats" not in record.notes:
                await asyncio.sleep(0.1)
        assert "16,777,216 are the bound" in record.notes["log-ins of chats"][0]
        await act(host, "browser_tabs", action="close")
        assert await look(host, site) == LOGGED_IN


@pytest.mark.more
async def test_nothing_is_kept_unless_it_is_wanted(hosting, tmp_path, site):
    async with hosting(tmp_path / "host") as host:
        await log_in(host, site)
        await act(host, "browser_tabs", action="close")
        assert await look(host, site) == ""
        assert stored(host) == []


def read_all(host):
    folder = host.host.state.data_dir("browser") / ".storage"
    return b"".join((folder / name).read_bytes() for name in stored(host))
