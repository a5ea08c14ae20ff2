"""Tool definitions, read strictly and once: the core stores only plain values of a tool.

A module returns `ToolDefinition` objects, or dicts in any of four forms: OpenAI's (with or without its envelope),
Anthropic's, MCP's, and our own, as `GET /api/tools` returns them. Unknown keys are refused: otherwise a schema under
a misspelt name would be an empty one, and any arguments would be valid.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, cast, get_args

import pydantic_core

from agentcore.api.definition import (
    DEFAULT_RANK,
    DISPLAY_ROLES,
    EFFECTS,
    SESSION_ONLY,
    DisplayRole,
    Effect,
    EffectsClaim,
    HostAlias,
    Keep,
    ResourceUse,
    ToolAnnotations,
    ToolDefinition,
)
from agentcore.api.module import RESERVED
from agentcore.core.declarations.readable_resources import OWN_ADDRESSES, read_resources
from agentcore.core.declarations.tool_icons import read_icons
from agentcore.core.declarations.tool_views import read_name_in_views, read_view
from agentcore.core.module_code.value_reading import (
    WrongValueError,
    read_flag,
    read_mapping,
    read_model,
    read_number,
    read_text,
    read_texts,
)
from agentcore.limits import DEFINITION_BYTES, DEFINITION_PARTS, MODEL_CHARS_MAX, MODEL_CHARS_MIN, TOOL_SECONDS_MAX
from agentcore.near_names import closest_name

RESERVED_NAMES = frozenset(("find_tools", "read_skill"))
"""Tools of the core's own, by whichever name no other is called."""

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_ARGUMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_ERROR_TYPE = re.compile(r"[a-z][a-z0-9_]{0,63}")
_RESOURCE_TYPE = re.compile(r"[a-z][a-z0-9_-]{0,63}")
_HOST_ALIAS = re.compile(r"[a-z][A-Za-z]{0,31}\.[a-z][A-Za-z]{0,31}")
_ALIAS_BYTES = 4096
_LIMIT_BYTES = 1 << 40
_RANK_MAX = 9
_VARIABLE = re.compile(r"\{([^{}]*)\}")
_SERVED_WORDS = ("prompt", "view")
_SERVED_URI = re.compile(r"[a-z][a-z0-9+.-]*:[!-~]{1,200}")
"""Addresses that the core serves itself: artifacts, and the views of tools."""

_SCHEMA_KEYS = ("input_schema", "parameters", "inputSchema")
_OUTPUT_KEYS = ("output_schema", "outputSchema")
_FORM_KEYS = (
    "type",
    "strict",
    "title",
    "cache_control",
    "_meta",
    "execution",
    "module",
    "has_view",
    "completes",
)
_RESULT_KEYS = ("limit_bytes", "model_chars", "keep", "artifact_call")
_CALL_KEYS = ("effects", "annotations", "timeout_ms", "timeout_s", "resource", "rank", "display")
_SERVED_KEYS = ("served_as", "in_views", "icons", "needs_chat", "parallel")
_OWN_KEYS = ("name", "description", *_CALL_KEYS, *_RESULT_KEYS, *_SERVED_KEYS)
_KEYS = (*_OWN_KEYS, *_SCHEMA_KEYS, *_OUTPUT_KEYS, *_FORM_KEYS)
_HINTS: Mapping[str, str] = MappingProxyType(
    {
        "read_only": "read_only",
        "readOnlyHint": "read_only",
        "destructive": "destructive",
        "destructiveHint": "destructive",
        "idempotent": "idempotent",
        "idempotentHint": "idempotent",
        "open_world": "open_world",
        "openWorldHint": "open_world",
    }
)
_CLAIMABLE: frozenset[Effect] = frozenset(("read", "egress"))
_NO_ARGUMENTS = {"type": "object", "properties": {}, "additionalProperties": False}
_RESOURCE_KEYS = ("type", "argument", "create", "key", "skip_queue", "not_found")


