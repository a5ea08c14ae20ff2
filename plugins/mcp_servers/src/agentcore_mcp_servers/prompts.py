"""A server's prompts, which the user selects in the chat or in a client to send as their own message."""

from collections.abc import Awaitable, Callable
from typing import Any

import mcp_types as types

from agentcore.api import Artifacts, Effect, Text, ToolDefinition, ToolResult
from agentcore_mcp_servers.block import ServerBlock
from agentcore_mcp_servers.results import convert_block

Complete = Callable[[str, str, str, dict[str, str]], Awaitable[list[str]]]

_EXECUTE: tuple[Effect, ...] = ("execute",)
_ROLES = {"user": "", "assistant": "Assistant: "}


def create_prompt_definition(
    prompt: types.Prompt, name: str, block: ServerBlock, complete: Complete | None
) -> ToolDefinition:
    """Create the definition of a prompt; it is not offered to models."""
    arguments = prompt.arguments or []
    properties = {
        each.name: {"type": "string"} | ({"description": each.description} if each.description else {})
        for each in arguments
    }
    return ToolDefinition(
        name=name,
        description=(prompt.description or prompt.title or prompt.name).strip() or prompt.name,
        input_schema={
            "type": "object",
            "properties": properties,
            "required": [each.name for each in arguments if each.required],
            "additionalProperties": False,
        },
        effects=frozenset(block.find_effects(prompt.name) or _EXECUTE),
        timeout_s=block.agentcore.timeout_s,
        served_as="prompt",
        complete=complete if arguments else None,
    )


async def convert_prompt_result(result: types.GetPromptResult, artifacts: Artifacts) -> ToolResult:
    """Convert a prompt to a tool result; messages of the assistant are marked as such.

    Args:
        result: The server's result.
        artifacts: Stores content other than text, images and audio.
    Raises:
        ToolError: `invalid_result`, `result_too_large`.
    """
    content: list[Any] = []
    for message in result.messages:
        block = await convert_block(message.content, artifacts)
        role = _ROLES[message.role]
        content.append(Text(f"{role}{block.text}") if isinstance(block, Text) else block)
    return ToolResult(content, untrusted=True)
