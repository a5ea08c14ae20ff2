"""A command in the foreground: run to its end, or to its limit."""

import asyncio
import signal
import time
from typing import Any

from agentcore.api import ArtifactLink, SupervisedProcess, Text, ToolContext, ToolError, ToolResult
from agentcore_shell_tools.control import PutAside, describe
from agentcore_shell_tools.limits import DATA_BYTES, GRACE_S, PUT_ASIDE_SHOWN, SETTLE_S, TEXT_BYTES
from agentcore_shell_tools.output import Output
from agentcore_shell_tools.shell import CommandRequest, Shell, Started
from agentcore_shell_tools.text import decode, shorten, tail

_PROGRESS_SECONDS = 0.5
_PROGRESS_CHARS = 200
# what the end of a command and of its output may take within the call's own deadline
_RESERVE_S = GRACE_S + 3.0


async def run_foreground(ctx: ToolContext, shell: Shell, request: CommandRequest, timeout_ms: int) -> ToolResult:
    """Run a command and give what it wrote.

    Raises:
        ToolError: `timeout`, with what was written until then; and what starting says.
    """
    loop = asyncio.get_running_loop()
    began = time.monotonic()
    limit_s = max(0.01, min(timeout_ms / 1000, ctx.deadline - loop.time() - _RESERVE_S))
    try:
        async with asyncio.timeout(limit_s):
            started = await shell.run(request, ctx.workspace)
    except TimeoutError as exc:
        message = f"The command could not be started within {limit_s:g} s; try again, or give a longer timeoutMs."
        raise ToolError("timeout", message, retryable=True, timeout_ms=round(limit_s * 1000)) from exc
    process, output = started.process, started.output
    is_late = False
    try:
        async with asyncio.timeout(max(0.0, limit_s - (time.monotonic() - began))):
            await _follow(ctx, process, output)
    except TimeoutError:
        is_late = True
        process.end(GRACE_S)
        await process.wait()
    except BaseException:
        process.end(0)
        raise
    await settle(process)
    duration_ms = round((time.monotonic() - began) * 1000)
    ran = _Ran(started, duration_ms, await started.put_aside())
    if is_late:
        raise ran.too_late(limit_s)
    return await ran.result(ctx)


async def _follow(ctx: ToolContext, process: SupervisedProcess, output: Output) -> None:
    """Wait for the end, and report the newest line meanwhile."""
    reported = 0
    while True:
        try:
            async with asyncio.timeout(_PROGRESS_SECONDS):
                await process.wait()
        except TimeoutError:
            if output.stdout.end.offset != reported:
                reported = output.stdout.end.offset
                ctx.progress(None, _newest_line(output))
        else:
            return


def _newest_line(output: Output) -> str:
    text = output.screen.since().data[-4 * _PROGRESS_CHARS :].decode(errors="replace")
    lines = text.split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")[-_PROGRESS_CHARS:]


async def settle(process: SupervisedProcess) -> None:
    """Wait for the last output of an ended process."""
    try:
        async with asyncio.timeout(SETTLE_S):
            await process.wait_for_recording()
    except TimeoutError:
        process.abandon()  # somebody outside of our reach holds its output open: what is there is what there is


class _Ran:
    """A command that has ended."""

    def __init__(self, started: Started, duration_ms: int, put_aside: list[PutAside]) -> None:
        self._duration_ms, self._put_aside = duration_ms, put_aside[:PUT_ASIDE_SHOWN]
        self._excerpt = started.output.stdout.since()
        self._text = decode(self._excerpt, is_complete=True)[0]
        status = -signal.SIGKILL if started.status is None else started.status
        self._exit_code = status if status >= 0 else None
        self._signal = signal_name(-status) if status < 0 else None
        self._remarks = [each for each in (started.remark(self._text), describe(self._put_aside)) if each]

    async def result(self, ctx: ToolContext) -> ToolResult:
        shown, cut = shorten(self._text, TEXT_BYTES)
        ended = "\n".join((self._ending(), *self._remarks))
        text = "".join((self._notice(), shown, "" if shown.endswith("\n") or not shown else "\n", ended))
        blocks: list[Text | ArtifactLink] = [Text(text)]
        if cut:
            blocks.append(await ctx.artifacts.save(self._text.encode(), mime="text/plain", name="output.txt"))
        return ToolResult(blocks, self._data(), truncated=bool(cut or self._excerpt.dropped_lines))

    def too_late(self, limit_s: float) -> ToolError:
        shown, _ = shorten(self._text, TEXT_BYTES // 4)
        message = (
            f"The command was ended after {limit_s:g} s, its time limit; give a longer timeoutMs, or run it with "
            f"background: true. It wrote:\n{self._notice()}{shown}"
        )
        message = "\n".join((message, *self._remarks))
        data = self._data()
        data["output"] = tail(self._text, TEXT_BYTES // 4)[0]
        return ToolError("timeout", message, timeout_ms=round(limit_s * 1000), **data)

    def _data(self) -> dict[str, Any]:
        output, is_cut = tail(self._text, DATA_BYTES)
        return {
            "exit_code": self._exit_code,
            "signal": self._signal,
            "duration_ms": self._duration_ms,
            "output": output,
            "output_is_cut": is_cut,
            "dropped_lines": self._excerpt.dropped_lines,
            "put_aside": [each.to_json() for each in self._put_aside],
        }

    def _notice(self) -> str:
        dropped = self._excerpt.dropped_lines
        return f"[{dropped} lines in front of this were dropped]\n" if dropped else ""

    def _ending(self) -> str:
        how = f"exit code {self._exit_code}" if self._signal is None else f"ended by {self._signal}"
        return f"[{how}, {self._duration_ms / 1000:.2f} s]"


def signal_name(number: int) -> str:
    """Such as `SIGTERM`."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
