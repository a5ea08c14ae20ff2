"""Loading of app.json: read, overridden by the environment, validated, with the origin of each value."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Self

from pydantic import PrivateAttr, ValidationError

from agentcore.config.app_json import AppDocument, resolve_config_path
from agentcore.config.config_errors import ConfigError
from agentcore.config.config_file import ConfigFile, set_value
from agentcore.config.environment import Variable, merge_variables, read_variables
from agentcore.config.family_keys import with_families
from agentcore.config.json_source import JsonPath
from agentcore.config.layers import DEFAULT, Layers, Origin, Origins
from agentcore.config.problems import problems_of
from agentcore.config.references import refuse_references
from agentcore.late_dataclasses import dataclass

DEFAULT_FILE = Path("app.json")
"""Default location of app.json: the current folder."""


@dataclass(frozen=True)
class ConfigSources:
    """Sources that a configuration was read from.

    Args:
        file: app.json, absolute, whether or not it exists.
        layers: Values of app.json and the environment, without the environment's part of `config`.
        variables: Settings of the environment, without its part of `config`.
        settings_variables: The environment's part of `config`, merged over the settings of the module that it names.
        notices: Messages for the user who starts the server.
        family_keys: Keys of the families of modules that were installed at that time.
        environ: The whole environment at that time.
    """

    file: Path = field(default_factory=DEFAULT_FILE.absolute)
    layers: Layers = field(default_factory=Layers)
    variables: tuple[Variable, ...] = ()
    settings_variables: tuple[Variable, ...] = ()
    notices: tuple[str, ...] = ()
    family_keys: tuple[str, ...] = ()
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)


class AppConfig(AppDocument):
    """app.json as it counts. Without arguments: the defaults, as if ./app.json did not exist."""

    _sources: ConfigSources = PrivateAttr(default_factory=ConfigSources)

    @classmethod
    def from_sources(cls, sources: ConfigSources) -> Self:
        """Validate the values that were read.

        Raises:
            ConfigError: They are not valid for app.json.
        """
        layers = sources.layers
        try:
            return cls.model_validate(layers.values, context=sources)
        except ValidationError as exc:
            # not chained: pydantic's message quotes the values, and one may be a secret
            raise ConfigError(problems_of(exc, cls, layers.values, layers.origins)) from None

    def model_post_init(self, context: Any, /) -> None:
        """Store the sources of the values."""
        if isinstance(context, ConfigSources):
            self._sources = context

    @property
    def sources(self) -> ConfigSources:
        """The sources that it was read from."""
        return self._sources

    @property
    def file(self) -> Path:
        """The path of app.json, absolute, whether or not it exists."""
        return self._sources.file

    @property
    def folder(self) -> Path:
        """The folder of app.json, which its relative paths refer to."""
        return self._sources.file.parent

    @property
    def family_keys(self) -> tuple[str, ...]:
        """Keys of the families of modules that were installed when it was read."""
        return self._sources.family_keys

    @property
    def notices(self) -> tuple[str, ...]:
        """Messages for the user who starts the server."""
        return self._sources.notices

    @property
    def origins(self) -> Origins:
        """Origin of each value set by app.json or the environment, without the module files."""
        return self._sources.layers.origins

    @property
    def modules_folder(self) -> Path:
        """The folder of local modules, absolute, whether or not it exists."""
        return resolve_config_path(self.folder, self.modules_dir)

    def origin_of(self, path: JsonPath) -> Origin:
        """Return the origin of the value at a path."""
        return self.origins.get(path, DEFAULT)


def load_config(path: Path, environ: Mapping[str, str], family_keys: Collection[str] = ()) -> AppConfig:
    """Read app.json and merge the environment over it.

    A missing file counts as empty, with a notice. Reads only that file and changes nothing.

    Args:
        path: app.json.
        environ: The environment, such as `os.environ`.
        family_keys: Keys declared by families of modules; `agentcore.core.load_config` passes the installed ones.

    Raises:
        ConfigError: app.json or a variable is invalid; each problem names its location.
    """
    file = ConfigFile.read(path.absolute())
    document = with_families(AppConfig, family_keys)
    variables, notices = read_variables(environ, document)
    settings = tuple(variable for variable in variables if variable.segments[0].lower() == "config")
    for variable in settings:
        _check_settings_variable(variable)
    others = tuple(variable for variable in variables if variable not in settings)
    if not file.exists:
        notices.insert(0, f"{file.path} does not exist: no module is loaded; `agentcore init` writes one")
    layers = merge_app(file, others, document)
    refuse_references(layers.values, layers.origins, family_keys)
    return document.from_sources(
        ConfigSources(file.path, layers, others, settings, tuple(notices), tuple(family_keys), dict(environ)),
    )


def merge_app(file: ConfigFile, variables: Sequence[Variable], document: type[AppDocument] = AppDocument) -> Layers:
    """Merge the environment over app.json without validation; the environment's part of `config` is excluded.

    Raises:
        ConfigError: A variable's name matches no key.
    """
    layers = Layers()
    layers.merge_file(file, "app")
    merge_variables(layers, variables, document)
    return layers


def set_modules(path: Path, names: tuple[str, ...]) -> None:
    """Rewrite only the `modules` of app.json; a missing file is created.

    Raises:
        ConfigError: A name is invalid or listed twice, or app.json cannot be read or written; it is left unchanged.
    """
    try:
        AppDocument.model_validate({"modules": list(names)})
    except ValidationError as exc:
        raise ConfigError(problems_of(exc, AppDocument, {"modules": list(names)}, {})) from None
    set_value(path, ("modules",), list(names))


def _check_settings_variable(variable: Variable) -> None:
    if "" in variable.segments:
        raise variable.make_error("its name has an empty part; write AGENTCORE_CONFIG__MODULE__KEY")
    if len(variable.segments) == 1 and not isinstance(variable.value, dict):
        raise variable.make_error("expected an object of settings by module; app.json itself is named by --config")
