"""`ControlFiles`: checks the workspace's control files before, between and after runs of confined programs."""

import asyncio
import contextvars
import json
import threading
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from agentcore.errors import ToolError
from agentcore.files.workspace import Workspace
from agentcore.late_dataclasses import dataclass
from agentcore.supervision.control_files.change_checker import ChangeChecker, Known
from agentcore.supervision.control_files.control_file_entry import Entry, read_entries
from agentcore.supervision.control_files.guard_limits import (
    FOLDERS_LOOKED_AT,
    LAST_LOOK_S,
    LONGEST_PAUSE_S,
    LOOK_SECONDS,
    REPORTED_KEPT,
)
from agentcore.supervision.control_files.pinned_paths import PinnedPaths, is_below, plan_pinned_paths
from agentcore.supervision.control_files.quarantine import Mover, Quarantined
from agentcore.supervision.control_files.redirected_paths import GlobalConfig, find_redirected_paths
from agentcore.supervision.control_files.tree import Found, Kind, TooLargeError, Tree
from agentcore.supervision.sandbox.sandbox import Confinement
from agentcore.supervision.supervisor import SupervisedProcess

_LEADING_ROUNDS = 100
"""Limit of scans that follow redirects in git's configuration while each scan discovers more of them."""
_ROUNDS = 3
"""Rounds per check: changes that a running program makes during one round are found by the next round or check."""
_MORE_FOLDERS = f"more than {FOLDERS_LOOKED_AT:,} folders, not all of which were looked at"
_UNSEEN_ADVICE = (
    "control files that were made there may have an effect. Look for them before you work there, and remove what is "
    "too much; until then nothing else starts in the sandbox"
)
_SHARE = 20
"""The pause between two checks of running programs is at least this multiple of a check's duration, up to
`LONGEST_PAUSE_S`."""


def choose_pause(look_s: float) -> float:
    """Return the pause in seconds before the next check of running programs, given the duration of the last check."""
    return min(max(LOOK_SECONDS, _SHARE * look_s), LONGEST_PAUSE_S)


@dataclass(frozen=True, slots=True)
class ControlReport:
    """A report on control files for the user.

    Args:
        modules: The modules whose programs were running, any of which may be the cause; empty if the programs belonged
            to an earlier server.
        quarantined: The files and folders that were quarantined.
        limit: The limit that was reached, as a sentence; empty if none was.
        advice: How to resolve the limit.
    """

    modules: tuple[str, ...]
    quarantined: tuple[Quarantined, ...] = ()
    limit: str = ""
    advice: str = ""


@dataclass(eq=False, slots=True)
class ConfinedRun:
    """One confined program, from before its start until the check after its end.

    Args:
        module: The module that runs the program.
        hold: The paths that the kernel protects from it.
        spared: Paths that it may change freely.
        quarantined: Files and folders that were quarantined since the run began.
        process: The process, once it has started.
    """

    module: str
    hold: PinnedPaths
    spared: frozenset[str]
    quarantined: list[Quarantined] = field(default_factory=list)
    process: SupervisedProcess | None = None


