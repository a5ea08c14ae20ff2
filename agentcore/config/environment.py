"""Environment variables that are settings: `AGENTCORE_SERVER__PORT=9000` is `server.port` of app.json.

Names are the keys in upper case with `__` between them. The value is JSON where it parses as that, else it is text.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from agentcore.config.errors import ConfigError, ConfigProblem
from agentcore.config.fields import Model, find_near_key, is_text_only, keys_of, model_inside
from agentcore.config.json_source import JsonPath, JsonSource, JsonSyntaxError
from agentcore.config.layers import Layers, Origin

PREFIX = "AGENTCORE_"
"""How the names of all our variables begin."""

NOT_SETTINGS = frozenset(("AGENTCORE_TOKEN", "AGENTCORE_STATE_DIR"))
"""Variables with our prefix that are something else."""

_SEPARATOR = "__"


@dataclass(frozen=True)
class Variable:
    """One environment variable that is a setting.

    Args:
        segments: The parts of its name after the prefix.
        text: What it holds; may be a secret.
    """

    name: str
    segments: tuple[str, ...]
    text: str = field(repr=False)

    @cached_property
    def value(self) -> Any:
        """What it holds: JSON, else text."""
        try:
            return JsonSource(self.text).value
        except JsonSyntaxError:
            return self.text

    @property
    def text_value(self) -> str | None:
        """What it holds for a setting that is a text: a key made of digits stays a text, null is null."""
        return self.value if self.value is None or isinstance(self.value, str) else self.text

    @property
    def origin(self) -> Origin:
        """The origin of values that come from it."""
        return Origin("environment", variable=self.name)

    def make_error(self, message: str) -> ConfigError:
        """An error about it."""
        return ConfigError([ConfigProblem(message, variable=self.name)])


def read_variables(environ: Mapping[str, str], model: Model) -> tuple[list[Variable], list[str]]:
    """Pick the settings out of an environment.

    Args:
        environ: The environment, such as `os.environ`.
        model: The model of app.json, which says what may stand first in a name.
    Returns:
        The variables, those with shorter paths first, so that a longer one refines them; and a notice for each name
        that begins like ours and is nothing we know (other programs use the prefix too).
    Raises:
        ConfigError: A name is clearly meant for us, and no setting has it; or a value is not UTF-8.
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
    """Merge environment variables over a document; segments find their keys without regard to case.

    Args:
        layers: The document; changed in place.
        variables: Those whose first segment stands for a key of this document.
        model: What the document's keys are; None where that is not known yet: then keys that are there already
            count, and others are taken in lower case.
    Raises:
        ConfigError: No key has the name.
    """
    for variable in variables:
        path, is_text = _resolve_path(variable, layers.values, model)
        layers.merge(path, variable.text_value if is_text else variable.value, _constant_origin(variable.origin))


def _resolve_path(variable: Variable, values: Any, model: Model | None) -> tuple[JsonPath, bool]:
    """The path that a name means, and whether only text can stand there."""
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
    # bytes that are not UTF-8 come out of os.environ as halves of surrogate pairs
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
