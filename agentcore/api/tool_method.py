"""From a marked method to a tool: its hints become the schema, its docstring the description."""

import inspect
from collections.abc import Callable
from dataclasses import field
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, create_model
from pydantic.fields import FieldInfo

from agentcore.api.definition import DEFAULT_RANK, ToolAnnotations, ToolDefinition
from agentcore.api.return_schema import Untitled, build_output_schema, strip_titles
from agentcore.api.return_type import ResultType, to_pydantic_hint
from agentcore.api.tool import ToolOptions, get_tool_options
from agentcore.api.tool_context import ToolContext
from agentcore.late_dataclasses import dataclass

_PREVIEW = "(self, ctx, arguments) -> CallPreview"
_COMPLETE = "(self, tool, argument, begun, given) -> list[str]"


@dataclass(frozen=True, slots=True)
class ToolMethod:
    """A bound tool method with its definition; `call` gets the validated arguments."""

    definition: ToolDefinition
    method: Callable[..., Any]
    takes_context: bool
    is_async: bool
    returns: ResultType

    def call(self, ctx: ToolContext, arguments: dict[str, Any]) -> Any:
        """Run the method; return its result, or the coroutine to await."""
        return self.method(ctx, **arguments) if self.takes_context else self.method(**arguments)

    def call_sync(self, ctx: ToolContext, arguments: dict[str, Any]) -> Any:
        """Run a sync method, and return its result.

        Raises:
            InvalidResultError: It does not match the declared type.
        """
        returned = self.call(ctx, arguments)
        self.returns.validate(returned)
        return returned


@dataclass(slots=True)
class ToolMethods:
    """The tools of an object, in the order in which they are written.

    Args:
        found: By name.
        faults: The others: where each was written, and why it is no tool.
    """

    found: dict[str, ToolMethod] = field(default_factory=dict)
    faults: list[tuple[str, Exception]] = field(default_factory=list)

    def add(self, made: ToolMethod) -> None:
        """Add one more.

        Raises:
            TypeError: Another one has its name.
        """
        if made.definition.name in self.found:
            raise TypeError(f"another tool of the module is called {made.definition.name!r} already")
        self.found[made.definition.name] = made


def create_tool_methods(owner: object, refused: dict[str, str]) -> ToolMethods:
    """Create the tools of an object. An invalid one is left out, and does not affect the others.

    Args:
        owner: The object whose class has marked methods.
        refused: Marked methods that are ignored, with the reason.
    """
    kind = type(owner)
    methods = ToolMethods()
    for attribute, reason in refused.items():
        methods.faults.append((f"{kind.__name__}.{attribute}", TypeError(reason)))
    for attribute in _list_attributes(kind):
        options = get_tool_options(inspect.getattr_static(kind, attribute, None))
        if options is None:
            continue
        where = f"{kind.__name__}.{attribute}"
        try:
            methods.add(_create_tool_method(owner, attribute, options, where))
        except Exception as exc:  # noqa: BLE001 - hints are code of the module, and may raise anything
            methods.faults.append((where, exc))
    return methods


def _list_attributes(cls: type) -> list[str]:
    names: dict[str, None] = {}
    for base in reversed(cls.__mro__):
        names.update(dict.fromkeys(vars(base)))
    return list(names)


def _create_tool_method(owner: object, attribute: str, options: ToolOptions, where: str) -> ToolMethod:
    import docstring_parser  # noqa: PLC0415 - 3 ms that the server's first answer does without

    if options.fault:
        raise TypeError(options.fault)
    method = getattr(owner, attribute)
    if not inspect.isroutine(method):
        raise TypeError(f"@tool belongs on a method; {where} is none")
    text = docstring_parser.parse(inspect.getdoc(method) or "", style=docstring_parser.DocstringStyle.GOOGLE)
    description = "\n\n".join(part for part in (text.short_description, text.long_description) if part)
    if not description:
        raise TypeError(f"tool {where} needs a docstring: its first line is what a model reads to choose the tool")
    hints = get_type_hints(method, include_extras=True)
    returned = hints.pop("return", Any)
    data_schema = build_output_schema(returned)
    hints = {name: to_pydantic_hint(hint) for name, hint in hints.items()}
    parameters = list(inspect.signature(method).parameters.values())
    takes_context = bool(parameters) and (parameters[0].name == "ctx" or hints.get(parameters[0].name) is ToolContext)
    model = _create_arguments_model(
        where, parameters[1:] if takes_context else parameters, hints, {p.arg_name: p.description for p in text.params}
    )
    name = attribute if options.name is None else options.name
    definition = ToolDefinition(
        name=name,
        description=description,
        input_schema=build_model_schema(model),
        output_schema=data_schema,
        effects=_resolve_effects(options),
        annotations=ToolAnnotations(
            options.read_only or None, options.destructive, options.idempotent, options.open_world
        ),
        timeout_s=60.0 if options.timeout_s is None else options.timeout_s,
        limit_bytes=options.limit_bytes,
        preview=_bind_function(options.preview, owner, f"preview of tool {where}", _PREVIEW),
        resource=options.resource,
        arguments=model,
        checks_result=True,
        rank=DEFAULT_RANK if options.rank is None else options.rank,
        model_chars=options.model_chars,
        keep=options.keep,
        artifact_call=options.artifact_call,
        display={} if options.display is None else options.display,
        served_as=options.served_as,
        view=options.view,
        in_views=options.in_views,
        icons=getattr(owner, "tool_icons", ()),
        complete=_bind_function(options.complete, owner, f"complete of tool {where}", _COMPLETE),
        needs_chat=options.needs_chat,
        parallel=options.parallel,
        host_alias=options.host_alias,
    )
    # the validator of the data is created at the first call
    returns = ResultType(to_pydantic_hint(returned) if data_schema is None else returned, str(name))
    return ToolMethod(definition, method, takes_context, inspect.iscoroutinefunction(method), returns)


def _resolve_effects(options: ToolOptions) -> Any:
    if options.effects is None:
        return frozenset(("read" if options.read_only is True else "execute",))
    # a text is no set of effects: the reader of the definition reports that
    return options.effects if isinstance(options.effects, str) else frozenset(options.effects)


def _bind_function(function: Any, owner: object, where: str, shape: str) -> Any:
    if function is None:
        return None
    if not inspect.isroutine(function):
        raise TypeError(f"{where} must be a function {shape}")
    return function.__get__(owner, type(owner)) if hasattr(function, "__get__") else function


def _create_arguments_model(
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


def build_model_schema(model: type[BaseModel]) -> dict[str, Any]:
    """JSON Schema of a model without the titles that only repeat its names."""
    return strip_titles(model.model_json_schema(by_alias=True, schema_generator=Untitled))