def read_definition(given: Any) -> ToolDefinition:
    """Read one definition into plain values.

    Raises:
        TypeError: It is not a definition, or a field has the wrong type; the message names tool and field.
        ValueError: Its fields contradict each other, or it is too large.
    """
    is_plain = not isinstance(given, ToolDefinition)
    raw = _fields_of_dict(given) if is_plain else _fields_of(given)
    name = read_text(raw["name"], "the name of a tool", pattern=_NAME)
    if name in RESERVED_NAMES or name in RESERVED:
        raise ValueError(f"tool name {name!r} is reserved for the core, or a hook or attribute of Module; take another")
    of = f"of tool {name!r}"
    definition = ToolDefinition(
        name=name,
        description=read_text(raw["description"], f"description {of}", is_empty_ok=False),
        input_schema=read_mapping(raw["input_schema"], f"input_schema {of}", "a JSON Schema, an object"),
        output_schema=_optional_mapping(raw["output_schema"], f"output_schema {of}"),
        effects=_read_effects(raw["effects"], f"effects {of}"),
        annotations=_read_annotations(raw["annotations"], of),
        timeout_s=read_number(raw["timeout_s"], f"timeout_s {of}", low=0, high=TOOL_SECONDS_MAX),
        limit_bytes=_read_limit_bytes(raw["limit_bytes"], f"limit_bytes {of}"),
        preview=_read_function(raw["preview"], f"preview {of}", "(ctx, arguments) -> CallPreview"),
        resource=_read_resource_use(raw["resource"], of),
        arguments=read_model(raw["arguments"], f"arguments {of}"),
        checks_result=read_flag(raw["checks_result"], f"checks_result {of}"),
        rank=_read_rank(raw["rank"], f"rank {of}"),
        model_chars=_read_model_chars(raw["model_chars"], f"model_chars {of}"),
        keep=_read_keep(raw["keep"], f"keep {of}"),
        artifact_call=_read_artifact_call(raw["artifact_call"], f"artifact_call {of}"),
        display=_read_display(raw["display"], f"display {of}"),
        served_as=_read_served_as(raw["served_as"], f"served_as {of}"),
        view=read_view(raw["view"], f"view {of}"),
        in_views=read_name_in_views(raw["in_views"], f"in_views {of}"),
        icons=read_icons(raw["icons"], f"icons {of}"),
        complete=_read_function(raw["complete"], f"complete {of}", "(tool, argument, begun, given) -> list[str]"),
        needs_chat=read_flag(raw["needs_chat"], f"needs_chat {of}"),
        parallel=read_flag(raw["parallel"], f"parallel {of}"),
        host_alias=_read_host_alias(raw["host_alias"], of),
        reads=read_resources(raw["reads"], f"reads {of}"),
        claim=_read_claim(raw["claim"], of),
    )
    if is_plain and "session" in definition.effects:
        # a plain definition may come from elsewhere, such as another server, which must not permit calls
        raise ValueError(f"effects {of}: a plain definition cannot have 'session', which a module's own code can")
    for contradiction in _find_contradictions(definition):
        raise ValueError(f"tool {name!r} contradicts itself: {contradiction}")
    parts = count_parts(definition)
    if parts > DEFINITION_PARTS:
        raise ValueError(f"the schemas {of} have {parts:,} values, the bound is {DEFINITION_PARTS:,}; offer fewer")
    size = len(pydantic_core.to_json(definition.to_json()))
    if size > DEFINITION_BYTES:
        raise ValueError(f"the definition {of} has {size:,} bytes, the bound is {DEFINITION_BYTES:,}")
    return definition


def count_parts(definition: ToolDefinition) -> int:
    """The number of values in a definition's schemas, each choice of an argument among them."""
    ahead: list[Any] = [definition.input_schema, definition.output_schema]
    count = 0
    while ahead:
        part = ahead.pop()
        count += 1
        if type(part) is dict:
            ahead += part.values()
        elif type(part) is list:
            ahead += part
    return count


