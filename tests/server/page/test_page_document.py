"""The page's document and files, and what components of modules add to them."""

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest

from agentcore.api import Module, WebComponent
from agentcore.server.modules.enabling import ModuleSwitch


class Panel(Module):
    """Shows a panel."""

    name = "panel"

    def __init__(self, folder: Path, **options) -> None:
        self.folder, self.options = folder, options

    def get_web_component(self) -> WebComponent:
        """A component from a folder of the test."""
        return WebComponent(
            f"{self.name.replace('_', '-')}-view", "main.js", self.folder, "Panel", "icon.svg", **self.options
        )


@pytest.fixture
def folder(tmp_path):
    """A component's folder, with something secret beside it."""
    folder = tmp_path / "component"
    (folder / "parts").mkdir(parents=True)
    (folder / "main.js").write_text("export {}")
    (folder / "parts" / "a b.css").write_text("a {}")
    (folder / "icon.svg").write_text("<svg/>")
    (folder / ".hidden.js").write_text("hidden")
    (folder / "notes.py").write_text("notes")
    (tmp_path / "secret.js").write_text("secret")
    (folder / "link.js").symlink_to(tmp_path / "secret.js")
    (folder / "linked").symlink_to(tmp_path)
    return folder


async def fetch(server, path: str):
    async with server.client.get(server.url + path, allow_redirects=False) as response:
        return response.status, response.headers, await response.text()


@pytest.mark.spec("S1")
async def test_document_allows_only_own_sources_and_its_inline_scripts(make_server):
    server = await make_server()
    status, headers, text = await fetch(server, "/")
    policy = dict(part.split(" ", 1) for part in headers["Content-Security-Policy"].split("; "))
    assert (status, policy["default-src"], policy["frame-ancestors"]) == (200, "'none'", "'none'")
    inline = re.findall(r"<script(?![^>]*\ssrc=)[^>]*>(.*?)</script>", text, re.DOTALL)
    hashes = [f"'sha256-{b64encode(sha256(body.encode()).digest()).decode()}'" for body in inline]
    assert policy["script-src"].split() == ["'self'", *hashes]
    assert f"ws://127.0.0.1:{server.port}" in policy["connect-src"]
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert server.token not in text


@pytest.mark.spec("K4")
async def test_document_at_localhost_redirects_to_the_loopback_address(make_server):
    server = await make_server()
    request = f"GET / HTTP/1.1\r\nHost: localhost:{server.port}\r\nConnection: close\r\n\r\n".encode()
    answer = await server.raw(request)
    assert answer.startswith(b"HTTP/1.1 307 ")
    assert f"Location: http://127.0.0.1:{server.port}/\r\n".encode() in answer


async def test_files_of_the_page_are_sent_with_their_type_and_once(make_server):
    server = await make_server()
    status, headers, _ = await fetch(server, "/static/app.js")
    assert (status, headers["Content-Type"]) == (200, "text/javascript; charset=utf-8")
    async with server.client.get(f"{server.url}/static/app.js", headers={"If-None-Match": headers["ETag"]}) as response:
        assert (response.status, await response.read()) == (304, b"")


@pytest.mark.spec("M7")
async def test_files_of_a_component_are_served_while_its_module_runs(make_server, folder):
    server = await make_server(Panel(folder))
    assert (await fetch(server, "/modules/panel/main.js"))[2] == "export {}"
    assert (await fetch(server, "/modules/panel/parts/a%20b.css"))[2] == "a {}"
    _, shown = await server.get("/api/modules/panel")
    assert shown["component"]["script"] == "/modules/panel/main.js"
    assert shown["component"]["icon"] == "/modules/panel/icon.svg"
    await server.host.modules.disable("panel")
    assert (await fetch(server, "/modules/panel/main.js"))[0] == 404


HIDDEN = [
    "../secret.js",
    "..%2fsecret.js",
    "%2e%2e/secret.js",
    "parts/../../secret.js",
    "parts/..%2f..%2fsecret.js",
    "link.js",
    "linked/secret.js",
    ".hidden.js",
    "notes.py",
    "parts",
    "parts/",
    "%2fetc%2fpasswd",
    "main.js%00.css",
    "main.js/",
    "a%ff.js",
]
"""Paths below `/modules/panel/` that name no file of the component that the page may have."""


@pytest.mark.spec("S1")
async def test_nothing_else_is_served(make_server, folder):
    server = await make_server(Panel(folder))
    for path in HIDDEN:
        answer = await server.raw(server.head(start=f"GET /modules/panel/{path} HTTP/1.1"))
        assert b" 404 " in answer.split(b"\r\n")[0], path
        shown = answer.partition(b"\r\n\r\n")[2].replace(path.encode(), b"").replace(b"secret.js", b"")
        assert b"secret" not in shown, path


