"""`Module`: the base class of most modules. The five hooks can also be used without it."""

import asyncio
import inspect
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, ClassVar, Generic, get_args, get_origin

import pluggy
import pydantic
from pydantic import ConfigDict
from typing_extensions import TypeVar, get_original_bases

from agentcore.api.definition import ToolDefinition
from agentcore.api.runtime import Runtime
from agentcore.api.tool import get_tool_options
from agentcore.api.tool_context import ToolContext
from agentcore.api.tool_icon import ToolIcon
from agentcore.api.tool_method import ToolMethods, create_tool_methods
from agentcore.api.web import WebComponent

hookimpl = pluggy.HookimplMarker("agentcore")
"""Marks a function of a plain Python module as the implementation of one of the five hooks."""

MODULE_NAME = r"^[a-z][a-z0-9]*(_[a-z0-9]+)*$"
"""The pattern of module names."""

HOOKS = ("get_tool_definitions", "execute_tool_call", "init", "shutdown", "get_web_component")


S = TypeVar("S", bound=pydantic.BaseModel, default=Any)


class Module(Generic[S]):
    """One unit of capability: its tools are its methods marked with `@tool`.

    A subclass overrides what it needs of `init`, `shutdown` and `get_web_component`; a method of one of these names is
    the hook, no decorator is needed. The first line of its docstring is shown as the module's description.

    `class Weather(Module[WeatherSettings])` has settings of that class, and type checkers know the type of
    `self.settings`. A class `Settings` in its body also works, but type checkers do not know it.

    Attributes:
        name: Unique id, `^[a-z][a-z0-9]*(_[a-z0-9]+)*$`. The default is the entry point's (or the file's) name.
        title: The title for users, or a mapping from language (`en`, `zh`) to it; the default is the name.
        requires: Names of modules that have to be ready first.
        config_key: The key of its settings in app.json's `config`; the default is the name.
        claims: Paths outside of `/api/modules/NAME/` that it serves.
        stands_in_for: Names of modules that do the same in another form; while this one is ready, an agent is offered
            their tools only if its patterns name them.
        instructions: When to use which of its tools, for the models that have them: a short text (1,000 characters at
            most), or a mapping from language (`en`, `zh`) to it.
        skills_folder: A folder of skills (https://agentskills.io), relative to the file of the class that names it:
            each folder in it that has a `SKILL.md` is a skill, which models get once the user has accepted it.
        translations: Texts for users in other languages than English, by language (`zh`), then by subject:
            `read_file`: the description of a tool; `read_file.path`: one of its arguments; `edit.edits.old`: a part of
            one, or of each of its entries; `*.path`: that argument of all tools;
            `module` and `module.title`: its description and title. Models still read the docstrings.
        examples: Harmless calls that a new user may try: the tool, a title (or a mapping from language to it), and
            arguments that work in any workspace.
        runs_scripts_in_page: True if it runs scripts of a model in agentcore's own page.
        definitions_need_review: True if its tools come from elsewhere, such as another server, and may change: the user
            reviews each definition before it is offered, and again when it changes.
        tool_icons: Icons of the tools that are its methods, on the page and in MCP clients.
        init_timeout_s: Limit of `init` in seconds; None: the server's.
        runtime: The services of the core; set before `init`.
    """

    name: ClassVar[str | None] = None
    title: ClassVar[str | Mapping[str, str] | None] = None
    requires: ClassVar[Sequence[str]] = ()
    config_key: ClassVar[str | None] = None
    claims: ClassVar[Sequence[str]] = ()
    stands_in_for: ClassVar[Sequence[str]] = ()
    instructions: ClassVar[str | Mapping[str, str] | None] = None
    skills_folder: ClassVar[str | None] = None
    translations: ClassVar[Mapping[str, Mapping[str, str]]] = {}
    examples: ClassVar[Sequence[Mapping[str, Any]]] = ()
    runs_scripts_in_page: ClassVar[bool] = False
    definitions_need_review: ClassVar[bool] = False
    tool_icons: ClassVar[Sequence[ToolIcon]] = ()
    init_timeout_s: ClassVar[float | None] = None

    class Settings(pydantic.BaseModel):
        """Settings of the module; a subclass adds fields. Unknown keys are errors."""

        model_config = ConfigDict(extra="forbid", frozen=True)

    runtime: Runtime
    _tools: ToolMethods | None = None
    _refused_tools: ClassVar[dict[str, str]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Set the class of the settings from `Module[…]`, and refuse tools with names of hooks and attributes."""
        super().__init_subclass__(**kwargs)
        for base in get_original_bases(cls):
            origin = get_origin(base)
            if isinstance(origin, type) and issubclass(origin, Module):
                [given] = get_args(base)
                if isinstance(given, type) and issubclass(given, pydantic.BaseModel):
                    cls.Settings = given  # type: ignore[assignment,misc]
        refused = dict(cls._refused_tools)
        for name in RESERVED:
            if get_tool_options(inspect.getattr_static(cls, name, None)) is not None:
                refused[name] = f"{name!r} is a hook or an attribute of Module; give the method another name"
                setattr(cls, name, _find_unmarked_value(cls, name))
        cls._refused_tools = refused

    def bind(self, runtime: Runtime) -> None:
        """Set the runtime; called by the core once, before `init`."""
        self.runtime = runtime

    @property
    def settings(self) -> S:
        """The validated settings, an instance of the class's `Settings`."""
        settings: S = self.runtime.settings
        return settings

    def get_tool_definitions(self) -> Sequence[ToolDefinition | dict[str, Any]]:
        """The definitions of the methods marked with `@tool`."""
        return [method.definition for method in self._get_tool_methods().found.values()]

    async def execute_tool_call(self, ctx: ToolContext, tool_name: str, args: dict[str, Any]) -> Any:
        """Run the method behind a tool, a sync one in a worker thread, and return its result."""
        method = self._get_tool_methods().found[tool_name]
        if not method.is_async:
            return await asyncio.to_thread(method.call_sync, ctx, args)
        returned = await method.call(ctx, args)
        method.returns.validate(returned)
        return returned

    def init(self, runtime: Runtime) -> Awaitable[None] | None:
        """Prepare the module; when it returns, tools can be called. Raise an error if the module cannot work."""

    def shutdown(self) -> Awaitable[None] | None:
        """Release everything; also called after a failed `init`, and maybe twice."""

    def get_web_component(self) -> WebComponent | None:
        """The module's element in the page, if it has one."""
        return None

    def _get_tool_methods(self) -> ToolMethods:
        if self._tools is None:
            self._tools = create_tool_methods(self, self._refused_tools)
        return self._tools


RESERVED = frozenset(("runtime", *(name for name in vars(Module) if not name.startswith("__"))))
"""Names that no tool may have: the hooks and attributes of `Module`."""


def find_tool_errors(module: Module) -> list[tuple[str, Exception]]:
    """Methods marked as tools that are none: where each is written, and why."""
    return module._get_tool_methods().faults  # noqa: SLF001 - of the same file


def _find_unmarked_value(cls: type, name: str) -> Any:
    """Return the value of a name, ignoring methods that are marked as tools."""
    values = (vars(base)[name] for base in cls.__mro__ if name in vars(base))
    return next((value for value in values if get_tool_options(value) is None), None)