class _StoredState(BaseModel):
    """What outlives the server: so that what a program did at its end is looked at by the next one."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    has_mark: bool = False  # False: it was written by an older server, and has `entries` only while a program ran
    made: list[str]
    kept: list[str]
    gone: list[str] = []
    entries: dict[str, tuple[Kind, str, tuple[str, ...]]] | None = None
    led: dict[str, Kind]
    spared: list[str] = []
    distrusted: list[str] = []


class ControlFiles:
    """Tracks the control files of a workspace and quarantines those that confined programs create or change.

    One instance serves all modules of a process, because a change cannot be attributed to one of several running
    programs. While no program runs, all existing control files are trusted: the user, or a call that they approved, put
    them there. A control file that appears or changes while a program runs is attributed to that program, unless the
    kernel prevented the program from changing it, or every program slept from before the last check until after this
    one, as servers do between two requests. Checks run before each program starts, every few seconds while one runs,
    and at its end, before its result is returned and before anything else starts.

    Args:
        workspace: Its roots are searched.
        state: File with the state that the next server needs.
        report: Called in the event loop with each report for the user.
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
        # exists while programs run: creating it takes much less time than replacing the state
        self._mark = state.with_suffix(".running")
        self.newest: deque[Quarantined] = deque(maxlen=REPORTED_KEPT)
        """The most recently quarantined files and folders, newest last."""

    async def restore(self) -> list[Quarantined]:
        """Check for changes by programs that were still running when the last server ended without an orderly stop."""
        async with self._turn:
            found = await asyncio.to_thread(self._restore_state)
        self._report_quarantined(found)
        return found

    async def begin(self, confinement: Confinement, module: str) -> ConfinedRun:
        """Check the control files before a program starts; the caller must call `end` or `watch` afterwards.

        Args:
            confinement: The program's confinement; paths that it may write outside the workspace are the user's choice.
            module: The module that runs the program.
        Raises:
            ToolError: `workspace_too_large`, `cannot_start`.
        """
        spared = frozenset(map(str, confinement.writable))
        async with self._turn:
            hold = await self._prepare_run(confinement, spared)
            run = ConfinedRun(module, hold, spared)
            self._runs.append(run)
        self._report_limits(run)
        if self._watching is None:
            # No TaskGroup: the task outlasts the program that it is started with; `close` cancels it.
            self._watching = _create_own_task(self._check_periodically(), "control_files:look")
        return run

    async def end(self, run: ConfinedRun) -> list[Quarantined]:
        """Check after a program has ended, and return everything quarantined since the run began."""
        async with self._turn:
            is_last = self._runs == [run]
            failure = await self._check_files(ended=run if is_last else None)
            self._runs.remove(run)
        if failure is not None:
            raise failure
        return run.quarantined

    def watch(self, run: ConfinedRun, process: SupervisedProcess) -> "asyncio.Task[list[Quarantined]]":
        """Schedule the final check for when the program and all its descendants have ended."""
        run.process = process

        async def check_at_end() -> list[Quarantined]:
            await process.wait()
            return await self.end(run)

        # No TaskGroup: the task outlasts the call that starts the program; `wait` and `close` wait for it.
        task = _create_own_task(check_at_end(), "control_files:look_at_end")
        self._ending[task] = run.module
        task.add_done_callback(lambda task: self._ending.pop(task, None))
        return task

    async def wait(self, module: str) -> None:
        """Wait at most 5 s for the final checks of a module's programs, which have ended."""
        tasks = [task for task, owner in self._ending.items() if owner == module]
        if tasks:
            await asyncio.wait(tasks, timeout=LAST_LOOK_S)

    async def close(self) -> None:
        """Wait for the final checks; all programs have ended. Safe to call twice.

        A check that takes longer than 5 s is cancelled and left to the next server's first check.
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
        """Check repeatedly while programs run."""
        loop = asyncio.get_running_loop()
        pause_s = LOOK_SECONDS
        while True:
            await asyncio.sleep(pause_s)
            if self._runs:
                async with self._turn:
                    began = loop.time()
                    await self._check_files()
                    pause_s = choose_pause(loop.time() - began)

    async def _prepare_run(self, confinement: Confinement, spared: frozenset[str]) -> PinnedPaths:
        """Quarantine what earlier programs may have left, refuse if that fails, trust the rest, and store it.

        Returns:
            The paths that the kernel protects from the program.
        Raises:
            ToolError: `workspace_too_large`, `cannot_start`.
        """
        if self._runs or not self._is_settled:
            await self._check_files()
        self._distrusted |= {str(confinement.caches.folder), *spared}
        # One thread for all: handing over to several, one after the other, takes longer than the work itself.
        return await asyncio.to_thread(self._prepare_in_thread, confinement, spared)

    async def _check_files(self, ended: ConfinedRun | None = None) -> OSError | None:
        """Check the control files.

        Args:
            ended: The last program, which has ended: the state is stored as one without programs.
        Returns:
            Why the state could not be stored; None if it was.
        """
        found, failure = await asyncio.to_thread(self._check_and_save, ended)
        for run in self._runs:
            run.quarantined += found
        self._report_quarantined(found)
        return failure

    def _report_unseen(self, why: str) -> Quarantined:
        return Quarantined(str(self._workspace.roots[0]), "", why, advice=_UNSEEN_ADVICE)

    # -- reporting ---------------------------------------------------------------------------------------------

    def _report_quarantined(self, found: Sequence[Quarantined]) -> None:
        if found:
            self.newest.extend(found)
            modules = tuple(dict.fromkeys(run.module for run in self._runs))
            self._report(ControlReport(modules, tuple(found)))

    def _report_limits(self, run: ConfinedRun) -> None:
        """Report the limits that were reached, once per module and change."""
        slow = self._tree.slow_reason
        limits = [f"each look at the workspace goes through all of its folders: {slow}"] if slow else []
        limits += [run.hold.limit] if run.hold.limit else []
        message = "; ".join(limits)
        if message == self._limits.get(run.module, ""):
            return
        self._limits[run.module] = message
        if message:
            _log_warning("control_files_limit", module=run.module, limit=message)
        advice = "Choose smaller `workspace.roots`" + (", or raise fs.inotify.max_user_watches" if slow else "")
        self._report(
            ControlReport(
                (run.module,), limit=message or "no limit is reached any more", advice=advice if message else ""
            )
        )

    # -- in a thread -------------------------------------------------------------------------------------------

    def _find_control_files(self, trusted: dict[str, Entry] | None = None) -> tuple[Found, dict[str, Entry]]:
        """Find and read all control files, including those that git's configuration or links redirect to.

        Args:
            trusted: The control files whose redirects are followed; None for all that exist now.
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
        """True if confined programs may create such a file freely, so that its redirects do not count."""
        return entry.kind in ("named", "way") and self._known.is_made(path)

    def _make_known_lookup(self, found: Found, *, is_strict: bool) -> Callable[[str], Entry | None]:
        """Return a function that returns the last read entry of a file if its stamp is reliable evidence of no change.

        While a program runs, the stamp is reliable only for files that the program cannot open for writing: writes
        through a memory mapping do not update it.
        """
        known = self._known

        def find_known(path: str) -> Entry | None:
            entry = known.entries.get(path)
            return entry if entry is None or not is_strict or self._is_out_of_reach(path, entry, found) else None

        return find_known

    def _is_out_of_reach(self, path: str, entry: Entry, found: Found) -> bool:
        """True if no running program could reach a file, so that any change came from outside."""
        return bool(self._runs) and all(run.hold.covers(path, entry, found) for run in self._runs)

    def _prepare_in_thread(self, confinement: Confinement, spared: frozenset[str]) -> PinnedPaths:
        with self._in_thread:
            try:
                self._refuse_unsettled()
                if not self._runs:
                    self._rest = None
                    self._trust(*self._find_control_files())
            except TooLargeError as exc:
                raise _too_large(confinement) from exc
            except (OSError, ValueError) as exc:
                message = f"The workspace could not be looked at: {exc}; see to that, and try again."
                raise ToolError("cannot_start", message, reason=str(exc)) from exc
            hold = self._plan_pinned_paths(spared)
            self._save_state([*(run.spared for run in self._runs), spared])
            self._mark.touch()
            return hold

    def _refuse_unsettled(self) -> None:
        if not self._is_settled:
            self._find_control_files()  # raises TooLargeError if the tree is still too large
            raise OSError("what a program made of control files could not be quarantined; remove it by hand")

    def _plan_pinned_paths(self, spared: frozenset[str]) -> PinnedPaths:
        """Plan which paths the kernel protects from a program that is about to start."""
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
        """Trust the current files and return True if no program has run since the last check.

        Args:
            rest: The result of `_read_rest` at the last check.
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
        """Return a token that stays equal while no program runs; None if one is running."""
        found: set[object] = set()
        for run in self._runs:
            rest = None if run.process is None else run.process.read_rest()
            if rest is None:
                return None
            # Include the run itself: one that started and ended between two checks leaves no other trace.
            found |= rest
            found.add(run)
        return frozenset(found)

    def _check_and_save(self, ended: ConfinedRun | None) -> tuple[list[Quarantined], OSError | None]:
        try:
            found = self._check_in_thread()
        except TooLargeError:
            found = [self._report_unseen(_MORE_FOLDERS)]
        except (OSError, ValueError) as exc:  # unforeseen name or content: no other program may start
            found = [self._report_unseen(f"it could not be looked at: {exc}")]
        try:
            if ended is not None:
                self._save_state([ended.spared])
                self._mark.unlink(missing_ok=True)
        except OSError as exc:
            return found, exc
        return found, None

    def _check_in_thread(self) -> list[Quarantined]:
        with self._in_thread:
            last = self._rest
            self._rest = self._read_rest()
            if self._trust_if_rested(last):
                return []
            # One program's free paths are not free for another one.
            spared = [run.spared for run in self._runs] or [frozenset()]
            return self._quarantine_changes(frozenset.intersection(*spared))

    def _quarantine_changes(self, spared: frozenset[str]) -> list[Quarantined]:
        quarantined: list[Quarantined] = []
        self._is_settled = False  # until a round finds nothing more
        is_whole = True
        for _ in range(_ROUNDS):
            try:
                found, entries = self._find_control_files(self._known.entries)
            except TooLargeError:
                is_whole = False  # quarantine what was found so far all the same
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
            if kept.entries is None or (kept.has_mark and not self._mark.exists()):
                return []
            self._led = dict(kept.led)
            self._find_control_files({})
            self._tree.set_baseline()
            self._known.entries = {
                path: Entry(kind, digest, real_paths=real_paths)
                for path, (kind, digest, real_paths) in kept.entries.items()
            }
            quarantined = self._quarantine_changes(frozenset(kept.spared))
            self._save_state()
            self._mark.unlink(missing_ok=True)
        return quarantined

    def _save_state(self, spared: Sequence[frozenset[str]] = ()) -> None:
        """Save the state for the next server.

        Args:
            spared: For each running program, the paths that it may change freely.
        """
        known = self._known
        state = {
            "has_mark": True,
            "made": sorted(known.made),
            "kept": sorted(known.kept),
            "gone": sorted(known.gone),
            "entries": {path: (entry.kind, entry.digest, entry.real_paths) for path, entry in known.entries.items()},
            "led": self._led,
            "spared": sorted(frozenset().union(*spared)),
            "distrusted": sorted(self._distrusted),
        }
        text = json.dumps(state)
        if text == self._written:
            return
        waiting = self._state.with_suffix(".new")
        try:
            _write_state(waiting, text)
        except FileNotFoundError:
            self._state.parent.mkdir(parents=True, exist_ok=True)
            _write_state(waiting, text)
        waiting.replace(self._state)
        self._written = text


def _write_state(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", errors="surrogateescape")


def _create_own_task(work: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
    """Create a task outside the calling module's context, so that it continues when that module has stopped."""
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
