"""`Guard`: looks at the workspace's control files before, between and after commands."""

import asyncio
import json
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import structlog
from pydantic import BaseModel, ConfigDict, ValidationError

from agentcore.api import SupervisedProcess, ToolError, Workspace
from agentcore_shell_tools.control.entry import Entry, read_entries
from agentcore_shell_tools.control.holding import Hold, plan_hold
from agentcore_shell_tools.control.judge import Judge, Known
from agentcore_shell_tools.control.leading import GlobalConfig, leads
from agentcore_shell_tools.control.put_aside import Mover, PutAside
from agentcore_shell_tools.control.tree import Found, Kind, TooLargeError, Tree
from agentcore_shell_tools.limits import FOLDERS_LOOKED_AT, LAST_LOOK_S, LOOK_SECONDS

log = structlog.get_logger(__name__)

_ROUNDS = 3
"""Looks in one: what a command that goes on does meanwhile is found by the next of these, or by the next look."""
_SHARE = 20
"""Between two looks at running commands lies at least so many times what a look takes."""

Report = Callable[[Sequence[PutAside]], None]


@dataclass(eq=False, slots=True)
class Run:
    """One command.

    Args:
        hold: What the kernel has to keep from it.
        put_aside: What was put aside since it began.
    """

    hold: Hold
    put_aside: list[PutAside] = field(default_factory=list)


