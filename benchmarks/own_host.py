"""A host in this process, over a folder with an app.json."""

import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from agentcore.api.tool_context import Principal
from agentcore.config.workspace_roots import prepare_roots
from agentcore.core.calls.call import CallRequest
from agentcore.core.core import Core
from agentcore.core.discovery.families import load_config
from agentcore.hosts.hosts import Hosts
from agentcore.server.logging.log_setup import configure_logging
from agentcore.store.state.state_dir import StateDir


@asynccontextmanager
async def open_host(folder: Path, app: dict[str, Any]) -> AsyncIterator[Core]:
    """Run a host whose app.json lies in a folder, with its state beside that, and its log going nowhere."""
    configure_logging(Path(os.devnull).open("w"))  # noqa: SIM115 - for as long as the process lives
    (folder / "app.json").write_text(json.dumps(app))
    environ = {"AGENTCORE_STATE_DIR": str(folder.parent / f"{folder.name}-state")}
    config = load_config(folder / "app.json", environ)
    with StateDir.open(config.file, prepare_roots(config), environ=environ) as state:
        async with Core.open(config, state, places=Hosts(config)) as core:
            for change in core.policy_changes.waiting:  # what a mounted server offers, seen and accepted
                await core.policy_changes.decide_change(change.change_id, approved=True, by="benchmark")
            yield core


@asynccontextmanager
async def calling(
    folder: Path, module: str, settings: Mapping[str, Any] | None = None
) -> AsyncIterator[Callable[..., Awaitable[Any]]]:
    """A host with one module over the folder's `workspace`; gives a way to call its tools: `await call("glob", …)`."""
    (folder / "workspace").mkdir(parents=True, exist_ok=True)
    app = {"modules": [module], "config": {module: dict(settings or {})}, "workspace": {"roots": ["workspace"]}}
    async with open_host(folder, app) as core:

        async def call(tool: str, **arguments: Any) -> Any:
            outcome = await core.run_call(CallRequest(tool, arguments, Principal("cli")))
            assert outcome.ok, outcome.error
            return outcome.result

        yield call
