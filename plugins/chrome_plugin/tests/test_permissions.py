"""Permissions that pages request: denied, reported to models, granted by site."""

import asyncio
import ssl
import subprocess

import pytest
import pytest_asyncio
from aiohttp import web

STARTS_HOSTS = True
pytestmark = pytest.mark.spec("B2")
ASKING = """<title>Asking</title><script>
navigator.geolocation.getCurrentPosition(
    place => { document.title = `at ${place.coords.latitude}`; },
    error => { document.title = `refused ${error.code}`; });
const show = (button, asked) => asked.then(
    answer => { button.textContent = answer ?? 'done'; }, error => { button.textContent = error.name; });
</script><button onclick="show(this, Notification.requestPermission())">Notify</button>
<button id=paste onclick="show(this, navigator.clipboard.readText().then(() => 'read'))">Paste</button>
<button id=copy onclick="show(this, navigator.clipboard.writeText('copied').then(() => 'written'))">Copy</button>"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def asking():
    async def answer(_):
        return web.Response(text=ASKING, content_type="text/html")

    app = web.Application()
    app.router.add_get("/", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    listening = web.TCPSite(runner, "127.0.0.1", 0)
    await listening.start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


async def act(host, tool, /, **arguments):
    return (await host.outcome(tool, arguments, session_id="chat")).unwrap()


async def read(host, script):
    return (await act(host, "browser_evaluate", script=script)).data["value"]


async def test_permissions_are_refused_and_the_setting_that_allows_them_is_said(start_host, asking, text):
    host = await start_host()
    arrived = await act(host, "browser_navigate", url=asking, snapshot=True)
    assert arrived.data["refusedPermissions"] == ["geolocation"]
    assert f'config.chrome.permissions, {{"{asking}": ["geolocation"]}}' in text(arrived)
    asked = await act(host, "browser_click", selector="text=Notify", snapshot=True)
    assert asked.data["refusedPermissions"] == ["notifications"]
    assert "refusedPermissions" not in (await act(host, "browser_hover", selector="#paste", snapshot=True)).data
    await act(host, "browser_click", selector="#paste")
    await act(host, "browser_wait_for", text="NotAllowedError")
    await act(host, "browser_click", selector="#copy")
    await act(host, "browser_wait_for", text="written")
    await act(host, "browser_wait_for", condition="document.title == 'refused 1'")


@pytest.mark.more
async def test_permissions_are_allowed_by_site(start_host, asking):
    allowed = {asking: ["geolocation", "clipboard-read"]}
    host = await start_host(permissions=allowed, location={"latitude": 52.5, "longitude": 13.4})
    arrived = await act(host, "browser_navigate", url=asking, snapshot=True)
    assert "refusedPermissions" not in arrived.data
    await act(host, "browser_wait_for", condition="document.title == 'at 52.5'")
    await act(host, "browser_click", selector="#copy")
    await act(host, "browser_wait_for", text="written")
    await act(host, "browser_click", selector="#paste")
    await act(host, "browser_wait_for", text="read")
    asked = await act(host, "browser_click", selector="text=Notify", snapshot=True)
    assert asked.data["refusedPermissions"] == ["notifications"]


@pytest.mark.more
async def test_certificate_that_nobody_vouches_for_is_an_error_with_the_way_out(start_host, tmp_path, text):
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    made = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "2",
    ]
    named = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate]
    await asyncio.to_thread(subprocess.run, [*made, *named], check=True, capture_output=True)
    served = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    served.load_cert_chain(certificate, key)

    async def answer(_):
        return web.Response(text="<title>Intranet</title>", content_type="text/html")

    app = web.Application()
    app.router.add_get("/", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    listening = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=served)
    await listening.start()
    url = f"https://127.0.0.1:{runner.addresses[0][1]}/"
    try:
        error = (await (await start_host()).outcome("browser_navigate", {"url": url}, session_id="chat")).error
        assert (error.type, error.context["netError"]) == ("navigation_failed", "net::ERR_CERT_AUTHORITY_INVALID")
        assert "no tool can accept it" in error.message
        assert "--ignore-certificate-errors-spki-list" in error.message
        script = f"openssl x509 -in {certificate} -pubkey -noout | openssl pkey -pubin -outform der"
        hashed = f"{script} | openssl dgst -sha256 -binary | openssl base64"
        pin = (await asyncio.to_thread(subprocess.check_output, ["bash", "-c", hashed])).decode().strip()
        trusting = await start_host(args=[f"--ignore-certificate-errors-spki-list={pin}"])
        assert (await act(trusting, "browser_navigate", url=url)).data["title"] == "Intranet"
    finally:
        await runner.cleanup()
