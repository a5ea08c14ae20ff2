"""The current report of a module and the user's decisions on its tools, as the page shows them."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from agentcore.api import LoginState, ToolDefinition
from agentcore.core.approvals.definition_review import DefinitionReview, definition_fingerprint
from agentcore.core.declarations.module_login import ModuleLogin
from agentcore.core.declarations.module_report import read_report
from agentcore.core.modules.module_record import ModuleRecord
from agentcore.encoding import to_json

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


class LoginView(BaseModel, defer_build=True):
    """How the log-in stands that the module needs."""

    state: LoginState
    said: Annotated[str, Field(description="Why the last try gave nothing, or where one is logged in; or empty.")]
    address: Annotated[str, Field(description="While it is waited for: what is to be opened in the browser; or empty.")]


class ReportView(BaseModel, defer_build=True):
    """How a module is just now."""

    facts: Annotated[dict[str, str], Field(description="What there is to know of what it speaks to.")]
    log: Annotated[str, Field(description="The end of what that has written.")]
    tools: list[OfferedTool]
    login: Annotated[LoginView | None, Field(description="Null where there is nothing to log in to.")]


async def show_report(record: ModuleRecord, review: DefinitionReview) -> bytes:
    """Return a module's report as JSON text.

    Raises:
        ToolError: `report_failed`, `login_failed`.
    """
    report = await read_report(record.report, record.name)
    definitions = [tool.definition for tool in (*record.tools, *record.withheld)]
    tools = [
        OfferedTool(
            name=each.name,
            originalName=report.original_names.get(each.name, ""),
            state=_review_state(review, record, each),
            fingerprint=definition_fingerprint(each)[:_FINGERPRINT_CHARS],
        )
        for each in sorted(definitions, key=lambda each: each.name)
    ]
    login = None if record.login is None else show_login(record.login)
    return to_json(ReportView(facts=dict(report.facts), log=report.log, tools=tools, login=login).model_dump())


def show_login(login: ModuleLogin) -> LoginView:
    """Return the state of a log-in.

    Raises:
        ToolError: `login_failed`.
    """
    status = login.status()
    return LoginView(state=status.state, said=status.said, address=status.address)


def _review_state(
    review: DefinitionReview, record: ModuleRecord, definition: ToolDefinition
) -> Literal["accepted", "refused", "waiting", ""]:
    if not record.manifest.definitions_need_review:
        return ""
    return review.get_review_status(record.name, definition)
