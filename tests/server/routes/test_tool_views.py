"""The origin of tools' views: documents under the policy that they declared, and nothing else to be asked for."""

from urllib.parse import urlsplit

import aiohttp
import pytest

from agentcore.api import Module, ToolView, tool

VIEW = ToolView(
    "<!doctype html><title>Sky</title>",
    connects_to=("https://api.example.com",),
    loads_from=("https://*.example.com",),
    permissions=("camera",),
)


class Sky(Module):
    """Looks at the sky."""

    name = "sky"

    @tool(read_only=True, view=VIEW)
    async def sky_show(self) -> str:
        """Show the sky."""
        return "blue"

    @tool(read_only=True, view=ToolView("<!doctype html><title>Shut</title>"))
    async def sky_shut(self) -> str:
        """Show a view that declares nothing."""
        return "grey"

    @tool(read_only=True, in_views="look")
    async def sky_look(self) -> str:
        """Look."""
        return "stars"

    @tool(read_only=True)
    async def sky_own(self) -> str:
        """Do what views may not."""
        return "own"


@pytest.fixture
async def server(agentcore_client):
    return await agentcore_client([Sky()])


@pytest.fixture
async def session_id(server):
    async with server.post("/api/sessions", json={}) as made:
        return (await made.json())["sessionId"]


async def shown(server, session_id, name="sky_show"):
    async with server.get(f"/api/sessions/{session_id}/views/{name}") as answer:
        return answer.status, await answer.json()


async def fetch(address, **options):
    """What anybody gets: status, headers, text; without a look-up of the name."""
    parts = urlsplit(address)
    headers = {"Host": parts.netloc, **options.pop("headers", {})}
    url = f"http://127.0.0.1:{parts.port}{parts.path}"
    async with (
        aiohttp.ClientSession() as client,
        client.request(options.pop("method", "GET"), url, headers=headers) as got,
    ):
        return got.status, got.headers, await got.text()


def directives(headers):
    return dict(each.strip().partition(" ")[::2] for each in headers["Content-Security-Policy"].split(";"))


async def test_view_is_at_another_name_of_this_machine_than_the_page(server, session_id):
    status, told = await shown(server, session_id)
    assert status == 200
    assert urlsplit(told["address"]).hostname == "localhost"
    assert told["permissions"] == ["camera"]
    assert told["calls"] == {"look": "sky_look"}


async def test_frame_holds_the_document_and_nobody_but_the_page_frames_it(server, session_id):
    address = (await shown(server, session_id))[1]["address"]
    status, headers, text = await fetch(address)
    policy, page = directives(headers), str(server.make_url("")).rstrip("/")
    assert status == 200
    assert policy["frame-src"] == address.replace("/frame/", "/document/")
    assert page in policy["frame-ancestors"].split()
    assert policy["default-src"] == "'none'"
    assert "unsafe" not in policy["script-src"]
    assert 'allow="camera *"' in text


async def test_document_gets_what_it_declared_and_no_origin(server, session_id):
    address = (await shown(server, session_id))[1]["address"].replace("/frame/", "/document/")
    _, headers, text = await fetch(address)
    policy = directives(headers)
    assert text == VIEW.document
    assert policy["connect-src"] == "https://api.example.com"
    assert policy["script-src"] == "'unsafe-inline' https://*.example.com"
    assert policy["sandbox"] == "allow-scripts allow-forms"
    for closed in ("default-src", "frame-src", "base-uri", "form-action"):
        assert policy[closed] == "'none'"


async def test_view_that_declares_nothing_reaches_nothing(server, session_id):
    address = (await shown(server, session_id, "sky_shut"))[1]["address"].replace("/frame/", "/document/")
    policy = directives((await fetch(address))[1])
    assert "http" not in " ".join(value for key, value in policy.items() if key != "frame-ancestors")
    assert policy["connect-src"] == "'none'"


async def test_nothing_else_can_be_asked_for_there_with_whatever_credential(server, session_id):
    origin = (await shown(server, session_id))[1]["address"].partition("/views/")[0]
    token = {"Authorization": f"Bearer {server.running.host.state.token.get_secret_value()}"}
    for path in ("/", "/api/tools", f"/api/sessions/{session_id}", "/static/app.js", "/mcp"):
        for headers in ({}, token):
            assert (await fetch(origin + path, headers=headers))[0] in (401, 404)
    assert (await fetch(f"{origin}/views/document/{'0' * 64}"))[0] == 404
    assert (await fetch(f"{origin}/api/tools/sky_own/call", method="POST", headers=token))[0] in (401, 404)


async def test_origin_answers_to_its_own_name_alone(server, session_id):
    address = (await shown(server, session_id))[1]["address"]
    assert (await fetch(address, headers={"Host": urlsplit(address).netloc.replace("localhost", "127.0.0.1")}))[
        0
    ] == 421


async def test_views_are_for_sessions_and_tools_that_there_are(server, session_id):
    for path in (f"{session_id}/views/sky_own", f"{session_id}/views/nothing", "s_none/views/sky_show"):
        async with server.get(f"/api/sessions/{path}") as answer:
            assert answer.status == 404
            assert (await answer.json())["error"]["type"] in ("view_not_found", "session_not_found")


async def test_view_calls_what_has_a_name_for_it_and_nothing_else(server, session_id):
    path = f"/api/sessions/{session_id}/views/sky_show/call"
    async with server.post(path, json={"name": "sky_own"}) as answer:
        assert (answer.status, (await answer.json())["error"]["type"]) == (404, "unknown_tool")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"connects_to": ("http://127.0.0.1:8765",)}, "may hold https://HOST"),
        ({"loads_from": ("https://a.example; script-src *",)}, "may hold https://HOST"),
        ({"frames": ("wss://a.example",)}, "may hold https://HOST"),
        ({"bases": "https://a.example"}, "a list or tuple of sources"),
        ({"permissions": ("usb",)}, "may hold camera"),
        ({"connects_to": tuple(f"https://h{n}.example" for n in range(51))}, "the bound is 50"),
        ({"document": " "}, "must be HTML"),
        ({"document": "x" * (4 * 1024 * 1024 + 1)}, "must be HTML"),
        ({"has_border": 1}, "True or False"),
    ],
)
async def test_view_that_declares_what_is_no_source_leaves_its_tool_out(agentcore_host, wrong, said):
    class Odd(Module):
        """Odd."""

        name = "odd"

        @tool(view=ToolView(**{"document": "<!doctype html>", **wrong}))
        async def odd_show(self) -> str:
            """Show."""
            return ""

    host = await agentcore_host([Odd()], is_failure_expected=True)
    assert "odd_show" not in host.host.registry.tools
    assert any(said in problem for problem in host.problems())
