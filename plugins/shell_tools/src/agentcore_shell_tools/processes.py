"""`Processes`: the table of background commands, each of which is a resource of its session."""

import asyncio
import os
from contextlib import suppress

from agentcore.api import Resource, Runtime, ToolContext, ToolError
from agentcore_shell_tools.limits import FINISHED_KEPT, PROCESSES, PROCESSES_PER_SESSION
from agentcore_shell_tools.process import Process
from agentcore_shell_tools.services import Services
from agentcore_shell_tools.shell import CommandRequest, Shell

RESOURCE_TYPE = "terminal"
_TITLE_CHARS = 60
_PERSONS = ("page", "token", "cli")


class Processes:
    """Starts, finds and removes processes. The newest `FINISHED_KEPT` finished ones stay readable."""

    def __init__(self, runtime: Runtime, shell: Shell) -> None:
        self._runtime = runtime
        self._shell = shell
        self._table: dict[str, Process] = {}
        self.services = Services(runtime, self.list)
        self._starting: dict[str, int] = {}
        self._has_finished = asyncio.Event()
        # no TaskGroup: the task lasts as long as the table, and `close` ends it
        self._forgetting = asyncio.create_task(self._remove_old_finished(), name="shell_tools:forget")

    def list(self) -> list[Process]:
        """Return all processes in the order in which they were started."""
        return list(self._table.values())

    def get(self, process_id: str) -> Process:
        """Return a process by its id or that of a service of it, whatever its session.

        Raises:
            ToolError: `process_not_found`.
        """
        process = self._table.get(process_id) or self.services.find_process(process_id)
        if process is None:
            raise _not_found(process_id)
        return process

    def get_for(self, ctx: ToolContext, process_id: str) -> Process:
        """Return a process if the caller may use it: a user may use any, other callers those of their session.

        Raises:
            ToolError: `process_not_found`.
        """
        process = self._find_by_short_id(ctx.session_id, process_id) or self.get(process_id)
        if ctx.principal.kind not in _PERSONS and process.session_id != ctx.session_id:
            raise _not_found(process_id)
        return process

    def _find_by_short_id(self, session_id: str, short_id: str) -> Process | None:
        own = (process for process in self._table.values() if process.session_id == session_id)
        return next((process for process in own if process.short_id == short_id), None)

    async def start_process(self, ctx: ToolContext, request: CommandRequest, *, has_terminal: bool) -> Process:
        """Start a command in the background of the caller's session.

        Raises:
            ToolError: `too_many_processes`, and those of `Shell.start_background`.
        """
        session_id = ctx.session_id
        self._refuse_too_many(session_id)
        self._starting[session_id] = self._starting.get(session_id, 0) + 1
        try:
            started, typing = await self._shell.start_background(request, ctx.workspace, has_terminal=has_terminal)
        finally:
            self._starting[session_id] -= 1
            if not self._starting[session_id]:
                del self._starting[session_id]
        supervised = started.process
        try:
            resource = self._runtime.resources.create(
                RESOURCE_TYPE,
                session_id,
                adapter_type="pty" if has_terminal else "pipe",
                on_release=self._on_release,
            )
        except BaseException:
            supervised.end(0)
            os.close(typing)
            raise
        folder = ctx.workspace.real_path(ctx.workspace.find_place(request.folder or "."))
        running = started, typing
        process = Process(resource, request.command, folder, running, has_terminal=has_terminal)
        self._table[process.process_id] = process
        self.services.notify_started()
        # reopening does not run the command again, but opens a shell in its folder
        again = {"command": "exec bash", "background": True, "terminal": True}
        self._runtime.resources.update(
            process.process_id,
            status="busy",
            title=_shorten_title(request.command),
            reopening=("bash", again if request.folder is None else {**again, "cwd": request.folder}),
        )
        supervised.on_over(lambda: self._on_finished(process))
        return process

    async def close(self) -> None:
        """Stop the cleanup task and close all terminals; safe to call twice.

        The processes themselves are ended by `Shell.close`.
        """
        await self.services.close()
        self._forgetting.cancel()
        with suppress(asyncio.CancelledError):
            await self._forgetting
        for process in self.list():
            process.close_terminal()

    def _refuse_too_many(self, session_id: str) -> None:
        running = [process.session_id for process in self._table.values() if process.is_running]
        here = running.count(session_id) + self._starting.get(session_id, 0)
        everywhere = len(running) + sum(self._starting.values())
        if here >= PROCESSES_PER_SESSION or everywhere >= PROCESSES:
            count, limit = (here, PROCESSES_PER_SESSION) if here >= PROCESSES_PER_SESSION else (everywhere, PROCESSES)
            message = (
                f"{count} processes run in the background already, and {limit} is the bound; end some with bash_kill."
            )
            raise ToolError("too_many_processes", message, retryable=True, running=count, limit=limit)

    def _on_finished(self, process: Process) -> None:
        process.mark_finished()
        if process.process_id in self._table:
            with suppress(ToolError):  # its resource is being released
                self._runtime.resources.update(process.process_id, status="finished", reopening=("", {}))
        self._has_finished.set()

    async def _remove_old_finished(self) -> None:
        """Release the oldest finished processes beyond `FINISHED_KEPT` whenever one finishes."""
        while True:
            await self._has_finished.wait()
            self._has_finished.clear()
            finished = [process for process in self.list() if not process.is_running]
            finished.sort(key=lambda process: process.ended_at_ms or 0)
            for process in finished[: max(0, len(finished) - FINISHED_KEPT)]:
                await self._runtime.resources.release(process.process_id)

    async def _on_release(self, resource: Resource) -> None:
        process = self._table.pop(resource.resource_id, None)
        if process is not None:
            await process.terminate()
            process.mark_finished()


def _shorten_title(command: str) -> str:
    line = " ".join(command.split())
    return line if len(line) <= _TITLE_CHARS else f"{line[: _TITLE_CHARS - 1]}…"


def _not_found(process_id: str) -> ToolError:
    message = f"There is no process {process_id!r}: it was ended long ago, or is another session's; start it again."
    return ToolError("process_not_found", message, process_id=process_id)
