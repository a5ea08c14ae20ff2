"""What modules need on this machine: its state, and its installation once the user has approved it."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import Literal

import structlog

from agentcore.api import Background, Principal
from agentcore.api.requirement import LocalizedText, RequirementInfo, RequirementStatus
from agentcore.core.approvals.policy_changes import PolicyChange, PolicyChanges, Proposal
from agentcore.core.declarations.module_requirement import ModuleRequirement
from agentcore.core.events import Event, EventBus
from agentcore.core.modules.module_record import ModuleRecord
from agentcore.core.modules.tool_registry import ToolRegistry
from agentcore.errors import ToolError
from agentcore.late_dataclasses import dataclass
from agentcore.store.record.call_row import make_notice_row
from agentcore.store.record.record import Record
from agentcore.store.state.private_file import read_private_file, write_private_file
from agentcore.store.state.state_dir import StateDir

log = structlog.get_logger(__name__)

RequirementState = Literal["met", "missing", "installing", "unknown"]

_MEGABYTE = 1_000_000
_DECLINED_FILE = "declined-requirements.json"
_DECLINED_BYTES = 64 * 1024
_DECLARING = frozenset(("ready", "loading", "failed"))
_PROGRESS_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class RequirementView:
    """A requirement as it is shown.

    Args:
        info: Its description, as the first module that declares it gives it.
        host: The foreign machine that it concerns; empty: this machine.
        modules: The modules that declare it.
        text: What was found, or what is missing.
        progress: The current step of its installation; None: it is not being installed.
        fraction: Completed part of the installation; None if unknown.
        error: Why the last installation failed; empty: it did not.
        is_declined: True if the user declined to install it.
        change_id: The decision about installing it that is pending in the approval view; empty: there is none.
    """

    info: RequirementInfo
    host: str
    modules: tuple[str, ...]
    state: RequirementState
    text: LocalizedText = ""
    progress: LocalizedText | None = None
    fraction: float | None = None
    error: str = ""
    is_declined: bool = False
    change_id: str = ""

    @property
    def is_installable(self) -> bool:
        """True if it can be installed from here: never on a foreign machine."""
        return self.info.is_installable and not self.host


@dataclass(slots=True)
class _Installation:
    task: "asyncio.Task[None] | None" = None
    progress: LocalizedText = ""
    fraction: float | None = None
    published_at: float = 0.0


class Requirements:
    """Lists, checks and installs what modules declare with `declare_requirement`.

    Requirements of the same name on this machine are one, whichever modules declare them, in the server's process or in
    a process host. Those of foreign machines are only shown.

    Args:
        registry: The modules, with what they declare.
        changes: Where the user decides on installations.
        state: Remembers what the user declined.
        locale: The language of decisions and console lines.
        start_again: Starts failed modules again, by name, once what they need is there.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        *,
        changes: PolicyChanges,
        events: EventBus,
        record: Record,
        state: StateDir,
        locale: str,
        start_again: Callable[[Iterable[str]], Awaitable[object]],
    ) -> None:
        self._registry = registry
        self._start_again = start_again
        self._changes = changes
        self._events = events
        self._record = record
        self._declined_path = state.path / _DECLINED_FILE
        self._locale = locale
        self._statuses: dict[tuple[str, str], RequirementStatus] = {}
        self._installations: dict[str, _Installation] = {}
        self._errors: dict[str, str] = {}
        self._proposed: dict[str, str] = {}
        self._declined = _read_declined(read_private_file(self._declined_path, _DECLINED_BYTES))
        self._checking = asyncio.Lock()
        self._checked_at = float("-inf")
        self._background = Background("requirements")
        events.subscribe("requirement.declared", self._on_declared)

    # -- state -------------------------------------------------------------------------------------------------

    def list_requirements(self) -> list[RequirementView]:
        """All requirements with the state that was found last, those of this machine first."""
        declared = self._list_declared()
        pending = {change.change_id for change in self._changes.waiting}
        return [self._build_view(host, name, records, pending) for (host, name), records in declared.items()]

    def list_missing(self) -> list[RequirementView]:
        """The requirements of this machine that are not met and not being installed."""
        return [view for view in self.list_requirements() if view.state == "missing" and not view.host]

    async def check_all(self, max_age_s: float = 0.0) -> list[RequirementView]:
        """Check all requirements, unless that was done within the last `max_age_s` seconds."""
        async with self._checking:
            if time.monotonic() - self._checked_at >= max_age_s:
                declared = self._list_declared()
                found = await asyncio.gather(
                    *(_check_requirement(name, records) for (_, name), records in declared.items())
                )
                for key, status in zip(declared, found, strict=True):
                    self._set_status(key, status)
                self._checked_at = time.monotonic()
        return self.list_requirements()

    def find_requirement(self, name: str) -> RequirementView:
        """The requirement of this machine.

        Raises:
            ToolError: `requirement_not_found`.
        """
        for view in self.list_requirements():
            if view.info.name == name and not view.host:
                return view
        names = sorted({view.info.name for view in self.list_requirements() if not view.host})
        message = f"no module of this machine declares a requirement {name!r}; declared are {names}"
        raise ToolError("requirement_not_found", message, requirements=names)

    # -- installing --------------------------------------------------------------------------------------------

    def start_installation(self, name: str) -> None:
        """Start an installation that the user has approved; one that is running already is left to run.

        Raises:
            ToolError: `requirement_not_found`; `requirement_not_installable`: only the user can install it.
        """
        view = self.find_requirement(name)
        if not view.is_installable:
            message = f"{name!r} cannot be installed by agentcore here; run: {view.info.command}"
            raise ToolError("requirement_not_installable", message, command=view.info.command)
        if name in self._installations or view.state == "met":
            return
        self._errors.pop(name, None)
        installation = self._installations[name] = _Installation()
        installation.task = self._background.start(self._run_installation(name, installation))
        self._publish_change(name)

    async def wait_for_installation(self, name: str) -> RequirementView:
        """Wait for the end of an installation, if one is running; returns the state afterwards."""
        installation = self._installations.get(name)
        if installation is not None and installation.task is not None:
            await asyncio.wait({installation.task})
        return self.find_requirement(name)

    def cancel_installation(self, name: str) -> None:
        """Cancel an installation; one that is not running is ignored."""
        installation = self._installations.get(name)
        if installation is not None and installation.task is not None:
            installation.task.cancel()

    def cancel_all(self) -> int:
        """Cancel all installations; returns how many there were."""
        names = list(self._installations)
        for name in names:
            self.cancel_installation(name)
        return len(names)

    async def stop(self) -> None:
        """Cancel all installations and checks, and wait for their end."""
        await self._background.stop()

    # -- decisions of the user ---------------------------------------------------------------------------------

    def propose_installation(self, name: str, by: Principal) -> PolicyChange:
        """Have the user decide on an installation in the approval view, once for all who ask for it.

        Raises:
            ToolError: `requirement_not_found`, `requirement_not_installable`, `too_many_waiting`.
        """
        view = self.find_requirement(name)
        if not view.is_installable:
            message = f"{name!r} cannot be installed by agentcore here; run: {view.info.command}"
            raise ToolError("requirement_not_installable", message, command=view.info.command)
        for change in self._changes.waiting:
            if change.change_id == self._proposed.get(name):
                return change
        info = view.info
        title = in_language(info.title, self._locale)
        proposal = Proposal("install", title, (), ((title, describe_installation(info, self._locale)),), lasts=True)
        change = self._changes.propose_change(
            proposal, by, partial(self._approve_installation, name), partial(self._decline_installation, name)
        )
        self._proposed[name] = change.change_id
        self._publish_change(name)
        return change

    def explain_error(self, record: ModuleRecord, error: ToolError, by: Principal) -> None:
        """Complete the error of a call that failed because of a missing requirement, and offer the installation to the
        user.

        Args:
            record: The module that raised it; the requirement is one of its own.
            error: With the name of the requirement as `requirement` in its context; any other is not changed.
            by: Who made the call.
        """
        name = error.context.get("requirement")
        if not isinstance(name, str) or name not in record.requirements:
            return
        info = record.requirements[name].info
        state, text = self._offer_installation(name, info, record.host, by)
        end = "" if error.message.endswith((".", "!", "?")) else "."
        error.message = f"{error.message}{end} {text}"
        error.context = {**error.context, "installation": state, "command": info.command}
        error.retryable = state in ("pending", "installing")

    def _offer_installation(self, name: str, info: RequirementInfo, host: str, by: Principal) -> tuple[str, str]:
        title = in_language(info.title, "en")
        if host:
            return "elsewhere", f"It is missing on host {host!r}, where its user can run: {info.command}"
        self._set_status(("", name), RequirementStatus(False, self._missing_text(name)))
        if name in self._installations:
            return "installing", f"{title} is being installed now; call the tool again when that is done."
        if name in self._declined:
            return "declined", (
                "The user declined to install it: work without it, and do not ask again. They can still install it "
                f"in the page, or with: {info.command}"
            )
        if info.is_installable:
            with suppress(ToolError):  # too many decisions are pending
                self.propose_installation(name, by)
                size = f", about {download_megabytes(info)} MB" if info.download_bytes else ""
                return "pending", (
                    f"The user is now asked, in the approval view, to install it ({title}{size}). Report that to them "
                    "and end your turn, or continue without it; the tool works as soon as it is installed."
                )
        return "manual", f"The user can install it with: {info.command}"

    async def _approve_installation(self, name: str) -> None:
        self._proposed.pop(name, None)
        await self._store_declined(self._declined - {name})
        self.start_installation(name)

    async def _decline_installation(self, name: str) -> None:
        self._proposed.pop(name, None)
        await self._store_declined(self._declined | {name})
        self._publish_change(name)

    async def _store_declined(self, names: frozenset[str]) -> None:
        if names != self._declined:
            self._declined = names
            await asyncio.to_thread(write_private_file, self._declined_path, json.dumps(sorted(names)).encode())

    # -- inside ------------------------------------------------------------------------------------------------

    def _list_declared(self) -> dict[tuple[str, str], list[ModuleRecord]]:
        """Return the modules that declare each requirement, by host and name."""
        found: dict[tuple[str, str], list[ModuleRecord]] = {}
        for record in (*self._registry.records.values(), *self._registry.hosted.values()):
            if record.state in _DECLARING:
                for name in record.requirements:
                    found.setdefault((record.host, name), []).append(record)
        return found

    def _build_view(self, host: str, name: str, records: list[ModuleRecord], pending: Iterable[str]) -> RequirementView:
        status = self._statuses.get((host, name))
        installation = None if host else self._installations.get(name)
        state: RequirementState = "unknown" if status is None else "met" if status.is_met else "missing"
        change_id = "" if host else self._proposed.get(name, "")
        return RequirementView(
            info=records[0].requirements[name].info,
            host=host,
            modules=tuple(record.name for record in records),
            state=state if installation is None else "installing",
            text="" if status is None else status.text,
            progress=None if installation is None else installation.progress,
            fraction=None if installation is None else installation.fraction,
            error="" if host else self._errors.get(name, ""),
            is_declined=not host and name in self._declined,
            change_id=change_id if change_id in pending else "",
        )

    async def _run_installation(self, name: str, installation: _Installation) -> None:
        outcome = "requirement_failed"
        reason = "cancelled"
        try:
            await self._install_where_missing(name, installation)
            outcome = "requirement_installed"
            reason = ""
            await self._check_one(name)
            await self._start_failed(name)
        except ToolError as exc:
            reason = self._errors[name] = exc.message
        finally:
            self._record.append(make_notice_row(outcome, requirement=name, reason=reason))
            log.info("requirement_settled", requirement=name, outcome=outcome, reason=reason)
            del self._installations[name]
            self._publish_change(name)

    async def _install_where_missing(self, name: str, installation: _Installation) -> None:
        """Install through the first module that misses it; the others find it afterwards.

        Raises:
            ToolError: It failed, or what was installed is not found.
        """
        missing = await self._first_missing(name)
        if missing is None:
            return
        await missing[0].install(partial(self._set_progress, name, installation))
        missing = await self._first_missing(name)
        if missing is not None:
            text = in_language(missing[1].text, self._locale)
            raise ToolError("install_failed", f"it was installed, and still does not work: {text}", requirement=name)

    async def _first_missing(self, name: str) -> tuple[ModuleRequirement, RequirementStatus] | None:
        for record in self._list_declared().get(("", name), ()):
            requirement = record.requirements[name]
            status = await requirement.check()
            if not status.is_met:
                self._set_status(("", name), status)
                return requirement, status
        return None

    async def _start_failed(self, name: str) -> None:
        """Start modules again that failed and declare what is there now."""
        failed = [each.name for each in self._list_declared().get(("", name), ()) if each.state == "failed"]
        if failed:
            await self._start_again(failed)

    async def _check_one(self, name: str) -> None:
        records = self._list_declared().get(("", name))
        if records:
            self._set_status(("", name), await _check_requirement(name, records))

    def _set_status(self, key: tuple[str, str], status: RequirementStatus) -> None:
        before = self._statuses.get(key)
        self._statuses[key] = status
        host, name = key
        if status.is_met and not host:
            self._errors.pop(name, None)
            if (change_id := self._proposed.pop(name, "")) != "":
                self._changes.withdraw_change(change_id)
        if before != status:
            self._publish_change(name, host)

    def _set_progress(
        self, name: str, installation: _Installation, text: LocalizedText, fraction: float | None
    ) -> None:
        is_other_step = (fraction is None) != (installation.fraction is None)
        installation.progress = text
        installation.fraction = fraction
        now = time.monotonic()
        if is_other_step or fraction == 1.0 or now - installation.published_at >= _PROGRESS_SECONDS:
            installation.published_at = now
            self._events.publish("requirement.progress", {"name": name, "text": text, "fraction": fraction})

    def _publish_change(self, name: str, host: str = "") -> None:
        for view in self.list_requirements():
            if view.info.name == name and view.host == host:
                self._events.publish("requirement.changed", {"name": name, "host": host, "state": view.state})

    def _missing_text(self, name: str) -> LocalizedText:
        status = self._statuses.get(("", name))
        return "" if status is None or status.is_met else status.text

    def _on_declared(self, event: Event) -> None:
        self._checked_at = float("-inf")


