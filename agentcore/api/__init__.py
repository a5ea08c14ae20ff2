"""All that a module may import from agentcore."""

from pydantic import BaseModel, Field, SecretStr

from agentcore.api.context import ToolContext
from agentcore.api.definition import CallPreview, ResourceUse, ToolDefinition
from agentcore.api.errors import ToolError
from agentcore.api.module import Module, hookimpl
from agentcore.api.recording import Excerpt, Mark, Recording, Track
from agentcore.api.resource import Resource
from agentcore.api.result import ArtifactLink, Image, Text, ToolResult
from agentcore.api.runtime import Runtime
from agentcore.api.supervisor import SupervisedProcess, Supervisor, SupervisorError
from agentcore.api.tool import tool
from agentcore.api.url_policy import UrlPolicy
from agentcore.api.web import Request, Response, WebComponent
from agentcore.api.workspace import Workspace

__all__ = [
    "ArtifactLink",
    "BaseModel",
    "CallPreview",
    "Excerpt",
    "Field",
    "Image",
    "Mark",
    "Module",
    "Recording",
    "Request",
    "Resource",
    "ResourceUse",
    "Response",
    "Runtime",
    "SecretStr",
    "SupervisedProcess",
    "Supervisor",
    "SupervisorError",
    "Text",
    "ToolContext",
    "ToolDefinition",
    "ToolError",
    "ToolResult",
    "Track",
    "UrlPolicy",
    "WebComponent",
    "Workspace",
    "hookimpl",
    "tool",
]
