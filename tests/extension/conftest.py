"""The extension as `scripts/extension.py` makes it, in real Chromium, with real servers."""

import asyncio
import importlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web
from aiohttp.test_utils import TestServer
from playwright.async_api import Browser, Error

from agentcore.testing.hosting import HostPlan, ModuleLike
from scripts import extension as building
from tests import programs
from tests.chat.conftest import Provider
from tests.extension.driving import Extension
from tests.extension.serving import Server
from tests.extension.sharing import SHOP, Shared, share_with_new_session
from tests.extension.site import Site
from tests.support.collected import items_below

ALLOWED = ["http://*.localhost/*"]
"""Sites that the person has allowed: no test can click the browser's own question. `localhost` and all names below it
lead to this machine; 127.0.0.1, where servers are, is a site that was not allowed."""
FLAGS = ["--no-sandbox", "--no-first-run", "--disable-background-networking", "--disable-sync"]
WAIT_MS = 60_000


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests of a run share one event loop, in which their browsers live; all but the smoke test are heavy."""
    for item in items_below(Path(__file__).parent, items):
        if isinstance(item, pytest.Function):
            if iscoroutinefunction(item.obj):
                item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)
            if "built_extension" in item.fixturenames and item.path.name != "test_smoke.py":
                item.add_marker("more")


@pytest.fixture(scope="session")
def built_extension(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The extension, built once in each process of a run, for which some sites are already allowed."""
    folder = tmp_path_factory.mktemp("extension")
    building.build(folder)
    manifest = folder / "manifest.json"
    document = json.loads(manifest.read_text("utf-8"))
    manifest.write_text(json.dumps({**document, "host_permissions": ALLOWED}), "utf-8")
    return folder


@asynccontextmanager
async def running_extension(
    browser: Browser, folder: Path, profile: Path, ignored_flags: Sequence[str] = (), **options: Any
) -> AsyncIterator[Extension]:
    """A browser with the extension of a folder, without some flags of Playwright's; options are Playwright's."""
    # without it an unpacked extension does not come back once it has loaded itself anew
    preferences = profile / "Default" / "Preferences"
    preferences.parent.mkdir(parents=True)
    preferences.write_text(json.dumps({"extensions": {"ui": {"developer_mode": True}}}), "utf-8")
    context = await browser.browser_type.launch_persistent_context(
        profile,
        executable_path=programs.find("chromium"),
        args=[*FLAGS, f"--disable-extensions-except={folder}", f"--load-extension={folder}"],
        ignore_default_args=["--disable-extensions", *ignored_flags],
        **{"locale": "en-US", "reduced_motion": "reduce", **options},
    )
    try:
        context.set_default_timeout(WAIT_MS)
        extension = Extension(context, folder)
        await extension.worker()
        yield extension
    finally:
        await context.close()


