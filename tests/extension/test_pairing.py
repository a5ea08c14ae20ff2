"""Pairing with servers by a code: the ways it ends, and what the extension keeps of it."""

import asyncio
import json

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from tests.extension.driving import ID

pytestmark = pytest.mark.spec("K11")

PAIR = """async ([origin, code]) => {
    const {pair} = await import('/worker/servers.js');
    return pair({origin, code, name: 'Test browser'});
}"""
USED = "() => import('/worker/servers.js').then(({usedServer}) => usedServer())"


async def pairing(extension, origin, code="ABCDE-FGHJK"):
    return await extension.run(PAIR, [origin, code])


async def something_else(request):
    """Any server of a developer, on the port that the person mistook."""
    return web.json_response({"status": "ok"})


async def test_person_confirms_the_extension_and_the_server_then_knows_it_by_its_key(extension, start_server):
    server = await start_server()
    result = await extension.pair(server, scopes=("chat", "tab"))
    assert result["state"] == "paired"
    used = await extension.run(USED)
    assert (used["origin"], used["scopes"]) == (server.address, ["chat", "tab"])
    await extension.pair(server)
    known, again = sorted(server.host.store.client_keys.list_clients(), key=lambda each: each.name)
    assert (known.name, again.name) == ("Test-browser", "Test-browser-2")
    assert (known.kind, known.origin) == ("extension", f"chrome-extension://{ID}")
    script = """async ({origin, key}) => {
        const response = await fetch(`${origin}/api/session`, {headers: {Authorization: `Bearer ${key}`}});
        return response.status;
    }"""
    assert await extension.run(script, used) == 200


async def test_wrong_code_and_a_refusal_are_told_apart_and_nothing_is_kept(extension, start_server):
    server = await start_server()
    assert (await pairing(extension, server.address))["state"] == "wrong_code"
    code = await server.code()
    async with asyncio.TaskGroup() as group:
        refused = group.create_task(pairing(extension, server.address, code))
        await server.decide_pairing(approved=False)
    assert refused.result()["state"] == "refused"
    assert await extension.run(USED) is None


async def test_server_that_does_not_answer_or_is_something_else_is_told_apart(extension, start_server):
    server = await start_server()
    await server.stop()
    assert await pairing(extension, server.address) == {"state": "no_server"}
    assert (await pairing(extension, "http://agent.example"))["state"] == "invalid_address"
    app = web.Application()
    app.router.add_get("/{path:.*}", something_else)
    async with TestServer(app, host="127.0.0.1") as other:
        assert await pairing(extension, str(other.port)) == {"state": "not_agentcore"}


async def test_server_that_allows_another_extension_is_not_paired_with(extension, start_server):
    server = await start_server(server={"extensions": ["a" * 32]})
    assert await pairing(extension, server.address, await server.code()) == {"state": "no_server"}


async def test_refused_permission_for_this_machine_is_not_taken_for_a_missing_server(extension, start_server):
    server = await start_server()
    own = await extension.own_page()
    session = await extension.context.new_cdp_session(own)
    for name in ("local-network-access", "loopback-network"):
        setting = {"permission": {"name": name}, "setting": "denied", "origin": extension.origin}
        await session.send("Browser.setPermission", setting)
    await server.stop()
    assert await pairing(extension, server.address) == {"state": "permission_refused"}


async def test_two_servers_are_paired_and_the_one_that_is_forgotten_gives_way(extension, start_server):
    first, second = await start_server(), await start_server()
    await extension.pair(first)
    await extension.pair(second)
    assert (await extension.run(USED))["origin"] == second.address
    script = """async ([first, second]) => {
        const {forget, servers, use} = await import('/worker/servers.js');
        await use(first);
        const origins = (await servers()).map(({origin}) => origin);
        await forget(first);
        return [origins, (await servers()).map(({origin}) => origin)];
    }"""
    known, left = await extension.run(script, [first.address, second.address])
    assert (known, left) == ([second.address, first.address], [second.address])
    assert (await extension.run(USED))["origin"] == second.address


async def test_addresses_are_taken_as_people_type_them(extension):
    script = "(texts) => import('/worker/servers.js').then(({serverOrigin}) => texts.map(serverOrigin))"
    wanted = {
        "8765": "http://127.0.0.1:8765",
        " localhost:9000/ ": "http://127.0.0.1:9000",
        "http://127.0.0.1": "http://127.0.0.1:8765",
        "http://localhost:80/": "http://127.0.0.1:80",
        "http://[::1]:8765/#/chats": "http://127.0.0.1:8765",
        "https://agent.example/page": "https://agent.example",
        "http://agent.example": None,
        "https://person:word@agent.example": None,
        "file:///etc/passwd": None,
        "": None,
    }
    assert await extension.run(script, list(wanted)) == list(wanted.values())


async def test_keys_are_not_for_scripts_in_pages(extension, start_server, site):
    site.show("/", "<title>Shop</title>")
    await extension.pair(await start_server())
    page = await extension.context.new_page()
    await page.goto(site.url())
    tab = await extension.tab_id(page)
    worker = await extension.worker()
    script = """async (tabId) => {
        const read = () => chrome.storage.local.get(null).then((found) => JSON.stringify(found), String);
        const results = await chrome.scripting.executeScript({target: {tabId}, func: read});
        return results[0].result;
    }"""
    assert "Access to storage is not allowed" in json.dumps(await worker.evaluate(script, tab))
