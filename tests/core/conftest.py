"""A host over a real folder with a real app.json."""

import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agentcore.api import Module
from agentcore.core.core import Core
from agentcore.core.discovery.families import load_config
from agentcore.store.state.state_dir import StateDir
from tests.core.installing import Site

MakeHost = Callable[..., Awaitable[Core]]


@pytest.fixture
async def make_host(tmp_path: Path) -> AsyncIterator[MakeHost]:
    """Make a host of modules given as objects, and of local modules given as name and source."""
    async with AsyncExitStack() as stack:

        async def make(*given: Module, files: dict[str, str] | None = None, **app: Any) -> Core:
            folder = tmp_path / "app"
            (folder / "modules").mkdir(parents=True)
            for name, source in (files or {}).items():
                (folder / "modules" / f"{name}.py").write_text(source)
            (folder / "app.json").write_text(json.dumps(app))
            return await stack.enter_async_context(_open_host(tmp_path, given))

        make.stack = stack  # type: ignore[attr-defined]
        yield make


@pytest.fixture
async def host(request: pytest.FixtureRequest, make_host: MakeHost) -> Core:
    """The host with the modules that the test file names in `HOST`; each name is that of a fixture."""
    described = getattr(request.module, "HOST", {})
    return await make_host(*[request.getfixturevalue(each) for each in described.get("modules", ())])


@pytest.fixture
def restart(make_host: MakeHost, tmp_path: Path) -> Callable[[], Awaitable[Core]]:
    """End the host that runs, and start one in the same folder, as if the process were another."""

    async def again() -> Core:
        stack: AsyncExitStack = make_host.stack  # type: ignore[attr-defined]
        await stack.aclose()
        for name in [name for name in sys.modules if name.startswith(("acme_", "evil_", "other_"))]:
            del sys.modules[name]
        return await stack.enter_async_context(_open_host(tmp_path))

    return again


@asynccontextmanager
async def _open_host(tmp_path: Path, given: Sequence[Module] = ()) -> AsyncIterator[Core]:
    environ = {"AGENTCORE_STATE_DIR": str(tmp_path / "state")}
    config = load_config(tmp_path / "app" / "app.json", environ)
    with StateDir.open(config.file, environ=environ) as state:
        async with Core.open(config, state, given) as core:
            yield core


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A folder of installed distributions; what is imported from it is taken out again."""
    path = tmp_path / "site"
    path.mkdir()
    monkeypatch.syspath_prepend(path)
    before = set(sys.modules)
    site = Site(path)
    yield site
    site.forget({*before, *(name for name in sys.modules if not name.startswith(("acme", "evil_", "other_")))})