@pytest.mark.spec("K6")
async def test_page_script_and_policy_of_a_module_come_with_the_document_and_change_its_version(make_server, folder):
    additions = {"img-src": ["https://tiles.example.org"], "connect-src": ["wss://*.example.org:444"]}
    server = await make_server(Panel(folder, page_script="main.js", csp=additions))
    _, headers, text = await fetch(server, "/")
    _, before = await server.get("/api/modules")
    assert '<script type="module" src="/modules/panel/main.js"></script>' in text
    assert text.index("/modules/panel/main.js") < text.index("/static/app.js")
    assert before["pageVersion"] in text
    policy = headers["Content-Security-Policy"]
    assert "img-src 'self' data: blob: https://tiles.example.org;" in policy
    assert "wss://*.example.org:444" in policy
    assert "default-src 'none';" in policy
    _, shown = await server.get("/api/modules/panel")
    assert shown["pageAdditions"] == [
        "connect-src wss://*.example.org:444",
        "img-src https://tiles.example.org",
        "page_script main.js",
    ]
    await server.host.modules.disable("panel")
    _, after = await server.get("/api/modules")
    assert after["pageVersion"] != before["pageVersion"]
    assert "/modules/panel/" not in (await fetch(server, "/"))[2]


OPENING = [
    ("script-src", "*"),
    ("script-src", "'unsafe-inline'"),
    ("script-src", "'unsafe-eval'"),
    ("script-src", "data:"),
    ("script-src", "blob:"),
    ("script-src", "https://cdn.example"),
    ("script-src", "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"),
    ("script-src", "'strict-dynamic'"),
    ("script-src-elem", "https://cdn.example"),
    ("style-src", "'unsafe-inline'"),
    ("default-src", "https://a.example"),
    ("base-uri", "https://a.example"),
    ("frame-ancestors", "https://a.example"),
    ("form-action", "https://a.example"),
    ("report-uri", "https://a.example"),
    ("x; script-src", "'unsafe-inline'"),
    ("img-src", "*"),
    ("img-src", "https:"),
    ("img-src", "https://*"),
    ("img-src", "https://*.org"),
    ("img-src", "http://a.example"),
    ("img-src", "https://a.example; script-src *"),
    ("img-src", "https://a.example,b"),
    ("img-src", "https://a.example *"),
    ("img-src", "https://user@a.example"),
    ("connect-src", "data:"),
    ("connect-src", "ws://a.example"),
    ("connect-src", "http://127.0.0.1:1"),
    ("frame-src", "data:"),
    ("worker-src", "https://a.example"),
]
"""Additions to the policy of the page that would let in more than they may."""


@pytest.mark.spec("K6", "S1")
async def test_component_that_would_open_the_page_fails_its_module(make_server, folder):
    panels = [Panel(folder, csp={directive: [source]}) for directive, source in OPENING]
    for number, panel in enumerate(panels):
        vars(panel)["name"] = f"panel_{number}"
    server = await make_server(*panels)
    _, headers, _ = await fetch(server, "/")
    policy = headers["Content-Security-Policy"].replace("'self' data: blob:", "").replace("'self' blob:", "")
    for panel, (_, source) in zip(panels, OPENING, strict=True):
        _, module = await server.get(f"/api/modules/{panel.name}")
        assert module["state"] == "failed", source
        assert f"csp of the web component of module '{panel.name}'" in module["reason"]
        assert source not in policy


@pytest.mark.spec("K6", "K3")
async def test_what_a_module_adds_to_the_page_is_in_the_diff_that_a_person_confirms(make_server, folder):
    source = f"""
from pathlib import Path
from agentcore.api import Module, WebComponent
from agentcore.server.modules.enabling import ModuleSwitch

class Maps(Module):
    def get_web_component(self):
        return WebComponent("maps-view", "main.js", Path({str(folder)!r}), "Maps",
                            csp={{"img-src": ["https://tiles.example.org"]}}, page_script="main.js")
"""
    server = await make_server(files={"maps": source}, app={"modules": []})
    diff = dict(await ModuleSwitch(server.host.config, server.host.modules).preview_change("maps", is_on=True))
    assert diff["page"].splitlines()[3:] == ["+img-src https://tiles.example.org", "+page_script main.js"]
    await server.post("/api/modules/maps/enable")
    _, module = await server.get("/api/modules/maps")
    assert module["state"] == "ready"
    assert module["pageAdditions"] == ["img-src https://tiles.example.org", "page_script main.js"]