async def _check_requirement(name: str, records: list[ModuleRecord]) -> RequirementStatus:
    """Met if it is met for all modules that declare it; otherwise the first reason why not."""
    found = await asyncio.gather(*(record.requirements[name].check() for record in records))
    return next((status for status in found if not status.is_met), found[0])


def _read_declined(data: bytes | None) -> frozenset[str]:
    try:
        names = json.loads(data or b"[]")
    except ValueError:  # cut off by a power failure: the user is asked once more
        return frozenset()
    return frozenset(name for name in names if isinstance(name, str)) if isinstance(names, list) else frozenset()


def in_language(text: LocalizedText, locale: str) -> str:
    """The text in a language; the English one, or any, where it has none in that."""
    if isinstance(text, str):
        return text
    return text.get(locale) or text.get("en") or next(iter(text.values()))


def download_megabytes(info: RequirementInfo) -> int:
    """The approximate size of the download in MB, at least 1."""
    return max(1, round(info.download_bytes / _MEGABYTE))


_LINES = {
    "en": {
        "size": "Download: about {size} MB",
        "command": "In a terminal: {command}",
    },
    "zh": {
        "size": "下载大小：约 {size} MB",
        "command": "在终端中：{command}",
    },
}


def describe_installation(info: RequirementInfo, locale: str) -> str:
    """Return the text that the user reads before approving an installation: purpose, actions, size, command."""
    texts = _LINES[locale]
    lines = [in_language(info.purpose, locale), in_language(info.installs, locale)]
    if info.download_bytes:
        lines.append(texts["size"].format(size=download_megabytes(info)))
    lines.append(texts["command"].format(command=info.command))
    return "\n".join(line for line in lines if line)
