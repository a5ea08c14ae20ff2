"""Commands in the foreground: run until they end or reach their time limit."""

import asyncio
import signal
import time
from typing import Any

from agentcore.api import (
    ArtifactLink,
    Mark,
    Quarantined,
    SupervisedProcess,
    Text,
    ToolContext,
    ToolError,
    ToolResult,
    describe_quarantined,
)
from agentcore_shell_tools.limits import (
    DATA_BYTES,
    GRACE_S,
    LEFT_BEHIND_SHOWN,
    PUT_ASIDE_SHOWN,
    SETTLE_S,
    TEXT_CHARS,
)
from agentcore_shell_tools.output import ForegroundOutput
from agentcore_shell_tools.shell import CommandRequest, Shell, Started
from agentcore_shell_tools.text import (
    decode_excerpt,
    output_chars,
    shorten_middle,
    tail_bytes,
    to_plain_text,
    without_controls,
)

_PROGRESS_SECONDS = 0.25
_PROGRESS_CHARS = 200
_SHOWN_BYTES = 16_384
# time reserved before the call's deadline for ending the command and reading its last output
_RESERVE_S = GRACE_S + 3.0


async def run_foreground(ctx: ToolContext, shell: Shell, request: CommandRequest, timeout_ms: int) -> ToolResult:
    """Run a command and return its output.

    Raises:
        ToolError: `timeout`, with the output until then; and those of `Shell.start_foreground`.
    """
    loop = asyncio.get_running_loop()
    began = time.monotonic()
    limit_s = max(0.01, min(timeout_ms / 1000, ctx.deadline - loop.time() - _RESERVE_S))
    try:
        async with asyncio.timeout(limit_s):
            started = await shell.start_foreground(request, ctx.workspace)
    except TimeoutError as exc:
        message = f"The command could not be started within {limit_s:g} s; try again, or give a longer timeoutMs."
        raise ToolError("timeout", message, retryable=True, timeout_ms=round(limit_s * 1000)) from exc
    process = started.process
    is_late = False
    try:
        async with asyncio.timeout(max(0.0, limit_s - (time.monotonic() - began))):
            await _wait_with_progress(ctx, process, started.output)
    except TimeoutError:
        is_late = True
        process.end(GRACE_S)
        await process.wait()
    except BaseException:
        process.end(0)
        raise
    await wait_for_last_output(process)
    duration_ms = round((time.monotonic() - began) * 1000)
    ran = _Ran(ctx, started, duration_ms, await started.wait_for_quarantined())
    if is_late:
        raise await ran.build_timeout_error(limit_s)
    return await ran.build_result()


async def _wait_with_progress(ctx: ToolContext, process: SupervisedProcess, output: ForegroundOutput) -> None:
    """Wait for the end, showing new output meanwhile and reporting its newest line as progress."""
    reported = shown = 0
    while True:
        try:
            async with asyncio.timeout(_PROGRESS_SECONDS):
                await process.wait()
        except TimeoutError:
            if output.whole.end.offset != reported:
                reported = output.whole.end.offset
                ctx.progress(None, _newest_line(output))
                shown = _show_output(ctx, output, shown)
        else:
            return


def _show_output(ctx: ToolContext, output: ForegroundOutput, shown: int) -> int:
    """Show the output after an offset, and return the offset up to which it is shown."""
    end = output.whole.end
    excerpt = output.whole.since(Mark(max(shown, end.offset - _SHOWN_BYTES), end.lines))
    text, open_bytes = decode_excerpt(excerpt, is_complete=False)
    ctx.show_output(without_controls(text))
    return excerpt.end.offset - open_bytes


def _newest_line(output: ForegroundOutput) -> str:
    end = output.whole.end
    newest = output.whole.since(Mark(max(0, end.offset - 4 * _PROGRESS_CHARS), end.lines))
    text = newest.data.decode(errors="replace")
    lines = text.split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")[-_PROGRESS_CHARS:]


async def wait_for_last_output(process: SupervisedProcess) -> None:
    """Wait for the last output of an ended process, at most `SETTLE_S`."""
    try:
        async with asyncio.timeout(SETTLE_S):
            await process.wait_for_recording()
    except TimeoutError:
        process.abandon()  # a process outside the supervisor keeps its output open: settle for what was recorded


