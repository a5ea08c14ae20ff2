"""`@tool`: a typed method becomes a tool; its hints become the schema, its docstring the description."""

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar, get_type_hints, is_typeddict, overload

from pydantic import BaseModel, ConfigDict, TypeAdapter, create_model
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema

from agentcore.api.context import ToolContext
from agentcore.api.definition import Effect, Preview, PreviewMethod, ResourceUse, ToolAnnotations, ToolDefinition
from agentcore.api.result import ToolResult

F = TypeVar("F", bound=Callable[..., Any])

_MARK = "__agentcore_tool__"


@dataclass(frozen=True, slots=True)
class ToolOptions:
    """What `@tool` was told about one method."""

    name: str | None
    effects: frozenset[Effect]
    annotations: ToolAnnotations
    timeout_s: float
    limit_bytes: int | None
    preview: PreviewMethod | None
    resource: ResourceUse | None


@overload
def tool(function: F, /) -> F: ...
@overload
def tool(
    *,
    name: str | None = None,
    read_only: bool = False,
    effects: Iterable[Effect] | None = None,
    destructive: bool | None = None,
    idempotent: bool | None = None,
    open_world: bool | None = None,
    timeout_s: float | None = None,
    limit_bytes: int | None = None,
    preview: PreviewMethod | None = None,
    resource: ResourceUse | None = None,
) -> Callable[[F], F]: ...
def tool(
    function: F | None = None,
    /,
    *,
    name: str | None = None,
    read_only: bool = False,
    effects: Iterable[Effect] | None = None,
    destructive: bool | None = None,
    idempotent: bool | None = None,
    open_world: bool | None = None,
    timeout_s: float | None = None,
    limit_bytes: int | None = None,
    preview: PreviewMethod | None = None,
    resource: ResourceUse | None = None,
) -> F | Callable[[F], F]:
    """Make a method of a `Module` a tool.

    The method takes `self`, a `ToolContext` if it wants one, and the arguments, all with type hints. The first
    paragraph of its docstring becomes the tool's description, `Args:` the descriptions of its parameters. It is
    async, or sync and then runs in a worker thread.

    Args:
        name: The tool's name; left out, the method's.
        read_only: The tool changes nothing; its effects are `read` unless `effects` says more.
        effects: What it may do (`read`, `write`, `egress`, `execute`, `dangerous`); none given means `execute`.
        destructive: It may destroy what was there (a hint for clients).
        idempotent: Twice is the same as once (a hint for clients).
        open_world: It meets the outside (a hint for clients).
        timeout_s: Time limit of one call in seconds, 60 if left out.
        limit_bytes: Bound of the result's text; more is stored as an artifact.
        preview: A function `(self, ctx, arguments) -> CallPreview` that says what exactly a call would do.
        resource: The resource that a call acts on.
    """

    def mark(method: F) -> F:
        options = ToolOptions(
            name=name,
            effects=frozenset(effects) if effects is not None else frozenset(("read" if read_only else "execute",)),
            annotations=ToolAnnotations(read_only or None, destructive, idempotent, open_world),
            timeout_s=60.0 if timeout_s is None else timeout_s,
            limit_bytes=limit_bytes,
            preview=preview,
            resource=resource,
        )
        setattr(method, _MARK, options)
        return method

    return mark if function is None else mark(function)


@dataclass(frozen=True, slots=True)
class ToolMethod:
    """A bound tool method with its definition; `call` takes the validated arguments."""

    definition: ToolDefinition
    method: Callable[..., Any]
    takes_context: bool
    is_async: bool

    def call(self, ctx: ToolContext, arguments: dict[str, Any]) -> Any:
        """Run the method; what it gives back, or the coroutine to await."""
        return self.method(ctx, **arguments) if self.takes_context else self.method(**arguments)


def tool_methods(owner: object) -> dict[str, ToolMethod]:
    """The tools of an object, by name, in the order in which they are written.

    Raises:
        TypeError: A method lacks a type hint or a docstring, or two tools have one name; the message names it.
    """
    found: dict[str, ToolMethod] = {}
    for attribute in _attributes_in_order(type(owner)):
        options = getattr(getattr(type(owner), attribute, None), _MARK, None)
        if not isinstance(options, ToolOptions):
            continue
        method = getattr(owner, attribute)
        made = _make(owner, method, options, options.name or attribute)
        if made.definition.name in found:
            raise TypeError(f"two tools of {type(owner).__name__} are called {made.definition.name!r}")
        found[made.definition.name] = made
    return found


