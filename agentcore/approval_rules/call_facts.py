"""Input of the approval policy: one call with valid arguments, and what it would touch."""

from typing import Any

from agentcore.api import CallPreview, Effect, Principal, ToolDefinition
from agentcore.api.definition import SESSION_ONLY
from agentcore.approval_rules.decisions import ApprovalMode
from agentcore.late_dataclasses import dataclass

_CHANGES_NOTHING_OUTSIDE: frozenset[Effect] = frozenset(("read", "write"))


@dataclass(frozen=True, slots=True)
class CallFacts:
    """One call as seen by the policy.

    Args:
        arguments: Its arguments, including defaults.
        preview: What it would touch; None: the tool has no preview.
        agent_id: The agent that makes the call; empty: none.
        mode: The mode for calls that no rule or grant matches.
        named_paths: Paths in the arguments of a tool without a preview, with links followed.
        host: The host on another machine where it would run; empty: the server.
        host_roots: The workspace folders that this host reports.
        on_behalf_of: For a call of a foreign machine: the kind of principal whose call was sent to that machine.
    """

    principal: Principal
    definition: ToolDefinition
    arguments: dict[str, Any]
    preview: CallPreview | None
    session_id: str = ""
    agent_id: str = ""
    mode: ApprovalMode = "ask"
    named_paths: tuple[str, ...] = ()
    host: str = ""
    host_roots: tuple[str, ...] = ()
    on_behalf_of: str = ""

    @property
    def is_from_other_machine(self) -> bool:
        """True if a foreign machine makes the call, from inside one that was sent to it, and gets the result."""
        return self.principal.kind == "host"

    @property
    def effects(self) -> frozenset[Effect]:
        """Effects that the call may have."""
        return effects_of(self.definition, self.preview)

    @property
    def touches_session_only(self) -> bool:
        """True if it only touches its session's own state, or asks the user."""
        # the session is that of the chat, not the foreign machine's own
        return self.effects == SESSION_ONLY and not self.is_from_other_machine

    @property
    def is_protected(self) -> bool:
        """True if it touches something that always needs approval."""
        return self.preview is not None and self.preview.is_protected

    @property
    def caution(self) -> str:
        """A warning that the user must see before the call runs; empty: none."""
        return "" if self.preview is None else self.preview.caution

    @property
    def preview_failure(self) -> str:
        """Why the tool did not provide a preview although it should: see `CallPreview.failure`."""
        return "" if self.preview is None else self.preview.failure

    @property
    def is_previewed(self) -> bool:
        """True if the tool itself reports what the call would touch."""
        return self.preview is not None and not self.preview.failure

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths that it touches, as far as known."""
        return self.preview.paths if self.preview is not None and self.is_previewed else self.named_paths

    @property
    def are_paths_certain(self) -> bool:
        """True if `paths` is complete: reported by the tool, or it only reads and writes the files it was given."""
        return self.is_previewed or self.effects <= _CHANGES_NOTHING_OUTSIDE

    @property
    def command(self) -> str | None:
        """The shell command that it runs, or None."""
        command = self.arguments.get("command")
        return command if isinstance(command, str) else None

    @property
    def cwd(self) -> str | None:
        """The folder that its command runs in, or None if unknown."""
        return None if self.preview is None else self.preview.cwd

    @property
    def urls(self) -> tuple[str, ...]:
        """The addresses that it contacts, as far as known."""
        if self.preview is not None and self.is_previewed:
            return self.preview.urls
        url = self.arguments.get("url")
        return (url,) if isinstance(url, str) else ()


def effects_of(definition: ToolDefinition, preview: CallPreview | None) -> frozenset[Effect]:
    """Return the effects of a call: those of the preview for these arguments, else those that the tool declares."""
    exact = None if preview is None else preview.effects
    # no declared effects do not mean no effects
    return exact or definition.effects or frozenset(("execute",))