class _Kept(BaseModel):
    """What outlives the server: so that what a command did at its end is looked at by the next one."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    made: list[str]
    kept: list[str]
    entries: dict[str, tuple[Kind, str, tuple[str, ...]]] | None = None
    led: dict[str, Kind]


class Guard:
    """Knows the control files of the workspace, and puts aside what a command makes of them.

    While no command runs, what is there is trusted: a person, or a call that they approved, has put it there. What
    appears or changes while one runs counts as its doing, unless the kernel kept it from that. A look takes place
    before each command, every few seconds while one runs, and at its end, before its result is given and before
    anything else starts.

    Args:
        workspace: Its roots are looked through.
        state: A file that remembers what the next server has to know.
        distrusted: Folders outside of the roots that commands can write.
        spared: Paths that commands may change freely.
        report: Called with everything that was put aside, whoever waits for it.
    """

    def __init__(
        self, workspace: Workspace, state: Path, distrusted: Sequence[str], spared: Sequence[str], report: Report
    ) -> None:
        self._workspace, self._state, self._distrusted, self._report = workspace, state, distrusted, report
        self._roots = frozenset(str(root) for root in workspace.roots)
        self._spared = frozenset(spared)
        self._tree = Tree(workspace, FOLDERS_LOOKED_AT)
        self._mover = Mover(workspace)
        self._known = Known()
        self._led: dict[str, Kind] = {}
        self._global = GlobalConfig()
        self._runs: list[Run] = []
        self._turn = asyncio.Lock()
        self._in_thread = threading.Lock()
        self._is_settled = True
        self._tasks: set[asyncio.Task[list[PutAside]]] = set()
        self._watching: asyncio.Task[None] | None = None

    async def restore(self) -> list[PutAside]:
        """Look at what a command did that ran when the last server ended without an orderly stop."""
        return await self._in_turn(self._restore)

    async def begin(self) -> Run:
        """Look before a command starts; `end` or `watch` has to follow.

        Raises:
            ToolError: `workspace_too_large`, `cannot_start`.
        """
        async with self._turn:
            if self._runs:
                await self._judge()
                hold = self._known.hold.in_place(self._roots)
            else:
                if not self._is_settled:
                    await self._judge()
                try:
                    await asyncio.to_thread(self._adopt)
                except TooLargeError as exc:
                    raise _too_large() from exc
                except (OSError, ValueError) as exc:
                    message = f"The workspace could not be looked at: {exc}; see to that, and try again."
                    raise ToolError("cannot_start", message, reason=str(exc)) from exc
                hold = self._known.hold
            run = Run(hold)
            self._runs.append(run)
        if self._watching is None:
            # no TaskGroup: it lasts beyond the command that it begins with, and `close` ends it
            self._watching = asyncio.create_task(self._watch_on(), name="shell_tools:look")
        return run

    async def end(self, run: Run) -> list[PutAside]:
        """Look after a command has ended; gives what was put aside since it began."""
        async with self._turn:
            await self._judge()
            self._runs.remove(run)
            if not self._runs:
                await asyncio.to_thread(self._keep, is_running=False)
        return run.put_aside

    def watch(self, run: Run, process: SupervisedProcess) -> "asyncio.Task[list[PutAside]]":
        """Look as soon as nothing of a command is left, whoever waits for it."""

        async def look() -> list[PutAside]:
            await process.wait()
            return await self.end(run)

        # no TaskGroup: it outlives the call that starts the command; `close` waits for it
        task = asyncio.create_task(look(), name="shell_tools:look_at_end")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def close(self) -> None:
        """Wait for the last looks; the commands have ended. Safe to call twice.

        What takes too long is left to the next server's first look.
        """
        if self._tasks:
            _, late = await asyncio.wait(tuple(self._tasks), timeout=LAST_LOOK_S)
            for task in late:
                task.cancel()
        if self._watching is not None:
            self._watching.cancel()
            with suppress(asyncio.CancelledError):
                await self._watching
            self._watching = None

    async def _watch_on(self) -> None:
        """Look now and then while commands run."""
        loop = asyncio.get_running_loop()
        pause_s = LOOK_SECONDS
        while True:
            await asyncio.sleep(pause_s)
            if self._runs:
                began = loop.time()
                async with self._turn:
                    await self._judge()
                pause_s = max(LOOK_SECONDS, _SHARE * (loop.time() - began))

    async def _in_turn(self, work: Callable[[], list[PutAside]]) -> list[PutAside]:
        async with self._turn:
            found = await asyncio.to_thread(work)
        if found:
            self._report(found)
        return found

    async def _judge(self) -> list[PutAside]:
        try:
            found = await asyncio.to_thread(self._judge_in_thread)
        except TooLargeError:
            root = str(self._workspace.roots[0])
            found = [PutAside(root, "", f"more than {FOLDERS_LOOKED_AT} folders, not all of which were looked at")]
        except (OSError, ValueError) as exc:  # a name or a content that no rule foresees: nothing else begins
            found = [PutAside(str(self._workspace.roots[0]), "", f"it could not be looked at: {exc}")]
        for run in self._runs:
            run.put_aside += found
        if found:
            self._report(found)
        return found

    # -- in a thread -------------------------------------------------------------------------------------------

    def _look(self, trusted: dict[str, Entry] | None = None) -> tuple[Found, dict[str, Entry]]:
        """Find and read all control files, those that git's configuration leads to as well.

        Args:
            trusted: What leads on; None: all that is there now.
        """
        while True:
            left_closed = None if trusted is None else self._known.closed
            found = self._tree.look(self._led, self._spared, left_closed)
            entries = read_entries(found.controls, self._last(found, is_strict=trusted is not None))
            leading = entries if trusted is None else trusted
            led = leads(leading, self._global.read(), entries, self._roots)
            if led.keys() <= self._led.keys():
                return found, entries
            self._led = {**led, **self._led}

    def _last(self, found: Found, *, is_strict: bool) -> Callable[[str], Entry | None]:
        """How a file was when it was read last, where its stamp can tell whether it still is so.

        While a command runs it can tell of files alone that the command cannot open for writing: what is written
        through a mapping of memory leaves no mark on the file.
        """
        known = self._known

        def last(path: str) -> Entry | None:
            entry = known.entries.get(path)
            return entry if entry is None or not is_strict or known.hold.covers(path, entry, found) else None

        return last

    def _adopt(self) -> None:
        with self._in_thread:
            if not self._is_settled:
                self._look()  # says so if the tree is still too large
                raise OSError("what a command made of protected files could not be put aside; remove it by hand")
            self._led = {}
            found, entries = self._look()
            self._take(found, entries)
            self._known.closed.update(found.closed)
            self._known.hold = plan_hold(found, entries, self._roots, self._known.is_made)
            self._keep(is_running=True)

    def _take(self, found: Found, entries: dict[str, Entry]) -> None:
        self._known.folders, self._known.entries = found.folders, entries

    def _judge_in_thread(self) -> list[PutAside]:
        with self._in_thread:
            return self._put_aside()

    def _put_aside(self) -> list[PutAside]:
        put_aside: list[PutAside] = []
        self._is_settled = False  # until a look finds nothing more
        for _ in range(_ROUNDS):
            found, entries = self._look(self._known.entries)
            self._known.follow(found)
            verdicts = Judge(self._known, found, entries, self._distrusted).verdicts()
            if not verdicts:
                self._take(found, entries)
                self._is_settled = True
                break
            for verdict in verdicts:
                moved = self._mover.put_aside(verdict.path, verdict.why, verdict.instead, verdict.replacement)
                log.warning("control_file_put_aside", path=moved.path, aside=moved.aside, why=moved.why)
                put_aside.append(moved)
        return put_aside

    def _restore(self) -> list[PutAside]:
        try:
            kept = _Kept.model_validate_json(self._state.read_bytes())
        except FileNotFoundError:
            return []
        except (OSError, ValidationError):
            log.warning("shell_state_unreadable", path=str(self._state))
            return []
        with self._in_thread:
            self._known.made, self._known.kept = set(kept.made), set(kept.kept)
            if kept.entries is None:
                return []
            self._led = dict(kept.led)
            found, _ = self._look({})
            self._known.folders = found.folders
            self._known.entries = {
                path: Entry(kind, digest, real_paths=real_paths)
                for path, (kind, digest, real_paths) in kept.entries.items()
            }
            put_aside = self._put_aside()
            self._keep(is_running=False)
        return put_aside

    def _keep(self, *, is_running: bool) -> None:
        """Remember for the next server: while a command runs, what the control files were before."""
        known = self._known
        known_entries = known.entries.items() if is_running else ()
        entries = {path: (entry.kind, entry.digest, entry.real_paths) for path, entry in known_entries}
        state = {
            "made": sorted(known.made), "kept": sorted(known.kept), "entries": entries if is_running else None,
            "led": self._led,
        }  # fmt: skip
        self._state.parent.mkdir(parents=True, exist_ok=True)
        waiting = self._state.with_suffix(".new")
        waiting.write_text(json.dumps(state), encoding="utf-8", errors="surrogateescape")
        waiting.replace(self._state)


def _too_large() -> ToolError:
    message = (
        f"The workspace has more than {FOLDERS_LOOKED_AT} folders, too many to see what a command changes; "
        "choose smaller `workspace.roots`, or turn the setting `sandbox` of shell_tools off."
    )
    return ToolError("workspace_too_large", message, limit=FOLDERS_LOOKED_AT)
