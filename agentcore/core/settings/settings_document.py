"""The current settings of app.json or of one module, from its files: values, origins, problems, and permissions."""

import hashlib
from collections.abc import Mapping
from dataclasses import field, replace
from functools import cached_property, lru_cache
from typing import Any

from pydantic import BaseModel, SecretStr, ValidationError

from agentcore.config.app_json import AppDocument
from agentcore.config.config_errors import ConfigError, ConfigProblem
from agentcore.config.config_file import ConfigFile
from agentcore.config.family_keys import Blocks, with_families
from agentcore.config.json_source import JsonPath
from agentcore.config.layers import Layers, Origin, Origins
from agentcore.config.loading import AppConfig, merge_app
from agentcore.config.problems import problems_of
from agentcore.config.references import Resolved, refuse_references
from agentcore.config.settings_of_modules import merge_settings, settings_file
from agentcore.config.written_secrets import secrets_to_mask
from agentcore.core.discovery.reference_values import references_of
from agentcore.core.module_code.containment import without_exit
from agentcore.core.module_code.module_error import type_name
from agentcore.core.modules.module_record import ModuleRecord
from agentcore.core.settings.app_schema import app_schema, module_schema
from agentcore.core.settings.settings_schema import SettingsSchema
from agentcore.errors import AgentcoreError
from agentcore.late_dataclasses import dataclass
from agentcore.secrets import register_masked_values

ELSEWHERE = ("$schema", "modules", "config")
"""Keys of app.json that are not changed here: modules are turned on and off, and have settings of their own."""

_ANY_OBJECT: dict[str, Any] = {"type": "object", "additionalProperties": True}


def _model_with_schema(model: type[BaseModel] | None) -> type[BaseModel] | None:
    return model if model is not None and module_schema(model) is not None else None


@lru_cache(32)  # with families there is another document whenever their code is loaded again
def _server_schema(document: type[AppDocument]) -> SettingsSchema:
    schema = app_schema({}, document=document)
    properties = {key: part for key, part in schema["properties"].items() if key not in ELSEWHERE}
    return SettingsSchema({**schema, "properties": properties})


@dataclass(frozen=True)
class SettingsSubject:
    """The settings of app.json or of one module.

    Args:
        config: app.json as the server started with it; its environment stays in effect.
        module: The module; None: app.json itself.
        key: The key of the module's settings in app.json's `config`.
        model: Validates the settings; None: there is none, or it is unknown.
        schema: Their schema; None: unknown, because the module's code was not loaded.
        family_keys: The keys of app.json with blocks of families.
        secrets_to_come: Secrets that will be stored together with a change of the settings.
    """

    config: AppConfig
    module: str | None
    key: str
    model: type[BaseModel] | None
    schema: SettingsSchema | None
    family_keys: frozenset[str] = frozenset()
    secrets_to_come: Mapping[str, SecretStr] = field(default_factory=dict, repr=False)

    @classmethod
    def of_app(
        cls, config: AppConfig, document: type[AppDocument] = AppDocument, blocks: Blocks | None = None
    ) -> "SettingsSubject":
        """Return the subject for app.json, without the parts that have their own.

        Args:
            config: As the server started with it.
            document: The model of the document.
            blocks: The models of the blocks of families, by key, as far as their code is loaded.
        """
        models = dict.fromkeys(config.family_keys) | dict(blocks or {})
        document = with_families(document, {key: _model_with_schema(model) for key, model in models.items()})
        return cls(config, None, "", document, _server_schema(document), frozenset(models))

    @classmethod
    def of_module(cls, config: AppConfig, record: ModuleRecord) -> "SettingsSubject":
        """A module that is listed."""
        if record.plugin is None:
            return cls(config, record.name, record.manifest.config_key or record.name, None, None)
        model = record.manifest.settings
        schema = _ANY_OBJECT if model is None else module_schema(model)
        found = None if schema is None else SettingsSchema(schema)
        return cls(config, record.name, record.manifest.config_key or record.name, model, found)

    @property
    def base(self) -> JsonPath:
        """The location of the settings in app.json."""
        return () if self.module is None else ("config", self.key)

    def resolve_references(self, values: dict[str, Any], origins: Origins) -> Resolved:
        """Return settings with resolved references, which must never be shown.

        Raises:
            ConfigError: A reference has no value, or is not allowed at its location.
            StateDirError: The secrets cannot be read.
        """
        references = references_of(self.config, self.secrets_to_come)
        if self.module is not None:
            return references.resolve(values, origins)
        refuse_references(values, origins, self.family_keys)
        blocks = {key: part for key, part in values.items() if key in self.family_keys}
        found = references.resolve(blocks, origins)
        return Resolved(values | found.values, found.secrets)

    def read_document(self) -> "SettingsDocument":
        """Read the current files.

        Raises:
            ConfigError: A file cannot be read, or is not a JSON object.
        """
        app = ConfigFile.read(self.config.file)
        own = None if self.module is None else ConfigFile.read(settings_file(self.config, self.key))
        return self.merge_files(app, own)

    def merge_files(self, app: ConfigFile, own: ConfigFile | None) -> "SettingsDocument":
        """Merge the files, with the environment over them. Errors are listed in `problems`."""
        document = SettingsDocument(self, app, own)
        try:
            layers = self._merge_layers(app, own)
        except ConfigError as exc:
            return replace(document, problems=tuple(map(document.relocate_problem, exc.problems)))
        document = replace(document, values=layers.values, origins=layers.origins)
        return replace(document, problems=tuple(map(document.relocate_problem, self._find_problems(layers))))

    def _merge_layers(self, app: ConfigFile, own: ConfigFile | None) -> Layers:
        if own is not None:
            raw = merge_settings(self.config, self.key, self.model, app=app, own=own)
            return Layers(raw.values, dict(raw.origins))
        layers = merge_app(app, self.config.sources.variables, type(self.config))
        values = {key: value for key, value in layers.values.items() if key not in ELSEWHERE}
        return Layers(
            values, {path: origin for path, origin in layers.origins.items() if not path or path[0] in values}
        )

    def _find_problems(self, layers: Layers) -> list[ConfigProblem]:
        model = self.model
        try:
            resolved = self.resolve_references(layers.values, layers.origins)
        except AgentcoreError as exc:
            return _problems_in(exc)
        if model is None:
            return []
        # no settings yet: a client that tries a reference or a value must not see the secret in an error
        forget = register_masked_values((*resolved.secrets, *secrets_to_mask(model, layers.values)))
        try:
            without_exit(lambda: model.model_validate(resolved.values))
        except ValidationError as exc:
            return problems_of(exc, model, resolved.values, layers.origins)
        except Exception as exc:  # noqa: BLE001 - a validator of the module's own may raise anything
            return [ConfigProblem(f"the module's check of its settings failed with {type_name(exc)}")]
        finally:
            forget()
        return []


