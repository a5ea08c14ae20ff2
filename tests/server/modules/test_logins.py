"""A module's log-in and its own secrets, through the server: whatever the module says of them."""

import json
import stat

import pytest

from agentcore.api import LoginStatus, Module, ToolError, tool
from agentcore.store.credentials.module_secrets import delete_module_secrets

ADDRESS = "https://accounts.example.com/authorize?state=abc"
TOKEN = "tok-0123456789abcdef"
LANDED = "http://127.0.0.1:1/callback?code=1&state=abc"


class Notes(Module):
    """Wants a person to log in; `way` goes wrong in that way."""

    name = "notes"

    def __init__(self, way=""):
        self.way, self.at = way, ""

    async def init(self, runtime):
        self.kept = await runtime.secrets.read()
        runtime.offer_login(self)

    def status(self):
        if self.way == "crash":
            raise RuntimeError(f"{TOKEN} is no token")
        if self.way == "state":
            return LoginStatus("maybe")
        if self.way == "other":
            return {"state": "needed"}
        if self.kept:
            return LoginStatus("logged_in", "accounts.example.com")
        return LoginStatus("waiting", address=self.at) if self.at else LoginStatus("needed")

    async def begin(self):
        if self.way == "refused":
            raise ToolError("no_network", "the service cannot be reached")
        self.at = "javascript:alert(1)" if self.way == "address" else ADDRESS
        return self.at

    async def finish(self, address):
        if address != LANDED:
            raise ToolError("login_failed", "that is another address")
        await self.runtime.secrets.write({"token": TOKEN})
        self.kept = await self.runtime.secrets.read()

    async def log_out(self):
        await self.runtime.secrets.write({})
        self.at, self.kept = "", {}

    @tool(read_only=True)
    async def notes_fail(self) -> str:
        """Fail with what it keeps."""
        raise ToolError("no_notes", f"the service says no to {TOKEN}")

    @tool(read_only=True)
    async def notes_keep(self, size: int) -> str:
        """Keep something."""
        await self.runtime.secrets.write({"token": "x" * size})
        return "kept"


@pytest.fixture
def start(agentcore_client):
    async def started(way=""):
        return await agentcore_client([Notes(way)])

    return started


async def send(server, method, body=None, name="notes"):
    async with server.request(method, f"/api/modules/{name}/login", json=body) as response:
        return response.status, await response.json()


async def report(server):
    async with server.get("/api/modules/notes/report") as response:
        return response.status, await response.json()


async def test_a_log_in_is_begun_shown_ended_and_taken_back(start):
    server = await start()
    assert (await report(server))[1]["login"] == {"state": "needed", "said": "", "address": ""}
    waiting = {"state": "waiting", "said": "", "address": ADDRESS}
    assert await send(server, "POST", {}) == (200, waiting)
    assert (await report(server))[1]["login"] == waiting
    status, answer = await send(server, "POST", {"landed": "http://127.0.0.1:1/callback"})
    assert (status, answer["error"]["type"]) == (400, "login_failed")
    _, done = await send(server, "POST", {"landed": LANDED})
    assert done == {"state": "logged_in", "said": "accounts.example.com", "address": ""}
    assert (await send(server, "DELETE"))[1]["state"] == "needed"


async def test_a_module_that_offers_none_has_nothing_to_log_in_to(agentcore_client):
    class Clock(Module):
        name = "clock"

    server = await agentcore_client([Clock])
    for method in ("POST", "DELETE"):
        status, answer = await send(server, method, {} if method == "POST" else None, "clock")
        assert (status, answer["error"]["type"]) == (400, "no_login")
    status, answer = await send(server, "POST", {}, "clok")
    assert (status, answer["error"]["type"]) == (404, "module_not_found")


@pytest.mark.parametrize(
    ("way", "kind", "said"),
    [
        ("crash", "login_failed", "went wrong"),
        ("state", "login_failed", "state of the log-in of module 'notes'"),
        ("other", "login_failed", "a LoginStatus"),
        ("address", "login_failed", "a whole address of the web"),
        ("refused", "no_network", "cannot be reached"),
    ],
)
async def test_what_a_module_says_wrong_of_its_log_in_is_an_error(start, way, kind, said):
    server = await start(way)
    status, answer = await send(server, "POST", {})
    assert (status, answer["error"]["type"]) == (400, kind)
    assert said in answer["error"]["message"]
    # and nothing else of its page is gone for that
    async with server.get("/api/modules/notes") as response:
        assert response.status == 200


async def test_what_a_module_keeps_is_masked_wherever_it_is_told(start):
    server = await start()
    await send(server, "POST", {"landed": LANDED})
    envelope = await call(server, "notes_fail")
    assert "•••" in envelope["error"]["message"]
    assert TOKEN not in json.dumps(envelope)
    file = secrets_of(server)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert json.loads(file.read_text()) == {"token": TOKEN}


async def test_what_a_module_keeps_is_there_after_a_reload_and_damage_is_none(start):
    server = await start()
    await send(server, "POST", {"landed": LANDED})
    await server.running.host.modules.reload("notes")
    assert (await report(server))[1]["login"]["state"] == "logged_in"
    secrets_of(server).write_text('{"token": 1')
    await server.running.host.modules.reload("notes")
    assert (await report(server))[1]["login"]["state"] == "needed"


async def test_more_than_a_module_may_keep_changes_nothing(start):
    server = await start()
    await call(server, "notes_keep", size=1000)
    before = secrets_of(server).read_bytes()
    envelope = await call(server, "notes_keep", size=300_000)
    assert not envelope["ok"]
    assert secrets_of(server).read_bytes() == before
    delete_module_secrets(server.running.host.state.path, "notes")
    assert not secrets_of(server).exists()


def secrets_of(server):
    return server.running.host.state.path / "module_secrets" / "notes.json"


async def call(server, name, **arguments):
    async with server.post(f"/api/tools/{name}/call", json={"arguments": arguments}) as response:
        return await response.json()