def without_session(definition: ToolDefinition) -> ToolDefinition:
    """Return the definition of a foreign machine or mounted server without effects that would avoid approval."""
    if "session" not in definition.effects:
        return definition
    return replace(definition, effects=frozenset(("execute",)))


def _fields_of(given: Any) -> dict[str, Any]:
    return {name: getattr(given, name) for name in ToolDefinition.__slots__}


def _fields_of_dict(given: Any) -> dict[str, Any]:
    """Return the fields of a definition in one of the four forms, with our names."""
    raw = read_mapping(given, "a tool definition", "a ToolDefinition, or a dict of one of the forms")
    if isinstance(raw.get("function"), dict):
        if unknown := set(raw) - {"type", "function"}:
            raise _unknown_key(min(unknown), "a tool definition", ("type", "function"))
        raw = raw["function"]
    name = raw.get("name")
    where = f"tool {name!r}" if type(name) is str else "a tool definition"
    if "name" not in raw:
        raise TypeError("a tool definition needs a name")
    for key in raw:
        if key not in _KEYS:
            raise _unknown_key(key, where, _KEYS)
    if raw.get("type") not in (None, "function", "custom"):
        raise WrongValueError(f"type of {where}", "'function' or 'custom'", raw["type"])
    schema = _one_of(raw, _SCHEMA_KEYS, where)
    return {
        "name": name,
        "description": raw.get("description") or raw.get("title") or "",
        "input_schema": _NO_ARGUMENTS if schema is None else schema,
        "output_schema": _one_of(raw, _OUTPUT_KEYS, where),
        "effects": ("execute",) if raw.get("effects") is None else raw["effects"],
        "annotations": raw.get("annotations"),
        "timeout_s": _read_timeout_s(raw, where),
        "limit_bytes": raw.get("limit_bytes"),
        "preview": None,
        "resource": raw.get("resource"),
        "arguments": None,
        "checks_result": False,
        "rank": DEFAULT_RANK if raw.get("rank") is None else raw["rank"],
        "model_chars": raw.get("model_chars"),
        "keep": raw.get("keep") or "both",
        "artifact_call": raw.get("artifact_call"),
        "display": raw.get("display") or {},
        "served_as": raw.get("served_as"),
        "view": None,
        "in_views": raw.get("in_views"),
        "icons": raw.get("icons"),
        "complete": None,
        "needs_chat": raw.get("needs_chat") or False,
        "parallel": raw.get("parallel") or False,
        "host_alias": None,
        "reads": (),
        "claim": None,
    }


def _one_of(raw: dict[str, Any], keys: tuple[str, ...], where: str) -> Any:
    found = [key for key in keys if raw.get(key) is not None]
    if len(found) > 1:
        raise TypeError(f"{where} has {' and '.join(found)}, which say the same; leave one of them")
    return raw[found[0]] if found else None


def _read_timeout_s(raw: dict[str, Any], where: str) -> Any:
    if raw.get("timeout_ms") is not None:
        if raw.get("timeout_s") is not None:
            raise TypeError(f"{where} has timeout_ms and timeout_s, which say the same; leave one of them")
        return read_number(raw["timeout_ms"], f"timeout_ms of {where}", low=0, high=TOOL_SECONDS_MAX * 1000) / 1000
    return 60.0 if raw.get("timeout_s") is None else raw["timeout_s"]


def _optional_mapping(value: Any, where: str) -> dict[str, Any] | None:
    return None if value is None else read_mapping(value, where, "a JSON Schema, an object, or None")


def _read_effects(value: Any, where: str) -> frozenset[Effect]:
    words = frozenset(read_texts(value, where, f"some of {sorted(EFFECTS)}"))
    if not words:
        raise ValueError(f"{where} must not be empty; leave it out for 'execute', or say 'read'")
    if unknown := words - EFFECTS:
        raise ValueError(f"{where} must be some of {sorted(EFFECTS)}, not {sorted(unknown)}")
    return cast("frozenset[Effect]", words)


