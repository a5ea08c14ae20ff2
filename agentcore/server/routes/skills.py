"""Routes for skills."""

from agentcore.chat import SkillsView, describe_skills
from agentcore.encoding import to_json
from agentcore.server.exchange import Exchange
from agentcore.server.http.response import Answer
from agentcore.server.route_table import ServerRoute


async def list_skills(exchange: Exchange) -> Answer:
    """Send the skills in the order of precedence."""
    found = await describe_skills(exchange.core, exchange.parts.chat.setup.settings)
    return Answer(to_json(found.to_json()))


ROUTES = (
    ServerRoute(
        "GET",
        "/api/skills",
        list_skills,
        "The skills that were found, with their states and problems; new and changed ones are proposed for review.",
        answer=SkillsView,
    ),
)
