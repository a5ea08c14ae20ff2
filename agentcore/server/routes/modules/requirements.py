"""Routes for what modules require on this machine, and for installing it."""

from pydantic import BaseModel

from agentcore.encoding import to_json
from agentcore.errors import ToolError
from agentcore.server.confirmation import needs_confirmation
from agentcore.server.exchange import Exchange
from agentcore.server.http.response import Answer
from agentcore.server.modules.requirement_views import RequirementAnswer, encode_requirement
from agentcore.server.route_table import ServerRoute

_MAX_AGE_SECONDS = 5.0


class RequirementList(BaseModel, defer_build=True):
    """All requirements, those of this machine first."""

    requirements: list[RequirementAnswer]


async def get_requirements(exchange: Exchange) -> Answer:
    """Send all requirements, checked within the last seconds."""
    views = await exchange.core.requirements.check_all(_MAX_AGE_SECONDS)
    return Answer(to_json({"requirements": [encode_requirement(view) for view in views]}))


async def check_requirements(exchange: Exchange) -> Answer:
    """Check all requirements now."""
    views = await exchange.core.requirements.check_all()
    return Answer(to_json({"requirements": [encode_requirement(view) for view in views]}))


async def install_requirement(exchange: Exchange) -> Answer:
    """Start an installation, or have the user approve it in the approval view."""
    requirements = exchange.core.requirements
    name = exchange.path_values["name"]
    if needs_confirmation(exchange.principal):
        change = requirements.propose_installation(name, exchange.principal)
        raise ToolError(
            "confirmation_required",
            "the user confirms this in the approval view; it is pending there, and starts once it is confirmed",
            changeId=change.change_id,
            expiresAt=change.expires_at_ms,
        )
    requirements.start_installation(name)
    return Answer(to_json(encode_requirement(requirements.find_requirement(name))))


async def cancel_installation(exchange: Exchange) -> Answer:
    """Cancel an installation that is running."""
    requirements = exchange.core.requirements
    name = exchange.path_values["name"]
    requirements.find_requirement(name)
    requirements.cancel_installation(name)
    return Answer(to_json(encode_requirement(await requirements.wait_for_installation(name))))


_BASE = "/api/requirements"

ROUTES = (
    ServerRoute(
        "GET",
        _BASE,
        get_requirements,
        "What modules need on this machine and on hosts on other machines, with its state.",
        answer=RequirementList,
    ),
    ServerRoute(
        "POST",
        f"{_BASE}/check",
        check_requirements,
        "Check all requirements now, such as after something was installed by hand.",
        action="manage_modules",
        answer=RequirementList,
    ),
    ServerRoute(
        "POST",
        f"{_BASE}/{{name}}/install",
        install_requirement,
        "Install what modules need on this machine. It changes the machine, so the user approves it in the approval "
        "view: the answer is `confirmation_required`, and the installation starts with the approval.",
        action="manage_modules",
        answer=RequirementAnswer,
    ),
    ServerRoute(
        "DELETE",
        f"{_BASE}/{{name}}/install",
        cancel_installation,
        "Cancel an installation that is running.",
        action="manage_modules",
        answer=RequirementAnswer,
    ),
)