class _Ran:
    """A command that has ended, with its output and exit status for the result."""

    def __init__(
        self, ctx: ToolContext, started: Started[ForegroundOutput], duration_ms: int, put_aside: list[Quarantined]
    ) -> None:
        self._ctx = ctx
        self._whole = started.output.whole
        self._duration_ms = duration_ms
        self._put_aside = put_aside[:PUT_ASIDE_SHOWN]
        self._left_behind = started.left_behind
        self._excerpt = started.output.newest.since()
        self._text = decode_excerpt(self._excerpt, is_complete=True)[0]
        status = -signal.SIGKILL if started.status is None else started.status
        self._exit_code = status if status >= 0 else None
        self._signal = signal_name(-status) if status < 0 else None
        self._remarks = [
            each
            for each in (started.explain_sandbox_failure(self._text), describe_quarantined(self._put_aside))
            if each
        ]

    async def build_result(self) -> ToolResult:
        shown, is_cut = await self._shorten_output(TEXT_CHARS)
        ended = "\n".join((self._describe_ending(), *self._describe_left_behind(), *self._remarks))
        text = "".join((shown, "" if shown.endswith("\n") or not shown else "\n", ended))
        blocks: list[Text | ArtifactLink] = [Text(text)]
        if is_cut:
            blocks.append(await self._save_artifact())
        return ToolResult(blocks, self._build_data(), truncated=is_cut)

    async def build_timeout_error(self, limit_s: float) -> ToolError:
        shown, is_cut = await self._shorten_output(TEXT_CHARS // 4)
        how = f" ({self._signal})" if self._signal else ""
        message = (
            f"The command was ended after {limit_s:g} s, its time limit{how}; give a longer timeoutMs, or run it with "
            f"background: true. {f'It wrote:{chr(10)}{shown}' if shown else 'It wrote nothing.'}"
        )
        data = self._build_data()
        # a model already has it in the message
        data["output"] = "" if self._ctx.model_chars else tail_bytes(self._text, TEXT_CHARS // 4)[0]
        if is_cut:
            link = await self._save_artifact()
            data["artifact_id"] = link.artifact_id
            self._remarks.insert(0, f"[All that it wrote is artifact {link.artifact_id}]")
        message = "\n".join((message, *self._remarks))
        return ToolError("timeout", message, timeout_ms=round(limit_s * 1000), **data)

    async def _shorten_output(self, limit_chars: int) -> tuple[str, bool]:
        """Return the output to show, and whether it is incomplete; a model gets the start as well as the end."""
        dropped = self._excerpt.dropped_lines
        text = self._text
        if (model_chars := self._ctx.model_chars) is not None:
            limit_chars = min(limit_chars, output_chars(model_chars))
            if dropped:
                # in a thread: up to 8 MB
                whole = await asyncio.to_thread(self._whole.since)
                dropped = whole.dropped_lines
                text = decode_excerpt(whole, is_complete=True)[0]
            text = await asyncio.to_thread(to_plain_text, text)
        shown, cut = shorten_middle(text, limit_chars)
        notice = f"[{dropped} lines in front of this were dropped]\n" if dropped else ""
        return f"{notice}{shown}", bool(cut or self._excerpt.dropped_lines)

    async def _save_artifact(self) -> ArtifactLink:
        """Save the output, as far as it is recorded, as an artifact."""
        whole = await asyncio.to_thread(self._whole.since)
        return await self._ctx.artifacts.save(whole.data, mime="text/plain", name="output.txt")

    def _describe_left_behind(self) -> list[str]:
        if not self._left_behind:
            return []
        named = ", ".join(f"`{each.command}`" for each in self._left_behind[:LEFT_BEHIND_SHOWN])
        more = len(self._left_behind) - LEFT_BEHIND_SHOWN
        others = f" and {more} more" if more > 0 else ""
        message = f"what it left running was ended with it: {named}{others}; run with background: true what is to go on"
        return [f"[{message}]"]

    def _build_data(self) -> dict[str, Any]:
        output, is_cut = tail_bytes(self._text, DATA_BYTES)
        return {
            "exit_code": self._exit_code,
            "signal": self._signal,
            "duration_ms": self._duration_ms,
            "output": output,
            "output_is_cut": is_cut,
            "dropped_lines": self._excerpt.dropped_lines,
            "put_aside": [each.to_json() for each in self._put_aside],
            "left_behind": [{"pid": each.pid, "command": each.command} for each in self._left_behind],
        }

    def _describe_ending(self) -> str:
        how = f"exit code {self._exit_code}" if self._signal is None else f"ended by {self._signal}"
        return f"[{how}, {self._duration_ms / 1000:.2f} s]"


def signal_name(number: int) -> str:
    """Return the name of a signal, such as `SIGTERM`."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
