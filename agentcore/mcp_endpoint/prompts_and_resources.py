"""Prompts and resources of modules for clients; a resource is read by a call."""

import fnmatch
import glob
import re
from collections.abc import Awaitable, Callable, Iterator
from functools import lru_cache
from typing import Any

import mcp_types as types

from agentcore.api import ArtifactLink, EmbeddedResource, Image, ReadableResource, Text, ToolDefinition
from agentcore.core.calls.call import CallOutcome
from agentcore.core.dry_run.completing import Completed
from agentcore.core.modules.module_record import RegisteredTool
from agentcore.core.modules.tool_registry import ToolRegistry
from agentcore.errors import ToolError
from agentcore.limits import RESOURCE_URI_CHARS
from agentcore.mcp_endpoint.caller import Caller
from agentcore.near_names import near_names, unknown_name

_PROMPT = "prompt"
_FOR_VIEWS = "view"
_NO_ADDRESS = (None, _PROMPT, _FOR_VIEWS)
_VARIABLE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_EXPRESSION = re.compile(r"\{[^{}]*\}")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")

_Tool = RegisteredTool | None


class Served:
    """The prompts and resources of modules for clients.

    Args:
        registry: All tools, including those that are served as something else.
    """

    def __init__(self, registry: ToolRegistry) -> None:
        self._registry = registry

    def snapshot_lists(self) -> dict[str, list[ToolDefinition]]:
        """Return what the lists of prompts and of resources are made from, to notice when one has changed."""
        lists: dict[str, list[ToolDefinition]] = {"prompts": [], "resources": []}
        for tool in self._registry.tools.values():
            served_as = tool.definition.served_as
            if served_as == _PROMPT:
                lists["prompts"].append(tool.definition)
            elif served_as not in _NO_ADDRESS or tool.definition.reads:
                lists["resources"].append(tool.definition)
        return lists

    def list_prompts(self, caller: Caller) -> list[types.Prompt]:
        """Return the prompts that a client may use."""
        return [_describe_prompt(tool) for tool in self._iterate_prompts(caller)]

    def get_prompt(self, caller: Caller, name: str) -> RegisteredTool:
        """Return the tool that creates a prompt.

        Raises:
            ToolError: `unknown_prompt`.
        """
        known = {tool.definition.name: tool for tool in self._iterate_prompts(caller)}
        if name not in known:
            near = near_names(name, known)
            raise ToolError("unknown_prompt", unknown_name("prompt", name, near), prompt=name, near=near)
        return known[name]

    def list_resources(self, caller: Caller) -> list[types.Resource]:
        """Return the resources with a fixed address; of several with the same one, the first."""
        listed = [
            types.Resource(uri=uri, name=tool.definition.name, description=tool.definition.description)
            for uri, tool in self._iterate_resources(caller)
            if not _VARIABLE.search(uri)
        ]
        listed += [
            types.Resource(
                uri=each.uri,
                name=each.name,
                description=each.description or None,
                mime_type=each.mime,
                size=each.size_bytes,
            )
            for each, _ in self._iterate_readable(caller)
            if not each.is_template
        ]
        return list({str(each.uri): each for each in reversed(listed)}.values())[::-1]

    def list_templates(self, caller: Caller) -> list[types.ResourceTemplate]:
        """Return the resources whose address contains arguments; of several with the same one, the first."""
        listed = [
            types.ResourceTemplate(uri_template=uri, name=tool.definition.name, description=tool.definition.description)
            for uri, tool in self._iterate_resources(caller)
            if _VARIABLE.search(uri)
        ]
        listed += [
            types.ResourceTemplate(
                uri_template=each.uri, name=each.name, description=each.description or None, mime_type=each.mime
            )
            for each, _ in self._iterate_readable(caller)
            if each.is_template
        ]
        return list({each.uri_template: each for each in reversed(listed)}.values())[::-1]

    def find_resource(self, caller: Caller, uri: str) -> tuple[RegisteredTool, dict[str, Any]] | None:
        """Return the tool that reads an address, and its arguments; None if no module serves it.

        An address of a module's own comes before one that a tool lists, and that before one that fits a template.
        """
        for template, tool in self._iterate_resources(caller):
            if (found := _compile_pattern(template).fullmatch(uri)) is not None:
                return tool, dict(found.groupdict())
        reader = self._find_reader(caller, uri)
        return None if reader is None else (reader, {"uri": uri})

    def is_watchable(self, caller: Caller, uri: str) -> bool:
        """True if the module that serves an address reports changes of it."""
        found = self.find_resource(caller, uri)
        return found is not None and found[0].definition.served_as is not None

    def _find_reader(self, caller: Caller, uri: str) -> _Tool:
        if len(uri) > RESOURCE_URI_CHARS:
            return None
        readable = list(self._iterate_readable(caller))
        listed = (tool for each, tool in readable if not each.is_template and each.uri == uri)
        fitting = (tool for each, tool in readable if each.is_template and _fits_template(each.uri, uri))
        return next(listed, None) or next(fitting, None)

    def module_of(self, uri: str) -> str | None:
        """Return the module that serves an address, to any client; None if there is none."""
        for tool in self._registry.tools.values():
            template = tool.definition.served_as
            if template not in _NO_ADDRESS and _compile_pattern(str(template)).fullmatch(uri):
                return tool.module.name
        return None

    def find_completed_tool(
        self, caller: Caller, ref: types.PromptReference | types.ResourceTemplateReference
    ) -> _Tool:
        """Return the tool whose arguments a reference means; None if this client has none."""
        if isinstance(ref, types.PromptReference):
            return next((tool for tool in self._iterate_prompts(caller) if tool.definition.name == ref.name), None)
        return next((tool for uri, tool in self._iterate_resources(caller) if uri == str(ref.uri)), None)

    def _iterate_prompts(self, caller: Caller) -> Iterator[RegisteredTool]:
        return (tool for tool in self._iterate_tools(caller) if tool.definition.served_as == _PROMPT)

    def _iterate_tools(self, caller: Caller) -> Iterator[RegisteredTool]:
        for name, tool in self._registry.tools.items():
            if tool.definition.served_as not in (None, _FOR_VIEWS) and caller.may_use_tool(name):
                yield tool

    def _iterate_readable(self, caller: Caller) -> Iterator[tuple[ReadableResource, RegisteredTool]]:
        for name, tool in self._registry.tools.items():
            if tool.definition.reads and caller.may_use_tool(name):
                yield from ((each, tool) for each in tool.definition.reads)

    def _iterate_resources(self, caller: Caller) -> Iterator[tuple[str, RegisteredTool]]:
        for tool in self._iterate_tools(caller):
            if tool.definition.served_as not in _NO_ADDRESS:
                yield str(tool.definition.served_as), tool


