"""Installs requirements of modules for the user at a terminal, in this process and also beside a running server."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from agentcore.core.core import Core

Show = Callable[[float | None, str], None]
"""Shows the progress: the completed part, None if unknown, and the current step."""


async def install_here(core: Core, name: str, show: Show) -> str:
    """Install a requirement with a core in this process.

    Returns:
        Why it failed; empty if the requirement is now met.
    Raises:
        ToolError: `requirement_not_found`, `requirement_not_installable`.
    """
    from agentcore.core.requirements import in_language

    def take(event: Any) -> None:
        if event.data["name"] == name:
            show(event.data["fraction"], in_language(event.data["text"], core.config.locale))

    unsubscribe = core.events.subscribe("requirement.progress", take)
    try:
        core.requirements.start_installation(name)
        view = await core.requirements.wait_for_installation(name)
    finally:
        unsubscribe()
    if view.state == "met":
        return ""
    return view.error or in_language(view.text, core.config.locale) or "it is still missing"


def install_beside_server(config_path: Path, modules: Sequence[str], name: str, show: Show) -> str:
    """Install a requirement beside a running server, with its modules loaded temporarily in this process.

    The user at a terminal runs this with their own permissions, so no approval is needed. The server detects the result
    at its next check.

    Args:
        modules: The modules that declare the requirement.
    """
    from agentcore.cli.options import is_verbose
    from agentcore.cli.terminal.verbose import set_up_log
    from agentcore.core.discovery.families import load_config
    from agentcore.core.module_code.process_exit import bounded_runner
    from agentcore.store.state.state_dir import STATE_DIR_VARIABLE, StateDir

    set_up_log(is_verbose=is_verbose())
    config = load_config(config_path, os.environ)
    alone = config.model_copy(update={"modules": tuple(modules)})

    async def install(state: StateDir) -> str:
        async with Core.open(alone, state) as core:
            await core.requirements.check_all()
            return await install_here(core, name, show)

    with (
        TemporaryDirectory(prefix="agentcore-") as folder,
        StateDir.open(config.file, environ={**os.environ, STATE_DIR_VARIABLE: folder}) as state,
        bounded_runner() as runner,
    ):
        return runner.run(install(state))
