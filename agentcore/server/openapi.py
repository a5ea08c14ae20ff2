"""Generates the description of the API (OpenAPI 3.1) from the route tables of the server and of modules."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from agentcore import __version__
from agentcore.core.modules.module_routes import ModuleRoute
from agentcore.core.policy.authority import scopes_for
from agentcore.server.http.response import JSON
from agentcore.server.modules.module_openapi import (
    PLACEHOLDER,
    client_key,
    describe_modules,
    path_parameters,
    query_parameters,
)
from agentcore.server.route_table import ServerRoute

_REF = "#/components/schemas/{model}"
_ERROR = {
    "type": "object",
    "required": ["ok", "error"],
    "properties": {
        "ok": {"const": False},
        "error": {
            "type": "object",
            "required": ["type", "message", "context", "retryable"],
            "properties": {
                "type": {"type": "string"},
                "message": {"type": "string"},
                "context": {"type": "object"},
                "retryable": {"type": "boolean"},
            },
        },
    },
}
_SECURITY_SCHEMES = {
    "token": {"type": "http", "scheme": "bearer", "description": "The API token."},
    "clientKey": {
        "type": "http",
        "scheme": "bearer",
        "description": "The key of a paired client, with one of the scopes that stand with it.",
    },
    "pageCookie": {"type": "apiKey", "in": "cookie", "name": "agentcore_page_RANDOM"},
    "pageHeader": {"type": "apiKey", "in": "header", "name": "X-Agentcore-Session"},
}
_SIGNED_IN: list[dict[str, list[str]]] = [{"token": []}, {"pageCookie": [], "pageHeader": []}]

_REFUSED = {
    "description": "Refused, with the reason.",
    "content": {JSON: {"schema": {"$ref": _REF.format(model="Error")}}},
}


async def describe_api(routes: Iterable[ServerRoute], of_modules: Iterable[ModuleRoute] = ()) -> dict[str, Any]:
    """Return the OpenAPI description of these routes.

    Args:
        routes: The server's own routes.
        of_modules: Routes that modules serve now; each is tagged with its module's name.
    """
    own_paths, own_schemas = _describe_own(tuple(routes))
    paths = dict(own_paths)
    described = await describe_modules(of_modules, refused=_REFUSED, security=_SIGNED_IN)
    for path, operations in described.paths.items():
        paths[path] = {**operations, **paths.get(path, {})}  # the server's own routes override those of modules
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "agentcore",
            "version": __version__,
            "description": "Routes of modules have the module's name as their tag; they come and go with the module.",
        },
        "paths": paths,
        "components": {
            "schemas": {**described.schemas, "Error": _ERROR, **own_schemas},
            "securitySchemes": _SECURITY_SCHEMES,
        },
    }


@lru_cache
def _describe_own(routes: tuple[ServerRoute, ...]) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """Return the paths and schemas of the server's own routes, computed once: it takes 0.2 s."""
    schemas, definitions = models_json_schema(_collect_models(routes), ref_template=_REF, by_alias=True)
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        path = PLACEHOLDER.sub(r"{\1}", route.path)
        paths.setdefault(path, {})[route.method.lower()] = _describe_operation(route, schemas)
    return paths, definitions.get("$defs", {})


def _collect_models(routes: Sequence[ServerRoute]) -> list[tuple[type[BaseModel], JsonSchemaMode]]:
    found: dict[tuple[type[BaseModel], JsonSchemaMode], None] = {}
    for route in routes:
        if route.body is not None:
            found[route.body, "validation"] = None
        if route.answer is not None:
            found[route.answer, "serialization"] = None
    return list(found)


def _describe_operation(route: ServerRoute, schemas: dict[Any, Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": route.handler.__name__,
        "tags": [route.group],
        "summary": route.summary.partition(". ")[0].rstrip("."),
        "description": route.summary,
        "security": [] if route.action is None else [*_SIGNED_IN, *map(client_key, scopes_for(route.action))],
        "responses": {
            "200": {
                "description": "Done.",
                "content": {route.content_type: {"schema": _response_schema(route, schemas)}},
            },
            "4XX": _REFUSED,
        },
    }
    query = {} if route.query is None else route.query.model_json_schema(by_alias=True)
    if parameters := [*path_parameters(route.path), *query_parameters(query)]:
        operation["parameters"] = parameters
    if route.body is not None:
        schema = schemas[route.body, "validation"]
        operation["requestBody"] = {"required": True, "content": {JSON: {"schema": schema}}}
    if route.takes:
        content = {route.takes: {"schema": {"type": "string", "format": "binary"}}}
        operation["requestBody"] = {"required": True, "content": content}
    return operation


def _response_schema(route: ServerRoute, schemas: dict[Any, Any]) -> dict[str, Any]:
    if route.answer is not None:
        schema: dict[str, Any] = schemas[route.answer, "serialization"]
        return schema
    return {"type": "object"} if route.content_type == JSON else {"type": "string"}