def _read_annotations(value: Any, of: str) -> ToolAnnotations:
    where = f"annotations {of}"
    if value is None:
        return ToolAnnotations()
    if isinstance(value, ToolAnnotations):
        given: dict[str, Any] = {name: getattr(value, name) for name in ToolAnnotations.__slots__}
    else:
        given = read_mapping(value, where, "ToolAnnotations, or a mapping of hints")
    hints: dict[str, bool | None] = {}
    for key, hint in given.items():
        if key == "title":
            read_text(hint, f"title {of}")
        elif key not in _HINTS:
            raise _unknown_key(key, where, tuple(_HINTS))
        else:
            hints[_HINTS[key]] = None if hint is None else read_flag(hint, f"{key} {of}")
    return ToolAnnotations(**hints)


def _read_limit_bytes(value: Any, where: str) -> int | None:
    if value is None:
        return None
    if type(value) is bool or not isinstance(value, int):
        raise WrongValueError(where, "a number of bytes, or None", value)
    return int(read_number(value, where, low=0, high=_LIMIT_BYTES))


def _read_served_as(value: Any, where: str) -> str | None:
    if value is None:
        return None
    word = read_text(value, where)
    if word not in _SERVED_WORDS and (not _SERVED_URI.fullmatch(word) or word.startswith(OWN_ADDRESSES)):
        expected = (
            "'prompt', 'view', or a URI of at most 200 characters with a scheme of its own "
            f"that begins with none of {', '.join(OWN_ADDRESSES)}"
        )
        raise WrongValueError(where, expected, value)
    return word


def _read_rank(value: Any, where: str) -> int:
    if type(value) is not int or not 0 <= value <= _RANK_MAX:
        raise WrongValueError(where, f"a whole number from 0 to {_RANK_MAX}", value)
    return value


def _read_display(value: Any, where: str) -> dict[str, DisplayRole]:
    roles = read_mapping(value, where, "names of arguments and of fields of the data, each with a role")
    for role in roles.values():
        if type(role) is not str or role not in DISPLAY_ROLES:
            raise WrongValueError(where, f"roles out of {sorted(DISPLAY_ROLES)}", role)
    return roles


def _read_model_chars(value: Any, where: str) -> int | None:
    if value is None:
        return None
    if type(value) is not int or not MODEL_CHARS_MIN <= value <= MODEL_CHARS_MAX:
        raise WrongValueError(where, f"{MODEL_CHARS_MIN:,} to {MODEL_CHARS_MAX:,} characters, or None", value)
    return value


def _read_keep(value: Any, where: str) -> Keep:
    word = read_text(value, where)
    if word not in get_args(Keep):
        raise WrongValueError(where, f"one of {', '.join(get_args(Keep))}", word)
    return cast("Keep", word)


def _read_artifact_call(value: Any, where: str) -> str | None:
    if value is None:
        return None
    call = read_text(value, where)
    if "{id}" not in call:
        raise WrongValueError(where, "arguments as JSON text with {id} in it, or None", call)
    return call


def _read_function(value: Any, where: str, shape: str) -> Any:
    if value is not None and not callable(value):
        raise WrongValueError(where, f"a function {shape}, or None", value)
    return value


def _read_resource_use(value: Any, of: str) -> ResourceUse | None:
    where = f"resource {of}"
    if value is None:
        return None
    if isinstance(value, ResourceUse):
        given: dict[str, Any] = {name: getattr(value, name) for name in ResourceUse.__slots__}
    else:
        given = read_mapping(value, where, "a ResourceUse, or a mapping with its fields")
    for key in given:
        if key not in _RESOURCE_KEYS:
            raise _unknown_key(key, where, _RESOURCE_KEYS)
    if "type" not in given:
        raise TypeError(f"{where} needs a type")
    other_key = given.get("key")
    return ResourceUse(
        type=read_text(given["type"], f"type of {where}", "a resource type", pattern=_RESOURCE_TYPE),
        argument=read_text(given.get("argument", "resourceId"), f"argument of {where}", pattern=_ARGUMENT),
        create=read_flag(given.get("create", False), f"create of {where}"),
        key=None if other_key is None else read_text(other_key, f"key of {where}", pattern=_ARGUMENT),
        skip_queue=read_flag(given.get("skip_queue", False), f"skip_queue of {where}"),
        not_found=read_text(
            given.get("not_found", "resource_not_found"), f"not_found of {where}", "an error type", pattern=_ERROR_TYPE
        ),
    )


