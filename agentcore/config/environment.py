"""Settings from environment variables: `AGENTCORE_SERVER__PORT=9000` is `server.port` of app.json.

Names are the keys in upper case, joined with `__`. A value is JSON if it parses as JSON, else text.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any

from agentcore.config.config_errors import ConfigError, ConfigProblem
from agentcore.config.fields import Model, find_near_key, is_text_only, keys_of, model_inside
from agentcore.config.json_source import JsonPath, JsonSource, JsonSyntaxError
from agentcore.config.layers import Layers, Origin
from agentcore.late_dataclasses import dataclass

PREFIX = "AGENTCORE_"
"""Prefix of all agentcore variables."""

NOT_SETTINGS = frozenset(("AGENTCORE_TOKEN", "AGENTCORE_STATE_DIR"))
"""Variables with this prefix that are not settings."""

_SEPARATOR = "__"


@dataclass(frozen=True)
class Variable:
    """An environment variable that is a setting.

    Args:
        segments: The parts of its name after the prefix.
        text: Its raw value; may be a secret.
    """

    name: str
    segments: tuple[str, ...]
    text: str = field(repr=False)

    @cached_property
    def value(self) -> Any:
        """The parsed value: JSON, else text."""
        try:
            return JsonSource(self.text).value
        except JsonSyntaxError:
            return self.text

    @property
    def text_value(self) -> str | None:
        """The value for a setting of type text: digits stay text, null is None."""
        return self.value if self.value is None or isinstance(self.value, str) else self.text

    @property
    def origin(self) -> Origin:
        """The origin of values from this variable."""
        return Origin("environment", variable=self.name)

    def make_error(self, message: str) -> ConfigError:
        """Create an error about this variable."""
        return ConfigError([ConfigProblem(message, variable=self.name)])


def read_variables(environ: Mapping[str, str], model: Model) -> tuple[list[Variable], list[str]]:
    """Return the settings in an environment.

    Args:
        environ: The environment, such as `os.environ`.
        model: The model of app.json, which defines the first part of names.
    Returns:
        The variables, those with shorter paths first, so that longer ones refine them; and a notice for each name with
        the prefix that is unknown (other programs use the prefix too).
    Raises:
        ConfigError: A name is clearly meant for agentcore and matches no setting, or a value is not UTF-8.
    """
    variables: list[Variable] = []
    notices: list[str] = []
    known = {key.lower() for key in keys_of(model)}
    for name in sorted(environ):
        if not name.startswith(PREFIX) or name in NOT_SETTINGS:
            continue
        variable = Variable(name, tuple(name.removeprefix(PREFIX).split(_SEPARATOR)), environ[name])
        if variable.segments[0].lower() in known:
            if not _is_utf8(variable.text):
                raise variable.make_error("its value is not UTF-8")
            variables.append(variable)
        elif len(variable.segments) > 1:
            raise variable.make_error(_unknown_key_text(variable, 0, model))
        else:
            notices.append(
                f"environment variable {name} is not a setting and is ignored: {_unknown_key_text(variable, 0, model)}"
            )
    return sorted(variables, key=lambda variable: len(variable.segments)), notices


def merge_variables(layers: Layers, variables: Sequence[Variable], model: Model | None) -> None:
    """Merge environment variables over a document; keys are matched case-insensitively.

    Args:
        layers: The document; modified in place.
        variables: Those whose first segment is a key of this document.
        model: The model of the document's keys; None if it is not known yet: then existing keys match, and others are
            created in lower case.
    Raises:
        ConfigError: A variable's name matches no key.
    """
    for variable in variables:
        path, is_text = _resolve_path(variable, layers.values, model)
        layers.merge(path, variable.text_value if is_text else variable.value, _constant_origin(variable.origin))


def _resolve_path(variable: Variable, values: Any, model: Model | None) -> tuple[JsonPath, bool]:
    """Return the path that a name refers to, and True if only text is valid there."""
    path: list[str] = []
    is_text = False
    for position, segment in enumerate(variable.segments):
        known = [*(keys_of(model) if model else ()), *(values if isinstance(values, dict) else ())]
        key = next((key for key in known if key.lower() == segment.lower()), None)
        if not segment or (key is None and model is not None and model.model_config.get("extra") == "forbid"):
            raise variable.make_error(_unknown_key_text(variable, position, model))
        path.append(key or segment.lower())
        is_text = is_text_only(model, path[-1])
        model = model_inside(model, path[-1])
        values = values.get(path[-1]) if isinstance(values, dict) else None
    return tuple(path), is_text


def _constant_origin(origin: Origin) -> Callable[[JsonPath], Origin]:
    return lambda _path: origin


def _is_utf8(text: str) -> bool:
    # os.environ decodes bytes that are not UTF-8 to halves of surrogate pairs
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def _unknown_key_text(variable: Variable, position: int, model: Model | None) -> str:
    segment = variable.segments[position]
    if not segment:
        return f"its name has an empty part; write one {_SEPARATOR!r} between two keys"
    known = sorted(key for key in keys_of(model) if key.isidentifier()) if model else []
    meant = find_near_key(segment, known)
    if meant is None:
        return f"no key {segment.lower()!r}; known are {', '.join(known)}"
    parts = variable.name.removeprefix(PREFIX).split(_SEPARATOR)
    parts[position - len(variable.segments)] = meant.upper()
    return f"no key {segment.lower()!r}; did you mean {PREFIX}{_SEPARATOR.join(parts)}?"
