"""The page's log-in: a code, once; then a cookie and a header value, only together."""

import re

import aiohttp
import pytest

from agentcore.store.state.state_dir import StateDir
from agentcore.store.state.state_errors import StateDirError


class Browser:
    """A client that keeps what a log-in gave it."""

    def __init__(self, bare_server) -> None:
        self.server, self.cookie, self.value = bare_server, "", ""

    async def log_in(self, code: str) -> int:
        async with (
            aiohttp.ClientSession() as client,
            client.post(f"{self.server.url}/api/session", json={"code": code}) as response,
        ):
            if response.status == 200:
                self.value = (await response.json())["session"]
                self.cookie_line = response.headers["Set-Cookie"]
                self.cookie = self.cookie_line.partition(";")[0]
            return response.status

    async def ask(self, *, cookie: bool = True, value: bool = True, method: str = "GET", path: str = "/api/session"):
        headers = ({"Cookie": self.cookie} if cookie else {}) | ({"X-Agentcore-Session": self.value} if value else {})
        async with (
            aiohttp.ClientSession() as client,
            client.request(method, self.server.url + path, headers=headers) as response,
        ):
            return response.status, await response.json()


@pytest.fixture
async def browser(bare_server):
    browser = Browser(bare_server)
    assert await browser.log_in(bare_server.host.store.page_sessions.create_code()) == 200
    return browser


@pytest.mark.spec("K4")
@pytest.mark.spec("S1")
async def test_session_needs_cookie_and_header_value(browser):
    assert (await browser.ask())[1]["kind"] == "page"
    assert (await browser.ask(cookie=False))[0] == 401
    assert (await browser.ask(value=False))[0] == 401


@pytest.mark.spec("S1")
async def test_name_of_the_cookie_cannot_be_guessed_and_stays_over_restarts(tmp_path):
    variables = {"AGENTCORE_STATE_DIR": str(tmp_path / "one")}
    with StateDir.open(tmp_path / "app.json", environ=variables) as state:
        page, approval = state.cookie_name("page"), state.cookie_name("approval")
        assert (state.path / "cookie_name").stat().st_mode & 0o777 == 0o600
    with StateDir.open(tmp_path / "app.json", environ=variables) as again:
        assert (again.cookie_name("page"), again.cookie_name("approval")) == (page, approval)
    variables = {"AGENTCORE_STATE_DIR": str(tmp_path / "other")}
    with StateDir.open(tmp_path / "app.json", environ=variables) as other:
        assert len({page, approval, other.cookie_name("page"), other.cookie_name("approval")}) == 4
    assert re.fullmatch("agentcore_page_[0-9a-f]{32}", page)


async def test_damaged_name_of_the_cookie_is_an_error_that_says_what_to_do(tmp_path):
    with StateDir.open(tmp_path / "app.json", environ={"AGENTCORE_STATE_DIR": str(tmp_path / "state")}) as state:
        (state.path / "cookie_name").write_text("x; Path=/")
        with pytest.raises(StateDirError, match="remove it for a new one"):
            state.cookie_name("page")


async def test_cookie_is_closed_to_scripts_and_other_sites(browser, bare_server):
    assert browser.cookie.startswith(f"{bare_server.host.state.cookie_name('page')}=")
    for attribute in ("HttpOnly", "SameSite=Strict", "Path=/"):
        assert attribute in browser.cookie_line


@pytest.mark.spec("S1")
@pytest.mark.parametrize("planted", [1, 4, 100])
async def test_cookie_is_found_behind_planted_ones_of_its_name(browser, planted):
    """A server at another local port gets the cookie with its name, and plants more of that name for longer paths."""
    name, _, own = browser.cookie.partition("=")
    before = "; ".join(f"{name}=planted{number}" for number in range(planted))
    browser.cookie = f"a=b; {before}; {name}={own}; agentcore_1=x"
    assert (await browser.ask())[0] == 200
    browser.cookie = f"a=b; {before}; agentcore_1=x"
    assert (await browser.ask())[0] == 401


@pytest.mark.spec("S1")
async def test_code_is_valid_once(bare_server):
    code = bare_server.host.store.page_sessions.create_code()
    assert await Browser(bare_server).log_in(code) == 200
    assert await Browser(bare_server).log_in(code) == 401


@pytest.mark.spec("K11")
@pytest.mark.spec("S1")
async def test_wrong_codes_of_a_stranger_do_not_keep_the_owner_out(bare_server):
    code = bare_server.host.store.page_sessions.create_code()
    assert {await Browser(bare_server).log_in(f"guess{number}") for number in range(100)} == {401}
    assert await Browser(bare_server).log_in(code) == 200


@pytest.mark.spec("K11")
@pytest.mark.spec("S1")
async def test_code_whose_beginning_is_known_is_void_before_it_is_guessed(bare_server):
    code = bare_server.host.store.page_sessions.create_code()
    assert {await Browser(bare_server).log_in(f"{code[:5]}guess{number}") for number in range(5)} == {401}
    assert await Browser(bare_server).log_in(code) == 401


async def test_wrong_code_is_said(bare_server):
    status, answer = await bare_server.post("/api/session", {"code": "x"})
    assert (status, answer["error"]["type"]) == (401, "invalid_code")


async def test_body_of_a_log_in_is_small(bare_server):
    status, answer = await bare_server.post("/api/session", {"code": "x" * 10_000})
    assert (status, answer["error"]["type"]) == (413, "body_too_large")


async def test_log_out_ends_the_session(browser):
    assert (await browser.ask(method="DELETE"))[0] == 200
    assert (await browser.ask())[0] == 401


@pytest.mark.spec("S2")
async def test_page_cannot_make_codes_and_token_has_no_session(browser, bare_server):
    status, answer = await browser.ask(method="POST", path="/api/session/code")
    assert (status, answer["error"]["type"]) == (403, "forbidden")
    async with bare_server.client.delete(f"{bare_server.url}/api/session") as response:
        assert (await response.json())["error"]["type"] == "no_session"


async def test_token_makes_a_code_that_logs_in(bare_server):
    status, answer = await bare_server.post("/api/session/code")
    assert status == 200
    assert await Browser(bare_server).log_in(answer["code"]) == 200


@pytest.mark.spec("K3")
async def test_call_of_a_page_is_recorded_as_its_own(browser, bare_server):
    await browser.ask(method="POST", path="/api/stop")
    assert bare_server.host.calls.stopped is not None


async def test_session_survives_a_restart_of_the_application(browser, bare_server):
    sessions = bare_server.host.store.page_sessions.list_sessions()
    status, answer = await browser.ask()
    assert status == 200
    assert answer["id"] in {known.session_id for known in sessions}
