"""JSON Schemas: of app.json with the settings of modules, for editors, and of one module's settings, for forms."""

from collections.abc import Iterable, Mapping
from typing import Any

import structlog
from pydantic import BaseModel
from pydantic.errors import PydanticUserError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaWarningKind
from pydantic_core import from_json

from agentcore.config.app_json import AppDocument
from agentcore.config.family_keys import with_families
from agentcore.core.discovery.installed import installed_families
from agentcore.core.discovery.source_search import Places, find_module, installed_names
from agentcore.core.module_code.containment import without_exit
from agentcore.core.module_code.module_error import reason_of
from agentcore.core.modules.family_block import block_model, settings_in_code
from agentcore.encoding import to_json

log = structlog.get_logger(__name__)

DIALECT = "https://json-schema.org/draft/2020-12/schema"
"""The dialect of the generated schemas, which is pydantic's."""

Settings = type[BaseModel] | None


class _Schema(GenerateJsonSchema):
    # a default that JSON does not have is left out; a warning would help no one
    ignored_warning_kinds: set[JsonSchemaWarningKind] = {"non-serializable-default", "skipped-choice"}  # noqa: RUF012


def app_schema(
    settings: Mapping[str, Settings], names: Iterable[str] = (), document: type[AppDocument] = AppDocument
) -> dict[str, Any]:
    """Return the schema of app.json.

    Args:
        settings: Keys of `config` with the class of the settings there; None: any object.
        names: Installed modules, which editors offer for `modules`; others are allowed.
        document: The model of the document; a subclass may know more of a part than the core does.
    Returns:
        A JSON Schema. No setting is required in it, since each may come from another source than app.json.
    """
    schema = _schema_of(document, "#/$defs/{model}")
    definitions: dict[str, Any] = schema["$defs"]
    config = schema["properties"]["config"]
    config["properties"] = {key: _put_settings(definitions, key, model) for key, model in sorted(settings.items())}
    config["additionalProperties"] = {"type": "object"}
    modules = schema["properties"]["modules"]
    modules |= {"items": _suggest_names(modules["items"], names), "uniqueItems": True}
    return {"$schema": DIALECT, **schema, "title": "app.json of agentcore"}


def installed_schema(places: Places, chosen: Mapping[str, str] | None = None) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the schema of app.json with the settings of every installed module, and the blocks of every family.

    Imports them all.

    Args:
        places: app.json; or the folder of local modules, or None.
        chosen: The source that the user trusts for each module; other sources are not imported.
    Returns:
        The schema; and, for each module or family that could not be imported, the reason. Its settings are any object.
    """
    settings: dict[str, Settings] = {}
    failures: dict[str, str] = {}
    names = installed_names(places)
    for name in names:
        try:
            key, declared = settings_in_code(find_module(name, places, (chosen or {}).get(name, "")), places)
        except KeyboardInterrupt:
            raise
        except BaseException as exc:  # noqa: BLE001 - one that calls sys.exit() must not keep the others from the schema
            failures[name] = reason_of(exc)
            settings.setdefault(name, None)
        else:
            settings[key] = _prefer_declared(settings.get(key), declared)
    document = with_families(AppDocument, _block_models(failures))
    return app_schema(settings, names, document), failures


def _block_models(failures: dict[str, str]) -> dict[str, Settings]:
    """Return the models of the blocks of all families, by key; None if there is none, or JSON Schema cannot express
    it."""
    models: dict[str, Settings] = {}
    for family in installed_families():
        try:
            model = block_model(family.entry.load())
        except KeyboardInterrupt:
            raise
        except BaseException as exc:  # noqa: BLE001 - as for modules
            failures[family.entry.name] = reason_of(exc)
            model = None
        can_be_said = model is not None and module_schema(model) is not None
        models[family.key] = models.get(family.key) or (model if can_be_said else None)
    return models


def module_schema(model: type[BaseModel]) -> dict[str, Any] | None:
    """Return the schema of one module's settings; None if JSON Schema cannot express it.

    No setting is required in it, since each may come from another file.
    """
    try:
        # as it is sent: a field can add anything to it
        schema: dict[str, Any] = from_json(without_exit(lambda: to_json(_schema_of(model, "#/$defs/{model}"))))
    except Exception as exc:  # noqa: BLE001 - of a type that JSON Schema cannot say, or the module's own code failed
        log.warning("settings_without_schema", model=model.__qualname__, reason=reason_of(exc))
        return None
    schema.pop("required", None)
    return schema


def _prefer_declared(one: Settings, other: Settings) -> Settings:
    """Return the more specific class for a key that two modules share: a module without settings has an empty one."""
    return one if one is not None and (one.model_fields or other is None) else other


def _put_settings(definitions: dict[str, Any], key: str, model: Settings) -> dict[str, Any]:
    """Add a module's settings to the definitions, under names that no other module's can have."""
    if model is None:
        return {"type": "object"}
    try:
        schema = _schema_of(model, f"#/$defs/{key}.{{model}}")
    except PydanticUserError as exc:  # a field of a type that JSON Schema cannot express
        log.warning("settings_without_schema", config=key, reason=exc.message)
        return {"type": "object"}
    definitions.update({f"{key}.{name}": part for name, part in schema.pop("$defs", {}).items()})
    schema.pop("required", None)
    definitions[key] = {**schema, "title": key}
    return {"$ref": f"#/$defs/{key}"}


def _schema_of(model: type[BaseModel], reference: str) -> dict[str, Any]:
    return model.model_json_schema(by_alias=True, ref_template=reference, schema_generator=_Schema)


def _suggest_names(name: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    known = sorted(names)
    return {"anyOf": [{"enum": known}, name]} if known else name
