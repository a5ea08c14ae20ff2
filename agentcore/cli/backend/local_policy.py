"""What a host in this process says of its own policy, in the form in which a server says it."""

import os
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from agentcore import chat
from agentcore.core.core import Core
from agentcore.core.review import Question, Trial
from agentcore.errors import ToolError

Model = TypeVar("Model", bound=BaseModel)


async def explain_call(core: Core, question: dict[str, Any]) -> dict[str, Any]:
    """See `POST /api/approvals/explain`.

    Raises:
        ToolError: `invalid_body`, `agent_not_found`; or why the call could not run.
    """
    return await chat.explain_call(core, _chat_settings(core), _parse_body(Question, question))


async def try_new_rule(core: Core, trial: dict[str, Any]) -> dict[str, Any]:
    """See `POST /api/approvals/try`.

    Raises:
        ToolError: `invalid_body`.
    """
    return await chat.try_new_rule(core, _chat_settings(core), _parse_body(Trial, trial))


def _chat_settings(core: Core) -> chat.ChatSettings:
    return chat.ChatSettings.from_config(core.config.models, core.config.agents, os.environ)


def _parse_body(model: type[Model], values: dict[str, Any]) -> Model:
    try:
        return model.model_validate(values)
    except ValidationError as exc:
        said = "; ".join(
            f"{'.'.join(map(str, error['loc']))}: {error['msg']}" for error in exc.errors(include_url=False)
        )
        raise ToolError("invalid_body", said) from None
