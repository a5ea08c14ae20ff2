"""`list_running`: what belongs to a session, from its present state and not from its history."""

from collections.abc import Mapping
from typing import Any

from agentcore.api import ToolContext, ToolResult
from agentcore_agent_tools.results import RunningAgent, RunningList, SessionArtifact, SessionResource

_ARTIFACTS = 20
_PROMPT_CHARS = 200
_TITLE_CHARS = 120


async def list_running(ctx: ToolContext) -> ToolResult[RunningList]:
    """List the resources, sub-agents and newest artifacts of the session of a call.

    Raises:
        ToolError: `no_session`.
    """
    work = await ctx.session.list_work(_ARTIFACTS)
    data: RunningList = {
        "resources": [_read_resource(each) for each in work["resources"]],
        "subAgents": [_read_agent(each) for each in work["subAgents"]],
        "artifacts": [_read_artifact(each) for each in work["artifacts"]],
    }
    lines = [
        *map(_resource_line, data["resources"]),
        *(f"sub-agent of call {each['callId']}: {each['prompt']}" for each in data["subAgents"]),
        *(
            f"artifact {each['artifactId']}: {each['name']}, {each['mime']}, {each['sizeBytes']:,} bytes"
            for each in data["artifacts"]
        ),
    ]
    # addresses and titles of pages come from the open world
    shows_pages = any("lastUrl" in each for each in data["resources"])
    return ToolResult("\n".join(lines) or "Nothing runs in this session.", data, untrusted=shows_pages)


def _read_resource(resource: Mapping[str, Any]) -> SessionResource:
    found: SessionResource = {
        "resourceId": resource["resourceId"],
        "shortId": resource["shortId"],
        "resourceType": resource["resourceType"],
        "status": resource["status"],
    }
    if resource.get("title"):
        found["title"] = _shorten(resource["title"], _TITLE_CHARS)
    if resource.get("lastUrl"):
        found["lastUrl"] = resource["lastUrl"]
    if resource.get("host"):
        found["host"] = resource["host"]
    return found


def _read_agent(agent: Mapping[str, Any]) -> RunningAgent:
    return {
        "callId": agent["callId"],
        "depth": agent["depth"],
        "prompt": _shorten(agent["prompt"], _PROMPT_CHARS),
    }


def _read_artifact(artifact: Mapping[str, Any]) -> SessionArtifact:
    return {
        "artifactId": artifact["artifactId"],
        "name": artifact["name"],
        "mime": artifact["mime"],
        "sizeBytes": artifact["sizeBytes"],
    }


def _resource_line(resource: SessionResource) -> str:
    parts = [f"{resource['shortId']}: {resource['status']}"]
    parts += [resource[key] for key in ("title", "lastUrl") if key in resource]
    if "host" in resource:
        parts.append(f"on host {resource['host']}")
    return ", ".join(parts)


def _shorten(text: str, limit_chars: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit_chars else f"{line[: limit_chars - 1]}…"
