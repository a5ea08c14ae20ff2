"""Logging in at servers at an address, in the real host, at the SDK's own authorization server."""

import asyncio
import json
import re
import stat
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from agentcore.api import ToolError
from agentcore.testing.hosting import HostPlan, running_host
from tests.support.waiting import wait_until


class Notes:
    """The server that one logs in at."""

    def __init__(self, accounts):
        self.accounts = accounts
        self.url = f"{accounts.base}/mcp"

    @property
    def seen(self):
        return self.accounts.seen

    async def answer(self, address, answer="yes"):
        """Be the person in front of the browser: open an address, press a button, and be led back; gives that page."""
        async with httpx2.AsyncClient(follow_redirects=True) as browser:
            asked = await browser.get(address)
            assert "agentcore wants to read your notes" in asked.text
            return await browser.post(asked.url, data={"answer": answer})


@pytest.fixture
async def notes(load_beside, serving, unused_tcp_port):
    login_server = load_beside("login_server")
    accounts = login_server.Accounts(f"http://127.0.0.1:{unused_tcp_port}")
    async with serving(login_server.make_server(accounts).streamable_http_app(), unused_tcp_port):
        yield Notes(accounts)


def plan_for(url):
    return HostPlan(["mcp_example"], {"mcpServers": {"Example": {"url": url}}})


def login_of(host):
    return host.host.modules.get_record("mcp_example").login


async def ended(host):
    """How the log-in stands when nobody is at it any more."""
    await wait_until(lambda: login_of(host).status().state != "waiting")
    return login_of(host).status()


async def logged_in(host, notes):
    page = await notes.answer(await login_of(host).begin())
    assert page.status_code == 200, page.text
    assert (await ended(host)).state == "logged_in"

    async def has_tools():  # the host asks the module for them in a task of its own
        await host.accept_definitions()
        return host.host.modules.get_record("mcp_example").tools

    await wait_until(has_tools)
    return page


async def say(host, text):
    return (await host.call("example_note", text=text)).content[0].text


async def test_a_server_that_wants_a_log_in_is_a_module_that_says_so(mount, notes):
    host = await mount({"url": notes.url})
    record = host.host.modules.get_record("mcp_example")
    assert (record.state, list(record.tools)) == ("ready", [])
    assert login_of(host).status().state == "needed"
    assert record.waiting.reason == "login"
    said, advice = record.notes["login"]
    assert "log in" in said
    assert "agentcore mcp login mcp_example" in advice
    assert notes.seen == []  # nobody registers before a person has asked for it


async def test_a_person_logs_in_and_the_tools_are_there(mount, notes):
    host = await mount({"url": notes.url})
    page = await logged_in(host, notes)
    assert "Logged in" in page.text
    assert await say(host, "milk") == "kept: milk"
    assert notes.seen == ["registered", "logged in", "note milk"]
    record = host.host.modules.get_record("mcp_example")
    assert record.notes["login"][1] == ""
    assert record.waiting is None


@pytest.mark.more
async def test_a_log_in_has_ended_only_once_the_tools_have_been_read(mount, load_beside, serving, unused_tcp_port):
    login_server = load_beside("login_server")
    accounts = login_server.Accounts(f"http://127.0.0.1:{unused_tcp_port}")
    app = login_server.make_server(accounts).streamable_http_app()

    async def answer_slowly(scope, receive, send):
        if any(name == b"authorization" for name, _ in scope.get("headers", ())):
            await asyncio.sleep(0.3)
        await app(scope, receive, send)

    async with serving(answer_slowly, unused_tcp_port):
        notes = Notes(accounts)
        host = await mount({"url": notes.url})
        await notes.answer(await login_of(host).begin())
        assert (await ended(host)).state == "logged_in"
        assert host.host.modules.get_record("mcp_example").plugin.get_tool_definitions()


async def test_the_address_is_one_with_pkce_a_state_and_the_server_as_resource(mount, notes):
    host = await mount({"url": notes.url})
    asked = {name: values[0] for name, values in parse_qs(urlsplit(await login_of(host).begin()).query).items()}
    assert asked["code_challenge_method"] == "S256"
    assert asked["resource"] == notes.url
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/callback", asked["redirect_uri"])
    assert len(asked["state"]) > 30


@pytest.mark.more
async def test_a_token_that_has_ended_is_renewed_and_the_call_runs_once(mount, notes):
    host = await mount({"url": notes.url})
    await logged_in(host, notes)
    notes.accounts.forget(all_of_them=False)
    await asyncio.gather(*(host.call("example_note", text=str(n)) for n in range(3)))
    assert sorted(notes.seen[2:]) == ["note 0", "note 1", "note 2", "renewed"]


@pytest.mark.more
async def test_a_call_after_the_log_in_has_ended_says_what_a_person_is_to_do(mount, notes):
    host = await mount({"url": notes.url})
    await logged_in(host, notes)
    notes.accounts.forget(all_of_them=True)
    with pytest.raises(ToolError, match="agentcore mcp login mcp_example") as refused:
        await host.call("example_note", text="milk")
    assert refused.value.type == "login_needed"
    assert login_of(host).status().state == "needed"
    await logged_in(host, notes)
    assert await say(host, "bread") == "kept: bread"
    assert [each for each in notes.seen if each.startswith("note")] == ["note bread"]


