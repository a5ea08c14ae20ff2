"""Everything that a module may import from agentcore."""

import sys
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field, SecretStr

from agentcore.api.background import Background
from agentcore.api.commands import CommandContext
from agentcore.api.definition import (
    CallPreview,
    DisplayRole,
    Effect,
    EffectsClaim,
    HostAlias,
    ResourceUse,
    ToolAnnotations,
    ToolDefinition,
)
from agentcore.api.host_info import HostInfo
from agentcore.api.login import Login, LoginState, LoginStatus
from agentcore.api.module import Module, hookimpl
from agentcore.api.module_data import Secrets, Storage
from agentcore.api.readable_resource import ReadableResource
from agentcore.api.report import Report
from agentcore.api.requirement import (
    LocalizedText,
    ReportProgress,
    Requirement,
    RequirementInfo,
    RequirementStatus,
)
from agentcore.api.resource import SERVICE_TYPE, Resource, Resources
from agentcore.api.result import ArtifactLink, Audio, EmbeddedResource, Image, Text, ToolResult
from agentcore.api.runtime import Runtime, WaitReason
from agentcore.api.sandbox_requirement import SandboxRequirement
from agentcore.api.schema_extensions import HIDDEN_FROM_MODELS, also_called, known_to_models
from agentcore.api.tool import tool
from agentcore.api.tool_context import Artifacts, ChatSession, LogLevel, Principal, ToolContext
from agentcore.api.tool_icon import ToolIcon
from agentcore.api.tool_view import ToolView, ViewPermission
from agentcore.api.web import Request, Response, Route, Socket, WebComponent
from agentcore.documents.csv_columns import CsvColumns, read_csv_columns
from agentcore.documents.document_reader import DocumentReader, DocumentText
from agentcore.documents.kinds import DOCUMENT_HEAD_BYTES, DocumentKind, detect_document
from agentcore.documents.seen_text import seen_text
from agentcore.documents.text_lines import ArtifactLines
from agentcore.errors import ToolError
from agentcore.files.encoding_detection import guess_encoding
from agentcore.files.folder import Folder
from agentcore.files.workspace import Workspace
from agentcore.json_parts import JsonParts, has_more_json_parts
from agentcore.net.url_policy import ServiceAddress, UrlPolicy
from agentcore.rate_limit import Pace
from agentcore.secrets import holds_secret
from agentcore.secrets import mask_known_secrets as mask_secrets
from agentcore.supervision.listening_ports import Listener, read_listening_sockets
from agentcore.supervision.recorded_output import Excerpt, Mark, Recording, Track
from agentcore.supervision.sandbox.caches import Caches
from agentcore.supervision.sandbox.own_home import CREDENTIALS, OwnHome
from agentcore.supervision.sandbox.sandbox import Confinement, HeldPaths, Sandbox, SandboxMode
from agentcore.supervision.supervisor import SupervisedProcess, Supervisor, SupervisorError
from agentcore.this_machine import can_install_packages, install_packages, is_root, package_command, run_command

if TYPE_CHECKING:
    from agentcore.supervision.control_files.control_files import ConfinedRun, ControlFiles
    from agentcore.supervision.control_files.quarantine import Quarantined, describe_quarantined

__all__ = [
    "CREDENTIALS",
    "DOCUMENT_HEAD_BYTES",
    "HIDDEN_FROM_MODELS",
    "SERVICE_TYPE",
    "ArtifactLines",
    "ArtifactLink",
    "Artifacts",
    "Audio",
    "Background",
    "BaseModel",
    "Caches",
    "CallPreview",
    "ChatSession",
    "CommandContext",
    "ConfinedRun",
    "Confinement",
    "ControlFiles",
    "CsvColumns",
    "DisplayRole",
    "DocumentKind",
    "DocumentReader",
    "DocumentText",
    "Effect",
    "EffectsClaim",
    "EmbeddedResource",
    "Excerpt",
    "Field",
    "Folder",
    "HeldPaths",
    "HostAlias",
    "HostInfo",
    "Image",
    "JsonParts",
    "Listener",
    "LocalizedText",
    "LogLevel",
    "Login",
    "LoginState",
    "LoginStatus",
    "Mark",
    "Module",
    "OwnHome",
    "Pace",
    "Principal",
    "Quarantined",
    "ReadableResource",
    "Recording",
    "Report",
    "ReportProgress",
    "Request",
    "Requirement",
    "RequirementInfo",
    "RequirementStatus",
    "Resource",
    "ResourceUse",
    "Resources",
    "Response",
    "Route",
    "Runtime",
    "Sandbox",
    "SandboxMode",
    "SandboxRequirement",
    "SecretStr",
    "Secrets",
    "ServiceAddress",
    "Socket",
    "Storage",
    "SupervisedProcess",
    "Supervisor",
    "SupervisorError",
    "Text",
    "ToolAnnotations",
    "ToolContext",
    "ToolDefinition",
    "ToolError",
    "ToolIcon",
    "ToolResult",
    "ToolView",
    "Track",
    "UrlPolicy",
    "ViewPermission",
    "WaitReason",
    "WebComponent",
    "Workspace",
    "also_called",
    "can_install_packages",
    "describe_quarantined",
    "detect_document",
    "guess_encoding",
    "has_more_json_parts",
    "holds_secret",
    "hookimpl",
    "install_packages",
    "is_root",
    "known_to_models",
    "mask_secrets",
    "package_command",
    "read_csv_columns",
    "read_listening_sockets",
    "run_command",
    "seen_text",
    "tool",
]

if sys.version_info < (3, 11, 3):
    # here, because whatever runs a module, and each module, imports it, and `agentcore --help` does not
    from agentcore.timeout_backport import repair_timeouts

    repair_timeouts()

_CONTROL_FILES = frozenset(("ConfinedRun", "ControlFiles", "Quarantined", "describe_quarantined"))


def __getattr__(name: str) -> object:
    # at first use: only modules that run confined programs need them
    if name not in _CONTROL_FILES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from agentcore.supervision import control_files  # noqa: PLC0415 - as above

    return getattr(control_files, name)
