"""Facts about a foreign machine, for users, and for modules of the server."""

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
    """Return the report for users.

    Args:
        known: Its record in the store; None: it was removed.
        told: Its last greeting; None: none since the server started.
        modules: Its served modules.
        latency_s: How long its last response took.
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
    """Return the information for modules of the server.

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
    """Return the facts for models: the host's own words, limited in length, each on one line."""
    folders = tuple(_on_one_line(each[:_FOLDER_CHARS]) for each in workspace[:_FOLDERS])
    return HostFacts(_on_one_line(platform[:_PLATFORM_CHARS]), folders)


def _on_one_line(text: str) -> str:
    """Return text of a host on one line, without characters that would make it look like something else."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)
