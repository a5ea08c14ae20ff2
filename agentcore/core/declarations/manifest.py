"""A module's declarations in its attributes, read strictly and once."""

import inspect
import re
from collections.abc import Iterable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

import pluggy
from pydantic import BaseModel

from agentcore import hookspecs
from agentcore.api.module import HOOKS, MODULE_NAME, Module
from agentcore.core.module_code.module_error import type_name
from agentcore.core.module_code.value_reading import (
    LANGUAGES,
    WrongValueError,
    read_flag,
    read_mapping,
    read_number,
    read_plain,
    read_text,
    read_texts,
    read_title,
)
from agentcore.late_dataclasses import dataclass
from agentcore.limits import INIT_SECONDS_MAX, MODULE_INSTRUCTIONS_CHARS

_NAME = re.compile(MODULE_NAME)
_CLAIM = re.compile(r"/[A-Za-z0-9._~-]+(/[A-Za-z0-9._~-]+)*/?")


@dataclass(frozen=True)
class Example:
    """A call that a new user may try.

    Args:
        tool: The tool.
        title: What it does, by language.
        arguments: Its arguments.
    """

    tool: str
    title: Mapping[str, str]
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Manifest:
    """What the core stores of a module's attributes (see `Module`): plain values, and the objects that it calls.

    Args:
        title: The title for users, in the server's language.
        description: The first paragraph of its docstring, on one line.
        instructions: Instructions for models about its tools, in the server's language; empty: none.
        skills_folder: The absolute path of its folder of skills; empty: none.
        translations: Texts in other languages, by language and by subject; as in `Module`.
        examples: Calls that a new user may try.
        settings: The class of its settings; None: it declares none.
        hooks: Hook name to implementation.
        executes_async: True if its `execute_tool_call` is a coroutine function.
    """

    title: str = ""
    description: str = ""
    config_key: str = ""
    requires: tuple[str, ...] = ()
    stands_in_for: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    runs_scripts_in_page: bool = False
    definitions_need_review: bool = False
    init_timeout_s: float | None = None
    instructions: str = ""
    skills_folder: str = ""
    translations: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    examples: tuple[Example, ...] = ()
    settings: type[BaseModel] | None = None
    hooks: Mapping[str, Any] = field(default_factory=dict)
    executes_async: bool = True


def read_manifest(plugin: Any, name: str, locale: str, untitled: str) -> Manifest:
    """Read the object that implements a module's hooks. Runs module code: call it in a thread, under a limit.

    Args:
        plugin: The object.
        name: The registered name of the module.
        locale: The language of texts in one language.
        untitled: Its title if it declares none.
    Raises:
        TypeError: It is not a module: a wrong name, an attribute with the wrong type, a hook with a
            wrong signature; the message says which.
    """
    attributes = _Attributes(plugin, name)
    own_name = attributes.get("name")
    if own_name is not None and read_text(own_name, attributes.describe_attribute("name")) != name:
        raise TypeError(
            f"it calls itself {read_text(own_name, 'name')!r}, but is registered as {name!r}; the two must be equal"
        )
    hooks = find_implementations(plugin, name)
    execute = hooks.get("execute_tool_call")
    limit_s = attributes.get("init_timeout_s")
    title = attributes.get("title")
    config_key, settings = settings_of(plugin, name)
    return Manifest(
        title=title_in(read_title(title, attributes.describe_attribute("title")), locale)
        if title is not None
        else untitled,
        description=_docstring_summary(plugin),
        config_key=config_key,
        requires=attributes.read_module_names("requires"),
        stands_in_for=attributes.read_module_names("stands_in_for"),
        claims=attributes.read_text_list("claims", "absolute paths", _CLAIM),
        definitions_need_review=read_flag(
            attributes.get("definitions_need_review", default=False),
            attributes.describe_attribute("definitions_need_review"),
        ),
        runs_scripts_in_page=read_flag(
            attributes.get("runs_scripts_in_page", default=False), attributes.describe_attribute("runs_scripts_in_page")
        ),
        init_timeout_s=None
        if limit_s is None
        else read_number(limit_s, attributes.describe_attribute("init_timeout_s"), low=0, high=INIT_SECONDS_MAX),
        instructions=_read_instructions(attributes, locale),
        skills_folder=_read_skills_folder(attributes, plugin),
        translations=_read_translations(attributes),
        examples=_read_examples(attributes),
        settings=settings,
        hooks=hooks,
        executes_async=execute is not None and inspect.iscoroutinefunction(execute.function),
    )


def settings_of(target: Any, name: str) -> tuple[str, type[BaseModel] | None]:
    """Return the key of a module's settings, and their class, from its object or its class. Runs module code.

    Raises:
        TypeError: One of the two has the wrong type.
    """
    attributes = _Attributes(target, name)
    key = attributes.get("config_key")
    where = attributes.describe_attribute("config_key")
    declared = _read_settings_class(attributes.get("Settings"), attributes.describe_attribute("Settings"))
    return name if key is None else read_text(key, where, pattern=_NAME), declared


def title_in(title: str | dict[str, str], locale: str) -> str:
    """A title in one language, else in English, else in whichever there is."""
    return title if isinstance(title, str) else title.get(locale) or title.get("en") or next(iter(title.values()))


class _Attributes:
    """The attributes of a module; None counts as left out."""

    def __init__(self, plugin: Any, name: str) -> None:
        self._plugin = plugin
        self._name = name

    def get(self, attribute: str, *, default: Any = None) -> Any:
        value = getattr(self._plugin, attribute, None)
        return default if value is None else value

    def describe_attribute(self, attribute: str) -> str:
        return f"{attribute} of module {self._name!r}"

    def read_text_list(self, attribute: str, expected: str, pattern: re.Pattern[str]) -> tuple[str, ...]:
        return read_texts(
            self.get(attribute, default=()), self.describe_attribute(attribute), expected, pattern=pattern
        )

    def read_module_names(self, attribute: str) -> tuple[str, ...]:
        return self.read_text_list(attribute, "names of modules", _NAME)


