"""`ShellTools`: the three tools with their arguments and descriptions."""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar

from agentcore.api import (
    SERVICE_TYPE,
    Caches,
    CallPreview,
    Confinement,
    Field,
    Module,
    Request,
    ResourceUse,
    Response,
    Runtime,
    Sandbox,
    SandboxRequirement,
    ToolContext,
    ToolError,
    ToolResult,
    WebComponent,
    Workspace,
    also_called,
    known_to_models,
    tool,
)
from agentcore_shell_tools.foreground import run_foreground
from agentcore_shell_tools.limits import BLOCK_MS, TIMEOUT_MS, TIMEOUT_MS_MOST
from agentcore_shell_tools.process_output import compile_filter, read_process_output
from agentcore_shell_tools.processes import RESOURCE_TYPE, Processes
from agentcore_shell_tools.results import CommandResult, EndedProcess, ProcessOutput
from agentcore_shell_tools.sandbox import Consent
from agentcore_shell_tools.settings import ShellSettings
from agentcore_shell_tools.shell import CommandRequest, Shell
from agentcore_shell_tools.terminal import Seen, TerminalView
from agentcore_shell_tools.translations import EXAMPLES, ZH

_CAUTION = {
    "en": "It would run without a sandbox, and could read and change what you can: {reason}. This is asked once, until "
    "the server ends.",
    "zh": "它将在没有沙箱的情况下运行，能读取和更改你所能读取和更改的一切：{reason}。在服务器结束之前只询问这一次。",
}
_SETTING = "the setting `sandbox` of shell_tools"
_LIMIT_S = TIMEOUT_MS_MOST / 1000 + 20
_TERMINAL = ResourceUse(RESOURCE_TYPE, argument="process_id", skip_queue=True, not_found="process_not_found")


_TIMEOUT_NAMES = ("timeout", "timeout_ms", "timeout_millis", "wait_ms")
_BACKGROUND_NAMES = ("run_in_background", "is_background")
_FOLDER_NAMES = ("workdir", "working_directory", "working_dir", "directory")
_PROCESS_NAMES = ("bash_id", "shell_id", "task_id")

ProcessId = Annotated[
    str,
    Field(
        min_length=1,
        max_length=2000,
        description="The id that bash with background: true returned: `terminal_0`, or the whole id of the resource.",
        json_schema_extra=known_to_models() | also_called(*_PROCESS_NAMES),
    ),
]