@dataclass(frozen=True)
class SettingsDocument:
    """Settings at one moment.

    Args:
        own: `modules/KEY.json`, for a module.
        values: The merged values of files and environment; may contain secrets.
        origins: The origin of each value of `values`.
        problems: Errors; each path is one in `values`.
    """

    subject: SettingsSubject
    app: ConfigFile
    own: ConfigFile | None
    values: dict[str, Any] = field(default_factory=dict, repr=False)
    origins: Origins = field(default_factory=dict, repr=False)
    problems: tuple[ConfigProblem, ...] = ()

    def resolve_references(self) -> dict[str, Any]:
        """Return `values` with resolved references, which must never be shown.

        Raises:
            AgentcoreError: A reference has no value.
        """
        values: dict[str, Any] = self.subject.resolve_references(self.values, self.origins).values
        return values

    @cached_property
    def digest(self) -> str:
        """Return a digest of the files; a change must name the state that it is based on."""
        digest = hashlib.sha256()
        for file in self.files:
            digest.update(b"%d\0%b\0" % (file.exists, file.source.text.encode()))
        return digest.hexdigest()

    @property
    def file(self) -> ConfigFile:
        """The file that changes are written to."""
        return self.own or self.app

    def with_file(self, file: ConfigFile) -> "SettingsDocument":
        """Return the settings with another content of the file that changes are written to."""
        return self.subject.merge_files(file, None) if self.own is None else self.subject.merge_files(self.app, file)

    @property
    def files(self) -> tuple[ConfigFile, ...]:
        """The files that the settings come from."""
        return (self.app,) if self.own is None else (self.app, self.own)

    def value_at(self, path: JsonPath) -> Any:
        """The value at a path; None where there is none."""
        value: Any = self.values
        for step in path:
            try:
                value = value[step]
            except (KeyError, IndexError, TypeError):
                return None
        return value

    def has_value(self, path: JsonPath) -> bool:
        """True if a value is set at a path."""
        return path in self.origins

    @property
    def over_app(self) -> list[JsonPath]:
        """Places of a module's own file that app.json sets too."""
        own = {} if self.own is None else self.own.source.spans
        return [path for path in own if path and (*self.subject.base, *path) in self.app.source.spans]

    def origin_around(self, path: JsonPath) -> tuple[JsonPath, Origin]:
        """The innermost part of a path that is set in a file or by the environment, and where it comes from."""
        while path and path not in self.origins:
            path = path[:-1]
        return path, self.origins.get(path, Origin("app", self.app.path, path=self.subject.base))

    def relocate_problem(self, problem: ConfigProblem) -> ConfigProblem:
        """Return a problem with its path in the settings instead of that in a file."""
        size = len(self.subject.base)
        if problem.file == self.app.path and problem.path[:size] == self.subject.base:
            return replace(problem, path=problem.path[size:])
        return problem


def _problems_in(error: AgentcoreError) -> list[ConfigProblem]:
    return list(error.problems) if isinstance(error, ConfigError) else [ConfigProblem(str(error))]
