"""Read the output and the state of a background process."""

import asyncio
from dataclasses import dataclass
from typing import Any

import re2  # type: ignore[import-untyped]

from agentcore.api import (
    ArtifactLink,
    Mark,
    Text,
    ToolContext,
    ToolError,
    ToolResult,
    Track,
    describe_quarantined,
)
from agentcore_shell_tools.limits import DATA_BYTES, TEXT_CHARS
from agentcore_shell_tools.process import Process
from agentcore_shell_tools.screen import ScreenView, is_drawn, is_redrawn, outside_alternate
from agentcore_shell_tools.services import Service, Services
from agentcore_shell_tools.text import decode_excerpt, output_chars, shorten_middle, tail_bytes, to_plain_text

_RESERVE_S = 2.0
_ENDING_S = 2.0


def compile_filter(pattern: str | None) -> Any:
    """Compile the regular expression that selects lines, with RE2, which runs in linear time.

    Raises:
        ToolError: `invalid_regex`.
    """
    if pattern is None:
        return None
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options=options)
    except re2.error as exc:
        why = _describe_regex_error(exc)
        message = f"The filter {pattern!r} is no regular expression: {why}. Escape what is meant literally."
        raise ToolError("invalid_regex", message, pattern=pattern) from exc


async def read_process_output(
    ctx: ToolContext,
    process: Process,
    services: Services,
    *,
    block_ms: int | None = None,
    chosen: Any = None,
    from_start: bool = False,
    since: tuple[Mark, Mark] | None = None,
) -> ToolResult:
    """Return the output of a process.

    Args:
        ctx: The call.
        process: The process.
        services: Finds the ports that it listens on.
        block_ms: How long to wait for its end, or for a matching line; None: do not wait.
        chosen: Compiled expression that selects lines; None: all lines.
        from_start: True for all recorded output, otherwise the output since the last read of this session.
        since: Read from here on, without effect on the next read of this session.
    """
    marks = since or ((Mark(), Mark()) if from_start else process.looks.get(ctx.session_id, (Mark(), Mark())))
    if block_ms is not None:
        loop = asyncio.get_running_loop()
        limit_s = max(0.0, min(block_ms / 1000, ctx.deadline - loop.time() - _RESERVE_S))
        await _wait_for_output(process, limit_s, marks, chosen)
    is_running = process.is_running
    if not is_running:
        await process.wait_until_settled()
    tracks = (process.output.stdout, process.output.stderr)
    # in a thread: up to 8 MB are split into lines
    parts = await asyncio.to_thread(
        lambda: [
            _Part.from_track(track, mark, chosen, is_complete=not is_running, has_terminal=process.has_terminal)
            for track, mark in zip(tracks, marks, strict=True)
        ]
    )
    if since is None:
        process.looks[ctx.session_id] = (parts[0].end, parts[1].end)
    screen = await process.render_screen() if process.has_terminal else None
    waits = False
    if is_running:
        await services.look_at(process)
        # in a thread: it reads /proc
        waits = await asyncio.to_thread(process.waits_for_input)
    shown_screen = screen if chosen is None else None
    state = _State(is_running=is_running, waits_for_input=waits)
    return await _build_result(ctx, process, services, parts, shown_screen, state=state)


async def _wait_for_output(process: Process, limit_s: float, marks: tuple[Mark, Mark], chosen: Any) -> None:
    seen = marks
    try:
        async with asyncio.timeout(limit_s):
            while process.is_command_running:
                change = process.output.bell.next_change()
                try:
                    if chosen is not None:
                        found, seen = _has_chosen(process, seen, chosen)
                        if found:
                            return
                    await change
                finally:
                    change.cancel()
            async with asyncio.timeout(_ENDING_S):  # most commands leave nothing running and end at once
                while process.is_running:
                    await process.output.bell.next_change()
    except TimeoutError:
        pass  # return the output until then


def _has_chosen(process: Process, seen: tuple[Mark, Mark], chosen: Any) -> tuple[bool, tuple[Mark, Mark]]:
    marks = []
    for track, mark in zip((process.output.stdout, process.output.stderr), seen, strict=True):
        part = _Part.from_track(track, mark, chosen, is_complete=False, has_terminal=process.has_terminal)
        if part.text:
            return True, seen
        marks.append(part.end)
    return False, (marks[0], marks[1])


@dataclass(frozen=True, slots=True)
class _State:
    """What a process does while its output is read."""

    is_running: bool
    waits_for_input: bool


