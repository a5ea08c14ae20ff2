"""`ControlFiles`: checks the workspace's control files before, between and after runs of confined programs."""

import asyncio
import contextvars
import json
import threading
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from agentcore.errors import ToolError
from agentcore.files.workspace import Workspace
from agentcore.supervision.control.change_checker import ChangeChecker, Known
from agentcore.supervision.control.entry import Entry, read_entries
from agentcore.supervision.control.limits import (
    FOLDERS_LOOKED_AT,
    LAST_LOOK_S,
    LONGEST_PAUSE_S,
    LOOK_SECONDS,
    REPORTED_KEPT,
)
from agentcore.supervision.control.pinned_paths import PinnedPaths, is_below, plan_pinned_paths
from agentcore.supervision.control.quarantine import Mover, Quarantined
from agentcore.supervision.control.redirected_paths import GlobalConfig, find_redirected_paths
from agentcore.supervision.control.tree import Found, Kind, TooLargeError, Tree
from agentcore.supervision.sandbox.sandbox import Confinement
from agentcore.supervision.supervisor import SupervisedProcess

_LEADING_ROUNDS = 100
"""Looks that follow where configuration leads, each of which finds more."""
_ROUNDS = 3
"""Looks in one: what a program that goes on does meanwhile is found by the next of these, or by the next look."""
_MORE_FOLDERS = f"more than {FOLDERS_LOOKED_AT:,} folders, not all of which were looked at"
_UNSEEN_ADVICE = (
    "control files that were made there may have an effect. Look for them before you work there, and remove what is "
    "too much; until then nothing else starts in the sandbox"
)
_SHARE = 20
"""Between two looks at running programs is at least so many times what a look takes, up to the longest pause."""


def choose_pause(look_s: float) -> float:
    """The seconds until the next look at running programs, after one that took so long."""
    return min(max(LOOK_SECONDS, _SHARE * look_s), LONGEST_PAUSE_S)


@dataclass(frozen=True, slots=True)
class ControlReport:
    """What the user has to know of the control files.

    Args:
        modules: The modules whose programs ran, any of which may have done it; none: those of an earlier server.
        quarantined: What was taken out of effect.
        limit: The limit that was reached, as a sentence; empty: none.
        advice: What to do about the limit.
    """

    modules: tuple[str, ...]
    quarantined: tuple[Quarantined, ...] = ()
    limit: str = ""
    advice: str = ""


@dataclass(eq=False, slots=True)
class ConfinedRun:
    """One confined program, from before its start until the look after its end.

    Args:
        module: Whose program it is.
        hold: What the kernel has to keep from it.
        spared: Paths that it may change freely.
        quarantined: What was quarantined since it began.
        process: It, once it has started.
    """

    module: str
    hold: PinnedPaths
    spared: frozenset[str]
    quarantined: list[Quarantined] = field(default_factory=list)
    process: SupervisedProcess | None = None