@pytest.mark.more
async def test_a_log_in_outlives_the_host(notes, tmp_path):
    async with running_host(plan_for(notes.url), tmp_path) as first:
        await logged_in(first, notes)
    async with running_host(plan_for(notes.url), tmp_path) as again:
        assert await say(again, "milk") == "kept: milk"
        notes.accounts.forget(all_of_them=False)
        assert await say(again, "eggs") == "kept: eggs"
    assert notes.seen == ["registered", "logged in", "note milk", "renewed", "note eggs"]


@pytest.mark.more
async def test_tokens_are_in_a_file_of_the_module_alone_and_go_with_a_log_out(mount, notes, tmp_path):
    host = await mount({"url": notes.url}, environ={"AGENTCORE_STATE_DIR": str(tmp_path / "kept")})
    await logged_in(host, notes)
    file = tmp_path / "kept" / "module_secrets" / "mcp_example.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert json.loads(file.read_text())["access_token"].startswith("access-")
    await login_of(host).log_out()
    assert not file.exists()
    assert notes.seen[-1] == "revoked"
    assert login_of(host).status().state == "needed"
    with pytest.raises(ToolError) as refused:
        await host.call("example_note", text="milk")
    assert refused.value.type == "login_needed"


@pytest.mark.more
async def test_tokens_are_for_one_address_alone(notes, tmp_path):
    async with running_host(plan_for(notes.url), tmp_path) as first:
        await logged_in(first, notes)
    async with running_host(plan_for(notes.url.replace("127.0.0.1", "localhost")), tmp_path) as other:
        assert login_of(other).status().state == "needed"


@pytest.mark.more
async def test_a_person_who_says_no_is_told_and_asked_again_when_they_want(mount, notes):
    host = await mount({"url": notes.url})
    page = await notes.answer(await login_of(host).begin(), "no")
    assert (page.status_code, "access_denied" in page.text) == (400, True)
    status = await ended(host)
    assert (status.state, "access_denied" in status.said) == ("needed", True)
    await logged_in(host, notes)


async def test_a_browser_on_another_machine_gives_the_address_at_which_it_ended(mount, notes):
    host = await mount({"url": notes.url})
    address = await login_of(host).begin()
    async with httpx2.AsyncClient() as browser:
        asked = await browser.get(address, follow_redirects=True)
        landed = (await browser.post(asked.url, data={"answer": "yes"})).headers["location"]
    with pytest.raises(ToolError, match="whole of what stands in the browser's address bar"):
        await login_of(host).finish(landed.replace("state=", "state=x"))
    await login_of(host).finish(f" {landed}\n")
    assert (await ended(host)).state == "logged_in"
    with pytest.raises(ToolError, match="no log-in waits here"):
        await login_of(host).finish(landed)


@pytest.mark.more
async def test_a_page_that_guesses_the_place_ends_nothing(mount, notes):
    host = await mount({"url": notes.url})
    address = await login_of(host).begin()
    place = parse_qs(urlsplit(address).query)["redirect_uri"][0]
    async with httpx2.AsyncClient() as browser:
        guessed = await browser.get(place, params={"code": "x", "state": "y"})
    assert (guessed.status_code, "belongs to no log-in" in guessed.text) == (400, True)
    assert login_of(host).status().state == "waiting"
    assert await login_of(host).begin() == address  # and what has begun goes on
    assert (await notes.answer(address)).status_code == 200


async def test_a_server_cannot_send_a_log_in_into_a_network_of_ours(mount, answering_oauth):
    host = await mount({"url": await answering_oauth("http://10.0.0.1")})
    with pytest.raises(ToolError, match=r"10\.0\.0\.1") as refused:
        await login_of(host).begin()
    assert refused.value.type == "login_failed"
    assert login_of(host).status().state == "needed"


async def test_a_server_cannot_have_a_log_in_without_tls_elsewhere(mount, answering_oauth):
    host = await mount({"url": await answering_oauth("http://example.com")})
    with pytest.raises(ToolError, match="opens only https"):
        await login_of(host).begin()


async def test_a_server_with_no_way_to_log_in_says_so(mount, answering_oauth):
    host = await mount({"url": await answering_oauth(None)})
    with pytest.raises(ToolError, match="Registration failed: 404"):
        await login_of(host).begin()


async def test_a_server_whose_header_lets_us_in_has_nothing_to_log_in_to(mount, notes):
    block = {"url": notes.url, "headers": {"Authorization": "Bearer wrong"}}
    host = await mount(block, is_failure_expected=True)
    record = host.host.modules.get_record("mcp_example")
    assert record.login is None
    assert "401" in record.waiting.said


@pytest.fixture
async def answering_oauth():
    """A server that refuses everybody, and names a place to log in; gives its address."""
    from aiohttp import web

    runners = []

    async def start(issuer):
        async def serve(request):
            base = f"http://{request.host}"
            if request.path == "/mcp":
                return web.Response(status=401)
            if "protected-resource" in request.path and issuer is not None:
                return web.json_response({"resource": f"{base}/mcp", "authorization_servers": [issuer]})
            return web.Response(status=404)

        app = web.Application()
        app.router.add_route("*", "/{path:.*}", serve)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        runners.append(runner)
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return f"http://127.0.0.1:{runner.addresses[0][1]}/mcp"

    yield start
    for runner in runners:
        await runner.cleanup()
