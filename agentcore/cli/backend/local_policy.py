"""What a host in this process says of its own policy, in the form in which a server says it."""

import os
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from agentcore.chat import ChatSettings
from agentcore.chat.session import agent_and_mode
from agentcore.errors import ToolError
from agentcore.host.host import Host
from agentcore.host.review import Question, Trial, explain, try_rule

Model = TypeVar("Model", bound=BaseModel)


async def explain_call(host: Host, question: dict[str, Any]) -> dict[str, Any]:
    """See `POST /api/approvals/explain`.

    Raises:
        ToolError: `invalid_body`, `agent_not_found`; or why the call could not run.
    """
    asked = _read(Question, question)
    settings = _settings(host)
    if asked.agent_id is not None:
        settings.agent(asked.agent_id)
    agent_id, mode = await agent_and_mode(host.store.chats, settings, asked.session_id, asked.agent_id)
    explanation = await explain(host.call_review, host.policy, asked, agent_id, asked.mode or mode)
    return explanation.model_dump(by_alias=True)


async def try_new_rule(host: Host, trial: dict[str, Any]) -> dict[str, Any]:
    """See `POST /api/approvals/try`.

    Raises:
        ToolError: `invalid_body`.
    """
    settings, chats = _settings(host), host.store.chats
    result = await try_rule(
        host.call_review,
        host.policy,
        host.store.record,
        _read(Trial, trial),
        lambda session: agent_and_mode(chats, settings, session),
    )
    return result.model_dump(by_alias=True)


def _settings(host: Host) -> ChatSettings:
    return ChatSettings.read(host.config.models, host.config.agents, os.environ)


def _read(model: type[Model], values: dict[str, Any]) -> Model:
    try:
        return model.model_validate(values)
    except ValidationError as exc:
        said = "; ".join(
            f"{'.'.join(map(str, error['loc']))}: {error['msg']}" for error in exc.errors(include_url=False)
        )
        raise ToolError("invalid_body", said) from None