def _read_settings_class(value: Any, where: str) -> type[BaseModel] | None:
    if value is not None and not (isinstance(value, type) and issubclass(value, BaseModel)):
        raise WrongValueError(where, "a pydantic model, such as a subclass of Module.Settings", value)
    found: type[BaseModel] | None = value
    return found


def _read_instructions(attributes: _Attributes, locale: str) -> str:
    given = attributes.get("instructions")
    where = attributes.describe_attribute("instructions")
    message = "" if given is None else title_in(read_title(given, where), locale).strip()
    if len(message) > MODULE_INSTRUCTIONS_CHARS:
        expected = f"at most {MODULE_INSTRUCTIONS_CHARS:,} characters: say when to use which tool, in short"
        raise WrongValueError(where, expected, message)
    return message


def _read_skills_folder(attributes: _Attributes, plugin: Any) -> str:
    given = attributes.get("skills_folder")
    if given is None:
        return ""
    where = attributes.describe_attribute("skills_folder")
    folder = Path(read_text(given, where))
    if not folder.is_absolute():  # a host sends an absolute path
        folder = Path(inspect.getfile(_find_owner(plugin, "skills_folder"))).resolve().parent / folder
    if not folder.is_dir():
        raise WrongValueError(where, f"a folder beside the module's file; there is no folder {folder}", given)
    return str(folder)


def _find_owner(plugin: Any, attribute: str) -> Any:
    """Return what an attribute is written in: the plain module, or the class, which may be a base of the plugin's."""
    if inspect.ismodule(plugin):
        return plugin
    return next((base for base in type(plugin).__mro__ if attribute in vars(base)), type(plugin))


def _read_translations(attributes: _Attributes) -> dict[str, dict[str, str]]:
    where = attributes.describe_attribute("translations")
    expected = "a mapping from language (zh) to a mapping from names of tools and arguments to text"
    found = read_mapping(attributes.get("translations", default={}), where, expected)
    if not set(found) <= set(LANGUAGES):
        raise WrongValueError(where, expected, found)
    return {
        language: {key: read_text(text, f"{where} ({key})", is_empty_ok=False) for key, text in texts.items()}
        for language, texts in ((name, read_mapping(given, where, expected)) for name, given in found.items())
    }


def _read_examples(attributes: _Attributes) -> tuple[Example, ...]:
    where = attributes.describe_attribute("examples")
    expected = "a list of mappings with tool, title and arguments"
    given = read_plain(attributes.get("examples", default=()), where)
    if type(given) is not list:
        raise WrongValueError(where, expected, given)
    return tuple(_read_example(each, where, expected) for each in given)


def _read_example(given: Any, where: str, expected: str) -> Example:
    if type(given) is not dict or set(given) != {"tool", "title", "arguments"}:
        raise WrongValueError(where, expected, given)
    title = read_title(given["title"], where)
    return Example(
        read_text(given["tool"], where),
        {"en": title} if isinstance(title, str) else title,
        read_mapping(given["arguments"], where),
    )


def _docstring_summary(plugin: Any) -> str:
    """The first paragraph of the docstring, on one line."""
    own = plugin if inspect.ismodule(plugin) else type(plugin)
    text: Any = own.__doc__
    if own is Module or not isinstance(text, str):
        return ""
    return read_text(" ".join(inspect.cleandoc(text).split("\n\n")[0].split()), "the docstring")


class _HookManager(pluggy.PluginManager):
    """Methods of a `Module` named like a hook are that hook, undecorated."""

    def parse_hookimpl_opts(self, plugin: object, name: str) -> Any:
        if isinstance(plugin, Module):
            return {} if name in HOOKS else None
        return super().parse_hookimpl_opts(plugin, name)


def find_implementations(plugin: Any, name: str) -> dict[str, Any]:
    """Return a module's implementations by hook name, checked by a separate plugin manager; runs module code.

    Raises:
        TypeError: There are none, or one has a wrong signature or options; the message says what is expected.
    """
    manager = _HookManager("agentcore")
    manager.add_hookspecs(hookspecs)
    try:
        manager.register(plugin, name=name)
    except pluggy.PluginValidationError as exc:
        raise TypeError(f"{exc}\n\n{_expected_signatures()}") from exc
    callers = manager.get_hookcallers(plugin) or []
    found = {caller.name: each for caller in callers for each in caller.get_hookimpls()}
    if not found:
        raise TypeError(f"{type_name(plugin)} implements none of the hooks; subclass Module, or mark with @hookimpl")
    _refuse_options(found.values())
    return found


def _refuse_options(implementations: Iterable[pluggy.HookImpl]) -> None:
    """Refuse ordering and wrappers, which have no meaning because the core calls each module's hooks separately."""
    for impl in implementations:
        options = [option for option in ("tryfirst", "trylast", "wrapper", "hookwrapper") if getattr(impl, option)]
        if options:
            raise TypeError(
                f"its {impl.function.__name__} asks for {', '.join(options)}; each module's hooks are called on their "
                "own, so that there is no order and nothing to wrap: use a plain @hookimpl"
            )


def _expected_signatures() -> str:
    lines = [f"  {hook}{inspect.signature(getattr(hookspecs, hook))}" for hook in HOOKS]
    return "expected signatures (fewer arguments are fine):\n" + "\n".join(lines)
