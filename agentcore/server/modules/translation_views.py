"""The texts of modules for users in other languages than English, in the form that the API sends."""

from typing import Any

from pydantic import BaseModel

from agentcore.core.modules.module_record import ModuleRecord, RegisteredTool
from agentcore.core.modules.tool_registry import ToolRegistry


class ToolTexts(BaseModel, defer_build=True):
    """A tool in one language; what is left out has no translation."""

    description: str | None = None
    arguments: dict[str, str]


class ModuleTexts(BaseModel, defer_build=True):
    """A module in one language; what is left out has no translation."""

    title: str | None = None
    description: str | None = None


class ExampleView(BaseModel, defer_build=True):
    """A call that somebody may try first; the title by language."""

    tool: str
    title: dict[str, str]
    arguments: dict[str, Any]


class TextsView(BaseModel, defer_build=True):
    """Translations by tool, or by module, and language; and what somebody may try first."""

    tools: dict[str, dict[str, ToolTexts]]
    modules: dict[str, dict[str, ModuleTexts]]
    examples: list[ExampleView]


def texts_of(registry: ToolRegistry) -> TextsView:
    """Return the texts of the modules whose tools can be called now."""
    tools = {name: translations_of(registry, tool) for name, tool in registry.tools.items()}
    records = {tool.module.name: tool.module for tool in registry.tools.values()}
    said = {
        name: {
            language: ModuleTexts(title=texts.get("module.title"), description=texts.get("module"))
            for language, texts in record.manifest.translations.items()
        }
        for name, record in records.items()
        if not record.has_outside_definitions
    }
    examples = [
        ExampleView(tool=each.tool, title=dict(each.title), arguments=dict(each.arguments))
        for record in records.values()
        for each in record.manifest.examples
        if each.tool in registry.tools and registry.tools[each.tool].module is record
    ]
    return TextsView(
        tools={name: texts for name, texts in tools.items() if texts},
        modules={name: texts for name, texts in said.items() if texts},
        examples=examples,
    )


def title_of(record: ModuleRecord) -> str:
    """Return the label of a module on approval cards: the name of a foreign one, as its title was never reviewed."""
    return record.name if record.has_outside_definitions else record.manifest.title or record.name


def translations_of(registry: ToolRegistry, registered: RegisteredTool) -> dict[str, ToolTexts]:
    """Return the texts of one tool, by language.

    The user who accepted a foreign machine's tool has not seen its translations, which could say anything. So its texts
    are those of the server's own module of the same name, if that defines the same tool.
    """
    tool = registered.definition.name
    record = registered.module
    if record.has_outside_definitions:
        own = registry.find_module(record.name.rpartition("/")[2])
        if (
            own is None
            or own.has_outside_definitions
            or not any(_has_same_texts(each, registered) for each in own.tools)
        ):
            return {}
        record = own
    found = {}
    for language, texts in record.manifest.translations.items():
        arguments: dict[str, str] = {}
        for prefix in ("*.", f"{tool}."):  # texts for this tool override those for all tools
            arguments |= {key.removeprefix(prefix): text for key, text in texts.items() if key.startswith(prefix)}
        found[language] = ToolTexts(description=texts.get(tool), arguments=arguments)
    return found


def _has_same_texts(own: RegisteredTool, other: RegisteredTool) -> bool:
    """True if two tools have the same description, so that a translation of one is valid for the other."""
    texts = [(each.definition.name, each.definition.description, each.definition.input_schema) for each in (own, other)]
    return texts[0] == texts[1]