class ShellTools(Module[ShellSettings]):
    """A shell: commands in the foreground and in the background, supervised, and confined where that is set."""

    title = "Shell"
    translations: ClassVar = {"zh": ZH}
    examples: ClassVar = EXAMPLES
    instructions: ClassVar = {
        "en": (
            "Start what goes on – servers, watchers, long builds – with `background: true`; `bash_output` with "
            "`block` and `filter` waits for a line of it. Commands that ask questions need their answers as arguments "
            "or from a file."
        ),
        "zh": (
            "持续运行的程序（服务器、监视、长时间构建）用 `background: true` 启动；"
            "`bash_output` 的 `block` 加 `filter` 会等到出现某一行。"
            "会提问的命令需要通过参数或文件给出回答。"
        ),
    }

    def __init__(self) -> None:
        self._shell: Shell | None = None
        self._processes: Processes | None = None
        self._consent: Consent | None = None

    async def init(self, runtime: Runtime) -> None:
        """Set up the sandbox if the settings ask for one, the shell, the process table and the routes."""
        settings = self.settings
        workspace = runtime.workspace
        folder = runtime.data_dir
        caches = Caches(folder / "cache", Path.home())
        writable = _writable_paths(settings.writable, workspace)
        requested = Confinement(settings.sandbox, settings.network, runtime.private_folders, writable, caches, _SETTING)
        sandbox = Sandbox(requested)
        if sandbox.is_wanted:
            runtime.declare_requirement(SandboxRequirement(sandbox, lambda: _report_sandbox(runtime, sandbox)))
        await sandbox.search()
        # in a thread: it searches PATH
        self._shell = await asyncio.to_thread(Shell, sandbox, runtime.control_files, runtime.name, settings.environment)
        self._consent = Consent(sandbox)
        self._processes = Processes(runtime, self._shell)
        if sandbox.is_wanted:
            _report_sandbox(runtime, sandbox)
        runtime.add_route("GET", "processes", self._list_processes)
        runtime.add_route("GET", "terminals/{id}", self._serve_terminal, kind="websocket", watching=Seen)

    async def shutdown(self) -> None:
        """End all commands and wait until all their processes are gone."""
        if self._shell is not None:
            await self._shell.close()
        if self._processes is not None:
            await self._processes.close()

    def get_web_component(self) -> WebComponent:
        """Return the component with the list of processes and a terminal for each."""
        return WebComponent(
            "shell-tools-panel",
            "panel.js",
            Path(__file__).parent / "component",
            {"en": "Terminals", "zh": "终端"},
            "square-terminal",
            {RESOURCE_TYPE: "shell-tools-terminal", SERVICE_TYPE: "shell-tools-terminal"},
        )

    def _preview_bash(self, ctx: ToolContext, arguments: dict[str, Any]) -> CallPreview:
        caution = ""
        if process_id := arguments.get("process_id"):
            folder = self._process_table.get_for(ctx, process_id).folder
        else:
            CommandRequest(arguments["command"]).check_command()
            with ctx.workspace.working_folder(arguments.get("cwd")):
                folder = ctx.workspace.real_path(ctx.workspace.find_place(arguments.get("cwd") or "."))
            if reason := self._open_consent.find_reason(ctx.call_id):
                caution = _CAUTION[self.runtime.locale].format(reason=reason)
        is_sandboxed = self._running_shell.sandbox.is_on
        return CallPreview(
            effects=frozenset(("execute",)), paths=(folder,), cwd=folder, is_sandboxed=is_sandboxed, caution=caution
        )

    @tool(
        rank=0,
        effects=("execute",),
        destructive=True,
        idempotent=False,
        open_world=True,
        timeout_s=_LIMIT_S,
        preview=_preview_bash,
        display={
            "command": "command",
            "output": "output",
            "stdout": "output",
            "stderr": "output",
            "exit_code": "exit_code",
        },
    )
    async def bash(
        self,
        ctx: ToolContext,
        command: Annotated[
            str,
            Field(
                max_length=120_000,
                description="Text for bash; empty only where `keys` are given.",
                json_schema_extra=known_to_models() | also_called("cmd", "script"),
            ),
        ],
        *,
        background: Annotated[
            bool,
            Field(
                description="Give a process_id at once, and let it run: servers, watchers, long builds.",
                json_schema_extra=known_to_models("Give a process_id at once.") | also_called(*_BACKGROUND_NAMES),
            ),
        ] = False,
        timeoutMs: Annotated[  # noqa: N803 - spelled as on the wire
            int,
            Field(
                ge=1,
                le=TIMEOUT_MS_MOST,
                description="In the foreground: it is ended after so many milliseconds.",
                json_schema_extra=known_to_models() | also_called(*_TIMEOUT_NAMES),
            ),
        ] = TIMEOUT_MS,
        cwd: Annotated[
            str | None,
            Field(
                min_length=1,
                max_length=4096,
                description="Folder to run in; left out, the first workspace root.",
                json_schema_extra=known_to_models() | also_called(*_FOLDER_NAMES),
            ),
        ] = None,
        terminal: Annotated[
            bool,
            Field(
                description="In the background: with a terminal for its output, for programs that draw or ask.",
                json_schema_extra=known_to_models("In the background, for programs that draw or ask."),
            ),
        ] = False,
        process_id: Annotated[
            str | None,
            Field(
                max_length=2000,
                description="Type `command` and Enter into this process instead.",
            ),
        ] = None,
        keys: Annotated[
            list[Annotated[str, Field(min_length=1, max_length=2000)]] | None,
            Field(
                max_length=2000,
                description="With `process_id`: press these one after the other, behind `command`, which then is typed "
                "without Enter: `enter`, `escape`, `tab`, `up`, `pagedown`, `f5`, `ctrl+c`, `alt+x`, `q` …",
                json_schema_extra=known_to_models(
                    "Pressed there after `command`, then without Enter: `enter`, `pagedown`, `ctrl+c`, `q`."
                ),
            ),
        ] = None,
    ) -> ToolResult[CommandResult]:
        """Run a command in a new bash, in the working folder; folder and variables do not carry over. No input.

        What it leaves running (`&`) is ended with it; with `background` it goes on: `bash_output` shows it, `bash_kill`
        ends it.
        """
        if not command and not keys:
            raise ToolError("invalid_arguments", "Give a `command`, or `keys` with `process_id`.")
        if keys and process_id is None:
            raise ToolError("invalid_arguments", "`keys` are for a running process: give its `process_id`.")
        if process_id is not None:
            process = self._process_table.get_for(ctx, process_id)
            before = process.output_ends()
            await process.press_keys(command, keys or ["enter"])
            await process.wait_for_quiet(before)
            return await read_process_output(ctx, process, self._process_table.services, since=before)
        await self._open_consent.check_confirmed(ctx.call_id)
        request = CommandRequest(command, cwd)
        if not background:
            return await run_foreground(ctx, self._running_shell, request, timeoutMs)
        process = await self._process_table.start_process(ctx, request, has_terminal=terminal)
        name = process.name_for(ctx)
        text = (
            f"Started in the background as {name}; bash_output shows its output and the address that it listens on, "
            "bash_kill ends it."
        )
        return ToolResult(text, {"process_id": process.process_id}, resource_id=process.process_id)

    @tool(
        rank=1,
        read_only=True,
        effects=("session",),
        open_world=True,
        timeout_s=_LIMIT_S,
        resource=_TERMINAL,
        display={"process_id": "subject", "stdout": "output", "stderr": "output", "exit_code": "exit_code"},
    )
    async def bash_output(
        self,
        ctx: ToolContext,
        process_id: ProcessId,
        *,
        block: Annotated[bool, Field(description="Wait until it ends or, with `filter`, a line matches.")] = False,
        timeoutMs: Annotated[  # noqa: N803
            int,
            Field(
                ge=0,
                le=TIMEOUT_MS_MOST,
                description="With `block`: how long to wait at most.",
                json_schema_extra=known_to_models("With `block`.") | also_called(*_TIMEOUT_NAMES),
            ),
        ] = BLOCK_MS,
        filter: Annotated[  # noqa: A002
            str | None,
            Field(max_length=2000, description="Regular expression of lines."),
        ] = None,
        all: Annotated[  # noqa: A002
            bool, Field(description="False: what came since the last look.")
        ] = True,
    ) -> ToolResult[ProcessOutput]:
        """Show what a background process wrote, or its screen if it draws, and whether it has ended."""
        chosen = compile_filter(filter)
        process = self._process_table.get_for(ctx, process_id)
        return await read_process_output(
            ctx,
            process,
            self._process_table.services,
            block_ms=timeoutMs if block else None,
            chosen=chosen,
            from_start=all,
        )

    @tool(rank=1, effects=("execute",), destructive=True, idempotent=True, open_world=False, resource=_TERMINAL)
    async def bash_kill(self, ctx: ToolContext, process_id: ProcessId) -> ToolResult[EndedProcess]:
        """End a background process with all that it started. Its output stays readable."""
        process = self._process_table.get_for(ctx, process_id)
        was_running = process.is_running
        await process.terminate()
        how = f"exit code {process.exit_code}" if process.signal is None else f"by {process.signal}"
        text = f"{process.name_for(ctx)} {'ended' if was_running else 'had ended already'}: {how}."
        data: EndedProcess = {
            "process_id": process.process_id,
            "was_running": was_running,
            "exit_code": process.exit_code,
            "signal": process.signal,
        }
        return ToolResult(text, data)

    async def _list_processes(self, request: Request) -> Response:
        sandbox = self._running_shell.sandbox
        await sandbox.settle()
        processes = [process.to_json() for process in self._process_table.list()]
        put_aside = [each.to_json() for each in self.runtime.control_files.newest]
        state = {"isSandboxed": sandbox.is_on, "sandboxReason": sandbox.reason, "putAside": put_aside}
        return Response({"processes": processes, **state})

    async def _serve_terminal(self, request: Request) -> None:
        await TerminalView.serve(self._process_table.get(request.path_values["id"]), request)

    @property
    def _open_consent(self) -> Consent:
        if self._consent is None:
            raise RuntimeError("the module has not started")
        return self._consent

    @property
    def _running_shell(self) -> Shell:
        if self._shell is None:
            raise RuntimeError("the module has not started")
        return self._shell

    @property
    def _process_table(self) -> Processes:
        if self._processes is None:
            raise RuntimeError("the module has not started")
        return self._processes


def _writable_paths(named: Sequence[str], workspace: Workspace) -> tuple[Path, ...]:
    """Resolve the paths of the setting `writable`: absolute, `~/…`, or relative to the first root."""
    first = workspace.roots[0]
    return tuple(Path(os.path.normpath(first / Path(name).expanduser())) for name in named if name.strip())


def _report_sandbox(runtime: Runtime, sandbox: Sandbox) -> None:
    """Report for `agentcore doctor` which sandbox commands run in; a missing sandbox is shown as a requirement."""
    if sandbox.is_on:
        caches = sandbox.wanted.caches.folder
        runtime.note("sandbox", f"commands run in it, by {sandbox.program}; caches of package managers are in {caches}")
