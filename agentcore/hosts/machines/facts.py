"""What is known of a host on another machine, for people, and for modules of the server."""

from collections.abc import Sequence
from typing import cast

from agentcore.api import HostInfo
from agentcore.api.hosts import HostState
from agentcore.core.modules.places import HostReport
from agentcore.core.modules.tool_registry import HostFacts
from agentcore.hosts.places.answers import Hello
from agentcore.hosts.places.standing import HostStatus
from agentcore.store.credentials.host_keys import KnownHost

_PLATFORM_CHARS = 100
_FOLDERS = 20
_FOLDER_CHARS = 500


def report_of(
    standing: HostStatus,
    known: KnownHost | None,
    told: Hello | None,
    modules: Sequence[str],
    *,
    address: str,
    latency_s: float | None,
) -> HostReport:
    """What people see of it.

    Args:
        known: What the store knows; None: it was forgotten.
        told: How it greeted last; None: it has not, since the server started.
        modules: Those that are served of it.
        latency_s: How long its last answer took.
    """
    return standing.build_report(
        kind="remote",
        modules=tuple(modules),
        version=known.version if known else "",
        latency_ms=None if latency_s is None else round(latency_s * 1000, 1),
        address=address,
        platform=known.platform if known else "",
        workspace=() if told is None else tuple(told.workspace),
        paired_at_ms=known.paired_at_ms if known else None,
        may_use_chats=known is not None and known.may_use_chats,
        last_seen_ms=(known.last_seen_ms or None) if known else None,
        failed={} if told is None else {each.name: each.reason for each in told.failed},
    )


def info_of(
    name: str, standing: HostStatus, known: KnownHost | None, told: Hello | None, ready: Sequence[str]
) -> HostInfo:
    """What modules of the server know of it.

    Args:
        ready: The modules that are ready there.
    """
    return HostInfo(
        name,
        cast("HostState", standing.state),
        _on_one_line(known.platform if known else ""),
        facts_of("", () if told is None else told.workspace).folders,
        tuple(sorted(ready)),
    )


def facts_of(platform: str, workspace: Sequence[str] = ()) -> HostFacts:
    """Return the facts that models are told: the host's own words, limited in length, each on one line."""
    folders = tuple(_on_one_line(each[:_FOLDER_CHARS]) for each in workspace[:_FOLDERS])
    return HostFacts(_on_one_line(platform[:_PLATFORM_CHARS]), folders)


def _on_one_line(text: str) -> str:
    """What a host says of itself, without characters that would make it look like something else."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)