def to_completion(found: Completed) -> types.CompleteResult:
    """Convert the completions of an argument; if a module provides them, whether there are more is unknown."""
    has_more = None if found.total is None else found.total > len(found.values)
    return types.CompleteResult(
        completion=types.Completion(values=list(found.values), total=found.total, has_more=has_more)
    )


def to_prompt(content: list[types.ContentBlock], description: str) -> types.GetPromptResult:
    """Convert a prompt to messages of the user who chose it."""
    messages = [types.PromptMessage(role="user", content=block) for block in content]
    return types.GetPromptResult(description=description, messages=messages)


async def to_contents(
    uri: str, outcome: CallOutcome, read_artifact: Callable[[str], Awaitable[types.ReadResourceResult]]
) -> types.ReadResourceResult:
    """Convert the outcome of a call to the contents of a resource.

    Args:
        uri: The address that the client reads.
        outcome: The outcome of the call.
        read_artifact: Reads an artifact of the result, by its id.
    Raises:
        ToolError: The call failed, or an artifact is too large.
    """
    contents: list[types.TextResourceContents | types.BlobResourceContents] = []
    for block in outcome.unwrap().blocks():
        match block:
            case EmbeddedResource(own, str() as text):
                contents.append(types.TextResourceContents(uri=own, mime_type=block.mime, text=text))
            case EmbeddedResource(own, _):
                encoded = block.to_json()["base64"]
                contents.append(types.BlobResourceContents(uri=own, mime_type=block.mime, blob=encoded))
            case Image():
                encoded = block.to_json()["base64"]
                contents.append(types.BlobResourceContents(uri=uri, mime_type=block.mime, blob=encoded))
            case Text():
                contents.append(types.TextResourceContents(uri=uri, mime_type="text/plain", text=block.text))
            case ArtifactLink():
                stored = (await read_artifact(block.artifact_id)).contents
                contents += [each.model_copy(update={"uri": uri}) for each in stored]
            case _:
                continue
    return types.ReadResourceResult(contents=contents)


def _describe_prompt(tool: RegisteredTool) -> types.Prompt:
    schema = tool.definition.input_schema
    required = schema.get("required", ())
    arguments = [
        types.PromptArgument(name=name, description=part.get("description"), required=name in required)
        for name, part in schema.get("properties", {}).items()
    ]
    return types.Prompt(name=tool.definition.name, description=tool.definition.description, arguments=arguments or None)


@lru_cache(maxsize=256)
def _compile_pattern(template: str) -> re.Pattern[str]:
    """Compile an address with `{name}` in it to a pattern that finds the values."""
    parts = _VARIABLE.split(template)
    # every second part is a name
    made = [f"(?P<{part}>[^/]+)" if number % 2 else re.escape(part) for number, part in enumerate(parts)]
    return re.compile("".join(made))


def _fits_template(template: str, uri: str) -> bool:
    """True if a URI can be one of a URI template (RFC 6570); any text fits an expression in it.

    A template has to begin with a scheme, so that none fits everything.
    """
    return _SCHEME.match(template) is not None and _compile_template(template).fullmatch(uri) is not None


@lru_cache(maxsize=1024)
def _compile_template(template: str) -> re.Pattern[str]:
    """Compile a URI template; it is untrusted, and the expressions of `fnmatch` match in linear time."""
    return re.compile(fnmatch.translate("*".join(map(glob.escape, _EXPRESSION.split(template)))))
