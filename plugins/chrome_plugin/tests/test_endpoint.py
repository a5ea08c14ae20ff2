"""Where a browser elsewhere is: which addresses are taken, what is shown of them, and what is said of their state."""

import json
import socket

import pytest
import pytest_asyncio
from agentcore_chrome.browser.reachability import probe_endpoint
from agentcore_chrome.endpoint import Endpoint, is_loopback
from agentcore_chrome.settings import EngineSettings
from aiohttp import web
from aiohttp.test_utils import TestServer
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr, ValidationError

STARTS_HOSTS = True
pytestmark = pytest.mark.spec("B10")


@pytest.mark.parametrize(
    "settings",
    [
        {"cdp_endpoint": "http://127.0.0.1:9222"},
        {"cdp_endpoint": "wss://browsers.example.org/devtools/browser/x"},
        {"playwright_endpoint": "ws://localhost:3000/"},
        {"playwright_endpoint": "ws://[::1]:3000/"},
        {"playwright_endpoint": "wss://browsers.example.org/?token=x"},
        {"playwright_endpoint": "ws://192.0.2.7:3000/", "endpoint_without_tls": True},
    ],
)
def test_endpoint_on_this_machine_or_with_encryption_is_taken(settings):
    EngineSettings(**settings)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"cdp_endpoint": "http://192.0.2.7:9222"}, "endpoint_without_tls"),
        ({"playwright_endpoint": "ws://browsers.example.org/s3cret?token=s3cret"}, "not encrypted"),
        ({"playwright_endpoint": "http://127.0.0.1:3000"}, "begins with ws://, wss://"),
        ({"cdp_endpoint": "ftp://s3cret@127.0.0.1/"}, "begins with http://"),
        ({"cdp_endpoint": "http://"}, "begins with"),
        ({"cdp_endpoint": "http://x:99999/"}, "begins with"),
        ({"cdp_endpoint": "http://127.0.0.1:1", "playwright_endpoint": "ws://127.0.0.1:1"}, "one of"),
    ],
)
def test_other_endpoint_is_refused_with_what_to_write(settings, said):
    with pytest.raises(ValidationError) as caught:
        EngineSettings(**settings)
    (error,) = caught.value.errors()
    assert said in error["msg"]
    assert "s3cret" not in error["msg"]


@given(
    login=st.sampled_from(["", "ada:pass%40word@", "t0ken-of-ada@"]),
    path=st.sampled_from(["", "/", "/devtools/browser/0d9f-aa11"]),
    query=st.sampled_from(["", "?token=q-s3cret&x=1"]),
    words=st.lists(st.sampled_from(["pass@word", "pass%40word", "t0ken-of-ada", "0d9f-aa11", "q-s3cret", "ada"])),
)
def test_nothing_but_scheme_host_and_port_is_shown(login, path, query, words):
    address = f"wss://{login}browsers.example.org:8443{path}{query}"
    endpoint = Endpoint("playwright", SecretStr(address))
    told = [str(endpoint), endpoint.mask_secrets(f"cannot connect to {address}: {' '.join(words)} 403"), repr(endpoint)]
    secrets = ["pass%40word", "pass@word"] if "pass" in login else ["t0ken-of-ada"] if login else []
    secrets += ["0d9f-aa11"] if "0d9f" in path else []
    secrets += ["q-s3cret"] if query else []
    assert not [secret for secret in secrets for text in told if secret in text]
    assert str(endpoint).partition("://")[2].removeprefix("…@").startswith("browsers.example.org:8443")


@pytest.mark.parametrize("host", ["localhost", "a.localhost", "127.0.0.1", "127.9.9.9", "::1", "[::1]", "0.0.0.0"])
def test_host_of_this_machine_is_known(host):
    assert is_loopback(host)
    assert not is_loopback("192.0.2.7")


@pytest_asyncio.fixture(loop_scope="module")
async def answering():
    """A server that lets in by a password and a token, and then answers as a browser does."""
    asked = []

    async def answer(request):
        asked.append((request.path_qs, request.headers.get("Authorization")))
        if request.query.get("token") != "right" and "Authorization" not in request.headers:
            return web.Response(status=401)
        return web.json_response({"Browser": "Chrome/150.0"}, status=200 if "version" in request.path else 404)

    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    async with TestServer(app, host="127.0.0.1") as server:
        server.asked = asked
        yield server


async def test_credentials_of_the_address_are_sent_and_asked_for(answering):
    place = f"127.0.0.1:{answering.port}"
    refused = await probe_endpoint(Endpoint("cdp", SecretStr(f"http://{place}")))
    assert (refused.state, "credentials" in refused.said, bool(refused.advice)) == ("refused", True, True)
    let_in = await probe_endpoint(Endpoint("cdp", SecretStr(f"http://ada:pass%40word@{place}/base/")))
    assert (let_in.state, let_in.version, let_in.advice) == ("answers", "Chrome/150.0", "")
    assert answering.asked[-1] == ("/base/json/version", "Basic YWRhOnBhc3NAd29yZA==")


async def test_what_is_no_endpoint_says_what_it_is(answering):
    place = f"127.0.0.1:{answering.port}"
    no_socket = await probe_endpoint(Endpoint("playwright", SecretStr(f"ws://{place}/?token=right")))
    assert (no_socket.state, "HTTP 404" in no_socket.said) == ("refused", True)
    no_tls = await probe_endpoint(Endpoint("playwright", SecretStr(f"wss://{place}/?token=right")))
    assert (no_tls.state, "TLS" in no_tls.said) == ("unreachable", True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    nobody = await probe_endpoint(Endpoint("cdp", SecretStr(f"http://127.0.0.1:{port}")))
    assert (nobody.state, bool(nobody.advice)) == ("unreachable", True)


async def test_one_that_never_answers_is_given_up():
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        answer = await probe_endpoint(Endpoint("cdp", SecretStr(f"http://127.0.0.1:{deaf.getsockname()[1]}")))
    assert (answer.state, "no answer within" in answer.said) == ("unreachable", True)


@pytest.mark.more
async def test_report_says_endpoint_version_and_state_without_secrets(start_host, elsewhere, browser_program, site):
    async with elsewhere.run_server("--unsafe", "--path=/s3cret-path") as server:
        settings = {"executable": browser_program, "sandbox": False}
        host = await start_host(playwright_endpoint=f"{server.endpoint}?token=t0ken-value", **settings)
        record = host.host.modules.records["browser"]
        before = (await record.report()).facts
        assert before["state"] == "it answers"
        await host.call("browser_navigate", url=site.url("/second"))
        used = (await record.report()).facts
        assert used["state"] == "in use"
        assert used["version"].split(".")[0].isdigit()
        assert used["endpoint"] == f"ws://127.0.0.1:{server.port}/…?…"
        shown = json.dumps([before, used, [list(note) for note in record.notes.values()]])
        assert not any(secret in shown for secret in ("s3cret-path", "t0ken-value"))