def _read_host_alias(value: Any, of: str) -> HostAlias | None:
    where = f"host_alias {of}"
    if value is None:
        return None
    if not isinstance(value, HostAlias):
        raise WrongValueError(where, "a HostAlias, or None", value)
    name = read_text(value.name, f"name of {where}", "a dotted name such as 'browser.click'", pattern=_HOST_ALIAS)
    arguments = read_mapping(value.arguments, f"arguments of {where}")
    if len(pydantic_core.to_json(arguments)) > _ALIAS_BYTES:
        raise ValueError(f"arguments of {where} have more than {_ALIAS_BYTES:,} bytes")
    return HostAlias(name, arguments)


def _read_claim(value: Any, of: str) -> EffectsClaim | None:
    where = f"claim {of}"
    if value is None:
        return None
    if not isinstance(value, EffectsClaim):
        raise WrongValueError(where, "an EffectsClaim, or None", value)
    effects = _read_effects(value.effects, f"effects of {where}")
    if not effects <= _CLAIMABLE:
        raise ValueError(f"effects of {where} must be some of {sorted(_CLAIMABLE)}, not {sorted(effects)}")
    setting = tuple(read_texts(value.setting, f"setting of {where}", "the path of a setting"))
    if not setting:
        raise ValueError(f"setting of {where} must not be empty")
    return EffectsClaim(effects, _read_annotations(value.annotations, f"of {where}"), setting)


def _find_contradictions(definition: ToolDefinition) -> Iterator[str]:
    hints = definition.annotations
    effects = definition.effects
    if effects > SESSION_ONLY:
        yield f"the effect 'session' stands alone, and effects {sorted(effects)}"
    changing = sorted(effects & {"write", "dangerous"})
    if hints.read_only and changing:
        yield f"read_only, and effects {changing}"
    if hints.read_only and hints.destructive:
        yield "read_only and destructive"
    if hints.read_only and hints.idempotent is False:
        yield "read_only, and not idempotent"
    if hints.destructive and effects == {"read"}:
        yield "destructive, and effects ['read'] alone"
    known = _known_names(definition)
    for name in definition.display:
        if known is not None and name not in known:
            yield f"display names {name!r}, which is neither an argument nor a field of its data"
    yield from _wrongly_served(definition)


def _wrongly_served(definition: ToolDefinition) -> Iterator[str]:
    arguments = definition.input_schema.get("properties")
    if definition.served_as is not None and definition.view is not None:
        yield "a view, and served_as, which clients know no tool of"
    if definition.served_as == "view" and definition.in_views is None:
        yield "served_as 'view', and no name by which views call it (in_views)"
    if definition.reads and (definition.served_as is not None or "uri" not in (_known_names(definition) or ("uri",))):
        yield "reads resources, and is served as something else or has no argument 'uri'"
    for name in _VARIABLE.findall(definition.served_as or ""):
        if not isinstance(arguments, dict) or name not in arguments:
            yield f"served_as names {name!r}, which is no argument"


def _known_names(definition: ToolDefinition) -> set[str] | None:
    """Arguments, and fields of the data; None: the schemas leave open which there are."""
    schemas = [definition.input_schema, *([] if definition.output_schema is None else [definition.output_schema])]
    properties = [each for each in (schema.get("properties") for schema in schemas) if isinstance(each, dict)]
    return {name for each in properties for name in each} if len(properties) == len(schemas) else None


def _unknown_key(key: str, where: str, known: tuple[str, ...]) -> TypeError:
    near = closest_name(key, known)
    rather = f"did you mean {near!r}?" if near else f"known are {', '.join(known)}"
    return TypeError(f"{where} has the unknown key {key[:100]!r}; {rather}")