class _Part:
    """Text of one stream since a mark."""

    def __init__(self, text: str, end: Mark, dropped_lines: int, *, is_drawn: bool, is_redrawn: bool) -> None:
        self.text = text
        self.end = end
        self.dropped_lines = dropped_lines
        self.is_drawn = is_drawn
        self.is_redrawn = is_redrawn

    @classmethod
    def from_track(cls, track: Track, mark: Mark, chosen: Any, *, is_complete: bool, has_terminal: bool) -> "_Part":
        excerpt = track.since(mark)
        text, waiting = decode_excerpt(excerpt, is_complete=is_complete)
        if chosen is not None and not is_complete:
            # a line can be matched only when it is complete
            whole = text[: text.rfind("\n") + 1]
            waiting += len(text[len(whole) :].encode())
            text = whole
        end = Mark(excerpt.end.offset - waiting, excerpt.end.lines)
        ordinary = outside_alternate(text) if has_terminal else ""
        drawn = is_drawn(ordinary)
        redrawn = is_redrawn(ordinary)
        if has_terminal:
            text = to_plain_text(ordinary)
        if chosen is not None:
            text = "".join(line for line in text.splitlines(keepends=True) if chosen.search(line.rstrip("\r\n")))
        return cls(text, end, excerpt.dropped_lines, is_drawn=drawn, is_redrawn=redrawn)


async def _build_result(
    ctx: ToolContext,
    process: Process,
    services: Services,
    parts: list[_Part],
    screen: ScreenView | None,
    *,
    state: _State,
) -> ToolResult:
    dropped = sum(part.dropped_lines for part in parts)
    stdout, stderr = (tail_bytes(part.text, DATA_BYTES) for part in parts)
    data = {
        "process_id": process.process_id,
        "exited": not state.is_running,
        "exit_code": process.exit_code,
        "signal": process.signal,
        "stdout": stdout[0],
        "stderr": stderr[0],
        "dropped_lines": dropped,
    }
    text = parts[0].text
    if parts[1].text:
        text += f"{'' if not text or text.endswith(chr(10)) else chr(10)}[stderr]\n{parts[1].text}"
    shown_screen = ""
    if screen is not None:
        data["screen"] = screen.to_json()
        if screen.is_full_screen or parts[0].is_drawn or parts[0].is_redrawn:
            shown_screen = f"{screen.to_text()}\n"
            text = "" if parts[0].is_drawn else text
    if state.waits_for_input:
        data["waits_for_input"] = True
    data["put_aside"] = [each.to_json() for each in process.put_aside]
    room = TEXT_CHARS if ctx.model_chars is None else output_chars(ctx.model_chars) - len(shown_screen)
    shown, cut = shorten_middle(text, max(room, 0))
    notice = f"[{dropped} lines in front of this were dropped]\n" if dropped else ""
    between = "" if not shown or shown.endswith("\n") else "\n"
    ending = f"{between}{shown_screen}[{_describe_state(process, process.name_for(ctx), state)}]"
    refused = process.explain_sandbox_failure(text) if not state.is_running else ""
    own = services.list_for(process)
    if own:
        data["services"] = [_describe_service(each) for each in own]
    ports = [_service_line(each, whole_id=ctx.model_chars is None) for each in own]
    remark = "".join(f"\n{each}" for each in (*ports, refused, describe_quarantined(process.put_aside)) if each)
    blocks: list[Text | ArtifactLink] = [Text(f"{notice}{shown}{ending}{remark}")]
    if cut:
        blocks.append(await ctx.artifacts.save(text.encode(), mime="text/plain", name="output.txt"))
    return ToolResult(blocks, data, truncated=bool(cut or dropped or stdout[1] or stderr[1]))


def _describe_state(process: Process, name: str, state: _State) -> str:
    if state.waits_for_input:
        return f"{name} waits for input: type it with bash and this process_id, or end the process with bash_kill"
    if state.is_running and not process.is_command_running:
        return f"{name}: the command itself has ended, what it started is running; bash_kill ends that"
    if state.is_running:
        return f"{name} is running"
    how = f"exit code {process.exit_code}" if process.signal is None else f"ended by {process.signal}"
    return f"{name} has ended: {how}"


def _describe_service(service: Service) -> dict[str, str]:
    described = {"resource_id": service.resource.resource_id, "url": service.url}
    return {**described, "problem": service.problem} if service.problem else described


def _service_line(service: Service, *, whole_id: bool) -> str:
    name = service.resource.resource_id if whole_id else service.resource.short_id
    if not service.problem:
        return f"[it listens on {service.url}: {name}]"
    change = "; a user can set `network` to true" if service.process.has_own_network else ""
    return (
        f"[{name} cannot be reached: {service.problem}. The same command can reach it, such as "
        f"`./serve & sleep 1; curl {service.url}`{change}]"
    )


def _describe_regex_error(error: Exception) -> str:
    reason = error.args[0] if error.args else error
    return reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
