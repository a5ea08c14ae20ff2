"""The routes of modules in the description of the API: what they declare of themselves, each under its module's tag."""

import inspect
import re
from collections.abc import Iterable
from typing import Any

import structlog
from pydantic import BaseModel
from pydantic.errors import PydanticUserError
from pydantic.json_schema import JsonSchemaMode

from agentcore.host.routes import ModuleRoute
from agentcore.server.answer import JSON

log = structlog.get_logger(__name__)

_OTHER_THAN_NAMES = re.compile(r"[^A-Za-z0-9]+")
_PLACEHOLDER = re.compile(r"\{([a-z0-9_]+)\}")


class ModuleOperations:
    """The operations of modules, and the schemas that these refer to.

    Args:
        routes: What modules serve now.
        refused: The answer of a route that refuses a request.
        security: The credentials that open such routes.
    Attributes:
        paths: Operation by path and method.
        schemas: Schema by its name; that of a module begins with the module's, for two may have models of one name.
    """

    def __init__(
        self, routes: Iterable[ModuleRoute], *, refused: dict[str, Any], security: list[dict[str, list[str]]]
    ) -> None:
        self._refused, self._security = refused, security
        self.paths: dict[str, dict[str, Any]] = {}
        self.schemas: dict[str, Any] = {}
        for route in routes:
            self.paths.setdefault(route.path, {})[route.method.lower()] = self._operation(route)

    def _operation(self, route: ModuleRoute) -> dict[str, Any]:
        about = inspect.getdoc(route.handler) if inspect.isroutine(route.handler) else None
        operation: dict[str, Any] = {
            "operationId": _OTHER_THAN_NAMES.sub("_", f"{route.module} {route.method} {route.path}").strip("_"),
            "tags": [route.module],
            "summary": (about or f"{route.method} {route.path}").split("\n", 1)[0].rstrip("."),
            "description": about or f"Served by the module {route.module}.",
            "security": self._security,
            "responses": {**_answers(route), "4XX": self._refused},
        }
        if parameters := [*_path_parameters(route), *self._query_parameters(route)]:
            operation["parameters"] = parameters
        if route.body is not None:
            schema = self._schema(route, route.body, "validation")
            operation["requestBody"] = {"required": True, "content": {JSON: {"schema": schema}}}
        return operation

    def _query_parameters(self, route: ModuleRoute) -> list[dict[str, Any]]:
        if route.query is None:
            return []
        schema = self._schema(route, route.query, "validation")
        required = schema.get("required", [])
        return [
            {"name": name, "in": "query", "required": name in required, "schema": field}
            for name, field in schema.get("properties", {}).items()
        ]

    def _schema(self, route: ModuleRoute, model: type[BaseModel], mode: JsonSchemaMode) -> dict[str, Any]:
        """The schema of a module's model; anything, where the model has none."""
        try:
            schema = model.model_json_schema(ref_template=f"#/components/schemas/{route.module}.{{model}}", mode=mode)
        except PydanticUserError as exc:
            log.warning("module_schema_failed", module=route.module, path=route.path, reason=str(exc))
            return {}
        definitions = schema.pop("$defs", {})
        self.schemas |= {f"{route.module}.{name}": definition for name, definition in definitions.items()}
        return schema


def _answers(route: ModuleRoute) -> dict[str, Any]:
    match route.kind:
        case "websocket":
            return {"101": {"description": "A WebSocket."}}
        case "stream":
            return {"200": {"description": "A stream.", "content": {"*/*": {"schema": {"type": "string"}}}}}
        case "json":
            return {"200": {"description": "Done.", "content": {JSON: {"schema": {}}}}}


def _path_parameters(route: ModuleRoute) -> list[dict[str, Any]]:
    names = _PLACEHOLDER.findall(route.path)
    return [{"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names]