@asynccontextmanager
async def plain_extension(browser: Browser, folder: Path, profile: Path) -> AsyncIterator[Extension]:
    """The same in a browser in which Playwright changes nothing: a tab that stands behind another is not seen."""
    program = programs.find("chromium")
    assert program is not None
    loaded = [f"--disable-extensions-except={folder}", f"--load-extension={folder}"]
    process = await asyncio.create_subprocess_exec(
        *(program, "--headless=new", *FLAGS, *loaded, f"--user-data-dir={profile}", "--remote-debugging-port=0"),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stderr is not None
        async with asyncio.timeout(WAIT_MS / 1000):
            while not (line := (await process.stderr.readline()).decode()).startswith("DevTools listening on "):
                assert line
        reading = asyncio.create_task(process.stderr.read())
        address = line.removeprefix("DevTools listening on ").strip()
        connected = await browser.browser_type.connect_over_cdp(address, no_defaults=True)
        extension = Extension(connected.contexts[0], folder)
        await extension.worker()
        yield extension
        await connected.close()
    finally:
        process.terminate()
        await process.wait()
        reading.cancel()


class ExtensionPool:
    """Browsers with the extension that tests use one after the other: starting one costs more than most tests."""

    def __init__(self, start: Callable[..., Awaitable[Extension]]) -> None:
        self._start = start
        self._free: dict[str, list[Extension]] = {}

    async def acquire(self, options: dict[str, Any]) -> Extension:
        """Return a browser with these options of Playwright's, in which the extension is as newly installed."""
        free = self._free.get(repr(options))
        return free.pop() if free else await self._start(**options)

    async def release(self, extension: Extension, options: dict[str, Any]) -> None:
        """Reset the browser for the next test, or close it where that is not possible."""
        if extension.is_changed:
            await extension.context.close()
            return
        try:
            await extension.reset()
        except (Error, TimeoutError):
            await extension.context.close()
        else:
            self._free.setdefault(repr(options), []).append(extension)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def extension_pool(
    browser: Browser, built_extension: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[ExtensionPool]:
    """The browsers of a worker."""
    async with AsyncExitStack() as stack:

        async def start(**options: Any) -> Extension:
            profile = tmp_path_factory.mktemp("profile")
            return await stack.enter_async_context(running_extension(browser, built_extension, profile, **options))

        yield ExtensionPool(start)


@pytest_asyncio.fixture(loop_scope="session")
async def start_extension(extension_pool: ExtensionPool) -> AsyncIterator[Callable[..., Awaitable[Extension]]]:
    """Start browsers with the extension: `await start_extension(locale="zh-CN")`; options are Playwright's."""
    async with AsyncExitStack() as stack:

        async def start(**options: Any) -> Extension:
            extension = await extension_pool.acquire(options)
            stack.push_async_callback(extension_pool.release, extension, options)
            return extension

        yield start


@pytest_asyncio.fixture(loop_scope="session")
async def extension(start_extension: Callable[..., Awaitable[Extension]]) -> Extension:
    """A browser of its own with the extension, paired with no server."""
    return await start_extension()


@pytest_asyncio.fixture(loop_scope="session")
async def provider() -> AsyncIterator[Provider]:
    """A provider of models that has no reply yet: `provider.say("text", ("id", "tool", "{}"))`."""
    # seconds on a busy machine, which are not the answer's
    for name in ("agentcore.chat.turn.turn", "agentcore.chat.model.openai_model"):
        await asyncio.to_thread(importlib.import_module, name)
    played = Provider()
    app = web.Application(client_max_size=32 * 1024 * 1024)
    app.router.add_post("/v1/chat/completions", played.openai)
    app.router.add_get("/v1/models", played.models)
    async with TestServer(app) as server:
        played.url = f"http://127.0.0.1:{server.port}"
        yield played


@pytest_asyncio.fixture(loop_scope="session")
async def start_server(
    provider: Provider, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Callable[..., Awaitable[Server]]]:
    """Start servers: `await start_server(["user_tabs"], approvals={"mode": "allow"})`, with the model of `provider`.

    `model` has more about that model, such as `{"tools": "prompted"}`; the rest is of app.json.
    """
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    async with AsyncExitStack() as stack:

        async def start(
            modules: Sequence[ModuleLike] = (), *, model: dict[str, Any] | None = None, **config: Any
        ) -> Server:
            named = {"provider": "openai", "base_url": f"{provider.url}/v1", "max_retries": 0, **(model or {})}
            plan = HostPlan(modules, {"models": {"test-model": named}, **config})
            server = Server(plan, tmp_path_factory.mktemp("agentcore"), provider)
            await server.start()
            stack.push_async_callback(server.stop)
            return server

        yield start


@pytest_asyncio.fixture(loop_scope="session")
async def site() -> AsyncIterator[Site]:
    """Pages on loopback: `site.show("/shop", "<h1>Shop</h1>")`, then `site.url("/shop")`."""
    pages = Site()
    app = web.Application()
    app.router.add_get("/{path:.*}", pages.answer)
    async with TestServer(app, host="127.0.0.1") as server:
        pages.port = server.port or 0
        yield pages


@pytest_asyncio.fixture(loop_scope="session")
async def shared(start_server: Callable[..., Awaitable[Server]], extension: Extension, site: Site) -> Shared:
    """A page of a shop, shared with a new session."""
    site.show("/", SHOP)
    site.show("/second", "<title>Second</title><input id=search>")
    server = await start_server(["user_tabs"], approvals={"mode": "allow"})
    await extension.pair(server)
    page = await extension.context.new_page()
    await page.goto(site.url())
    return await share_with_new_session(extension, server, page)
