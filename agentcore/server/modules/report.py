"""How a module is just now, and what a person has said of what it offers, as the page shows it."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from agentcore.api import ToolDefinition
from agentcore.encoding import to_json
from agentcore.host import Host
from agentcore.host.approvals import fingerprint
from agentcore.host.containment import read_report
from agentcore.host.modules import ModuleRecord

_FINGERPRINT_CHARS = 12


class OfferedTool(BaseModel, defer_build=True):
    """A tool that the module offers."""

    name: str
    originalName: Annotated[str, Field(description="Where it is called something else there; or empty.")]  # noqa: N815
    state: Annotated[
        Literal["accepted", "refused", "waiting", ""],
        Field(description="What a person has said of it as it is now; empty: they are not asked about this module's."),
    ]
    fingerprint: Annotated[str, Field(description="Another one whenever its definition is another.")]


class ReportView(BaseModel, defer_build=True):
    """How a module is just now."""

    facts: Annotated[dict[str, str], Field(description="What there is to know of what it speaks to.")]
    log: Annotated[str, Field(description="The end of what that has written.")]
    tools: list[OfferedTool]


async def show_report(host: Host, name: str) -> bytes:
    """A module's report, as JSON text.

    Raises:
        ToolError: `module_not_found`, `report_failed`.
    """
    record = host.modules.get(name)
    report = await read_report(record.report, name)
    definitions = [tool.definition for tool in (*record.tools, *record.withheld)]
    tools = [
        OfferedTool(
            name=each.name,
            originalName=report.original_names.get(each.name, ""),
            state=_state(host, record, each),
            fingerprint=fingerprint(each)[:_FINGERPRINT_CHARS],
        )
        for each in sorted(definitions, key=lambda each: each.name)
    ]
    return to_json(ReportView(facts=dict(report.facts), log=report.log, tools=tools).model_dump())


def _state(
    host: Host, record: ModuleRecord, definition: ToolDefinition
) -> Literal["accepted", "refused", "waiting", ""]:
    if not record.manifest.definitions_need_review:
        return ""
    return host.definition_review.verdict(record.name, definition)
