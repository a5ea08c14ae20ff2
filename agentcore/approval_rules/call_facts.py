"""What the policy looks at: one call, whose arguments are valid, and what it would touch."""

from dataclasses import dataclass
from typing import Any

from agentcore.api import CallPreview, Effect, Principal, ToolDefinition
from agentcore.api.definition import SESSION_ONLY
from agentcore.approval_rules.decisions import ApprovalMode

_CHANGES_NOTHING_OUTSIDE: frozenset[Effect] = frozenset(("read", "write"))


@dataclass(frozen=True, slots=True)
class CallFacts:
    """One call as the policy sees it.

    Args:
        arguments: What it would run with, defaults included.
        preview: What it would touch; None: the tool cannot say.
        agent_id: The agent whose call it is; empty: none's.
        mode: What becomes of calls that no rule and no grant says anything about.
        named_paths: Where the arguments of a tool without a preview lead, links followed.
        host: The host on another machine where it would run; empty: at the server.
        host_roots: The workspace folders there, as it says.
        on_behalf_of: Of a foreign machine's call: the kind of principal whose call was sent to that machine.
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
    def is_of_foreign_machine(self) -> bool:
        """True if a foreign machine makes the call, from inside one that was sent to it, and gets the result."""
        return self.principal.kind == "host"

    @property
    def effects(self) -> frozenset[Effect]:
        """What it may do."""
        return effects_of(self.definition, self.preview)

    @property
    def touches_session_only(self) -> bool:
        """Whether it touches nothing but its session's own state, or asks the person."""
        # a session is that of the chat, and not the foreign machine's own
        return self.effects == SESSION_ONLY and not self.is_of_foreign_machine

    @property
    def is_protected(self) -> bool:
        """Whether it touches what always needs a person."""
        return self.preview is not None and self.preview.is_protected

    @property
    def caution(self) -> str:
        """What a person has to know before it runs; empty: nothing."""
        return "" if self.preview is None else self.preview.caution

    @property
    def preview_failure(self) -> str:
        """Why its tool has not said what it would touch, though it should: see `CallPreview.failure`."""
        return "" if self.preview is None else self.preview.failure

    @property
    def is_previewed(self) -> bool:
        """Whether the tool itself says what the call would touch."""
        return self.preview is not None and not self.preview.failure

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths that it touches, as far as they are known."""
        return self.preview.paths if self.preview is not None and self.is_previewed else self.named_paths

    @property
    def are_paths_certain(self) -> bool:
        """Whether these are all of its paths: the tool says so, or it only reads and writes files that it was given."""
        return self.is_previewed or self.effects <= _CHANGES_NOTHING_OUTSIDE

    @property
    def command(self) -> str | None:
        """The shell command that it runs, if it runs one."""
        command = self.arguments.get("command")
        return command if isinstance(command, str) else None

    @property
    def cwd(self) -> str | None:
        """The folder that its command runs in, where that is known."""
        return None if self.preview is None else self.preview.cwd

    @property
    def urls(self) -> tuple[str, ...]:
        """The addresses that it contacts, as far as they are known."""
        if self.preview is not None and self.is_previewed:
            return self.preview.urls
        url = self.arguments.get("url")
        return (url,) if isinstance(url, str) else ()


def effects_of(definition: ToolDefinition, preview: CallPreview | None) -> frozenset[Effect]:
    """What a call may do: what its preview says of these very arguments, else what the tool may do at all."""
    exact = None if preview is None else preview.effects
    # nothing said is not nothing done
    return exact or definition.effects or frozenset(("execute",))
