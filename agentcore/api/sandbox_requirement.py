"""The requirement of modules that run commands in the sandbox: bubblewrap."""

import asyncio
import shutil
from collections.abc import Callable
from contextlib import suppress

from agentcore.api.requirement import ReportProgress, RequirementInfo, RequirementStatus
from agentcore.errors import ToolError
from agentcore.supervision.sandbox.sandbox import Sandbox
from agentcore.this_machine import can_install_packages, install_packages, package_command

_PACKAGES = ("bubblewrap",)


class SandboxRequirement:
    """Bubblewrap, without which commands run unconfined, or not at all.

    Declare it if the settings request a sandbox, before `sandbox.search()`, which fails if it is required.

    Args:
        sandbox: It is searched for again with each check while it is not available.
        on_available: Called when a check has turned it on.
    """

    def __init__(self, sandbox: Sandbox, on_available: Callable[[], None] | None = None) -> None:
        self._sandbox = sandbox
        self._on_available = on_available
        self._checking = asyncio.Lock()
        self.info = RequirementInfo(
            name="bubblewrap",
            title={"en": "Sandbox (bubblewrap)", "zh": "沙箱（bubblewrap）"},
            purpose={
                "en": "Commands run in it, so they cannot read your keys or change files outside of the workspace.",
                "zh": "命令在其中运行，因此无法读取你的密钥，也无法更改工作区之外的文件。",
            },
            command=package_command(_PACKAGES),
            installs={
                "en": "Installs the distribution's package `bubblewrap` with apt-get.",
                "zh": "用 apt-get 安装发行版软件包 `bubblewrap`。",
            },
            is_required=sandbox.wanted.mode == "require",
            # one that is installed and does not work is not helped by installing it
            is_installable=can_install_packages() and shutil.which("bwrap") is None,
        )

    async def check(self) -> RequirementStatus:
        """See `agentcore.api.Requirement`."""
        sandbox = self._sandbox
        async with self._checking:
            if not sandbox.is_on:
                with suppress(ToolError):  # the reason is the text
                    await sandbox.search()
                await sandbox.settle()
                self._report_available()
        return RequirementStatus(sandbox.is_on, sandbox.program or sandbox.reason)

    def _report_available(self) -> None:
        if self._sandbox.is_on and self._on_available is not None:
            self._on_available()

    async def install(self, report: ReportProgress) -> None:
        """See `agentcore.api.Requirement`."""
        await install_packages(_PACKAGES, report)
