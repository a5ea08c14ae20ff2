"""The extension where its person has allowed it pages of this machine: Chromium reads without an Origin then."""

import json
import shutil

import pytest
import pytest_asyncio

from tests.extension.conftest import running_extension
from tests.server.shelf import Shelf

pytestmark = pytest.mark.spec("S1", "K11")

USE = """async ({origin, key}) => {
    const headers = {Authorization: `Bearer ${key}`, 'Content-Type': 'application/json'};
    const ask = async (path, options) => {
        const response = await fetch(origin + path, {headers, ...options});
        if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
        return response;
    };
    const who = await (await ask('/api/session')).json();
    const session = await (await ask('/api/sessions', {method: 'POST', body: '{}'})).json();
    await ask(`/api/sessions/${session.sessionId}`, {method: 'DELETE'});
    const events = (await ask('/api/events')).body.getReader();
    const begun = new TextDecoder().decode((await events.read()).value);
    await events.cancel();
    const address = `${origin.replace('http', 'ws')}/api/shelf/socket`;
    const socket = new WebSocket(address, ['agentcore', `agentcore.key.${key}`]);
    const said = await new Promise((resolve, reject) => {
        socket.onopen = () => socket.send('hello');
        socket.onmessage = ({data}) => resolve(data);
        socket.onerror = reject;
    });
    socket.close();
    return {who: who.id, begun: begun.slice(0, 6), said};
}"""


@pytest_asyncio.fixture(loop_scope="session")
async def extension(browser, built_extension, tmp_path):
    """A browser of this test alone: others allow the extension other sites."""
    folder = tmp_path / "extension"
    shutil.copytree(built_extension, folder)
    manifest = folder / "manifest.json"
    document = json.loads(manifest.read_text("utf-8"))
    manifest.write_text(json.dumps({**document, "host_permissions": ["http://127.0.0.1/*"]}), "utf-8")
    async with running_extension(browser, folder, tmp_path / "profile") as extension:
        yield extension


async def test_server_takes_the_key_where_the_browser_leaves_the_origin_out(extension, start_server):
    server = await start_server([Shelf])
    paired = await extension.pair(server)
    used = await extension.run(USE, paired["server"])
    assert used == {"who": "Test-browser", "begun": "retry:", "said": "hello"}


READ = """(tabId) => import('/tab/tab-page.js')
    .then(({collectContext}) => collectContext(tabId, {})).catch(({type, message}) => ({type, message}))"""
ACT = """(tabId) => import('/tab/tab-page.js')
    .then(({runPageTool}) => runPageTool(tabId, 'page_action', {actions: [
        {action: 'click', target: {selector: 'button'}}, {action: 'highlight', target: {}}]}, {}))
    .catch(({type}) => ({type}))"""


@pytest.mark.spec("S2", "C4")
async def test_nobody_but_the_person_acts_in_agentcore_itself(extension, start_server):
    """Neither in its page nor in the approval view, which are of a host that was allowed."""
    server = await start_server([])
    page = await extension.context.new_page()
    code = server.host.store.page_sessions.create_code()
    for address in (f"{server.address}/#code={code}", server.client.approval_address):
        await page.goto(address)
        await page.get_by_role("heading").first.wait_for()
        tab_id = await extension.tab_id(page)
        told = await extension.run(READ, tab_id)
        assert (told.get("type"), "agentcore’s own" in told.get("message", "")) == ("page_forbidden", True), told
        assert await extension.run(ACT, tab_id) == {"type": "page_forbidden"}
