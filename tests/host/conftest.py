"""A host over a real folder with a real app.json."""

import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from agentcore.api import Module
from agentcore.host import Host, load_config
from agentcore.store import StateDir
from tests.host.installing import Site

MakeHost = Callable[..., Awaitable[Host]]


@pytest.fixture
async def make_host(tmp_path: Path) -> AsyncIterator[MakeHost]:
    """Make a host of modules given as objects, and of local modules given as name and source."""
    async with AsyncExitStack() as stack:

        async def make(*given: Module, files: dict[str, str] | None = None, **app: Any) -> Host:
            folder = tmp_path / "app"
            (folder / "modules").mkdir(parents=True)
            for name, source in (files or {}).items():
                (folder / "modules" / f"{name}.py").write_text(source)
            (folder / "app.json").write_text(json.dumps(app))
            environ = {"AGENTCORE_STATE_DIR": str(tmp_path / "state")}
            config = load_config(folder / "app.json", environ)
            state = stack.enter_context(StateDir.open(config.file, environ=environ))
            return await stack.enter_async_context(Host.open(config, state, given))

        yield make


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A folder of installed distributions; what is imported from it is taken out again."""
    path = tmp_path / "site"
    path.mkdir()
    monkeypatch.syspath_prepend(path)
    before = set(sys.modules)
    site = Site(path)
    yield site
    site.forget({*before, *(name for name in sys.modules if "acme" not in name and "_local__" not in name)})