def _attributes_in_order(cls: type) -> list[str]:
    names: dict[str, None] = {}
    for base in reversed(cls.__mro__):
        names.update(dict.fromkeys(vars(base)))
    return list(names)


def _make(owner: object, method: Callable[..., Any], options: ToolOptions, name: str) -> ToolMethod:
    import docstring_parser  # noqa: PLC0415 - 3 ms that the server's first answer does without

    where = f"{type(owner).__name__}.{method.__name__}"
    text = docstring_parser.parse(inspect.getdoc(method) or "", style=docstring_parser.DocstringStyle.GOOGLE)
    description = "\n\n".join(part for part in (text.short_description, text.long_description) if part)
    if not description:
        raise TypeError(f"tool {where} needs a docstring: its first line is what a model reads to choose the tool")
    hints = get_type_hints(method, include_extras=True)
    parameters = list(inspect.signature(method).parameters.values())
    takes_context = bool(parameters) and (parameters[0].name == "ctx" or hints.get(parameters[0].name) is ToolContext)
    model = _arguments_model(
        where, parameters[1:] if takes_context else parameters, hints, {p.arg_name: p.description for p in text.params}
    )
    definition = ToolDefinition(
        name=name,
        description=description,
        input_schema=schema_of(model),
        output_schema=_output_schema(hints.get("return")),
        effects=options.effects,
        annotations=options.annotations,
        timeout_s=options.timeout_s,
        limit_bytes=options.limit_bytes,
        preview=_bind(options.preview, owner),
        resource=options.resource,
        arguments=model,
    )
    return ToolMethod(definition, method, takes_context, inspect.iscoroutinefunction(method))


def _bind(preview: PreviewMethod | None, owner: object) -> Preview | None:
    bound: Preview | None = None if preview is None else preview.__get__(owner, type(owner))
    return bound


def _arguments_model(
    where: str, parameters: list[inspect.Parameter], hints: dict[str, Any], descriptions: dict[str, str | None]
) -> type[BaseModel]:
    fields: dict[str, Any] = {}
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise TypeError(f"tool {where} may not take *args or **kwargs: a model has to see every argument")
        if parameter.name not in hints:
            raise TypeError(f"parameter {parameter.name!r} of tool {where} needs a type hint")
        default = ... if parameter.default is parameter.empty else parameter.default
        info = (
            default
            if isinstance(default, FieldInfo)
            else FieldInfo.from_annotated_attribute(hints[parameter.name], default)
        )
        if info.description is None:
            info.description = descriptions.get(parameter.name)
        fields[parameter.name] = (hints[parameter.name], info)
    config = ConfigDict(extra="forbid", protected_namespaces=(), populate_by_name=False)
    return create_model("Arguments", __config__=config, **fields)


def _output_schema(hint: Any) -> dict[str, Any] | None:
    if hint is ToolResult or not (is_typeddict(hint) or (isinstance(hint, type) and issubclass(hint, BaseModel))):
        return None
    return _without_titles(TypeAdapter(hint).json_schema(mode="serialization", schema_generator=_Schema))


class _Schema(GenerateJsonSchema):
    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """JSON Schema of a model without the titles that only repeat its names."""
    return _without_titles(model.model_json_schema(by_alias=True, schema_generator=_Schema))


def _without_titles(schema: dict[str, Any]) -> dict[str, Any]:
    clean: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "title" and isinstance(value, str):
            continue
        if key in ("properties", "$defs", "patternProperties"):
            clean[key] = {name: _without_titles(part) for name, part in value.items()}
        elif key in ("default", "const", "enum", "examples"):
            clean[key] = value
        elif isinstance(value, dict):
            clean[key] = _without_titles(value)
        elif isinstance(value, list):
            clean[key] = [_without_titles(part) if isinstance(part, dict) else part for part in value]
        else:
            clean[key] = value
    return clean
