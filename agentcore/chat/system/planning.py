"""Makes the plan of a session's system message, at the beginning of a turn."""

from agentcore.chat.system.parts import SystemChoice, SystemPlan
from agentcore.chat.system.sources import read_sources
from agentcore.core import Core
from agentcore.store.chat import ChatSessionRow


async def plan_system(core: Core, session: ChatSessionRow) -> SystemPlan:
    """What the system message of a session is made of now: read once for a turn, so that its requests begin alike."""
    return SystemPlan(await read_sources(core), SystemChoice.from_json_text(session.system), core.config.locale)