class _StoredState(BaseModel):
    """What outlives the server: so that what a program did at its end is looked at by the next one."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    made: list[str]
    kept: list[str]
    gone: list[str] = []
    entries: dict[str, tuple[Kind, str, tuple[str, ...]]] | None = None
    led: dict[str, Kind]
    spared: list[str] = []
    distrusted: list[str] = []


class ControlFiles:
    """Knows the control files of a workspace, and quarantines what a confined program makes of them.

    There is one for all modules of a process: a program of one module is judged by what another one's does, too.
    While none runs, what is there is trusted: the user, or a call that they approved, has put it there. What appears
    or changes while one runs counts as its doing, unless the kernel kept it from that, or every program slept from
    before the last look until after this one, as servers do between two requests. A look takes place before each
    program starts, every few seconds while one runs, and at its end, before its result is given and before anything
    else starts.

    Args:
        workspace: Its roots are searched.
        state: A file that remembers what the next server has to know.
        report: Called, in the event loop, with what the user has to know.
    """

    def __init__(self, workspace: Workspace, state: Path, report: Callable[[ControlReport], None]) -> None:
        self._workspace = workspace
        self._state = state
        self._report = report
        self._roots = frozenset(str(root) for root in workspace.roots)
        self._distrusted: set[str] = set()
        self._tree = Tree(workspace, FOLDERS_LOOKED_AT)
        self._mover = Mover(workspace)
        self._known = Known()
        self._led: dict[str, Kind] = {}
        self._global = GlobalConfig()
        self._runs: list[ConfinedRun] = []
        self._turn = asyncio.Lock()
        self._in_thread = threading.Lock()
        self._is_settled = True
        self._ending: dict[asyncio.Task[list[Quarantined]], str] = {}
        self._watching: asyncio.Task[None] | None = None
        self._limits: dict[str, str] = {}
        self._rest: frozenset[object] | None = None
        self._written = ""
        self.newest: deque[Quarantined] = deque(maxlen=REPORTED_KEPT)
        """What was quarantined last, the newest at the end."""

    async def restore(self) -> list[Quarantined]:
        """Look at what a program did that ran when the last server ended without an orderly stop."""
        async with self._turn:
            found = await asyncio.to_thread(self._restore_state)
        self._report_quarantined(found)
        return found

    async def begin(self, confinement: Confinement, module: str) -> ConfinedRun:
        """Look before a program starts; `end` or `watch` has to follow.

        Args:
            confinement: What the program is confined to; what it may write beside the workspace is the user's choice.
            module: Whose program it is.
        Raises:
            ToolError: `workspace_too_large`, `cannot_start`.
        """
        async with self._turn:
            await self._ensure_clean(confinement)
            spared = frozenset(map(str, confinement.writable))
            self._distrusted |= {str(confinement.caches.folder), *spared}
            hold = await asyncio.to_thread(self._plan_pinned_paths, spared)
            run = ConfinedRun(module, hold, spared)
            self._runs.append(run)
            await asyncio.to_thread(self._save_state, is_running=True)
        self._report_limits(run)
        if self._watching is None:
            # no TaskGroup: it lasts beyond the program that it begins with, and `close` ends it
            self._watching = _create_own_task(self._check_periodically(), "control_files:look")
        return run

    async def end(self, run: ConfinedRun) -> list[Quarantined]:
        """Look after a program has ended; gives what was quarantined since it began."""
        async with self._turn:
            await self._check_files()
            self._runs.remove(run)
            if not self._runs:
                await asyncio.to_thread(self._save_state, is_running=False)
        return run.quarantined

    def watch(self, run: ConfinedRun, process: SupervisedProcess) -> "asyncio.Task[list[Quarantined]]":
        """Look as soon as nothing of a program is left, whoever waits for it."""
        run.process = process

        async def check_at_end() -> list[Quarantined]:
            await process.wait()
            return await self.end(run)

        # no TaskGroup: it outlives the call that starts the program; `wait` and `close` wait for it
        task = _create_own_task(check_at_end(), "control_files:look_at_end")
        self._ending[task] = run.module
        task.add_done_callback(lambda task: self._ending.pop(task, None))
        return task

    async def wait(self, module: str) -> None:
        """Wait for the last looks at a module's programs, which have ended; at most 5 s."""
        tasks = [task for task, owner in self._ending.items() if owner == module]
        if tasks:
            await asyncio.wait(tasks, timeout=LAST_LOOK_S)

    async def close(self) -> None:
        """Wait for the last looks; the programs have ended. Safe to call twice.

        What takes too long is left to the next server's first look.
        """
        if self._ending:
            _, late = await asyncio.wait(tuple(self._ending), timeout=LAST_LOOK_S)
            for task in late:
                task.cancel()
        if self._watching is not None:
            self._watching.cancel()
            with suppress(asyncio.CancelledError):
                await self._watching
            self._watching = None
        async with self._turn:
            self._tree.close()

    async def _check_periodically(self) -> None:
        """Look now and then while programs run."""
        loop = asyncio.get_running_loop()
        pause_s = LOOK_SECONDS
        while True:
            await asyncio.sleep(pause_s)
            if self._runs:
                async with self._turn:
                    began = loop.time()
                    await self._check_files()
                    pause_s = choose_pause(loop.time() - began)

    async def _ensure_clean(self, confinement: Confinement) -> None:
        """See that nothing is there that no earlier program may have left, and trust the rest.

        Raises:
            ToolError: `workspace_too_large`, `cannot_start`.
        """
        try:
            if self._runs or not self._is_settled:
                await self._check_files()
            await asyncio.to_thread(self._refuse_unsettled)
            if not self._runs:
                await asyncio.to_thread(self._trust_current)
        except TooLargeError as exc:
            raise _too_large(confinement) from exc
        except (OSError, ValueError) as exc:
            message = f"The workspace could not be looked at: {exc}; see to that, and try again."
            raise ToolError("cannot_start", message, reason=str(exc)) from exc

    async def _check_files(self) -> list[Quarantined]:
        try:
            found = await asyncio.to_thread(self._check_in_thread)
        except TooLargeError:
            found = [self._report_unseen(_MORE_FOLDERS)]
        except (OSError, ValueError) as exc:  # a name or a content that no rule foresees: nothing else begins
            found = [self._report_unseen(f"it could not be looked at: {exc}")]
        for run in self._runs:
            run.quarantined += found
        self._report_quarantined(found)
        return found

    def _report_unseen(self, why: str) -> Quarantined:
        return Quarantined(str(self._workspace.roots[0]), "", why, advice=_UNSEEN_ADVICE)

    # -- reporting ---------------------------------------------------------------------------------------------

    def _report_quarantined(self, found: Sequence[Quarantined]) -> None:
        if found:
            self.newest.extend(found)
            modules = tuple(dict.fromkeys(run.module for run in self._runs))
            self._report(ControlReport(modules, tuple(found)))

    def _report_limits(self, run: ConfinedRun) -> None:
        """Report for each module, once, which limits were reached."""
        slow = self._tree.slow_reason
        limits = [f"each look at the workspace goes through all of its folders: {slow}"] if slow else []
        limits += [run.hold.limit] if run.hold.limit else []
        said = "; ".join(limits)
        if said == self._limits.get(run.module, ""):
            return
        self._limits[run.module] = said
        if said:
            _log_warning("control_files_limit", module=run.module, limit=said)
        advice = "Choose smaller `workspace.roots`" + (", or raise fs.inotify.max_user_watches" if slow else "")
        self._report(
            ControlReport((run.module,), limit=said or "no limit is reached any more", advice=advice if said else "")
        )

    # -- in a thread -------------------------------------------------------------------------------------------

    def _find_control_files(self, trusted: dict[str, Entry] | None = None) -> tuple[Found, dict[str, Entry]]:
        """Find and read all control files, those that git's configuration leads to as well.

        Args:
            trusted: What leads on; None: all that is there now.
        """
        for _ in range(_LEADING_ROUNDS):
            left_closed = None if trusted is None else self._known.closed
            if self._workspace.resolve_protected():
                self._tree.invalidate()
            found = self._tree.scan(self._led, left_closed)
            entries = read_entries(found.controls, self._make_known_lookup(found, is_strict=trusted is not None))
            leading = entries if trusted is None else trusted
            leading = {path: entry for path, entry in leading.items() if not self._is_free(path, entry)}
            led = find_redirected_paths(
                leading, self._global.read_files(), entries, self._roots, self._tree.list_protected_below
            )
            if led == self._led or (trusted is not None and led.keys() <= self._led.keys()):
                return found, entries
            self._led = led if trusted is None else {**led, **self._led}
        raise OSError("git's configuration leads on and on")

    def _is_free(self, path: str, entry: Entry) -> bool:
        """Whether a program may make what it likes there: what it leads to stays what it is."""
        return entry.kind in ("named", "way") and self._known.is_made(path)

    def _make_known_lookup(self, found: Found, *, is_strict: bool) -> Callable[[str], Entry | None]:
        """How a file was when it was read last, where its stamp can tell whether it still is so.

        While a program runs it can tell of files alone that the program cannot open for writing: what is written
        through a mapping of memory leaves no mark on the file.
        """
        known = self._known

        def find_known(path: str) -> Entry | None:
            entry = known.entries.get(path)
            return entry if entry is None or not is_strict or self._is_out_of_reach(path, entry, found) else None

        return find_known

    def _is_out_of_reach(self, path: str, entry: Entry, found: Found) -> bool:
        """Whether a file was out of reach of every program that runs: what changed it came from outside."""
        return bool(self._runs) and all(run.hold.covers(path, entry, found) for run in self._runs)

    def _refuse_unsettled(self) -> None:
        with self._in_thread:
            if not self._is_settled:
                self._find_control_files()  # says so if the tree is still too large
                raise OSError("what a program made of control files could not be quarantined; remove it by hand")

    def _trust_current(self) -> None:
        with self._in_thread:
            self._rest = None
            self._trust(*self._find_control_files())

    def _plan_pinned_paths(self, spared: frozenset[str]) -> PinnedPaths:
        """What to keep from a program that is about to start."""
        with self._in_thread:
            entries = {path: entry for path, entry in self._known.entries.items() if not is_below(path, spared)}
            guarded = {path for path in self._known.guarded if not is_below(path, spared)}
            hold = plan_pinned_paths(guarded, entries, self._known.git, self._roots, self._known.is_made)
            return hold.restrict_to_unmovable(self._roots, [run.hold for run in self._runs])

    def _store_known(self, found: Found, entries: dict[str, Entry]) -> None:
        known = self._known
        self._tree.set_baseline()
        known.entries = entries
        known.guarded = found.guarded
        known.git = found.git

    def _trust(self, found: Found, entries: dict[str, Entry]) -> None:
        self._store_known(found, entries)
        self._known.closed.update(found.closed)

    def _trust_if_rested(self, rest: frozenset[object] | None) -> bool:
        """Trust what is there if no program has run since the last look; True when that is so.

        Args:
            rest: What `_read_rest` gave before the last look.
        """
        if rest is None or self._rest != rest or not self._is_settled:
            return False
        led = self._led
        found, entries = self._find_control_files()
        if self._read_rest() != rest:
            self._led = led
            return False
        self._trust(found, entries)
        return True

    def _read_rest(self) -> frozenset[object] | None:
        """What two equal results of say that no program has run in between; None: one runs."""
        found: set[object] = set()
        for run in self._runs:
            rest = None if run.process is None else run.process.read_rest()
            if rest is None:
                return None
            # With the run itself: one that came and went between two looks leaves no other trace.
            found |= rest
            found.add(run)
        return frozenset(found)

    def _check_in_thread(self) -> list[Quarantined]:
        with self._in_thread:
            last = self._rest
            self._rest = self._read_rest()
            if self._trust_if_rested(last):
                return []
            # What one program may change freely, another one may not.
            spared = [run.spared for run in self._runs] or [frozenset()]
            return self._quarantine_changes(frozenset.intersection(*spared))

    def _quarantine_changes(self, spared: frozenset[str]) -> list[Quarantined]:
        quarantined: list[Quarantined] = []
        self._is_settled = False  # until a look finds nothing more
        is_whole = True
        for _ in range(_ROUNDS):
            try:
                found, entries = self._find_control_files(self._known.entries)
            except TooLargeError:
                is_whole = False  # what was found goes all the same
                found = self._tree.found
                entries = read_entries(found.controls, lambda _: None)
            self._known.track_folder_changes(found)
            judge = ChangeChecker(
                self._known,
                found,
                entries,
                distrusted=tuple(self._distrusted),
                roots=self._roots,
                is_held=self._is_out_of_reach,
            )
            verdicts = [each for each in judge.find_verdicts() if not is_below(each.path, spared)]
            if not verdicts and is_whole:
                self._store_known(found, entries)
                self._is_settled = True
            if not verdicts:
                break
            for verdict in verdicts:
                moved = self._mover.quarantine(verdict.path, verdict.why, verdict.instead, verdict.replacement)
                _log_warning("control_file_quarantined", path=moved.path, aside=moved.aside, why=moved.why)
                quarantined.append(moved)
        if not is_whole:
            quarantined.append(self._report_unseen(_MORE_FOLDERS))
        return quarantined

    def _restore_state(self) -> list[Quarantined]:
        try:
            kept = _StoredState.model_validate_json(self._state.read_bytes())
        except FileNotFoundError:
            return []
        except (OSError, ValidationError):
            _log_warning("control_files_unreadable", path=str(self._state))
            return []
        with self._in_thread:
            self._known.made = set(kept.made)
            self._known.kept = set(kept.kept)
            self._known.gone = set(kept.gone)
            self._distrusted |= set(kept.distrusted)
            if kept.entries is None:
                return []
            self._led = dict(kept.led)
            self._find_control_files({})
            self._tree.set_baseline()
            self._known.entries = {
                path: Entry(kind, digest, real_paths=real_paths)
                for path, (kind, digest, real_paths) in kept.entries.items()
            }
            quarantined = self._quarantine_changes(frozenset(kept.spared))
            self._save_state(is_running=False)
        return quarantined

    def _save_state(self, *, is_running: bool) -> None:
        """Remember for the next server: while a program runs, what the control files were before."""
        known = self._known
        known_entries = known.entries.items() if is_running else ()
        entries = {path: (entry.kind, entry.digest, entry.real_paths) for path, entry in known_entries}
        state = {
            "made": sorted(known.made),
            "kept": sorted(known.kept),
            "gone": sorted(known.gone),
            "entries": entries if is_running else None,
            "led": self._led,
            "spared": sorted(frozenset().union(*(run.spared for run in self._runs))),
            "distrusted": sorted(self._distrusted),
        }
        text = json.dumps(state)
        if text == self._written:
            return
        self._state.parent.mkdir(parents=True, exist_ok=True)
        waiting = self._state.with_suffix(".new")
        waiting.write_text(text, encoding="utf-8", errors="surrogateescape")
        waiting.replace(self._state)
        self._written = text


def _create_own_task(work: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
    """Create a task that belongs to no module, although one asks for it: it goes on when that module has stopped."""
    return asyncio.get_running_loop().create_task(work, name=name, context=contextvars.Context())


def _too_large(confinement: Confinement) -> ToolError:
    message = (
        f"The workspace has more than {FOLDERS_LOOKED_AT} folders, too many to see what a program changes; "
        f"choose smaller `workspace.roots`, or turn off {confinement.setting}."
    )
    return ToolError("workspace_too_large", message, limit=FOLDERS_LOOKED_AT)


def _log_warning(event: str, **values: str) -> None:
    import structlog  # noqa: PLC0415 - modules import this, and most have nothing to report

    structlog.get_logger(__name__).warning(event, **values)
