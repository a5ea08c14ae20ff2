"""Policy requests to a core in this process, answered in the same form as by a server."""

import os
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from agentcore.chat import policy
from agentcore.chat.settings import ChatSettings
from agentcore.core.core import Core
from agentcore.core.dry_run.explanation import Question
from agentcore.core.dry_run.rule_trial import Trial
from agentcore.errors import ToolError

Model = TypeVar("Model", bound=BaseModel)


async def explain_call(core: Core, question: dict[str, Any]) -> dict[str, Any]:
    """Explain the policy decision on a call, as in `POST /api/approvals/explain`.

    Raises:
        ToolError: `invalid_body`, `agent_not_found`, or the reason why the call could not run.
    """
    return await policy.explain_call(core, _chat_settings(core), _parse_body(Question, question))


async def try_new_rule(core: Core, trial: dict[str, Any]) -> dict[str, Any]:
    """Return what a rule would change, as in `POST /api/approvals/try`.

    Raises:
        ToolError: `invalid_body`.
    """
    return await policy.try_new_rule(core, _chat_settings(core), _parse_body(Trial, trial))


def _chat_settings(core: Core) -> ChatSettings:
    return ChatSettings.from_config(core.config.models, core.config.agents, os.environ)


def _parse_body(model: type[Model], values: dict[str, Any]) -> Model:
    try:
        return model.model_validate(values)
    except ValidationError as exc:
        message = "; ".join(
            f"{'.'.join(map(str, error['loc']))}: {error['msg']}" for error in exc.errors(include_url=False)
        )
        raise ToolError("invalid_body", message) from None
