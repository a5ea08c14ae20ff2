"""Routes for skills: listing them, and switching them on and off for an agent."""

import asyncio

from agentcore.chat.skill_list import SkillsView, describe_skills
from agentcore.config.config_errors import ConfigError
from agentcore.core.settings.display import to_json_pointer
from agentcore.encoding import to_json
from agentcore.errors import ToolError
from agentcore.server.body_models import StrictWireModel
from agentcore.server.confirmation import change_policy
from agentcore.server.exchange import Exchange
from agentcore.server.http.response import Answer
from agentcore.server.page.settings_view import not_written, settings_proposal
from agentcore.server.route_table import ServerRoute


class AgentSkillBody(StrictWireModel):
    """Whether an agent's model gets a skill."""

    is_on: bool


async def list_skills(exchange: Exchange) -> Answer:
    """Send the skills in the order of precedence."""
    found = await describe_skills(exchange.core, exchange.parts.chat.setup.settings)
    return Answer(to_json(found.to_json()))


async def change_agent(exchange: Exchange) -> Answer:
    """Switch a skill on or off for an agent, once the user confirms it."""
    body: AgentSkillBody = exchange.body
    skill = exchange.path_values["name"]
    agent_id = exchange.path_values["agent_id"]
    setup = exchange.parts.chat.setup
    found = await describe_skills(exchange.core, setup.settings)
    if skill not in {each.name for each in found.skills}:
        raise ToolError("skill_not_found", f"there is no skill {skill!r:.100}")
    try:
        plan = await setup.plan_agent_skill(agent_id, skill, is_on=body.is_on)
    except ConfigError as exc:
        raise not_written(exc) from exc

    async def apply() -> None:
        try:
            await setup.change_agent_skill(plan, agent_id, skill, is_on=body.is_on)
        except ConfigError as exc:
            raise not_written(exc) from exc

    pointer = to_json_pointer(("agents", agent_id, "system_parts"))
    proposal = await asyncio.to_thread(settings_proposal, plan, (pointer,))
    await change_policy(exchange.core.policy_changes, exchange.principal, proposal, apply)
    return Answer(to_json({"ok": True}))


ROUTES = (
    ServerRoute(
        "GET",
        "/api/skills",
        list_skills,
        "The skills that were found, with their states and problems; new and changed ones are proposed for review.",
        answer=SkillsView,
    ),
    ServerRoute(
        "PUT",
        "/api/skills/{name}/agents/{agent_id}",
        change_agent,
        "Give an agent's model a skill, or no longer; written to app.json.",
        action="change_settings",
        body=AgentSkillBody,
    ),
)
