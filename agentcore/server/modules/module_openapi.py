"""Describes the routes of modules for the API description: what they declare, tagged with the module's name."""

import asyncio
import inspect
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import field
from typing import Any

import structlog
from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode

from agentcore.api.tool_context import KeyScope
from agentcore.core.module_code.containment import run_contained
from agentcore.core.module_code.module_error import log_failure, reason_of
from agentcore.core.module_code.plain_values import copy_plain, plain_text
from agentcore.core.modules.module_routes import ModuleRoute
from agentcore.late_dataclasses import dataclass
from agentcore.limits import HOOK_SECONDS
from agentcore.server.http.response import JSON

log = structlog.get_logger(__name__)

_ABOUT_CHARS = 4_000
_OTHER_THAN_NAMES = re.compile(r"[^A-Za-z0-9]+")

PLACEHOLDER = re.compile(r"\{([a-z0-9_]+)(?:\.\.\.)?\}")
"""Placeholder for a value in a route's path."""


@dataclass(frozen=True)
class ModuleDescription:
    """The operations of modules and the schemas that these refer to, as plain values.

    Args:
        paths: Operation by path and method.
        schemas: Schema by name; prefixed with the module's name, because models of two modules may share a name.
    """

    paths: dict[str, dict[str, Any]] = field(default_factory=dict)
    schemas: dict[str, Any] = field(default_factory=dict)


async def describe_modules(
    routes: Iterable[ModuleRoute], *, refused: dict[str, Any], security: list[dict[str, list[str]]]
) -> ModuleDescription:
    """Describe the routes that modules serve now, containing each module's code separately.

    Args:
        routes: The routes of modules.
        refused: The response of a route that refuses a request.
        security: The credentials that such routes accept.
    """
    whole = ModuleDescription()
    by_module: dict[str, list[ModuleRoute]] = defaultdict(list)
    for route in routes:
        by_module[route.module].append(route)
    for module, own in by_module.items():
        try:
            read = asyncio.to_thread(_Operations(refused, security).describe_routes, own)
            part = await run_contained(read, HOOK_SECONDS, f"openapi:{module}", module)
        except asyncio.CancelledError:
            raise
        except BaseException as exc:  # noqa: BLE001 - the border between host and module
            log_failure(log, "module_routes_not_described", exc, module=module)
            continue
        for path, operations in part.paths.items():
            whole.paths.setdefault(path, {}).update(operations)
        whole.schemas.update(part.schemas)
    return whole


class _Operations:
    """Describes the routes of one module."""

    def __init__(self, refused: dict[str, Any], security: list[dict[str, list[str]]]) -> None:
        self._refused = refused
        self._security = security
        self._schemas: dict[str, Any] = {}

    def describe_routes(self, routes: list[ModuleRoute]) -> ModuleDescription:
        """Describe routes as plain values. Runs code of the module: in a thread, with a time limit."""
        paths: dict[str, dict[str, Any]] = {}
        for route in routes:
            paths.setdefault(route.path, {})[route.method.lower()] = copy_plain(self._describe_operation(route))
        return ModuleDescription(paths, self._schemas)

    def _describe_operation(self, route: ModuleRoute) -> dict[str, Any]:
        doc = inspect.getdoc(route.handler) if inspect.isroutine(route.handler) else None
        about = plain_text(doc)[:_ABOUT_CHARS] if doc else None
        operation: dict[str, Any] = {
            "operationId": _OTHER_THAN_NAMES.sub("_", f"{route.module} {route.method} {route.path}").strip("_"),
            "tags": [route.module],
            "summary": (about or f"{route.method} {route.path}").split("\n", 1)[0].rstrip("."),
            "description": about or f"Served by the module {route.module}.",
            "security": [*self._security, *([] if route.scope is None else [client_key(route.scope)])],
            "responses": {**_describe_responses(route), "4XX": self._refused},
        }
        query = {} if route.query is None else self._model_schema(route, route.query, "validation")
        if parameters := [*path_parameters(route.path), *query_parameters(query)]:
            operation["parameters"] = parameters
        if route.body is not None:
            schema = self._model_schema(route, route.body, "validation")
            operation["requestBody"] = {"required": True, "content": {JSON: {"schema": schema}}}
        return operation

    def _model_schema(self, route: ModuleRoute, model: type[BaseModel], mode: JsonSchemaMode) -> dict[str, Any]:
        """Return the JSON Schema of a module's model; a schema for any value if the model has none."""
        try:
            made = model.model_json_schema(ref_template=f"#/components/schemas/{route.module}.{{model}}", mode=mode)
            schema: dict[str, Any] = copy_plain(made)
        except Exception as exc:  # noqa: BLE001 - a model of the module's may have a schema of its own making
            log.warning("module_schema_failed", module=route.module, path=route.path, reason=reason_of(exc))
            return {}
        definitions = schema.pop("$defs", {})
        self._schemas |= {f"{route.module}.{name}": definition for name, definition in definitions.items()}
        return schema


def _describe_responses(route: ModuleRoute) -> dict[str, Any]:
    match route.kind:
        case "websocket":
            return {"101": {"description": "A WebSocket."}}
        case "stream":
            return {"200": {"description": "A stream.", "content": {"*/*": {"schema": {"type": "string"}}}}}
        case "json":
            return {"200": {"description": "Done.", "content": {JSON: {"schema": {}}}}}


def client_key(scope: KeyScope) -> dict[str, list[str]]:
    """Return the security requirement of an operation that accepts keys of paired clients with this scope."""
    return {"clientKey": [scope]}


def path_parameters(path: str) -> list[dict[str, Any]]:
    """Return the parameters for the placeholders in a route's path."""
    names = PLACEHOLDER.findall(path)
    return [{"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names]


def query_parameters(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the parameters for the fields of a query's model, given its JSON Schema."""
    required = schema.get("required", [])
    return [
        {"name": name, "in": "query", "required": name in required, "schema": field}
        for name, field in schema.get("properties", {}).items()
    ]
